//! Methods of arrays, vectors and iterators that count their work: the counters in a program's text
//! call `counted_sum` for `sum`. This module must never change the result of a method.

use ndarray::{Array, ArrayBase, ArrayRef, Axis, Data, Dimension, NdProducer, RemoveAxis, Zip, linalg::Dot};
use num_traits::{FromPrimitive, Zero};
use std::ops::{Add, Div, Mul};

use crate::counters::{Amount, bulk, more, moved, tick};

/// The lengths of the axes.
pub trait Lengths {
    fn lengths(&self) -> Vec<usize>;
}
impl<T, D: Dimension> Lengths for ArrayRef<T, D> {
    fn lengths(&self) -> Vec<usize> {
        self.shape().to_vec()
    }
}
impl<S: Data, D: Dimension> Lengths for ArrayBase<S, D> {
    fn lengths(&self) -> Vec<usize> {
        self.shape().to_vec()
    }
}

/// A product of matrices, `[m, k, n]` of them in a batch: a sum and a product for each term, and
/// each operand and the result once.
pub fn product(batch: usize, [m, k, n]: [usize; 3]) {
    bulk((2 * batch * m * k * n) as u64, (batch * (m * k + k * n + m * n)) as u64);
}

/// A loop over `x`, each element of which is read.
fn reduced<X: Amount + ?Sized>(x: &X) {
    bulk(x.operations(), x.elements());
}

