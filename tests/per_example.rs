//! `per_example`: the gradient for each of many examples is that of a loop of gradients, whatever
//! the parameters of an example are.

#![deny(warnings, clippy::all, clippy::pedantic)]
#![allow(
    clippy::needless_pass_by_value,
    clippy::needless_borrows_for_generic_args,
    reason = "arguments are passed in all the ways that are accepted"
)]

use ad::ndarray::Axis;
use ad::prelude::*;

fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(state >> 33).unwrap()) / f64::from(1_u32 << 31) - 0.5
    };
    (0..n).map(|_| next()).collect()
}

fn matrix(n: usize, m: usize, seed: u64) -> Array2<f64> {
    Array2::from_shape_vec((n, m), numbers(n * m, seed)).unwrap()
}

fn vector(n: usize, seed: u64) -> Array1<f64> {
    numbers(n, seed).into()
}

#[track_caller]
fn near<'a, 'b>(found: impl IntoIterator<Item = &'a f64>, expected: impl IntoIterator<Item = &'b f64>) {
    let (found, expected): (Vec<&f64>, Vec<&f64>) = (found.into_iter().collect(), expected.into_iter().collect());
    assert_eq!(found.len(), expected.len());
    for (k, (a, b)) in found.into_iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 1e-13 * b.abs().max(1.0), "{k}: {a} instead of {b}");
    }
}

#[differentiate(grad, per_example(x, y), wrt(w))]
fn logistic(w: &Array1<f64>, x: ArrayView1<f64>, y: f64) -> f64 {
    softplus(w.dot(&x)) - y * w.dot(&x)
}

#[test]
fn each_example_has_the_gradient_of_one() {
    let (w, x, y) = (vector(5, 1), matrix(7, 5, 2), vector(7, 3));
    let (values, gradients) = logistic_value_and_grad_each(&w, x.view(), y.view());
    assert_eq!(gradients.dim(), (7, 5));
    for i in 0..7 {
        let (value, gradient) = logistic_value_and_grad(&w, x.row(i), y[i]);
        near(&[values[i]], &[value]);
        near(gradients.row(i), &gradient);
    }
    // Whatever a view can be made of is taken.
    assert_eq!(logistic_grad_each(&w, &x, &y), gradients);
    assert_eq!(logistic_grad_each(&w, &x.view(), y.as_slice().unwrap()), gradients);
    ad::check_grad!(logistic(&w, x.row(0), y[0]));
    ad::check_grad!(logistic(&w, x.row(0), y[0]), per_example);
}

#[test]
fn no_examples_have_no_gradients() {
    let w = vector(5, 1);
    let (values, gradients) = logistic_value_and_grad_each(&w, &Array2::zeros((0, 5)), &Array1::zeros(0));
    assert_eq!((values.len(), gradients.dim()), (0, (0, 5)));
}

/// A network of one hidden layer, with a class as label.
#[differentiate(grad, per_example(x, label))]
fn net(a: &Array2<f64>, b: &Array1<f64>, c: &Array2<f64>, x: &Array1<f64>, label: usize) -> f64 {
    let hidden = (a.dot(x) + b).mapv(f64::tanh);
    let scores = c.dot(&hidden);
    logsumexp(&scores) - scores[label]
}

#[test]
fn a_network_with_labels() {
    let (a, b, c) = (matrix(6, 4, 1), vector(6, 2), matrix(3, 6, 3));
    let (x, labels) = (matrix(9, 4, 4), [0, 1, 2, 2, 1, 0, 0, 1, 2]);
    let (values, (da, db, dc)) = net_value_and_grad_each(&a, &b, &c, &x, &labels);
    assert_eq!((da.dim(), db.dim(), dc.dim()), ((9, 6, 4), (9, 6), (9, 3, 6)));
    for (i, &label) in labels.iter().enumerate() {
        let row = x.row(i).to_owned();
        let (value, (ea, eb, ec, _)) = net_value_and_grad(&a, &b, &c, &row, label);
        near(&[values[i]], &[value]);
        near(da.index_axis(Axis(0), i), &ea);
        near(db.row(i), &eb);
        near(dc.index_axis(Axis(0), i), &ec);
    }
    ad::check_grad!(net(&a, &b, &c, &x.row(3).to_owned(), 1), per_example);
}

#[test]
#[should_panic(expected = "net: index out of range")]
fn a_label_of_one_example_out_of_range() {
    let (a, b, c) = (matrix(6, 4, 1), vector(6, 2), matrix(3, 6, 3));
    let _ = net_grad_each(&a, &b, &c, &matrix(2, 4, 4), &[0, 3]);
}

/// A recurrence over the steps of an example, under a branch that depends on it.
#[differentiate(grad, per_example(series, kind), wrt(w, decay))]
fn recurrent(w: &Array2<f64>, decay: f64, series: ArrayView2<f64>, kind: bool) -> f64 {
    let mut state = Array1::<f64>::zeros(w.nrows());
    for t in 0..series.nrows() {
        state = (w.dot(&state) * decay + series.row(t)).mapv(f64::tanh);
    }
    if kind { state.sum() } else { state.dot(&state).sqrt() }
}

