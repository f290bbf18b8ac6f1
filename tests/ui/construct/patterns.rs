//! Patterns that bind in other ways.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    let y @ _ = x;
    y
}

#[differentiate]
fn g(x: &Array1<f64>) -> f64 {
    let ref y = x;
    y.sum()
}

fn main() {}
