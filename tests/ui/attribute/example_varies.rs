//! What decides how long an array or a loop is cannot be another number in each example.

use ad::prelude::*;

#[differentiate(per_example(n))]
fn steps(w: f64, n: usize) -> f64 {
    let mut y = w;
    for _ in 0..n {
        y = (y * w).sin();
    }
    y
}

#[differentiate(per_example(x))]
fn until(w: f64, x: f64) -> f64 {
    let mut y = w;
    while y < x {
        y = y * 2.0;
    }
    y
}

fn main() {
    println!("{}", steps_grad_each(1.0, &[1]) + until_grad_each(1.0, &[1.0]));
}
