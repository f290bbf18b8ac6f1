//! What rustc's parser reports and goes on from: nothing more is said of what it has guessed.

use ad::prelude::*;

#[differentiate]
fn conjunction(x: f64) -> f64 {
    x and 1.0
}

#[differentiate]
fn negation(x: f64) -> f64 {
    if not x > 0.0 { x } else { 0.0 }
}

#[differentiate]
fn otherwise(x: f64) -> f64 {
    if x > 0.0 { x } elif x < -1.0 { 1.0 } else { 0.0 }
}

fn main() {
    conjunction_grad(1.0);
}
