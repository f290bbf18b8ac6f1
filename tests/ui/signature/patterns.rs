//! Parameters have names.

use ad::prelude::*;

#[differentiate]
fn f((a, b): (f64, f64)) -> f64 {
    a * b
}

#[differentiate]
fn g([a, b]: [f64; 2]) -> f64 {
    a * b
}

fn main() {}
