//! The traits that a user's bounds may name, and the sealed list of element types behind them.

use std::iter::{Product, Sum};

use ndarray::NdFloat;

use crate::Leaves;

mod private {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl<F: super::Real> SealedScalar for F {}

    pub trait SealedScalar {}
}

/// A real number: `f32` or `f64`, chosen where the function is called.
///
/// An alias-like trait: [`ndarray::NdFloat`] (arithmetic, `exp`, `ln`, comparison, ndarray's
/// operators) and literals. It is sealed; generic code may rely on its two implementations.
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
    + private::Sealed
{
    /// The literal `x` in this type, rounded to nearest.
    fn lit(x: f64) -> Self;

    /// The value as an `f64` (exact).
    fn as_f64(self) -> f64;
}

impl Real for f64 {
    #[inline(always)]
    fn lit(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn as_f64(self) -> f64 {
        self
    }
}

impl Real for f32 {
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "rounding to nearest is what a literal does")]
    fn lit(x: f64) -> f32 {
        x as f32
    }
    #[inline(always)]
    fn as_f64(self) -> f64 {
        f64::from(self)
    }
}

/// A scalar of the DSL: a [`Real`], an integer type, or `bool`. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scalar of the array DSL",
    label = "expected `f64`, `f32`, an integer type or `bool`"
)]
pub trait Scalar: Copy + 'static + private::SealedScalar {}

impl<F: Real> Scalar for F {}

/// The integer types over which a range may count. Sealed.
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
