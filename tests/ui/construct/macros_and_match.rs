//! Macros and `match`.

use ad::prelude::*;

#[differentiate]
fn f(x: f64, n: usize) -> f64 {
    println!("{x}");
    assert!(n > 0);
    let k = match n {
        1 => 1.0,
        _ => 2.0,
    };
    k * x
}

fn main() {
    println!("{}", f(1.0, 1) + f_grad(1.0, 1));
}
