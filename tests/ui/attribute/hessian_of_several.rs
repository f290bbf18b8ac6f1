//! A Hessian is with respect to one parameter, and so is a Laplacian.

use ad::prelude::*;

#[differentiate(hessian)]
fn f(x: &Array1<f64>, y: f64, n: usize) -> f64 {
    x.sum() * y * n as f64
}

#[differentiate(laplacian)]
fn g(x: &Array1<f64>, y: f64) -> f64 {
    x.sum() * y
}

fn main() {
    println!("{}", f_hessian(&array![1.0], 2.0, 3));
}
