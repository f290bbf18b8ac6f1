//! Element types of arrays.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1, y: f64) -> f64 {
    y
}

#[differentiate]
fn g(x: &[String], y: f64) -> f64 {
    let _ = x;
    y
}

fn main() {}
