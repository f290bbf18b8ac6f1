//! Wrong arguments of slices.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    x.slice(s![..;0]).sum()
}

#[differentiate]
fn g(x: &Array2<f64>) -> f64 {
    x.slice(s![1..]).sum()
}

#[differentiate]
fn of_axis(x: &Array2<f64>, k: isize) -> f64 {
    x.slice_axis(Axis(0), ad::ndarray::Slice::new(0, None, k)).sum()
}

#[differentiate]
fn no_range(x: &Array2<f64>) -> f64 {
    x.slice_axis(Axis(0), 1).sum()
}

fn main() {}
