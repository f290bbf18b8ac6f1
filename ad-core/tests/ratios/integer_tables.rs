//! Loops that change a table of integers (sets that are united, trees that are built) and elements
//! of an array behind conditions; matrices that are stored as vectors.

use quote::quote;

use super::programs::{Program, programs};

const LINEAR: &[usize] = &[64, 128, 256, 512];
const SQUARE: &[usize] = &[64, 256, 1024, 4096];

programs! {
    tight: false;
    // Each step shortens the path to the root of its set.
    united_sets LINEAR x {
        let n = x.len();
        let mut parent: Vec<usize> = (0..n).collect();
        let mut s = 0.0;
        for k in 0..2 * n {
            let (a, b) = (k * 7 % n, k * 13 % n);
            let mut i = a;
            while parent[i] != i {
                parent[i] = parent[parent[i]];
                i = parent[i];
            }
            if i < b {
                parent[i] = b;
            }
            s += x[i] * x[a];
        }
        s
    }
    // The same where a condition on numbers decides whether a step does anything.
    united_where_larger LINEAR x {
        let n = x.len();
        let mut parent: Vec<usize> = (0..n).collect();
        let mut s = 0.0;
        for k in 0..2 * n {
            let (a, b) = (k * 7 % n, k * 13 % n);
            if x[a] > x[b] {
                continue;
            }
            let mut i = a;
            while parent[i] != i {
                parent[i] = parent[parent[i]];
                i = parent[i];
            }
            if i < b {
                parent[i] = b;
            }
            s += x[i] * x[a];
        }
        s
    }
    // A tree over the bits of numbers; a step stops when it has added a leaf.
    tree_of_bits LINEAR x {
        let n = x.len();
        let none = usize::MAX;
        let mut child = vec![none; 16 * n + 4];
        let mut cells = 1;
        for b in 0..n {
            let (mut cell, mut v) = (0, x[b].abs() % 1.0);
            for d in 0..7 {
                let q = (v >= 0.5) as usize;
                v = 2.0 * v - if q == 1 { 1.0 } else { 0.0 };
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
        x.iter().map(|v| v * v).sum::<f64>() * cells as f64
    }
    // A node's numbers are divided by their sum, and then multiply those of its parent.
    pruned_tree LINEAR x {
        let n = x.len();
        let mut partial = vec![1.0; n * 2];
        for v in 0..n / 2 {
            partial[v * 2] = 1.0 + x[v] * x[v];
        }
        for v in 0..n {
            if v >= n / 2 {
                let mut top = 0.0;
                for b in 0..2 {
                    top += partial[v * 2 + b];
                }
                for b in 0..2 {
                    partial[v * 2 + b] /= top;
                }
            }
            if v + 1 < n {
                let parent = (v + 1 + v * 5 % 3).min(n - 1);
                for a in 0..2 {
                    let mut sum = 0.0;
                    for b in 0..2 {
                        sum += (x[v] * x[v] + 0.5) * partial[v * 2 + b];
                    }
                    partial[parent * 2 + a] *= sum;
                }
            }
        }
        partial[(n - 1) * 2]
    }
    eliminated_in_a_vector SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut a = x.to_vec();
        for i in 0..n {
            a[i * n + i] += 9.0;
        }
        for c in 0..n {
            for r in c + 1..n {
                let f = a[r * n + c] / a[c * n + c];
                for j in c..n {
                    a[r * n + j] -= f * a[c * n + j];
                }
            }
        }
        (0..n).map(|i| a[i * n + i].abs().ln()).sum()
    }
    // The factors stay below the diagonal.
    factored_in_a_vector SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut a = x.to_vec();
        for i in 0..n {
            a[i * n + i] += 9.0;
        }
        for c in 0..n {
            for r in c + 1..n {
                a[r * n + c] /= a[c * n + c];
                for j in c + 1..n {
                    a[r * n + j] -= a[r * n + c] * a[c * n + j];
                }
            }
        }
        a.iter().map(|v| v * v).sum()
    }
    sorted_losses LINEAR x {
        let mut losses: Vec<f64> = x.iter().map(|v| v * v).collect();
        losses.sort_by(|a, b| b.partial_cmp(a).unwrap());
        losses[..x.len() / 4].iter().sum()
    }
}
