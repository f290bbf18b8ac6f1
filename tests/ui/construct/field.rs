//! Fields of what has none.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    x.real
}

fn main() {}
