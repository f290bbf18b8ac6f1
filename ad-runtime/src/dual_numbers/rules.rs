//! The derivative of each operation, for the numbers of both modes. Partial derivatives are numbers
//! of the level below, so they have derivatives themselves.
//!
//! Conventions where a derivative is not defined are those of the guide. A comparison reads values
//! only. This module must never know how a derivative is recorded.

use num_traits::{Float, One, Zero};

use crate::Real;
use crate::kernel::special;

/// A number that knows its derivative: the only operations that differ by mode.
pub trait Number: Copy {
    /// The type of values and of derivatives.
    type Inner: Real;

    /// A number without a derivative.
    fn constant(value: Self::Inner) -> Self;

    /// The value.
    fn primal(self) -> Self::Inner;

    /// Whether the number and all its derivatives are zero.
    fn vanishes(self) -> bool;

    /// Whether the number has no derivative.
    fn is_constant(self) -> bool;

    /// A number with another value and the same derivative.
    fn shifted(self, value: Self::Inner) -> Self;

    /// The result of an operation with this partial derivative. It is computed only if it is
    /// needed.
    fn unary(self, value: Self::Inner, partial: impl FnOnce() -> Self::Inner) -> Self;

    /// The result of an operation with these partial derivatives.
    fn binary(
        self,
        other: Self,
        value: Self::Inner,
        first: impl FnOnce() -> Self::Inner,
        second: impl FnOnce() -> Self::Inner,
    ) -> Self;
}

/// A function that std lacks: its value for `f32` and `f64`, and its derivative for all numbers.
pub trait Special: Copy {
    /// The value for `f32` and `f64`.
    fn machine<F: Real>(self, x: F) -> F;
    /// The derivative.
    fn derivative<F: Real>(self, x: F) -> F;
}

macro_rules! special_functions {
    ($($(#[$doc:meta])* $name:ident: |$x:ident| $value:expr, $derivative:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Special for $name {
            #[inline(always)]
            fn machine<F: Real>(self, $x: F) -> F {
                $value
            }
            fn derivative<F: Real>(self, $x: F) -> F {
                $derivative
            }
        }
    )*};
}

/// `2 / sqrt(pi)`.
const FRAC_2_SQRT_PI: f64 = core::f64::consts::FRAC_2_SQRT_PI;

special_functions! {
    /// `sigmoid`.
    Sigmoid: |x| special::sigmoid_of_machine(x), special::sigmoid(x) * special::sigmoid(-x);
    /// `softplus`.
    Softplus: |x| special::softplus_of_machine(x), special::sigmoid(x);
    /// `erf`.
    Erf: |x| F::lit(special::erf_f64(x.as_f64())), F::lit(FRAC_2_SQRT_PI) * (-x * x).exp();
    /// `erfc`.
    Erfc: |x| F::lit(special::erfc_f64(x.as_f64())), F::lit(-FRAC_2_SQRT_PI) * (-x * x).exp();
    /// `ln_gamma`.
    LnGamma: |x| F::lit(special::ln_gamma_f64(x.as_f64())), special::digamma(x);
    /// `digamma`.
    Digamma: |x| F::lit(special::digamma_f64(x.as_f64())), special::trigamma(x);
    /// `trigamma`.
    Trigamma: |x| F::lit(special::trigamma_f64(x.as_f64())), special::tetragamma(x);
    /// `tetragamma`.
    Tetragamma: |x| F::lit(special::tetragamma_f64(x.as_f64())), special::polygamma(F::lit(3.0), x);
}

/// The derivative of `digamma` of this order.
#[derive(Clone, Copy, Debug)]
pub struct Polygamma(pub f64);

impl Special for Polygamma {
    #[inline(always)]
    fn machine<F: Real>(self, x: F) -> F {
        F::lit(special::polygamma_f64(self.0, x.as_f64()))
    }
    fn derivative<F: Real>(self, x: F) -> F {
        special::polygamma(F::lit(self.0 + 1.0), x)
    }
}

/// A sum. A number and a constant have a sum with the derivative of the number, so nothing is
/// recorded.
#[inline(always)]
pub(super) fn add<N: Number>(a: N, b: N) -> N {
    let value = a.primal() + b.primal();
    if b.is_constant() {
        a.shifted(value)
    } else if a.is_constant() {
        b.shifted(value)
    } else {
        a.binary(b, value, N::Inner::one, N::Inner::one)
    }
}

#[inline(always)]
pub(super) fn sub<N: Number>(a: N, b: N) -> N {
    let value = a.primal() - b.primal();
    if b.is_constant() { a.shifted(value) } else { a.binary(b, value, N::Inner::one, || -N::Inner::one()) }
}

#[inline(always)]
pub(super) fn mul<N: Number>(a: N, b: N) -> N {
    let (x, y) = (a.primal(), b.primal());
    a.binary(b, x * y, || y, || x)
}

#[inline(always)]
pub(super) fn div<N: Number>(a: N, b: N) -> N {
    let (x, y) = (a.primal(), b.primal());
    let value = x / y;
    a.binary(b, value, || y.recip(), || -(value / y))
}

#[inline(always)]
pub(super) fn rem<N: Number>(a: N, b: N) -> N {
    let (x, y) = (a.primal(), b.primal());
    a.binary(b, x % y, N::Inner::one, || -(x / y).trunc())
}

