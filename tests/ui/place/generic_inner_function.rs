//! A generic function inside.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    fn square<T: Real>(x: T) -> T {
        x * x
    }
    square(x)
}

fn main() {}
