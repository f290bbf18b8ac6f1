//! Structs, `impl` blocks and lists of products inside of functions, through the generated code.

#![allow(clippy::useless_vec, reason = "lists are tested")]
#![allow(clippy::needless_range_loop, reason = "loops over indices are what people write")]

use ad::prelude::*;

#[differentiate]
fn fields(x: f64, y: f64) -> f64 {
    #[derive(Clone, Copy)]
    struct Point {
        x: f64,
        y: f64,
    }
    let p = Point { x, y: y * 2.0 };
    let q = Point { x: p.y, ..p };
    let Point { x: a, y: b } = q;
    a * b.sin() + p.x * q.x
}

#[differentiate]
fn assigned(x: f64, w: &[f64]) -> f64 {
    struct Inner {
        pos: [f64; 2],
        n: usize,
    }
    struct Outer {
        inner: Inner,
        total: f64,
    }
    let mut s = Outer { inner: Inner { pos: [x, 1.0], n: 0 }, total: 0.0 };
    for i in 0..w.len() {
        s.inner.pos[i % 2] += w[i] * s.inner.pos[0].cos();
        s.inner.n += 1;
        s.total += s.inner.pos[1] * s.inner.n as f64;
        if s.total > 3.0 {
            s.inner.pos = [s.total, x];
            s.total *= 0.5;
        }
    }
    s.total + s.inner.pos[0]
}

#[differentiate]
fn tuple_structs(x: f64, y: f64) -> f64 {
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Pair(f64, f64);
    struct Unit;
    let p = Pair(x, y);
    let Pair(a, b) = p;
    let _unit = Unit;
    let zero = Pair::default();
    let same = if p == Pair(x, y) { 1.0 } else { 2.0 };
    let chosen = if x > y { p } else { Pair(b, a * same) };
    let norm = |Pair(u, v): Pair| (u * u + v * v).sqrt();
    chosen.0 * 3.0 + chosen.1 + norm(chosen) + zero.0
}

#[differentiate]
fn methods(x: f64, v: f64, n: usize) -> f64 {
    #[derive(Clone, Copy)]
    struct Body {
        x: f64,
        v: f64,
    }
    impl Body {
        const MASS: f64 = 2.0;
        fn new(x: f64, v: f64) -> Self {
            Self { x, v }
        }
        fn energy(&self) -> f64 {
            0.5 * Self::MASS * self.v * self.v + self.potential()
        }
        fn potential(&self) -> f64 {
            self.x.powi(2) / 2.0
        }
        fn step(&mut self, dt: f64) {
            self.v -= self.x * dt / Self::MASS;
            self.x += self.v * dt;
        }
        fn stepped(mut self, dt: f64) -> Body {
            self.step(dt);
            self
        }
    }
    let mut body = Body::new(x, v);
    for _ in 0..n {
        body.step(0.1);
    }
    body.stepped(0.2).stepped(0.1).energy() + Body::energy(&body) * Body::MASS
}

#[differentiate]
fn operators(x: f64, y: f64) -> f64 {
    use std::ops::{Add, AddAssign, Mul, Neg, Sub};
    #[derive(Clone, Copy)]
    struct Vec2 {
        x: f64,
        y: f64,
    }
    impl Add for Vec2 {
        type Output = Self;
        fn add(self, other: Self) -> Self {
            Vec2 { x: self.x + other.x, y: self.y + other.y }
        }
    }
    impl Sub for Vec2 {
        type Output = Vec2;
        fn sub(self, other: Vec2) -> Vec2 {
            self + -other
        }
    }
    impl Neg for Vec2 {
        type Output = Vec2;
        fn neg(self) -> Vec2 {
            Vec2 { x: -self.x, y: -self.y }
        }
    }
    impl Mul<f64> for Vec2 {
        type Output = Vec2;
        fn mul(self, k: f64) -> Vec2 {
            Vec2 { x: self.x * k, y: self.y * k }
        }
    }
    impl Mul<Vec2> for f64 {
        type Output = Vec2;
        fn mul(self, v: Vec2) -> Vec2 {
            v * self
        }
    }
    impl Mul for Vec2 {
        type Output = f64;
        fn mul(self, other: Vec2) -> f64 {
            self.x * other.x + self.y * other.y
        }
    }
    impl AddAssign for Vec2 {
        fn add_assign(&mut self, other: Vec2) {
            self.x += other.x;
            self.y += other.y;
        }
    }
    let (a, b) = (Vec2 { x, y }, Vec2 { x: 1.0, y: x });
    let mut sum = Vec2 { x: 0.0, y: 0.0 };
    for k in 0..4 {
        sum += a * k as f64 - 0.5 * b;
    }
    sum * sum + (a - b) * (2.0 * b)
}