/// `a * b + c` with one rounding.
#[inline(always)]
pub(super) fn mul_add<N: Number>(a: N, b: N, c: N) -> N {
    let value = a.primal().mul_add(b.primal(), c.primal());
    mul(a, b).binary(c, value, N::Inner::one, N::Inner::one)
}

#[inline(always)]
pub(super) fn abs<N: Number>(a: N) -> N {
    let x = a.primal();
    a.unary(x.abs(), || if x == N::Inner::zero() { N::Inner::zero() } else { x.signum() })
}

#[inline(always)]
pub(super) fn powi<N: Number>(a: N, n: i32) -> N {
    let x = a.primal();
    let partial = || match n {
        0 => N::Inner::zero(),
        // The exponent has no predecessor.
        i32::MIN => N::Inner::lit(f64::from(n)) * x.powi(n) / x,
        _ => N::Inner::lit(f64::from(n)) * x.powi(n - 1),
    };
    a.unary(x.powi(n), partial)
}

#[inline(always)]
pub(super) fn powf<N: Number>(a: N, b: N) -> N {
    let (x, y, zero) = (a.primal(), b.primal(), N::Inner::zero());
    let value = x.powf(y);
    let by_base = || {
        let nothing = y.vanishes() || (x == zero && y == zero);
        if nothing { zero } else { y * x.powf(y - N::Inner::one()) }
    };
    a.binary(b, value, by_base, || if x == zero && y > zero { zero } else { value * x.ln() })
}

#[inline(always)]
pub(super) fn log<N: Number>(a: N, base: N) -> N {
    let (x, b) = (a.primal(), base.primal());
    let value = x.log(b);
    a.binary(base, value, || (x * b.ln()).recip(), || -(value / (b * b.ln())))
}

#[inline(always)]
pub(super) fn hypot<N: Number>(a: N, b: N) -> N {
    let (x, y) = (a.primal(), b.primal());
    let value = x.hypot(y);
    let by = |x: N::Inner| if value == N::Inner::zero() { value } else { x / value };
    a.binary(b, value, || by(x), || by(y))
}

#[inline(always)]
pub(super) fn atan2<N: Number>(a: N, b: N) -> N {
    let (y, x) = (a.primal(), b.primal());
    let square = x * x + y * y;
    let by = |x: N::Inner| if square == N::Inner::zero() { N::Inner::zero() } else { x / square };
    a.binary(b, y.atan2(x), || by(x), || by(-y))
}

/// The larger number. A tie goes to the first; a NaN has no derivative.
#[inline(always)]
pub(super) fn max<N: Number>(a: N, b: N) -> N {
    let (x, y) = (a.primal(), b.primal());
    let value = x.max(y);
    if x >= y || y.is_nan() { a.shifted(value) } else { b.shifted(value) }
}

/// The smaller number, with the rules of [`max`].
#[inline(always)]
pub(super) fn min<N: Number>(a: N, b: N) -> N {
    let (x, y) = (a.primal(), b.primal());
    let value = x.min(y);
    if x <= y || y.is_nan() { a.shifted(value) } else { b.shifted(value) }
}

#[inline(always)]
pub(super) fn copysign<N: Number>(a: N, sign: N) -> N {
    let x = a.primal();
    let same = x.is_sign_negative() == sign.primal().is_sign_negative();
    let value = x.copysign(sign.primal());
    a.unary(value, || if same { N::Inner::one() } else { -N::Inner::one() })
}

macro_rules! unary {
    ($($name:ident: |$x:ident, $value:ident| $partial:expr;)*) => {$(
        #[inline(always)]
        pub(super) fn $name<N: Number>(a: N) -> N {
            let $x = a.primal();
            let $value = $x.$name();
            let _ = ($x, $value);
            a.unary($value, || $partial)
        }
    )*};
}

unary! {
    recip: |x, value| -(value * value);
    sqrt: |x, value| N::Inner::lit(0.5) / value;
    cbrt: |x, value| (N::Inner::lit(3.0) * value * value).recip();
    exp: |x, value| value;
    exp2: |x, value| value * N::Inner::lit(core::f64::consts::LN_2);
    exp_m1: |x, value| x.exp();
    ln: |x, value| x.recip();
    ln_1p: |x, value| (N::Inner::one() + x).recip();
    log2: |x, value| (x * N::Inner::lit(core::f64::consts::LN_2)).recip();
    log10: |x, value| (x * N::Inner::lit(core::f64::consts::LN_10)).recip();
    sin: |x, value| x.cos();
    cos: |x, value| -x.sin();
    tan: |x, value| N::Inner::one() + value * value;
    asin: |x, value| (N::Inner::one() - x * x).sqrt().recip();
    acos: |x, value| -(N::Inner::one() - x * x).sqrt().recip();
    atan: |x, value| (N::Inner::one() + x * x).recip();
    sinh: |x, value| x.cosh();
    cosh: |x, value| x.sinh();
    tanh: |x, value| N::Inner::one() - value * value;
    asinh: |x, value| (x * x + N::Inner::one()).sqrt().recip();
    acosh: |x, value| (x * x - N::Inner::one()).sqrt().recip();
    atanh: |x, value| (N::Inner::one() - x * x).recip();
    to_degrees: |x, value| N::Inner::lit(180.0 / core::f64::consts::PI);
    to_radians: |x, value| N::Inner::lit(core::f64::consts::PI / 180.0);
}
