//! One algorithm in several styles has one plan: matrices that are written as vectors, and the
//! residuals of a step.

use quote::quote;

use super::{gradient, some};

/// A matrix in a `Vec`: its rows are parts of it, which are in range by the bounds of the loops.
#[test]
fn rows_of_a_matrix_in_a_vec_are_cut_without_a_test() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(a: &Array2<f64>) -> f64 {
                let n = a.nrows();
                let mut l = vec![0.0; n * n];
                let mut total = 0.0;
                for i in 0..n {
                    for j in 0..=i {
                        let below: f64 = l[i * n..i * n + j].iter().zip(&l[j * n..j * n + j]).map(|(a, b)| a * b).sum();
                        let s = a[[i, j]] - below;
                        l[i * n + j] = if i == j { s.sqrt() } else { s / l[j * n + j] };
                    }
                    total += l[i * n + i].ln();
                }
                total
            }
        },
    );
    assert!(!some(&plan, |n| n.tested_rows > 0), "{plan:#?}");
    // The sum is saved for its quotient, which one arm computes, so the sum is not computed again.
    // (The sums of the checks are of integers.)
    assert_eq!(plan.nests.iter().filter(|n| n.lanes && n.sums > 0).count(), 1, "{plan:#?}");
}

/// Products of matrices that are stored in vectors, with computed indices.
#[test]
fn products_of_matrices_in_vectors_are_products_of_matrices() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(a: &Array2<f64>, p: &Array1<f64>) -> f64 {
                let d = a.nrows();
                let mut q = Vec::new();
                for i in 0..d {
                    for j in 0..d {
                        let mut s = 0.0;
                        for k in 0..d {
                            s += a[[i, k]] * p[k * d + j];
                        }
                        q.push(s.sin());
                    }
                }
                let mut total = 0.0;
                for i in 0..d {
                    for j in 0..d {
                        total += q[i * d + j] * q[j * d + i];
                    }
                }
                total
            }
        },
    );
    assert_eq!(plan.calls("gemm"), 3, "{plan:#?}");
}