#[differentiate]
fn generic(x: f64, y: f64) -> f64 {
    #[derive(Clone, Copy)]
    struct Poly<const N: usize> {
        c: [f64; N],
    }
    impl<const N: usize> Poly<N> {
        fn at(&self, x: f64) -> f64 {
            let mut total = 0.0;
            for k in 0..N {
                total = total * x + self.c[k];
            }
            total
        }
    }
    #[derive(Clone, Copy)]
    struct Dual<T> {
        value: T,
        slope: T,
    }
    impl<T: std::ops::Mul<Output = T> + std::ops::Add<Output = T> + Copy> Dual<T> {
        fn times(self, other: Dual<T>) -> Self {
            Dual { value: self.value * other.value, slope: self.slope * other.value + self.value * other.slope }
        }
    }
    let p = Poly { c: [1.0, y, 0.5 * x] };
    let d = Dual { value: x, slope: 1.0 }.times(Dual { value: y, slope: 0.0 });
    p.at(x) * d.slope + d.value
}

#[differentiate]
fn traits(r: f64, w: f64) -> f64 {
    trait Shape {
        const SIDES: f64;
        fn area(&self) -> f64;
        fn twice(&self) -> f64 {
            2.0 * self.area() + Self::SIDES
        }
    }
    struct Circle(f64);
    struct Rect {
        w: f64,
        h: f64,
    }
    impl Shape for Circle {
        const SIDES: f64 = 0.0;
        fn area(&self) -> f64 {
            std::f64::consts::PI * self.0 * self.0
        }
    }
    impl Shape for Rect {
        const SIDES: f64 = 4.0;
        fn area(&self) -> f64 {
            self.w * self.h
        }
        fn twice(&self) -> f64 {
            3.0 * self.area()
        }
    }
    fn total<A: Shape, B: Shape>(a: &A, b: &B) -> f64 {
        a.twice() * b.twice() + Shape::area(a)
    }
    total(&Circle(r), &Rect { w, h: r * w })
}

#[differentiate]
fn passed(x: f64, y: f64) -> f64 {
    #[derive(Clone)]
    struct State {
        a: f64,
        b: f64,
    }
    fn turn(s: &mut State, angle: f64) {
        let State { a, b } = s.clone();
        s.a = a * angle.cos() - b * angle.sin();
        s.b = a * angle.sin() + b * angle.cos();
    }
    fn made(a: f64, b: f64) -> State {
        State { a, b }
    }
    fn read(s: &State) -> f64 {
        s.a * s.a * s.b
    }
    let mut s = made(x, y);
    turn(&mut s, x * y);
    let mut k = 0;
    while read(&s) < 10.0 && k < 5 {
        turn(&mut s, 0.3);
        s.a *= 1.2;
        k += 1;
    }
    let add = |t: State| t.a + s.b * t.b;
    read(&s) + add(s.clone())
}

#[differentiate]
fn pairs(x: &[f64], y: &[f64]) -> f64 {
    let points: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
    let mut total = 0.0;
    for i in 1..points.len() {
        let (a, b) = points[i];
        total += (a - points[i - 1].0) * b.exp();
    }
    total + points.iter().map(|&(a, b)| a * b).sum::<f64>() + points.len() as f64
}

#[differentiate]
fn bodies(pos: &Array2<f64>, m: &[f64], steps: usize) -> f64 {
    #[derive(Clone, Copy)]
    struct Body {
        pos: [f64; 2],
        vel: [f64; 2],
        mass: f64,
    }
    let n = m.len();
    let mut bodies: Vec<Body> =
        (0..n).map(|i| Body { pos: [pos[[i, 0]], pos[[i, 1]]], vel: [0.0; 2], mass: m[i] }).collect();
    for _ in 0..steps {
        for i in 0..n {
            for j in 0..n {
                if i != j {
                    let d = [bodies[j].pos[0] - bodies[i].pos[0], bodies[j].pos[1] - bodies[i].pos[1]];
                    let r = (d[0] * d[0] + d[1] * d[1] + 0.01).sqrt();
                    for k in 0..2 {
                        bodies[i].vel[k] += 0.01 * bodies[j].mass * d[k] / (r * r * r);
                    }
                }
            }
        }
        for b in bodies.iter_mut() {
            for k in 0..2 {
                b.pos[k] += 0.01 * b.vel[k];
            }
        }
    }
    bodies.iter().map(|b| 0.5 * b.mass * (b.vel[0].powi(2) + b.vel[1].powi(2)) + b.pos[0]).sum()
}

