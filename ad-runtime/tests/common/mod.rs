//! What the tests share: random arrays, and one array in many memory layouts.

#![allow(dead_code, reason = "each test file uses its part")]

use ndarray::{Array, Array1, Array2, Array3, Axis, Dimension, ShapeBuilder, Slice};
use proptest::prelude::*;

/// `n` numbers between -4 and 4.
pub(crate) fn numbers(n: usize) -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(-4.0..4.0_f64, n)
}

/// Arrays of rank 1 of 0 to `n` numbers.
pub(crate) fn array1(n: usize) -> impl Strategy<Value = Array1<f64>> {
    (0..=n).prop_flat_map(numbers).prop_map(Array1::from_vec)
}

/// Arrays of rank 2 of sizes 0 to `n`.
pub(crate) fn array2(n: usize) -> impl Strategy<Value = Array2<f64>> {
    (0..=n, 0..=n).prop_flat_map(|s| numbers(s.0 * s.1).prop_map(move |v| Array2::from_shape_vec(s, v).unwrap()))
}

/// Arrays of rank 3 of sizes 0 to `n`.
pub(crate) fn array3(n: usize) -> impl Strategy<Value = Array3<f64>> {
    (0..=n, 0..=n, 0..=n)
        .prop_flat_map(|s| numbers(s.0 * s.1 * s.2).prop_map(move |v| Array3::from_shape_vec(s, v).unwrap()))
}

/// The same array, laid out in memory in different ways: standard, column by column, every axis
/// reversed, every axis with a stride of two between NaNs, and the first axis reversed with gaps.
pub(crate) fn layouts<D: Dimension>(x: &Array<f64, D>) -> Vec<(&'static str, Array<f64, D>)> {
    let mut columns = Array::from_elem(x.raw_dim().f(), f64::NAN);
    columns.assign(x);
    let mut reversed = Array::from_elem(x.raw_dim(), f64::NAN);
    for axis in 0..x.ndim() {
        reversed.invert_axis(Axis(axis));
    }
    reversed.assign(x);
    let mut doubled = x.raw_dim();
    doubled.slice_mut().iter_mut().for_each(|n| *n *= 2);
    let mut strided = Array::from_elem(doubled.clone(), f64::NAN);
    strided.slice_each_axis_inplace(|_| Slice::new(0, None, 2));
    strided.assign(x);
    let mut both = Array::from_elem(doubled, f64::NAN);
    both.slice_each_axis_inplace(|a| Slice::new(0, None, if a.axis == Axis(0) { -2 } else { 2 }));
    both.assign(x);
    vec![
        ("standard", x.clone()),
        ("columns", columns),
        ("reversed", reversed),
        ("strided", strided),
        ("reversed and strided", both),
    ]
}

/// Whether two numbers agree up to the rounding of a sum of `n` terms of size up to `scale`.
pub(crate) fn close(a: f64, b: f64, n: usize, scale: f64) -> bool {
    #[allow(clippy::cast_precision_loss, reason = "small counts")]
    let steps = n as f64 + 4.0;
    (a - b).abs() <= f64::EPSILON * steps * scale
}
