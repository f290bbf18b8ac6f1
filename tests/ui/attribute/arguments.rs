//! The arguments of options, and options that occur twice.

use ad::prelude::*;

#[differentiate(grad = true, grad, jvp, jvp)]
fn f(x: f64) -> f64 {
    x * x
}

#[differentiate(wrt, crate = ad)]
fn g(x: f64) -> f64 {
    x * x
}

#[differentiate(mode)]
fn h(x: f64) -> f64 {
    x * x
}

fn main() {}
