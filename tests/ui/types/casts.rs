//! Left to rustc: casts that Rust has not.

use ad::prelude::*;

#[differentiate]
fn f(x: f64, c: bool) -> f64 {
    x * (c as f64)
}

fn main() {}