#[differentiate]
fn repeated(x: f64, n: usize) -> f64 {
    #[derive(Clone, Copy)]
    struct Cell {
        value: f64,
        count: usize,
    }
    let mut cells = vec![Cell { value: x, count: 0 }; n];
    let mut fixed = [(0.0, x); 3];
    for i in 0..2 * n {
        let c = &mut cells[i % n];
        c.value *= 1.0 + 0.1 * i as f64;
        c.count += 1;
        fixed[i % 3].0 += c.value;
        fixed[i % 3].1 = fixed[(i + 1) % 3].0.sin();
    }
    cells.iter().map(|c| c.value * c.count as f64).sum::<f64>() + fixed[0].0 * fixed[1].1 + fixed[2].1
}

#[differentiate]
fn pushed(x: f64, n: usize) -> f64 {
    struct Node {
        value: f64,
        parent: usize,
        dir: [f64; 2],
    }
    let mut nodes = Vec::new();
    nodes.push(Node { value: x, parent: 0, dir: [x, 1.0] });
    for i in 1..n {
        let parent = (i - 1) / 2;
        let value = nodes[parent].value * 1.1 + nodes[i - 1].dir[0];
        nodes.push(Node { value, parent, dir: [value.sin(), x] });
    }
    let mut kept: Vec<(usize, f64)> = Vec::new();
    for node in &nodes {
        if node.value > 1.0 {
            kept.push((node.parent, node.dir[1] * node.value));
        }
    }
    let mut total = nodes.last().map_or(0.0, |n| n.value);
    for (parent, v) in kept.iter() {
        total += v * nodes[*parent].value;
    }
    total
}

#[differentiate]
fn network(w: &Array2<f64>, b: &Array1<f64>, x: &Array1<f64>) -> f64 {
    #[derive(Clone, Copy)]
    enum Activation {
        Relu,
        Tanh,
    }
    struct Layer {
        w: Array2<f64>,
        b: Array1<f64>,
        act: Activation,
    }
    impl Layer {
        fn forward(&self, x: &Array1<f64>) -> Array1<f64> {
            let z = self.w.dot(x) + &self.b;
            match self.act {
                Activation::Relu => z.mapv(|v| v.max(0.0)),
                Activation::Tanh => z.mapv(f64::tanh),
            }
        }
    }
    struct Net {
        layers: Vec<Layer>,
    }
    impl Net {
        fn forward(&self, x: &Array1<f64>) -> Array1<f64> {
            let mut h = x.clone();
            for l in &self.layers {
                h = l.forward(&h);
            }
            h
        }
    }
    let net = Net {
        layers: vec![
            Layer { w: w.clone(), b: b.clone(), act: Activation::Tanh },
            Layer { w: w.t().to_owned(), b: b.clone(), act: Activation::Relu },
        ],
    };
    net.forward(x).sum()
}

#[differentiate]
fn built(x: f64) -> f64 {
    #[derive(Clone, Copy, Default)]
    struct P {
        a: f64,
        b: f64,
        n: usize,
    }
    impl P {
        fn with_a(mut self, a: f64) -> Self {
            self.a = a;
            self
        }
        fn with_b(self, b: f64) -> Self {
            Self { b, ..self }
        }
    }
    let p = P::default().with_a(x).with_b(x * x);
    let q: P = Default::default();
    let r = P { a: 2.0, ..Default::default() };
    p.a * p.b + q.a + r.a * x + p.n as f64
}

#[differentiate]
fn closures(x: f64, y: f64) -> f64 {
    struct P {
        a: f64,
        f: f64,
    }
    let ps = vec![P { a: x, f: 1.0 }, P { a: y, f: 2.0 }];
    let best = ps.iter().map(|p| p.a * p.f).fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = ps.iter().map(|P { a, f }| a + f).sum();
    let (lo, hi) = ps.iter().fold((f64::INFINITY, 0.0), |(lo, hi): (f64, f64), p| (lo.min(p.a), hi + p.f * p.a));
    best + total * lo + hi
}

#[differentiate]
fn nested(x: f64) -> f64 {
    struct In {
        v: Vec<(f64, f64)>,
    }
    struct Out {
        a: In,
        b: Option<In2>,
    }
    #[derive(Clone, Copy)]
    struct In2 {
        z: f64,
    }
    let mut o = Out { a: In { v: vec![(x, 1.0), (2.0, x)] }, b: None };
    for i in 0..2 {
        o.a.v[i].0 *= x;
        if o.a.v[i].0 > 1.0 {
            o.b = Some(In2 { z: o.a.v[i].1 });
        }
    }
    o.a.v.iter().map(|(a, b)| a * b).sum::<f64>() + o.b.map_or(0.0, |b| b.z)
}

/// Equal elements keep their order.
#[differentiate]
fn shadow(x: f64) -> f64 {
    const G: f64 = 2.0;
    struct A {
        x: f64,
    }
    impl A {
        fn g(&self) -> f64 {
            self.x * G
        }
    }
    let a = A { x };
    {
        const G: f64 = 3.0;
        a.g() + G
    }
}

