//! Names from outside of the function.

use ad::prelude::*;

static OFFSET: f64 = 1.0;
#[allow(non_upper_case_globals)]
const weight: f64 = 1.0;

#[differentiate]
fn f(x: f64) -> f64 {
    x * weight + OFFSET
}

fn main() {}
