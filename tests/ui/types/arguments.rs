//! Left to rustc: the number of arguments.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    x.powi(2, 3)
}

#[differentiate]
fn g(x: f64) -> f64 {
    let square = |x: f64| x * x;
    square(x, x)
}

fn main() {}
