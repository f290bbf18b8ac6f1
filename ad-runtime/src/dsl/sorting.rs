//! Sorting, searches in sorted arrays, and running products.

use alloc::vec::Vec;
use core::cmp::Ordering;

use ndarray::{Array1, Dimension, Ix1};

use super::elements::{Elements, OuterRank};
use crate::Real;

/// The order of two numbers. NaN comes last, and -0 is equal to 0.
fn compared<F: Real>(a: F, b: F) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// The positions of the elements in ascending order: `x[argsort(&x)[0]]` is the smallest one. Equal
/// elements keep their order, and NaN comes last.
///
/// Shape: (n) for x (n). No derivative goes through it: an order is discrete.
///
/// ```
/// use ad_runtime::dsl::argsort;
/// use ndarray::array;
/// assert_eq!(argsort(&[3.0, 1.0, 2.0, 1.0]), array![1, 3, 2, 0]);
/// ```
#[must_use]
pub fn argsort<X: Elements<Elem: Real, Rank = Ix1> + ?Sized>(x: &X) -> Array1<usize> {
    let elements = x.contiguous();
    let mut order: Vec<usize> = (0..elements.len()).collect();
    order.sort_by(|&i, &j| compared(elements[i], elements[j]));
    Array1::from_vec(order)
}

/// The elements in ascending order. Equal elements keep their order, and NaN comes last.
///
/// Shape: (n) for x (n). Derivative: element i has that of the element from which it comes.
///
/// ```
/// use ad_runtime::dsl::sort;
/// assert_eq!(sort(&[3.0, 1.0, 2.0]), [1.0, 2.0, 3.0]);
/// ```
#[must_use]
pub fn sort<X: Elements<Elem: Real, Rank = Ix1> + ?Sized>(x: &X) -> X::Owned {
    let mut elements = x.contiguous().into_owned();
    elements.sort_by(|&a, &b| compared(a, b));
    x.with_elements(elements)
}

/// The index of the first element of a sorted array that is not less than `v`, or the number of
/// elements if there is none.
///
/// It is a binary search, like `partition_point`. No derivative goes through it.
///
/// ```
/// use ad_runtime::dsl::searchsorted;
/// assert_eq!(searchsorted(&[1.0, 2.0, 4.0], 2.0), 1);
/// assert_eq!(searchsorted(&[1.0, 2.0, 4.0], 9.0), 3);
/// ```
#[must_use]
pub fn searchsorted<F: Real, X: Elements<Elem = F, Rank = Ix1> + ?Sized>(sorted: &X, v: F) -> usize {
    sorted.contiguous().partition_point(|&e| e < v)
}

/// The piecewise linear function through the points `(xs[i], ys[i])`, at `x`. `xs` is sorted.
///
/// Before the first point it is `ys[0]`, and from the last one on the last element of `ys`. The
/// derivative with respect to `x` is the slope of the line. At a point it is that of the line after
/// the point, and outside of the points it is 0.
///
/// Shape: `xs` and `ys` have one length.
///
/// # Panics
///
/// If there is no point, or if the lengths differ.
///
/// ```
/// use ad_runtime::dsl::interp;
/// let (xs, ys) = ([0.0, 1.0, 3.0], [10.0, 20.0, 0.0]);
/// assert_eq!(interp(2.0, &xs, &ys), 10.0);
/// assert_eq!(interp(-5.0, &xs, &ys), 10.0);
/// ```
#[must_use]
#[track_caller]
pub fn interp<F, X, Y>(x: F, xs: &X, ys: &Y) -> F
where
    F: Real,
    X: Elements<Elem = F, Rank = Ix1> + ?Sized,
    Y: Elements<Elem = F, Rank = Ix1> + ?Sized,
{
    let (xs, ys) = (xs.contiguous(), ys.contiguous());
    let n = xs.len();
    assert!(n == ys.len(), "interp: there are {n} places and {} values", ys.len());
    assert!(n > 0, "interp of an empty array");
    if x < xs[0] {
        ys[0]
    } else if x >= xs[n - 1] {
        ys[n - 1]
    } else {
        let k = xs.partition_point(|&e| e <= x).max(1).min(n - 1);
        let j = k.saturating_sub(1);
        ys[j] + (x - xs[j]) / (xs[k] - xs[j]) * (ys[k] - ys[j])
    }
}

/// The running products along the last axis: element i is the product of the first i + 1 elements.
///
/// Shape: that of `x`. The derivative does not divide, so it is right where an element is 0.
///
/// ```
/// use ad_runtime::dsl::cumprod;
/// use ndarray::array;
/// assert_eq!(cumprod(&[1.0, 2.0, 4.0]), [1.0, 2.0, 8.0]);
/// assert_eq!(cumprod(&array![[1.0, 2.0], [3.0, 4.0]]), array![[1.0, 2.0], [3.0, 12.0]]);
/// ```
#[must_use]
pub fn cumprod<X: Elements<Elem: Real, Rank: OuterRank> + ?Sized>(x: &X) -> X::Owned {
    let dims = x.dims();
    let width = dims.slice()[dims.ndim() - 1];
    let mut products = x.contiguous().into_owned();
    if width > 0 {
        for row in products.chunks_exact_mut(width) {
            for i in 1..width {
                row[i] *= row[i - 1];
            }
        }
    }
    x.with_elements(products)
}
