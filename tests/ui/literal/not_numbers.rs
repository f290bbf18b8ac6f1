//! Literals that are not numbers.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    let _name = "x";
    x
}

#[differentiate]
fn g(x: f64) -> f64 {
    let _letter = 'x';
    x
}

fn main() {}
