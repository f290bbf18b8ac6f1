//! Options and parameters that are nearly right.

use ad::prelude::*;

#[differentiate(jpv, warte)]
fn f(x: f64) -> f64 {
    x * x
}

#[differentiate(wrt(wieghts))]
fn g(weights: f64) -> f64 {
    weights * weights
}

fn main() {}
