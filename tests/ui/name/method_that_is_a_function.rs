//! Functions of the prelude are not methods.

use ad::prelude::*;

/// Methods that someone has added to everything.
trait More {
    fn relu(&self) -> f64 {
        0.0
    }
    fn sigmoid(&self) -> f64 {
        0.0
    }
    fn logsumexp(&self) -> f64 {
        0.0
    }
}

impl<T: ?Sized> More for T {}

#[differentiate]
fn f(x: f64) -> f64 {
    x.relu() + x.sigmoid()
}

#[differentiate]
fn g(x: &Array1<f64>) -> f64 {
    x.logsumexp()
}

fn main() {}
