//! Tables that a loop changes: integers that index reals, elements that are updated behind
//! conditions and inner loops, matrices stored as vectors. Gradients are those of central
//! differences.

#![allow(clippy::all, clippy::pedantic, reason = "programs as people write them")]

use ad::prelude::*;

/// Sets that are united. A step is left out where a condition on numbers says so.
#[differentiate(grad, hvp, wrt(x))]
fn united(x: &[f64], edges: &[(usize, usize)]) -> f64 {
    let n = x.len();
    let mut parent: Vec<usize> = (0..n).collect();
    let mut s = 0.0;
    for &(a, b) in edges {
        if x[a] > x[b] {
            continue;
        }
        let (mut i, mut j) = (a, b);
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        while parent[j] != j {
            j = parent[j];
        }
        if i != j {
            parent[i] = j;
            s += (x[i] - x[j]).powi(2) * x[a];
        }
    }
    s
}

/// The search ends only where the function reaches it.
#[differentiate(wrt(x))]
fn searched(x: &[f64], next: &[usize], used: &[bool]) -> f64 {
    let n = x.len();
    let mut seen = vec![0; n];
    let mut s = 0.0;
    for k in 0..n {
        if !used[k] {
            continue;
        }
        let mut i = k;
        while next[i] != i {
            seen[i] += 1;
            i = next[i];
        }
        s += x[i] * x[k] * (seen[k] + 1) as f64;
    }
    s
}

/// A tree of bits; a step stops after the leaf that it adds.
#[differentiate(grad)]
fn tree(x: &[f64], w: &[f64]) -> f64 {
    let n = x.len();
    let none = usize::MAX;
    let mut child = vec![none; 16 * n + 4];
    let mut weight = vec![0.0; 8 * n + 2];
    let mut cells = 1;
    for b in 0..n {
        let (mut cell, mut v) = (0, x[b]);
        for d in 0..7 {
            let q = (v >= 0.5) as usize;
            v = 2.0 * v - if q == 1 { 1.0 } else { 0.0 };
            weight[cell] += w[b] * x[b];
            if child[2 * cell + q] == none {
                child[2 * cell + q] = cells;
                cells += 1;
                if d > 4 {
                    break;
                }
            }
            cell = child[2 * cell + q];
        }
    }
    weight.iter().map(|m| m * m).sum()
}

/// The likelihood of a tree by pruning, with rescaled nodes and an early end.
#[differentiate(grad, jvp, wrt(length, leaf))]
fn pruned(length: &[f64], leaf: &[f64], parent: &[usize]) -> f64 {
    let (n, leaves) = (parent.len(), leaf.len());
    let mut partial = vec![1.0; n * 2];
    for v in 0..leaves {
        partial[v * 2] = leaf[v];
    }
    let mut scale = 0.0;
    for v in 0..n {
        if v >= leaves {
            let mut top: f64 = 0.0;
            for b in 0..2 {
                top += partial[v * 2 + b];
            }
            for b in 0..2 {
                partial[v * 2 + b] /= top;
            }
            scale += top.ln();
        }
        if v == n - 1 {
            break;
        }
        for a in 0..2 {
            let mut sum = 0.0;
            for b in 0..2 {
                let p = if a == b { 1.0 } else { 0.5 };
                sum += p * length[v] * partial[v * 2 + b];
            }
            partial[parent[v] * 2 + a] *= sum;
        }
    }
    (partial[(n - 1) * 2] + 2.0 * partial[(n - 1) * 2 + 1]).ln() + scale
}

/// Elimination in a vector, from the diagonal on, with factors that stay.
#[differentiate(grad, hvp)]
fn eliminated(a: &[f64], n: usize) -> f64 {
    let mut a = a.to_vec();
    for c in 0..n {
        for r in c + 1..n {
            a[r * n + c] /= a[c * n + c];
            for j in c + 1..n {
                a[r * n + j] -= a[r * n + c] * a[c * n + j];
            }
        }
    }
    (0..n * n).map(|k| a[k] * a[k] * (k + 1) as f64).sum()
}

/// Rows of a vector that overlap where the stride is shorter than the row: nothing may be taken
/// from the final vector.
#[differentiate(grad)]
fn overlapping(a: &[f64], n: usize, stride: usize) -> f64 {
    let mut a = a.to_vec();
    for c in 0..n {
        for r in c + 1..n {
            let f = a[r * stride] / (4.0 + a[c * stride] * a[c * stride]);
            for j in 0..n {
                a[r * stride + j] -= f * a[c * stride + j];
            }
        }
    }
    a.iter().map(|v| v * v).sum()
}

fn numbers(n: usize, seed: usize) -> Vec<f64> {
    (0..n).map(|i| 0.05 + ((i * 7919 + seed * 104_729 + 13) % 997) as f64 / 1100.0).collect()
}

#[test]
fn integers_that_index_numbers() {
    for n in [1, 2, 3, 5, 8, 17, 33] {
        let (x, w) = (numbers(n, 1), numbers(n, 2));
        let edges: Vec<(usize, usize)> = (0..2 * n).map(|k| (k * 7 % n, k * k % n)).collect();
        ad::check_grad!(united(&x, &edges));
        ad::check_grad!(tree(&x, &w));
        let next: Vec<usize> = (0..n).map(|i| (i + 1).min(n - 1)).collect();
        ad::check_grad!(searched(&x, &next, &vec![true; n]));
        // A cycle, which no step reaches.
        let cycle: Vec<usize> = (0..n).map(|i| (i + 1) % n).collect();
        if n > 1 {
            assert_eq!(searched_grad(&x, &cycle, &vec![false; n]), vec![0.0; n]);
        }
    }
}

#[test]
fn updates_behind_conditions() {
    for leaves in [2, 3, 4, 9, 16] {
        let n = 2 * leaves - 1;
        let parent: Vec<usize> = (0..n).map(|v| (leaves + v / 2).min(n - 1)).collect();
        let (length, leaf) = (numbers(n, 3), numbers(leaves, 4));
        ad::check_grad!(pruned(&length, &leaf, &parent));
    }
}

#[test]
fn matrices_in_vectors() {
    for n in [1, 2, 3, 5, 8, 13] {
        let mut a = numbers(n * n, 5);
        (0..n).for_each(|i| a[i * n + i] += 3.0);
        ad::check_grad!(eliminated(&a, n));
        for stride in [1, n.saturating_sub(1).max(1), n, n + 2] {
            ad::check_grad!(overlapping(&numbers(n * stride + n, 6), n, stride));
        }
    }
}
