//! The plan of the loops: their instruction sets, their memory, the passes over arrays. Other tests
//! check the results (`emit.rs`, the root's tests); a regression here is a slow loop.

#[path = "speed/items.rs"]
mod items;
#[path = "speed/matrices.rs"]
mod matrices;
#[path = "speed/rows.rs"]
mod rows;
#[path = "speed/steps.rs"]
mod steps;
#[path = "speed/styles.rs"]
mod styles;
#[path = "speed/triangles.rs"]
mod triangles;

use ad_core::descriptor::{Descriptor, GRAD, HESSIAN, JACOBIAN, VJP};
use ad_core::pipeline;
use ad_oracle::plan::{NestSummary, PartSummary, PlanSummary, plan_of};
use proc_macro2::TokenStream;
use quote::quote;

/// The plan of this derivative of a function.
fn plan(which: &Descriptor, attr: TokenStream, item: TokenStream) -> PlanSummary {
    let Ok(program) = ad_core::front::parse(attr, item) else { panic!("the function has errors") };
    let mut prepared = pipeline::prepare(program, None);
    let routine = pipeline::derive(&mut prepared, which, None);
    let mut g = std::mem::take(&mut prepared.program.graph);
    plan_of(&mut g, &prepared.program, &routine).expect("it can be planned")
}

/// The plan of value and gradient of a function.
fn gradient(attr: TokenStream, item: TokenStream) -> PlanSummary {
    plan(&GRAD, attr, item)
}

/// The plan of value and Jacobian of a function.
fn jacobian(attr: TokenStream, item: TokenStream) -> PlanSummary {
    plan(&JACOBIAN, attr, item)
}

/// The plan of a product of a cotangent with the Jacobian.
fn vjp(attr: TokenStream, item: TokenStream) -> PlanSummary {
    plan(&VJP, attr, item)
}

/// Whether some nest satisfies this.
fn some(plan: &PlanSummary, is: impl Fn(&NestSummary) -> bool) -> bool {
    plan.nests.iter().any(is)
}

#[test]
fn functions_and_products_use_the_machine() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
                build1(x.len(), |i| (x[i] * y[i] + 1.0).tanh()).sum()
            }
        },
    );
    assert!(plan.function("tanh") > 0 && some(&plan, |n| n.fused > 0), "{plan:#?}");
    assert!(plan.dispatches() > 0, "{plan:#?}");
    assert!(!some(&plan, |n| n.plain_functions.contains_key("tanh")), "{plan:#?}");
}

#[test]
fn decisions_are_the_functions_own() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
                build1(x.len(), |i| {
                    let d = x[i] * y[i] + x[i].exp();
                    if d > 0.5 { d } else { x[i].ln() }
                })
                .sum()
            }
        },
    );
    assert!(plan.function("ln") > 0, "no decision depends on it: {plan:#?}");
    assert_eq!(plan.function("exp"), 0, "{plan:#?}");
    // The product and the sum before the decision are computed as in the function, too.
    assert!(some(&plan, |n| n.plain_functions.contains_key("exp") && n.exact >= 3), "{plan:#?}");
}

/// `floor` is a call in code for every machine.
#[test]
fn rounding_is_dispatched() {
    let plan = gradient(
        quote!(wrt(table)),
        quote! {
            fn f(table: &[f64], t: &[f64]) -> f64 {
                let mut total = 0.0;
                for &t in t {
                    total += table[t.floor() as usize];
                }
                total
            }
        },
    );
    let gathers = |n: &NestSummary| n.plain_functions.contains_key("floor");
    assert!(some(&plan, gathers) && !some(&plan, |n| gathers(n) && !n.dispatched), "{plan:#?}");
}

#[test]
fn small_arrays_pay_nothing() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: [f64; 20]) -> f64 {
                build1(x.len(), |i| x[i] * x[i]).sum()
            }
        },
    );
    assert_eq!(plan.dispatches(), 0, "{plan:#?}");
}

