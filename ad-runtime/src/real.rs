//! The traits that a user's bounds may name, and the sealed list of element types behind them.

use core::iter::{Product, Sum};

use crate::Leaves;
use crate::dual_numbers::{Forward, Lift, Reverse, Reversible, Special};
use crate::float::NdFloat;

pub(crate) use private::Sealed;

mod private {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl<F: super::Real> SealedScalar for F {}

    pub trait SealedScalar {}
}

/// A real number: `f32` or `f64`, chosen where the function is called; or a number of
/// `mode = "dual_numbers"` over one of them.
///
/// An alias-like trait: `ndarray::NdFloat` (arithmetic, `exp`, `ln`, comparison, ndarray's
/// operators, which are `num_traits::Float` and more) and literals. It is sealed. What reads the
/// value of a number (a comparison, a cast, [`Real::as_f64`], formatting) has no derivative.
///
/// ```
/// use ad_runtime::Real;
/// fn half<T: Real>(x: T) -> T {
///     T::lit(0.5) * x
/// }
/// assert_eq!(half(3.0_f32), 1.5);
/// assert_eq!(half(3.0_f64), 1.5);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a real number type",
    label = "expected `f32` or `f64`",
    note = "derivatives are taken of `f32` and `f64`, and of type parameters bounded by `Real`"
)]
pub trait Real:
    NdFloat
    + Sum
    + Product
    + for<'a> Sum<&'a Self>
    + for<'a> Product<&'a Self>
    + Leaves<Self>
    + crate::calls::Word
    + Reversible
    + Lift<Self, Self, Output = Self>
    + Lift<Self, Reverse<Self>, Output = Reverse<Self>>
    + Lift<Self, Forward<Self>, Output = Forward<Self>>
    + Lift<Self, Reverse<Forward<Self>>, Output = Reverse<Forward<Self>>>
    + Lift<Self, Forward<Forward<Self>>, Output = Forward<Forward<Self>>>
    + private::Sealed
{
    /// Whether the type is `f32` or `f64`.
    #[doc(hidden)]
    const IS_MACHINE: bool;

    /// The literal `x` in this type, rounded to nearest.
    ///
    /// ```
    /// use ad_runtime::Real;
    /// assert_eq!(f32::lit(0.1), 0.1_f32);
    /// ```
    fn lit(x: f64) -> Self;

    /// The value as an `f64` (exact).
    ///
    /// ```
    /// use ad_runtime::Real;
    /// assert_eq!(0.5_f32.as_f64(), 0.5);
    /// ```
    fn as_f64(self) -> f64;

    /// Whether the number and all its derivatives are zero.
    #[doc(hidden)]
    fn vanishes(self) -> bool;

    /// The same value, which derivatives treat as a constant: `stop_gradient` for functions with
    /// `mode = "dual_numbers"`.
    ///
    /// ```
    /// use ad_runtime::Real;
    /// assert_eq!(2.0_f64.without_derivative(), 2.0);
    /// ```
    #[must_use]
    fn without_derivative(self) -> Self;

    /// `self * b + c` with one rounding, where the processor has the instruction.
    #[doc(hidden)]
    #[must_use]
    #[inline(always)]
    fn fused(self, b: Self, c: Self) -> Self {
        self.mul_add(b, c)
    }

    /// A function that std lacks.
    #[doc(hidden)]
    #[must_use]
    fn special(self, function: impl Special) -> Self;
}

macro_rules! machine_number {
    ($ty:ident) => {
        impl Real for $ty {
            const IS_MACHINE: bool = true;
            #[inline(always)]
            fn lit(x: f64) -> $ty {
                #[allow(clippy::cast_possible_truncation, reason = "rounding to nearest is what a literal does")]
                let x = x as $ty;
                x
            }
            #[inline(always)]
            fn as_f64(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn vanishes(self) -> bool {
                self == 0.0
            }
            #[inline(always)]
            fn without_derivative(self) -> $ty {
                self
            }
            #[cfg(not(feature = "std"))]
            #[inline(always)]
            fn fused(self, b: $ty, c: $ty) -> $ty {
                crate::float::FusedFloat::mul_add(self, b, c)
            }
            #[inline(always)]
            fn special(self, function: impl Special) -> $ty {
                function.machine(self)
            }
        }
    };
}
machine_number!(f64);
machine_number!(f32);

/// A scalar of the DSL: a [`Real`], an integer type, or `bool`. Sealed.
///
/// ```
/// use ad_runtime::dsl::{Scalar, select};
///
/// fn either<A: Scalar>(first: bool, a: A, b: A) -> A {
///     select(first, a, b)
/// }
/// assert_eq!(either(true, 1.5, 2.5), 1.5);
/// assert_eq!(either(false, 1_u8, 2), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scalar of the array DSL",
    label = "expected `f64`, `f32`, an integer type or `bool`"
)]
pub trait Scalar: Copy + 'static + private::SealedScalar {}

impl<F: Real> Scalar for F {}

/// The integer types over which a range may count. Sealed.
///
/// ```
/// use ad_runtime::dsl::{Integer, Seq, fold};
/// use std::ops::Range;
///
/// fn steps<T: Integer>(range: Range<T>) -> usize
/// where
///     Range<T>: Seq,
/// {
///     fold(0, range, |n, _| n + 1)
/// }
/// assert_eq!(steps(-1..3_i32), 4);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer type of the array DSL",
    label = "expected one of `usize`, `isize`, `i32`, `i64`, `u32`, `u64`, `u8`"
)]
pub trait Integer: Scalar {}

macro_rules! discrete {
    ($($t:ty),*) => {$(
        impl private::SealedScalar for $t {}
        impl Scalar for $t {}
    )*};
}
discrete!(usize, isize, i32, i64, u32, u64, u8, bool);

macro_rules! integers {
    ($($t:ty),*) => {$( impl Integer for $t {} )*};
}
integers!(usize, isize, i32, i64, u32, u64, u8);
