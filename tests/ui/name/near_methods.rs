//! Methods that are nearly right.

use ad::prelude::*;

/// Methods that someone has added to everything.
trait More {
    fn sqr(&self) -> f64 {
        0.0
    }
    fn sim(&self) -> f64 {
        0.0
    }
    fn lenn(&self) -> f64 {
        0.0
    }
}

impl<T: ?Sized> More for T {}

#[differentiate]
fn f(x: f64) -> f64 {
    x.sqr()
}

#[differentiate]
fn g(x: &Array1<f64>) -> f64 {
    x.sim() * x.lenn()
}

fn main() {}
