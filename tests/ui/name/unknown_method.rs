//! Methods that nobody knows.

use ad::prelude::*;

/// Methods that someone has added to everything.
trait More {
    fn frobnicate(&self) -> f64 {
        0.0
    }
}

impl<T: ?Sized> More for T {}

#[differentiate]
fn f(x: f64) -> f64 {
    x.frobnicate()
}

#[differentiate]
fn g(x: &Array2<f64>) -> f64 {
    x.frobnicate()
}

fn main() {}
