//! An index that is never there.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    let v = [x, 2.0 * x];
    v[2]
}

fn main() {}
