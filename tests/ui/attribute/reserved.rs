//! An option of the contract that is not supported yet.

use ad::prelude::*;

#[differentiate(vjp, aux)]
fn f(x: f64) -> f64 {
    x * x
}

fn main() {}
