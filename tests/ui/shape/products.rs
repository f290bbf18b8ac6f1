//! Products of arrays that have none.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array3<f64>, y: &Array1<f64>) -> f64 {
    x.dot(y).sum()
}

fn main() {}
