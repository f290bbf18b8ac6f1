//! Options are names with commas between them.

use ad::prelude::*;

#[differentiate(grad; jvp)]
fn f(x: f64) -> f64 {
    x * x
}

#[differentiate(1 + 1)]
fn g(x: f64) -> f64 {
    x * x
}

#[differentiate(wrt(x), suffix = "by x")]
fn h(x: f64) -> f64 {
    x * x
}

fn main() {}
