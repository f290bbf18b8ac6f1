//! Methods that change an array.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    let mut y = x.clone();
    y.swap(0, 1);
    y.sum()
}

fn main() {}
