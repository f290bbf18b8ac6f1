//! Left to rustc: a condition that is no `bool`.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    if x { x } else { -x }
}

fn main() {}
