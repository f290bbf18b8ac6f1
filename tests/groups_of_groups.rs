//! Groups that are read at places which other groups decide. Each gradient is checked with groups
//! of unequal lengths in several orders, the longest one first and last: a step of the derivative's
//! loop must not read what a step with a longer group has left in memory.

#![allow(clippy::needless_range_loop, reason = "formulas are written with indices")]

use ad::check_grad;
use ad::prelude::*;

/// Each node reads the neighbours of its neighbours.
#[differentiate(wrt(h))]
fn two_hops(h: &[f64], start: &[usize], to: &[usize]) -> f64 {
    let mut out = 0.0;
    for i in 0..start.len() - 1 {
        for a in start[i]..start[i + 1] {
            let j = to[a];
            let mut m = 0.0;
            for b in start[j]..start[j + 1] {
                m += h[to[b]];
            }
            out += m.exp();
        }
    }
    out
}

/// Word alignments (IBM model 1): each word of a sentence is one of those of the other sentence.
#[differentiate(wrt(table))]
fn alignments(table: &Array2<f64>, s: &[Vec<usize>], t: &[Vec<usize>]) -> f64 {
    let mut total = 0.0;
    for i in 0..s.len() {
        for &f in &t[i] {
            let mut p = 0.0;
            for &e in &s[i] {
                p += table[[e, f]];
            }
            total += (p / s[i].len() as f64).ln();
        }
    }
    total
}

/// Documents of words of letters.
#[differentiate(wrt(e))]
fn documents(e: &Array2<f64>, docs: &[Vec<usize>], words: &[Vec<usize>]) -> f64 {
    let mut out = 0.0;
    for doc in docs {
        let mut d = 0.0;
        for &w in doc {
            let mut s = 0.0;
            for &c in &words[w] {
                s += e[[c, 0]] * e[[w % 3, 1]];
            }
            d += s.sin();
        }
        out += d * d;
    }
    out
}

/// Rows of a matrix that the elements of a group name, in every order.
#[differentiate(wrt(x))]
fn rows_of_members(x: &Array2<f64>, start: &[usize], to: &[usize]) -> f64 {
    let mut total = 0.0;
    for q in 0..start.len() - 1 {
        let mut mean = Array1::<f64>::zeros(x.ncols());
        for a in start[q]..start[q + 1] {
            mean += &x.row(to[a]).mapv(f64::sin);
        }
        for a in start[q]..start[q + 1] {
            total += mean.dot(&x.row(to[a])).tanh();
        }
    }
    total
}

/// The groups in several orders: those that get longer, those that get shorter, and empty ones
/// between them.
fn orders() -> Vec<Vec<Vec<usize>>> {
    let groups = [vec![2], vec![0, 1], vec![], vec![3, 0, 2, 1], vec![1, 3]];
    let in_order = |order: [usize; 5]| order.iter().map(|&k| groups[k].clone()).collect();
    vec![in_order([0, 1, 2, 3, 4]), in_order([3, 4, 1, 0, 2]), in_order([2, 0, 4, 1, 3])]
}

#[test]
fn gradients_agree_with_differences() {
    let table = Array2::from_shape_fn((4, 4), |(i, j)| 0.4 + ((i * 5 + j * 3) as f64 * 0.7).sin().powi(2));
    for groups in orders() {
        let start: Vec<usize> = (0..=groups.len()).map(|n| groups[..n].iter().map(Vec::len).sum()).collect();
        let to: Vec<usize> = groups.concat();
        let h: Vec<f64> = (0..groups.len()).map(|i| 0.3 * (i as f64 * 1.7).cos()).collect();
        check_grad!(two_hops(&h, &start, &to));
        check_grad!(rows_of_members(&table, &start, &to));
        let others: Vec<Vec<usize>> = groups.iter().map(|g| g.iter().rev().chain(g).copied().collect()).collect();
        check_grad!(alignments(&table, &others, &groups));
        check_grad!(documents(&table, &others, &groups));
    }
}
