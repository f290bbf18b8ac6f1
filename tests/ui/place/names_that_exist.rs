//! A derivative whose name is taken.

use ad::prelude::*;

fn f_grad(x: f64) -> f64 {
    x
}

#[differentiate]
fn f(x: f64) -> f64 {
    x * x
}

fn main() {
    println!("{} {}", f(1.0), f_grad(1.0));
}
