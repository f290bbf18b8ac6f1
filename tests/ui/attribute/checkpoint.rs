//! The option `checkpoint` names a schedule, once.

use ad::prelude::*;

#[differentiate(checkpoint = "squareroot")]
fn f0(x: f64) -> f64 {
    x * x
}

#[differentiate(checkpoint = "sqr")]
fn f1(x: f64) -> f64 {
    x * x
}

#[differentiate(checkpoint)]
fn f2(x: f64) -> f64 {
    x * x
}

#[differentiate(checkpoint = 2)]
fn f3(x: f64) -> f64 {
    x * x
}

#[differentiate(checkpoint = "sqrt", checkpoint = "sqrt")]
fn f4(x: f64) -> f64 {
    x * x
}

fn main() {}