#[test]
fn a_dead_array_is_overwritten() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>) -> f64 {
                let max = maximum(x);
                (x - max).mapv(f64::exp).sum().ln() + max
            }
        },
    );
    assert_eq!(plan.made, 1, "exponentials, gradient and scatter share memory: {plan:#?}");
    assert_eq!(plan.copied, 0, "{plan:#?}");
}

#[test]
fn rows_are_sliced_once() {
    let plan = gradient(
        quote!(wrt(centroids)),
        quote! {
            fn f(points: &Array2<f64>, centroids: &Array2<f64>) -> f64 {
                let mut cost = 0.0;
                for i in 0..points.nrows() {
                    let mut nearest = f64::INFINITY;
                    for j in 0..centroids.nrows() {
                        let mut distance = 0.0;
                        for k in 0..points.ncols() {
                            let d = points[[i, k]] - centroids[[j, k]];
                            distance += d * d;
                        }
                        if distance < nearest {
                            nearest = distance;
                        }
                    }
                    cost += nearest;
                }
                cost
            }
        },
    );
    // The rows are sliced along the loop over coordinates, which is not the innermost one, and
    // before the chunks of items.
    assert!(some(&plan, |n| n.tiled && n.outer_rows == 1), "{plan:#?}");
    // The gradient: rows are added under one test; a row of the nearest centroid is in range if
    // that of its gradient is.
    assert!(some(&plan, |n| n.verb == "scatter" && n.rows_under_test == 1 && n.outer_rows > 0), "{plan:#?}");
    assert!(plan.calls("cut") == 0 && !some(&plan, |n| n.tested_rows > 0), "{plan:#?}");
}

#[test]
fn a_label_of_one_operand_is_summed_first() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(a: &Array2<f64>, x: &Array1<f64>) -> f64 {
                a.dot(x).sum()
            }
        },
    );
    assert_eq!(plan.calls("gemv") + plan.calls("gemv_t"), 0, "{plan:#?}");
    assert_eq!(plan.calls("column_sums"), 1, "value and gradient share it: {plan:#?}");
    assert_eq!(plan.calls("repeated"), 1, "{plan:#?}");
    let plan = gradient(
        quote!(),
        quote! {
            fn f(a: &Array2<f64>, x: &Array1<f64>) -> f64 {
                let y = a.dot(x);
                y.sum() + y.dot(&y)
            }
        },
    );
    assert!(plan.calls("gemv") > 0, "the product is needed anyway: {plan:#?}");
}

#[test]
fn blocks_that_omit_few_elements_share_a_loop() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>) -> f64 {
                build1(x.len() - 2, |i| (x[i + 2] - x[i]) * x[i + 1]).sum()
            }
        },
    );
    assert_eq!(plan.dispatches(), 1, "value and gradient are one pass: {plan:#?}");
    let parts: Vec<PartSummary> = plan.nests.iter().map(|n| n.part).collect();
    assert_eq!(parts, [PartSummary::Interior, PartSummary::Ends], "{plan:#?}");
    assert_eq!(plan.made, 1, "nothing is saved: {plan:#?}");
    // A small block in a long array is not worth a test at every element.
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>) -> f64 {
                build1(3, |i| x[i] * x[i + 1]).sum()
            }
        },
    );
    assert!(!some(&plan, |n| n.part != PartSummary::Whole), "{plan:#?}");
}

