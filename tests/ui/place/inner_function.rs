//! A function inside that does not run at once.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    async fn square(x: f64) -> f64 {
        x * x
    }
    x
}

fn main() {}
