//! Blocks that are evaluated by the compiler.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    x * const { 2.0 }
}

fn main() {}
