//! Indices as NumPy has them: negative, of another type, several in one pair of brackets. (To the last rustc's parser says something, too.)

use ad::prelude::*;

#[differentiate]
fn last(x: &Array1<f64>) -> f64 {
    x[-1] * x[-2]
}

#[differentiate]
fn signed(x: &Array1<f64>, n: i32) -> f64 {
    x[n] * x[n - 1]
}

#[differentiate]
fn pairs(x: &Array2<f64>) -> f64 {
    x[0, 1] * x[1, 1]
}

fn main() {}
