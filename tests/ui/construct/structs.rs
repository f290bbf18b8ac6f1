//! Struct values and their fields.

use ad::prelude::*;

#[derive(Clone, Copy)]
struct Point {
    x: f64,
}

#[differentiate]
fn f(x: f64) -> f64 {
    let p = Point { x };
    p.x
}

#[differentiate]
fn g(x: f64) -> f64 {
    let p = (x, x);
    p.0 * Point { x }.x
}

fn main() {}
