//! Items inside of the function.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    use std::f64::consts::*;
    struct Unit;
    let _ = Unit;
    x * PI
}

fn main() {}
