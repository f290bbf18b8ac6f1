//! Methods that change an array in a way that is not understood.

use std::ops::AddAssign;

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    let mut v = x.clone();
    v.add_assign(1.0);
    v[0]
}

fn main() {}
