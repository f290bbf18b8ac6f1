//! `#[cfg]` inside the function: the attribute does not know what is set.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    #[cfg(test)]
    let x = 2.0 * x;
    x * x
}

fn main() {}
