//! Loops over triangles that change an array in place: their steps are rows in lanes, which end
//! where the loop does.

use super::gradient;
use ad_oracle::plan::{NestSummary, PartSummary, PlanSummary};
use quote::quote;

/// The number of loops with carried state.
fn loops(plan: &PlanSummary) -> usize {
    plan.steps.matches("steps from the").count()
}

/// The nests in loops that visit all elements of a row.
fn whole_rows(plan: &PlanSummary) -> Vec<&NestSummary> {
    plan.nests.iter().filter(|n| n.part_of_loop && n.loops > 0 && n.part == PartSummary::Whole).collect()
}

#[test]
fn an_elimination_adds_products_of_a_column_and_a_row() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(a: &Array2<f64>) -> f64 {
                let n = a.nrows();
                let mut m = a.clone();
                for k in 0..n {
                    for i in k + 1..n {
                        m[[i, k]] /= m[[k, k]];
                        for j in k + 1..n {
                            m[[i, j]] -= m[[i, k]] * m[[k, j]];
                        }
                    }
                }
                (0..n).map(|i| m[[i, i]].ln()).sum()
            }
        },
    );
    // Of the three loops, only the outermost one is left.
    assert_eq!(loops(&plan), 2, "{plan:#?}");
    let products: Vec<_> = plan.nests.iter().filter(|n| n.loops == 2).collect();
    assert_eq!(products.len(), 2, "{plan:#?}");
    assert!(products.iter().all(|n| n.part == PartSummary::Prefix && n.choices == 0), "{plan:#?}");
}

/// Trees of values, in which the values decide.
#[test]
fn a_shrinking_row_is_updated_in_place() {
    for value in [quote!(p * v[j + 1] + (1.0 - p) * v[j]), quote!(p * v[j + 1] * v[j])] {
        let plan = gradient(
            quote!(wrt(x)),
            quote! {
                fn f(x: &[f64], p: f64) -> f64 {
                    let n = x.len() - 1;
                    let mut v = x.to_vec();
                    for i in (0..n).rev() {
                        for j in 0..=i {
                            v[j] = (#value).max(x[j]);
                        }
                    }
                    v[0]
                }
            },
        );
        shrinks(&plan);
    }
}

fn shrinks(plan: &PlanSummary) {
    assert_eq!(loops(plan), 2, "{plan:#?}");
    // The forward loop does not test in each step whether the step is one of the first `i + 1`.
    let forward = plan.steps.split("from the last step").next().expect("a loop backwards");
    assert!(forward.contains("update in place") && !forward.contains("if %"), "{forward}");
    // Only the saved row and the restored one are whole.
    let whole = whole_rows(plan);
    assert_eq!(whole.len(), 2, "{plan:#?}");
    assert!(whole.iter().all(|n| n.choices == 0 && n.sums == 0), "{plan:#?}");
    assert_eq!(plan.copied_beginnings + plan.made_in_steps, 0, "{plan:#?}");
}

/// What is read under the condition of the loop only is computed under it only.
#[test]
fn what_nothing_reads_is_not_computed() {
    let plan = gradient(
        quote!(wrt(xs, ys, x)),
        quote! {
            fn f(xs: &[f64], ys: &[f64], x: f64) -> f64 {
                let n = xs.len();
                let mut p = ys.to_vec();
                for k in 1..n {
                    for i in 0..n - k {
                        p[i] = ((x - xs[i + k]) * p[i] + (xs[i] - x) * p[i + 1]) / (xs[i] - xs[i + k]);
                    }
                }
                p[0]
            }
        },
    );
    assert_eq!(whole_rows(&plan).len(), 2, "{plan:#?}");
    assert!(plan.nests.iter().filter(|n| n.part_of_loop).all(|n| n.tested_rows == 0), "{plan:#?}");
}

/// A step that reads what the step before has written keeps its loop.
#[test]
fn steps_that_depend_on_each_other_stay_a_loop() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: &[f64]) -> f64 {
                let n = x.len();
                let mut a = x.to_vec();
                for i in 0..n {
                    for j in i + 1..n {
                        a[j] = 0.9 * a[j] + 0.1 * (a[j - 1] * a[j]).sin();
                    }
                }
                a[n - 1]
            }
        },
    );
    assert_eq!(loops(&plan), 4, "{plan:#?}");
}

/// The loop has two steps at most, wherever it begins: no operation visits all elements.
#[test]
fn a_short_loop_stays_a_loop() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: &[f64]) -> f64 {
                let n = x.len();
                let mut a = x.to_vec();
                let mut lo = 0;
                while lo < n {
                    for j in lo..(lo + 2).min(n) {
                        a[j] = a[j].sin();
                    }
                    lo += 2;
                }
                a[0]
            }
        },
    );
    assert!(whole_rows(&plan).is_empty(), "{plan:#?}");
}
