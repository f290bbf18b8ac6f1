//! Element by element: builds in builds, conditionals in them, recomputed sums.

use ad::prelude::*;

use super::{Case, differentiate};

#[differentiate]
fn times_index(x: f64) -> f64 {
    build1(10, |i| x * i as f64).sum()
}

#[test]
fn index_as_a_real() {
    Case::in_every_layout("horde-f1", |case| {
        let (value, x) = times_index_value_and_grad(case.input("x"));
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn all_but_the_first(x: f64) -> Array1<f64> {
    build1(10, |i| if i == 0 { 0.0 } else { x })
}

#[test]
fn conditional_on_the_index() {
    Case::in_every_layout("ksc-ex0-g", |case| {
        let (value, x) = all_but_the_first_vjp(case.input("x"), &case.ones::<Array1<f64>>());
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn rows_with_a_mark(r: f64) -> Array2<f64> {
    let row = |i: usize| build1(19, |j| if j == 5 { i as f64 } else { r });
    build1(7, row)
}

#[test]
fn closure_that_builds() {
    Case::in_every_layout("horde-concatBuild1", |case| {
        let (value, r) = rows_with_a_mark_vjp(case.input("r"), &case.ones::<Array2<f64>>());
        case.check(&value, &[("r", &r)]);
    });
}

#[differentiate]
fn two_periods(r: f64) -> Array1<f64> {
    let a = build1(5, |k| if k == 0 { r } else { k as f64 });
    build1(10, |i| {
        let late = 5 <= i;
        if !late { a[i] } else { a[i - 5] }
    })
}

#[test]
fn conditional_that_guards_an_index() {
    Case::in_every_layout("horde-concatBuild13", |case| {
        let (value, r) = two_periods_vjp(case.input("r"), &case.ones::<Array1<f64>>());
        case.check(&value, &[("r", &r)]);
    });
}

/// Row 2 does not exist, and is not read.
#[differentiate]
fn row_or_sum(v: &Array2<f64>) -> Array2<f64> {
    build1(2, |i| if i == 0 { v.row(i + 1).to_owned() } else { v.sum_axis(Axis(0)) })
}

/// The case has rank 5: two parts of 8 numbers.
#[test]
fn conditional_between_arrays() {
    Case::in_every_layout("horde-fooBuildOut", |case| {
        let v: Array2<f64> = case.reshaped("v", [2, 8]);
        let (value, v) = row_or_sum_vjp(&v, &case.ones_like::<Array2<f64>>(&[2, 8]));
        case.check(&value, &[("v", &v)]);
    });
}

#[differentiate]
fn clamped_rows(v: &Array2<f64>) -> Array2<f64> {
    let phi = |x: f64, y: f64, z: f64| {
        let w = x * y.sin();
        z.atan2(w) + z * w
    };
    let psi = |x: f64, y: f64| {
        let w = phi(x, y, x) * y.sin();
        x.atan2(w) + y * w
    };
    build1(22, |i| v.row((i + 1).min(1)).mapv(|y| psi(1.0, y)))
}

/// The case has rank 5: two parts of 8 numbers.
#[test]
fn clamped_index() {
    Case::in_every_layout("horde-fooBuild3", |case| {
        let v: Array2<f64> = case.reshaped("v", [2, 8]);
        let (value, v) = clamped_rows_vjp(&v, &case.ones_like::<Array2<f64>>(&[22, 8]));
        case.check(&value, &[("v", &v)]);
    });
}

#[differentiate]
fn phi_build(v: &Array1<f64>) -> Array1<f64> {
    let phi = |x: f64, y: f64, z: f64| {
        let w = x * y.sin();
        z.atan2(w) + z * w
    };
    let psi = |x: f64, y: f64| {
        let w = phi(x, y, x) * y.sin();
        x.atan2(w) + y * w
    };
    let r = v.sum();
    let m = -maximum(&-v);
    build1(3, |i| r * phi(3.0, 5.0 * r, r * m * m) + psi(r, v[i + 1]))
}

#[test]
fn reductions_shared_by_a_build() {
    Case::in_every_layout("horde-fooBuild", |case| {
        let (value, v) = phi_build_vjp(&case.input("v"), &case.ones::<Array1<f64>>());
        case.check(&value, &[("v", &v)]);
    });
}

#[differentiate]
fn nested_maps(r: f64) -> Array1<f64> {
    let phi = |x: f64, y: f64, z: f64| {
        let w = x * y.sin();
        z.atan2(w) + z * w
    };
    let psi = |x: f64, y: f64| {
        let w = phi(x, y, x) * y.sin();
        x.atan2(w) + y * w
    };
    let phi_build = |v: Array1<f64>| {
        let r = v.sum();
        let m = -maximum(&-&v);
        build1(3, |i| r * phi(3.0, 5.0 * r, r * m * m) + psi(r, v[i + 1]))
    };
    let v = build1(177, |_| r);
    let minima = build1(5, |i| -maximum(&build1(7, |j| -v[i + j])));
    minima.mapv(|d| {
        let psis = build1(3, |k| psi(d, v[k]));
        let above = phi_build(build1(4, |_| d) / d);
        let below = phi_build(build1(130, |_| d)) * d + 5.0;
        d * (psis + above / below).sum()
    })
}

#[test]
fn builds_in_closures_in_maps() {
    Case::in_every_layout("horde-nestedBuildMap", |case| {
        let (value, r) = nested_maps_vjp(case.input("r"), &case.ones::<Array1<f64>>());
        case.check(&value, &[("r", &r)]);
    });
}

#[differentiate]
fn nested_sums(r: f64) -> f64 {
    let phi = |x: f64, y: f64, z: f64| {
        let w = x * y.sin();
        z.atan2(w) + z * w
    };
    let psi = |x: f64, y: f64| {
        let w = phi(x, y, x) * y.sin();
        x.atan2(w) + y * w
    };
    let phi_build = |v: Array1<f64>| {
        let r = v.sum();
        let m = -maximum(&-&v);
        build1(3, |i| r * phi(3.0, 5.0 * r, r * m * m) + psi(r, v[i + 1]))
    };
    let nested_maps = |r: f64| {
        let v = build1(177, |_| r);
        let minima = build1(5, |i| -maximum(&build1(7, |j| -v[i + j])));
        minima.mapv(|d| {
            let psis = build1(3, |k| psi(d, v[k]));
            let above = phi_build(build1(4, |_| d) / d);
            let below = phi_build(build1(130, |_| d)) * d + 5.0;
            d * (psis + above / below).sum()
        })
    };
    let v = build1(7, |_| r);
    let s = v.sum();
    let maps = nested_maps(s);
    let parts = build1(13, |i| {
        let products = build1(4, |j| {
            let entry = if j == 0 {
                i as f64
            } else if j == 1 {
                36.0
            } else if j == 2 {
                6.0 * s
            } else {
                v[j]
            };
            s * entry
        });
        products.sum() + maps[i.min(4)]
    });
    48.0 * parts.sum()
}

#[test]
fn nested_builds_of_a_small_number() {
    Case::in_every_layout("horde-recycled", |case| {
        let (value, r) = nested_sums_value_and_grad(case.input("r"));
        case.check(&value, &[("r", &r)]);
    });
}

#[differentiate]
fn nested_maps_of_matrices(r: f64) -> Array1<f64> {
    let phi = |x: f64, y: f64, z: f64| {
        let w = x * y.sin();
        z.atan2(w) + z * w
    };
    let psi = |x: f64, y: f64| {
        let w = phi(x, y, x) * y.sin();
        x.atan2(w) + y * w
    };
    let phi_build = |v: Array1<f64>| {
        let r = v.sum();
        let m = -maximum(&-&v);
        build1(3, |i| r * phi(3.0, 5.0 * r, r * m) + psi(r, v[(i + 1).min(1)]))
    };
    build1(3, |_| {
        let above = phi_build(build1(4, |_| r) / r);
        let below = phi_build(build1(3, |_| r * r)) * r + 5.0;
        r * (psi(r, r) + above / below).sum()
    })
}

#[test]
fn the_same_build_three_times() {
    Case::in_every_layout("horde-nestedBuildMap10-8", |case| {
        let (value, r) = nested_maps_of_matrices_vjp(case.input("r"), &case.ones::<Array1<f64>>());
        case.check(&value, &[("r", &r)]);
    });
}

#[differentiate]
fn map_of_many(r: f64) -> f64 {
    let phi = |x: f64, y: f64, z: f64| {
        let w = x * y.sin();
        z.atan2(w) + z * w
    };
    let psi = |x: f64, y: f64| {
        let w = phi(x, y, x) * y.sin();
        x.atan2(w) + y * w
    };
    let v = build([4, 1080], |_| r * r);
    let sums = v.sum_axis(Axis(0));
    let m = -maximum(&-&v);
    let out = build([3, 1080], |[i, j]| {
        sums[j] * phi(3.0, 5.0 * sums[j], sums[j] * m) + psi(sums[j], v[[(i + 1).min(1), j]])
    });
    (out * r + 5.0).sum()
}

/// The case has rank 7: four parts of 1080 numbers.
#[test]
fn replicated_to_thousands() {
    Case::in_every_layout("horde-fooMap1-4320", |case| {
        let (value, r) = map_of_many_value_and_grad(case.input("r"));
        case.check(&value, &[("r", &r)]);
    });
}

#[differentiate]
fn chosen_rows(r: &Array1<f64>) -> f64 {
    let v = build1(4, |_| r.to_owned());
    let s = v.sum();
    let parts = build([13, 4, 2], |[i, j, k]| {
        let row = if j / 2 + i / 4 > 1 { 1 } else { 0 };
        if j == 0 {
            k as f64
        } else if j == 1 {
            9.0 * i as f64
        } else if j == 2 {
            v[[row, k]]
        } else {
            s
        }
    });
    48.0 * parts.sum()
}

#[test]
fn index_arithmetic_at_rank_three() {
    Case::in_every_layout("horde-recycled-5616", |case| {
        let (value, r) = chosen_rows_value_and_grad(&case.input("r"));
        case.check(&value, &[("r", &r)]);
    });
}

#[differentiate]
fn product_by_elements(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    build1(a.nrows(), |i| build1(b.ncols(), |j| build1(a.ncols(), |p| a[[i, p]] * b[[p, j]]).sum()))
}

#[test]
fn matrix_product_by_elements() {
    Case::in_every_layout("horde-matmul-paper", |case| {
        let cotangent: Array2<f64> = case.cotangent();
        let (value, (a, b)) = product_by_elements_vjp(&case.input("A"), &case.input("B"), &cotangent);
        case.check(&value, &[("A", &a), ("B", &b)]);
    });
}

#[differentiate]
fn stencil(a: &Array1<f64>, b: &Array1<f64>, c: &Array1<f64>) -> Array1<f64> {
    let n = a.len();
    build1(n, |i| {
        let right = if i + 1 < n { b[i + 1] } else { 0.0 };
        let left = if i > 0 { c[i - 1] } else { 0.0 };
        a[i] + right + left
    })
}

#[test]
fn stencil_with_edges() {
    Case::in_every_layout("horde-vstack-values-iota", |case| {
        let ones: Array1<f64> = case.ones();
        let (value, (a, b, c)) = stencil_vjp(&case.input("a"), &case.input("b"), &case.input("c"), &ones);
        case.check(&value, &[("a", &a), ("b", &b), ("c", &c)]);
    });
}

#[differentiate]
fn rows_or_constants(a: &Array2<f64>) -> Array2<f64> {
    let constants = build1(a.ncols(), |j| 10.0 + j as f64);
    build([3, a.ncols()], |[i, j]| {
        if i == 1 {
            a[[1, j]]
        } else if i == 2 {
            a[[3, j]]
        } else {
            constants[j]
        }
    })
}

#[test]
fn conditional_between_rows() {
    Case::in_every_layout("ksc-copydown-select", |case| {
        let (value, a) = rows_or_constants_vjp(&case.input("a"), &case.ones::<Array2<f64>>());
        case.check(&value, &[("a", &a)]);
    });
}
