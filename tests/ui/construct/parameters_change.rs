//! Parameters are values of their own.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    x = 2.0 * x;
    x
}

#[differentiate]
fn elements(x: &[f64], y: Vec<f64>, m: &Array2<f64>) -> f64 {
    x[0] = 1.0;
    y.push(2.0);
    m.row_mut(0).fill(0.0);
    for v in y.iter_mut() {
        *v *= 2.0;
    }
    x[0] + y[0]
}

fn main() {}
