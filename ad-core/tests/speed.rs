//! The shape of the loops: which instructions they ask for, whose memory they take, which passes there are. What they compute is
//! tested elsewhere (`emit.rs`, the root's tests); here a regression is a loop that is slow.

use proc_macro2::TokenStream;
use quote::quote;

/// The function `<name>_value_and_grad` (or `_vjp`) as it is written, without spaces, and without the hidden function behind it.
fn written(attr: TokenStream, item: TokenStream) -> String {
    let text = without_underscores(&ad_core::expand(attr, item).to_string());
    let text: String = text.split_whitespace().collect();
    text.split("#[doc(hidden)]").next().unwrap_or_default().into()
}

/// The text without the underscores that locals end with, which no constant of the user's has.
fn without_underscores(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let all: Vec<char> = text.chars().collect();
    let ends = |k: usize| {
        let (before, behind) = (k.checked_sub(1).and_then(|k| all.get(k)), all.get(k + 1));
        all[k] == '_' && before.is_some_and(|&c| is_word(c)) && behind.is_none_or(|&c| !is_word(c))
    };
    (0..all.len()).filter(|&k| !ends(k)).map(|k| all[k]).collect()
}

#[test]
fn functions_and_products_use_the_machine() {
    let code = written(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
                build1(x.len(), |i| (x[i] * y[i] + 1.0).tanh()).sum()
            }
        },
    );
    assert!(code.contains("I::tanh("), "{code}");
    assert!(code.contains("I::mul_add("), "{code}");
    assert!(code.contains("dispatched!"), "{code}");
    assert!(!code.contains(".tanh()") || code.matches(".tanh()").count() == 1, "only the function itself: {code}");
}

#[test]
fn decisions_are_the_functions_own() {
    let code = written(
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
    assert!(code.contains("I::ln("), "no decision depends on it: {code}");
    assert!(!code.contains("I::exp("), "{code}");
    // The only other products are in the gradient.
    assert!(code.contains("x[l]*y[l]+x[l].exp()") || code.contains("x[i]*y[i]+x[i].exp()"), "{code}");
}

#[test]
fn small_arrays_pay_nothing() {
    let code = written(
        quote!(),
        quote! {
            fn f(x: [f64; 20]) -> f64 {
                build1(x.len(), |i| x[i] * x[i]).sum()
            }
        },
    );
    assert!(!code.contains("dispatched!"), "{code}");
}

#[test]
fn a_dead_array_is_overwritten() {
    let code = written(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>) -> f64 {
                let max = maximum(x);
                (x - max).mapv(f64::exp).sum().ln() + max
            }
        },
    );
    assert_eq!(code.matches("::std::vec![").count(), 1, "exponentials, gradient and scatter share memory: {code}");
    assert!(!code.contains(".clone()"), "{code}");
}

#[test]
fn rows_are_asked_for_once() {
    let code = written(
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
    // Along the loop over coordinates, which is not the innermost one, and before the chunks of items.
    assert!(code.contains("letcentroids_row=&centroids[i*centroids_cols..][..points_cols];"), "{code}");
    assert!(code.contains("letcentroids_2=centroids_row[j];"), "{code}");
    // The gradient: row upon row, under one test; a row of the nearest centroid is there if that of its gradient is.
    assert!(code.contains("ift1<centroids_rows{letcentroids_row=&centroids[t1*centroids_cols..]"), "{code}");
    assert!(code.contains("m3_row[j]+="), "{code}");
    assert!(!code.contains("kernel::cut("), "{code}");
}

#[test]
fn a_sum_over_a_label_of_one_operand_is_taken_first() {
    let code = written(
        quote!(),
        quote! {
            fn f(a: &Array2<f64>, x: &Array1<f64>) -> f64 {
                a.dot(x).sum()
            }
        },
    );
    assert!(!code.contains("gemv"), "{code}");
    assert_eq!(code.matches("column_sums(").count(), 1, "value and gradient share it: {code}");
    assert!(code.contains("repeated("), "{code}");
    let code = written(
        quote!(),
        quote! {
            fn f(a: &Array2<f64>, x: &Array1<f64>) -> f64 {
                let y = a.dot(x);
                y.sum() + y.dot(&y)
            }
        },
    );
    assert!(code.contains("gemv("), "the product is needed anyway: {code}");
}

#[test]
fn blocks_that_leave_out_little_are_one_loop() {
    let code = written(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>) -> f64 {
                build1(x.len() - 2, |i| (x[i + 2] - x[i]) * x[i + 1]).sum()
            }
        },
    );
    assert_eq!(code.matches("dispatched!").count(), 1, "value and gradient are one pass: {code}");
    assert!(code.contains("(inside+2).min(x_len)..x_len"), "{code}");
    assert_eq!(code.matches("::std::vec![").count(), 1, "nothing is saved: {code}");
    // A small block in a long array is not worth a test at every element.
    let code = written(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>) -> f64 {
                build1(3, |i| x[i] * x[i + 1]).sum()
            }
        },
    );
    assert!(!code.contains("inside"), "{code}");
}

