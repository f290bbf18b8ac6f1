//! Suffixes of types that do not exist.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    let k = 3i16;
    let _ = k;
    x
}

fn main() {}
