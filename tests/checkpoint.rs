//! `checkpoint(|| e)`: the value and every derivative are those of `e`. What a derivative saves is
//! counted in `tests/allocator`.

use ad::prelude::*;

/// A cell of a recurrent network.
#[differentiable]
fn cell(w: &Array2<f64>, h: &Array1<f64>, x: f64) -> Array1<f64> {
    let inner = w.dot(h) + x;
    inner.mapv(f64::tanh).mapv(|v| (v * v + 1.0).sqrt() * v.sin())
}

#[differentiate(grad, jvp, hvp, pullback, vjp)]
fn plain(w: &Array2<f64>, h: &Array1<f64>, xs: &[f64]) -> f64 {
    let mut h = h.clone();
    for &x in xs {
        h = cell(w, &h, x);
    }
    h.dot(&h)
}

#[differentiate(grad, jvp, hvp, pullback, vjp)]
fn in_a_loop(w: &Array2<f64>, h: &Array1<f64>, xs: &[f64]) -> f64 {
    let mut h = h.clone();
    for &x in xs {
        h = checkpoint(|| cell(w, &h, x));
    }
    h.dot(&h)
}

fn inputs() -> (Array2<f64>, Array1<f64>, Vec<f64>) {
    let w = Array2::from_shape_fn((3, 3), |(i, j)| ((3 * i + 2 * j) as f64).sin() * 0.7);
    (w, array![0.3, -0.2, 0.9], vec![0.1, -0.5, 0.4, 0.8, 0.05])
}

fn close(a: &Array2<f64>, b: &Array2<f64>) {
    assert!((a - b).iter().all(|d| d.abs() < 1e-13), "{a} {b}");
}

#[test]
fn the_steps_of_a_loop() {
    let (w, h, xs) = inputs();
    let (value, (dw, dh, dx)) = in_a_loop_value_and_grad(&w, &h, &xs);
    let (same, (ew, eh, ex)) = plain_value_and_grad(&w, &h, &xs);
    assert_eq!(value, same);
    close(&dw, &ew);
    assert!((&dh - &eh).iter().all(|d| d.abs() < 1e-13));
    assert!(dx.iter().zip(&ex).all(|(a, b)| (a - b).abs() < 1e-13));
    let v = &w * 0.5 + 0.1;
    let (a, b) = (in_a_loop_jvp(&w, &h, &xs, &v, &h, &xs), plain_jvp(&w, &h, &xs, &v, &h, &xs));
    assert!((a.1 - b.1).abs() < 1e-13 && a.0 == b.0);
    let (a, b) = (in_a_loop_hvp(&w, &h, &xs, &v, &h, &xs), plain_hvp(&w, &h, &xs, &v, &h, &xs));
    close(&a.0, &b.0);
    assert!((&a.1 - &b.1).iter().all(|d| d.abs() < 1e-12));
    let (value, back) = in_a_loop_pullback(&w, &h, &xs);
    assert_eq!(value, same);
    close(&back(2.0).0, &(&ew * 2.0));
}

/// Results of several types, in straight-line code, with a check that the region makes.
#[differentiate(grad, hvp, jvp)]
fn results(x: &Array1<f64>, y: f64) -> f64 {
    let (a, k, found) = checkpoint(|| {
        let e = x.mapv(|v| (v * y).exp());
        let k = argmax(&e);
        (e, k, y > 0.5)
    });
    let pair: [f64; 2] = checkpoint(|| [a[k].ln() * y, x[(k + 1) % x.len()].sin()]);
    let some = checkpoint(|| if found { Some(pair[0] * pair[1]) } else { None });
    a.sum() + some.unwrap_or(0.0) + checkpoint(|| stop_gradient(y) * y)
}

#[differentiate(grad, hvp, jvp)]
fn results_plain(x: &Array1<f64>, y: f64) -> f64 {
    let e = x.mapv(|v| (v * y).exp());
    let k = argmax(&e);
    let pair = [e[k].ln() * y, x[(k + 1) % x.len()].sin()];
    let some = if y > 0.5 { Some(pair[0] * pair[1]) } else { None };
    e.sum() + some.unwrap_or(0.0) + stop_gradient(y) * y
}

#[test]
fn results_of_several_types() {
    let x = array![0.3, 1.2, -0.4];
    for y in [0.2, 0.9] {
        let (value, (dx, dy)) = results_value_and_grad(&x, y);
        assert_eq!(value, results(&x, y));
        let (same, (ex, ey)) = results_plain_value_and_grad(&x, y);
        assert_eq!(value, same);
        assert!((&dx - &ex).iter().all(|d| d.abs() < 1e-13) && (dy - ey).abs() < 1e-13);
        let (a, b) = (results_hvp(&x, y, &x, 0.3), results_plain_hvp(&x, y, &x, 0.3));
        assert!((&a.0 - &b.0).iter().all(|d| d.abs() < 1e-12) && (a.1 - b.1).abs() < 1e-12);
        let (a, b) = (results_jvp(&x, y, &x, 0.3), results_plain_jvp(&x, y, &x, 0.3));
        assert!((a.1 - b.1).abs() < 1e-13);
    }
}

