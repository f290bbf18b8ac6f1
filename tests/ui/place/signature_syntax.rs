//! A signature that does not parse is rustc's to say, once; of the body nothing is said then.

use ad::prelude::*;

#[differentiate]
fn no_colon(x f64) -> f64 {
    x.summ()
}

#[differentiate]
fn of_another_language(x: f64): f64 {
    x
}

#[differentiate]
fn no_size(x: [f64, 3]) -> f64 {
    x[0]
}

#[differentiate]
fn default(x: f64 = 1.0) -> f64 {
    x + "x"
}

fn main() {}
