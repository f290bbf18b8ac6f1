//! The traits of std, num-traits and ndarray by which generic code uses numbers. Comparisons,
//! casts,
//! roundings and formatting read the value. This module must never hold a rule of differentiation.

use alloc::vec::Vec;
use core::cell::RefCell;
use core::cmp::Ordering;
use core::fmt;
use core::iter::{Product, Sum};
use core::num::FpCategory;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign};
use core::slice::Iter;

use ndarray::ScalarOperand;
use num_traits::{Bounded, Float, FloatConst, FromPrimitive, Num, NumCast, One, Signed, ToPrimitive, Zero};

use super::rules::{self, Number, Special};
use super::{Forward, Reverse};
use crate::calls::{Arrays, SavedArrays, Word};
use crate::float::NdFloat;
use crate::{Differentiable, Leaves, Real};

/// The shifts of a number by a constant have its derivative, so nothing is recorded for them.
macro_rules! arithmetic {
    ($name:ident: $($op:ident $method:ident $assign:ident $method_assign:ident;)*) => {$(
        impl<T: Real> $op for $name<T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                rules::$method(self, other)
            }
        }
        impl<T: Real> $op<&Self> for $name<T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: &Self) -> Self {
                rules::$method(self, *other)
            }
        }
        impl<T: Real> $assign for $name<T> {
            #[inline(always)]
            fn $method_assign(&mut self, other: Self) {
                *self = rules::$method(*self, other);
            }
        }
        impl<T: Real> $assign<&Self> for $name<T> {
            #[inline(always)]
            fn $method_assign(&mut self, other: &Self) {
                *self = rules::$method(*self, *other);
            }
        }
    )*};
}

