//! A literal without elements has no type.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    let e = array![];
    let e: Array1<f64> = e;
    x + e.sum()
}

fn main() {}
