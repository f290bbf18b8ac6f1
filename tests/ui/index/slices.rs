//! What a slice is described by.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    x.slice(s![..;0]).sum()
}

#[differentiate]
fn g(x: &Array2<f64>) -> f64 {
    x.slice(s![1..]).sum()
}

fn main() {}
