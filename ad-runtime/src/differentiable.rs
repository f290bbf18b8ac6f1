//! Values made of real numbers: structs, enums, tuples and lists of them.
//! `#[derive(Differentiable)]` implements [`Leaves`], a walk over the numbers of a value.
//! [`Differentiable`] has the methods that an optimiser calls.
//!
//! There are two traits because of ndarray. Its arrays have leaves, but a trait of the prelude with
//! a method `dot` would hide their own method. This module must never depend on gradients.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::slice::Iter;

use ndarray::{Array, ArrayView, Dimension, Zip};

use crate::Real;

/// An array without elements, of a rank that is not 0.
///
/// # Panics
/// If the rank is 0.
#[must_use]
pub fn no_elements<'a, F, D: Dimension>() -> ArrayView<'a, F, D> {
    ArrayView::from_shape(D::default(), &[]).expect("an array of rank 0 has an element")
}

/// The real numbers of type `F` in a value, its leaves, in the order of declaration; those of an
/// array row by row. Discrete parts (integers, booleans, strings) have no leaves, and are copied.
///
/// `#[derive(Differentiable)]` implements it. The functions are called by those of
/// [`Differentiable`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not made of real numbers of type `{F}`",
    label = "this type has no gradient",
    note = "a struct or an enum of your own needs `#[derive(Differentiable)]`; a field without a gradient is marked `#[constant]`"
)]
pub trait Leaves<F: Real>: Sized {
    /// The number of leaves.
    fn count_leaves(&self) -> usize;

    /// Appends the leaves.
    fn write_leaves(&self, flat: &mut Vec<F>);

    /// The same value with the next leaves of a list in place of its own.
    ///
    /// # Panics
    /// If the list has too few.
    #[must_use]
    fn read_leaves(&self, flat: &mut Iter<'_, F>) -> Self;

    /// The same value with zeros in place of its leaves.
    #[must_use]
    fn zero_leaves(&self) -> Self;

    /// Adds `a` times the leaves of `x`.
    ///
    /// # Panics
    /// If `x` has another structure.
    fn add_leaves(&mut self, a: F, x: &Self);

    /// The sum of the products of the leaves.
    ///
    /// # Panics
    /// If `x` has another structure.
    fn dot_leaves(&self, x: &Self) -> F;
}

/// A value made of real numbers of type `F`, as a vector: `#[derive(Differentiable)]` implements it
/// for structs and enums. Tuples, static arrays, `Vec`s, `Option`s and `Box`es of such values have
/// it too.
///
/// The real numbers are taken in the order of declaration, those of an array row by row. Integers,
/// booleans, strings and fields that are marked `#[constant]` are not part of the vector: results
/// copy them from `self`.
///
/// ndarray's arrays can be parts, but do not implement the trait: they have their own `dot` and
/// `scaled_add`. Write `(w,)` for a list of one array.
///
/// ```
/// use ad_runtime::Differentiable;
/// use ndarray::array;
///
/// let mut p = (array![1.0, 2.0], 3.0, 7_usize);
/// let g = (array![0.5, 0.0], 1.0, 7);
/// p.axpy(-2.0, &g);
/// assert_eq!(p, (array![0.0, 2.0], 1.0, 7));
/// assert_eq!(p.dot(&g), 1.0);
/// assert_eq!(p.to_flat(), [0.0, 2.0, 1.0]);
/// assert_eq!(p.from_flat(&[4.0, 5.0, 6.0]), (array![4.0, 5.0], 6.0, 7));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not differentiable",
    label = "this type has no gradient of type `{F}`",
    note = "differentiable types are `f32`, `f64`, and tuples, static arrays, `Vec`s, `Option`s and `Box`es of what is differentiable or an array of ndarray; for a struct or an enum write `#[derive(Differentiable)]`"
)]
pub trait Differentiable<F: Real = f64>: Leaves<F> {
    /// The number of real numbers.
    ///
    /// ```
    /// use ad_runtime::Differentiable;
    /// assert_eq!((vec![1.0, 2.0], 3.0).flat_len(), 3);
    /// ```
    fn flat_len(&self) -> usize {
        self.count_leaves()
    }

