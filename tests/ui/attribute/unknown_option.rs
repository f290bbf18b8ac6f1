//! A misspelt option: one error, although the derivative that it should have written is called.

use ad::prelude::*;

#[differentiate(gard)]
fn f(x: f64) -> f64 {
    x * x
}

fn main() {
    println!("{}", f_grad(f(1.0)));
}
