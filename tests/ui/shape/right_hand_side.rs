//! Arguments of linear algebra of the wrong rank.

use ad::ndarray::Array3;
use ad::prelude::*;

#[differentiate]
fn f(a: &Array1<f64>) -> f64 {
    ad::linalg::cholesky(a).sum()
}

#[differentiate]
fn g(a: &Array2<f64>, b: &Array3<f64>) -> f64 {
    ad::linalg::solve(a, b).sum()
}

fn main() {}
