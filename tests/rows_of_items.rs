//! Items with rows of static arrays, and with as many items as the shorter of two lists has. Their
//! cotangents are scattered block by block, into places that the items decide.

use ad::prelude::*;

#[differentiate(wrt(w))]
fn zipped(w: &[f64], at: &[usize], x: &[[f64; 4]]) -> f64 {
    let mut loss = 0.0;
    for (i, p) in at.iter().zip(x) {
        let mut sum = 0.0;
        for a in 0..4 {
            sum += p[a] * w[i + a];
        }
        loss += sum * sum;
    }
    loss
}

#[differentiate(wrt(w, x))]
fn indexed(w: &[f64], at: &[usize], x: &[[f64; 4]]) -> f64 {
    let mut loss = 0.0;
    for n in 0..at.len() {
        let mut sum = 0.0;
        for a in 0..4 {
            sum += x[n][a] * w[at[n] + a];
        }
        loss += sum * sum;
    }
    loss
}

#[differentiate(wrt(w))]
fn line(w: &[f64], at: &[[f64; 2]], height: &[f64]) -> f64 {
    let mut loss = 0.0;
    for (p, z) in at.iter().zip(height) {
        let i = p[0].floor() as usize;
        let mut sum = 0.0;
        for a in 0..4 {
            sum += p[1] * w[i + a];
        }
        loss += (sum - z).powi(2);
    }
    loss
}

#[differentiate(wrt(w))]
fn edges(w: &[f64], at: &[[usize; 2]], height: &[f64]) -> f64 {
    let mut loss = 0.0;
    for (p, z) in at.iter().zip(height) {
        let mut sum = 0.0;
        for a in 0..4 {
            for b in 0..4 {
                sum += w[p[0] + a] * w[p[1] + b];
            }
        }
        loss += (sum - z).powi(2);
    }
    loss
}

/// Numbers of items: one, a few, and more than a block has.
const ITEMS: [usize; 4] = [1, 2, 5, 300];

#[test]
fn rows_of_the_items_are_read_as_they_are_outside_of_the_block() {
    let w: Vec<f64> = (0..12).map(|i| (f64::from(i) * 0.7).sin()).collect();
    for n in ITEMS {
        let x: Vec<[f64; 4]> = (0..n).map(|i| [0.3 + 0.01 * i as f64, 1.0, 0.2, 0.7 - 0.1 * (i % 3) as f64]).collect();
        let at: Vec<usize> = (0..n).map(|i| (i * 3) % 8).collect();
        let height: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
        ad::check_grad!(zipped(&w, &at, &x));
        ad::check_grad!(zipped(&w, &at[..n.div_ceil(2)], &x));
        ad::check_grad!(indexed(&w, &at, &x));
        let points: Vec<[f64; 2]> = (0..n).map(|i| [((i * 3) % 8) as f64 + 0.4, 0.1 * (i % 7) as f64]).collect();
        ad::check_grad!(line(&w, &points, &height));
        let ends: Vec<[usize; 2]> = (0..n).map(|i| [(i * 3) % 8, (i * 5) % 8]).collect();
        ad::check_grad!(edges(&w, &ends, &height));
    }
}
