//! `wrt` has to name parameters of real type.

use ad::prelude::*;

#[differentiate(wrt(weigth))]
fn f(weight: f64, n: usize) -> f64 {
    weight * n as f64
}

#[differentiate(wrt(weight, n))]
fn g(weight: f64, n: usize) -> f64 {
    weight * n as f64
}

fn main() {
    println!("{}", f_grad(f(1.0, 2), 2) + g_grad(g(1.0, 2), 2));
}
