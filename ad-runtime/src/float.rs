//! Real numbers without std. Core has the type `f64` with its arithmetic, and none of `exp`, `sin`
//! or `sqrt`. With the feature `libm`, num-traits' `Float` has them.
//!
//! Code of this crate that calls such a method of an `f64` or `f32` imports [`Float`] if there is
//! no std. This module must never compute anything by another formula than num-traits does.

#[cfg(feature = "std")]
pub use ndarray::NdFloat;
pub use num_traits::Float;

/// What ndarray's trait of this name is. ndarray has it only with std.
#[cfg(not(feature = "std"))]
pub trait NdFloat:
    Float
    + core::ops::AddAssign
    + core::ops::SubAssign
    + core::ops::MulAssign
    + core::ops::DivAssign
    + core::ops::RemAssign
    + core::fmt::Display
    + core::fmt::Debug
    + core::fmt::LowerExp
    + core::fmt::UpperExp
    + ndarray::ScalarOperand
    + ndarray::LinalgScalar
    + Send
    + Sync
{
}

#[cfg(not(feature = "std"))]
impl NdFloat for f32 {}
#[cfg(not(feature = "std"))]
impl NdFloat for f64 {}

/// The methods of numbers that `kernel::fast` needs. `libm` computes `mul_add` by a call, which
/// would keep LLVM from vectorising a loop.
#[cfg(not(feature = "std"))]
#[allow(dead_code, reason = "another crate of the build may use std, and numbers then have these methods themselves")]
pub(crate) trait FusedFloat {
    /// `self * b + c`, rounded once.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// The integer part.
    fn trunc(self) -> Self;
}

#[cfg(not(feature = "std"))]
macro_rules! fused {
    ($ty:ident: $set:ident $fmadd:ident $get:ident) => {
        impl FusedFloat for $ty {
            #[inline(always)]
            fn mul_add(self, b: $ty, c: $ty) -> $ty {
                #[cfg(all(target_arch = "x86_64", target_feature = "fma"))]
                {
                    use core::arch::x86_64::{$fmadd, $get, $set};
                    // SAFETY: the instruction needs a processor with FMA. The build assumes one:
                    // this code exists only with the target feature.
                    #[allow(unsafe_code, reason = "core has no other name for the instruction")]
                    return unsafe { $get($fmadd($set(self), $set(b), $set(c))) };
                }
                #[cfg(not(all(target_arch = "x86_64", target_feature = "fma")))]
                Float::mul_add(self, b, c)
            }
            #[inline(always)]
            fn trunc(self) -> $ty {
                Float::trunc(self)
            }
        }
    };
}

#[cfg(not(feature = "std"))]
fused!(f64: _mm_set_sd _mm_fmadd_sd _mm_cvtsd_f64);
#[cfg(not(feature = "std"))]
fused!(f32: _mm_set_ss _mm_fmadd_ss _mm_cvtss_f32);
