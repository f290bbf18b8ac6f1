//! Elementary functions in pairs of doubles (about 100 bits), by series, for the tests only. Slow
//! and simple.
//!
//! Must never share code or coefficients with the kernels.

#![allow(dead_code, reason = "each test file uses its part")]

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `hi + lo`, with `lo` at most half a unit in the last place of `hi`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) hi: f64,
    pub(crate) lo: f64,
}

pub(crate) fn pair(x: f64) -> Pair {
    Pair { hi: x, lo: 0.0 }
}

fn two_sum(a: f64, b: f64) -> Pair {
    let hi = a + b;
    let back = hi - a;
    Pair { hi, lo: (a - (hi - back)) + (b - back) }
}

fn two_product(a: f64, b: f64) -> Pair {
    let hi = a * b;
    Pair { hi, lo: a.mul_add(b, -hi) }
}

impl Add for Pair {
    type Output = Pair;
    fn add(self, o: Pair) -> Pair {
        let (s, t) = (two_sum(self.hi, o.hi), two_sum(self.lo, o.lo));
        let s = two_sum(s.hi, s.lo + t.hi);
        two_sum(s.hi, s.lo + t.lo)
    }
}
impl Neg for Pair {
    type Output = Pair;
    fn neg(self) -> Pair {
        Pair { hi: -self.hi, lo: -self.lo }
    }
}
impl Sub for Pair {
    type Output = Pair;
    fn sub(self, o: Pair) -> Pair {
        self + -o
    }
}
impl Mul for Pair {
    type Output = Pair;
    fn mul(self, o: Pair) -> Pair {
        let p = two_product(self.hi, o.hi);
        two_sum(p.hi, p.lo + (self.hi * o.lo + self.lo * o.hi))
    }
}
impl Div for Pair {
    type Output = Pair;
    fn div(self, o: Pair) -> Pair {
        let q = self.hi / o.hi;
        let r = self - o * pair(q);
        let q2 = r.hi / o.hi;
        let r = r - o * pair(q2);
        two_sum(q, q2) + pair(r.hi / o.hi)
    }
}

const ONE: Pair = Pair { hi: 1.0, lo: 0.0 };
const LN2: Pair = Pair { hi: std::f64::consts::LN_2, lo: 2.319_046_813_846_299_6e-17 };

/// Numbers that may be too large or too small for a double: `value * 2^power`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scaled {
    pub(crate) value: Pair,
    pub(crate) power: i32,
}

pub(crate) fn plain(value: Pair) -> Scaled {
    Scaled { value, power: 0 }
}

/// 2^k exactly, for -1022 <= k <= 1023.
pub(crate) fn two_to(k: i32) -> f64 {
    f64::from_bits(u64::try_from(k + 1023).expect("an exponent in range") << 52)
}

/// `exp(x) - 1` for `|x| < 1`.
fn small_exp_m1(x: Pair) -> Pair {
    let r = x * pair(two_to(-6));
    // Terms until they are below 2^-110: r is below 2^-6.
    let mut e = pair(0.0);
    for n in (1..=18).rev() {
        e = r * (ONE + e) / pair(f64::from(n));
    }
    for _ in 0..6 {
        e = e * (pair(2.0) + e);
    }
    e
}

/// `exp(x)`, for `|x|` up to 2000.
pub(crate) fn exp(x: Pair) -> Scaled {
    let k = (x.hi / LN2.hi).round();
    let r = x - pair(k) * LN2;
    Scaled { value: ONE + small_exp_m1(r), power: k as i32 }
}

/// `exp(x) - 1`.
pub(crate) fn exp_m1(x: Pair) -> Scaled {
    if x.hi.abs() < 0.7 {
        return plain(small_exp_m1(x));
    }
    let e = exp(x);
    if e.power > 1000 {
        return e;
    }
    plain(e.value * pair(two_to(e.power.max(-300))) - ONE)
}

/// `ln(1 + x)` for a small or moderate `x`: one step of Newton's from the library's value.
pub(crate) fn ln_1p(x: Pair) -> Pair {
    let y = x.hi.ln_1p();
    if x.hi.abs() < 1e-150 {
        return x;
    }
    if y.abs() < 0.6 {
        let d = x + (ONE + x) * small_exp_m1(pair(-y));
        return pair(y) + d - d * d * pair(0.5);
    }
    if x.hi > 1e30 { ln(x.hi) } else { ln_pair(ONE + x) }
}

