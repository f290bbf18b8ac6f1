//! Where the result is put has to be mutable.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    let y = x.clone();
    Zip::from(x).map_assign_into(&y, |a| 2.0 * a);
    y.sum()
}

fn main() {}
