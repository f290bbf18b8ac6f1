//! A function that is not marked, and a macro of its name.

use ad::prelude::*;

macro_rules! square {
    ($x:expr) => {
        $x * $x
    };
}

fn square(x: f64) -> f64 {
    square!(x)
}

#[differentiate]
fn f(x: f64) -> f64 {
    square(x)
}

fn main() {}
