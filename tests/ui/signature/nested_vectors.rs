//! Rows in a vector of vectors.

use ad::prelude::*;

#[differentiate]
fn f(x: &Vec<Vec<f64>>) -> f64 {
    x[0][0]
}

#[differentiate]
fn g(x: &[Vec<f64>]) -> f64 {
    x[0][0]
}

#[differentiate]
fn h(x: &[&[f64]]) -> f64 {
    x[0][0]
}

fn main() {}
