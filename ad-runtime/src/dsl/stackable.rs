//! Values that can be stacked along a new first axis: the elements of `build1`, `replicate` and the
//! scans.

use alloc::vec::Vec;

use ndarray::{Array, Array1, ArrayBase, ArrayRef, Data, Dimension, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5};

use super::elements::{Rank, from_vec};
use crate::kernel;
use crate::real::Scalar;

/// A rank to which one more axis can be added: 0 to 5.
///
/// ```
/// use ad_runtime::dsl::StackableRank;
/// use ndarray::{Array, array};
///
/// fn rank_of_rows<D: StackableRank>(row: &Array<f64, D>) -> usize {
///     row.ndim() + 1
/// }
/// assert_eq!(rank_of_rows(&array![1.0, 2.0]), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "arrays of this rank cannot be put side by side",
    label = "expected an array of rank 0 to 5",
    note = "the result would have a rank over 6"
)]
pub trait StackableRank: Rank {}

macro_rules! ranks {
    ($($d:ty),*) => {$( impl StackableRank for $d {} )*};
}
ranks!(Ix0, Ix1, Ix2, Ix3, Ix4, Ix5);

/// A scalar, or an array of rank 0 to 5. [`build1`](super::build1), [`replicate`](super::replicate)
/// and the scans stack such values along a new first axis.
///
/// ```
/// use ad_runtime::dsl::{Stackable, build1};
/// use ndarray::array;
///
/// fn twice<E: Stackable + Clone>(x: E) -> E::Stacked {
///     build1(2, |_| x.clone())
/// }
/// assert_eq!(twice(1.5), array![1.5, 1.5]);
/// assert_eq!(twice(array![1.0, 2.0]), array![[1.0, 2.0], [1.0, 2.0]]);
/// ```
#[diagnostic::on_unimplemented(
    message = "values of type `{Self}` cannot be put side by side in an array",
    label = "expected a scalar or an array of rank 0 to 5",
    note = "the elements of `build1`, `replicate`, `scan`, `scanl` and `scanr` are real numbers, integers, `bool`s, or ndarray arrays of them"
)]
pub trait Stackable {
    /// The type of the elements.
    type Elem: Copy;

    /// The shape of one value. A scalar has no axis.
    type Dim: Dimension;

    /// The array of the stacked values, with a new first axis.
    type Stacked;

    /// The shape of this value.
    fn dims(&self) -> Self::Dim;

    /// Appends the elements in row-major order.
    fn append_to(&self, data: &mut Vec<Self::Elem>);

    /// The array of `n` values of the shape `dims`, whose elements are `data`.
    fn stack(n: usize, dims: Self::Dim, data: Vec<Self::Elem>) -> Self::Stacked;
}

impl<A: Scalar> Stackable for A {
    type Elem = A;
    type Dim = Ix0;
    type Stacked = Array1<A>;

    #[inline]
    fn dims(&self) -> Ix0 {
        Ix0()
    }

    #[inline]
    fn append_to(&self, data: &mut Vec<A>) {
        data.push(*self);
    }

    fn stack(_: usize, _: Ix0, data: Vec<A>) -> Array1<A> {
        Array1::from_vec(data)
    }
}

macro_rules! arrays {
    ($([$($g:tt)*] $t:ty;)*) => {$(
        impl<$($g)*, A: Copy, D: StackableRank> Stackable for $t {
            type Elem = A;
            type Dim = D;
            type Stacked = Array<A, D::Larger>;

            fn dims(&self) -> D {
                self.raw_dim()
            }

            fn append_to(&self, data: &mut Vec<A>) {
                data.extend_from_slice(&kernel::contiguous(self));
            }

            fn stack(n: usize, dims: D, data: Vec<A>) -> Array<A, D::Larger> {
                let mut shape = D::Larger::zeros(dims.ndim() + 1);
                shape[0] = n;
                for k in 0..dims.ndim() {
                    shape[k + 1] = dims[k];
                }
                from_vec(shape, data)
            }
        }
    )*};
}
arrays! {
    [S: Data<Elem = A>] ArrayBase<S, D>;
    ['a, S: Data<Elem = A>] &'a ArrayBase<S, D>;
    ['a] &'a ArrayRef<A, D>;
}

/// Values of one shape that are collected to be stacked.
pub(super) struct Stack<E: Stackable> {
    n: usize,
    dims: Option<E::Dim>,
    data: Vec<E::Elem>,
}

impl<E: Stackable> Stack<E> {
    /// An empty stack with room for about `n` values.
    pub(super) fn with_capacity(n: usize) -> Self {
        Stack { n: 0, dims: None, data: Vec::with_capacity(n) }
    }

    /// Fixes the shape of the values to that of `example`, which is not added.
    pub(super) fn expect_shape(&mut self, example: &E) {
        self.dims = Some(example.dims());
    }

    /// Adds a value at the end.
    #[track_caller]
    pub(super) fn push(&mut self, value: &E) {
        let dims = value.dims();
        match &self.dims {
            None => self.dims = Some(dims),
            Some(first) => assert!(
                *first == dims,
                "element {} has the shape {:?}, the others have {:?}",
                self.n,
                dims.slice(),
                first.slice()
            ),
        }
        value.append_to(&mut self.data);
        self.n += 1;
    }

    /// The number of scalars in one value.
    fn width(&self) -> usize {
        self.data.len() / self.n.max(1)
    }

    /// The same values in reverse order.
    pub(super) fn reversed(mut self) -> Self {
        let width = self.width();
        if width > 0 {
            self.data.reverse();
            self.data.chunks_exact_mut(width).for_each(<[E::Elem]>::reverse);
        }
        self
    }

    /// The array of the values. If there is no value and no expected shape, all sizes are 0.
    pub(super) fn finish(self) -> E::Stacked {
        E::stack(self.n, self.dims.unwrap_or_default(), self.data)
    }
}
