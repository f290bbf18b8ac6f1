//! `?` leaves the function.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    x.first()? * 2.0
}

fn main() {}
