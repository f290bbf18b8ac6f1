//! Parameters are values of their own.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    x = 2.0 * x;
    x
}

fn main() {}