#[differentiate]
fn indexed(x: f64, k: usize) -> f64 {
    use std::ops::{Index, IndexMut};
    struct V {
        d: [f64; 3],
    }
    impl Index<usize> for V {
        type Output = f64;
        fn index(&self, i: usize) -> &f64 {
            &self.d[i]
        }
    }
    impl IndexMut<usize> for V {
        fn index_mut(&mut self, i: usize) -> &mut f64 {
            &mut self.d[i]
        }
    }
    let mut v = V { d: [x, 1.0, 2.0] };
    v[1] += x;
    v[k] * v[1]
}

#[differentiate]
fn literal_list(x: f64, n: usize) -> f64 {
    #[derive(Clone, Copy)]
    struct B {
        p: [f64; 2],
        v: [f64; 2],
    }
    let mut bs =
        [B { p: [x, 0.0], v: [0.0, 1.0] }, B { p: [1.0, x], v: [0.1, 0.2] }, B { p: [2.0, 1.0], v: [0.0, 0.0] }];
    for _ in 0..n {
        for i in 0..3 {
            for j in 0..3 {
                if i != j {
                    let d = bs[j].p[0] - bs[i].p[0];
                    bs[i].v[0] += d;
                    bs[i].v[1] -= d * bs[j].p[1];
                }
            }
        }
        for b in &mut bs {
            for k in 0..2 {
                b.p[k] += b.v[k] * 0.1;
            }
        }
    }
    bs[0].p[0] + bs[1].p[1] * bs[2].v[0]
}

#[differentiate]
fn kalman(z: &[f64], q: f64) -> f64 {
    #[derive(Clone)]
    struct K {
        x: Array1<f64>,
        p: Array2<f64>,
    }
    impl K {
        fn predict(&mut self, f: &Array2<f64>, q: f64) {
            self.x = f.dot(&self.x);
            self.p = f.dot(&self.p).dot(&f.t()) + Array2::<f64>::eye(2) * q;
        }
        fn update(&mut self, z: f64, r: f64) -> f64 {
            let s = self.p[[0, 0]] + r;
            let k = self.p.column(0).to_owned() / s;
            let y = z - self.x[0];
            self.x = &self.x + &(&k * y);
            let row = self.p.row(0).to_owned();
            for i in 0..2 {
                for j in 0..2 {
                    self.p[[i, j]] -= k[i] * row[j];
                }
            }
            -0.5 * (s.ln() + y * y / s)
        }
    }
    let f = array![[1.0, 0.1], [0.0, 1.0]];
    let mut k = K { x: Array1::zeros(2), p: Array2::eye(2) };
    let mut ll = 0.0;
    for &v in z {
        k.predict(&f, q);
        ll += k.update(v, 0.1);
    }
    ll
}

#[test]
fn structs() {
    ad::check_grad!(fields(1.3, 0.4));
    ad::check_grad!(assigned(0.4, &[0.3, 1.2, -0.4, 2.0, 0.9][..]));
    ad::check_grad!(tuple_structs(1.0, 0.3));
    ad::check_grad!(tuple_structs(0.3, 1.1));
    ad::check_grad!(methods(1.0, 0.5, 7));
    ad::check_grad!(operators(0.7, 1.2));
    ad::check_grad!(generic(0.7, 1.2));
    ad::check_grad!(traits(0.7, 1.2));
    ad::check_grad!(passed(0.7, 1.2));
}

#[test]
fn lists() {
    let (x, y) = ([0.3, 1.2, -0.4, 2.0], [0.5, 0.1, 0.7, -0.3]);
    ad::check_grad!(pairs(&x, &y));
    let pos = array![[0.0, 0.1], [1.0, -0.2], [0.4, 0.9]];
    ad::check_grad!(bodies(&pos, &[1.0, 2.0, 0.5], 3));
    ad::check_grad!(repeated(0.7, 4));
    ad::check_grad!(pushed(0.7, 6));
}

#[test]
fn programs() {
    let (w, b, x) = (array![[0.3, -0.2], [0.7, 0.4]], array![0.1, -0.3], array![0.8, 1.2]);
    ad::check_grad!(network(&w, &b, &x));
    ad::check_grad!(built(0.4));
    ad::check_grad!(closures(0.4, 1.7));
    ad::check_grad!(nested(1.3));
}

#[test]
fn other_types() {
    ad::check_grad!(shadow(0.4));
    assert_eq!(shadow(0.5), 4.0);
    ad::check_grad!(indexed(0.4, 2));
    ad::check_grad!(literal_list(0.3, 2));
    ad::check_grad!(kalman(&[0.1, 0.4, 0.2, 0.7], 0.05));
}
