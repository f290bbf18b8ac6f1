//! Types of faer.

use ad::prelude::*;

mod other {
    pub struct Mat(pub f64);
    pub struct MatRef(pub f64);
}

#[differentiate]
fn f0(x: &other::Mat) -> f64 {
    x.0
}

#[differentiate]
fn f1(x: &other::MatRef) -> f64 {
    x.0
}

fn main() {}
