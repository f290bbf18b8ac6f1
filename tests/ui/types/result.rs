//! Left to rustc: a result of another type than in the signature.

use ad::prelude::*;

#[differentiate]
fn f(x: f64, n: usize) -> f64 {
    let _ = x;
    n
}

fn main() {}
