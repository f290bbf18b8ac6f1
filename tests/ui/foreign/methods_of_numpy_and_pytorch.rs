//! Methods of NumPy and PyTorch.

use ad::prelude::*;

/// Methods that someone has added to everything.
trait More {
    fn matmul(&self) -> f64 {
        0.0
    }
    fn multiply_matrix(&self) -> f64 {
        0.0
    }
    fn reshape(&self) -> f64 {
        0.0
    }
    fn squeeze(&self) -> f64 {
        0.0
    }
    fn outer(&self) -> f64 {
        0.0
    }
    fn ger(&self) -> f64 {
        0.0
    }
    fn cumsum(&self) -> f64 {
        0.0
    }
    fn size(&self) -> f64 {
        0.0
    }
}

impl<T: ?Sized> More for T {}

#[differentiate]
fn f(x: &Array2<f64>) -> f64 {
    let parts = [x.matmul(), x.multiply_matrix(), x.reshape(), x.squeeze(), x.outer(), x.ger(), x.cumsum(), x.size()];
    parts[0]
}

fn main() {}
