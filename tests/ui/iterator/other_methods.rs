//! Methods of iterators and vectors that have another form here.

use ad::prelude::*;

#[differentiate]
fn scanned(x: &Array1<f64>) -> f64 {
    x.scan(0.0, |s, v| s + v).sum()
}

fn main() {}
