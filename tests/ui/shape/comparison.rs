//! Arrays are not compared as a whole.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
    if x == y { 1.0 } else { x.sum() }
}

fn main() {}
