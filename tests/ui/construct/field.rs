//! Fields of values that have no fields.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    x.real
}

#[differentiate]
fn g(x: &Array1<f64>) -> f64 {
    x.mapv(|v| v * v).sum
}

#[differentiate]
fn h(x: f64) -> f64 {
    let pair = (x, 2.0 * x);
    pair.0 * pair.2
}

fn main() {}
