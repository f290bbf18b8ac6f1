//! Methods that change an array in a way that is not understood.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    let mut v = x.clone();
    v.as_slice_mut().unwrap()[0] = 1.0;
    v[0]
}

fn main() {}