    /// The real numbers, one after the other: `self.flat_len()` elements.
    ///
    /// ```
    /// use ad_runtime::Differentiable;
    /// assert_eq!((vec![1.0, 2.0], 3.0).to_flat(), [1.0, 2.0, 3.0]);
    /// ```
    fn to_flat(&self) -> Vec<F> {
        let mut flat = Vec::with_capacity(self.count_leaves());
        self.write_leaves(&mut flat);
        flat
    }

    /// The value of this structure with these real numbers. Discrete parts are copied from `self`.
    ///
    /// # Panics
    /// If `flat` does not have `self.flat_len()` elements.
    ///
    /// ```
    /// use ad_runtime::Differentiable;
    /// let p = (vec![1.0, 2.0], 3.0);
    /// assert_eq!(p.from_flat(&[4.0, 5.0, 6.0]), (vec![4.0, 5.0], 6.0));
    /// ```
    #[must_use]
    #[allow(clippy::wrong_self_convention, reason = "`self` is the template")]
    fn from_flat(&self, flat: &[F]) -> Self {
        let count = self.count_leaves();
        assert_eq!(flat.len(), count, "from_flat: {} numbers for a value that has {count}", flat.len());
        self.read_leaves(&mut flat.iter())
    }

    /// Adds `a` times `x`.
    ///
    /// # Panics
    /// If `x` has another structure: another length or shape of a part, or another variant.
    ///
    /// ```
    /// use ad_runtime::Differentiable;
    /// let (mut p, gradient) = ((vec![1.0, 2.0], 3.0), (vec![1.0, 0.0], -1.0));
    /// p.axpy(-0.5, &gradient);
    /// assert_eq!(p, (vec![0.5, 2.0], 3.5));
    /// ```
    fn axpy(&mut self, a: F, x: &Self) {
        self.add_leaves(a, x);
    }

    /// The inner product: the sum of the products of the real numbers. It is 0 if there are none.
    ///
    /// # Panics
    /// If `x` has another structure: another length or shape of a part, or another variant.
    ///
    /// ```
    /// use ad_runtime::Differentiable;
    /// let (p, q) = ((vec![1.0, 2.0], 3.0), (vec![4.0, 5.0], 6.0));
    /// assert_eq!(p.dot(&q), 32.0);
    /// ```
    fn dot(&self, x: &Self) -> F {
        self.dot_leaves(x)
    }

    /// The value of this structure whose real numbers are 0. Discrete parts are copied from `self`.
    ///
    /// ```
    /// use ad_runtime::Differentiable;
    /// assert_eq!((vec![1.0, 2.0], 7_usize).zeros_like(), (vec![0.0, 0.0], 7));
    /// ```
    #[must_use]
    fn zeros_like(&self) -> Self {
        self.zero_leaves()
    }
}

macro_rules! real {
    ($($t:ty),*) => {$(
        impl Leaves<$t> for $t {
            fn count_leaves(&self) -> usize {
                1
            }
            fn write_leaves(&self, flat: &mut Vec<$t>) {
                flat.push(*self);
            }
            fn read_leaves(&self, flat: &mut Iter<'_, $t>) -> Self {
                *flat.next().unwrap_or_else(|| panic!("from_flat: there are too few numbers"))
            }
            fn zero_leaves(&self) -> Self {
                0.0
            }
            fn add_leaves(&mut self, a: $t, x: &Self) {
                *self += a * x;
            }
            fn dot_leaves(&self, x: &Self) -> $t {
                self * x
            }
        }
        impl Differentiable<$t> for $t {}
    )*};
}
real!(f32, f64);

macro_rules! without_leaves {
    ($(($($generics:tt)*) $t:ty;)*) => {$(
        impl<F: Real, $($generics)*> Leaves<F> for $t {
            fn count_leaves(&self) -> usize {
                0
            }
            fn write_leaves(&self, _: &mut Vec<F>) {}
            fn read_leaves(&self, _: &mut Iter<'_, F>) -> Self {
                self.clone()
            }
            fn zero_leaves(&self) -> Self {
                self.clone()
            }
            fn add_leaves(&mut self, _: F, _: &Self) {}
            fn dot_leaves(&self, _: &Self) -> F {
                F::zero()
            }
        }
        impl<F: Real, $($generics)*> Differentiable<F> for $t {}
    )*};
}
without_leaves! {
    () (); () bool; () char; () String; () &'static str;
    () u8; () u16; () u32; () u64; () u128; () usize;
    () i8; () i16; () i32; () i64; () i128; () isize;
    (T: ?Sized) PhantomData<T>;
}

