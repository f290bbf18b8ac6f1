//! Functions that are called and not marked.

use ad::prelude::*;

mod model {
    pub fn rate(x: f64) -> f64 {
        x
    }
}

fn helper(x: f64) -> f64 {
    x * x
}

#[differentiate]
fn f(x: f64) -> f64 {
    helper(x)
}

#[differentiate]
fn g(x: f64) -> f64 {
    model::rate(x)
}

fn main() {}
