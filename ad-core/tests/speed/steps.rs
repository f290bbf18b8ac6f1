//! Loops over steps, and steps that are done for blocks of items.

use ad_core::emit::{NestSummary, PartSummary};
use proc_macro2::TokenStream;
use quote::quote;

use super::{gradient, some, vjp};

#[test]
fn iterations_with_private_parts_become_operations_on_rows() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(w: &Array2<f64>, times: usize) -> f64 {
                let (rows, n) = w.dim();
                let mut h = w.to_owned();
                let mut y = w.row(0).to_owned();
                for _ in 0..times {
                    for r in 0..rows {
                        for j in 0..n {
                            h[[r, j]] = (h[[r, j]] * w[[r, j]] + y[j]).tanh();
                            y[j] = h[[r, j]] * y[j];
                        }
                    }
                }
                sum(&h)
            }
        },
    );
    // In one nest (blocks, and shorter rows): earlier values are saved, also those of arrays that
    // an inner loop carries and computes as a whole.
    assert_eq!(plan.function("tanh"), 2, "{plan:#?}");
    assert!(some(&plan, |n| n.overlapping), "{plan:#?}");
    // Rows are written without a test.
    let tests = |n: &NestSummary| n.choices + n.rows_under_test + n.tested_rows > 0;
    assert!(some(&plan, |n| n.verb == "update") && !some(&plan, |n| n.verb == "update" && tests(n)), "{plan:#?}");
    assert!(!some(&plan, |n| n.plain_functions.contains_key("tanh")), "{plan:#?}");
}

#[test]
fn conditions_on_the_index_are_decided_before_the_loop() {
    let plan = vjp(
        quote!(vjp),
        quote! {
            fn f(x: &Array1<f64>, steps: usize) -> Array1<f64> {
                let mut y = x.to_owned();
                for _ in 0..steps {
                    y = build1(x.len(), |i| if i == 0 { x[0] } else { y[i] + x[i] * y[i - 1] });
                }
                y
            }
        },
    );
    let interiors: Vec<&NestSummary> =
        plan.nests.iter().filter(|n| n.verb == "compute" && n.part != PartSummary::Ends).collect();
    assert!(interiors.iter().any(|n| n.part == PartSummary::Interior), "{plan:#?}");
    assert!(interiors.iter().all(|n| n.choices == 0), "a test inside: {plan:#?}");
    assert!(
        !some(&plan, |n| n.verb == "scatter" && n.loops > 0),
        "the adjoint of the one before is a shifted row: {plan:#?}"
    );
}

/// Checks under the conditions of loops prove that reads inside of these loops are in range: no row
/// is sliced with a test.
#[test]
fn checks_under_conditions_prove_reads_in_loops() {
    let plan = gradient(
        quote!(wrt(w)),
        quote! {
            fn f(x: &Array1<f64>, w: &Array2<f64>, steps: usize) -> f64 {
                let n = x.len();
                let mut y = x.to_owned();
                for t in 0..steps {
                    let mut z = Array1::<f64>::zeros(n);
                    for j in 0..n {
                        z[j] = (y[j] * w[[2 * t + 1, j]] + w[[0, n + j]]).tanh();
                    }
                    for j in 0..n {
                        y[j] = z[j] * w[[2 * t, j]];
                    }
                }
                y.sum()
            }
        },
    );
    assert!(plan.calls("cut") == 0 && !some(&plan, |n| n.tested_rows > 0), "{plan:#?}");
    assert!(!some(&plan, |n| n.part == PartSummary::Prefix), "all of a row is there: {plan:#?}");
}

/// The initial value of an inner loop is computed in the memory of its carried value.
#[test]
fn initial_values_of_loops_are_not_copied() {
    let plan = gradient(
        quote!(wrt(w)),
        quote! {
            fn f(w: &Array1<f64>, x: &Array2<f64>, inner: usize) -> f64 {
                let mut total = 0.0;
                for t in 0..x.nrows() {
                    let mut y = x.row(t).to_owned() * w;
                    for _ in 0..inner {
                        y = (&y * w).mapv(f64::sin);
                    }
                    total += y.sum() * total.cos();
                }
                total
            }
        },
    );
    // The inner loop runs in the forward pass, and again in the reverse pass. The inner loop adds
    // to the cotangents of its capture so far.
    assert_eq!((plan.swapped, plan.copied_beginnings, plan.copied), (2, 1, 0), "{plan:#?}");
}

