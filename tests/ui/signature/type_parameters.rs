//! One type of real numbers.

use ad::prelude::*;

#[differentiate]
fn f<T: Copy + std::ops::Mul<Output = T>>(x: T) -> T {
    x * x
}

#[differentiate]
fn g<T: Real, U: Real>(x: T, y: U) -> T {
    let _ = y;
    x * x
}

#[differentiate]
fn h<F: Fn(f64) -> f64>(k: F, x: f64) -> f64 {
    k(x)
}

fn main() {}