/// Checkpoints in builds, in checkpoints, in folds, and around loops.
#[differentiate]
fn nested(x: &Array1<f64>, y: f64) -> f64 {
    let z = build1(x.len(), |i| checkpoint(|| (x[i] * y).sin().exp()));
    let total = checkpoint(|| {
        let mut s = y;
        for i in 0..z.len() {
            s = checkpoint(|| (s * z[i]).cos() + s);
        }
        let mut steps = 0;
        while s > 0.1 {
            s = checkpoint(|| s * 0.5 * (y * 0.1).cos());
            steps += 1;
        }
        s * steps as f64
    });
    total + fold(y, x, |a, v| checkpoint(|| (a * v).sin()))
}

#[differentiate]
fn nested_plain(x: &Array1<f64>, y: f64) -> f64 {
    let z = build1(x.len(), |i| (x[i] * y).sin().exp());
    let mut s = y;
    for i in 0..z.len() {
        s = (s * z[i]).cos() + s;
    }
    let mut steps = 0;
    while s > 0.1 {
        s = s * 0.5 * (y * 0.1).cos();
        steps += 1;
    }
    s * steps as f64 + fold(y, x, |a, v| (a * v).sin())
}

#[test]
fn checkpoints_in_one_another() {
    for n in [0, 1, 5] {
        let x = Array1::from_shape_fn(n, |i| 0.3 + 0.2 * i as f64);
        let (value, (dx, dy)) = nested_value_and_grad(&x, 0.8);
        let (same, (ex, ey)) = nested_plain_value_and_grad(&x, 0.8);
        assert_eq!(value, nested(&x, 0.8));
        assert_eq!(value, same);
        assert!((&dx - &ex).iter().all(|d| d.abs() < 1e-13) && (dy - ey).abs() < 1e-13, "{dx} {ex} {dy} {ey}");
    }
}

/// A check in a region fails where the function fails.
#[differentiate]
fn checked(x: &Array1<f64>, y: f64) -> f64 {
    checkpoint(|| {
        let k = (y * 10.0).floor() as usize;
        x[k] * y
    }) * y
}

#[test]
fn a_panic_in_a_region() {
    let x = array![1.0, 2.0];
    assert_eq!(checked_value_and_grad(&x, 0.15), (2.0 * 0.15 * 0.15, (array![0.0, 0.15 * 0.15], 2.0 * 2.0 * 0.15)));
    let failed = std::panic::catch_unwind(|| checked_grad(&array![1.0, 2.0], 0.25));
    let text = failed.unwrap_err().downcast::<String>().map(|s| *s).unwrap_or_default();
    assert!(text.contains("index out of range: `x[k]`"), "{text}");
}

/// A loop of the option `checkpoint = "sqrt"`, with a row that each step makes.
#[differentiate(grad, hvp, jvp, vjp, checkpoint = "sqrt")]
#[differentiate(grad, hvp, jvp, vjp, suffix = "plain")]
fn blocks(w: &Array2<f64>, h: &Array1<f64>, xs: &[f64], n: usize) -> f64 {
    let mut h = h.clone();
    let mut losses = Vec::new();
    for t in 0..n {
        h = w.dot(&h).mapv(f64::tanh) + xs[t % xs.len()];
        losses.push(h[t % h.len()].sin());
    }
    h.dot(&h) + losses.iter().enumerate().map(|(i, l)| l * l * i as f64).sum::<f64>()
}

#[test]
fn every_square_root_of_n_steps() {
    let (w, h, xs) = inputs();
    for n in [0, 1, 2, 3, 4, 10, 17, 100] {
        let (value, (dw, dh, dx)) = blocks_value_and_grad(&w, &h, &xs, n);
        let (same, (ew, eh, ex)) = blocks_plain_value_and_grad(&w, &h, &xs, n);
        assert!((value - same).abs() < 1e-12 && (value - blocks(&w, &h, &xs, n)).abs() < 1e-12);
        let size = ew.iter().chain(&eh).chain(&ex).fold(1.0_f64, |a, v| a.max(v.abs()));
        assert!((&dw - &ew).iter().all(|d| d.abs() < 1e-12 * size));
        assert!((&dh - &eh).iter().all(|d| d.abs() < 1e-12 * size));
        assert!(dx.iter().zip(&ex).all(|(a, b)| (a - b).abs() < 1e-12 * size));
        let v = &w * 0.5 + 0.1;
        let (a, b) = (blocks_hvp(&w, &h, &xs, n, &v, &h, &xs), blocks_plain_hvp(&w, &h, &xs, n, &v, &h, &xs));
        let size = b.0.iter().fold(size, |a, v| a.max(v.abs()));
        assert!((&a.0 - &b.0).iter().all(|d| d.abs() < 1e-11 * size));
        let (a, b) = (blocks_jvp(&w, &h, &xs, n, &v, &h, &xs), blocks_plain_jvp(&w, &h, &xs, n, &v, &h, &xs));
        assert!((a.1 - b.1).abs() < 1e-12 * size);
    }
}