/// A decision has the function's own bits. A mask that only the derivative has (that of softplus,
/// of a maximum) is not a decision: it is computed from stored arrays, so it is the same wherever
/// it is read.
#[test]
fn masks_of_the_derivative_are_no_decisions() {
    let plan = gradient(
        quote!(wrt(w)),
        quote! {
            fn f(w: &Array1<f64>, x: &Array2<f64>) -> f64 {
                x.dot(w).mapv(softplus).sum()
            }
        },
    );
    assert!(!plan.kernels.keys().any(|k| k.starts_with("exact_")) && plan.function("exp") > 0, "{plan:#?}");
    let plan = gradient(
        quote!(wrt(w)),
        quote! {
            fn f(w: &Array1<f64>, x: &Array2<f64>) -> f64 {
                x.dot(w).mapv(|z| z.max(0.0)).sum()
            }
        },
    );
    assert!(!plan.kernels.keys().any(|k| k.starts_with("exact_")), "{plan:#?}");
    let plan = gradient(
        quote!(wrt(w)),
        quote! {
            fn f(w: &Array1<f64>, x: &Array2<f64>) -> f64 {
                x.dot(w).mapv(|z| if z > 0.0 { z * z } else { 0.0 }).sum()
            }
        },
    );
    assert_eq!(plan.calls("exact_gemv"), 1, "{plan:#?}");
    // Not in memory: both factors of the masks are computed in loops of their own, and must agree.
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
                build1(x.len(), |i| (x[i] * x[i] - y[i] * y[i]).max(0.0)).sum()
            }
        },
    );
    assert!(some(&plan, |n| n.exact >= 3), "{plan:#?}");
}

/// The number of calls of a matrix kernel, and the number of loop nests.
fn kernels(which: &Descriptor, attr: TokenStream, item: TokenStream) -> (usize, usize) {
    let plan = plan(which, attr, item);
    let products = ["gemm", "gemv", "dot"].iter().map(|k| plan.calls(k)).sum();
    (products, plan.nests.iter().filter(|n| n.verb == "compute").count())
}

#[test]
fn jacobians_of_linear_maps_cost_no_product_with_the_unit_matrix() {
    // The only product is that of the value.
    let linear = quote!(
        fn f(a: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> {
            a.dot(x)
        }
    );
    assert_eq!(kernels(&JACOBIAN, quote!(jacobian, wrt(x)), linear), (1, 0));
    let twice = quote!(
        fn f(a: &Array2<f64>, b: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> {
            b.dot(&a.dot(x))
        }
    );
    assert_eq!(kernels(&JACOBIAN, quote!(jacobian, wrt(x)), twice), (3, 0), "two of the value, one of the Jacobian");
    let layer = quote!(
        fn f(a: &Array2<f64>, b: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> {
            b.dot(&a.dot(x).mapv(f64::tanh))
        }
    );
    assert_eq!(kernels(&JACOBIAN, quote!(jacobian, wrt(x)), layer).0, 3);
    // Reverse mode is used, since the result is smaller.
    let rows = quote!(
        fn f(b: &Array2<f64>, x: &Array2<f64>, v: &Array1<f64>) -> Array1<f64> {
            b.dot(&x.dot(v).mapv(f64::tanh))
        }
    );
    assert_eq!(kernels(&JACOBIAN, quote!(jacobian, wrt(x)), rows).0, 2);
    // The derivative with respect to the whole matrix.
    let weights = quote!(
        fn f(w: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> {
            w.dot(x)
        }
    );
    assert_eq!(kernels(&JACOBIAN, quote!(jacobian, wrt(w)), weights).0, 1);
    let product = quote!(
        fn f(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
            a.dot(b)
        }
    );
    assert_eq!(kernels(&JACOBIAN, quote!(jacobian), product).0, 1);
    let quadratic = quote!(
        fn f(a: &Array2<f64>, x: &Array1<f64>) -> f64 {
            x.dot(&a.dot(x))
        }
    );
    assert_eq!(
        kernels(&HESSIAN, quote!(hessian, wrt(x)), quadratic).0,
        0,
        "it is the sum of the matrix and its transpose"
    );
}

#[test]
fn terms_common_to_the_rows_of_a_jacobian_are_computed_once() {
    let plan = jacobian(
        quote!(jacobian),
        quote!(
            fn f(x: &Array1<f64>) -> Array1<f64> {
                x.mapv(|x| x.sin() * x)
            }
        ),
    );
    let computes = |n: &NestSummary| [&n.functions, &n.by_the_vector, &n.plain_functions].iter().any(|f| !f.is_empty());
    assert_eq!(plan.by_the_vector("sin_cos"), 1, "{plan:#?}");
    assert!(plan.nests.len() > 1 && plan.nests.last().is_some_and(|n| !computes(n)), "{plan:#?}");
    let plan = jacobian(
        quote!(jacobian),
        quote!(
            fn f(x: &Array1<f64>) -> Array1<f64> {
                x * x.mapv(f64::exp).sum()
            }
        ),
    );
    assert_eq!(plan.function("exp"), 2, "in the lanes, and for what is left over: {plan:#?}");
}

/// The maximum of an array by a loop from the first element on: no loop carries it and saves its
/// earlier values, the rest of the array is not copied, and its derivative is added at its index.
#[test]
fn a_maximum_that_starts_with_the_first_element_is_an_argmax() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>) -> f64 {
                let mut largest = x[0];
                for i in 1..x.len() {
                    if x[i] > largest {
                        largest = x[i];
                    }
                }
                let mut sum = 0.0;
                for &e in x {
                    sum += (e - largest).exp();
                }
                largest + sum.ln()
            }
        },
    );
    assert_eq!(plan.calls("place_of_largest"), 1, "{plan:#?}");
    assert_eq!(plan.made, 1, "the gradient alone: {plan:#?}");
    assert_eq!(plan.nests.iter().filter(|n| n.lanes).count(), 1, "exponentials are summed once: {plan:#?}");
}

