//! A function whose name begins like a keyword is a function.

use ad::prelude::*;

#[differentiate]
fn g(x: f64, n: usize) -> f64 {
    let y = if n > 0 { break_even(x) } else { x };
    y
}

fn break_even(x: f64) -> f64 {
    x
}

fn main() {}
