//! Second derivatives and buffers are of functions that return one real number.

use ad::prelude::*;

#[differentiate(hvp, into)]
fn f(x: &Array1<f64>) -> Array1<f64> {
    x * 2.0
}

#[differentiate(hessian)]
fn g(x: f64) -> [f64; 2] {
    [x, x * x]
}

#[differentiate(laplacian)]
fn h(x: f64) -> [f64; 2] {
    [x, x * x]
}

fn main() {}
