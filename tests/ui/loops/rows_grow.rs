//! A local `Vec` of `Vec`s that grow, each on its own.

use ad::prelude::*;

#[differentiate]
fn groups(x: &[f64], g: &[usize], n: usize) -> f64 {
    let mut groups = vec![Vec::new(); n];
    for i in 0..x.len() {
        groups[g[i]].push(x[i]);
    }
    groups.iter().map(|v| v.iter().sum::<f64>().powi(2)).sum()
}

#[differentiate]
fn neighbours(x: &[f64], from: &[usize], to: &[usize]) -> f64 {
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); x.len()];
    for e in 0..from.len() {
        out[from[e]].push(to[e]);
    }
    let mut s = 0.0;
    for (v, all) in x.iter().zip(&out) {
        for &u in all {
            s += v * x[u];
        }
    }
    s
}

fn main() {}
