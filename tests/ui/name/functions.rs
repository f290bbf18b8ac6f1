//! What the attribute cannot see: other functions, constants.

use ad::prelude::*;

const RATE: f64 = 0.1;
const WEIGHTS: [f64; 3] = [1.0, 2.0, 3.0];

fn helper(x: f64) -> f64 {
    x * x
}

#[differentiate]
fn f(x: f64) -> f64 {
    helper(x) * RATE
}

#[differentiate]
fn g(x: f64) -> f64 {
    let y = build1(3, |i| WEIGHTS[i]);
    x * y.sum() * RATE.sqrt() * sum(&WEIGHTS)
}

fn main() {
    println!("{}", f(1.0) + f_grad(1.0));
}
