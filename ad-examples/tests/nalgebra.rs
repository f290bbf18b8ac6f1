//! Vectors and matrices of nalgebra as arguments of differentiated functions, without copies.

use ad::ndarray::ShapeBuilder;
use ad::prelude::*;
use nalgebra::{DMatrix, DVector};

/// The squared error of a linear model; gradients go to memory of the caller.
#[differentiate(into, wrt(w))]
fn loss(x: ArrayView2<'_, f64>, w: &[f64], y: &[f64]) -> f64 {
    let error = |i: usize| (0..w.len()).map(|k| x[[i, k]] * w[k]).sum::<f64>() - y[i];
    (0..y.len()).map(|i| error(i) * error(i)).sum()
}

/// The sum of the weighted squares of a matrix.
#[differentiate(wrt(a))]
fn squares(a: ArrayView2<'_, f64>, weights: &[f64]) -> f64 {
    (0..a.nrows()).map(|i| weights[i] * a.row(i).dot(&a.row(i))).sum()
}

/// A matrix of nalgebra as a view. Its columns are contiguous, which ndarray says by `f`.
fn view(m: &DMatrix<f64>) -> ArrayView2<'_, f64> {
    ArrayView2::from_shape(m.shape().f(), m.as_slice()).expect("as many elements as the shape says")
}

#[test]
fn vectors_are_slices_in_both_directions() {
    let x = DMatrix::from_fn(5, 3, |i, k| ((i * 3 + k) as f64).sin());
    let (w, y) = (DVector::from_vec(vec![0.5, -1.0, 2.0]), DVector::from_fn(5, |i, _| i as f64));
    let mut gradient = DVector::zeros(3);
    let value = loss_value_and_grad_into(view(&x), w.as_slice(), y.as_slice(), gradient.as_mut_slice());
    let error = &x * &w - &y;
    assert!((value - error.norm_squared()).abs() < 1e-12);
    assert!((gradient - 2.0 * x.transpose() * error).norm() < 1e-12);
}

#[test]
fn matrices_are_views() {
    let a = DMatrix::from_fn(2, 3, |i, k| (i as f64) - 0.5 * k as f64);
    let (value, gradient) = squares_value_and_grad(view(&a), &[1.0, 3.0]);
    // A gradient is in standard layout: its rows are contiguous.
    let gradient = DMatrix::from_row_iterator(2, 3, gradient);
    let weights = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 3.0]));
    assert!((value - (a.transpose() * &weights * &a).trace()).abs() < 1e-12);
    assert!((gradient - 2.0 * weights * a).norm() < 1e-12);
}
