//! Methods that are not built yet, with one mistake each.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    let spread = x.cumprod(Axis(0)).sum();
    let product = x.product();
    spread + product
}

#[differentiate]
fn g(x: &Array1<f64>) -> f64 {
    x.iter().fold(0.0, |a, b| a + b)
}

fn main() {
    println!("{}", f(&array![1.0]) + f_grad(&array![1.0])[0] + g(&array![1.0]) + g_grad(&array![1.0])[0]);
}
