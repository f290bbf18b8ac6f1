//! A gradient needs one real number.

use ad::prelude::*;

#[differentiate(grad)]
fn f(x: &Array1<f64>) -> Array1<f64> {
    x * 2.0
}

fn main() {
    println!("{}", f(&array![1.0]));
}