/// A sum that is zero except at the ends adds nothing in the interior, and its rows need no test.
#[test]
fn sums_that_are_zero_in_the_interior_are_not_computed_there() {
    let plan = vjp(
        quote!(vjp),
        quote! {
            fn f(x: &Array1<f64>, steps: usize) -> Array1<f64> {
                let mut y = x.to_owned();
                for _ in 0..steps {
                    y = build1(x.len(), |i| if i == 0 { x[0] } else { y[i] + x[i] * y[i - 1] });
                }
                y
            }
        },
    );
    let of = |part| plan.nests.iter().filter(|n| n.part == part).map(|n| (n.sums, n.choices > 0)).collect::<Vec<_>>();
    // The forward pass has no sum. In the reverse pass, the sum over the first elements is computed
    // at the ends only.
    assert_eq!(of(PartSummary::Interior), [(0, false), (0, false)], "{plan:#?}");
    assert_eq!(of(PartSummary::Ends), [(0, true), (1, true)], "{plan:#?}");
}

/// The prover queries checks under conditions at each loop and nest. That must not take long for a
/// function with many of both. (It takes half a second without optimisation, and would take minutes
/// if the search were not bounded.)
#[test]
fn many_checks_under_conditions_cost_little() {
    let steps = (0_usize..30).map(|k| {
        quote! {
            for j in 0..n { z[j] = (y[j] * w[[t, #k * n + j]]).tanh(); }
            for j in 0..n { y[j] = z[j] * w[[#k, j]]; }
        }
    });
    let plan = gradient(
        quote!(wrt(w)),
        quote! {
            fn f(x: &Array1<f64>, w: &Array2<f64>, steps: usize) -> f64 {
                let n = x.len();
                let mut y = x.to_owned();
                let mut z = x.to_owned();
                for t in 0..steps { #(#steps)* }
                y.sum()
            }
        },
    );
    assert!(plan.function("tanh") > 0, "{plan:#?}");
}

/// A sum over items with a recurrence in each: blocks of items, whose running products are arrays
/// over the items. All steps of these loops are done for one chunk of items after the other. Cheap
/// values are not saved for the derivative, but recomputed by the loop that takes the sums over
/// items.
#[test]
fn recurrences_of_items_fill_the_lanes() {
    let with = |step: TokenStream| {
        gradient(
            quote!(),
            quote! {
                fn f(x: &Array1<f64>, n: usize) -> f64 {
                    let mut total = 0.0;
                    for i in 0..n {
                        let t = i as f64 / 100.0;
                        let mut power = 1.0;
                        let mut r = 0.5;
                        for j in 0..x.len() {
                            r -= x[j] * power;
                            #step
                        }
                        total += r * r;
                    }
                    total
                }
            },
        )
    };
    let cheap = with(quote!(power *= t;));
    // The forward loop and the loop for the sums, in the blocks and in the remaining items.
    assert_eq!(cheap.outer_vectorised, 4, "{cheap:#?}");
    // A step calls nothing that is not inlined, and copies nothing.
    assert!(cheap.nests.iter().filter(|n| n.verb == "step").all(|n| n.part_of_loop) && cheap.copied == 0, "{cheap:#?}");
    // Expensive values are saved: no loop computes them a second time.
    let expensive = with(quote!(power = (power * t).sin();));
    assert_eq!(expensive.outer_vectorised, 2, "{expensive:#?}");
}

/// A loop that carries rows runs all steps for one chunk of elements after the other, if no element
/// reads another element or a reduction of all.
#[test]
fn rows_of_loops_stay_in_registers() {
    let with = |step: TokenStream| {
        gradient(
            quote!(),
            quote! {
                fn f(x: &Array1<f64>, c: &Array1<f64>) -> f64 {
                    let mut y = x.clone();
                    for k in 0..c.len() { #step }
                    y.sum()
                }
            },
        )
    };
    let apart = [quote!(y = &y * c[k] + x;), quote!(y = y.mapv(|e| if e > c[k] { e.sin() } else { e });)];
    for step in apart {
        let plan = with(step);
        assert!(plan.outer_vectorised > 0, "{plan:#?}");
    }
    let together = [
        quote!(y = &y * c[k] + y[0];),
        quote!(y = &y * y.sum() + c[k];),
        quote!(y = build1(x.len(), |i| y[i] * c[k] + y[x.len() - 1 - i]);),
    ];
    for step in together {
        let plan = with(step);
        assert_eq!(plan.outer_vectorised, 0, "{plan:#?}");
    }
}

/// A loop whose steps are loops over short rows is one function with one dispatch, also if it
/// contains loops. Variables that it changes are moved into the function and returned. Products of
/// matrices and nests over several axes stay separate functions.
#[test]
fn a_loop_over_short_rows_is_dispatched_once() {
    let with = |step: TokenStream| {
        gradient(
            quote!(wrt(w)),
            quote! {
                fn f(w: &Array2<f64>, x: &Array2<f64>, layers: usize) -> f64 {
                    let mut h = Array1::<f64>::zeros(x.ncols());
                    for t in 0..x.nrows() { #step }
                    (&h * &h).sum()
                }
            },
        )
    };
    let rows = with(quote! {
        for l in 0..layers {
            for j in 0..x.ncols() {
                h[j] = (h[j] * w[[l, j]] + x[[t, j]]).tanh();
            }
        }
    });
    assert_eq!(rows.outlined, 2, "forwards and backwards: {rows:#?}");
    assert_eq!(rows.dispatches(), 3, "these, and the nests after the loop: {rows:#?}");
    assert!(some(&rows, |n| n.part_of_loop), "{rows:#?}");
    let matrices = with(quote!(h = h.dot(w).mapv(f64::tanh);));
    assert!(matrices.calls("gemv") + matrices.calls("gemv_t") > 0, "{matrices:#?}");
    let numbers = with(quote!(h[0] = (h[0] * w[[0, 0]] + x[[t, 0]]).sin();));
    assert_eq!(numbers.outlined, 0, "no loop is in a step: {numbers:#?}");
}

/// In a loop a sum over functions is taken after the loop that computes them, which processes whole
/// blocks only.
#[test]
fn functions_of_short_rows_are_done_in_whole_blocks() {
    let plan = gradient(
        quote!(wrt(w)),
        quote! {
            fn f(w: &Array1<f64>, x: &Array2<f64>) -> f64 {
                let mut s = 0.0;
                for t in 0..x.nrows() {
                    let mut e = 1.0 + s * s;
                    for j in 0..x.ncols() {
                        e += (x[[t, j]] * w[j] * s).exp();
                    }
                    s = e.ln();
                }
                s
            }
        },
    );
    assert!(plan.function("exp") > 0 && some(&plan, |n| n.overlapping), "no function for what is left over: {plan:#?}");
}

/// Sums of products over several indices, written as loops: one matrix product forwards and one for
/// each gradient.
#[test]
fn sums_over_several_indices_are_one_contraction() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(w: &Array3<f64>, x: &Array2<f64>) -> f64 {
                let (outputs, rows, columns) = w.dim();
                let mut total = 0.0;
                for o in 0..outputs {
                    for i in 0..x.nrows() {
                        let mut s = 0.0;
                        for a in 0..rows {
                            for b in 0..columns {
                                s += w[[o, a, b]] * x[[i, a * columns + b]];
                            }
                        }
                        total += s.sin();
                    }
                }
                total
            }
        },
    );
    assert_eq!(plan.calls("gemm"), 3, "{plan:#?}");
}

/// In a block of items a sum over anything but the items stays in registers, for sixteen items at a
/// time, and so does the minimum of several sums. A sum in the function's order starts with the
/// function's zero.
#[test]
fn sums_of_the_items_of_a_block_stay_in_registers() {
    let plan = gradient(
        quote!(wrt(centres)),
        quote! {
            fn f(points: &Array2<f64>, centres: &Array2<f64>) -> f64 {
                let mut cost = 0.0;
                for i in 0..points.nrows() {
                    let mut nearest = f64::INFINITY;
                    for j in 0..centres.nrows() {
                        let mut distance = 0.0;
                        for k in 0..points.ncols() {
                            let d = points[[i, k]] - centres[[j, k]];
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
    assert!(
        some(&plan, |n| n.tiled && n.register_blocked && n.extremum),
        "the least of them is taken there: {plan:#?}"
    );
    assert_eq!(plan.made, 1, "there is no array of them: {plan:#?}");
}

/// Elements below a diagonal: the loop over columns ends at the diagonal, without a test for each
/// element, and zeros are skipped without a separate pass.
#[test]
fn triangles_of_the_items_of_a_block_are_short_loops() {
    let plan = gradient(
        quote!(wrt(a)),
        quote! {
            fn f(x: &Array2<f64>, a: &Array2<f64>) -> f64 {
                let (n, d) = x.dim();
                let mut total = 0.0;
                for i in 0..n {
                    let mut z = Array1::<f64>::zeros(d);
                    for r in 0..d {
                        for j in 0..r {
                            z[r] += a[[r, j]] * x[[i, j]];
                        }
                    }
                    total += logsumexp(&z);
                }
                total
            }
        },
    );
    assert!(some(&plan, |n| n.tiled && n.shortened), "{plan:#?}");
}

#[test]
fn updates_of_exclusive_arms_are_made_in_place() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>) -> f64 {
                let mut a = x.clone();
                for i in 0..a.len() - 1 {
                    match i % 4 {
                        0 => a[i] = a[i + 1].sin(),
                        1 => a[i + 1] = a[i] * a[i + 1],
                        2 => a[i + 1] = a[i].cos(),
                        _ => a[i] *= 0.3,
                    }
                }
                a.sum()
            }
        },
    );
    // The sum at the end is the only pass over an array; no step copies one.
    assert_eq!(plan.nests.iter().filter(|n| n.verb == "compute").count(), 1, "{}", plan.steps);
    assert_eq!(plan.copied, 1, "{}", plan.steps);
}

#[test]
fn loops_over_rows_stop_where_the_rows_end() {
    let plan = gradient(
        quote!(wrt(w)),
        quote! {
            fn f(w: &Array1<f64>, indptr: &[usize], indices: &[usize]) -> f64 {
                let mut t = 0.0;
                for i in 0..indptr.len() - 1 {
                    let mut s = 0.0;
                    for &j in &indices[indptr[i]..indptr[i + 1]] {
                        s += w[j];
                    }
                    t += s.sin();
                }
                t
            }
        },
    );
    let rows: Vec<&NestSummary> = plan.nests.iter().filter(|n| n.loops == 2).collect();
    assert_eq!(rows.len(), 2, "{}", plan.steps);
    assert!(rows.iter().all(|n| n.part == PartSummary::Ragged), "{rows:?}");
}

/// A loop over a row that adds to an array is a sum over the part that is there, whatever the array
/// is and however it is written. It is not a loop that tests each step for the end.
#[test]
fn arrays_are_added_up_over_rows() {
    let by_rows = quote! {
        fn f(x: &Array2<f64>, indptr: &[usize], indices: &[usize]) -> f64 {
            let mut t = 0.0;
            for i in 0..indptr.len() - 1 {
                let mut mean = Array1::<f64>::zeros(x.ncols());
                for p in indptr[i]..indptr[i + 1] {
                    mean += &x.row(indices[p]);
                }
                t += mean.mapv(f64::sin).sum();
            }
            t
        }
    };
    let by_elements = quote! {
        fn f(x: &Array2<f64>, indptr: &[usize], indices: &[usize]) -> f64 {
            let mut t = 0.0;
            for i in 0..indptr.len() - 1 {
                let mut mean = vec![0.0; x.ncols()];
                for &j in &indices[indptr[i]..indptr[i + 1]] {
                    for k in 0..x.ncols() {
                        mean[k] += x[[j, k]];
                    }
                }
                t += mean.iter().map(|v| v.sin()).sum::<f64>();
            }
            t
        }
    };
    let static_arrays = quote! {
        fn f(x: &[[f64; 3]], indptr: &[usize], indices: &[usize]) -> f64 {
            let mut t = 0.0;
            for i in 0..indptr.len() - 1 {
                let mut force = [0.0; 3];
                for p in indptr[i]..indptr[i + 1] {
                    for c in 0..3 {
                        force[c] += x[indices[p]][c] - x[i][c];
                    }
                }
                t += force[0].sin() * force[1] + force[2];
            }
            t
        }
    };
    let scaled = quote! {
        fn f(x: &Array2<f64>, indptr: &[usize], indices: &[usize]) -> f64 {
            let mut y = Array2::<f64>::zeros(x.raw_dim());
            for i in 0..indptr.len() - 1 {
                let mut row = y.row_mut(i);
                for p in indptr[i]..indptr[i + 1] {
                    row.scaled_add(0.5, &x.row(indices[p]));
                }
            }
            y.mapv(f64::sin).sum()
        }
    };
    for program in [by_rows, by_elements, static_arrays, scaled] {
        let plan = gradient(quote!(wrt(x)), program.clone());
        assert!(!plan.steps.contains("step"), "{program}\n{}", plan.steps);
    }
}

/// Coordinates of points that loops of three steps compute are three scalars in each loop over
/// points: no array of the coordinates of all pairs is stored.
#[test]
fn coordinates_of_pairs_are_not_stored() {
    let plan = gradient(
        quote!(wrt(x)),
        quote! {
            fn f(x: &[[f64; 3]], m: &[f64], steps: usize) -> f64 {
                let n = x.len();
                let mut y = x.to_vec();
                for _ in 0..steps {
                    let mut next = y.clone();
                    for i in 0..n {
                        let mut a = [0.0; 3];
                        for j in 0..n {
                            let d = [y[j][0] - y[i][0], y[j][1] - y[i][1], y[j][2] - y[i][2]];
                            let r = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.1;
                            for c in 0..3 {
                                a[c] += m[j] * d[c] / r;
                            }
                        }
                        for c in 0..3 {
                            next[i][c] += 0.1 * a[c];
                        }
                    }
                    y = next;
                }
                y.iter().map(|p| p[0] * p[1] - p[2]).sum()
            }
        },
    );
    let nests = plan.nests.iter().map(|n| n.loops).max();
    assert_eq!(nests, Some(2), "{plan:#?}");
}

/// Arrays that are joined one after the other are copied once each: no element is added to zero.
#[test]
fn joined_arrays_are_copied() {
    let expansion = ad_core::expansion(
        quote!(vjp),
        quote! {
            fn f(a: &[f64], b: &[f64], c: &[f64]) -> Vec<f64> {
                let mut v = a.to_vec();
                v.extend_from_slice(b);
                v.extend_from_slice(c);
                v
            }
        },
    );
    let text = expansion.tokens.to_string();
    let count = |what: &str| text.matches(what).count();
    assert_eq!((count("Writes a block of the result."), count("The parts without zeros.")), (3, 0), "{text}");
}

/// Ten checks test the indices that a search has found. All of them share one loop with the
/// function and the derivative, and the loop runs the search once for each item.
#[test]
fn checks_of_one_search_are_one_loop() {
    let plan = gradient(
        quote!(wrt(y)),
        quote! {
            fn f(x: &[f64], y: &[f64], ts: &[f64]) -> f64 {
                let mut total = 0.0;
                for &t in ts {
                    let mut k = 0;
                    while t >= x[k + 1] {
                        k += 1;
                    }
                    let a = (t - x[k]) / (x[k + 1] - x[k]);
                    total += (1.0 - a) * y[k] + a * y[k + 1] + y[k + 2] * y[2 * k];
                }
                total
            }
        },
    );
    assert!(plan.steps.matches("check ").count() > 3, "{}", plan.steps);
    // The loop, and the search in it.
    assert_eq!(plan.steps.matches("steps from the").count(), 2, "{}", plan.steps);
}
