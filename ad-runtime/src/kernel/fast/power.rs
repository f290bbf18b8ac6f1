//! `powf`: `exp(y ln x)` with the logarithm in two numbers, since `y ln x` may be 745 and its
//! absolute error is the relative error of the result.
//!
//! This module must never differ from std in a special case: 1 for `y = 0` and for `x = 1`,
//! whatever the other argument is, the sign of `x` only for odd `y`, NaN for a negative `x` and a
//! `y` that is not an integer.

use super::exponential::double::{exp, exp_sum, ln, split_any};
use super::horner;
#[cfg(not(feature = "std"))]
#[allow(unused_imports, reason = "another crate of the build may use std")]
use crate::float::FusedFloat as _;

/// (ln(1 + f) / s - 2 - 2/3 z) / z^2 in z = s^2, s = f / (2 + f); relative error 1e-20 of ln(1 +
/// f).
const P: [f64; 8] = [
    0.4,
    0.2857142857142937,
    0.2222222222165588,
    0.1818181833537146,
    0.15384594966136214,
    0.13334804450788731,
    0.11706243706624328,
    0.11723095002679935,
];
const TWO_THIRDS: f64 = 2.0 / 3.0;
const TWO_THIRDS_LOW: f64 = 3.700743415417188e-17;
/// As in [`super::exponential`].
const LN2_HIGH: f64 = 0.6931471805601177;
const LN2_LOW: f64 = -1.7239444525614835e-13;

/// `ln(x)` for positive finite `x`, in two numbers; relative error about 2^-64.
#[inline(always)]
fn ln_in_two(x: f64) -> (f64, f64) {
    let (k, m) = split_any(x);
    let f = m - 1.0;
    // s = f / (2 + f)
    let d = 2.0 + f;
    let d_low = f - (d - 2.0);
    let inverse = 1.0 / d;
    let s = f * inverse;
    let s_low = (-s).mul_add(d, f) - s * d_low;
    let s_low = s_low * inverse;
    // z = s^2, c = s^3, t = 2/3 s^3
    let z = s * s;
    let z_low = (2.0 * s).mul_add(s_low, s.mul_add(s, -z));
    let c = s * z;
    let c_low = s.mul_add(z_low, s_low.mul_add(z, s.mul_add(z, -c)));
    let t = c * TWO_THIRDS;
    let t_low = c.mul_add(TWO_THIRDS, -t) + c.mul_add(TWO_THIRDS_LOW, c_low * TWO_THIRDS);
    let rest = (c * z) * horner!(z, P);
    // The largest summand comes first, so the rounding error of each sum is computed exactly.
    let a = k * LN2_HIGH;
    let b = 2.0 * s;
    let ab = a + b;
    let ab_low = b - (ab - a);
    let abt = ab + t;
    let abt_low = t - (abt - ab);
    let low = ab_low + (abt_low + k.mul_add(LN2_LOW, 2.0f64.mul_add(s_low, t_low + rest)));
    let high = abt + low;
    (high, low - (high - abt))
}

/// The sign and the special cases, given `x`'s logarithm (in two numbers).
#[inline(always)]
fn finish(x: f64, y: f64, ln: (f64, f64), magnitude: impl Fn(f64, f64) -> f64) -> f64 {
    let a = x.abs();
    let edge = a == 0.0 || a == f64::INFINITY;
    let high = if a == 0.0 { f64::NEG_INFINITY } else { ln.0 };
    // Infinity and NaN are their own logarithms.
    let high = if a < f64::INFINITY { high } else { a };
    let product = y * high;
    let low = y.mul_add(high, -product) + y * ln.1;
    // Outside of the exponential's range (and where the low part is NaN) the low part does not
    // matter.
    let low = if product.abs() < 1000.0 && !edge { low } else { 0.0 };
    let result = magnitude(product, low);
    // This product is 0 * infinity: an infinite power of 1 or -1.
    let result = if a == 1.0 && !y.is_nan() { 1.0 } else { result };
    let integer = y.trunc() == y;
    let half = 0.5 * y;
    let odd = integer & (half.trunc() != half);
    let result = if odd { result.copysign(x) } else { result };
    let result = if (x < 0.0) & !integer & (a < f64::INFINITY) { f64::NAN } else { result };
    if (y == 0.0) | (x == 1.0) { 1.0 } else { result }
}

#[inline(always)]
pub(crate) fn double(x: f64, y: f64) -> f64 {
    finish(x, y, ln_in_two(x.abs()), exp_sum)
}

/// Computed in double precision, whose logarithm in one number is exact enough.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "rounded once, here")]
pub(crate) fn single(x: f32, y: f32) -> f32 {
    let (x, y) = (f64::from(x), f64::from(y));
    finish(x, y, (ln(x.abs()), 0.0), |product, _| exp(product)) as f32
}
