//! An `Option` is not a number.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    x.mean() * 2.0
}

fn main() {}
