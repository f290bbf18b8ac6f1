//! An integer literal where a real number is wanted.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    x + 1
}

fn main() {}
