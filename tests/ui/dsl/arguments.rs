//! What the functions of the prelude take.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>, n: usize) -> f64 {
    sum(n) + sum_outer(&x[0])
}

fn main() {}
