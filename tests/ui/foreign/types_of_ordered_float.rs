//! Types of ordered_float.

use ad::prelude::*;

mod other {
    pub struct OrderedFloat(pub f64);
    pub struct N64(pub f64);
}

#[differentiate]
fn f0(x: &other::OrderedFloat) -> f64 {
    x.0
}

#[differentiate]
fn f1(x: &other::N64) -> f64 {
    x.0
}

fn main() {}
