//! Shapes that cannot be equal, and a size that depends on an index.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    (array![x, x] + array![x, x, x]).sum()
}

#[differentiate]
fn g(x: &Array1<f64>) -> f64 {
    build1(x.len(), |i| build1(i, |j| x[j])).sum()
}

fn main() {
    println!("{}", f_grad(1.0) + g(&array![1.0]) + g_grad(&array![1.0])[0] + f(1.0));
}
