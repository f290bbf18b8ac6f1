//! GradBench's `hello`: the square of a number.

use ad::prelude::*;

#[differentiate]
pub fn square(x: f64) -> f64 {
    x * x
}
