//! Ranks that do not fit together.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array2<f64>) -> f64 {
    x[0]
}

#[differentiate]
fn g(x: &Array1<f64>) -> f64 {
    x.nrows() as f64 + x.row(0).sum()
}

#[differentiate]
fn h(x: &Array1<f64>, c: bool) -> f64 {
    let y = if c { array![[1.0]].sum_axis(Axis(0)) } else { x.clone() };
    y.sum() + Array1::<f64>::zeros((2, 2)).sum() + Array2::from_elem(3, 1.0).sum()
}

#[differentiate]
fn products(x: &Array1<f64>, y: &Array2<f64>) -> f64 {
    Zip::from(x).and(y).map_collect(|a, b| a * b).sum()
}

fn main() {}
