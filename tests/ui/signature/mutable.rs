//! Nothing is changed in place from outside.

use ad::ndarray::ArrayViewMut1;
use ad::prelude::*;

#[differentiate]
fn f(x: &mut f64) -> f64 {
    *x * 2.0
}

#[differentiate]
fn g(mut x: ArrayViewMut1<f64>) -> f64 {
    x.fill(1.0);
    x.sum()
}

fn main() {}
