//! A function without a body.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64;

fn main() {
    f(1.0);
}