/// The gradient of a matrix that all items share: the vectors that it is multiplied by are summed
/// first.
#[test]
fn linear_maps_are_applied_once() {
    let plan = gradient(
        quote!(wrt(m)),
        quote! {
            fn f(x: &Array2<f64>, a: &Array2<f64>, m: &Array1<f64>) -> f64 {
                let (n, d) = x.dim();
                let mut total = 0.0;
                for i in 0..n {
                    for r in 0..d {
                        let mut z = 0.0;
                        for j in 0..r {
                            z += a[[r, j]] * (x[[i, j]] - m[j]);
                        }
                        total += (z * z).sin();
                    }
                }
                total
            }
        },
    );
    // There is such an array in the forward pass, and none over items, rows and columns in the
    // reverse pass.
    let nests = plan.nests.iter().filter(|n| n.loops >= 3).count();
    assert_eq!(nests, 1, "{plan:#?}");
}

#[test]
fn a_sum_of_cotangents_under_one_condition_is_under_it() {
    // All cotangents that `v` contributes are under the condition, so no product has to absorb a
    // zero.
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: f64, y: f64) -> f64 {
                if x == 0.0 {
                    y
                } else {
                    let v = y / x;
                    let (sin, cos) = v.sin_cos();
                    sin * v + cos * y + v * v * x
                }
            }
        },
    );
    assert_eq!(plan.scalar("*0"), 0, "{plan:#?}");
    assert!(plan.scalar("*") > 0 && plan.nests.is_empty(), "all of it is numbers: {plan:#?}");
}

#[test]
fn zeros_of_unit_vectors_do_not_become_code() {
    let products = |attr: TokenStream| {
        let plan = jacobian(
            attr,
            quote! {
                fn f(x: [f64; 3], w: f64) -> [f64; 2] {
                    [w * (x[0] * x[1] + x[2]), w * (x[1] * x[2]) / x[0]]
                }
            },
        );
        assert!(plan.nests.is_empty() && plan.scalar("*0") == 0, "{plan:#?}");
        plan.scalar("*")
    };
    // Rows are fewer: four products for the value, two for the first row, four for the second.
    // Columns are fewer: only the products of the value, which include the derivative with respect
    // to `w`.
    assert_eq!((products(quote!(jacobian)), products(quote!(jacobian, wrt(w)))), (10, 4));
}

