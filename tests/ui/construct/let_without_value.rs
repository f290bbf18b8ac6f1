//! A name that gets its value later.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    let y;
    y = 2.0 * x;
    y
}

fn main() {}
