//! Items that look rows up in tables, and pairs of items: gathers in lanes, blocks of items, bounds
//! of loops.

use super::{gradient, plan, some};
use ad_core::descriptor::HVP;
use ad_oracle::plan::{NestSummary, PartSummary, PlanSummary};
use quote::quote;

/// A sum of functions of looked-up numbers, which adds to the table's gradient.
fn looked_up() -> PlanSummary {
    gradient(
        quote!(wrt(effects)),
        quote! {
            fn f(effects: &[f64], group: &[usize], y: &[f64], scale: f64) -> f64 {
                let mut total = 0.0;
                for (&g, y) in group.iter().zip(y) {
                    let r = (y - effects[g]) / scale;
                    total += r * r + r.exp();
                }
                total
            }
        },
    )
}

#[test]
fn looked_up_numbers_are_summed_in_lanes() {
    let plan = looked_up();
    assert!(some(&plan, |n| n.verb == "compute" && n.lanes && n.sums == 1), "{plan:#?}");
}

#[test]
fn scattered_values_are_stored_for_one_block() {
    let plan = looked_up();
    assert!(some(&plan, |n| n.verb == "compute" && n.tiled), "{plan:#?}");
    // A check of the indices comes before the blocks, in a separate nest.
    let checks = plan.nests.iter().filter(|n| n.verb == "compute" && !n.tiled && !n.lanes).count();
    assert_eq!((checks, plan.nests.len()), (1, 3), "{plan:#?}");
}

#[test]
fn numbers_for_one_table_are_scattered_by_one_loop() {
    let plan = gradient(
        quote!(wrt(points)),
        quote! {
            fn f(points: &Array2<f64>, ends: &[[usize; 2]]) -> f64 {
                let mut energy = 0.0;
                for &[a, b] in ends {
                    let dx = points[[a, 0]] - points[[b, 0]];
                    let dy = points[[a, 1]] - points[[b, 1]];
                    energy += (dx * dx + dy * dy + 1.0).sqrt();
                }
                energy
            }
        },
    );
    assert_eq!(plan.nests.iter().filter(|n| n.verb == "scatter").count(), 1, "{plan:#?}");
    assert!(some(&plan, |n| n.verb == "compute" && n.tiled && n.lanes), "{plan:#?}");
}

#[test]
fn rows_of_neighbours_are_added_up_to_their_length() {
    let plan = gradient(
        quote!(wrt(w)),
        quote! {
            fn f(w: &Array2<f64>, x: &Array2<f64>, start: &[usize], neighbour: &[usize]) -> f64 {
                let mut means = Array2::zeros(x.raw_dim());
                for i in 0..x.nrows() {
                    for &j in &neighbour[start[i]..start[i + 1]] {
                        means.row_mut(i).scaled_add(1.0 / (start[i + 1] - start[i]) as f64, &x.row(j));
                    }
                }
                means.dot(w).mapv(f64::tanh).sum()
            }
        },
    );
    let nests: Vec<&NestSummary> = plan.nests.iter().filter(|n| n.loops == 3).collect();
    assert!(nests.len() == 1 && nests[0].shortened, "{plan:#?}");
    assert!(some(&plan, |n| n.loops == 2 && n.part == PartSummary::Ragged), "{plan:#?}");
}

/// The energy of all pairs of points, with the distance by this loop.
fn pairs(distance: &proc_macro2::TokenStream) -> PlanSummary {
    gradient(
        quote!(),
        quote! {
            fn f(p: &[[f64; 3]]) -> f64 {
                let mut energy = 0.0;
                for i in 0..p.len() {
                    for j in 0..i {
                        #distance
                        let s = 1.0 / (r2 * r2 * r2);
                        energy += s * s - s;
                    }
                }
                energy
            }
        },
    )
}

#[test]
fn three_coordinates_are_summed_in_registers() {
    let looped = pairs(&quote! {
        let mut r2 = 0.0;
        for c in 0..3 {
            let d = p[i][c] - p[j][c];
            r2 += d * d;
        }
    });
    let written_out = pairs(&quote! {
        let (dx, dy, dz) = (p[i][0] - p[j][0], p[i][1] - p[j][1], p[i][2] - p[j][2]);
        let r2 = dx * dx + dy * dy + dz * dz;
    });
    for plan in [&looped, &written_out] {
        assert!(some(plan, |n| n.loops == 2 && n.lanes && n.part == PartSummary::Ragged), "{plan:#?}");
        assert_eq!(plan.nests.iter().filter(|n| n.loops > 1 && n.verb == "compute").count(), 1, "{plan:#?}");
    }
}

