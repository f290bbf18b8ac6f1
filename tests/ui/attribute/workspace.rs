//! `workspace` is a parameter of `f_value_and_grad_into`.

use ad::prelude::*;

#[differentiate(grad, workspace)]
fn alone(x: f64) -> f64 {
    x * x
}

#[differentiate(into, workspace(8))]
fn with_size(x: f64) -> f64 {
    x * x
}

#[differentiate(into, workspace, workspace)]
fn twice(x: f64) -> f64 {
    x * x
}

fn main() {
    println!("{}", alone_grad(1.0));
}
