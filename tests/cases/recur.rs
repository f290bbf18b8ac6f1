//! Folds and scans.

use ad::prelude::*;

use super::{Case, differentiate};

#[differentiate]
fn none(x: f64) -> f64 {
    fold(x, &build1(0, |_| x), |acc: f64, _| acc.sin())
}

#[test]
fn no_items() {
    Case::in_every_layout("horde-fold0", |case| {
        let (value, x) = none_value_and_grad(case.input("x"));
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn angles(a: f64) -> f64 {
    fold(2.0 * a, &array![a, a, a], |acc: f64, e: f64| acc.sin().atan2(e.sin()))
}

#[test]
fn accumulator_and_item() {
    Case::in_every_layout("horde-fold-atan2", |case| {
        let (value, a) = angles_value_and_grad(case.input("a"));
        case.check(&value, &[("a", &a)]);
    });
}

#[differentiate]
fn matrices(a: f64) -> Array2<f64> {
    fold(Array2::from_elem((2, 5), 2.0 * a), &array![a, a, a], |acc: Array2<f64>, e: f64| {
        let sums = acc.mapv(f64::sin).sum_axis(Axis(1));
        build([2, 5], |[i, _]| sums[i].atan2((7.0 * e).sin()))
    })
}

#[test]
fn a_matrix_is_carried() {
    Case::in_every_layout("horde-fold8", |case| {
        let (value, a) = matrices_vjp(case.input("a"), &case.ones::<Array2<f64>>());
        case.check(&value, &[("a", &a)]);
    });
}

#[differentiate]
fn four_deep(x: f64) -> f64 {
    fold(x, &array![x, x], |p: f64, a: f64| {
        fold(a, &array![p], |q: f64, b: f64| {
            fold(b, &array![q, q], |r: f64, c: f64| fold(c, &array![r], |s: f64, d: f64| 0.1 * s * d))
        })
    })
}

#[test]
fn folds_in_folds() {
    Case::in_every_layout("horde-fold-nested4", |case| {
        let (value, x) = four_deep_value_and_grad(case.input("x"));
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn five_deep(x: f64) -> f64 {
    let none = |y: f64| build1(0, |_| y);
    fold(x, &none(x), |p: f64, a: f64| {
        fold(a, &none(p), |q: f64, b: f64| {
            fold(b, &none(q), |r: f64, c: f64| {
                fold(c, &none(r), |s: f64, d: f64| fold(d, &none(s), |t: f64, e: f64| 0.1 * t * e))
            })
        })
    })
}

#[test]
fn no_items_in_folds_in_folds() {
    Case::in_every_layout("horde-fold-nested-empty", |case| {
        let (value, x) = five_deep_value_and_grad(case.input("x"));
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn deep(x: f64) -> Array1<f64> {
    let k = |p: f64, q: f64| {
        let sums = scanl(p, &array![q, q, q], |s: f64, t: f64| s + t);
        fold(q, &sums, |p: f64, q: f64| 0.001 * (p * q - p))
    };
    let h = |p: f64, q: f64| fold(p, &array![q], k);
    fold(build1(3, |_| 2.0 * x), &array![x, x], |v: Array1<f64>, a: f64| {
        let factors = scanl(2.0, &array![a], |s: f64, t: f64| s * t);
        let sums = scanl(v[0] + v[1] + v[2], &factors, |s: f64, t: f64| s + t);
        let differences = scanl(0.0, &array![v[0]], |s: f64, t: f64| s - t);
        let folded = scanl(a, &differences, h);
        build1(3, |i| sums[i].atan2(folded[i]))
    })
}

#[test]
fn scans_in_folds() {
    Case::in_every_layout("horde-fold-scan-deep", |case| {
        let (value, x) = deep_vjp(case.input("x"), &case.ones::<Array1<f64>>());
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn scaled_product(v: &Array1<f64>, c: f64) -> f64 {
    fold(1.0, v, |acc: f64, e: f64| acc * e * c)
}

#[test]
fn a_step_that_captures() {
    Case::in_every_layout("ksc-fold-prod", |case| {
        let (value, (v, c)) = scaled_product_value_and_grad(&case.input("v"), case.input("c"));
        case.check(&value, &[("v", &v), ("c", &c)]);
    });
}

#[differentiate]
fn all_matrices(a: f64) -> Array3<f64> {
    scanl(Array2::from_elem((2, 5), 2.0 * a), &array![a, a, a], |acc: Array2<f64>, e: f64| {
        let sums = acc.mapv(f64::sin).sum_axis(Axis(1));
        build([2, 5], |[i, _]| sums[i].atan2((7.0 * e).sin()))
    })
}

#[test]
fn all_matrices_that_are_carried() {
    Case::in_every_layout("horde-scan8", |case| {
        let (value, a) = all_matrices_vjp(case.input("a"), &case.ones::<Array3<f64>>());
        case.check(&value, &[("a", &a)]);
    });
}

#[differentiate]
fn sines(x: f64) -> Array1<f64> {
    scanl(x, 0..5, |acc: f64, _| acc.sin())
}

#[test]
fn scan_of_a_range() {
    Case::in_every_layout("horde-scan-sin5", |case| {
        let (value, x) = sines_vjp(case.input("x"), &case.ones::<Array1<f64>>());
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn matrix_items(a: f64) -> Array1<f64> {
    scanl(2.0 * a, &Array3::from_elem((3, 8, 3), a), |acc: f64, e: ArrayView2<'_, f64>| {
        5.0 * acc.sin().atan2(7.0 * (2.0 * e.sum()).sin())
    })
}

#[test]
fn items_that_are_matrices() {
    Case::in_every_layout("horde-scanzip-nested-sum", |case| {
        let (value, a) = matrix_items_vjp(case.input("a"), &case.ones::<Array1<f64>>());
        case.check(&value, &[("a", &a)]);
    });
}

/// The carried value and the output of a step are the two columns.
#[differentiate]
fn last_carried(x: f64) -> f64 {
    let steps = scan(array![x, 0.0], 0..7, |s: Array1<f64>, _| array![s[0].sin(), s[0].sin()]);
    steps[[6, 0]]
}

#[test]
fn last_of_what_is_carried() {
    Case::in_every_layout("horde-mapaccum-final", |case| {
        let (value, x) = last_carried_value_and_grad(case.input("x"));
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn backwards_in_build(x: f64) -> Array3<f64> {
    let steps = build1(2, |i| {
        build1(2, |j| {
            scanr(array![x / (1.0 + j as f64), 0.0], &array![0.4, i as f64], |s: Array1<f64>, e: f64| {
                array![s[0].sin() - e, 1.0 - s[0].sin() / 3.0 - e]
            })
        })
    });
    build([2, 2, 2], |[i, j, k]| 2.0 - steps[[j, k, 0, 0]] - steps[[i, j, k, 1]])
}

#[test]
fn scans_from_the_right_in_a_build() {
    Case::in_every_layout("horde-mapaccum-in-build", |case| {
        let (value, x) = backwards_in_build_vjp(case.input("x"), &case.ones::<Array3<f64>>());
        case.check(&value, &[("x", &x)]);
    });
}

/// Nothing is carried: a map whose steps return tuples.
#[differentiate]
fn nothing_carried(v: &Array1<f64>) -> Array2<f64> {
    let s = Array1::from_elem(3, 2_f64.sin());
    let a = array![-0.1, 0.23];
    let b = array![[v[1], -0.01, -0.3], [v.sum(), 0.5, 1.3]];
    let step = |k: usize| {
        let row = b.row(k);
        let p = 1.0 - (&s - &row).sum();
        let q = 1.0 - a[k] - &s / 3.0 - (row[1] - argmax(&row) as f64);
        (p, q)
    };
    build1(2, |k| {
        let (p, q) = step(k);
        2.0 - replicate(7, p).sum() - q
    })
}

#[test]
fn nothing_is_carried() {
    Case::in_every_layout("horde-mapaccum-noacc", |case| {
        let (value, v) = nothing_carried_vjp(&case.input("v"), &case.ones::<Array2<f64>>());
        case.check(&value, &[("v", &v)]);
    });
}

/// Each step changes one element of the array that it carries.
#[differentiate]
fn cumulative_by_fold(v: &Array1<f64>) -> Array1<f64> {
    let n = v.len();
    let (sums, _) = fold((Array1::zeros(n), 0.0), 0..n, |(sums, s): (Array1<f64>, f64), i| {
        let s = s + v[i];
        (build1(n, |k| if k == i { s } else { sums[k] }), s)
    });
    sums
}

#[differentiate]
fn cumulative_by_scan(v: &Array1<f64>) -> Array1<f64> {
    scan(0.0, v, |s: f64, e: f64| s + e)
}

#[test]
fn cumulative_sum() {
    Case::in_every_layout("ksc-cumsum", |case| {
        let cotangent: Array1<f64> = case.cotangent();
        let (value, v) = cumulative_by_fold_vjp(&case.input("v"), &cotangent);
        case.check(&value, &[("v", &v)]);
        let (value, v) = cumulative_by_scan_vjp(&case.input("v"), &cotangent);
        case.check(&value, &[("v", &v)]);
    });
}
