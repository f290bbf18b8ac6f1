//! Values with other numbers in place of their own: arguments with numbers of a tape, and gradients
//! that have the structure of an argument. `#[derive(Differentiable)]` implements [`Lift`] for
//! types with a type parameter for their numbers. This module must never know what numbers are.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;

use ndarray::{Array, ArrayBase, ArrayRef, Data, Dimension};

use super::{Forward, Reverse};

/// A value in which each number of type `T` can be replaced by one of type `U`. Discrete parts are
/// copied. The order of the numbers is that of [`crate::Leaves`].
#[diagnostic::on_unimplemented(
    message = "the numbers of type `{T}` in `{Self}` cannot be replaced by others",
    label = "`mode = \"dual_numbers\"` cannot take this type apart",
    note = "a struct or an enum of your own needs one type parameter `T: Real` for all its numbers and `#[derive(Differentiable)]`"
)]
pub trait Lift<T, U> {
    /// The owned type with the other numbers.
    type Output;

    /// The value with the other numbers.
    fn lift<M: FnMut(T) -> U>(&self, map: &mut M) -> Self::Output;

    /// Adds what two values of one structure have in common: lengths, and numbers of variants.
    fn structure(&self, found: &mut Vec<usize>);
}

macro_rules! numbers {
    ($([$($g:tt)*] $t:ty;)*) => {$(
        impl<$($g)* U> Lift<$t, U> for $t {
            type Output = U;
            #[inline(always)]
            fn lift<M: FnMut($t) -> U>(&self, map: &mut M) -> U {
                map(*self)
            }
            fn structure(&self, _: &mut Vec<usize>) {}
        }
    )*};
}
numbers! { [] f32; [] f64; [S: Copy,] Reverse<S>; [S: Copy,] Forward<S>; }

macro_rules! discrete {
    ($([$($g:tt)*] $t:ty;)*) => {$(
        impl<$($g)* T, U> Lift<T, U> for $t {
            type Output = $t;
            fn lift<M: FnMut(T) -> U>(&self, _: &mut M) -> $t {
                self.clone()
            }
            fn structure(&self, _: &mut Vec<usize>) {}
        }
    )*};
}
discrete! {
    [] (); [] bool; [] char; [] String; [] u8; [] u16; [] u32; [] u64; [] u128; [] usize; [] i8;
    [] i16; [] i32; [] i64; [] i128; [] isize;
}

impl<T, U> Lift<T, U> for PhantomData<T> {
    type Output = PhantomData<U>;
    fn lift<M: FnMut(T) -> U>(&self, _: &mut M) -> PhantomData<U> {
        PhantomData
    }
    fn structure(&self, _: &mut Vec<usize>) {}
}

macro_rules! lists {
    ($([$($g:tt)*] $t:ty => $output:ty;)*) => {$(
        impl<T, U, X: Lift<T, U> $($g)*> Lift<T, U> for $t {
            type Output = $output;
            fn lift<M: FnMut(T) -> U>(&self, map: &mut M) -> Self::Output {
                self.iter().map(|x| x.lift(map)).collect()
            }
            fn structure(&self, found: &mut Vec<usize>) {
                found.push(self.len());
                self.iter().for_each(|x| x.structure(found));
            }
        }
    )*};
}
lists! { [] [X] => Vec<X::Output>; [] Vec<X> => Vec<X::Output>; [] VecDeque<X> => VecDeque<X::Output>; }

impl<T, U, X: Lift<T, U>, const N: usize> Lift<T, U> for [X; N] {
    type Output = [X::Output; N];
    fn lift<M: FnMut(T) -> U>(&self, map: &mut M) -> Self::Output {
        self.each_ref().map(|x| x.lift(map))
    }
    fn structure(&self, found: &mut Vec<usize>) {
        self.iter().for_each(|x| x.structure(found));
    }
}

impl<T, U, X: Lift<T, U>> Lift<T, U> for Option<X> {
    type Output = Option<X::Output>;
    fn lift<M: FnMut(T) -> U>(&self, map: &mut M) -> Self::Output {
        self.as_ref().map(|x| x.lift(map))
    }
    fn structure(&self, found: &mut Vec<usize>) {
        found.push(usize::from(self.is_some()));
        self.iter().for_each(|x| x.structure(found));
    }
}

