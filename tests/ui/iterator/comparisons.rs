//! Items are compared by one key of each.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    *x.iter().max_by(|a, b| (*a * *b).total_cmp(&1.0)).unwrap()
}

fn main() {}
