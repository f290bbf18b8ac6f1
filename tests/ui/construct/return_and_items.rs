//! Items inside the function, and an assignment that no `mut` allows.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    static mut SCALE: f64 = 2.0;
    let y = x;
    y = SCALE;
    y
}

fn main() {
    println!("{}", f(1.0) + f_grad(1.0));
}
