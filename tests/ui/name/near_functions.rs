//! Functions that are nearly right.

use ad::prelude::*;

fn sofplus(x: f64) -> f64 {
    x
}

fn maximun(x: &Array1<f64>) -> f64 {
    x[0]
}

#[differentiate]
fn f(x: f64) -> f64 {
    sofplus(x)
}

#[differentiate]
fn g(x: &Array1<f64>) -> f64 {
    maximun(x)
}

fn main() {}