/// Scans in both directions, and a loop that stops early.
#[differentiate(checkpoint = "sqrt")]
#[differentiate(suffix = "plain")]
fn scans(x: &Array1<f64>, y: f64) -> f64 {
    let forwards = scan(y, x, |a, v| (a * v).sin());
    let backwards = scanr(y, x, |a, v| (a + v).cos() * a);
    let mut s = y;
    let mut steps = 0;
    while s > 0.01 {
        s *= 0.9 * (s * x[steps % x.len()]).cos();
        steps += 1;
    }
    forwards.dot(&backwards.slice(s![1..])) + s + fold(y, x, |a, v| a * v.exp() + 0.1)
}

#[test]
fn blocks_of_scans_and_of_loops_that_stop_early() {
    for n in [1, 2, 5, 9, 30] {
        let x = Array1::from_shape_fn(n, |i| 0.3 + 0.2 * (i as f64).sin());
        let (value, (dx, dy)) = scans_value_and_grad(&x, 0.8);
        let (same, (ex, ey)) = scans_plain_value_and_grad(&x, 0.8);
        assert!((value - same).abs() < 1e-13 * same.abs() && (value - scans(&x, 0.8)).abs() < 1e-12 * same.abs());
        let size = ex.iter().fold(ey.abs(), |a: f64, v| a.max(v.abs()));
        assert!((&dx - &ex).iter().all(|d| d.abs() < 1e-12 * size) && (dy - ey).abs() < 1e-12 * size);
    }
}

mod with_rules {
    use ad::prelude::*;
    use std::cell::Cell;

    thread_local! {
        pub static CALLS: Cell<usize> = const { Cell::new(0) };
    }

    #[custom_vjp(cube_back)]
    pub fn cube(x: f64) -> f64 {
        CALLS.set(CALLS.get() + 1);
        x * x * x
    }

    pub fn cube_back(x: f64, cotangent: f64) -> (f64, f64) {
        CALLS.set(CALLS.get() + 1);
        (x * x * x, 3.0 * x * x * cotangent)
    }
}
use with_rules::cube;

#[differentiate]
fn with_a_rule(x: f64, n: usize) -> f64 {
    let mut s = x;
    for _ in 0..n {
        s = checkpoint(|| cube(s.sin()) + 0.5 * s);
    }
    s
}

#[differentiate]
fn with_a_call(x: f64, n: usize) -> f64 {
    fn power(x: f64, n: usize) -> f64 {
        if n == 0 { 1.0 } else { x * power(x, n - 1) }
    }
    checkpoint(|| power(x, n) * x.sin())
}

#[differentiate(grad, into)]
fn into_memory(w: &Array2<f64>, h: &Array1<f64>, xs: &[f64]) -> f64 {
    let mut h = h.clone();
    for &x in xs {
        h = checkpoint(|| cell(w, &h, x));
    }
    h.dot(&h)
}

/// A call of a function with a rule is made once, and a call of a function that calls itself keeps
/// its record.
#[test]
fn rules_and_recursion_in_a_region() {
    with_rules::CALLS.set(0);
    let slope = with_a_rule_grad(0.7, 3);
    assert!(with_rules::CALLS.get() <= 2 * 3, "{} calls", with_rules::CALLS.get());
    let h = 1e-6;
    assert!(((with_a_rule(0.7 + h, 3) - with_a_rule(0.7 - h, 3)) / (2.0 * h) - slope).abs() < 1e-8);
    let own = 5.0 * 1.1_f64.powi(4) * 1.1_f64.sin() + 1.1_f64.powi(5) * 1.1_f64.cos();
    assert!((with_a_call_grad(1.1, 5) - own).abs() < 1e-12);
}

#[test]
fn the_callers_memory() {
    let (w, h, xs) = inputs();
    let (value, (dw, dh, dx)) = into_memory_value_and_grad(&w, &h, &xs);
    let (mut ew, mut eh, mut ex) = (Array2::zeros(w.dim()), Array1::zeros(h.len()), vec![0.0; xs.len()]);
    assert_eq!(value, into_memory_value_and_grad_into(&w, &h, &xs, &mut ew, &mut eh, &mut ex));
    assert_eq!((dw, dh, dx), (ew, eh, ex));
}
