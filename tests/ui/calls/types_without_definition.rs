//! Types without `#[derive(Differentiable)]`: what rustc says, since only it knows what is in scope.

use ad::prelude::*;

struct Point {
    x: f64,
}

#[differentiate]
fn f(x: f64) -> f64 {
    let p = Point { x };
    p.x
}

#[differentiate]
fn g(p: &Point) -> f64 {
    p.x
}

fn main() {}
