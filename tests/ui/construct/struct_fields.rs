//! Fields that a struct does not have, and fields that are missing: rustc reports them.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    struct Point {
        x: f64,
    }
    let p = Point { x };
    p.y
}

#[differentiate]
fn g(x: f64) -> f64 {
    struct Point {
        x: f64,
        y: f64,
    }
    let p = Point { x };
    p.x * p.y
}

fn main() {}
