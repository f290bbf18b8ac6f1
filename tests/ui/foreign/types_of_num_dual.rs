//! Types of num_dual.

use ad::prelude::*;

mod other {
    pub struct Dual(pub f64);
    pub struct DualVec(pub f64);
}

#[differentiate]
fn f0(x: &other::Dual) -> f64 {
    x.0
}

#[differentiate]
fn f1(x: &other::DualVec) -> f64 {
    x.0
}

fn main() {}
