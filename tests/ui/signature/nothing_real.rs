//! Without a real parameter there is no gradient.

use ad::prelude::*;

#[differentiate]
fn f(n: usize, ids: &[usize]) -> f64 {
    (n + ids[0]) as f64
}

fn main() {}
