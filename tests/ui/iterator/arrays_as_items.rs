//! Arrays as items.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array2<f64>) -> f64 {
    (0..x.nrows()).map(|i| x.row(i).to_owned()).sum::<Array1<f64>>().sum()
}

fn main() {}
