//! Asynchronous code.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    let _later = async { x };
    x
}

fn main() {}
