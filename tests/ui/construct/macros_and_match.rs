//! Macros, and a pattern that no number should meet.

use ad::prelude::*;

#[differentiate]
fn f(x: f64, n: usize) -> f64 {
    println!("{x}");
    assert!(n > 0);
    let k = match x {
        0.0 => 1.0,
        _ => 2.0,
    };
    k * x
}

fn main() {
    println!("{}", f(1.0, 1) + f_grad(1.0, 1));
}
