//! Functions of one real number that std lacks. The result for NaN is NaN.
//!
//! They are computed in double precision (for `f32` too, and then rounded), to a few units in the
//! last place. `sigmoid`, `relu` and `softplus` are computed in the precision of their argument.
//! The coefficients were computed for this file: Chebyshev interpolation, in 60 digits, of the
//! function named at each table, and then rounded. The stated errors were measured against values
//! of 35 digits, at some thousand random points for each function.
//!
//! This module must never be used by the compiler's reference interpreter, whose own versions check
//! these.

#[cfg(not(feature = "std"))]
#[allow(unused_imports, reason = "another crate of the build may use std")]
use crate::float::Float as _;
use core::f64::consts::PI;

use crate::Real;
use crate::dual_numbers as numbers;

/// The logistic function `1 / (1 + exp(-x))`, without overflow for either sign.
#[inline]
#[must_use]
pub fn sigmoid<F: Real>(x: F) -> F {
    x.special(numbers::Sigmoid)
}

/// [`sigmoid`] of a number without a derivative: the one below is not that of the function at 0.
#[inline(always)]
pub(crate) fn sigmoid_of_machine<F: Real>(x: F) -> F {
    // exp of a number that is not positive never overflows; the sign decides which quotient uses
    // it.
    let e = (-x.abs()).exp();
    let d = F::one() + e;
    if x < F::zero() { e / d } else { F::one() / d }
}

/// `x` where it is positive (or NaN), else 0.
#[inline]
#[must_use]
pub fn relu<F: Real>(x: F) -> F {
    if x > F::zero() || x.is_nan() { x } else { F::zero() }
}

/// `ln(1 + exp(x))`, without overflow and without losing small values.
#[inline]
#[must_use]
pub fn softplus<F: Real>(x: F) -> F {
    x.special(numbers::Softplus)
}

/// [`softplus`] of a number without a derivative.
#[inline(always)]
pub(crate) fn softplus_of_machine<F: Real>(x: F) -> F {
    let tail = (-x.abs()).exp().ln_1p();
    if x > F::zero() { x + tail } else { tail }
}

/// (2k + 1) B(2k) for k = 1, 2, ...: tetragamma(x) = -(1 / x^2 + 1 / x^3 + sum of these over x^(2k
/// + 2)).
const TETRAGAMMA_SERIES: [f64; 10] = [
    1.0 / 2.0,
    -1.0 / 6.0,
    1.0 / 6.0,
    -3.0 / 10.0,
    5.0 / 6.0,
    -691.0 / 210.0,
    35.0 / 2.0,
    -3617.0 / 30.0,
    43_867.0 / 42.0,
    -1_222_277.0 / 110.0,
];

pub(crate) fn tetragamma_f64(x: f64) -> f64 {
    if x.is_nan() {
        x
    } else if x == 0.0 {
        -1.0 / x
    } else if x < 0.0 {
        if x == x.floor() {
            return f64::NAN;
        }
        // Both functions change their sign with x's integer part.
        let (s, c) = (PI * (x - x.round())).sin_cos();
        tetragamma_f64(1.0 - x) - 2.0 * (PI / s).powi(3) * c
    } else {
        // tetragamma(x) = -2 / x^3 + tetragamma(x + 1): every term is negative, so nothing cancels.
        let (mut y, mut shift) = (x, 0.0);
        while y < ASYMPTOTIC {
            shift += 2.0 / (y * y * y);
            y += 1.0;
        }
        let r = 1.0 / y;
        let rr = r * r;
        -(shift + (rr + rr * (r + rr * polynomial(&TETRAGAMMA_SERIES, rr))))
    }
}

/// `if a == 0 { 0 } else { a * b }`: a cotangent of zero contributes nothing, even where the local
/// derivative is infinite or NaN.
#[inline]
#[must_use]
pub fn mul_zero<F: Real>(a: F, b: F) -> F {
    if a.vanishes() { F::zero() } else { a * b }
}

/// The derivative of order n of `digamma`, for a whole number n from 1 on. At 0 and the negative
/// integers it is infinite for odd n. For even n it is NaN at negative integers, and infinite with
/// the sign of `-x` at zeros. Relative error below 1e-14 for positive x.
#[inline]
#[must_use]
pub fn polygamma<F: Real>(n: F, x: F) -> F {
    x.special(numbers::Polygamma(n.as_f64()))
}

