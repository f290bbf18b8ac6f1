//! `return` and `break` in closures.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    x.mapv(|v| return v * 2.0).sum()
}

#[differentiate]
fn g(x: f64) -> f64 {
    loop {
        break x;
    }
}

fn main() {}
