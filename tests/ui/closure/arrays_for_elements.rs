//! Closures that return arrays where one element is expected.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    build([3], |_| x.clone()).sum()
}

#[differentiate]
fn g(x: &Array1<f64>) -> f64 {
    x.mapv(|v| x * v).sum()
}

fn main() {}
