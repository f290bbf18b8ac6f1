//! Arrays have at most six indices.

use ad::prelude::*;

#[differentiate(hessian)]
fn f(x: &Array4<f64>) -> f64 {
    x.sum()
}

#[differentiate(jacobian, wrt(x))]
fn g(x: &Array3<f64>, y: &Array4<f64>) -> Array4<f64> {
    y * x.sum()
}

fn main() {}