macro_rules! constants {
    ($($name:ident)*) => { $( #[inline] fn $name() -> Self { Self::constant(T::$name()) } )* };
}

macro_rules! of_value {
    ($($name:ident -> $t:ty;)*) => { $( #[inline(always)] fn $name(self) -> $t { self.primal().$name() } )* };
}

macro_rules! without_derivative {
    ($($name:ident)*) => {
        $( #[inline(always)] fn $name(self) -> Self { Self::constant(self.primal().$name()) } )*
    };
}

macro_rules! by_rules {
    ($($name:ident($($x:ident),*);)*) => {
        $( #[inline(always)] fn $name(self $(, $x: Self)*) -> Self { rules::$name(self $(, $x)*) } )*
    };
}

macro_rules! number_constants {
    ($($name:ident)*) => { $( #[inline] fn $name() -> Self { Self::lit(f64::$name()) } )* };
}

macro_rules! number {
    ($name:ident) => {
        arithmetic! { $name:
            Add add AddAssign add_assign;
            Sub sub SubAssign sub_assign;
            Mul mul MulAssign mul_assign;
            Div div DivAssign div_assign;
            Rem rem RemAssign rem_assign;
        }

        impl<T: Real> Neg for $name<T> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                self.unary(-self.primal(), || -T::one())
            }
        }

        impl<T: Real> PartialEq for $name<T> {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.primal() == other.primal()
            }
        }

        impl<T: Real> PartialOrd for $name<T> {
            #[inline(always)]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.primal().partial_cmp(&other.primal())
            }
        }

        number!(format $name: Display Debug LowerExp UpperExp);

        impl<T: Real> Zero for $name<T> {
            #[inline(always)]
            fn zero() -> Self {
                Self::constant(T::zero())
            }
            #[inline(always)]
            fn is_zero(&self) -> bool {
                self.primal().is_zero()
            }
        }

        impl<T: Real> One for $name<T> {
            #[inline(always)]
            fn one() -> Self {
                Self::constant(T::one())
            }
        }

        impl<T: Real> Num for $name<T> {
            type FromStrRadixErr = T::FromStrRadixErr;
            fn from_str_radix(text: &str, radix: u32) -> Result<Self, Self::FromStrRadixErr> {
                T::from_str_radix(text, radix).map(Self::constant)
            }
        }

        impl<T: Real> ToPrimitive for $name<T> {
            number!(cast to_i64 i64, to_u64 u64, to_i128 i128, to_u128 u128, to_f32 f32, to_f64 f64);
        }

        impl<T: Real> NumCast for $name<T> {
            fn from<N: ToPrimitive>(n: N) -> Option<Self> {
                <T as NumCast>::from(n).map(Self::constant)
            }
        }

        impl<T: Real> FromPrimitive for $name<T> {
            fn from_i64(n: i64) -> Option<Self> {
                <T as NumCast>::from(n).map(Self::constant)
            }
            fn from_u64(n: u64) -> Option<Self> {
                <T as NumCast>::from(n).map(Self::constant)
            }
            fn from_f64(n: f64) -> Option<Self> {
                Some(Self::lit(n))
            }
        }

        impl<T: Real> Bounded for $name<T> {
            constants!(min_value max_value);
        }

        impl<T: Real> FloatConst for $name<T> {
            number_constants!(
                E FRAC_1_PI FRAC_1_SQRT_2 FRAC_2_PI FRAC_2_SQRT_PI FRAC_PI_2 FRAC_PI_3 FRAC_PI_4 FRAC_PI_6
                FRAC_PI_8 LN_10 LN_2 LOG10_E LOG2_E PI SQRT_2
            );
        }

        impl<T: Real> Signed for $name<T> {
            fn abs(&self) -> Self {
                rules::abs(*self)
            }
            fn abs_sub(&self, other: &Self) -> Self {
                Float::abs_sub(*self, *other)
            }
            fn signum(&self) -> Self {
                Float::signum(*self)
            }
            fn is_positive(&self) -> bool {
                self.primal().is_sign_positive()
            }
            fn is_negative(&self) -> bool {
                self.primal().is_sign_negative()
            }
        }

        impl<T: Real> Float for $name<T> {
            constants!(nan infinity neg_infinity neg_zero min_value min_positive_value epsilon max_value);
            of_value! {
                is_nan -> bool; is_infinite -> bool; is_finite -> bool; is_normal -> bool; is_subnormal -> bool;
                classify -> FpCategory; is_sign_positive -> bool; is_sign_negative -> bool;
                integer_decode -> (u64, i16, i8);
            }
            without_derivative!(floor ceil round trunc signum);
            by_rules! {
                abs(); recip(); sqrt(); cbrt(); exp(); exp2(); exp_m1(); ln(); ln_1p(); log2(); log10(); log(base);
                sin(); cos(); tan(); asin(); acos(); atan(); atan2(x); sinh(); cosh(); tanh(); asinh(); acosh();
                atanh(); hypot(y); powf(n); mul_add(a, b); max(other); min(other); copysign(sign); to_degrees();
                to_radians();
            }
            #[inline(always)]
            fn fract(self) -> Self {
                self.shifted(self.primal().fract())
            }
            #[inline(always)]
            fn powi(self, n: i32) -> Self {
                rules::powi(self, n)
            }
            #[inline(always)]
            fn clamp(self, min: Self, max: Self) -> Self {
                let value = self.primal().clamp(min.primal(), max.primal());
                if self < min {
                    min.shifted(value)
                } else if self > max {
                    max.shifted(value)
                } else {
                    self.shifted(value)
                }
            }
            fn abs_sub(self, other: Self) -> Self {
                if self <= other { Self::zero() } else { self - other }
            }
            #[inline(always)]
            fn sin_cos(self) -> (Self, Self) {
                let (sin, cos) = self.primal().sin_cos();
                (self.unary(sin, || cos), self.unary(cos, || -sin))
            }
        }

        impl<T: Real> ScalarOperand for $name<T> {}
        impl<T: Real> NdFloat for $name<T> {}

        number!(total $name: Sum sum add zero);
        number!(total $name: Product product mul one);

        impl<T: Real> crate::real::Sealed for $name<T> {}

        impl<T: Real> Word for $name<T> {
            fn to_word(self) -> u64 {
                no_word()
            }
            fn of_word(_: u64) -> Self {
                no_word()
            }
            fn arena(_: &Arrays) -> &RefCell<SavedArrays<Self>> {
                no_word()
            }
        }

        impl<T: Real> Real for $name<T> {
            const IS_MACHINE: bool = false;
            #[inline(always)]
            fn lit(x: f64) -> Self {
                Self::constant(T::lit(x))
            }
            #[inline(always)]
            fn as_f64(self) -> f64 {
                self.primal().as_f64()
            }
            #[inline(always)]
            fn vanishes(self) -> bool {
                Number::vanishes(self)
            }
            #[inline(always)]
            fn without_derivative(self) -> Self {
                Self::constant(self.primal())
            }
            #[inline(always)]
            fn special(self, function: impl Special) -> Self {
                let x = self.primal();
                self.unary(x.special(function), || function.derivative(x))
            }
        }

        impl<T: Real> Leaves<$name<T>> for $name<T> {
            fn count_leaves(&self) -> usize {
                1
            }
            fn write_leaves(&self, flat: &mut Vec<Self>) {
                flat.push(*self);
            }
            fn read_leaves(&self, flat: &mut Iter<'_, Self>) -> Self {
                *flat.next().unwrap_or_else(|| panic!("from_flat: there are too few numbers"))
            }
            fn zero_leaves(&self) -> Self {
                Self::zero()
            }
            fn add_leaves(&mut self, a: Self, x: &Self) {
                *self += a * *x;
            }
            fn dot_leaves(&self, x: &Self) -> Self {
                *self * *x
            }
        }
        impl<T: Real> Differentiable<$name<T>> for $name<T> {}
    };
    (format $name:ident: $($trait:ident)*) => {$(
        impl<T: Real> fmt::$trait for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::$trait::fmt(&self.primal(), f)
            }
        }
    )*};
    (cast $($method:ident $t:ty),*) => {$(
        fn $method(&self) -> Option<$t> {
            self.primal().$method()
        }
    )*};
    (total $name:ident: $trait:ident $method:ident $op:ident $unit:ident) => {
        impl<T: Real> $trait for $name<T> {
            fn $method<I: Iterator<Item = Self>>(all: I) -> Self {
                all.fold(Self::$unit(), rules::$op)
            }
        }
        impl<'a, T: Real> $trait<&'a Self> for $name<T> {
            fn $method<I: Iterator<Item = &'a Self>>(all: I) -> Self {
                all.copied().fold(Self::$unit(), rules::$op)
            }
        }
    };
}

number!(Reverse);
number!(Forward);

/// The records of calls hold words of 64 bits, and a number is more.
#[cold]
fn no_word() -> ! {
    panic!(
        "dual numbers: a derivative of a recursive function, or of one with rules of its own, is taken of mode \
         \"dual_arrays\" with numbers of mode \"dual_numbers\"; call the function instead, or write \
         `mode = \"dual_numbers\"` at it too"
    )
}
