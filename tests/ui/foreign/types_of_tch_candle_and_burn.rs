//! Types of tch, candle and burn.

use ad::prelude::*;

mod other {
    pub struct Tensor(pub f64);
    pub struct Var(pub f64);
}

#[differentiate]
fn f0(x: &other::Tensor) -> f64 {
    x.0
}

#[differentiate]
fn f1(x: &other::Var) -> f64 {
    x.0
}

fn main() {}
