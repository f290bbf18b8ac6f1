//! Functions of the contract that are not built yet.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    checkpoint(|| x * x)
}

fn main() {}
