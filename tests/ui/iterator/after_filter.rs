//! Methods that cannot follow `filter`.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    x.iter().filter(|v| **v > 0.0).enumerate().map(|(i, v)| v * i as f64).sum::<f64>()
}

fn main() {}
