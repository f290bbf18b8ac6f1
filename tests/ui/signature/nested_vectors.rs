//! Rows that are borrowed.

use ad::prelude::*;

#[differentiate]
fn h(x: &[&[f64]]) -> f64 {
    x[0][0]
}

fn main() {}
