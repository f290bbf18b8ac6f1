//! Functions with qualifiers.

use ad::prelude::*;

#[differentiate]
async fn f(x: f64) -> f64 {
    x * x
}

#[differentiate]
unsafe fn g(x: f64) -> f64 {
    x * x
}

#[differentiate]
extern "C" fn h(x: f64) -> f64 {
    x * x
}

fn main() {}
