//! Syntax errors are left to rustc, which reports each once.

use ad::prelude::*;

#[differentiate]
fn matrix_product(w: &Array1<f64>, x: &Array1<f64>) -> f64 {
    w @ x
}

#[differentiate]
fn no_semicolon(x: f64) -> f64 {
    let y = 2.0 * x
    y * y
}

#[differentiate]
fn step(x: &Array1<f64>) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() step 2 {
        s += x[i];
    }
    s
}

#[differentiate]
fn no_mark(x: &Array1<f64>) -> f64 {
    array[1.0, 2.0].dot(x)
}

fn main() {
    matrix_product_grad(&array![1.0], &array![1.0]);
    no_semicolon_grad(2.0);
}
