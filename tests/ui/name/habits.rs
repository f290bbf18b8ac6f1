//! Calls and indices as other languages have them.

use ad::prelude::*;

#[differentiate]
fn functions(x: f64) -> f64 {
    sin(x) + max(x, 0.0) + exp(-x) + math.sin(x) + Math.abs(x) + np.cos(x)
}

#[differentiate]
fn arguments(x: &Array2<f64>) -> f64 {
    let a = x.sum(axis = 0);
    let b = x.sum(0);
    let c = x.mapv(|v| v.log());
    let d = Array2::zeros(2, 3);
    a
}

#[differentiate]
fn called(x: &Array1<f64>) -> f64 {
    let mut y = x.clone();
    y(0) = 1.0;
    2.0(x.sum()) + x(1)
}

#[differentiate]
fn sliced(x: &Array1<f64>) -> f64 {
    x[1..].sum()
}

#[differentiate]
fn python(x: f64, y: &Array1<f64>) -> f64 {
    let a = float(3) + int(x);
    let b = y.T;
    for i in range(3) {}
    for (a, b) in zip(y, y) {}
    for (i, v) in enumerate(y) {}
    if not(x > 0.0) {
        return 0.0;
    }
    a + linspace(0.0, 1.0, 3).sum() + eye(3).sum() + pi(1)
}

#[differentiate]
fn unknown_everywhere(x: f64) -> f64 {
    y = 2.0 * x;
    y = y * y;
    y
}

#[differentiate]
fn misspelt(x: f64) -> f64 {
    let mut y = x;
    loop {
        y *= 2.0;
        if y > 10.0 {
            brake;
        }
    }
    y
}

#[differentiate]
fn values(x: &Array1<f64>) -> f64 {
    let z = [x[0], 1.0];
    let t = (x[0], 1.0);
    x.mapv(exp).sum() + x.mapv(f64.exp).sum() + z.0 + t[0] + x.iter() + x.iter().fold(|acc, v| acc + v, 0.0)
}

#[differentiate]
fn early(x: f64) -> f64 {
    if x > 2.0 {
        return 0;
    }
    x
}

fn main() {}
