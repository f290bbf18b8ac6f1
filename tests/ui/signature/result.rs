//! Result types.

use ad::prelude::*;

#[differentiate]
fn nothing(x: f64) {
    let _ = x;
}

#[differentiate]
fn borrowed<'a>(x: &'a [f64]) -> &'a [f64] {
    x
}

#[differentiate]
fn index(x: f64) -> usize {
    x as usize
}

fn main() {}
