//! Options of other libraries.

use ad::prelude::*;

#[differentiate(reverse)]
fn f0(x: f64) -> f64 {
    x * x
}

#[differentiate(backward)]
fn f1(x: f64) -> f64 {
    x * x
}

#[differentiate(forward)]
fn f2(x: f64) -> f64 {
    x * x
}

#[differentiate(gradient)]
fn f3(x: f64) -> f64 {
    x * x
}

fn main() {}
