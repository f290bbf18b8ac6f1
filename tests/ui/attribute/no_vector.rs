//! A sparse Jacobian is a matrix of a vector by a vector.

use ad::prelude::*;

#[differentiate(jacobian(sparse))]
fn f(x: &Array2<f64>) -> Array1<f64> {
    x.sum_axis(Axis(0))
}

#[differentiate(jacobian(sparse))]
fn g(x: &Array1<f64>) -> f64 {
    x.sum()
}

#[differentiate(jacobian(sparse))]
fn h(x: [f64; 3]) -> [f64; 2] {
    [x[0] * x[1], x[2]]
}

#[differentiate(jacobian(spares))]
fn k(x: &Array1<f64>) -> Array1<f64> {
    x * x
}

fn main() {}
