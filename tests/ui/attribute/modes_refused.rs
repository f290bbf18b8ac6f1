//! Constructs that a mode does not support are named, at their place.

use ad::prelude::*;

#[differentiate(mode = "unf")]
fn stops_inside(x: &Array1<f64>) -> f64 {
    let mut total = 0.0;
    for &a in x {
        let mut s = a;
        while s > 1.0 {
            s = s.sqrt() * a.cos();
        }
        total += s;
    }
    total
}

#[differentiate(mode = "unf")]
fn recursive(x: f64, n: usize) -> f64 {
    if n < 2 { x } else { x * recursive(x.sin(), n - 1) + recursive(x, n - 2) }
}

#[differentiate(mode = "chad")]
fn stops_inside_too(x: &Array1<f64>) -> f64 {
    let mut total = 0.0;
    for &a in x {
        let mut s = a;
        while s > 1.0 {
            s = s.sqrt() * a.cos();
        }
        total += s;
    }
    total
}

#[differentiate(mode = "chad")]
fn recursive_too(x: f64, n: usize) -> f64 {
    if n < 2 { x } else { x * recursive_too(x.sin(), n - 1) + recursive_too(x, n - 2) }
}

fn main() {}
