//! One interface to arrays, views, slices and static arrays: a shape, and elements in row-major
//! order.
//!
//! No result may depend on the memory layout: everything reads [`Elements::contiguous`].

use alloc::borrow::Cow;
use alloc::vec::Vec;

use ndarray::{Array, ArrayBase, ArrayRef, ArrayView, Axis, Data, Dim, Dimension, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6};

use crate::kernel;
use crate::real::Scalar;

/// A rank that is known when the program is compiled: 0 to 6.
///
/// ```
/// use ad_runtime::dsl::Rank;
/// use ndarray::{ArrayRef, Ix2, array};
///
/// fn axes<D: Rank>(x: &ArrayRef<f64, D>) -> usize {
///     x.ndim()
/// }
/// assert_eq!(axes::<Ix2>(&array![[1.0, 2.0]]), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "arrays have rank 0 to 6, known at compile time",
    label = "not an array of rank 0 to 6",
    note = "`ArrayD` has a rank known only when the program runs; convert it with `into_dimensionality`"
)]
pub trait Rank: Dimension {}

macro_rules! ranks {
    ($($d:ty),*) => {$( impl Rank for $d {} )*};
}
ranks!(Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6);

/// A rank from 1 to 6: arrays that have a first (and a last) axis.
///
/// ```
/// use ad_runtime::dsl::OuterRank;
/// use ndarray::{Ix1, Ix2, array};
///
/// let x = array![[1.0, 2.0], [3.0, 4.0]];
/// assert_eq!(Ix2::item(x.view(), 1), array![3.0, 4.0]);
/// assert_eq!(Ix1::item(x.row(0), 1), 2.0);
/// ```
#[diagnostic::on_unimplemented(
    message = "this array has no axis",
    label = "expected an array of rank 1 to 6",
    note = "an array of rank 0 has neither outer rows nor a last axis"
)]
pub trait OuterRank: Rank {
    /// An item of an array of this rank: an element for rank 1, a view of an outer row for higher
    /// ranks.
    type Item<'a, A: Copy + 'a>;

    /// An owned array with one axis less; for rank 1 a single element.
    type Lower<A>;

    /// Item `i` of the array.
    fn item<'a, A: Copy>(x: ArrayView<'a, A, Self>, i: usize) -> Self::Item<'a, A>;

    /// The array of this shape without its first axis, with the elements `data`.
    fn lower<A>(&self, data: Vec<A>) -> Self::Lower<A>;
}

impl OuterRank for Ix1 {
    type Item<'a, A: Copy + 'a> = A;
    type Lower<A> = A;

    fn item<'a, A: Copy>(x: ArrayView<'a, A, Ix1>, i: usize) -> A {
        x[i]
    }

    fn lower<A>(&self, data: Vec<A>) -> A {
        data.into_iter().next().expect("one element per column, of one column")
    }
}

macro_rules! outer_ranks {
    ($($d:ty, $smaller:ty;)*) => {$(
        impl OuterRank for $d {
            type Item<'a, A: Copy + 'a> = ArrayView<'a, A, $smaller>;
            type Lower<A> = Array<A, $smaller>;

            fn item<'a, A: Copy>(x: ArrayView<'a, A, $d>, i: usize) -> ArrayView<'a, A, $smaller> {
                x.index_axis_move(Axis(0), i)
            }

            fn lower<A>(&self, data: Vec<A>) -> Array<A, $smaller> {
                from_vec(self.try_remove_axis(Axis(0)), data)
            }
        }
    )*};
}
outer_ranks! { Ix2, Ix1; Ix3, Ix2; Ix4, Ix3; Ix5, Ix4; Ix6, Ix5; }

/// A shape, or an index, as ndarray's type.
pub(crate) fn dim<const N: usize>(sizes: [usize; N]) -> Dim<[usize; N]>
where
    Dim<[usize; N]>: Rank,
{
    let mut out = <Dim<[usize; N]> as Dimension>::zeros(N);
    out.slice_mut().copy_from_slice(&sizes);
    out
}

/// The owned array of the shape `dim` with the elements `data` in row-major order.
#[track_caller]
pub(crate) fn from_vec<A, D: Dimension>(dim: D, data: Vec<A>) -> Array<A, D> {
    Array::from_shape_vec(dim, data).expect("as many elements as the shape has")
}

