//! Functions of another module that are methods here.

use ad::prelude::*;

mod math {
    pub fn exp(x: f64) -> f64 {
        x
    }
}

use math::exp;

#[differentiate]
fn f(x: f64) -> f64 {
    exp(x)
}

#[differentiate]
fn of_traits(x: &Array1<f64>) -> f64 {
    Iterator::rev(x.iter()).fold(0.0, |s, v| s * 0.5 + v) + Clone::clone(&x[0])
}

fn main() {}
