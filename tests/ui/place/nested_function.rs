//! A function inside: it is an item, which the attribute outside does not look into.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    fn square(x: f64) -> f64 {
        x * x
    }
    square(x)
}

fn main() {}
