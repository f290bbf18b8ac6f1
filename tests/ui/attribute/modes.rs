//! Modes by name.

use ad::prelude::*;

#[differentiate(mode = "reverse")]
fn f3(x: f64) -> f64 {
    x * x
}

#[differentiate(mode = "dual_aray")]
fn f4(x: f64) -> f64 {
    x * x
}

fn main() {}
