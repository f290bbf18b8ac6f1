//! Modes by name: reserved ones are named as not supported yet.

use ad::prelude::*;

#[differentiate(mode = "chad")]
fn f0(x: f64) -> f64 {
    x * x
}

#[differentiate(mode = "reverse")]
fn f3(x: f64) -> f64 {
    x * x
}

#[differentiate(mode = "dual_aray")]
fn f4(x: f64) -> f64 {
    x * x
}

fn main() {}
