//! `array[1.0]` parses, as an element of something called `array`.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    let w = array[2.0];
    x[0] * w[0]
}

fn main() {}
