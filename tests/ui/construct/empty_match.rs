//! Left to rustc: a `match` without arms.

use ad::prelude::*;

#[differentiate]
fn f(x: f64, n: usize) -> f64 {
    match n {}
}

fn main() {}
