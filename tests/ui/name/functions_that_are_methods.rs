//! Functions of another module that are methods here.

use ad::prelude::*;

mod math {
    pub fn exp(x: f64) -> f64 {
        x
    }
}

#[differentiate]
fn f(x: f64) -> f64 {
    math::exp(x)
}

fn main() {}