/// Fails if two lists differ in length.
#[track_caller]
fn same_length(a: usize, b: usize) {
    assert_eq!(a, b, "the structures differ: {a} elements and {b} elements");
}

/// Fails because two values are different variants of an enum.
///
/// # Panics
/// Always.
#[track_caller]
pub fn different_variants(name: &str) -> ! {
    panic!("the structures differ: different variants of `{name}`")
}

macro_rules! lists {
    ($($list:ident),*) => {$(
        impl<F: Real, T: Leaves<F>> Leaves<F> for $list<T> {
            fn count_leaves(&self) -> usize {
                self.iter().map(T::count_leaves).sum()
            }
            fn write_leaves(&self, flat: &mut Vec<F>) {
                self.iter().for_each(|x| x.write_leaves(flat));
            }
            fn read_leaves(&self, flat: &mut Iter<'_, F>) -> Self {
                self.iter().map(|x| x.read_leaves(flat)).collect()
            }
            fn zero_leaves(&self) -> Self {
                self.iter().map(T::zero_leaves).collect()
            }
            fn add_leaves(&mut self, a: F, x: &Self) {
                same_length(self.len(), x.len());
                self.iter_mut().zip(x).for_each(|(s, x)| s.add_leaves(a, x));
            }
            fn dot_leaves(&self, x: &Self) -> F {
                same_length(self.len(), x.len());
                self.iter().zip(x).map(|(s, x)| s.dot_leaves(x)).sum()
            }
        }
        impl<F: Real, T: Leaves<F>> Differentiable<F> for $list<T> {}
    )*};
}
lists!(Vec, VecDeque);

impl<F: Real, T: Leaves<F>, const N: usize> Leaves<F> for [T; N] {
    fn count_leaves(&self) -> usize {
        self.iter().map(T::count_leaves).sum()
    }
    fn write_leaves(&self, flat: &mut Vec<F>) {
        self.iter().for_each(|x| x.write_leaves(flat));
    }
    fn read_leaves(&self, flat: &mut Iter<'_, F>) -> Self {
        self.each_ref().map(|x| x.read_leaves(flat))
    }
    fn zero_leaves(&self) -> Self {
        self.each_ref().map(T::zero_leaves)
    }
    fn add_leaves(&mut self, a: F, x: &Self) {
        self.iter_mut().zip(x).for_each(|(s, x)| s.add_leaves(a, x));
    }
    fn dot_leaves(&self, x: &Self) -> F {
        self.iter().zip(x).map(|(s, x)| s.dot_leaves(x)).sum()
    }
}
impl<F: Real, T: Leaves<F>, const N: usize> Differentiable<F> for [T; N] {}

impl<F: Real, T: Leaves<F>> Leaves<F> for Option<T> {
    fn count_leaves(&self) -> usize {
        self.as_ref().map_or(0, T::count_leaves)
    }
    fn write_leaves(&self, flat: &mut Vec<F>) {
        if let Some(x) = self {
            x.write_leaves(flat);
        }
    }
    fn read_leaves(&self, flat: &mut Iter<'_, F>) -> Self {
        self.as_ref().map(|x| x.read_leaves(flat))
    }
    fn zero_leaves(&self) -> Self {
        self.as_ref().map(T::zero_leaves)
    }
    fn add_leaves(&mut self, a: F, x: &Self) {
        match (self, x) {
            (Some(s), Some(x)) => s.add_leaves(a, x),
            (None, None) => {}
            _ => different_variants("Option"),
        }
    }
    fn dot_leaves(&self, x: &Self) -> F {
        match (self, x) {
            (Some(s), Some(x)) => s.dot_leaves(x),
            (None, None) => F::zero(),
            _ => different_variants("Option"),
        }
    }
}
impl<F: Real, T: Leaves<F>> Differentiable<F> for Option<T> {}

