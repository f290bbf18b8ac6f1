//! Rows of stored arrays as slices: columns of points, rows from the last element on, and rows that
//! end where a loop does.

use super::{gradient, some};
use ad_oracle::plan::{PartSummary, PlanSummary};
use quote::quote;

/// Reads that are tested element by element, and rows that are sliced with a test.
fn tests(plan: &PlanSummary) -> usize {
    plan.nests.iter().map(|n| n.choices + n.tested_rows).sum()
}

#[test]
fn coordinates_of_neighbours_are_columns_of_slices() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(points: &[[f64; 2]]) -> f64 {
                let mut length = 0.0;
                for i in 0..points.len() - 1 {
                    let dx = points[i + 1][0] - points[i][0];
                    let dy = points[i + 1][1] - points[i][1];
                    length += (dx * dx + dy * dy + 1.0).sqrt();
                }
                length
            }
        },
    );
    assert_eq!(tests(&plan), 0, "{plan:#?}");
    assert!(some(&plan, |n| n.verb == "compute" && n.lanes && n.rows_of_arrays == 2), "{plan:#?}");
}

/// The Levinson recursion: each step adds the reversed coefficients to themselves.
fn levinson() -> PlanSummary {
    gradient(
        quote!(),
        quote! {
            fn f(r: &[f64]) -> f64 {
                let n = r.len() - 1;
                let mut a = vec![0.0; n + 1];
                a[0] = 1.0;
                let mut e = r[0];
                for m in 1..=n {
                    let mut sum = r[m];
                    for i in 1..m {
                        sum += a[i] * r[m - i];
                    }
                    let k = -sum / e;
                    let old = a.clone();
                    for i in 1..m {
                        a[i] = old[i] + k * old[m - i];
                    }
                    a[m] = k;
                    e *= 1.0 - k * k;
                }
                e.ln()
            }
        },
    )
}

#[test]
fn reversed_rows_are_slices() {
    let plan = levinson();
    assert_eq!(tests(&plan), 0, "{plan:#?}");
    assert!(some(&plan, |n| n.reversed_rows == 1 && n.lanes && n.part == PartSummary::Prefix), "{plan:#?}");
}

#[test]
fn a_sum_over_the_beginning_of_a_row_stays_apart_from_a_copy_of_the_row() {
    let plan = levinson();
    let sums: Vec<_> = plan.nests.iter().filter(|n| n.sums > 0).collect();
    assert!(sums.iter().all(|n| n.part == PartSummary::Prefix), "{plan:#?}");
    assert_eq!(sums.len(), 2, "{plan:#?}");
}

#[test]
fn what_pairs_add_to_the_later_item_is_a_sum() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(p: &[[f64; 3]]) -> f64 {
                let mut energy = 0.0;
                for i in 0..p.len() {
                    for j in i + 1..p.len() {
                        let square: f64 = (0..3).map(|k| (p[i][k] - p[j][k]).powi(2)).sum();
                        if square < 1.0 {
                            energy += (1.0 - square).powi(2);
                        }
                    }
                }
                energy
            }
        },
    );
    // One nest runs over the pairs, and each row of it ends early. No scatter does.
    let pairs: Vec<_> = plan.nests.iter().filter(|n| n.loops == 2).collect();
    assert!(pairs.iter().all(|n| n.verb == "compute" && n.part == PartSummary::Ragged), "{plan:#?}");
    assert_eq!(pairs.len(), 1, "{plan:#?}");
}

/// Integer powers are computed for a whole block, also where a decision depends on them, and where
/// only one arm of a choice needs them.
#[test]
fn integer_powers_are_computed_by_the_block() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>, base: f64) -> f64 {
                let mut s = 0.0;
                for i in 0..x.len() {
                    let power = base.powi(i as i32 - 5);
                    s += if power > x[i] { power * x[i] } else { x[i].powi(2 - i as i32) };
                }
                s
            }
        },
    );
    assert!(plan.by_the_vector("powi") >= 3, "{plan:#?}");
    assert!(!some(&plan, |n| n.lazy_functions.contains_key("powi")), "{plan:#?}");
    // The products of a literal exponent are vectorised as they are.
    let plan = gradient(
        quote!(),
        quote!(
            fn f(x: &Array1<f64>) -> f64 {
                x.mapv(|v| v.powi(11)).sum()
            }
        ),
    );
    assert_eq!(plan.by_the_vector("powi"), 0, "{plan:#?}");
}
