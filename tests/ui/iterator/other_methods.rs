//! Methods of iterators and vectors that are said in another way here.

use ad::prelude::*;

#[differentiate]
fn scanned(x: &Array1<f64>) -> f64 {
    x.scan(0.0, |s, v| s + v).sum()
}

fn main() {}
