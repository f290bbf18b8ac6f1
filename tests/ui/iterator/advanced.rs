//! An iterator that goes on where another call has left it.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    let mut items = x.iter();
    let first: f64 = items.by_ref().map(|v| 2.0 * v).sum();
    let rest: f64 = items.sum();
    first * rest
}

#[differentiate]
fn g(x: &[f64]) -> f64 {
    let mut items = x.iter().filter(|v| **v > 1.0);
    let first = items.next().unwrap();
    first * items.sum::<f64>()
}

fn main() {}
