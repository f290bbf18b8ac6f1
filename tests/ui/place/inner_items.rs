//! Items inside of the function.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    use std::f64::consts::*;
    mod inner {}
    x * PI
}

fn main() {}
