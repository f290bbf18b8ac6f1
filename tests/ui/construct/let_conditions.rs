//! Patterns in conditions.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    if let Some(first) = x.first() { *first } else { 0.0 }
}

#[differentiate]
fn g(x: &Array1<f64>) -> f64 {
    let Some(first) = x.first() else { return 0.0 };
    *first
}

fn main() {}
