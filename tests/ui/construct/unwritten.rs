//! Functions that are not written yet.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    if x > 0.0 { x } else { todo!() }
}

#[differentiate]
fn g(x: f64) -> f64 {
    if x > 0.0 { x } else { unimplemented!() }
}

fn main() {}
