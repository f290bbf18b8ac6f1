//! Patterns that are not understood, and names in patterns that are not seen.

use ad::prelude::*;

mod other {
    pub struct Point2 {
        pub x: f64,
    }
}

mod limits {
    pub const LIMIT: usize = 3;
}

#[differentiate]
fn f(x: f64, p: &[f64]) -> f64 {
    let other::Point2 { x: y } = other::Point2 { x };
    y + p[0]
}

#[differentiate]
fn g(x: f64, n: usize) -> f64 {
    match n {
        limits::LIMIT => x,
        _ => 0.0,
    }
}

fn main() {}
