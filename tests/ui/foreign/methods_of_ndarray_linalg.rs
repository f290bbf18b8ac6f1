//! Methods of ndarray-linalg and nalgebra for what `ad::linalg` has as functions.

use ad::prelude::*;

/// Methods that someone has added to everything.
trait More {
    fn inv(&self) -> f64 {
        0.0
    }
    fn det(&self) -> f64 {
        0.0
    }
    fn sln_det(&self) -> f64 {
        0.0
    }
    fn cholesky(&self) -> f64 {
        0.0
    }
    fn svd(&self) -> f64 {
        0.0
    }
    fn qr(&self) -> f64 {
        0.0
    }
    fn lu(&self) -> f64 {
        0.0
    }
    fn eigh(&self) -> f64 {
        0.0
    }
    fn least_squares(&self) -> f64 {
        0.0
    }
    fn solve_triangular(&self) -> f64 {
        0.0
    }
}

impl<T: ?Sized> More for T {}

#[differentiate]
fn f(x: &Array2<f64>) -> f64 {
    let parts = [
        x.inv(),
        x.det(),
        x.sln_det(),
        x.cholesky(),
        x.svd(),
        x.qr(),
        x.lu(),
        x.eigh(),
        x.least_squares(),
        x.solve_triangular(),
    ];
    parts[0]
}

fn main() {}
