//! A loop that nothing leaves.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    let mut y = x;
    loop {
        y = y.cos();
    }
}

fn main() {
    println!("{}", f(1.0) + f_grad(1.0));
}
