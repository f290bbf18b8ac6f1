//! Small matrices that loops carry, and matrices that they save.

use ad_oracle::plan::NestSummary;
use proc_macro2::TokenStream;
use quote::quote;

use super::{gradient, some};

/// A matrix that is carried from step to step is nine numbers, whether the inner loops sum or
/// update.
#[test]
fn carried_matrices_are_numbers() {
    let by_sums = quote! {
        let mut next = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                let mut s = r[i][j];
                for l in 0..3 {
                    s += 0.1 * r[i][l] * k[l][j];
                }
                next[i][j] = s;
            }
        }
    };
    let by_updates = quote! {
        let mut next = r;
        for i in 0..3 {
            for j in 0..3 {
                for l in 0..3 {
                    next[i][j] += 0.1 * r[i][l] * k[l][j];
                }
            }
        }
    };
    for step in [by_sums, by_updates] {
        let plan = gradient(
            quote!(),
            quote! {
                fn f(turns: &[[f64; 3]]) -> f64 {
                    let mut r = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
                    let mut total = 0.0;
                    for o in turns {
                        let k = [[0.0, -o[2], o[1]], [o[2], 0.0, -o[0]], [-o[1], o[0], 0.0]];
                        #step
                        r = next;
                        total += r[0][2] * r[1][0];
                    }
                    total
                }
            },
        );
        assert!(!some(&plan, |n| n.part_of_loop && n.loops > 0), "{plan:#?}");
        assert!(!plan.kernels.keys().any(|k| k.contains("gem")), "{plan:#?}");
    }
}

/// A matrix that was saved for an iteration is an operand where it is, and the cotangent of the
/// carried matrix is swapped in.
#[test]
fn saved_matrices_are_operands() {
    let expansion = ad_core::expansion(
        quote!(wrt(w)),
        quote! {
            fn f(w: &Array2<f64>, x: &Array2<f64>, n: usize) -> f64 {
                let mut p = x.to_owned();
                for _ in 0..n {
                    p = w.dot(&p).dot(w);
                }
                p.sum()
            }
        },
    );
    let text = expansion.tokens.to_string();
    let text = &text[text.find("fn f_value_and_grad").expect("it is written")..];
    assert!(text.contains("kernel :: gemm (") && !text.contains("_row_"), "{text}");
    // Each step saves a copy of its matrix. There is no other copy.
    assert_eq!(text.matches("copy_from_slice").count(), 1, "{text}");
}

/// A state of four numbers and a constant matrix, in a loop that stays a loop: there is no array
/// from step to step, and the derivative saves numbers.
#[test]
fn carried_states_are_numbers() {
    let plan = gradient(
        quote!(wrt(gain)),
        quote! {
            fn f(gain: [f64; 4], start: [f64; 4], steps: usize) -> f64 {
                let a = [[1.0, 0.1, 0.0, 0.0], [0.0, 1.0, 0.2, 0.0], [0.0, 0.0, 1.0, 0.3], [0.4, 0.0, 0.0, 1.0]];
                let mut x = start;
                let mut cost = 0.0;
                for _ in 0..steps {
                    let mut u = 0.0;
                    for k in 0..4 {
                        u -= gain[k] * x[k];
                    }
                    let mut next = [0.0; 4];
                    for i in 0..4 {
                        for j in 0..4 {
                            next[i] += a[i][j] * x[j];
                        }
                        next[i] += u;
                    }
                    x = next;
                    cost += x[0] * x[0] + u * u;
                }
                cost
            }
        },
    );
    assert!(plan.nests.is_empty() && plan.kernels.is_empty(), "{plan:#?}");
}

/// An element at a computed index changes: the array stays an array, and a step changes one
/// element.
#[test]
fn carried_arrays_with_computed_indices_stay_arrays() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: &[f64], kind: &[usize]) -> f64 {
                let mut level = [1.0; 4];
                let mut total = 0.0;
                for (&x, &k) in x.iter().zip(kind) {
                    level[k] = (level[k] * x).sin();
                    total += level[k];
                }
                total
            }
        },
    );
    assert!(some(&plan, |n| n.verb == "update" && n.loops == 0), "{plan:#?}");
}

/// A loop whose steps are products of small square matrices is also compiled for literal sizes,
/// with all nests of a step in it. A step with one product of a matrix and a vector is not worth
/// it, and neither are matrices that the checks do not make square.
#[test]
fn loops_over_small_matrices_are_compiled_for_literal_sizes() {
    let with = |step: TokenStream| {
        gradient(
            quote!(wrt(f)),
            quote! {
                fn filter(f: &Array2<f64>, h: &Array2<f64>, y: &Array2<f64>) -> f64 {
                    let d = f.nrows();
                    let mut m: Array1<f64> = Array1::zeros(d);
                    let mut p: Array2<f64> = Array2::eye(d);
                    let mut total = 0.0;
                    for y in y.rows() { #step }
                    total + p.sum() + m.sum()
                }
            },
        )
    };
    let covariances = with(quote! {
        let q = f.dot(&p).dot(&f.t()) + Array2::<f64>::eye(d) * 0.1;
        let e = &y - &f.dot(&m);
        m = m + q.dot(&e);
        total += e.dot(&e);
        p = &q - &q.dot(&q.t());
    });
    assert_eq!(covariances.literal_sizes, 2, "forwards and backwards: {covariances:#?}");
    let in_steps = |n: &&NestSummary| n.part_of_loop && n.loops > 0;
    assert!(covariances.nests.iter().filter(in_steps).count() > 5, "{covariances:#?}");
    let states = with(quote! {
        m = (f.dot(&m) + &y).mapv(f64::sin);
        total += m[0];
    });
    assert_eq!((states.literal_sizes, states.outlined), (0, 2), "{states:#?}");
    let other_sizes = with(quote! {
        let s = h.dot(&p).dot(&h.t());
        let e = &y - &h.dot(&m);
        m = m + f.dot(&h.t().dot(&s.dot(&e)));
        total += e.dot(&e);
    });
    assert_eq!(other_sizes.literal_sizes, 0, "{other_sizes:#?}");
}
