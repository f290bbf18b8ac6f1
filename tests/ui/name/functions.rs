//! What the attribute cannot see: other functions, constants.

use ad::prelude::*;

const RATE: f64 = 0.1;

fn helper(x: f64) -> f64 {
    x * x
}

#[differentiate]
fn f(x: f64) -> f64 {
    helper(x) * RATE
}

fn main() {
    println!("{}", f(1.0) + f_grad(1.0));
}