/// The largest order whose reflection is computed. Higher orders return NaN for negative arguments.
const LARGEST_ORDER: usize = 60;

pub(crate) fn polygamma_f64(n: f64, x: f64) -> f64 {
    let odd = n % 2.0 != 0.0;
    if x.is_nan() {
        x
    } else if x <= 0.0 && x == x.floor() {
        match (odd, x == 0.0) {
            (true, _) => f64::INFINITY,
            (false, true) => -1.0 / x,
            (false, false) => f64::NAN,
        }
    } else if x < 0.0 {
        let reflected = polygamma_f64(n, 1.0 - x);
        (if odd { -reflected } else { reflected }) - derivative_of_cotangent(n, x)
    } else {
        // polygamma(n, x) = n! / x^(n + 1) + polygamma(n, x + 1), but for the sign: nothing
        // cancels.
        let mut factorial = 1.0;
        let mut k = 2.0;
        while k < n {
            factorial *= k;
            k += 1.0;
        }
        // (n - 1)! is `factorial`, and n! is n times that.
        let (mut y, mut shift) = (x, 0.0);
        while y < ASYMPTOTIC + n {
            shift += n * factorial * (1.0 / y).powf(n + 1.0);
            y += 1.0;
        }
        let (r, rr) = (1.0 / y, 1.0 / (y * y));
        // `part` is a factor of the term for k of the series: (2k + n - 1)! / (n - 1)! / (2k)! /
        // y^(2k).
        let (mut series, mut part, mut m) = (1.0 + 0.5 * n * r, 1.0, 0.0);
        for b in BERNOULLI {
            part *= (m + n) / (m + 1.0) * ((m + 1.0 + n) / (m + 2.0)) * rr;
            m += 2.0;
            series += b * part;
        }
        let sum = shift + factorial * r.powf(n) * series;
        if odd { sum } else { -sum }
    }
}

/// B(2k) for k = 1, 2, ...
const BERNOULLI: [f64; 10] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43_867.0 / 798.0,
    -174_611.0 / 330.0,
];

/// The derivative of order n of `pi cot(pi x)`: a polynomial q in c = cot(pi x), since that of q(c)
/// is -pi (1 + c^2) q'(c).
fn derivative_of_cotangent(n: f64, x: f64) -> f64 {
    let mut q = [0.0; LARGEST_ORDER + 2];
    q[1] = 1.0;
    let mut order = 0.0;
    let mut degree = 1;
    while order < n {
        if degree > LARGEST_ORDER {
            return f64::NAN;
        }
        let mut next = [0.0; LARGEST_ORDER + 2];
        let mut power = 0.0;
        for k in 1..=degree {
            power += 1.0;
            next[k - 1] -= power * q[k];
            next[k + 1] -= power * q[k];
        }
        (q, degree, order) = (next, degree + 1, order + 1.0);
    }
    let (s, c) = (PI * (x - x.round())).sin_cos();
    PI.powf(n + 1.0) * polynomial(&q, c / s)
}

/// The functions of the DSL that are kernels of this file, with their documents: `$then` makes
/// them.
macro_rules! scalar_functions {
    ($then:ident) => {
        $then! {
            /// The logistic function `1 / (1 + exp(-x))` of a number or of each element; stable for
            /// large |x|.
            ///
            /// ```
            /// use ad_runtime::dsl::sigmoid;
            /// assert_eq!(sigmoid(0.0), 0.5);
            /// assert_eq!(sigmoid(-1000.0), 0.0);
            /// assert_eq!(sigmoid(&ndarray::array![0.0, 1000.0]), ndarray::array![0.5, 1.0]);
            /// ```
            sigmoid;

            /// The positive part `max(x, 0)` of a number or of each element; NaN stays NaN.
            /// Derivative 0 at 0.
            ///
            /// ```
            /// use ad_runtime::dsl::relu;
            /// assert_eq!(relu(-2.0), 0.0);
            /// assert_eq!(relu(&ndarray::array![-1.0, 3.0]), ndarray::array![0.0, 3.0]);
            /// ```
            relu;

            /// `ln(1 + exp(x))` of a number or of each element; stable for large |x|.
            ///
            /// ```
            /// use ad_runtime::dsl::softplus;
            /// assert_eq!(softplus(1000.0), 1000.0);
            /// assert_eq!(softplus(-40.0), (-40.0_f64).exp());
            /// ```
            softplus;

            /// The error function of a number or of each element, to about 1e-15.
            ///
            /// ```
            /// assert!((ad_runtime::dsl::erf(1.0) - 0.842_700_792_949_714_9_f64).abs() < 1e-15);
            /// ```
            erf;

            /// The complementary error function `1 - erf(x)` of a number or of each element, with
            /// its relative accuracy (about 1e-15) also where it is tiny.
            ///
            /// ```
            /// assert!((ad_runtime::dsl::erfc(10.0) / 2.088_487_583_762_545e-45_f64 - 1.0).abs() < 2e-15);
            /// ```
            erfc;

            /// The natural logarithm of |Gamma(x)| of a number or of each element. Infinite at 0,
            /// -1, -2, ...
            ///
            /// ```
            /// assert!((ad_runtime::dsl::ln_gamma(5.0) - 24.0_f64.ln()).abs() < 1e-14);
            /// ```
            ln_gamma;

            /// The derivative of [`ln_gamma`], of a number or of each element. NaN at -1, -2, ...
            ///
            /// ```
            /// // digamma(1) is minus Euler's constant.
            /// assert!((ad_runtime::dsl::digamma(1.0) + 0.577_215_664_901_532_9_f64).abs() < 1e-15);
            /// ```
            digamma;
        }
    };
}
pub(crate) use scalar_functions;

