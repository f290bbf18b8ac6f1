//! Early return, items, `if` without `else`, labelled blocks.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    static SCALE: f64 = 2.0;
    if x < 0.0 {
        return 0.0;
    }
    let y = 'a: { break 'a x };
    SCALE * y
}

fn main() {
    println!("{}", f(1.0) + f_grad(1.0));
}
