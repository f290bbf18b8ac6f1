//! The exponential, the logarithm and the functions that use them, once for each precision.
//!
//! - `exp(x) = 2^k exp(r)` with `k` the integer nearest to `x / ln 2` and `|r| <= ln(2) / 2`;
//!   `exp(r) = 1 + r + r^2 q(r)`. To compute `k`, a number is added whose unit in the last place is
//!   1: the low bits of the sum are `k`.
//! - `ln(x) = k ln 2 + ln(m)` with `m` between `sqrt(1/2)` and `sqrt(2)`, and `ln(1 + f) = 2
//!   artanh(s) = f - (f^2/2 - s (f^2/2 + R))` for `s = f / (2 + f)`, with `R = s^2 p(s^2)`.
//!
//! This module must never lose a signed zero, a subnormal number or a NaN; the tests compare each
//! case with std.

use super::horner;

macro_rules! precision {
    (
        $name:ident: $f:ident as $u:ident,
        mantissa $mantissa:literal, bias $bias:literal,
        exp $exp_low:literal to $exp_high:literal,
        exp_m1 $exp_m1_low:literal,
        tanh $tanh:literal,
        ln2 $ln2_high:literal $ln2_low:literal,
        normal $normal:literal,
        q [$($q:literal),*],
        p [$($p:literal),*],
    ) => {
        pub(crate) mod $name {
            #![allow(clippy::excessive_precision, clippy::unreadable_literal, reason = "computed coefficients")]

            use super::horner;
            #[cfg(not(feature = "std"))]
            #[allow(unused_imports, reason = "another crate of the build may use std")]
            use crate::float::FusedFloat as _;

            const MANTISSA: u32 = $mantissa;
            const BIAS: $u = $bias;
            const ONE: $u = BIAS << MANTISSA;
            /// One and a half times 2^mantissa: a number that is added to it is rounded to an
            /// integer, since its last place has the value one.
            const SHIFTER: $f = $f::from_bits(((BIAS + MANTISSA as $u) << MANTISSA) | (1 << (MANTISSA - 1)));
            const LN2_HIGH: $f = $ln2_high;
            const LN2_LOW: $f = $ln2_low;
            const Q: [$f; [$($q),*].len()] = [$($q),*];
            const P: [$f; [$($p),*].len()] = [$($p),*];

            /// `x`, clamped to `low..=high`; a NaN stays a NaN.
            #[inline(always)]
            fn between(x: $f, low: $f, high: $f) -> $f {
                let x = if x > high { high } else { x };
                if x < low { low } else { x }
            }

            /// `k` in the low bits of the first, and `exp(x + low - k ln 2) - 1`, for numbers of
            /// moderate size. A caller without a `low` passes -0, which the compiler may drop.
            #[inline(always)]
            fn reduced(x: $f, low: $f) -> ($u, $f) {
                let shifted = x.mul_add(core::$f::consts::LOG2_E, SHIFTER);
                let k = shifted - SHIFTER;
                // The first product is exact: the high part of ln 2 leaves room for the digits of
                // k.
                let r = k.mul_add(-LN2_LOW, k.mul_add(-LN2_HIGH, x)) + low;
                (shifted.to_bits(), (r * r).mul_add(horner!(r, Q), r))
            }

            /// 2^k from the bits of `SHIFTER + k`, if 2^k is a normal number.
            #[inline(always)]
            fn power_of_two(shifted: $u) -> $f {
                $f::from_bits(shifted.wrapping_add(BIAS) << MANTISSA)
            }

            /// `exp(x + low)` for all `x`, and a `low` that is small.
            #[inline(always)]
            pub(crate) fn exp_sum(x: $f, low: $f) -> $f {
                let (shifted, e) = reduced(between(x, $exp_low, $exp_high), low);
                // 2^k may be subnormal or infinite although the result is not. So it is applied in
                // two factors, and only the second product rounds. The bits above k are shifted
                // out.
                let n = shifted.wrapping_add(2 * BIAS);
                let half = n >> 1;
                let (first, second) = ($f::from_bits(half << MANTISSA), $f::from_bits((n - half) << MANTISSA));
                e.mul_add(first, first) * second
            }

            #[inline(always)]
            pub(crate) fn exp(x: $f) -> $f {
                exp_sum(x, -0.0)
            }

            /// `exp(x)` where that is at most 1.
            #[inline(always)]
            fn exp_down(x: $f) -> $f {
                const UP: $u = 64;
                const DOWN: $f = $f::from_bits((BIAS - UP) << MANTISSA);
                let (shifted, e) = reduced(if x < $exp_low { $exp_low } else { x }, -0.0);
                // 2^64 times as much is a normal number, and only the second product rounds, if the
                // result is not normal.
                let scale = power_of_two(shifted.wrapping_add(UP));
                e.mul_add(scale, scale) * DOWN
            }

            #[inline(always)]
            pub(crate) fn exp_m1(x: $f) -> $f {
                let (shifted, e) = reduced(between(x, $exp_m1_low, $exp_high), -0.0);
                // Half of the result is computed first, so that 2^k is finite if the result is.
                let scale = power_of_two(shifted.wrapping_sub(1));
                let result = 2.0 * scale.mul_add(e, scale - 0.5);
                // The half of a subnormal number is not exact, and zeros have signs.
                if x.abs() < $f::EPSILON * 0.25 { x } else { result }
            }

            /// `k` and `m` of the normal number `x = 2^k m`.
            #[inline(always)]
            fn split(x: $f) -> ($f, $f) {
                const ROOT: $u = core::$f::consts::FRAC_1_SQRT_2.to_bits();
                let shifted = x.to_bits().wrapping_add(ONE - ROOT);
                // Moves the exponent into the low bits of 2^mantissa.
                let large = (BIAS + MANTISSA as $u) << MANTISSA;
                let k = $f::from_bits((shifted >> MANTISSA) | large) - ($f::from_bits(large) + BIAS as $f);
                let m = $f::from_bits((shifted & ((1 << MANTISSA) - 1)) + ROOT);
                (k, m)
            }

            /// As [`split`], for positive numbers that may be subnormal.
            #[inline(always)]
            pub(crate) fn split_any(x: $f) -> ($f, $f) {
                let small = x < $f::MIN_POSITIVE;
                let (k, m) = split(if small { x * $normal } else { x });
                const SHIFT: $f = ((($normal as $f).to_bits() >> MANTISSA) - BIAS) as $f;
                (if small { k - SHIFT } else { k }, m)
            }

            /// `k ln 2 + ln(1 + f) + low`.
            #[inline(always)]
            fn ln_of(k: $f, f: $f, low: $f) -> $f {
                let s = f / (2.0 + f);
                let z = s * s;
                let half = 0.5 * f * f;
                let tail = s.mul_add(z.mul_add(horner!(z, P), half), k.mul_add(LN2_LOW, low));
                k.mul_add(LN2_HIGH, f - (half - tail))
            }

            #[inline(always)]
            pub(crate) fn ln(x: $f) -> $f {
                let (k, m) = split_any(x);
                let result = ln_of(k, m - 1.0, 0.0);
                let result = if x < $f::INFINITY { result } else { x };
                let result = if x < 0.0 { $f::NAN } else { result };
                if x == 0.0 { $f::NEG_INFINITY } else { result }
            }

            /// `ln(1 + x)` for finite `x > -1`; the sign of zero is lost.
            #[inline(always)]
            fn ln_1p_finite(x: $f) -> $f {
                let sum = 1.0 + x;
                // The rounding error of the sum, exactly.
                let lost = if x < 1.0 { x - (sum - 1.0) } else { 1.0 - (sum - x) };
                let (k, m) = split(sum);
                // Where k is 0, f is x itself and no bit is lost.
                let near = k == 0.0;
                let f = if near { x } else { m - 1.0 };
                let low = if near { 0.0 } else { lost / sum };
                ln_of(k, f, low)
            }

            #[inline(always)]
            pub(crate) fn ln_1p(x: $f) -> $f {
                let result = ln_1p_finite(x);
                let result = if x < $f::INFINITY { result } else { x };
                let result = if x < -1.0 { $f::NAN } else { result };
                let result = if x == -1.0 { $f::NEG_INFINITY } else { result };
                if x == 0.0 { x } else { result }
            }

            /// `t / (t + 2)` for `t = exp(2 |x|) - 1`, whose error `t + 2` damps. The argument is
            /// reduced as in [`reduced`], but without the rounding error of `r`: for `k = 1` it
            /// would be half a unit of the result.
            #[inline(always)]
            pub(crate) fn tanh(x: $f) -> $f {
                let a = x.abs();
                let a = if a > $tanh { $tanh } else { a };
                let shifted = (a + a).mul_add(core::$f::consts::LOG2_E, SHIFTER);
                let k = shifted - SHIFTER;
                let exact = k.mul_add(-LN2_HIGH, a + a);
                let r = k.mul_add(-LN2_LOW, exact);
                let low = k.mul_add(-LN2_LOW, exact - r);
                let e = r + (r * r).mul_add(horner!(r, Q), low);
                let scale = power_of_two(shifted.to_bits());
                let t = scale.mul_add(e, scale - 1.0);
                (t / (t + 2.0)).copysign(x)
            }

            #[inline(always)]
            pub(crate) fn sigmoid(x: $f) -> $f {
                // exp of a number that is not positive never overflows; the sign decides which
                // quotient uses it.
                let e = exp_down(-x.abs());
                (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
            }

            #[inline(always)]
            pub(crate) fn softplus(x: $f) -> $f {
                let tail = ln_1p_finite(exp_down(-x.abs()));
                if x > 0.0 { x + tail } else { tail }
            }
        }
    };
}

precision! {
    double: f64 as u64,
    mantissa 52, bias 1023,
    // Beyond these arguments the results are 0 and infinite.
    exp -746.0 to 710.0,
    exp_m1 -45.0,
    tanh 22.0,
    // ln 2: its first 41 bits, and the rest.
    ln2 0.6931471805601177 -1.7239444525614835e-13,
    // 2^54: makes subnormal numbers normal.
    normal 18014398509481984.0,
    // Relative error 9e-19 of exp(r) - 1.
    q [
        0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333326141, 0.0013888888888883752,
        0.00019841269874800683, 2.4801587325533502e-5, 2.75572554255029e-6, 2.7557273661174726e-7,
        2.5105206475334834e-8, 2.091467944897855e-9
    ],
    // Relative error 5e-18 of ln(1 + f).
    p [
        0.666666666666667, 0.39999999999899505, 0.2857142862597599, 0.222222111347236, 0.18182889130012392,
        0.15331721452318767, 0.146164514345441
    ],
}

precision! {
    single: f32 as u32,
    mantissa 23, bias 127,
    exp -104.0 to 89.0,
    exp_m1 -25.0,
    tanh 10.0,
    ln2 0.693145751953125 1.428606765330187e-6,
    // 2^24.
    normal 16777216.0,
    // Relative error 2e-9.
    q [0.5, 0.1666666716337204, 0.04166646674275398, 0.00833331048488617, 0.0013933641603216529, 0.00019890980911441147],
    // Relative error 3e-9.
    p [0.6666668653488159, 0.3998878002166748, 0.29579949378967285],
}
