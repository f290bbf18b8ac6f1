//! Methods of iterators and vectors that are said in another way here.

use ad::prelude::*;

#[differentiate]
fn scanned(x: &Array1<f64>) -> f64 {
    x.scan(0.0, |s, v| s + v).sum()
}

#[differentiate]
fn sorted(x: &[f64]) -> f64 {
    let mut y = x.to_vec();
    y.sort_by(f64::total_cmp);
    y.sort_unstable_by(|a, b| a.total_cmp(b));
    y[0]
}

#[differentiate]
fn counted(x: &[usize], y: f64) -> f64 {
    let mut ids = x.to_vec();
    ids.sort();
    y * ids[0] as f64
}

fn main() {}