/// An array, a view, a slice, a `Vec` or a static array, of rank 0 to 6. The reductions take these
/// by reference.
///
/// ```
/// use ad_runtime::dsl::{Elements, sum};
/// use ndarray::{Ix1, array};
///
/// /// Works for arrays, views, slices, `Vec`s and static arrays.
/// fn mean<X: Elements<Elem = f64, Rank = Ix1> + ?Sized>(x: &X) -> f64 {
///     sum(x) / x.dims()[0] as f64
/// }
/// assert_eq!(mean(&array![1.0, 3.0]), 2.0);
/// assert_eq!(mean(&[1.0, 3.0]), 2.0);
/// assert_eq!([1.0, 3.0].with_elements(vec![5.0, 6.0]), [5.0, 6.0]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array",
    label = "expected a reference to an array",
    note = "this takes a reference to an ndarray array or view of rank 0 to 6, a slice, a `Vec`, or a static array `[F; N]` or `[[F; N]; M]`"
)]
pub trait Elements {
    /// The type of the elements.
    type Elem: Copy;

    /// The rank. A slice, a `Vec` and `[F; N]` have rank 1, and `[[F; N]; M]` has rank 2.
    type Rank: Rank;

    /// An owned array of the same shape: ndarray's for ndarray's arrays and views, a `Vec` for a
    /// slice or a `Vec`, a static array for a static array.
    type Owned;

    /// The sizes.
    fn dims(&self) -> Self::Rank;

    /// The elements in row-major order, borrowed if that is their order in memory.
    fn contiguous(&self) -> Cow<'_, [Self::Elem]>;

    /// An array of the same shape with other elements, given in row-major order.
    ///
    /// # Panics
    ///
    /// If the number of elements of `data` differs from that of this array.
    fn with_elements(&self, data: Vec<Self::Elem>) -> Self::Owned;
}

macro_rules! of_ndarray {
    ($([$($params:tt)*] $of:ty;)*) => {$(
        impl<$($params)*> Elements for $of {
            type Elem = A;
            type Rank = D;
            type Owned = Array<A, D>;

            fn dims(&self) -> D {
                self.raw_dim()
            }

            fn contiguous(&self) -> Cow<'_, [A]> {
                kernel::contiguous(self)
            }

            fn with_elements(&self, data: Vec<A>) -> Array<A, D> {
                from_vec(self.raw_dim(), data)
            }
        }
    )*};
}
of_ndarray! {
    [A: Copy, D: Rank] ArrayRef<A, D>;
    [A: Copy, S: Data<Elem = A>, D: Rank] ArrayBase<S, D>;
}

impl<A: Scalar> Elements for [A] {
    type Elem = A;
    type Rank = Ix1;
    type Owned = Vec<A>;

    fn dims(&self) -> Ix1 {
        Ix1(self.len())
    }

    fn contiguous(&self) -> Cow<'_, [A]> {
        Cow::Borrowed(self)
    }

    fn with_elements(&self, data: Vec<A>) -> Vec<A> {
        assert!(data.len() == self.len(), "{} elements for a slice of {}", data.len(), self.len());
        data
    }
}

impl<A: Scalar> Elements for Vec<A> {
    type Elem = A;
    type Rank = Ix1;
    type Owned = Vec<A>;

    fn dims(&self) -> Ix1 {
        Ix1(self.len())
    }

    fn contiguous(&self) -> Cow<'_, [A]> {
        Cow::Borrowed(self)
    }

    fn with_elements(&self, data: Vec<A>) -> Vec<A> {
        self.as_slice().with_elements(data)
    }
}

impl<A: Scalar, const N: usize> Elements for [A; N] {
    type Elem = A;
    type Rank = Ix1;
    type Owned = [A; N];

    fn dims(&self) -> Ix1 {
        Ix1(N)
    }

    fn contiguous(&self) -> Cow<'_, [A]> {
        Cow::Borrowed(self)
    }

    fn with_elements(&self, data: Vec<A>) -> [A; N] {
        assert!(data.len() == N, "{} elements for a static array of {N}", data.len());
        core::array::from_fn(|i| data[i])
    }
}

impl<A: Scalar, const N: usize, const M: usize> Elements for [[A; N]; M] {
    type Elem = A;
    type Rank = Ix2;
    type Owned = [[A; N]; M];

    fn dims(&self) -> Ix2 {
        Dim([M, N])
    }

    fn contiguous(&self) -> Cow<'_, [A]> {
        Cow::Borrowed(self.as_flattened())
    }

    fn with_elements(&self, data: Vec<A>) -> [[A; N]; M] {
        assert!(data.len() == M * N, "{} elements for a static array of {M} by {N}", data.len());
        core::array::from_fn(|i| core::array::from_fn(|j| data[i * N + j]))
    }
}

impl<X: Elements + ?Sized> Elements for &X {
    type Elem = X::Elem;
    type Rank = X::Rank;
    type Owned = X::Owned;

    fn dims(&self) -> X::Rank {
        (**self).dims()
    }

    fn contiguous(&self) -> Cow<'_, [X::Elem]> {
        (**self).contiguous()
    }

    fn with_elements(&self, data: Vec<X::Elem>) -> X::Owned {
        (**self).with_elements(data)
    }
}
