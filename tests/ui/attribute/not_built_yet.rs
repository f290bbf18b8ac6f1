//! Modes that are planned and not supported yet are refused by name, all at once.

use ad::prelude::*;

#[differentiate(grad, mode = "chad")]
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
