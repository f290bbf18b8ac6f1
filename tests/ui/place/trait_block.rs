//! On a trait.

use ad::prelude::*;

#[differentiate]
trait Loss {
    fn loss(x: f64) -> f64;
}

fn main() {}
