//! Equations that cannot be solved in a differentiated function.

use ad::prelude::*;

#[differentiate]
fn power(x: f64, n: usize) -> f64 {
    if n == 0 { 1.0 } else { x * power(x, n - 1) }
}

#[differentiate]
fn of_recursion(a: f64, n: usize) -> f64 {
    fixed_point(|x| a * power(x, n), 0.1, 1e-9, 10)
}

#[differentiate]
fn of_an_unbounded_loop(a: f64) -> f64 {
    root(
        |x: f64| {
            let mut s = x;
            while s < 10.0 {
                s = s * 2.0 + a;
            }
            s - 12.0
        },
        0.1,
        1e-9,
        10,
    )
}

#[differentiate]
fn of_a_size(a: f64) -> f64 {
    root(|x: f64| build1(x as usize, |i| a * i as f64).sum() - x, 3.0, 1e-9, 10)
}

fn main() {}
