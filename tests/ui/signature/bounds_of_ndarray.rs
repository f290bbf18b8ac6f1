//! Functions over the traits of ndarray.

use ad::ndarray::{Array, ArrayBase, Data, Dimension, Ix1};
use ad::prelude::*;

#[differentiate]
fn f<S: Data<Elem = f64>>(x: &ArrayBase<S, Ix1>) -> f64 {
    x.sum()
}

#[differentiate]
fn g<D: Dimension>(x: &Array<f64, D>) -> f64 {
    x.sum()
}

fn main() {}
