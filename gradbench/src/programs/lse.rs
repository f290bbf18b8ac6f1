//! GradBench's `lse`: the logarithm of a sum of exponentials.

use ad::prelude::*;

#[differentiate]
pub fn lse(x: &Array1<f64>) -> f64 {
    let a = maximum(x);
    a + (x - a).exp().sum().ln()
}
