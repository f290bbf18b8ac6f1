//! What `mode = "dual_numbers"` asks of a signature, since it reads no body.
//!
//! Each function has one mistake.

#![allow(unused_variables)]

use ad::prelude::*;

fn main() {}
#[differentiate(mode = "dual_numbers")]
fn f0(x: f64) -> f64 {
    x * x
}

#[differentiate(mode = "dual_numbers")]
fn f1<T: Real>(x: f64) -> T {
    T::lit(x)
}

#[differentiate(mode = "dual_numbers", wrt(n))]
fn f2<T: Real>(x: T, n: usize) -> T {
    x
}

#[differentiate(mode = "dual_numbers")]
fn f3<T: Real, U: Real>(x: T, y: U) -> T {
    x
}

#[differentiate(mode = "dual_numbers")]
fn f4<T: Real, F: Fn(T) -> T>(x: T, f: F) -> T {
    f(x)
}

#[differentiate(mode = "dual_numbers")]
fn f5<T: Real>(x: T) -> f64 {
    x.as_f64()
}

#[differentiate(mode = "dual_numbers")]
fn f6<T: Real>(x: &mut [T]) -> T {
    x[0]
}

#[differentiate(grad, per_example(x), mode = "dual_numbers")]
fn f7<T: Real>(x: T) -> T {
    x
}

#[differentiate(jacobian, mode = "dual_numbers")]
fn f8<T: Real>(x: &Option<T>) -> T {
    x.unwrap_or(T::lit(0.0))
}
