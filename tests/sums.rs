//! Enums, `Option` and `Result` of products, and sorted lists inside of functions, through the
//! generated code.

#![allow(clippy::redundant_guards, reason = "guards are tested")]

use ad::prelude::*;

#[derive(Clone)]
#[allow(dead_code, reason = "the name of a type inside of a function")]
struct Shape;

#[differentiate]
fn shapes(r: f64, w: f64, kind: usize) -> f64 {
    #[derive(Clone, Copy, PartialEq)]
    enum Shape {
        Circle(f64),
        Rect { w: f64, h: f64 },
        Empty,
    }
    impl Shape {
        fn area(&self) -> f64 {
            match self {
                Shape::Circle(r) => 3.0 * r * r,
                Shape::Rect { w, h } => w * h,
                Self::Empty => 0.0,
            }
        }
        fn grow(&mut self, by: f64) {
            match self {
                Shape::Circle(r) => *r *= by,
                Shape::Rect { w, .. } => *w += by,
                Shape::Empty => {}
            }
        }
    }
    let mut s = match kind {
        0 => Shape::Circle(r),
        1 => Shape::Rect { w, h: r.sqrt() },
        _ => Shape::Empty,
    };
    let first = s.area();
    s.grow(1.5);
    for k in 0..3 {
        if s.area() < 4.0 {
            s = Shape::Rect { w: s.area() + w, h: 1.0 + r * k as f64 };
        } else if let Shape::Rect { h, .. } = s {
            s = Shape::Circle(h);
        }
    }
    let bonus = match s {
        Shape::Circle(r) if r > 1.0 => r.ln(),
        Shape::Circle(_) => 1.0,
        other if other == Shape::Empty => 2.0,
        Shape::Rect { w: a, h: b } => a / b,
        Shape::Empty => 0.0,
    };
    let Shape::Circle(last) = s else { return first + bonus };
    first + bonus * last + if matches!(s, Shape::Circle(q) if q > 0.5) { last } else { 0.0 }
}

#[differentiate]
fn events(x: &[f64], rate: f64) -> f64 {
    #[derive(Clone, Copy)]
    enum Event {
        Jump { size: f64 },
        Wait(f64, usize),
        Stop,
    }
    let events: Vec<Event> = x
        .iter()
        .enumerate()
        .map(|(i, &v)| match i % 3 {
            0 => Event::Jump { size: v * rate },
            1 => Event::Wait(v, i),
            _ => Event::Stop,
        })
        .collect();
    let mut level = rate;
    for e in &events {
        level = match *e {
            Event::Jump { size } => level + size,
            Event::Wait(t, n) => level * (-t / n as f64).exp(),
            Event::Stop => level.min(2.0),
        };
    }
    let waits: f64 = events.iter().filter_map(|e| if let Event::Wait(t, _) = e { Some(t * t) } else { None }).sum();
    level + waits
}

#[differentiate]
fn hits(spheres: &Array2<f64>, x: f64) -> f64 {
    #[derive(Clone, Copy)]
    struct Hit {
        t: f64,
        id: usize,
    }
    fn hit(c: f64, r: f64, x: f64) -> Option<Hit> {
        let d = r * r - (c - x) * (c - x);
        if d < 0.0 {
            return None;
        }
        Some(Hit { t: d.sqrt(), id: 0 })
    }
    let mut nearest: Option<Hit> = None;
    for i in 0..spheres.nrows() {
        if let Some(h) = hit(spheres[[i, 0]], spheres[[i, 1]], x) {
            nearest = match nearest {
                Some(old) if old.t <= h.t => Some(old),
                _ => Some(Hit { id: i, ..h }),
            };
        }
    }
    match nearest {
        Some(Hit { t, id }) => t * (1.0 + id as f64),
        None => x,
    }
}

#[differentiate]
fn glob(x: f64, k: usize) -> f64 {
    enum Op {
        Add(f64),
        Mul(f64),
        Nop,
    }
    use Op::*;
    let op = match k {
        0 => Add(x),
        1 => Mul(x * 2.0),
        _ => Nop,
    };
    match op {
        Add(v) => v + 1.0,
        Mul(v) => v * x,
        Nop => x,
    }
}

