//! A C function of any number of arguments.

use ad::prelude::*;

unsafe extern "C" {
    #[differentiate]
    fn sum_of(x: f64, ...) -> f64;
}

fn main() {}
