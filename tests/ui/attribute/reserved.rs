//! The option `aux` requires a result that is a pair of a number and further values.

use ad::prelude::*;

#[differentiate(vjp, aux)]
fn f(x: f64) -> f64 {
    x * x
}

#[differentiate(aux)]
fn g(x: &Array1<f64>) -> (Array1<f64>, f64) {
    (x * 2.0, x.sum())
}

#[differentiate(aux, aux = "loss")]
fn h(x: f64) -> (f64, f64) {
    (x, x)
}

fn main() {}
