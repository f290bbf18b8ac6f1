//! Modes by name: reserved ones are named as not supported yet, and one does not take a loop.

use ad::prelude::*;

#[differentiate(mode = "chad")]
fn f0(x: f64) -> f64 {
    x * x
}

#[differentiate(mode = "unf")]
fn f1(x: f64) -> f64 {
    let mut y = x;
    for _ in 0..3 {
        while y < 10.0 {
            y = y * y + 1.0;
        }
        y = y / 5.0;
    }
    y
}

#[differentiate(mode = "dual_numbers")]
fn f2(x: f64) -> f64 {
    x * x
}

#[differentiate(mode = "reverse")]
fn f3(x: f64) -> f64 {
    x * x
}

#[differentiate(mode = "dual_aray")]
fn f4(x: f64) -> f64 {
    x * x
}

fn main() {}
