//! Modes that do not exist are refused by name, all at once.

use ad::prelude::*;

#[differentiate(grad, mode = "reverse")]
fn f(x: f64) -> f64 {
    x * x
}

#[differentiate(mode = "dual_array")]
fn g(x: f64) -> f64 {
    x * x
}

fn main() {
    println!("{}", f_grad(f(1.0)) + g_grad(g(1.0)));
}