/// Reductions and maps of arrays.
pub trait CountedArray<A, D> {
    fn counted_dot<R: ?Sized + Lengths>(&self, other: &R) -> <Self as Dot<R>>::Output
    where
        Self: Dot<R>;
    fn counted_sum(&self) -> A
    where
        A: Clone + Add<Output = A> + Zero;
    fn counted_product(&self) -> A
    where
        A: Clone + Mul<Output = A> + num_traits::One;
    fn counted_mean(&self) -> Option<A>
    where
        A: Clone + FromPrimitive + Add<Output = A> + Div<Output = A> + Zero;
    fn counted_sum_axis(&self, axis: Axis) -> Array<A, D::Smaller>
    where
        A: Clone + Zero + Add<Output = A>,
        D: RemoveAxis;
    fn counted_mean_axis(&self, axis: Axis) -> Option<Array<A, D::Smaller>>
    where
        A: Clone + Zero + FromPrimitive + Add<Output = A> + Div<Output = A>,
        D: RemoveAxis;
    fn counted_mapv<B>(&self, f: impl FnMut(A) -> B) -> Array<B, D>
    where
        A: Clone;
    fn counted_fold<'a, B>(&'a self, init: B, f: impl FnMut(B, &'a A) -> B) -> B
    where
        A: 'a;
    fn counted_fill(&mut self, x: A)
    where
        A: Clone;
    fn counted_broadcast(&mut self, x: A)
    where
        A: Clone;
    fn counted_to_owned(&self) -> Array<A, D>
    where
        A: Clone;
    fn counted_to_vec(&self) -> Vec<A>
    where
        A: Clone;
}
impl<A, D: Dimension> CountedArray<A, D> for ArrayRef<A, D> {
    fn counted_dot<R: ?Sized + Lengths>(&self, other: &R) -> <Self as Dot<R>>::Output
    where
        Self: Dot<R>,
    {
        let one = |lengths: Vec<usize>, first: bool| match lengths[..] {
            [k] if first => [1, k],
            [k] => [k, 1],
            [m, k] => [m, k],
            _ => [0, 0],
        };
        let ([m, k], [_, n]) = (one(self.lengths(), true), one(other.lengths(), false));
        product(1, [m, k, n]);
        self.dot(other)
    }
    fn counted_sum(&self) -> A
    where
        A: Clone + Add<Output = A> + Zero,
    {
        reduced(self);
        self.sum()
    }
    fn counted_product(&self) -> A
    where
        A: Clone + Mul<Output = A> + num_traits::One,
    {
        reduced(self);
        self.product()
    }
    fn counted_mean(&self) -> Option<A>
    where
        A: Clone + FromPrimitive + Add<Output = A> + Div<Output = A> + Zero,
    {
        reduced(self);
        bulk(1, 0);
        self.mean()
    }
    fn counted_sum_axis(&self, axis: Axis) -> Array<A, D::Smaller>
    where
        A: Clone + Zero + Add<Output = A>,
        D: RemoveAxis,
    {
        reduced(self);
        let sums = self.sum_axis(axis);
        tick(sums.elements());
        sums
    }
    fn counted_mean_axis(&self, axis: Axis) -> Option<Array<A, D::Smaller>>
    where
        A: Clone + Zero + FromPrimitive + Add<Output = A> + Div<Output = A>,
        D: RemoveAxis,
    {
        reduced(self);
        let means = self.mean_axis(axis);
        if let Some(means) = &means {
            bulk(means.operations(), means.elements());
        }
        means
    }
    fn counted_mapv<B>(&self, f: impl FnMut(A) -> B) -> Array<B, D>
    where
        A: Clone,
    {
        tick(2 * self.elements());
        self.mapv(f)
    }
    fn counted_fold<'a, B>(&'a self, init: B, f: impl FnMut(B, &'a A) -> B) -> B
    where
        A: 'a,
    {
        tick(self.elements());
        self.fold(init, f)
    }
    fn counted_fill(&mut self, x: A)
    where
        A: Clone,
    {
        tick(self.elements());
        self.fill(x);
    }
    fn counted_broadcast(&mut self, x: A)
    where
        A: Clone,
    {
        moved::<A>(self.len());
        self.fill(x);
    }
    fn counted_to_owned(&self) -> Array<A, D>
    where
        A: Clone,
    {
        tick(2 * self.elements());
        self.to_owned()
    }
    fn counted_to_vec(&self) -> Vec<A>
    where
        A: Clone,
    {
        tick(2 * self.elements());
        self.iter().cloned().collect()
    }
}

/// Variances: Welford's recurrence has six operations for each element.
pub trait CountedSpread<A, D> {
    fn counted_var(&self, ddof: A) -> A;
    fn counted_std(&self, ddof: A) -> A;
    fn counted_var_axis(&self, axis: Axis, ddof: A) -> Array<A, D::Smaller>
    where
        D: RemoveAxis;
    fn counted_std_axis(&self, axis: Axis, ddof: A) -> Array<A, D::Smaller>
    where
        D: RemoveAxis;
}
impl<A: num_traits::Float + FromPrimitive, D: Dimension> CountedSpread<A, D> for ArrayRef<A, D> {
    fn counted_var(&self, ddof: A) -> A {
        bulk(6 * self.operations(), self.elements());
        self.var(ddof)
    }
    fn counted_std(&self, ddof: A) -> A {
        bulk(6 * self.operations() + 1, self.elements());
        self.std(ddof)
    }
    fn counted_var_axis(&self, axis: Axis, ddof: A) -> Array<A, D::Smaller>
    where
        D: RemoveAxis,
    {
        bulk(6 * self.operations(), self.elements());
        self.var_axis(axis, ddof)
    }
    fn counted_std_axis(&self, axis: Axis, ddof: A) -> Array<A, D::Smaller>
    where
        D: RemoveAxis,
    {
        bulk(6 * self.operations(), self.elements());
        self.std_axis(axis, ddof)
    }
}

/// Integers have methods of the same names. They move no elements.
pub trait CountedBits: Copy {
    fn counted_rotate_left(self, by: u32) -> Self;
    fn counted_rotate_right(self, by: u32) -> Self;
}

macro_rules! bits {
    ($($ty:ty),*) => {$(
        impl CountedBits for $ty {
            fn counted_rotate_left(self, by: u32) -> Self {
                self.rotate_left(by)
            }
            fn counted_rotate_right(self, by: u32) -> Self {
                self.rotate_right(by)
            }
        }
    )*};
}
bits!(u8, u32, u64, usize, i32, i64, isize);

/// Comparisons by method, which sorting takes.
pub trait CountedComparison: PartialOrd {
    fn counted_partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering>;
    fn counted_total_cmp(&self, other: &Self) -> std::cmp::Ordering;
}

impl CountedComparison for f64 {
    fn counted_partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        crate::number(*self).partial_cmp(other)
    }
    fn counted_total_cmp(&self, other: &Self) -> std::cmp::Ordering {
        crate::number(*self).total_cmp(other)
    }
}

macro_rules! compared {
    ($($ty:ty),*) => {$(
        impl CountedComparison for $ty {
            fn counted_partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                self.partial_cmp(other)
            }
            fn counted_total_cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.cmp(other)
            }
        }
    )*};
}
compared!(bool, u8, u32, u64, usize, i32, i64, isize);