#[test]
fn a_recurrence() {
    let (w, series) = (matrix(3, 3, 1), vector(4 * 5 * 3, 2).into_shape_with_order((4, 5, 3)).unwrap());
    let kinds = [true, false, false, true];
    let (values, (dw, dd)) = recurrent_value_and_grad_each(&w, 0.9, &series, &kinds);
    for (i, &kind) in kinds.iter().enumerate() {
        let (value, (ew, ed)) = recurrent_value_and_grad(&w, 0.9, series.index_axis(Axis(0), i), kind);
        near(&[values[i]], &[value]);
        near(dw.index_axis(Axis(0), i), &ew);
        near(&[dd[i]], &[ed]);
    }
    ad::check_grad!(recurrent(&w, 0.9, series.index_axis(Axis(0), 1), false), per_example);
}

/// Steps that write elements, at places that an example decides.
#[differentiate(grad, per_example(x, order))]
fn written(w: &[f64], x: &[f64], order: &[usize]) -> f64 {
    let mut y = x.to_vec();
    for &k in order {
        y[k] = (y[k] * w[k]).sin() + y[0];
    }
    y.iter().sum()
}

#[test]
fn elements_that_are_written() {
    let (w, x, order) = (numbers(4, 1), matrix(3, 4, 2), [[0, 1, 3, 3, 2], [3, 0, 0, 1, 1], [2, 2, 2, 2, 2]]);
    let found = written_grad_each(&w, &x, &order);
    for (i, order) in order.iter().enumerate() {
        let row = x.row(i).to_vec();
        near(found.row(i), &written_grad(&w, &row, order).0);
    }
    ad::check_grad!(written(&w, &[0.1, 0.2, 0.3, 0.4], &[1, 2, 0]), per_example);
}

#[differentiate(grad, per_example(point, weight))]
fn of_static<T: Real, const N: usize>(center: &[T; N], scale: T, mut point: [T; N], weight: &T) -> T {
    for k in 0..N {
        point[k] -= center[k];
    }
    let mut sum = T::lit(0.0);
    for x in point {
        sum += x * x * scale;
    }
    if sum > T::lit(1.0) { sum.sqrt() * *weight } else { sum }
}

#[test]
fn static_arrays_and_generic_numbers() {
    let (center, points, weights) = ([0.1, -0.2], [[0.0, 1.0], [2.0, 3.0], [0.5, 0.5]], [1.0, 2.0, 3.0]);
    let (dc, ds) = of_static_grad_each(&center, 2.0, &points, &weights);
    for i in 0..3 {
        let (ec, es, ..) = of_static_grad(&center, 2.0, points[i], &weights[i]);
        near(dc.row(i), &ec);
        near(&[ds[i]], &[es]);
    }
    let single = of_static_grad_each(&[0.1_f32, -0.2], 2.0, &[[0.0, 1.0]], &[1.0]).0;
    assert_eq!(single.dim(), (1, 2));
    ad::check_grad!(of_static(&center, 2.0, points[1], &1.5), per_example);
}

#[test]
#[should_panic(expected = "of_static: shapes differ (axis 1 of `point` = 3, the type of one `point` = 2)")]
fn a_row_that_is_longer_than_the_type() {
    let _ = of_static_grad_each(&[0.0, 0.0], 1.0, &[[0.0, 1.0, 2.0]], &[1.0]);
}

#[test]
#[should_panic(expected = "logistic: shapes differ (the examples in `x` = 3, the examples in `y` = 2)")]
fn different_numbers_of_examples() {
    let _ = logistic_grad_each(&vector(5, 1), &matrix(3, 5, 1), &vector(2, 1));
}

#[test]
#[should_panic(expected = "logistic: shapes differ")]
fn different_numbers_of_columns() {
    let _ = logistic_grad_each(&vector(5, 1), &matrix(3, 4, 1), &vector(3, 1));
}

/// An arm that is not taken contributes nothing to the others.
#[differentiate(grad, per_example(x), wrt(w))]
fn guarded(w: f64, x: f64) -> f64 {
    if x > 0.0 { (w * x).ln() } else { w * w }
}

#[test]
fn arms_that_are_not_taken() {
    let x = [1.0, 0.0, -2.0];
    assert_eq!(guarded_grad_each(2.0, &x), array![0.5, 4.0, 4.0]);
}

/// Lists of points. The type of a point states the number of its coordinates.
#[differentiate(grad, per_example(points))]
fn spread(center: [f64; 2], points: &[[f64; 2]]) -> f64 {
    points.iter().map(|p| (p[0] - center[0]).powi(2) * (p[1] - center[1])).sum()
}

#[test]
fn slices_of_static_arrays() {
    let points = vector(3 * 4 * 2, 5).into_shape_with_order((3, 4, 2)).unwrap();
    let found = spread_grad_each([0.1, 0.2], &points);
    for i in 0..3 {
        let list: Vec<[f64; 2]> = points.index_axis(Axis(0), i).outer_iter().map(|p| [p[0], p[1]]).collect();
        near(found.row(i), &spread_grad([0.1, 0.2], &list).0);
    }
    ad::check_grad!(spread([0.1, 0.2], &[[0.3, 0.4], [1.0, 2.0]]), per_example);
}

/// Between the arguments and the gradient are arrays that are much larger than both: the examples
/// are taken in blocks.
#[differentiate(grad, per_example(x), wrt(w))]
fn pairs(w: &Array1<f64>, x: f64) -> f64 {
    let d = &w.view().insert_axis(Axis(1)) - w;
    let e = d.mapv(|d| (d * x).sin());
    e.dot(&e).sum()
}

#[test]
fn large_intermediates_are_taken_in_blocks() {
    let (w, x) = (vector(70, 3), vector(5, 4));
    let found = pairs_grad_each(&w, &x);
    for i in 0..5 {
        near(found.row(i), &pairs_grad(&w, x[i]));
    }
}
