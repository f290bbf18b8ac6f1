//! Left to rustc: a suffix that no number has.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    1.0e-3f * x
}

fn main() {}