#[differentiate]
fn listed(x: f64) -> f64 {
    enum Op {
        Add(f64),
        Mul(f64),
        Sin,
    }
    let ops = [Op::Add(x), Op::Mul(2.0), Op::Sin, Op::Add(1.0)];
    let mut v = x;
    for op in &ops {
        v = match op {
            Op::Add(a) => v + a,
            Op::Mul(a) => v * a,
            Op::Sin => v.sin(),
        };
    }
    v
}

#[differentiate]
fn questioned(x: f64, y: f64) -> f64 {
    fn root(x: f64) -> Option<f64> {
        if x < 0.0 { None } else { Some(x.sqrt()) }
    }
    fn both(x: f64, y: f64) -> Option<f64> {
        let a = root(x)?;
        let b = root(y)?;
        Some(a * b)
    }
    both(x, y).unwrap_or(0.0)
}

#[differentiate]
fn resulted(x: f64, y: f64) -> f64 {
    fn root(x: f64) -> Result<f64, f64> {
        if x < 0.0 { Err(-x) } else { Ok(x.sqrt()) }
    }
    fn both(x: f64, y: f64) -> Result<f64, f64> {
        let a = root(x)?;
        let b = root(y)?;
        Ok(a * b)
    }
    match both(x, y) {
        Ok(v) => v,
        Err(e) => e * 2.0,
    }
}

#[differentiate]
fn textual(x: f64, y: f64) -> f64 {
    fn root(x: f64) -> Result<f64, String> {
        if x < 0.0 {
            return Err("negative".to_string());
        }
        Ok(x.sqrt())
    }
    fn all(x: f64, y: f64) -> Result<(f64, f64), String> {
        let mut a = 0.0;
        for k in 0..3 {
            a += root(x - k as f64)?;
        }
        Ok((a, root(y)?))
    }
    if let Ok((a, b)) = all(x, y) { a * b } else { x }
}

#[differentiate]
fn sorted(x: &[f64], w: &[f64]) -> f64 {
    let mut pairs: Vec<(f64, f64)> = x.iter().zip(w).map(|(&a, &b)| (a, b)).collect();
    pairs.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap());
    let mut total = 0.0;
    for (i, (a, b)) in pairs.iter().enumerate() {
        total += a * b * i as f64;
    }
    let mut descending = x.to_vec();
    descending.sort_by(|a, b| b.total_cmp(a));
    let mut ids: Vec<usize> = (0..x.len()).map(|i| (i * 7) % 5).collect();
    ids.sort();
    let mut few = [(x[0], 2_usize), (x[1], 0), (w[0], 1)];
    few.sort_by_key(|&(_, k)| k);
    let [first, .., last] = few;
    total + descending[0] * descending[1] + x[0] * ids[0] as f64 + first.0 * last.0.exp()
}

#[differentiate]
fn sorted_by_class(x: &[f64], class: &[usize]) -> f64 {
    struct Item {
        value: f64,
        class: usize,
    }
    let mut items: Vec<Item> = x.iter().zip(class).map(|(&value, &class)| Item { value, class }).collect();
    items.sort_by_key(|item| item.class);
    items.iter().enumerate().map(|(k, item)| item.value * (k as f64 + 0.5 * item.class as f64)).sum()
}

#[differentiate]
fn mapped(x: &[f64]) -> f64 {
    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        A,
        B,
    }
    struct P(f64, Kind);
    let ps: Vec<P> = x.iter().map(|&v| P(v, if v > 0.0 { Kind::A } else { Kind::B })).collect();
    let made: Vec<Option<f64>> = ps.iter().map(|p| if p.1 == Kind::A { Some(p.0) } else { None }).collect();
    let t: f64 = made.iter().flatten().sum();
    let best = ps.iter().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    let n = ps.iter().filter(|p| p.1 == Kind::B).count();
    t + best.0
        + n as f64
        + ps.iter().rev().skip(1).zip(&made).map(|(p, m)| p.0 * m.unwrap_or(0.5)).sum::<f64>()
        + ps.windows(2).map(|w| w[0].0 * w[1].0).sum::<f64>()
}

