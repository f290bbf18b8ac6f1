//! Scalars of different types.

use ad::prelude::*;

#[differentiate]
fn f(x: f64, n: usize) -> f64 {
    x * n
}

#[differentiate]
fn g(x: f32, y: f64) -> f64 {
    (x * y).sin()
}

fn main() {}