macro_rules! special {
    ($($(#[$doc:meta])* $name:ident by $inner:ident;)*) => {$(
        $(#[$doc])*
        #[inline]
        #[must_use]
        pub fn $name<F: Real>(x: F) -> F {
            x.special(numbers::$inner)
        }
    )*};
}

special! {
    /// The error function `2 / sqrt(pi) * integral from 0 to x of exp(-t^2)`. Relative error below
    /// 3e-16.
    erf by Erf;
    /// The complementary error function `1 - erf(x)`, relative error below 1e-15 also where it is
    /// tiny (until it is subnormal, beyond x = 26.5).
    erfc by Erfc;
    /// The natural logarithm of |Gamma(x)|. Infinite at 0 and the negative integers. Relative error
    /// below 1e-15 for positive x; on the negative axis the error is absolute near the function's
    /// zeros.
    ln_gamma by LnGamma;
    /// The derivative of `ln_gamma`. NaN at the negative integers, infinite with the sign of `-x`
    /// at zeros. Relative error below 1e-15 for positive x; on the negative axis absolute near the
    /// function's zeros.
    digamma by Digamma;
    /// The derivative of `digamma`. Infinite at 0 and the negative integers. Relative error below
    /// 1e-15 for positive x.
    trigamma by Trigamma;
    /// The derivative of `trigamma`. NaN at the negative integers, infinite with the sign of `-x`
    /// at zeros. Relative error below 2e-15 for positive x; on the negative axis absolute near the
    /// function's zeros.
    tetragamma by Tetragamma;
}

/// `c[0] + c[1] x + c[2] x^2 + ...`
#[inline(always)]
fn polynomial(c: &[f64], x: f64) -> f64 {
    c.iter().rev().fold(0.0, |p, &c| p * x + c)
}

/// `c[0] + c[1] T_1(u) + c[2] T_2(u) + ...` in Chebyshev polynomials, by Clenshaw's recurrence.
#[inline(always)]
fn chebyshev(c: &[f64], u: f64) -> f64 {
    let (mut b1, mut b2) = (0.0, 0.0);
    for &c in c[1..].iter().rev() {
        (b1, b2) = (2.0 * u * b1 - b2 + c, b1);
    }
    u * b1 - b2 + c[0]
}

/// erf(x) / x as a polynomial in x^2, for |x| <= 1; relative error 2e-19.
const ERF: [f64; 13] = [
    core::f64::consts::FRAC_2_SQRT_PI,
    -0.3761263890318375,
    0.11283791670954879,
    -0.026866170645076792,
    0.0052239776248180145,
    -0.000854832698083379,
    0.0001205533111164271,
    -1.4925595266831182e-5,
    1.6461000484121368e-6,
    -1.6350312701054695e-7,
    1.4659775274047436e-8,
    -1.1372848856791674e-9,
    5.957176147748911e-11,
];

/// (x + 3) exp(x^2) erfc(x) for x >= 1/2, as a Chebyshev series in u = 1 - 7 / (x + 3); error
/// 2e-18.
const ERFC: [f64; 25] = [
    1.1524464011975497,
    -0.7520774257150896,
    0.20027266807544394,
    -0.04260547909736576,
    0.0068295045686714816,
    -0.0006913182204502768,
    5.638199110659617e-6,
    1.1014269903565408e-5,
    -1.3559965891164476e-6,
    -1.018301676780893e-7,
    3.9064296956969565e-8,
    -7.440460510579276e-12,
    -1.0252307411489935e-9,
    3.839894117956319e-11,
    2.914923574058876e-11,
    -1.5757236804853054e-12,
    -9.359859669085587e-13,
    4.5623603194493126e-14,
    3.349998418368677e-14,
    -7.449265813067267e-16,
    -1.281287144602533e-15,
    -2.838815734098364e-17,
    4.9520286791923116e-17,
    4.172132918632426e-18,
    -1.7979927249070985e-18,
];

/// exp(-x^2): the rounding error of the square, up to 700 half units in the last place of the
/// result, is kept out by splitting x into a part whose square is exact and a small rest.
fn exp_minus_square(x: f64) -> f64 {
    let head = f64::from_bits(x.to_bits() & 0xffff_ffff_f800_0000);
    (-head * head).exp() * (-(x - head) * (x + head)).exp()
}

/// erfc for x >= 1/2.
fn erfc_tail(x: f64) -> f64 {
    if x > 27.5 {
        return 0.0;
    }
    let s = 1.0 / (x + 3.0);
    exp_minus_square(x) * (chebyshev(&ERFC, 1.0 - 7.0 * s) * s)
}

pub(crate) fn erf_f64(x: f64) -> f64 {
    let a = x.abs();
    if a <= 1.0 {
        x * polynomial(&ERF, x * x)
    } else if a < 6.0 {
        (1.0 - erfc_tail(a)).copysign(x)
    } else if a.is_nan() {
        x
    } else {
        1.0_f64.copysign(x)
    }
}

pub(crate) fn erfc_f64(x: f64) -> f64 {
    if x >= 0.5 {
        erfc_tail(x)
    } else if x > -0.5 {
        1.0 - erf_f64(x)
    } else if x > -6.0 {
        2.0 - erfc_tail(-x)
    } else if x.is_nan() {
        x
    } else {
        2.0
    }
}

/// ln_gamma(2 + d) / d as a polynomial in d, for |d| <= 1/2; relative error 3e-19.
const LN_GAMMA: [f64; 20] = [
    0.42278433509846713,
    0.3224670334241132,
    -0.06735230105319814,
    0.02058080842778457,
    -0.0073855510286681535,
    0.002890510330738737,
    -0.0011927539120010226,
    0.0005096695248853096,
    -0.00022315475074520367,
    9.945750909889392e-5,
    -4.4926351103833334e-5,
    2.050726741605779e-5,
    -9.438458716242811e-6,
    4.374374916915131e-6,
    -2.0449201467015115e-6,
    9.578663334114758e-7,
    -4.303558760359961e-7,
    2.0304806751615227e-7,
    -1.3412819758517287e-7,
    6.379047507619774e-8,
];

/// Stirling's series in 1/x: B(2k) / (2k (2k - 1)) for k = 1, 2, ...
const STIRLING: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3617.0 / 122_400.0,
];

/// (ln(2 pi) - 1) / 2.
const HALF_LN_TAU_LESS_ONE: f64 = 0.418_938_533_204_672_7;

/// Arguments from here on use the asymptotic series, whose ninth term is below 3e-18 of the result
/// there.
const ASYMPTOTIC: f64 = 10.0;

/// sin(pi x), exactly 0 at the integers: the argument is reduced before it is multiplied by pi.
fn sin_pi(x: f64) -> f64 {
    let n = x.round();
    let s = (PI * (x - n)).sin();
    if n % 2.0 == 0.0 { s } else { -s }
}

/// ln_gamma(1 + d) for |d| <= 1/2.
fn ln_gamma_1p(d: f64) -> f64 {
    d * polynomial(&LN_GAMMA, d) - d.ln_1p()
}

pub(crate) fn ln_gamma_f64(x: f64) -> f64 {
    if x.is_nan() {
        x
    } else if x <= -0.5 {
        if x == x.floor() {
            return f64::INFINITY;
        }
        // Gamma(x) Gamma(-x) = -pi / (x sin(pi x)).
        PI.ln() - (x * sin_pi(x)).abs().ln() - ln_gamma_f64(-x)
    } else if x < 0.5 {
        // Gamma(x) = Gamma(1 + x) / x, infinite at 0.
        ln_gamma_1p(x) - x.abs().ln()
    } else if x < 1.5 {
        ln_gamma_1p(x - 1.0)
    } else if x < ASYMPTOTIC {
        // Gamma(x) = (x - 1) ... y Gamma(y) for a y in [1.5, 2.5]; the subtractions are exact.
        let (mut y, mut factor) = (x, 1.0);
        while y > 2.5 {
            y -= 1.0;
            factor *= y;
        }
        let d = y - 2.0;
        factor.ln() + d * polynomial(&LN_GAMMA, d)
    } else if x == f64::INFINITY {
        x
    } else {
        let r = 1.0 / x;
        (x - 0.5) * (x.ln() - 1.0) + (HALF_LN_TAU_LESS_ONE + r * polynomial(&STIRLING, r * r))
    }
}

/// digamma(1.5 + e) / (1.5 + e - root) as a polynomial in e, for |e| <= 1/2; relative error 2e-17.
const DIGAMMA: [f64; 22] = [
    0.951055876031833,
    -0.4236274212814605,
    0.2405424842407742,
    -0.14840492305390884,
    0.09498872445494122,
    -0.061922133273064534,
    0.04076083381242074,
    -0.02697579675613825,
    0.0179072524394512,
    -0.011908218001568644,
    0.007926944646403797,
    -0.005279964873257405,
    0.003519006401502276,
    -0.002345267632540769,
    0.0015566317474486838,
    -0.0010376374098418604,
    0.0007233266279287554,
    -0.0004821990530566789,
    0.0002272331660987376,
    -0.00015148586836773365,
    0.00025968482126430747,
    -0.00017312261802727394,
];

/// The positive root of digamma, as a sum of two doubles, so that digamma keeps its relative
/// accuracy near it.
const DIGAMMA_ROOT: (f64, f64) = (1.461_632_144_968_362_2, 9.549_995_429_965_697e-17);

/// B(2k) / 2k for k = 1, 2, ...: digamma(x) = ln x - 1 / 2x - sum of these over x^2k.
const DIGAMMA_SERIES: [f64; 8] =
    [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32_760.0, 1.0 / 12.0, -3617.0 / 8160.0];

/// digamma for 1 <= x <= 2.
fn digamma_near_root(x: f64) -> f64 {
    ((x - DIGAMMA_ROOT.0) - DIGAMMA_ROOT.1) * polynomial(&DIGAMMA, x - 1.5)
}

pub(crate) fn digamma_f64(x: f64) -> f64 {
    if x.is_nan() {
        x
    } else if x == 0.0 {
        -1.0 / x
    } else if x < 0.0 {
        if x == x.floor() {
            return f64::NAN;
        }
        digamma_f64(1.0 - x) - PI / (PI * (x - x.round())).tan()
    } else if x < 1.0 {
        digamma_near_root(1.0 + x) - 1.0 / x
    } else if x < ASYMPTOTIC {
        let (mut y, mut shift) = (x, 0.0);
        while y > 2.0 {
            y -= 1.0;
            shift += 1.0 / y;
        }
        shift + digamma_near_root(y)
    } else {
        let r = 1.0 / x;
        let rr = r * r;
        x.ln() - (0.5 * r + rr * polynomial(&DIGAMMA_SERIES, rr))
    }
}

/// B(2k) for k = 1, 2, ...: trigamma(x) = 1 / x + 1 / 2x^2 + sum of these over x^(2k + 1).
const TRIGAMMA_SERIES: [f64; 8] =
    [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0, -3617.0 / 510.0];

pub(crate) fn trigamma_f64(x: f64) -> f64 {
    if x.is_nan() {
        x
    } else if x <= 0.0 {
        if x == f64::NEG_INFINITY {
            return f64::NAN;
        }
        if x == x.floor() {
            return f64::INFINITY;
        }
        let q = PI / sin_pi(x);
        q * q - trigamma_f64(1.0 - x)
    } else {
        // trigamma(x) = 1 / x^2 + trigamma(x + 1): every term is positive, so nothing cancels.
        let (mut y, mut shift) = (x, 0.0);
        while y < ASYMPTOTIC {
            shift += 1.0 / (y * y);
            y += 1.0;
        }
        let r = 1.0 / y;
        let rr = r * r;
        shift + (r + (0.5 * rr + r * rr * polynomial(&TRIGAMMA_SERIES, rr)))
    }
}
