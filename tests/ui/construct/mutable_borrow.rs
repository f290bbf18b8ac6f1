//! References to variables that change.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    let y = &mut { x };
    *y * 2.0
}

fn main() {}
