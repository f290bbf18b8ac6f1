//! Derivatives that cannot be called in a differentiated function.

use ad::prelude::*;

#[differentiate(into, per_example(x))]
fn simple(x: f64, k: f64) -> f64 {
    x * k
}

#[differentiate]
fn calls_into(x: f64, k: f64) -> f64 {
    let (mut dx, mut dk) = (0.0, 0.0);
    simple_value_and_grad_into(x, k, &mut dx, &mut dk)
}

#[differentiate(jacobian(sparse))]
fn shifted(x: &Array1<f64>) -> Array1<f64> {
    build1(x.len(), |i| x[i] * x[0])
}

#[differentiate]
fn calls_sparse(x: &Array1<f64>) -> f64 {
    let _ = shifted_jacobian_sparse(x);
    x[0]
}

#[differentiate]
fn maybe(x: f64) -> Option<f64> {
    if x > 0.0 { Some(x * x) } else { None }
}

#[differentiate]
fn calls_maybe(x: f64) -> f64 {
    maybe_grad(x).unwrap()
}

#[differentiate]
fn power(x: f64, n: usize) -> f64 {
    if n == 0 { 1.0 } else { x * power(x, n - 1) }
}

#[differentiate]
fn calls_power(x: f64, n: usize) -> f64 {
    power_grad(x, n)
}

#[differentiate]
fn filled(x: f64, n: f64) -> f64 {
    build1(n as usize, |i| x * i as f64).sum()
}

#[differentiate]
fn calls_filled(x: f64, n: f64) -> f64 {
    filled_grad(x, n).0
}

#[differentiate]
fn until(x: f64) -> f64 {
    let mut s = x;
    while s < 10.0 {
        s *= 1.5;
    }
    s
}

#[differentiate]
fn calls_until(x: &Array1<f64>) -> f64 {
    x.iter().map(|&v| until_grad(v)).sum::<f64>()
}

#[differentiate]
fn calls_itself(x: f64) -> f64 {
    if x > 1.0 { x * x } else { calls_itself_grad(x + 1.0) }
}

fn main() {}