#[test]
fn sines_are_computed_by_the_block() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>, w: &Array1<f64>) -> f64 {
                (x * w).mapv(|v| v.sin() * v).sum()
            }
        },
    );
    // The function and its derivative, computed by one call; the remaining elements of the row are
    // computed one by one.
    assert_eq!(plan.by_the_vector("sin_cos"), 1, "{plan:#?}");
    assert!(!some(&plan, |n| n.plain_functions.contains_key("sin")), "{plan:#?}");
    // A term that only one arm needs is computed in that arm.
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>) -> f64 {
                build1(x.len(), |i| if x[i] > 0.0 { x[i].sin() } else { x[i] }).sum()
            }
        },
    );
    assert!(!some(&plan, |n| !n.by_the_vector.is_empty()), "{plan:#?}");
}

#[test]
fn parts_of_rows_are_added_without_a_test() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>, n: usize) -> f64 {
                let mut l = vec![0.0; n * n];
                for i in 0..n {
                    for j in 0..=i {
                        let below: f64 = l[i * n..i * n + j].iter().zip(&l[j * n..j * n + j]).map(|(a, b)| a * b).sum();
                        l[i * n + j] = x[i] * x[j] - below;
                    }
                }
                l.iter().sum()
            }
        },
    );
    // The end of a row is computed before its loop.
    let scatters: Vec<&NestSummary> = plan.nests.iter().filter(|n| n.verb == "scatter" && n.loops > 0).collect();
    assert_eq!(scatters.len(), 2, "{plan:#?}");
    assert!(scatters.iter().all(|n| n.part == PartSummary::Prefix && n.choices == 0), "{plan:#?}");
}

#[test]
fn items_are_tiled_whichever_axis_they_are() {
    let plan = gradient(
        quote!(wrt(m, w)),
        quote! {
            fn f(x: &Array2<f64>, m: &Array2<f64>, w: &Array1<f64>) -> f64 {
                let mut sums: Array1<f64> = Array1::zeros(x.nrows());
                for c in 0..m.nrows() {
                    let z = x - &m.row(c);
                    sums = sums + (&z * &z).sum_axis(Axis(1)).mapv(|v| (-v).exp()) * w[c];
                }
                sums.mapv(f64::ln).sum()
            }
        },
    );
    let tiled = plan.nests.iter().filter(|n| n.tiled).count();
    assert!(tiled >= 4 && some(&plan, |n| n.register_blocked), "{plan:#?}");
}

/// The other axis of pairs of items has the size of the items' axis.
#[test]
fn pairs_of_items_are_tiled() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>) -> f64 {
                let n = x.len();
                let mut total = 0.0;
                for i in 0..n {
                    let mut sum = 0.0;
                    for j in 0..n {
                        if j != i {
                            sum += (x[i] - x[j]).cos().exp();
                        }
                    }
                    total += sum.ln();
                }
                total
            }
        },
    );
    assert!(plan.nests.iter().filter(|n| n.loops == 2).all(|n| n.tiled), "{plan:#?}");
}

/// A label's element of a row is updated in the tile that computes the row, and the rows of a
/// gradient are unpacked from it.
#[test]
fn rows_are_updated_and_unpacked_in_tiles() {
    let plan = gradient(
        quote!(wrt(x, w)),
        quote! {
            fn f(x: &Array2<f64>, w: &Array2<f64>, label: &[usize]) -> f64 {
                let mut total = 0.0;
                for i in 0..x.nrows() {
                    let mut z = Array1::<f64>::zeros(w.nrows());
                    for j in 0..w.nrows() {
                        for k in 0..w.ncols() {
                            z[j] += (x[[i, k]] * w[[j, k]]).tanh();
                        }
                    }
                    total += logsumexp(&z) - z[label[i]];
                }
                total
            }
        },
    );
    assert!(plan.nests.iter().any(|n| n.verb == "add_to" && n.tiled), "{plan:#?}");
    assert!(plan.kernels.contains_key("unpacked"), "{plan:#?}");
}
