//! `sort`, `argsort`, `searchsorted`, `interp` and `cumprod`: values are the function's own, and
//! derivatives those of central differences and of closed forms.

#![allow(clippy::all, clippy::pedantic, reason = "programs as people write them")]

use ad::prelude::*;

#[differentiate(grad, jvp, hvp, hessian)]
fn weighted(x: &Array1<f64>) -> f64 {
    sort(x).iter().enumerate().map(|(i, v)| (i + 1) as f64 * v * v * v).sum::<f64>()
}

#[differentiate(vjp, jacobian)]
fn sorted(x: &Array1<f64>) -> Array1<f64> {
    sort(&x.mapv(|v| v * v))
}

#[test]
fn sorted_elements() {
    let x = array![0.5, -1.0, 2.0, 0.25];
    assert_eq!(weighted_value_and_grad(&x), (weighted(&x), array![9.0 * 0.25, 3.0, 48.0, 6.0 * 0.0625]));
    ad::check_grad!(weighted(&x));
    assert_eq!(sorted_vjp(&x, &array![1.0, 2.0, 3.0, 4.0]).0, array![0.0625, 0.25, 1.0, 4.0]);
    ad::check_grad!(sorted(&x));
}

#[test]
fn ties_and_nan() {
    let x = array![f64::NAN, 1.0, -0.0, 0.0, 1.0, f64::NEG_INFINITY];
    assert_eq!(argsort(&x), array![5, 2, 3, 1, 4, 0]);
    let (value, _) = sorted_vjp(&x, &Array1::zeros(6));
    assert!(value.iter().zip(&sorted(&x)).all(|(a, b)| a.to_bits() == b.to_bits()));
    let (_, gradient) = weighted_value_and_grad(&array![1.0, 1.0]);
    assert_eq!(gradient, array![3.0, 6.0]);
    assert_eq!(weighted_grad(&Array1::zeros(0)).len(), 0);
}

/// The area under a curve of points in any order.
#[differentiate(grad, hvp)]
fn area(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
    let order = argsort(x);
    (1..order.len()).map(|k| (x[order[k]] - x[order[k - 1]]) * (y[order[k]] + y[order[k - 1]]) * 0.5).sum::<f64>()
}

#[test]
fn an_order() {
    let (x, y) = (array![0.7, -0.2, 1.5, 0.1], array![1.0, 2.0, -0.5, 0.3]);
    assert_eq!(area_value_and_grad(&x, &y).0, area(&x, &y));
    ad::check_grad!(area(&x, &y));
}

#[differentiate(grad, hvp)]
fn at_points(t: &Array1<f64>, xs: &Array1<f64>, ys: &Array1<f64>) -> f64 {
    let at = t.mapv(|t| interp(t, xs, ys));
    (&at * &at).sum()
}

#[differentiate]
fn at_one(x: f64, xs: &[f64], ys: [f64; 3]) -> f64 {
    interp(x, xs, &ys) * x
}

#[test]
fn interpolation() {
    let (xs, ys) = (array![0.0, 1.0, 3.0, 3.5], array![1.0, -2.0, 0.5, 4.0]);
    let t = array![-1.0, 0.3, 2.0, 3.25, 9.0];
    assert_eq!(at_points_value_and_grad(&t, &xs, &ys).0, at_points(&t, &xs, &ys));
    ad::check_grad!(at_points(&t, &xs, &ys));
    let three = [0.0, 1.0, 3.0];
    // At a data point the slope is that of the line after it.
    assert_eq!(at_one_value_and_grad(1.0, &three, [0.0, 1.0, 5.0]).0, 1.0);
    assert_eq!(at_one_grad(1.0, &three, [0.0, 1.0, 5.0]).0, 3.0);
    assert_eq!(at_one_grad(5.0, &three, [0.0, 1.0, 5.0]), (5.0, vec![0.0; 3], [0.0, 0.0, 5.0]));
    assert_eq!(interp(2.0, &[1.0], &[7.0]), 7.0);
    assert_eq!(interp(f64::NAN, &[1.0], &[7.0]).is_nan(), at_one(f64::NAN, &three, [0.0; 3]).is_nan());
}

