//! The numbers of each crate, and the gradient by it.

use std::ops::{Add, Div, Mul, Sub};

use ad::Float;
use ad::Real;
use autodiff::FT;
use nalgebra_of_num_dual::SVector;
use num_dual::{DualNum, DualSVec64};
use reverse::{Gradient, Tape, Var};

use super::programs::{Number, Program};

macro_rules! number {
    ($([$($g:tt)*] $t:ty: |$x:ident, $c:ident| $scaled:expr, $plus:expr, $sqrt:expr, $tanh:expr;)*) => {$(
        impl<$($g)*> Number for $t {
            #[inline(always)]
            fn scaled(self, $c: f64) -> Self {
                let $x = self;
                $scaled
            }
            #[inline(always)]
            fn plus(self, $c: f64) -> Self {
                let $x = self;
                $plus
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                let $x = self;
                $sqrt
            }
            #[inline(always)]
            fn tanh(self) -> Self {
                let $x = self;
                $tanh
            }
        }
    )*};
}

number! {
    [] f64: |x, c| x * c, x + c, f64::sqrt(x), f64::tanh(x);
    [T: Real] Ours<T>: |x, c| Ours(x.0 * T::lit(c)), Ours(x.0 + T::lit(c)), Ours(Float::sqrt(x.0)), Ours(Float::tanh(x.0));
    ['a] Var<'a>: |x, c| x * c, x + c, Var::sqrt(&x), Var::tanh(&x);
    [] FT<f64>: |x, c| x * c, x + c, Float::sqrt(x), Float::tanh(x);
    [const N: usize] DualSVec64<N>: |x, c| x * c, x + c, DualNum::sqrt(&x), DualNum::tanh(&x);
}

/// A number of `ad`. Another crate's trait needs a type of this one.
#[derive(Clone, Copy)]
pub struct Ours<T>(pub T);

macro_rules! operators {
    ($($trait:ident $method:ident;)*) => {$(
        impl<T: Real> $trait for Ours<T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Ours(self.0.$method(other.0))
            }
        }
    )*};
}
operators! { Add add; Sub sub; Mul mul; Div div; }

/// Reverse mode by a tape.
pub fn by_reverse(program: &impl Program, x: &[f64]) -> Vec<f64> {
    let tape = Tape::new();
    let x = tape.add_vars(x);
    program.value(&x).grad().wrt(&x)
}

/// Forward mode, with all directions at once.
pub fn by_num_dual<const N: usize>(program: &impl Program, x: &[f64; N]) -> Vec<f64> {
    let value = |x: SVector<DualSVec64<N>, N>| program.value(x.as_slice());
    num_dual::gradient(value, &SVector::from(*x)).1.as_slice().to_vec()
}

/// Forward mode, one direction after the other.
pub fn by_autodiff(program: &impl Program, x: &[f64]) -> Vec<f64> {
    autodiff::grad(|x: &[FT<f64>]| program.value(x), x)
}