/// A decision has the function's own bits. A mask that only the derivative has (softplus', of a maximum) is no decision: what it
/// is computed from is in memory, so it is the same wherever it is read.
#[test]
fn masks_of_the_derivative_are_no_decisions() {
    let code = written(
        quote!(wrt(w)),
        quote! {
            fn f(w: &Array1<f64>, x: &Array2<f64>) -> f64 {
                x.dot(w).mapv(softplus).sum()
            }
        },
    );
    assert!(!code.contains("exact_") && code.contains("I::exp("), "{code}");
    let code = written(
        quote!(wrt(w)),
        quote! {
            fn f(w: &Array1<f64>, x: &Array2<f64>) -> f64 {
                x.dot(w).mapv(|z| z.max(0.0)).sum()
            }
        },
    );
    assert!(!code.contains("exact_"), "{code}");
    let code = written(
        quote!(wrt(w)),
        quote! {
            fn f(w: &Array1<f64>, x: &Array2<f64>) -> f64 {
                x.dot(w).mapv(|z| if z > 0.0 { z * z } else { 0.0 }).sum()
            }
        },
    );
    assert!(code.contains("exact_gemv"), "{code}");
    // Not in memory: both factors of the masks are computed in loops of their own, and must agree.
    let code = written(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
                build1(x.len(), |i| (x[i] * x[i] - y[i] * y[i]).max(0.0)).sum()
            }
        },
    );
    assert!(!code.contains("I::mul_add(x_row[l], x_row[l], -"), "{code}");
}

/// How often a matrix kernel is called, and how many loop nests there are.
fn kernels(attr: TokenStream, item: TokenStream) -> (usize, usize) {
    let code = written(attr, item);
    let products = ["kernel::gemm(", "kernel::gemv(", "kernel::dot("].iter().map(|k| code.matches(k).count()).sum();
    (products, code.matches("fncompute_").count())
}

