//! Macros of ndarray.

use ad::ndarray::azip;
use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    let mut y = x.clone();
    azip!((y in &mut y) *y *= 2.0);
    y.sum()
}

fn main() {}
