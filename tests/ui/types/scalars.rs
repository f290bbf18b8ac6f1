//! Left to rustc: scalars of different types.

use ad::prelude::*;

#[differentiate]
fn f(x: f64, n: usize) -> f64 {
    x * n
}

fn main() {}
