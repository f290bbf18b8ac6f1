//! A struct of another library in a body.

use ad::prelude::*;

mod other {
    pub struct Point2 {
        pub x: f64,
    }
}

#[differentiate]
fn f(x: f64) -> f64 {
    let p = other::Point2 { x };
    p.x
}

fn main() {}
