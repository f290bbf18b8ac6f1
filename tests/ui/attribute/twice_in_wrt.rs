//! A parameter is named once.

use ad::prelude::*;

#[differentiate(wrt(x, y, x))]
fn f(x: f64, y: f64) -> f64 {
    x * y
}

#[differentiate(wrt(z))]
fn g(x: f64, y: f64) -> f64 {
    x * y
}

fn main() {}