macro_rules! pointers {
    ($([$($l:lifetime)?] $t:ty => $output:ty, $make:expr;)*) => {$(
        impl<$($l,)? T, U, X: Lift<T, U> + ?Sized> Lift<T, U> for $t {
            type Output = $output;
            fn lift<M: FnMut(T) -> U>(&self, map: &mut M) -> Self::Output {
                let make: fn(X::Output) -> Self::Output = $make;
                make((**self).lift(map))
            }
            fn structure(&self, found: &mut Vec<usize>) {
                (**self).structure(found);
            }
        }
    )*};
}
pointers! { [] Box<X> => Box<X::Output>, Box::new; ['a] &'a X => X::Output, |x| x; }

/// The values of a map, in the order of its keys. (The order of a hash map differs from map to
/// map.)
macro_rules! maps {
    ($([$($g:tt)*] $t:ty => $output:ty;)*) => {$(
        impl<T, U, X: Lift<T, U>, $($g)*> Lift<T, U> for $t {
            type Output = $output;
            fn lift<M: FnMut(T) -> U>(&self, map: &mut M) -> Self::Output {
                let mut all: Vec<(&K, &X)> = self.iter().collect();
                all.sort_by(|a, b| a.0.cmp(b.0));
                all.into_iter().map(|(key, x)| (key.clone(), x.lift(map))).collect()
            }
            fn structure(&self, found: &mut Vec<usize>) {
                let mut all: Vec<(&K, &X)> = self.iter().collect();
                all.sort_by(|a, b| a.0.cmp(b.0));
                found.push(all.len());
                all.into_iter().for_each(|(_, x)| x.structure(found));
            }
        }
    )*};
}
maps! {
    [K: Clone + Ord] BTreeMap<K, X> => BTreeMap<K, X::Output>;
}
#[cfg(feature = "std")]
maps! {
    [K: Clone + Eq + core::hash::Hash + Ord, S: core::hash::BuildHasher + Default]
        std::collections::HashMap<K, X, S> => std::collections::HashMap<K, X::Output, S>;
}

fn array<T, U, X: Lift<T, U>, D: Dimension>(x: &ArrayRef<X, D>, map: &mut impl FnMut(T) -> U) -> Array<X::Output, D> {
    let mut elements = x.iter().map(|x| x.lift(map));
    // The elements are made in the order of the indices.
    Array::from_shape_simple_fn(x.raw_dim(), || {
        elements.next().unwrap_or_else(|| unreachable!("an element for each of the same shape"))
    })
}

impl<T, U, X: Lift<T, U>, D: Dimension> Lift<T, U> for ArrayRef<X, D> {
    type Output = Array<X::Output, D>;
    fn lift<M: FnMut(T) -> U>(&self, map: &mut M) -> Self::Output {
        array(self, map)
    }
    fn structure(&self, found: &mut Vec<usize>) {
        found.extend(self.shape());
        self.iter().for_each(|x| x.structure(found));
    }
}

impl<T, U, X: Lift<T, U>, S: Data<Elem = X>, D: Dimension> Lift<T, U> for ArrayBase<S, D> {
    type Output = Array<X::Output, D>;
    fn lift<M: FnMut(T) -> U>(&self, map: &mut M) -> Self::Output {
        array(self, map)
    }
    fn structure(&self, found: &mut Vec<usize>) {
        let elements: &ArrayRef<X, D> = self;
        Lift::<T, U>::structure(elements, found);
    }
}

macro_rules! tuples {
    ($($t:ident $k:tt)*) => {
        impl<T, U, $($t: Lift<T, U>),*> Lift<T, U> for ($($t,)*) {
            type Output = ($($t::Output,)*);
            fn lift<M: FnMut(T) -> U>(&self, map: &mut M) -> Self::Output {
                ($(self.$k.lift(map),)*)
            }
            fn structure(&self, found: &mut Vec<usize>) {
                $(self.$k.structure(found);)*
            }
        }
    };
}
tuples!(A 0);
tuples!(A 0 B 1);
tuples!(A 0 B 1 C 2);
tuples!(A 0 B 1 C 2 D 3);
tuples!(A 0 B 1 C 2 D 3 E 4);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5 G 6);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11);