/// Copies and fills of slices.
pub trait CountedSlice<T> {
    fn counted_fill(&mut self, x: T)
    where
        T: Clone;
    fn counted_broadcast(&mut self, x: T)
    where
        T: Clone;
    fn counted_to_vec(&self) -> Vec<T>
    where
        T: Clone;
    fn counted_to_owned(&self) -> Vec<T>
    where
        T: Clone;
    fn counted_reverse(&mut self);
    fn counted_rotate_left(&mut self, by: usize);
    fn counted_rotate_right(&mut self, by: usize);
}
impl<T> CountedSlice<T> for [T] {
    fn counted_fill(&mut self, x: T)
    where
        T: Clone,
    {
        tick(self.elements());
        self.fill(x);
    }
    fn counted_broadcast(&mut self, x: T)
    where
        T: Clone,
    {
        moved::<T>(self.len());
        self.fill(x);
    }
    fn counted_to_vec(&self) -> Vec<T>
    where
        T: Clone,
    {
        tick(2 * self.elements());
        self.to_vec()
    }
    fn counted_to_owned(&self) -> Vec<T>
    where
        T: Clone,
    {
        tick(2 * self.elements());
        self.to_vec()
    }
    fn counted_reverse(&mut self) {
        moved::<T>(self.len());
        self.reverse();
    }
    fn counted_rotate_left(&mut self, by: usize) {
        moved::<T>(self.len());
        self.rotate_left(by);
    }
    fn counted_rotate_right(&mut self, by: usize) {
        moved::<T>(self.len());
        self.rotate_right(by);
    }
}
/// Methods whose names are also names of methods of slices.
pub trait CountedOrdering {
    fn counted_reverse(self) -> Self;
}
impl CountedOrdering for std::cmp::Ordering {
    fn counted_reverse(self) -> Self {
        self.reverse()
    }
}
/// Methods that move elements of a vector.
pub trait CountedVec<T> {
    fn counted_retain(&mut self, f: impl FnMut(&T) -> bool);
    fn counted_remove(&mut self, at: usize) -> T;
    fn counted_insert(&mut self, at: usize, x: T);
}
impl<T> CountedVec<T> for Vec<T> {
    fn counted_retain(&mut self, f: impl FnMut(&T) -> bool) {
        moved::<T>(self.len());
        self.retain(f);
    }
    fn counted_remove(&mut self, at: usize) -> T {
        moved::<T>(self.len() - at);
        self.remove(at)
    }
    fn counted_insert(&mut self, at: usize, x: T) {
        moved::<T>(self.len() - at);
        self.insert(at, x);
    }
}
/// `remove` of queues.
pub trait CountedDeque<T> {
    fn counted_remove(&mut self, at: usize) -> Option<T>;
}
impl<T> CountedDeque<T> for std::collections::VecDeque<T> {
    fn counted_remove(&mut self, at: usize) -> Option<T> {
        moved::<T>(at.min(self.len() - at));
        self.remove(at)
    }
}
/// Copies: each number of memory that is made is read and written.
pub trait CountedClone: Clone {
    fn counted_clone(&self) -> Self;
}
impl<T: Clone> CountedClone for T {
    fn counted_clone(&self) -> T {
        let before = crate::counters::allocated();
        let copy = self.clone();
        tick(2 * (crate::counters::allocated() - before) / 8);
        copy
    }
}

/// Consumers of iterators: a step costs an addition, a comparison and an element that is read; a
/// sum or a product an operation on each.
pub trait CountedIterator: Iterator + Sized {
    fn counted_sum<S: std::iter::Sum<Self::Item>>(self) -> S;
    fn counted_product<S: std::iter::Product<Self::Item>>(self) -> S;
    fn counted_fold<B>(self, init: B, f: impl FnMut(B, Self::Item) -> B) -> B;
    fn counted_collect<C: FromIterator<Self::Item>>(self) -> C;
}
impl<I: Iterator> CountedIterator for I {
    fn counted_sum<S: std::iter::Sum<I::Item>>(self) -> S {
        self.inspect(|_| operation::<I::Item>()).sum()
    }
    fn counted_product<S: std::iter::Product<I::Item>>(self) -> S {
        self.inspect(|_| operation::<I::Item>()).product()
    }
    fn counted_fold<B>(self, init: B, f: impl FnMut(B, I::Item) -> B) -> B {
        self.inspect(|_| tick(3)).fold(init, f)
    }
    fn counted_collect<C: FromIterator<I::Item>>(self) -> C {
        self.inspect(|_| tick(4)).collect()
    }
}
fn operation<T>() {
    tick(4);
    more(u64::from(std::any::type_name::<T>().ends_with("f64")));
}

/// Folds of arrays side by side.
macro_rules! folds {
    ($($name:ident: $($p:ident)*;)*) => {$(
        pub trait $name<$($p: NdProducer),*> {
            fn counted_fold<B>(self, init: B, f: impl FnMut(B, $($p::Item),*) -> B) -> B;
        }
        impl<D: Dimension, $($p: NdProducer<Dim = D>),*> $name<$($p),*> for Zip<($($p,)*), D> {
            fn counted_fold<B>(self, init: B, f: impl FnMut(B, $($p::Item),*) -> B) -> B {
                tick(4 * self.size() as u64);
                self.fold(init, f)
            }
        }
    )*};
}
folds! { CountedOne: P; CountedTwo: P Q; CountedThree: P Q R; }
