//! Numbers of different types: what is converted is what the user wrote.

use ad::prelude::*;

#[differentiate]
fn quotient(x: f64, n: usize) -> f64 {
    x * (n / 2.0)
}

#[differentiate]
fn rounded_down(x: f64, n: usize) -> f64 {
    1 / n * x
}

#[differentiate]
fn exponents(x: f64, n: usize, y: f32) -> f64 {
    x.powi(2.0) + x.powi(2.5) + x.powi(n) + x.powf(n) + x.max(y)
}

#[differentiate]
fn begins_with_an_integer(x: &Array1<f64>) -> f64 {
    let mut total = 0;
    for v in x {
        total += v;
    }
    total
}

#[differentiate]
fn compared(x: f64, n: usize, b: bool) -> f64 {
    if n < x { x * b } else { 3.sin() + n.sqrt() }
}

#[differentiate]
fn of_arrays(x: &Array1<f64>, ids: &Array1<usize>, c: bool) -> Array1<f64> {
    let y = ids * x;
    let z = x.dot(x).dot(x);
    let s: f32 = x.iter().sum();
    if c { x.clone() } else { 2.0 }
}

#[differentiate]
fn sizes(x: &Array1<f64>, n: i32, k: i64) -> f64 {
    build1(n, |i| x[i]).sum() + x.slice(s![k..]).sum()
}

#[differentiate]
fn arms(x: f64, y: f32) -> f64 {
    if x > 0.0 { x } else { y }
}

#[differentiate]
fn nothing(x: f64) -> f64 {
    if x > 0.0 {
        x
    }
}

#[differentiate]
fn sorted(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    v.sort();
    v[0]
}

#[differentiate]
fn negated(x: f64) -> f64 {
    if !x { 1.0 } else { x }
}

#[differentiate]
fn mean<T: Real>(x: &Array1<T>) -> T {
    x.sum() / x.len() as f64
}

fn main() {}
