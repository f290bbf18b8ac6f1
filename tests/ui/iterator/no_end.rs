//! A range without an end.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    (0..).map(|i| x[i]).sum::<f64>()
}

fn main() {}
