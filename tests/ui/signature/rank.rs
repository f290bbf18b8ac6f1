//! Ranks: which, and how many.

use ad::ndarray::{Array, ArrayBase, ArrayD, ArrayRef, ArrayView, ArrayViewD, Ix1, Ix2, IxDyn, OwnedRepr};
use ad::prelude::*;

#[differentiate]
fn f(x: ArrayD<f64>) -> f64 {
    x.sum()
}

#[differentiate]
fn g(x: Array<f64, IxDyn>) -> f64 {
    x.sum()
}

#[differentiate]
fn h(x: &ArrayBase<OwnedRepr<f64>, Ix2>) -> f64 {
    x.sum()
}

#[differentiate]
fn k(x: ArrayView<f64, IxDyn>, y: ArrayViewD<f64>, z: &ArrayRef<f64, Ix1>) -> f64 {
    x.sum() + y.sum() + z.sum()
}

fn main() {}
