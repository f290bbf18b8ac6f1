//! Types that are not paths.

use ad::prelude::*;

#[differentiate]
fn f(x: impl Fn(f64) -> f64, y: &dyn Fn(f64) -> f64, z: fn(f64) -> f64, w: f64) -> f64 {
    x(w) + y(w) + z(w)
}

#[differentiate]
fn g(x: *const f64, y: f64) -> f64 {
    let _ = x;
    y
}

fn main() {}