#[differentiate]
fn slices(x: &[f64]) -> f64 {
    let ps: Vec<(f64, f64)> = x.iter().map(|&v| (v, v * v)).collect();
    let first = &ps[1..];
    first.iter().map(|p| p.0).sum::<f64>()
        + first.len() as f64
        + ps.first().unwrap().0
        + ps.last().unwrap().1
        + ps.chunks(2).map(|c| c[0].0).sum::<f64>()
}

#[differentiate]
fn swapped(x: &[f64]) -> f64 {
    let mut ps: Vec<(f64, usize)> = x.iter().enumerate().map(|(i, &v)| (v, i)).collect();
    ps.swap(0, 1);
    ps.reverse();
    let t = std::mem::replace(&mut ps[0], (1.0, 2));
    if let Some(p) = ps.last_mut() {
        p.0 *= 2.0;
    }
    let q = ps.pop().unwrap();
    t.0 + q.0 * q.1 as f64 + ps.iter().map(|p| p.0).sum::<f64>()
}

#[test]
fn enums() {
    for kind in 0..3 {
        ad::check_grad!(shapes(1.3, 0.6, kind));
        ad::check_grad!(shapes(2.3, 0.9, kind));
    }
    ad::check_grad!(events(&[0.3, 0.7, 0.1, 1.2, 0.4, 0.2, 0.9], 1.1));
    let spheres = array![[0.0, 1.0], [0.5, 2.0], [5.0, 0.1]];
    ad::check_grad!(hits(&spheres, 0.3));
    ad::check_grad!(hits(&spheres, 30.0));
}

#[test]
fn sums() {
    for kind in 0..3 {
        ad::check_grad!(glob(1.3, kind));
    }
    ad::check_grad!(listed(0.4));
    for (x, y) in [(1.3, 0.7), (-1.3, 0.7), (1.3, -0.7)] {
        ad::check_grad!(questioned(x, y));
        ad::check_grad!(resulted(x, y));
        ad::check_grad!(textual(x + 2.0, y));
    }
}

#[test]
fn orders() {
    for n in [3, 4, 7, 8, 13] {
        let x: Vec<f64> = (0..n).map(|i| ((i * 5) % 13) as f64 * 0.17 - 0.4).collect();
        let w: Vec<f64> = (0..n).map(|i| (i as f64 * 0.9).cos()).collect();
        let class: Vec<usize> = (0..n).map(|i| (i * i) % 3).collect();
        ad::check_grad!(sorted(&x, &w));
        ad::check_grad!(sorted_by_class(&x, &class));
    }
    assert!(sorted_by_class_grad(&[], &[]).is_empty());
}

#[test]
fn parts_of_lists() {
    let x = [0.3, -0.5, 1.2, 0.8, -0.1];
    ad::check_grad!(mapped(&x));
    ad::check_grad!(slices(&x));
    ad::check_grad!(swapped(&x));
}

#[differentiate]
fn alternatives_with_names(x: f64, kind: usize) -> f64 {
    enum Shape {
        Square(f64),
        Circle { r: f64 },
        Empty,
    }
    let shape = match kind {
        0 => Shape::Square(x),
        1 => Shape::Circle { r: 2.0 * x },
        _ => Shape::Empty,
    };
    match shape {
        Shape::Square(side) | Shape::Circle { r: side } if side > 0.5 => side * side,
        Shape::Square(side) | Shape::Circle { r: side } => side.sin(),
        Shape::Empty => x,
    }
}

#[test]
fn an_arm_with_alternatives_binds_their_names() {
    for (kind, by_x) in [(0, 2.0 * 0.6), (1, 8.0 * 0.6), (2, 1.0)] {
        assert!((alternatives_with_names_grad(0.6, kind) - by_x).abs() < 1e-12);
    }
    assert!((alternatives_with_names_grad(0.2, 1) - 2.0 * 0.4_f64.cos()).abs() < 1e-12);
}
