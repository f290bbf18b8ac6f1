//! Arrays of static size hold numbers.

use ad::prelude::*;

#[differentiate]
fn f(x: [String; 2], y: f64) -> f64 {
    let _ = x;
    y
}

#[differentiate]
fn g(x: [f64], y: f64) -> f64 {
    y
}

fn main() {}
