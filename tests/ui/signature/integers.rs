//! Integer types that do not exist.

use ad::prelude::*;

#[differentiate]
fn f(x: f64, a: i8, b: i16, c: u16, d: i128, e: u128) -> f64 {
    let _ = (a, b, c, d, e);
    x
}

fn main() {}