pub(crate) fn ln(x: f64) -> Pair {
    if (0.6..1.8).contains(&x) {
        return ln_1p(two_sum(x, -1.0));
    }
    // Away from the ends of the range, where exp would leave it.
    if x < 1e-200 {
        return ln_pair(pair(x * two_to(600))) - pair(600.0) * LN2;
    }
    if x > 1e200 {
        return ln_pair(pair(x * two_to(-600))) + pair(600.0) * LN2;
    }
    ln_pair(pair(x))
}

fn ln_pair(x: Pair) -> Pair {
    let y = x.hi.ln();
    let e = exp(pair(-y));
    let d = x * e.value * pair(two_to(e.power)) - ONE;
    pair(y) + d - d * d * pair(0.5)
}

pub(crate) fn tanh(x: f64) -> Pair {
    if x.abs() > 40.0 {
        return pair(1.0f64.copysign(x));
    }
    let t = exp_m1(pair(2.0 * x.abs())).value;
    let y = t / (t + pair(2.0));
    if x < 0.0 { -y } else { y }
}

pub(crate) fn sigmoid(x: f64) -> Scaled {
    if x > 100.0 {
        return plain(ONE);
    }
    let e = exp(pair(x));
    if x < -100.0 {
        return e;
    }
    let e = e.value * pair(two_to(e.power));
    plain(e / (ONE + e))
}

pub(crate) fn softplus(x: f64) -> Scaled {
    if x < -100.0 {
        return exp(pair(x));
    }
    if x > 100.0 {
        return plain(pair(x));
    }
    let e = exp(pair(-x.abs()));
    let tail = ln_1p(e.value * pair(two_to(e.power)));
    plain(if x > 0.0 { pair(x) + tail } else { tail })
}

/// `x^y` for positive `x`.
pub(crate) fn pow(x: f64, y: f64) -> Scaled {
    exp(ln(x) * pair(y))
}

/// Sine and cosine for `|x| <= 2^45`.
pub(crate) fn sin_cos(x: f64) -> (Pair, Pair) {
    const P: [f64; 3] = [std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17, -1.497_384_904_859_169_8e-33];
    let k = (x / P[0]).round();
    let mut r = pair(x);
    for p in P {
        let product = two_product(k, -p);
        r = pair(product.hi) + r;
        r = r + pair(product.lo);
    }
    let z = r * r;
    let (mut s, mut c) = (ONE, ONE);
    for n in (1..=15).rev() {
        let n = f64::from(2 * n);
        s = ONE - s * z / pair(n * (n + 1.0));
        c = ONE - c * z / pair(n * (n - 1.0));
    }
    s = s * r;
    match k.rem_euclid(4.0) as i32 {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    }
}

/// How far `got` is from `want`, in units of the last place of a double of that size.
pub(crate) fn error(got: f64, want: Scaled) -> f64 {
    let Scaled { value, power } = want;
    // Beyond the largest number the result is infinite; where rounding decides, either will do.
    let exponent = |x: f64| i32::try_from(x.abs().to_bits() >> 52).expect("eleven bits") - 1023;
    let top = exponent(value.hi) + power;
    if top >= 1024 {
        return if got == f64::INFINITY { 0.0 } else { 1e9 };
    }
    if got.is_infinite() {
        let nearly = top == 1023 && value.hi >= two_to(exponent(value.hi)) * (2.0 - 1e-15);
        return if nearly { 0.0 } else { 1e9 };
    }
    if value.hi == 0.0 {
        return if got == 0.0 { 0.0 } else { 1e9 };
    }
    // In units of the last place of the result: both numbers scaled by a power of two, exactly.
    let unit = (top - 52).max(-1074);
    let scaled = |x: f64, by: i32| {
        let mut y = x;
        let mut by = by;
        while by != 0 {
            let step = by.clamp(-900, 900);
            y *= two_to(step);
            by -= step;
        }
        y
    };
    ((scaled(got, -unit) - scaled(value.hi, power - unit)) - scaled(value.lo, power - unit)).abs()
}
