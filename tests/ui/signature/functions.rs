//! Functions that are refused.

use ad::prelude::*;

#[differentiate]
const fn f(x: f64) -> f64 {
    x
}

#[differentiate]
fn g<const N: usize>(x: f64) -> f64 {
    x * N as f64
}

#[differentiate]
fn h(n: usize) -> f64 {
    n as f64
}

#[differentiate]
fn k(x: f64) -> usize {
    x as usize
}

fn main() {
    println!("{} {} {} {}", f(1.0), g::<2>(1.0), h(1), k(1.0));
}
