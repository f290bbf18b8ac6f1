//! Sums over the neighbours in a grid: by lists of distances, and by a condition for each side.

#![allow(clippy::needless_range_loop, reason = "loops over indices are what people write")]

use ad::check_grad;
use ad::prelude::*;

/// Springs between neighbours, whose distances are a list of pairs.
#[differentiate(wrt(p, rest))]
fn cloth(p: &Array3<f64>, rest: f64) -> f64 {
    let (n, m, _) = p.dim();
    let mut energy = 0.0;
    for i in 0..n {
        for j in 0..m {
            for (di, dj) in [(1, 0), (0, 1), (1, 1)] {
                if i + di < n && j + dj < m {
                    let mut square = 0.0;
                    for c in 0..3 {
                        square += (p[[i, j, c]] - p[[i + di, j + dj, c]]).powi(2);
                    }
                    energy += (square.sqrt() - rest).powi(2);
                }
            }
        }
    }
    energy
}

/// All eight neighbours, with signs.
#[differentiate(grad, hvp)]
fn surroundings(x: &Array2<f64>) -> f64 {
    let (n, m) = x.dim();
    let mut total = 0.0;
    for i in 0..n {
        for j in 0..m {
            for (di, dj) in [(-1_isize, -1_isize), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)] {
                let (r, c) = (i as isize + di, j as isize + dj);
                if r >= 0 && r < n as isize && c >= 0 && c < m as isize {
                    total += (x[[i, j]] * x[[r as usize, c as usize]]).sin();
                }
            }
        }
    }
    total
}

/// The same by a condition for each side: many additions in a row to one number.
#[differentiate]
fn sides(x: &Array2<f64>) -> f64 {
    let (n, m) = x.dim();
    let mut total = 0.0;
    for i in 0..n {
        for j in 0..m {
            let v = x[[i, j]];
            if i > 0 {
                total += (v * x[[i - 1, j]]).sin();
            }
            if i + 1 < n {
                total += (v * x[[i + 1, j]]).sin();
            }
            if j > 0 {
                total += (v * x[[i, j - 1]]).sin();
            }
            if j + 1 < m {
                total += (v * x[[i, j + 1]]).sin();
            }
            if i > 0 && j > 0 {
                total += (v * x[[i - 1, j - 1]]).sin();
            }
            if i > 0 && j + 1 < m {
                total += (v * x[[i - 1, j + 1]]).sin();
            }
            if i + 1 < n && j > 0 {
                total += (v * x[[i + 1, j - 1]]).sin();
            }
            if i + 1 < n && j + 1 < m {
                total += (v * x[[i + 1, j + 1]]).sin();
            }
        }
    }
    total
}

/// Weights at distances, in a list of structs and in an array that the steps change.
#[differentiate]
fn smoothed(x: &[f64]) -> f64 {
    let n = x.len();
    let mut y = vec![0.0; n];
    for i in 0..n {
        for (d, w) in [(0, 0.5), (1, 0.3), (3, 0.2)] {
            if i + d < n {
                y[i + d] += w * x[i] * x[i];
            }
        }
    }
    let mut a = x.to_vec();
    for d in [1, 2] {
        for i in d..n {
            a[i] += 0.1 * a[i - d] * y[i];
        }
    }
    a.iter().sum()
}

fn grid(n: usize, m: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, m), |(i, j)| ((i * 7 + j * 3) as f64 + 0.2).sin())
}

#[test]
fn lists_of_distances() {
    for (n, m) in [(0, 3), (1, 1), (1, 4), (2, 2), (3, 5), (4, 17)] {
        let p = Array3::from_shape_fn((n, m, 3), |(i, j, k)| i as f64 * 0.9 + ((j + 2) * (k + 1)) as f64 * 0.7);
        check_grad!(cloth(&p, 1.1));
        check_grad!(surroundings(&grid(n, m)));
        check_grad!(sides(&grid(n, m)));
        // The same sum, in another order.
        let (one, other) = (surroundings_value_and_grad(&grid(n, m)), sides_value_and_grad(&grid(n, m)));
        assert!((one.0 - other.0).abs() < 1e-12 * (1.0 + one.0.abs()), "{n} x {m}");
        assert!((&one.1 - &other.1).iter().all(|d| d.abs() < 1e-12), "{n} x {m}");
    }
}

#[test]
fn distances_in_a_row() {
    for n in [0, 1, 2, 3, 4, 9, 20] {
        let x: Vec<f64> = (0..n).map(|i| (i as f64 * 1.7).sin()).collect();
        check_grad!(smoothed(&x));
    }
}
