//! Methods that are not supported yet, with one mistake each.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    let spread = x.cumprod(Axis(0)).sum();
    spread
}

#[differentiate]
fn g(x: &Array1<f64>) -> f64 {
    x.iter().position(|&a| a > 0.0).unwrap() as f64
}

fn main() {
    println!("{}", f(&array![1.0]) + f_grad(&array![1.0])[0] + g(&array![1.0]) + g_grad(&array![1.0])[0]);
}
