//! Parameters have names, or patterns of tuples and arrays.

use ad::prelude::*;

struct Pair(f64, f64);

#[differentiate]
fn f(Pair(a, b): Pair) -> f64 {
    a * b
}

#[differentiate]
fn g(whole @ [a, b]: [f64; 2]) -> f64 {
    a * b * whole[0]
}

fn main() {}
