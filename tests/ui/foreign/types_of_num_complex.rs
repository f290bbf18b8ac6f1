//! Types of num_complex.

use ad::prelude::*;

mod other {
    pub struct Complex(pub f64);
    pub struct Complex32(pub f64);
}

#[differentiate]
fn f0(x: &other::Complex) -> f64 {
    x.0
}

#[differentiate]
fn f1(x: &other::Complex32) -> f64 {
    x.0
}

fn main() {}
