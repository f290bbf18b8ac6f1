//! Wrong arguments of functions of the prelude.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>, n: usize) -> f64 {
    sum(n) + sum_outer(&x[0])
}

fn main() {}
