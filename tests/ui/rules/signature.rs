//! A rule with another signature.

use ad::prelude::*;

#[custom_vjp(rule)]
fn scaled(x: &Array1<f64>, by: f64) -> f64 {
    x.sum() * by
}

fn rule(x: &Array1<f64>, by: f64, cotangent: f64) -> (f64, Array1<f64>) {
    (x.sum() * by, Array1::from_elem(x.len(), by * cotangent))
}

fn main() {
    println!("{}", scaled(&array![1.0], 2.0));
}
