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

#[differentiate(wrt(p.0))]
fn k(p: (f64, f64)) -> f64 {
    p.0 * p.1
}

fn main() {}