/// Matrices of the items are made of numbers: there is no array of all matrices, and no product of
/// matrices.
#[test]
fn matrices_of_items_are_in_registers() {
    let rotations = gradient(
        quote!(wrt(q)),
        quote! {
            fn f(q: &[[f64; 4]], x: &[[f64; 3]]) -> f64 {
                let mut loss = 0.0;
                for i in 0..q.len() {
                    let n = (q[i][0] * q[i][0] + q[i][1] * q[i][1] + q[i][2] * q[i][2]).sqrt();
                    let [w, a, b, c] = q[i].map(|v| v / n);
                    let r = [[w, a, b], [b * c, c, a * a], [a, b, w * c]];
                    for j in 0..3 {
                        let mut p = 0.0;
                        for k in 0..3 {
                            p += r[j][k] * x[i][k];
                        }
                        loss += p.powi(2);
                    }
                }
                loss
            }
        },
    );
    let strain = gradient(
        quote!(wrt(x)),
        quote! {
            fn f(x: &[[f64; 3]], edges: &[[usize; 2]], inverse: &[[[f64; 3]; 3]]) -> f64 {
                let mut energy = 0.0;
                for (t, m) in edges.iter().zip(inverse) {
                    let (a, b) = (x[t[0]], x[t[1]]);
                    let d = [[a[0], a[1], a[2]], [b[0], b[1], b[2]], [a[1], b[2], a[0]]];
                    let mut f = [[0.0; 3]; 3];
                    for i in 0..3 {
                        for j in 0..3 {
                            for k in 0..3 {
                                f[i][j] += d[i][k] * m[k][j];
                            }
                        }
                    }
                    energy += f[0][0] * f[1][1] - f[0][1] * f[2][0] + f[2][2];
                }
                energy
            }
        },
    );
    for plan in [rotations, strain] {
        assert!(plan.nests.iter().all(|n| n.loops == 1), "{plan:#?}");
        assert!(!plan.kernels.keys().any(|k| k.contains("gem")), "{plan:#?}");
        assert_eq!(plan.nests.iter().filter(|n| n.verb == "scatter").count(), 1, "{plan:#?}");
    }
}

/// The arrays that a nest writes are reserved together.
#[test]
fn several_arrays_have_one_reservation() {
    let body = |last: &proc_macro2::TokenStream| {
        quote! {
            fn f(x: &[f64], y: &[f64]) -> f64 {
                let (mut s, mut t) = (0.0, 0.0);
                for (a, b) in x.iter().zip(y) {
                    s += (a * b).sin();
                    t += (a + b).exp() * a;
                }
                #last
            }
        }
    };
    let reserved = |last: &proc_macro2::TokenStream| {
        ad_core::expansion(quote!(grad), body(last)).tokens.to_string().matches("reserve ::").count()
    };
    assert_eq!(reserved(&quote!(s * t)), 1);
    let one = ad_core::expansion(
        quote!(grad),
        quote!(
            fn f(x: &[f64]) -> f64 {
                x.iter().map(|v| v.sin()).sum()
            }
        ),
    );
    assert!(!one.tokens.to_string().contains("reserve ::"), "{}", one.tokens);
}

#[test]
fn tests_of_indices_are_dispatched() {
    let plan = gradient(
        quote!(wrt(table)),
        quote! {
            fn f(table: &[f64], at: &[usize]) -> f64 {
                let mut sum = 0.0;
                for &i in at {
                    sum += table[i] * table[i];
                }
                sum
            }
        },
    );
    let tests: Vec<&NestSummary> = plan.nests.iter().filter(|n| n.sums == 1 && n.fused == 0 && !n.lanes).collect();
    assert!(tests.len() == 1 && tests[0].dispatched, "{plan:#?}");
}

/// A tangent of the matrices does not wait for the gradient's sum over all items: everything of one
/// item is in one tile. Four products with all items are left, two of them for the function and its
/// tangent; the sums of two others over the items are taken before the product.
#[test]
fn products_with_a_hessian_are_tiled_as_gradients_are() {
    let plan = plan(
        &HVP,
        quote!(hvp, wrt(q, mu)),
        quote! {
            fn f(x: &Array2<f64>, q: &Array3<f64>, mu: &Array2<f64>) -> f64 {
                let (n, k) = (x.nrows(), mu.nrows());
                let matrices = q.mapv(f64::exp);
                let beta = build([n, k], |[i, c]| {
                    let z = matrices.index_axis(Axis(0), c).dot(&(&x.row(i) - &mu.row(c)));
                    -0.5 * z.dot(&z)
                });
                build1(n, |i| logsumexp(&beta.row(i))).sum()
            }
        },
    );
    assert_eq!(plan.calls("products") + plan.calls("absorbing_products"), 4, "{plan:#?}");
    let untiled = plan.nests.iter().filter(|n| n.verb == "compute" && n.functions.contains_key("exp") && !n.tiled);
    assert_eq!(untiled.count(), 1, "only the matrices: {plan:#?}");
}
