//! Items that are made before they are asked for, and may not be.

use ad::prelude::*;

#[differentiate]
fn some_of_a_scan(x: &[f64]) -> f64 {
    (0..9).scan(0.0, |s, i| { *s += x[i]; Some(*s) }).take(3).sum()
}

#[differentiate]
fn found_among_the_first(x: &[f64]) -> f64 {
    (0..9).map(|i| x[i]).take_while(|v| *v > 0.0).find(|v| *v > 1.0).unwrap_or(0.0)
}

#[differentiate]
fn beside_a_shorter_one(x: &[f64]) -> f64 {
    let roots = (0..9).map_while(|i| if x[i] > 0.0 { Some(x[i].sqrt()) } else { None });
    x.iter().zip(roots).map(|(a, b)| a * b).sum()
}

fn main() {}
