//! Options of JAX.

use ad::prelude::*;

#[differentiate(argnums)]
fn f0(x: f64) -> f64 {
    x * x
}

#[differentiate(argnum)]
fn f1(x: f64) -> f64 {
    x * x
}

#[differentiate(has_aux)]
fn f2(x: f64) -> f64 {
    x * x
}

fn main() {}
