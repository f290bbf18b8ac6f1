//! Methods of NumPy and nalgebra.

use ad::prelude::*;

/// Methods that someone has added to everything.
trait More {
    fn transpose(&self) -> f64 {
        0.0
    }
    fn trace(&self) -> f64 {
        0.0
    }
}

impl<T: ?Sized> More for T {}

#[differentiate]
fn f(x: &Array2<f64>) -> f64 {
    let parts = [x.transpose(), x.trace()];
    parts[0]
}

fn main() {}
