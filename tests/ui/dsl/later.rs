//! Functions and methods that are not supported yet.

use ad::prelude::*;

#[differentiate]
fn g(x: &Array1<f64>) -> f64 {
    let y = Array1::geomspace(1.0, x[0], 3).unwrap();
    x.cumprod(Axis(0)).sum() + x.iter().rfold(0.0, |a, v| a * 0.5 + v) + y.sum()
}

fn main() {}
