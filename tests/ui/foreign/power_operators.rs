//! Powers of other languages. (What rustc says to them comes below.)

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    x ^ 2.0
}

#[differentiate]
fn g(x: f64) -> f64 {
    x ** 2
}

fn main() {}
