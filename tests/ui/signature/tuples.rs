//! Tuples are not supported yet.

use ad::prelude::*;

#[differentiate]
fn f(p: (f64, f64)) -> f64 {
    p.0 * p.1
}

#[differentiate]
fn g(x: f64) -> (f64, f64) {
    (x, x)
}

fn main() {}
