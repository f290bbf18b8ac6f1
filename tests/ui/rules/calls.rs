//! Derivatives that cannot be had from a rule, and calls that cannot be made.

use ad::prelude::*;

#[custom_vjp(back)]
fn only_back(x: f64) -> f64 {
    x
}

fn back(x: f64, cotangent: f64) -> (f64, f64) {
    (x, cotangent)
}

#[custom_jvp(along)]
fn only_along(x: f64) -> f64 {
    x
}

fn along(x: f64, tangent: f64) -> (f64, f64) {
    (x, tangent)
}

#[differentiate(jvp)]
fn forward(x: f64) -> f64 {
    only_back(x)
}

#[differentiate]
fn reverse(x: f64) -> f64 {
    only_along(x)
}

#[differentiate(hvp, grad)]
fn second(x: f64) -> f64 {
    only_back(x)
}

#[differentiate(jacobian(sparse))]
fn sparse(x: &Array1<f64>) -> Array1<f64> {
    x.mapv(only_back)
}

#[constant]
fn grown(x: f64) -> Vec<f64> {
    vec![x]
}

#[differentiate]
fn in_a_loop(x: &Array1<f64>) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += grown(x[i])[0] * x[i];
    }
    sum
}

#[differentiate]
fn recursive(x: f64, n: usize) -> f64 {
    if n == 0 { x } else { only_back(recursive(x, n - 1)) }
}

fn main() {
    println!("{}", forward_jvp(1.0, 1.0).0);
}
