//! Patterns beside conditions.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>, c: bool) -> f64 {
    if c && let Some(first) = x.first() { *first } else { 0.0 }
}

fn main() {}
