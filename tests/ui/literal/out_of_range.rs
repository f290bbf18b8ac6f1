//! Literals that their type cannot hold.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    let k = 300u8;
    x[k as usize]
}

fn main() {}
