//! The sequences that folds and scans run over.

use alloc::vec::Vec;
use core::iter::Copied;
use core::ops::{Range, RangeInclusive};

use ndarray::{ArrayBase, ArrayRef, ArrayView, Axis, Data, Dimension};

use super::elements::OuterRank;
use crate::real::Integer;

/// A sequence: a range of integers, or a reference to a slice, a `Vec`, a static array or an
/// ndarray array or view.
///
/// The items are integers, the elements by value (of slices and arrays of rank 1), or views of the
/// outer rows (of arrays of rank 2 to 6).
///
/// ```
/// use ad_runtime::dsl::{Seq, fold};
/// use ndarray::array;
///
/// fn count<X: Seq>(xs: X) -> usize {
///     fold(0, xs, |n, _| n + 1)
/// }
/// assert_eq!(count(2..5), 3);
/// assert_eq!(count(&array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sequence that `fold` and `scan` can run over",
    label = "expected a range or a reference to an array",
    note = "sequences are ranges of integers, `&[A]`, `&Vec<A>`, and references to ndarray's arrays and views of rank 1 to 6"
)]
pub trait Seq {
    /// The argument that the function gets at each step.
    type Item;

    /// Iterator over the items, from either end.
    type Iter: DoubleEndedIterator<Item = Self::Item>;

    /// The items in order.
    fn items(self) -> Self::Iter;
}

impl<T: Integer> Seq for Range<T>
where
    Range<T>: DoubleEndedIterator<Item = T>,
{
    type Item = T;
    type Iter = Self;

    fn items(self) -> Self {
        self
    }
}

impl<T: Integer> Seq for RangeInclusive<T>
where
    RangeInclusive<T>: DoubleEndedIterator<Item = T>,
{
    type Item = T;
    type Iter = Self;

    fn items(self) -> Self {
        self
    }
}

impl<'a, A: Copy> Seq for &'a [A] {
    type Item = A;
    type Iter = Copied<core::slice::Iter<'a, A>>;

    fn items(self) -> Self::Iter {
        self.iter().copied()
    }
}

impl<'a, A: Copy> Seq for &'a Vec<A> {
    type Item = A;
    type Iter = Copied<core::slice::Iter<'a, A>>;

    fn items(self) -> Self::Iter {
        self.iter().copied()
    }
}

impl<'a, A: Copy, const N: usize> Seq for &'a [A; N] {
    type Item = A;
    type Iter = Copied<core::slice::Iter<'a, A>>;

    fn items(self) -> Self::Iter {
        self.iter().copied()
    }
}

impl<'a, A: Copy, S: Data<Elem = A>, D: OuterRank> Seq for &'a ArrayBase<S, D> {
    type Item = D::Item<'a, A>;
    type Iter = OuterItems<'a, A, D>;

    fn items(self) -> Self::Iter {
        OuterItems::new(self.view())
    }
}

impl<'a, A: Copy, D: OuterRank> Seq for &'a ArrayRef<A, D> {
    type Item = D::Item<'a, A>;
    type Iter = OuterItems<'a, A, D>;

    fn items(self) -> Self::Iter {
        OuterItems::new(self.view())
    }
}

/// A reference to a reference, for a call such as `fold(init, &x, f)` where `x` is a reference
/// already.
impl<'a, X: ?Sized> Seq for &&'a X
where
    &'a X: Seq,
{
    type Item = <&'a X as Seq>::Item;
    type Iter = <&'a X as Seq>::Iter;

    fn items(self) -> Self::Iter {
        (*self).items()
    }
}

/// Iterator over the elements of an array of rank 1, or over views of the outer rows of one of
/// higher rank.
///
/// ```
/// use ad_runtime::dsl::Seq;
/// use ndarray::array;
///
/// let x = array![[1.0, 2.0], [3.0, 4.0]];
/// let mut rows = (&x).items();
/// assert_eq!(rows.next_back(), Some(array![3.0, 4.0].view()));
/// assert_eq!(rows.len(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct OuterItems<'a, A, D: Dimension> {
    array: ArrayView<'a, A, D>,
    left: Range<usize>,
}

impl<'a, A: Copy, D: OuterRank> OuterItems<'a, A, D> {
    fn new(array: ArrayView<'a, A, D>) -> Self {
        let left = 0..array.len_of(Axis(0));
        OuterItems { array, left }
    }
}

impl<'a, A: Copy, D: OuterRank> Iterator for OuterItems<'a, A, D> {
    type Item = D::Item<'a, A>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left.next().map(|i| D::item(self.array.clone(), i))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl<A: Copy, D: OuterRank> DoubleEndedIterator for OuterItems<'_, A, D> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.left.next_back().map(|i| D::item(self.array.clone(), i))
    }
}

impl<A: Copy, D: OuterRank> ExactSizeIterator for OuterItems<'_, A, D> {}
