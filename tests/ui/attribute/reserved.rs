//! Rows of the contract that are not built yet.

use ad::prelude::*;

#[differentiate(jacobian, hvp, pullback, into, aux)]
fn f(x: f64) -> f64 {
    x * x
}

fn main() {}
