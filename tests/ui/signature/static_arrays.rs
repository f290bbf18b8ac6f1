//! Arrays of static size hold numbers, and have at most six axes.

use ad::prelude::*;

#[differentiate]
fn f(x: [String; 2], y: f64) -> f64 {
    let _ = x;
    y
}

#[differentiate]
fn g(x: [&[f64]; 2]) -> f64 {
    x[0][0]
}

#[differentiate]
fn h(x: [[[[[[[f64; 1]; 1]; 1]; 1]; 1]; 1]; 1]) -> f64 {
    x[0][0][0][0][0][0][0]
}

#[differentiate]
fn k(x: [f64], y: f64) -> f64 {
    y + x[0]
}

fn main() {}
