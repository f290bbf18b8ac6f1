//! Axes are known when the macro runs, and counted from 0.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array2<f64>, k: usize) -> f64 {
    x.sum_axis(Axis(2)).sum() + x.sum_axis(Axis(k)).sum()
}

fn main() {}