#[test]
#[should_panic(expected = "interp of an empty array")]
fn no_points() {
    let _ = at_points_grad(&array![1.0], &Array1::zeros(0), &Array1::zeros(0));
}

/// The sum of what is below a bound, and a step of a search.
#[differentiate]
fn below(x: &Array1<f64>, bound: f64) -> f64 {
    let sorted = sort(x);
    let k = searchsorted(&sorted, bound);
    sorted.slice(s![..k]).iter().map(|v| v * v).sum::<f64>() + bound * k as f64
}

#[differentiate]
fn bins(x: &Array1<f64>, edges: &[f64], w: &Array1<f64>) -> f64 {
    build1(x.len(), |i| w[searchsorted(edges, x[i])] * x[i]).sum()
}

#[test]
fn searches() {
    let x = array![0.7, -0.2, 1.5, 0.1];
    assert_eq!(below_value_and_grad(&x, 0.5), (below(&x, 0.5), (array![0.0, -0.4, 0.0, 0.2], 2.0)));
    let (edges, w) = ([0.0, 0.5, 1.0], array![1.0, 2.0, 3.0, 4.0]);
    assert_eq!(bins_value_and_grad(&x, &edges, &w).0, bins(&x, &edges, &w));
    assert_eq!(bins_grad(&x, &edges, &w).0, array![3.0, 1.0, 4.0, 2.0]);
}

#[differentiate(grad, jvp, hvp, hessian)]
fn products(x: &Array1<f64>) -> f64 {
    cumprod(x).iter().enumerate().map(|(i, p)| (i + 1) as f64 * p * p).sum::<f64>()
}

#[differentiate(vjp, jvp)]
fn rows_of_products(x: &Array2<f64>) -> Array2<f64> {
    cumprod(&x.mapv(|v| v * v - 0.5))
}

#[test]
fn running_products() {
    let x = array![0.5, -1.0, 2.0, 0.25];
    assert_eq!(products_value_and_grad(&x).0, products(&x));
    ad::check_grad!(products(&x));
    let zeros = array![2.0, 0.0, 3.0, 0.0];
    assert_eq!(products_grad(&zeros), array![4.0, 0.0, 0.0, 0.0]);
    ad::check_grad!(products(&zeros));
    let m = array![[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]];
    assert_eq!(rows_of_products_vjp(&m, &m).0, rows_of_products(&m));
    ad::check_grad!(rows_of_products(&m));
    ad::check_grad!(rows_of_products(&m.t().to_owned()));
}

#[differentiate]
fn generic<T: Real>(x: &Array1<T>, t: T) -> T {
    let s = sort(x);
    interp(t, &s, &cumprod(x)) + s[0] * T::lit(2.0)
}

#[test]
fn single_precision() {
    let (by_x, by_t) = generic_grad(&array![1.0_f32, 0.0, 2.0], 0.5);
    let (in_doubles, t) = generic_grad(&array![1.0_f64, 0.0, 2.0], 0.5);
    assert_eq!((by_x.mapv(f64::from), f64::from(by_t)), (in_doubles, t));
}

/// Sorting in a build and in a loop.
#[differentiate]
fn inside(x: &Array2<f64>) -> f64 {
    let medians = build1(x.nrows(), |i| sort(&x.row(i))[x.ncols() / 2]);
    let mut y = x.row(0).to_owned();
    for k in 0..3 {
        y = sort(&(&y * &x.row(1))) * (k as f64 + 0.5);
    }
    (&medians * &medians).sum() + y[0]
}

#[test]
fn in_builds_and_loops() {
    let x = array![[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]];
    assert_eq!(inside_value_and_grad(&x).0, inside(&x));
    ad::check_grad!(inside(&x));
}
