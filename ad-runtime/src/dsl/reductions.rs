//! Reductions of arrays: sums, products and extrema, and functions that are computed with them.
//!
//! The functions take an array, a view, a slice, a `Vec` or a static array, in any memory layout;
//! the result does not depend on the layout.

use alloc::vec;
use alloc::vec::Vec;

use ndarray::{Dimension, Ix1};

use super::elements::{Elements, OuterRank};
use crate::Real;
use crate::kernel;

/// The sum of all elements; 0 if there is none.
///
/// The elements are added in a fixed order, which is not left to right (16 interleaved partial
/// sums).
///
/// ```
/// use ad_runtime::dsl::sum;
/// assert_eq!(sum(&ndarray::array![[1.0, 2.0], [3.0, 4.0]]), 10.0);
/// assert_eq!(sum(&vec![1.5_f32, 2.5]), 4.0);
/// assert_eq!(sum(&[0.0_f64; 0]), 0.0);
/// ```
#[must_use]
pub fn sum<X: Elements<Elem: Real> + ?Sized>(x: &X) -> X::Elem {
    kernel::sum(&x.contiguous())
}

/// The product of all elements, in row-major order; 1 if there is none.
///
/// ```
/// use ad_runtime::dsl::product;
/// assert_eq!(product(&[2.0, 3.0, 4.0]), 24.0);
/// ```
#[must_use]
pub fn product<X: Elements<Elem: Real> + ?Sized>(x: &X) -> X::Elem {
    kernel::product(&x.contiguous())
}

/// The largest element.
///
/// NaN behaves as in a chain of `f64::max`: it is ignored, unless all elements are NaN. The
/// derivative goes to the first of equal elements.
///
/// ```
/// use ad_runtime::dsl::maximum;
/// assert_eq!(maximum(&[1.0, 3.0, 2.0]), 3.0);
/// assert_eq!(maximum(&[f64::NAN, 3.0]), 3.0);
/// ```
///
/// # Panics
///
/// If there is no element.
#[track_caller]
#[must_use]
pub fn maximum<X: Elements<Elem: Real> + ?Sized>(x: &X) -> X::Elem {
    kernel::maximum(&x.contiguous())
}

/// The smallest element; NaN and ties as in [`maximum`].
///
/// ```
/// use ad_runtime::dsl::minimum;
/// assert_eq!(minimum(&[2.0, 1.0, 3.0]), 1.0);
/// ```
///
/// # Panics
///
/// If there is no element.
#[track_caller]
#[must_use]
pub fn minimum<X: Elements<Elem: Real> + ?Sized>(x: &X) -> X::Elem {
    kernel::minimum(&x.contiguous())
}

/// The square root of the sum of the squares of all elements; 0 if there is none. Squares may
/// overflow.
///
/// ```
/// use ad_runtime::dsl::norm;
/// assert_eq!(norm(&[3.0, 4.0]), 5.0);
/// ```
#[must_use]
pub fn norm<X: Elements<Elem: Real> + ?Sized>(x: &X) -> X::Elem {
    root(kernel::sum_of_squares(&x.contiguous()))
}

/// The square root of a value of a type parameter (the projection `X::Elem` has no methods of its
/// own).
fn root<F: Real>(x: F) -> F {
    // The derivative of a norm is 0 at 0.
    if x == F::zero() { x.without_derivative().sqrt() } else { x.sqrt() }
}

/// `ln(sum of exp(x))` over all elements, without overflow: the maximum is subtracted first.
///
/// The result is minus infinity if there are no elements or all are minus infinity, plus infinity
/// if an element is, and NaN if an element is NaN.
///
/// ```
/// use ad_runtime::dsl::logsumexp;
/// assert_eq!(logsumexp(&[1000.0, 1000.0]), 1000.0 + std::f64::consts::LN_2);
/// assert_eq!(logsumexp(&[f64::NEG_INFINITY; 2]), f64::NEG_INFINITY);
/// ```
#[must_use]
pub fn logsumexp<X: Elements<Elem: Real> + ?Sized>(x: &X) -> X::Elem {
    logsumexp_of(&x.contiguous())
}

fn logsumexp_of<F: Real>(x: &[F]) -> F {
    if x.iter().any(|v| v.is_nan()) {
        return F::nan();
    }
    if x.is_empty() {
        return F::neg_infinity();
    }
    let shift = kernel::maximum(x);
    if shift.is_infinite() {
        // The result is this infinity. Below, infinity minus infinity would be NaN.
        return shift;
    }
    let terms: Vec<F> = x.iter().map(|&v| (v - shift).exp()).collect();
    shift + kernel::sum(&terms).ln()
}

