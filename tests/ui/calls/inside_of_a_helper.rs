//! Errors in a marked function are reported there, and once.

use ad::prelude::*;

#[differentiable]
fn helper(x: f64) -> f64 {
    x.gamma()
}

#[differentiable]
fn between(x: f64) -> f64 {
    helper(x) + 1.0
}

#[differentiate]
fn f(x: f64) -> f64 {
    between(x)
}

fn main() {
    println!("{}", f_grad(1.0));
}
