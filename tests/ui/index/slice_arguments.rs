//! A slice is described by `s![..]`, well formed. (What the macro and rustc say comes with it.)

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    x.slice(1).sum()
}

#[differentiate]
fn g(x: &Array1<f64>) -> f64 {
    x.slice(s![1..2 3]).sum()
}

fn main() {}