/// The sum over the first axis.
///
/// Shape: that of `x` without its first axis. For an array of rank 1 (or a slice) the result is a
/// number, the sum of the elements. If the first axis has size 0, the result is zero.
///
/// ```
/// use ad_runtime::dsl::sum_outer;
/// use ndarray::array;
/// assert_eq!(sum_outer(&array![[1.0, 2.0], [3.0, 4.0]]), array![4.0, 6.0]);
/// assert_eq!(sum_outer(&array![1.0, 2.0]), 3.0);
/// ```
#[must_use]
pub fn sum_outer<X>(x: &X) -> <X::Rank as OuterRank>::Lower<X::Elem>
where
    X: Elements<Elem: Real, Rank: OuterRank> + ?Sized,
{
    let dims = x.dims();
    let width = dims.slice()[1..].iter().product();
    dims.lower(sum_of_rows(&x.contiguous(), width))
}

/// The sum of the rows of a matrix of `width` columns. One column is added in the order of [`sum`].
fn sum_of_rows<F: Real>(data: &[F], width: usize) -> Vec<F> {
    if width == 1 {
        return vec![kernel::sum(data)];
    }
    let mut out = vec![F::zero(); width];
    kernel::column_sums(&mut out, data, true);
    out
}

/// The position of the largest element of an array of rank 1: the first one if several are equal.
/// NaN is ignored; the position is 0 if all elements are NaN.
///
/// ```
/// use ad_runtime::dsl::argmax;
/// assert_eq!(argmax(&ndarray::array![1.0, 3.0, 3.0]), 1);
/// ```
///
/// # Panics
///
/// If there is no element.
#[track_caller]
#[must_use]
pub fn argmax<X: Elements<Elem: Real, Rank = Ix1> + ?Sized>(x: &X) -> usize {
    kernel::argmax(&x.contiguous())
}

/// The position of the smallest element of an array of rank 1; ties and NaN as in [`argmax`].
///
/// ```
/// use ad_runtime::dsl::argmin;
/// assert_eq!(argmin(&[2.0, 1.0, 1.0]), 1);
/// ```
///
/// # Panics
///
/// If there is no element.
#[track_caller]
#[must_use]
pub fn argmin<X: Elements<Elem: Real, Rank = Ix1> + ?Sized>(x: &X) -> usize {
    kernel::argmin(&x.contiguous())
}

/// `exp(x)` divided by its sum along the last axis, without overflow.
///
/// Shape: that of `x`. A lane whose elements are all minus infinity becomes zero. A lane with a NaN
/// or plus infinity becomes NaN.
///
/// ```
/// use ad_runtime::dsl::softmax;
/// use ndarray::array;
/// let p = softmax(&array![[0.0, 0.0], [1000.0, 0.0]]);
/// assert_eq!(p, array![[0.5, 0.5], [1.0, 0.0]]);
/// ```
#[must_use]
pub fn softmax<X: Elements<Elem: Real, Rank: OuterRank> + ?Sized>(x: &X) -> X::Owned {
    let dims = x.dims();
    let width = dims.slice()[dims.ndim() - 1];
    let mut data = x.contiguous().into_owned();
    if width > 0 {
        data.chunks_exact_mut(width).for_each(softmax_lane);
    }
    x.with_elements(data)
}

/// The running sums along the last axis: element i is the sum of the first i + 1 elements, added
/// one after the other.
///
/// Shape: that of `x`.
///
/// ```
/// use ad_runtime::dsl::cumsum;
/// use ndarray::array;
/// assert_eq!(cumsum(&[1.0, 2.0, 4.0]), [1.0, 3.0, 7.0]);
/// assert_eq!(cumsum(&array![[1.0, 2.0], [3.0, 4.0]]), array![[1.0, 3.0], [3.0, 7.0]]);
/// ```
#[must_use]
pub fn cumsum<X: Elements<Elem: Real, Rank: OuterRank> + ?Sized>(x: &X) -> X::Owned {
    let dims = x.dims();
    let width = dims.slice()[dims.ndim() - 1];
    let elements = x.contiguous();
    let mut sums = elements.to_vec();
    kernel::cumsum(&mut sums, &elements, width);
    x.with_elements(sums)
}

/// Computes the softmax of one lane in place. The lane is not empty.
fn softmax_lane<F: Real>(lane: &mut [F]) {
    let shift = kernel::maximum(lane);
    if shift == F::neg_infinity() && !lane.iter().any(|v| v.is_nan()) {
        lane.fill(F::zero());
        return;
    }
    for v in lane.iter_mut() {
        *v = (*v - shift).exp();
    }
    let total = kernel::sum(lane);
    for v in lane {
        *v /= total;
    }
}
