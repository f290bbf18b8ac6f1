//! Addresses.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    let _address = &raw const x;
    x
}

fn main() {}