#[test]
fn jacobians_of_linear_maps_cost_no_product_with_the_unit_matrix() {
    // The one product is the value.
    let linear = quote!(
        fn f(a: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> {
            a.dot(x)
        }
    );
    assert_eq!(kernels(quote!(jacobian, wrt(x)), linear), (1, 0));
    let twice = quote!(
        fn f(a: &Array2<f64>, b: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> {
            b.dot(&a.dot(x))
        }
    );
    assert_eq!(kernels(quote!(jacobian, wrt(x)), twice), (3, 0), "two of the value, one of the Jacobian");
    let layer = quote!(
        fn f(a: &Array2<f64>, b: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> {
            b.dot(&a.dot(x).mapv(f64::tanh))
        }
    );
    assert_eq!(kernels(quote!(jacobian, wrt(x)), layer).0, 3);
    // Backwards, as the result is the smaller one.
    let rows = quote!(
        fn f(b: &Array2<f64>, x: &Array2<f64>, v: &Array1<f64>) -> Array1<f64> {
            b.dot(&x.dot(v).mapv(f64::tanh))
        }
    );
    assert_eq!(kernels(quote!(jacobian, wrt(x)), rows).0, 2);
    // By the whole matrix.
    let weights = quote!(
        fn f(w: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> {
            w.dot(x)
        }
    );
    assert_eq!(kernels(quote!(jacobian, wrt(w)), weights).0, 1);
    let product = quote!(
        fn f(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
            a.dot(b)
        }
    );
    assert_eq!(kernels(quote!(jacobian), product).0, 1);
    let quadratic = quote!(
        fn f(a: &Array2<f64>, x: &Array1<f64>) -> f64 {
            x.dot(&a.dot(x))
        }
    );
    assert_eq!(kernels(quote!(hessian, wrt(x)), quadratic).0, 0, "it is the sum of the matrix and its transpose");
}

#[test]
fn what_is_the_same_in_each_row_of_a_jacobian_is_computed_once() {
    let code = written(
        quote!(jacobian),
        quote!(
            fn f(x: &Array1<f64>) -> Array1<f64> {
                x.mapv(|x| x.sin() * x)
            }
        ),
    );
    assert_eq!(code.matches("cos_lanes(").count(), 1, "{code}");
    let code = code.split("fncompute_").last().expect("the loop over the Jacobian");
    assert!(!["cos(", "sin(", "cos_lanes(", "sin_lanes("].iter().any(|f| code.contains(f)), "{code}");
    let code = written(
        quote!(jacobian),
        quote!(
            fn f(x: &Array1<f64>) -> Array1<f64> {
                x * x.mapv(f64::exp).sum()
            }
        ),
    );
    assert_eq!(code.matches("I::exp(").count(), 2, "in the lanes, and for what is left over: {code}");
}

/// The largest element from the first one on: no loop that carries it and saves what it was, no copy of the rest, and its derivative
/// is added where it belongs.
#[test]
fn a_maximum_from_the_first_element_is_its_place() {
    let code = written(
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
    assert!(code.contains("place_of_largest(&x_data[1..][..k1])"), "{code}");
    assert_eq!(code.matches("vec![").count(), 1, "the gradient alone: {code}");
    assert_eq!(code.matches("_lanes[l]+=").count(), 1, "exponentials are summed once: {code}");
}

/// The gradient of a matrix that all items share: what it is multiplied by is summed first.
#[test]
fn linear_maps_are_applied_once() {
    let code = written(
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
    // Forwards, and nothing of items, rows and columns backwards.
    let nests = code.matches("[j*x_rows..]").count() + code.matches("[k*x_rows..]").count();
    assert!(nests <= 2, "{nests} {code}");
}

#[test]
fn steps_with_parts_of_their_own_are_one_loop_over_rows() {
    let code = written(
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
    // In one nest (blocks, and rows that are shorter): what it was is saved, also of what an inner loop carries and computes as a whole.
    assert_eq!(code.matches("I::tanh(").count(), 2, "{code}");
    assert!(code.contains(".div_ceil(8)"), "{code}");
    // Rows are written without a test.
    let writes = code.split("fnupdate_acc<").nth(1).and_then(|f| f.split('}').next()).unwrap_or("if");
    assert!(!writes.contains("if"), "{writes}");
    assert_eq!(code.matches(".tanh()").count(), 1, "the function itself: {code}");
}

#[test]
fn what_the_index_decides_is_decided_before_the_loop() {
    let code = written(
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
    let functions = code.split("fncompute_").skip(1).map(|f| f.split("#[doc").next().unwrap_or_default());
    let interiors: Vec<&str> =
        functions.filter(|f| !f.split('<').next().unwrap_or_default().ends_with("_ends")).collect();
    assert!(!interiors.is_empty(), "{code}");
    for body in interiors {
        let body = body.split("fnsteps_of_").next().unwrap_or_default();
        assert!(!body.contains("if") && !body.contains("saturating_sub"), "a test inside: {body}");
    }
    assert!(!code.contains("scatter_acc"), "the adjoint of the one before is a shifted row: {code}");
}

/// Checks that stand under the conditions of loops say what is in range inside of them: no row is cut with a test.
#[test]
fn what_checks_say_under_conditions_is_known_in_the_loops() {
    let code = written(
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
    assert!(!code.contains("kernel::cut("), "{code}");
    assert!(!code.contains("saturating_sub("), "all of a row is there: {code}");
    assert!(code.contains("ifn>0{"), "where there is anything to do: {code}");
}

/// What an inner loop begins with is computed in the memory that it goes on with.
#[test]
fn what_a_loop_begins_with_is_not_copied() {
    let code = written(
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
    assert!(!code.contains(".copy_from_slice(&v"), "what is carried and saved is copied, nothing else: {code}");
}

/// Of a sum that is zero but at the ends the interior adds nothing, and its rows need no test.
#[test]
fn what_is_only_at_the_ends_is_not_in_the_interior() {
    let code = written(
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
    assert!(!code.contains("_lanes"), "the sum over the first elements is of the ends alone: {code}");
    assert!(code.contains("letacc_row=&acc[0..][..inside];"), "{code}");
}

/// What checks say under conditions is asked at each loop and nest: a function of many of both is not to wait for it. (Half a second without
/// optimisation, and more than minutes if answers were not bounded.)
#[test]
fn many_checks_under_conditions_cost_little() {
    let steps = (0_usize..30).map(|k| {
        quote! {
            for j in 0..n { z[j] = (y[j] * w[[t, #k * n + j]]).tanh(); }
            for j in 0..n { y[j] = z[j] * w[[#k, j]]; }
        }
    });
    let code = written(
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
    assert!(code.contains("I::tanh("), "{code}");
}

/// A sum over items with a recurrence in each: blocks of items, whose running products are arrays over the items. All steps of these are done for
/// a few items after the others; what is cheap is not saved for the derivative, but computed again by the loop that takes the sums over items.
#[test]
fn recurrences_of_items_fill_the_lanes() {
    let with = |step: TokenStream| {
        written(
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
    // Forwards and for the sums, in the blocks and in what is left; each few items at once and the last ones.
    assert_eq!(cheap.matches("fnloop_over_").count(), 4, "{cheap}");
    assert!(!cheap.contains("x_len*"), "no powers in memory: {cheap}");
    // A step calls nothing that is not inlined, and copies nothing.
    assert!(!cheap.contains("x_len{compute") && !cheap.contains("mem::swap(&mutacc_3"), "{cheap}");
    // What is dear is saved.
    let dear = with(quote!(power = (power * t).sin();));
    assert!(dear.contains("x_len*") && dear.contains("fnloop_over_"), "{dear}");
}

/// A loop that carries rows: all steps for a few elements after the others, if no element asks for another one, or for what all are together.
#[test]
fn rows_of_loops_stay_in_registers() {
    let with = |step: TokenStream| {
        written(
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
        let code = with(step);
        assert!(code.contains("fnloop_over_"), "{code}");
    }
    let together = [
        quote!(y = &y * c[k] + y[0];),
        quote!(y = &y * y.sum() + c[k];),
        quote!(y = build1(x.len(), |i| y[i] * c[k] + y[x.len() - 1 - i]);),
    ];
    for step in together {
        let code = with(step);
        assert!(!code.contains("fnloop_over_"), "{code}");
    }
}

/// A loop whose steps are loops over short rows is one function that asks for the instructions once, also where loops are inside of it; what
/// it changes is moved in and handed back. Products of matrices and nests over several axes keep functions of their own.
#[test]
fn a_loop_over_short_rows_asks_for_the_instructions_once() {
    let with = |step: TokenStream| {
        written(
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
    assert_eq!(rows.matches("fnsteps_of_").count(), 2, "forwards and backwards: {rows}");
    assert_eq!(rows.matches("dispatched!").count(), 3, "these, and what is behind the loop: {rows}");
    assert!(rows.contains("#[inline(always)]fncompute_"), "{rows}");
    let matrices = with(quote!(h = h.dot(w).mapv(f64::tanh);));
    assert!(matrices.contains("kernel::gemv"), "{matrices}");
    let numbers = with(quote!(h[0] = (h[0] * w[[0, 0]] + x[[t, 0]]).sin();));
    assert!(!numbers.contains("fnsteps_of_"), "no loop is in a step: {numbers}");
}

/// In a loop a sum over functions is taken behind the loop that computes them, which does whole blocks alone.
#[test]
fn functions_of_short_rows_are_done_in_whole_blocks() {
    let code = written(
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
    assert!(code.contains("I::exp(") && code.contains("div_ceil(8)"), "{code}");
    assert!(!code.contains("_rest+=t"), "no function for what is left over: {code}");
}

/// Sums of products over several indices, as loops say them: one product of matrices forwards and one for each gradient.
#[test]
fn sums_over_several_indices_are_one_contraction() {
    let code = written(
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
    assert_eq!(code.matches("kernel::gemm(").count(), 3, "{code}");
}

/// In a block of items a sum over anything but the items stays in registers, for sixteen items at a time, and so does the least of several; one in
/// the function's own order begins with the function's own zero.
#[test]
fn sums_of_the_items_of_a_block_stay_in_registers() {
    let code = written(
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
    let sums = "m2=[0.0;16];forjin0..points_cols{";
    assert!(code.contains(sums) && code.contains("m2[l]+=t1*t1;"), "{code}");
    assert!(code.contains("letwins=m2[l]<best[l];"), "the least of them is taken there: {code}");
    assert!(!code.contains("block*centres_rows"), "there is no array of them: {code}");
    assert!(!code.contains("0.0+"), "{code}");
}

/// What is below a diagonal: the loop over columns ends there, instead of asking each time; and what is zero is left out without a pass of its own.
#[test]
fn triangles_of_the_items_of_a_block_are_short_loops() {
    let code = written(
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
    assert!(code.contains(".min(i){") || code.contains(".min(j){"), "{code}");
}

#[test]
fn a_sum_of_cotangents_under_one_condition_is_under_it() {
    // All that `v` sends back is under the condition: nothing of it is a zero that a product has to absorb.
    let code = written(
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
    assert!(!code.contains("mul_zero"), "{code}");
}

#[test]
fn zeros_of_unit_vectors_are_no_code() {
    let both = |attr: TokenStream| {
        let item = quote! {
            fn f(x: [f64; 3], w: f64) -> [f64; 2] {
                [w * (x[0] * x[1] + x[2]), w * (x[1] * x[2]) / x[0]]
            }
        };
        let code = written(attr, item);
        let (_, code) = code.split_once("f_value_and_jacobian").expect("the Jacobian");
        assert!(!code.contains("0.0*") && !code.contains("*0.0"), "{code}");
    };
    // Rows are fewer; columns are fewer.
    both(quote!(jacobian));
    both(quote!(jacobian, wrt(w)));
}

#[test]
fn sines_are_computed_by_the_block() {
    let code = written(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>, w: &Array1<f64>) -> f64 {
                (x * w).mapv(|v| v.sin() * v).sum()
            }
        },
    );
    let (_, code) = code.split_once("f_value_and_grad").expect("the gradient");
    // The function and its derivative, of one argument; the rest of the row is done element by element.
    assert_eq!(code.matches("I::sin_cos_lanes(").count(), 1, "{code}");
    assert!(!code.contains(".sin()") && !code.contains(".cos()"), "{code}");
    // What only an arm needs is computed there.
    let code = written(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>) -> f64 {
                build1(x.len(), |i| if x[i] > 0.0 { x[i].sin() } else { x[i] }).sum()
            }
        },
    );
    assert!(!code.contains("_lanes("), "{code}");
}
