//! An `if` that has no value.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    if x > 0.0 {
        let _ = x;
    }
    x
}

fn main() {}
