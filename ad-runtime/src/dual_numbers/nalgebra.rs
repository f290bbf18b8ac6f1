//! The traits of nalgebra: numbers of both modes are a `RealField`, and matrices, vectors and
//! points are parameters and results.
//!
//! All functions are those of `operators`, under nalgebra's names. Comparisons, also those with a
//! tolerance, and casts read the value. This module must never hold a rule of differentiation.

use alloc::vec::Vec;
use core::slice::Iter;

use approx::{AbsDiffEq, RelativeEq, UlpsEq};
use nalgebra::allocator::Allocator;
use nalgebra::storage::{Owned, RawStorage};
use nalgebra::{ComplexField, DefaultAllocator, Dim, DimName, Field, Matrix, OMatrix, OPoint, RealField, SimdValue};
use num_traits::{Float, FloatConst};
use simba::scalar::SubsetOf;

use super::lift::Lift;
use super::rules::{self, Number};
use super::{Forward, Reverse};
use crate::{Differentiable, Leaves, Real};

macro_rules! by_float {
    ($($name:ident($($x:ident),*);)*) => {
        $( #[inline(always)] fn $name(self $(, $x: Self)*) -> Self { Float::$name(self $(, $x)*) } )*
    };
}

macro_rules! constants {
    ($($name:ident: $constant:ident;)*) => {
        $( #[inline] fn $name() -> Self { <Self as FloatConst>::$constant() } )*
    };
}

macro_rules! field {
    ($number:ident) => {
        impl<T: Real + RealField> SimdValue for $number<T> {
            const LANES: usize = 1;
            type Element = Self;
            type SimdBool = bool;

            #[inline(always)]
            fn splat(value: Self) -> Self {
                value
            }
            #[inline(always)]
            fn extract(&self, _: usize) -> Self {
                *self
            }
            // The trait declares two functions unsafe. With one lane nothing has to be assumed.
            #[allow(unsafe_code, reason = "the trait says so")]
            #[inline(always)]
            unsafe fn extract_unchecked(&self, _: usize) -> Self {
                *self
            }
            #[inline(always)]
            fn replace(&mut self, _: usize, value: Self) {
                *self = value;
            }
            #[allow(unsafe_code, reason = "the trait says so")]
            #[inline(always)]
            unsafe fn replace_unchecked(&mut self, _: usize, value: Self) {
                *self = value;
            }
            #[inline(always)]
            fn select(self, condition: bool, other: Self) -> Self {
                if condition { self } else { other }
            }
        }

        impl<T: Real + RealField> Field for $number<T> {}

        impl<T: Real + RealField> SubsetOf<Self> for $number<T> {
            #[inline(always)]
            fn to_superset(&self) -> Self {
                *self
            }
            #[inline(always)]
            fn from_superset_unchecked(element: &Self) -> Self {
                *element
            }
            #[inline(always)]
            fn is_in_subset(_: &Self) -> bool {
                true
            }
        }

        field!(machine $number: f32 f64);

        impl<T: Real + RealField> AbsDiffEq for $number<T> {
            type Epsilon = Self;
            fn default_epsilon() -> Self {
                Self::constant(T::default_epsilon())
            }
            fn abs_diff_eq(&self, other: &Self, epsilon: Self) -> bool {
                self.primal().abs_diff_eq(&other.primal(), epsilon.primal())
            }
        }

        impl<T: Real + RealField> RelativeEq for $number<T> {
            fn default_max_relative() -> Self {
                Self::constant(T::default_max_relative())
            }
            fn relative_eq(&self, other: &Self, epsilon: Self, max_relative: Self) -> bool {
                self.primal().relative_eq(&other.primal(), epsilon.primal(), max_relative.primal())
            }
        }

        impl<T: Real + RealField> UlpsEq for $number<T> {
            fn default_max_ulps() -> u32 {
                T::default_max_ulps()
            }
            fn ulps_eq(&self, other: &Self, epsilon: Self, max_ulps: u32) -> bool {
                self.primal().ulps_eq(&other.primal(), epsilon.primal(), max_ulps)
            }
        }

        impl<T: Real + RealField> ComplexField for $number<T> {
            type RealField = Self;

            by_float! {
                floor(); ceil(); round(); trunc(); fract(); mul_add(a, b); abs(); hypot(other); recip(); sin(); cos();
                tan(); asin(); acos(); atan(); sinh(); cosh(); tanh(); asinh(); acosh(); atanh(); log(base); log2();
                log10(); ln(); ln_1p(); sqrt(); exp(); exp2(); exp_m1(); powf(n); cbrt();
            }

            #[inline(always)]
            fn from_real(re: Self) -> Self {
                re
            }
            #[inline(always)]
            fn real(self) -> Self {
                self
            }
            #[inline(always)]
            fn imaginary(self) -> Self {
                Self::constant(T::zero())
            }
            #[inline(always)]
            fn modulus(self) -> Self {
                rules::abs(self)
            }
            #[inline(always)]
            fn modulus_squared(self) -> Self {
                self * self
            }
            /// The angle of a real number does not move with it.
            #[inline(always)]
            fn argument(self) -> Self {
                Self::constant(self.primal().argument().real())
            }
            #[inline(always)]
            fn norm1(self) -> Self {
                rules::abs(self)
            }
            #[inline(always)]
            fn scale(self, factor: Self) -> Self {
                self * factor
            }
            #[inline(always)]
            fn unscale(self, factor: Self) -> Self {
                self / factor
            }
            #[inline(always)]
            fn to_exp(self) -> (Self, Self) {
                let one = Self::constant(T::one());
                if self.primal() >= T::zero() { (self, one) } else { (-self, -one) }
            }
            #[inline(always)]
            fn signum(self) -> Self {
                Float::signum(self)
            }
            #[inline(always)]
            fn conjugate(self) -> Self {
                self
            }
            #[inline(always)]
            fn sin_cos(self) -> (Self, Self) {
                Float::sin_cos(self)
            }
            #[inline(always)]
            fn powi(self, n: i32) -> Self {
                Float::powi(self, n)
            }
            #[inline(always)]
            fn powc(self, n: Self) -> Self {
                Float::powf(self, n)
            }
            #[inline(always)]
            fn is_finite(&self) -> bool {
                Float::is_finite(self.primal())
            }
            #[inline(always)]
            fn try_sqrt(self) -> Option<Self> {
                (self.primal() >= T::zero()).then(|| Float::sqrt(self))
            }
        }

        impl<T: Real + RealField> RealField for $number<T> {
            by_float! { copysign(sign); max(other); min(other); clamp(min, max); atan2(x); }

            constants! {
                pi: PI; two_pi: TAU; frac_pi_2: FRAC_PI_2; frac_pi_3: FRAC_PI_3; frac_pi_4: FRAC_PI_4;
                frac_pi_6: FRAC_PI_6; frac_pi_8: FRAC_PI_8; frac_1_pi: FRAC_1_PI; frac_2_pi: FRAC_2_PI;
                frac_2_sqrt_pi: FRAC_2_SQRT_PI; e: E; log2_e: LOG2_E; log10_e: LOG10_E; ln_2: LN_2; ln_10: LN_10;
            }

            #[inline(always)]
            fn is_sign_positive(&self) -> bool {
                Float::is_sign_positive(self.primal())
            }
            #[inline(always)]
            fn is_sign_negative(&self) -> bool {
                Float::is_sign_negative(self.primal())
            }
            fn min_value() -> Option<Self> {
                <T as RealField>::min_value().map(Self::constant)
            }
            fn max_value() -> Option<Self> {
                <T as RealField>::max_value().map(Self::constant)
            }
        }
    };
    (machine $number:ident: $($machine:ident)*) => {$(
        /// A constant; the other way is a cast, which reads the value.
        impl<T: Real + RealField> SubsetOf<$number<T>> for $machine {
            #[inline(always)]
            fn to_superset(&self) -> $number<T> {
                $number::lit(f64::from(*self))
            }
            #[inline(always)]
            fn from_superset_unchecked(element: &$number<T>) -> $machine {
                $machine::lit(element.as_f64())
            }
            #[inline(always)]
            fn is_in_subset(_: &$number<T>) -> bool {
                true
            }
        }
    )*};
}

field!(Reverse);
field!(Forward);

/// A matrix, a vector or a view of one. Its numbers are taken in nalgebra's order, by columns.
impl<T, U, X, R, C, S> Lift<T, U> for Matrix<X, R, C, S>
where
    X: Lift<T, U, Output: nalgebra::Scalar>,
    R: Dim,
    C: Dim,
    S: RawStorage<X, R, C>,
    DefaultAllocator: Allocator<R, C>,
{
    type Output = OMatrix<X::Output, R, C>;
    fn lift<M: FnMut(T) -> U>(&self, map: &mut M) -> Self::Output {
        let (rows, columns) = self.shape_generic();
        OMatrix::from_iterator_generic(rows, columns, self.iter().map(|x| x.lift(map)))
    }
    fn structure(&self, found: &mut Vec<usize>) {
        let (rows, columns) = self.shape();
        found.extend([rows, columns]);
        self.iter().for_each(|x| x.structure(found));
    }
}

impl<T, U, X, D> Lift<T, U> for OPoint<X, D>
where
    X: Lift<T, U, Output: nalgebra::Scalar> + nalgebra::Scalar,
    D: DimName,
    DefaultAllocator: Allocator<D>,
{
    type Output = OPoint<X::Output, D>;
    fn lift<M: FnMut(T) -> U>(&self, map: &mut M) -> Self::Output {
        OPoint { coords: self.coords.lift(map) }
    }
    fn structure(&self, found: &mut Vec<usize>) {
        self.coords.structure(found);
    }
}

/// A matrix or a vector of numbers: a part of a struct with `#[derive(Differentiable)]`. Its
/// numbers are taken by columns.
impl<F, R, C> Leaves<F> for Matrix<F, R, C, Owned<F, R, C>>
where
    F: Real,
    R: Dim,
    C: Dim,
    DefaultAllocator: Allocator<R, C>,
{
    fn count_leaves(&self) -> usize {
        self.len()
    }
    fn write_leaves(&self, flat: &mut Vec<F>) {
        flat.extend(self.iter());
    }
    fn read_leaves(&self, flat: &mut Iter<'_, F>) -> Self {
        self.map(|x| x.read_leaves(flat))
    }
    fn zero_leaves(&self) -> Self {
        self.map(|_| F::zero())
    }
    fn add_leaves(&mut self, a: F, x: &Self) {
        same_shape(self.shape(), x.shape());
        self.iter_mut().zip(x.iter()).for_each(|(s, x)| *s += a * *x);
    }
    fn dot_leaves(&self, x: &Self) -> F {
        same_shape(self.shape(), x.shape());
        self.iter().zip(x.iter()).map(|(s, x)| *s * *x).sum()
    }
}

#[track_caller]
fn same_shape(a: (usize, usize), b: (usize, usize)) {
    assert_eq!(a, b, "the structures differ: a matrix of shape {a:?} and one of shape {b:?}");
}

impl<F, D> Leaves<F> for OPoint<F, D>
where
    F: Real,
    D: DimName,
    DefaultAllocator: Allocator<D>,
{
    fn count_leaves(&self) -> usize {
        self.coords.count_leaves()
    }
    fn write_leaves(&self, flat: &mut Vec<F>) {
        self.coords.write_leaves(flat);
    }
    fn read_leaves(&self, flat: &mut Iter<'_, F>) -> Self {
        OPoint { coords: self.coords.read_leaves(flat) }
    }
    fn zero_leaves(&self) -> Self {
        OPoint { coords: self.coords.zero_leaves() }
    }
    fn add_leaves(&mut self, a: F, x: &Self) {
        self.coords.add_leaves(a, &x.coords);
    }
    fn dot_leaves(&self, x: &Self) -> F {
        self.coords.dot_leaves(&x.coords)
    }
}

impl<F: Real, R: Dim, C: Dim> Differentiable<F> for Matrix<F, R, C, Owned<F, R, C>> where
    DefaultAllocator: Allocator<R, C>
{
}
