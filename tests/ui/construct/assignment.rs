//! Only variables of the function can be assigned, and on every path before they are read.

use ad::prelude::*;

#[differentiate]
fn parameter(x: &mut [f64; 2]) -> f64 {
    x[0]
}

#[differentiate]
fn fixed(v: &Array1<f64>) -> f64 {
    let y = 1.0;
    y = 2.0;
    v[0] = y;
    v[0]
}

#[differentiate]
fn paths(x: f64) -> f64 {
    let z;
    if x > 0.0 {
        z = 1.0;
    }
    z * x
}

#[differentiate]
fn captures(x: f64) -> f64 {
    let mut total = 0.0;
    let mut add = move |y: f64| {
        total += y;
        total
    };
    add(x) + total
}

#[differentiate]
fn shapes(x: &Array1<f64>, y: &Array2<f64>) -> f64 {
    let mut a = x.to_owned();
    a += y;
    a.sum()
}

fn main() {}