impl<F: Real, T: Leaves<F>> Leaves<F> for Box<T> {
    fn count_leaves(&self) -> usize {
        (**self).count_leaves()
    }
    fn write_leaves(&self, flat: &mut Vec<F>) {
        (**self).write_leaves(flat);
    }
    fn read_leaves(&self, flat: &mut Iter<'_, F>) -> Self {
        Box::new((**self).read_leaves(flat))
    }
    fn zero_leaves(&self) -> Self {
        Box::new((**self).zero_leaves())
    }
    fn add_leaves(&mut self, a: F, x: &Self) {
        (**self).add_leaves(a, x);
    }
    fn dot_leaves(&self, x: &Self) -> F {
        (**self).dot_leaves(x)
    }
}
impl<F: Real, T: Leaves<F>> Differentiable<F> for Box<T> {}

impl<F: Real, T: Leaves<F>, D: Dimension> Leaves<F> for Array<T, D> {
    fn count_leaves(&self) -> usize {
        self.iter().map(T::count_leaves).sum()
    }
    fn write_leaves(&self, flat: &mut Vec<F>) {
        self.iter().for_each(|x| x.write_leaves(flat));
    }
    fn read_leaves(&self, flat: &mut Iter<'_, F>) -> Self {
        let mut elements = self.iter().map(|x| x.read_leaves(flat));
        // The elements are made in the order of the indices.
        Array::from_shape_simple_fn(self.raw_dim(), || {
            elements.next().unwrap_or_else(|| unreachable!("an element for each of the same shape"))
        })
    }
    fn zero_leaves(&self) -> Self {
        self.map(T::zero_leaves)
    }
    fn add_leaves(&mut self, a: F, x: &Self) {
        same_shape(self.shape(), x.shape());
        Zip::from(self).and(x).for_each(|s, x| s.add_leaves(a, x));
    }
    fn dot_leaves(&self, x: &Self) -> F {
        same_shape(self.shape(), x.shape());
        self.iter().zip(x).map(|(s, x)| s.dot_leaves(x)).sum()
    }
}

/// Fails if two arrays differ in shape.
#[track_caller]
fn same_shape(a: &[usize], b: &[usize]) {
    assert_eq!(a, b, "the structures differ: arrays of shape {a:?} and {b:?}");
}

macro_rules! tuples {
    ($($t:ident $k:tt)*) => {
        impl<F: Real, $($t: Leaves<F>),*> Leaves<F> for ($($t,)*) {
            fn count_leaves(&self) -> usize {
                0 $(+ self.$k.count_leaves())*
            }
            fn write_leaves(&self, flat: &mut Vec<F>) {
                $(self.$k.write_leaves(flat);)*
            }
            fn read_leaves(&self, flat: &mut Iter<'_, F>) -> Self {
                ($(self.$k.read_leaves(flat),)*)
            }
            fn zero_leaves(&self) -> Self {
                ($(self.$k.zero_leaves(),)*)
            }
            fn add_leaves(&mut self, a: F, x: &Self) {
                $(self.$k.add_leaves(a, &x.$k);)*
            }
            fn dot_leaves(&self, x: &Self) -> F {
                F::zero() $(+ self.$k.dot_leaves(&x.$k))*
            }
        }
        impl<F: Real, $($t: Leaves<F>),*> Differentiable<F> for ($($t,)*) {}
    };
}
tuples!(A 0);
tuples!(A 0 B 1);
tuples!(A 0 B 1 C 2);
tuples!(A 0 B 1 C 2 D 3);
tuples!(A 0 B 1 C 2 D 3 E 4);
tuples!(A 0 B 1 C 2 D 3 E 4 G 5);
tuples!(A 0 B 1 C 2 D 3 E 4 G 5 H 6);
tuples!(A 0 B 1 C 2 D 3 E 4 G 5 H 6 I 7);
tuples!(A 0 B 1 C 2 D 3 E 4 G 5 H 6 I 7 J 8);
tuples!(A 0 B 1 C 2 D 3 E 4 G 5 H 6 I 7 J 8 K 9);
tuples!(A 0 B 1 C 2 D 3 E 4 G 5 H 6 I 7 J 8 K 9 L 10);
