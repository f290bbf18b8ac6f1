//! Folds and scans: each step uses the result of the previous step.
//!
//! The steps must never be reordered: `f` is the user's function, and floating-point arithmetic is
//! not associative.

use super::seq::Seq;
use super::stackable::{Stack, Stackable};

/// `f(... f(f(init, x0), x1) ..., xn)`: the items of a sequence from left to right.
///
/// The sequence is a range of integers, `&[A]`, `&Vec<A>` or a reference to an array; the items of
/// an array of rank 1 are its elements, those of an array of higher rank are views of its outer
/// rows.
///
/// ```
/// use ad_runtime::dsl::fold;
/// use ndarray::array;
/// // Horner's rule for 2 + 3x + x^2 at x = 10, from the highest coefficient down.
/// assert_eq!(fold(0.0, &[1.0, 3.0, 2.0], |p, c| p * 10.0 + c), 132.0);
/// let m = array![[1.0, 2.0], [3.0, 4.0]];
/// assert_eq!(fold(1.0, &m, |p: f64, row| p * row.sum()), 21.0);
/// assert_eq!(fold(0, 1..5, |s, i| s + i), 10);
/// ```
///
/// # Panics
///
/// If `f` panics.
#[track_caller]
pub fn fold<B, X: Seq>(init: B, xs: X, f: impl Fn(B, X::Item) -> B) -> B {
    let mut acc = init;
    for item in xs.items() {
        acc = f(acc, item);
    }
    acc
}

/// [`fold`], with the promise that `f` is associative and that `init` is its identity element. A
/// compiler may therefore reassociate the steps.
///
/// The function itself still goes from left to right.
///
/// ```
/// use ad_runtime::dsl::reduce;
/// assert_eq!(reduce(f64::NEG_INFINITY, &[1.0, 3.0, 2.0], f64::max), 3.0);
/// ```
///
/// # Panics
///
/// If `f` panics.
#[track_caller]
pub fn reduce<B, X: Seq>(init: B, xs: X, f: impl Fn(B, X::Item) -> B) -> B {
    fold(init, xs, f)
}

/// The accumulators after each item: n of them for n items, without `init`.
///
/// Shape: the shape of an accumulator with a leading axis of n. With no items that axis is 0 and
/// the others are those of `init`.
///
/// ```
/// use ad_runtime::dsl::scan;
/// use ndarray::array;
/// assert_eq!(scan(0.0, &[1.0, 2.0, 3.0], |s, x| s + x), array![1.0, 3.0, 6.0]);
/// ```
///
/// # Panics
///
/// If the accumulators have different shapes, or if `f` panics.
#[track_caller]
pub fn scan<E: Stackable, X: Seq>(init: E, xs: X, f: impl Fn(E, X::Item) -> E) -> E::Stacked {
    let items = xs.items();
    let mut out = Stack::with_capacity(items.size_hint().0);
    out.expect_shape(&init);
    let mut acc = init;
    for item in items {
        acc = f(acc, item);
        out.push(&acc);
    }
    out.finish()
}

/// The accumulators before each item and at the end: n + 1 of them, `init` first.
///
/// Shape: the shape of an accumulator with a leading axis of n + 1.
///
/// ```
/// use ad_runtime::dsl::scanl;
/// use ndarray::array;
/// assert_eq!(scanl(1.0, &[2.0, 3.0], |p, x| p * x), array![1.0, 2.0, 6.0]);
/// ```
///
/// # Panics
///
/// If the accumulators have different shapes, or if `f` panics.
#[track_caller]
pub fn scanl<E: Stackable, X: Seq>(init: E, xs: X, f: impl Fn(E, X::Item) -> E) -> E::Stacked {
    let items = xs.items();
    let mut out = Stack::with_capacity(items.size_hint().0 + 1);
    out.push(&init);
    let mut acc = init;
    for item in items {
        acc = f(acc, item);
        out.push(&acc);
    }
    out.finish()
}

/// The accumulators of a fold from right to left: n + 1 of them, `init` last. Element i is the fold
/// of the items n - 1 down to i.
///
/// Shape: the shape of an accumulator with a leading axis of n + 1.
///
/// ```
/// use ad_runtime::dsl::scanr;
/// use ndarray::array;
/// assert_eq!(scanr(0.0, &[1.0, 2.0, 3.0], |s, x| s + x), array![6.0, 5.0, 3.0, 0.0]);
/// ```
///
/// # Panics
///
/// If the accumulators have different shapes, or if `f` panics.
#[track_caller]
pub fn scanr<E: Stackable, X: Seq>(init: E, xs: X, f: impl Fn(E, X::Item) -> E) -> E::Stacked {
    let items = xs.items();
    let mut out = Stack::with_capacity(items.size_hint().0 + 1);
    out.push(&init);
    let mut acc = init;
    for item in items.rev() {
        acc = f(acc, item);
        out.push(&acc);
    }
    out.reversed().finish()
}
