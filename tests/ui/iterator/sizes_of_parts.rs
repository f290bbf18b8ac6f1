//! Windows and chunks have a size for each axis.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array2<f64>) -> f64 {
    x.windows(2).into_iter().map(|w| w.sum()).sum()
}

fn main() {}
