//! The attribute twice.

use ad::prelude::*;

#[differentiate]
#[differentiate]
fn f(x: f64) -> f64 {
    x * x
}

fn main() {}
