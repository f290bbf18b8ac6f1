//! Sine and cosine, in blocks. Arguments up to 2^45 are reduced. If an argument is larger, the
//! whole block uses std. Single precision is computed in double precision, with shorter
//! polynomials, so the reduction loses no bits.
//!
//! This module must never reduce a number beyond [`LIMIT`].

use super::horner;
use crate::Real;
#[cfg(not(feature = "std"))]
#[allow(unused_imports, reason = "another crate of the build may use std")]
use crate::float::FusedFloat as _;

/// 2^45: up to this limit the quotient by pi/2 is rounded to an integer with an error of at most
/// 2^-7.
const LIMIT: f64 = 35_184_372_088_832.0;

const P1: f64 = core::f64::consts::FRAC_PI_2;
const P2: f64 = 6.123_233_995_736_766e-17;
const P3: f64 = -1.497_384_904_859_169_8e-33;

/// 1.5 * 2^52: the low bits of the sum with it are an integer.
const SHIFTER: f64 = 6_755_399_441_055_744.0;

/// (sin(r) - r) / r^3 in r^2, relative error 2e-17 of sin(r).
const SIN: [f64; 6] = [
    -0.16666666666666663,
    0.008333333333330549,
    -0.00019841269836163908,
    2.7557315798922315e-6,
    -2.5051069549796396e-8,
    1.5913710750623484e-10,
];
/// (cos(r) - 1 + r^2/2) / r^4 in r^2, relative error 1e-18 of cos(r).
const COS: [f64; 6] = [
    0.041666666666666664,
    -0.0013888888888887148,
    2.4801587298393628e-5,
    -2.755731708176593e-7,
    2.0876107294292993e-9,
    -1.1379868040688426e-11,
];
/// The polynomial with an error of 2e-11, for single precision.
const SIN_SINGLE: [f64; 4] =
    [-0.16666666663484828, 0.008333331732902221, -0.00019840011321999504, 2.724029891235709e-6];
const COS_SINGLE: [f64; 4] = [0.04166666666401193, -0.0013888887553650626, 2.480053743056674e-5, -2.729292370374859e-7];

/// The quadrant in the low two bits, and sine and cosine of the reduced argument.
///
/// `x = k pi/2 + r` with `k` the nearest integer and `r` in two numbers. pi/2 is three doubles P1 +
/// P2 + P3: `x - k P1` is exact, because it is smaller than 1 and a multiple of the last place of
/// P1 or of x, whichever is smaller; the product `k P2` is kept with its rounding error. Where `k`
/// is not the nearest integer but its neighbour (which happens near the middle, within 2^-7, since
/// the quotient is rounded), `r` is a little larger than pi/4, and so is the range of the
/// polynomials.
#[inline(always)]
fn reduced<const SINGLE: bool>(x: f64) -> (u64, f64, f64) {
    let shifted = x.mul_add(core::f64::consts::FRAC_2_PI, SHIFTER);
    let k = shifted - SHIFTER;
    let exact = k.mul_add(-P1, x);
    if SINGLE {
        let r = k.mul_add(-P2, exact);
        let z = r * r;
        let sin = (r * z).mul_add(horner!(z, SIN_SINGLE), r);
        let cos = (z * z).mul_add(horner!(z, COS_SINGLE), z.mul_add(-0.5, 1.0));
        return (shifted.to_bits(), sin, cos);
    }
    let product = k * P2;
    let product_low = k.mul_add(P2, -product);
    let r = exact - product;
    // The rounding error of that subtraction: `exact` may be the smaller one.
    let back = r - exact;
    let lost = (exact - (r - back)) - (product + back);
    let low = k.mul_add(-P3, lost - product_low);
    let z = r * r;
    let half = 0.5 * z;
    let one = 1.0 - half;
    // sin(r + low) = sin(r) + low cos(r), cos(r + low) = cos(r) - low sin(r).
    let sin = r + (r * z).mul_add(horner!(z, SIN), low * one);
    let cos = one + (z * z).mul_add(horner!(z, COS), ((1.0 - one) - half) - r * low);
    (shifted.to_bits(), sin, cos)
}

/// `a` where the last bit of `n` is 0, else `b`; with the sign flipped where the second-lowest bit
/// is 1.
#[inline(always)]
fn in_quadrant(n: u64, a: f64, b: f64) -> f64 {
    let value = if n & 1 == 0 { a } else { b };
    f64::from_bits(value.to_bits() ^ ((n & 2) << 62))
}

#[inline(always)]
fn any<F: Real, const SINGLE: bool>(x: F) -> (F, F) {
    let v = x.as_f64();
    let (n, s, c) = reduced::<SINGLE>(v);
    let sin = in_quadrant(n, s, c);
    // Zero keeps its sign.
    let sin = if v == 0.0 { v } else { sin };
    (F::lit(sin), F::lit(in_quadrant(n.wrapping_add(1), s, c)))
}

#[inline(always)]
fn both<F: Real>(x: F) -> (F, F) {
    if !F::IS_MACHINE {
        x.sin_cos()
    } else if size_of::<F>() == size_of::<f32>() {
        any::<F, true>(x)
    } else {
        any::<F, false>(x)
    }
}

#[inline(always)]
pub(crate) fn sin<F: Real>(x: F) -> F {
    both(x).0
}

#[inline(always)]
pub(crate) fn cos<F: Real>(x: F) -> F {
    both(x).1
}

/// Whether each number is in the range of the reduction. NaN and the infinities are not.
#[inline(always)]
fn in_range<F: Real, const N: usize>(x: &[F; N]) -> bool {
    let limit = F::lit(LIMIT);
    let mut inside = true;
    for &x in x {
        inside &= x.abs() <= limit;
    }
    inside
}

/// `f` of each number, or `slow` of each if one of them is out of range.
#[inline(always)]
pub(crate) fn lanes<F: Real, const N: usize>(x: [F; N], f: impl Fn(F) -> F, slow: fn(F) -> F) -> [F; N] {
    if !in_range(&x) {
        return by_library(x, slow);
    }
    let mut out = x;
    for i in 0..N {
        out[i] = f(x[i]);
    }
    out
}

/// Sine and cosine of each number.
#[inline(always)]
pub(crate) fn lanes2<F: Real, const N: usize>(x: [F; N]) -> ([F; N], [F; N]) {
    if !in_range(&x) {
        return (by_library(x, F::sin), by_library(x, F::cos));
    }
    let (mut s, mut c) = (x, x);
    for i in 0..N {
        (s[i], c[i]) = both(x[i]);
    }
    (s, c)
}

#[cold]
#[inline(never)]
fn by_library<F: Real, const N: usize>(x: [F; N], f: fn(F) -> F) -> [F; N] {
    x.map(f)
}
