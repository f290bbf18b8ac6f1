//! Unsafe code.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    unsafe { *x.uget(0) }
}

fn main() {}
