//! Arrays made element by element, and elements moved between arrays.

use alloc::vec;
use alloc::vec::Vec;

use ndarray::{Array, Array1, ArrayRef, Dim};

use super::elements::{Rank, dim};
use super::stackable::{Stack, Stackable};
use crate::Real;
use crate::kernel::assemble;

/// The number of elements of a shape.
///
/// # Panics
///
/// If an array of this shape does not fit into memory.
#[track_caller]
fn size<const N: usize>(shape: [usize; N]) -> usize {
    // ndarray refuses a shape whose sizes other than zero multiply to too much, even if the array
    // is empty.
    let strides = shape.iter().filter(|&&n| n > 0).try_fold(1_usize, |product, &n| product.checked_mul(n));
    match strides {
        Some(size) if isize::try_from(size).is_ok() => shape.iter().product(),
        _ => panic!("an array of shape {shape:?} has too many elements"),
    }
}

/// Every index of the shape, in row-major order.
fn indices<const N: usize>(shape: [usize; N]) -> impl Iterator<Item = [usize; N]> {
    let first = (!shape.contains(&0)).then_some([0; N]);
    core::iter::successors(first, move |&index| {
        // The last axis changes fastest. An axis at its end starts again at 0, and the axis before
        // it advances.
        let mut next = index;
        for axis in (0..N).rev() {
            next[axis] += 1;
            if next[axis] < shape[axis] {
                return Some(next);
            }
            next[axis] = 0;
        }
        None
    })
}

/// The array whose element i is `f(i)`, for i from 0 to n - 1.
///
/// Shape: n, followed by the shape of the elements, which are scalars or arrays of rank 0 to 5. If
/// n is 0, the shape of the elements is not known and all sizes are 0.
///
/// ```
/// use ad_runtime::dsl::build1;
/// use ndarray::array;
/// let x = array![1.0, 2.0, 3.0];
/// assert_eq!(build1(2, |i| x[i + 1] - x[i]), array![1.0, 1.0]);
/// assert_eq!(build1(2, |i| build1(2, |j| x[i] * x[j])), array![[1.0, 2.0], [2.0, 4.0]]);
/// ```
///
/// # Panics
///
/// If two elements have different shapes, or if `f` panics.
#[track_caller]
pub fn build1<E: Stackable>(n: usize, f: impl Fn(usize) -> E) -> E::Stacked {
    let mut out = Stack::with_capacity(n);
    for i in 0..n {
        out.push(&f(i));
    }
    out.finish()
}

/// The array of this shape whose element at the index `ix` is `f(ix)`, for a shape of rank 0 to 6.
///
/// ```
/// use ad_runtime::dsl::build;
/// use ndarray::array;
/// assert_eq!(build([2, 3], |[i, j]| 10 * i + j), array![[0, 1, 2], [10, 11, 12]]);
/// ```
///
/// # Panics
///
/// If `f` panics, or if an array of this shape does not fit into memory.
#[track_caller]
pub fn build<A, const N: usize>(shape: [usize; N], f: impl Fn([usize; N]) -> A) -> Array<A, Dim<[usize; N]>>
where
    Dim<[usize; N]>: Rank,
{
    let mut data = Vec::with_capacity(size(shape));
    data.extend(indices(shape).map(f));
    assemble(shape, data)
}

/// `[0, 1, ..., n - 1]`.
///
/// ```
/// assert_eq!(ad_runtime::dsl::iota(3), ndarray::array![0, 1, 2]);
/// ```
#[must_use]
pub fn iota(n: usize) -> Array1<usize> {
    Array1::from_iter(0..n)
}

/// `x`, n times along a new first axis.
///
/// Shape: n, followed by the shape of `x` (also where n is 0).
///
/// ```
/// use ad_runtime::dsl::replicate;
/// use ndarray::array;
/// assert_eq!(replicate(2, 0.5), array![0.5, 0.5]);
/// assert_eq!(replicate(2, array![1.0, 2.0]), array![[1.0, 2.0], [1.0, 2.0]]);
/// ```
///
/// # Panics
///
/// If the array would have more elements than ndarray allows.
#[track_caller]
pub fn replicate<E: Stackable>(n: usize, x: E) -> E::Stacked {
    let mut out = Stack::with_capacity(n);
    out.expect_shape(&x);
    for _ in 0..n {
        out.push(&x);
    }
    out.finish()
}

/// n numbers: 1 at `i`, 0 elsewhere.
///
/// ```
/// assert_eq!(ad_runtime::dsl::one_hot::<f64>(3, 1), ndarray::array![0.0, 1.0, 0.0]);
/// ```
///
/// # Panics
///
/// If `i` is not less than `n`.
#[track_caller]
#[must_use]
pub fn one_hot<F: Real>(n: usize, i: usize) -> Array1<F> {
    assert!(i < n, "one_hot: the index {i} is out of range for {n} elements");
    let mut out = Array1::zeros(n);
    out[i] = F::one();
    out
}

/// The array of this shape whose element at `ix` is `x[f(ix)]`.
///
/// ```
/// use ad_runtime::dsl::gather;
/// use ndarray::array;
/// let x = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
/// assert_eq!(gather([3, 2], &x, |[i, j]| [j, i]), x.t());
/// assert_eq!(gather([2], &x, |[i]| [i, i]), array![1.0, 5.0]);
/// ```
///
/// # Panics
///
/// If an index that `f` returns is out of range for `x`, or if `f` panics.
#[track_caller]
pub fn gather<A: Clone, const N: usize, const M: usize>(
    shape: [usize; M],
    x: &ArrayRef<A, Dim<[usize; N]>>,
    f: impl Fn([usize; M]) -> [usize; N],
) -> Array<A, Dim<[usize; M]>>
where
    Dim<[usize; N]>: Rank,
    Dim<[usize; M]>: Rank,
{
    let mut data = Vec::with_capacity(size(shape));
    for index in indices(shape) {
        let from = f(index);
        match x.get(dim(from)) {
            Some(value) => data.push(value.clone()),
            None => panic!(
                "gather: element {index:?} is read at {from:?}, out of range for an array of shape {:?}",
                x.shape()
            ),
        }
    }
    assemble(shape, data)
}

/// The array of this shape that is zero, with every element `x[ix]` added at the index `f(ix)`.
///
/// Additions to the same element are made in the row-major order of `x`.
///
/// ```
/// use ad_runtime::dsl::scatter;
/// use ndarray::array;
/// let x = array![1.0, 2.0, 4.0];
/// assert_eq!(scatter([2], &x, |[i]| [i % 2]), array![5.0, 2.0]);
/// ```
///
/// # Panics
///
/// If an index that `f` returns is out of range for `shape`, or if `f` panics.
#[track_caller]
pub fn scatter<F: Real, const N: usize, const M: usize>(
    shape: [usize; M],
    x: &ArrayRef<F, Dim<[usize; N]>>,
    f: impl Fn([usize; N]) -> [usize; M],
) -> Array<F, Dim<[usize; M]>>
where
    Dim<[usize; N]>: Rank,
    Dim<[usize; M]>: Rank,
{
    let mut out = assemble(shape, vec![F::zero(); size(shape)]);
    let mut from = [0; N];
    from.copy_from_slice(x.shape());
    for index in indices(from) {
        let to = f(index);
        match out.get_mut(dim(to)) {
            Some(place) => *place += x[dim(index)],
            None => {
                panic!("scatter: element {index:?} is added at {to:?}, out of range for an array of shape {shape:?}")
            }
        }
    }
    out
}
