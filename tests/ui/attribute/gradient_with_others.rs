//! One option that does not fit; the others are written.

use ad::prelude::*;

#[differentiate(grad, vjp)]
fn f(x: &Array1<f64>) -> Array1<f64> {
    x * 2.0
}

fn main() {
    println!("{}", f_vjp(&array![1.0], &array![1.0]).0);
}
