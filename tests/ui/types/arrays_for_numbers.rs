//! Arrays where Rust wants numbers: rustc, which would say it of ndarray's types, does not see the body.

use ad::prelude::*;

#[differentiate]
fn compared(x: &Array1<f64>) -> f64 {
    if x > 0.0 { 1.0 } else { 0.0 }
}

#[differentiate]
fn converted(x: &Array1<f32>) -> f64 {
    (x as f64).sum()
}

fn main() {}
