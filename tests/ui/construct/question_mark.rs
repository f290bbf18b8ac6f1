//! `?` leaves the function.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    let g = || Some(x.first()? * 2.0);
    g().unwrap()
}

fn main() {}
