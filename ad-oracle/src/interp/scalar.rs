//! The scalar functions of the reference interpreter on dual numbers: values and derivatives in
//! closed form. They are written independently on purpose. This module does not read the rows of
//! `prim::scalar`, whose partial derivatives are tested against it, and does not call
//! `ad-runtime`. Where a derivative is not defined, the conventions are those of the guide
//! (docs/guide/src/conventions.md).

use super::value::Dual;
use ad_core::ir::{Elem, IntTy, RealTy};
use ad_core::prim::{Binary, Cmp, IntOp, Unary};

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10, PI};

/// `d` times the derivative `p`. The result is zero if the tangent is zero, whatever the derivative
/// is. (This is the guide's convention for `sqrt` at 0, and it keeps a branch that is not taken
/// without effect.)
fn scale(p: f64, d: f64) -> f64 {
    if d == 0.0 { 0.0 } else { p * d }
}

/// Rounds the value to its type. Tangents keep the full precision, since they are the reference.
pub(super) fn round(ty: RealTy, x: Dual) -> Dual {
    match ty {
        #[allow(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
        RealTy::F32 => Dual { v: f64::from(x.v as f32), d: x.d },
        RealTy::F64 | RealTy::Param => x,
    }
}

pub(super) fn unary(f: Unary, x: Dual) -> Dual {
    let (x, d) = (x.v, x.d);
    let (v, p) = match f {
        Unary::Neg => (-x, -1.0),
        Unary::Recip => (1.0 / x, -1.0 / (x * x)),
        Unary::Exp => (x.exp(), x.exp()),
        Unary::Exp2 => (x.exp2(), LN_2 * x.exp2()),
        Unary::ExpM1 => (x.exp_m1(), x.exp()),
        Unary::Ln => (x.ln(), 1.0 / x),
        Unary::Ln1p => (x.ln_1p(), 1.0 / (1.0 + x)),
        Unary::Log2 => (x.log2(), 1.0 / (LN_2 * x)),
        Unary::Log10 => (x.log10(), 1.0 / (LN_10 * x)),
        Unary::Sqrt => (x.sqrt(), 0.5 / x.sqrt()),
        Unary::Cbrt => (x.cbrt(), 1.0 / (3.0 * x.cbrt() * x.cbrt())),
        Unary::Sin => (x.sin(), x.cos()),
        Unary::Cos => (x.cos(), -x.sin()),
        Unary::Tan => (x.tan(), 1.0 / (x.cos() * x.cos())),
        Unary::Asin => (x.asin(), 1.0 / ((1.0 - x) * (1.0 + x)).sqrt()),
        Unary::Acos => (x.acos(), -1.0 / ((1.0 - x) * (1.0 + x)).sqrt()),
        Unary::Atan => (x.atan(), 1.0 / (1.0 + x * x)),
        Unary::Sinh => (x.sinh(), x.cosh()),
        Unary::Cosh => (x.cosh(), x.sinh()),
        Unary::Tanh => (x.tanh(), 1.0 / (x.cosh() * x.cosh())),
        Unary::Asinh => (x.asinh(), 1.0 / x.hypot(1.0)),
        Unary::Acosh => (x.acosh(), 1.0 / ((x - 1.0) * (x + 1.0)).sqrt()),
        Unary::Atanh => (x.atanh(), 1.0 / ((1.0 - x) * (1.0 + x))),
        Unary::Abs => (x.abs(), sign(x)),
        Unary::Signum => (x.signum(), 0.0),
        Unary::Floor => (x.floor(), 0.0),
        Unary::Ceil => (x.ceil(), 0.0),
        Unary::Round => (x.round(), 0.0),
        Unary::Trunc => (x.trunc(), 0.0),
        Unary::Fract => (x.fract(), 1.0),
        Unary::ToDegrees => (x * (180.0 / PI), 180.0 / PI),
        Unary::ToRadians => (x * (PI / 180.0), PI / 180.0),
        Unary::Sigmoid => (sigmoid(x), 0.25 / ((x / 2.0).cosh() * (x / 2.0).cosh())),
        Unary::Relu => (if x.is_nan() { x } else { x.max(0.0) }, if x > 0.0 { 1.0 } else { 0.0 }),
        Unary::Softplus => (softplus(x), sigmoid(x)),
        Unary::Erf => (erf(x), FRAC_2_SQRT_PI * (-x * x).exp()),
        Unary::Erfc => (erfc(x), -FRAC_2_SQRT_PI * (-x * x).exp()),
        Unary::LnGamma => (gamma(x)[0], gamma(x)[1]),
        Unary::Digamma => (gamma(x)[1], gamma(x)[2]),
        Unary::Trigamma => (gamma(x)[2], gamma(x)[3]),
        Unary::Tetragamma => (gamma(x)[3], gamma(x)[4]),
    };
    // If the derivative is zero, so is the tangent, whatever the incoming tangent is.
    Dual { v, d: if p == 0.0 { 0.0 } else { scale(p, d) } }
}

/// The points at which a function of one argument is tested.
#[derive(Clone, Copy, Debug)]
pub struct Tested {
    /// The range of arguments in which the function is defined and its derivatives are of moderate
    /// size. `None`: any argument.
    pub domain: Option<(f64, f64)>,
    /// The points at which value and derivatives are tested.
    pub points: &'static [f64],
}

/// Where a function is tested. A function without a line is tested everywhere.
#[must_use]
pub fn tested(f: Unary) -> Tested {
    const EVERYWHERE: &[f64] = &[-2.3, -0.7, 0.4, 1.9];
    const POSITIVE: &[f64] = &[0.2, 0.9, 1.7, 6.0];
    let within = |low, high, points| Tested { domain: Some((low, high)), points };
    let all = |points| Tested { domain: None, points };
    match f {
        Unary::Recip => within(0.2, 9.0, &[-2.0, 0.5, 3.0]),
        Unary::Ln | Unary::Log2 | Unary::Log10 | Unary::Sqrt => within(0.2, 9.0, POSITIVE),
        Unary::Cbrt => within(0.2, 9.0, &[-2.0, 0.3, 5.0]),
        Unary::Ln1p => within(-0.7, 9.0, &[-0.6, 0.3, 4.0]),
        Unary::Exp | Unary::Exp2 | Unary::ExpM1 | Unary::Sinh | Unary::Cosh | Unary::ToDegrees => {
            within(-1.5, 1.5, EVERYWHERE)
        }
        Unary::Tan => within(-1.2, 1.2, &[-1.2, 0.3, 1.1]),
        Unary::Asin | Unary::Acos | Unary::Atanh => within(-0.9, 0.9, &[-0.8, -0.3, 0.2, 0.7]),
        Unary::Acosh => within(1.2, 9.0, &[1.2, 2.0, 5.0]),
        Unary::LnGamma | Unary::Digamma | Unary::Trigamma | Unary::Tetragamma => within(0.3, 6.0, POSITIVE),
        // Not where the functions jump or have a kink.
        Unary::Abs => all(&[-2.0, -0.5, 0.7, 3.0]),
        Unary::Signum | Unary::Floor | Unary::Ceil | Unary::Relu => all(&[-1.5, 0.5]),
        Unary::Round | Unary::Trunc | Unary::Fract => all(&[-1.3, 0.6]),
        _ => all(EVERYWHERE),
    }
}

/// The points at which a function of two arguments is tested.
#[must_use]
pub fn tested_at(f: Binary) -> &'static [(f64, f64)] {
    match f {
        Binary::Rem => &[(5.3, 2.0), (-5.3, 2.1), (1.0, -0.4)],
        Binary::Pow => &[(1.5, -2.0), (0.3, 0.4), (2.0, 3.0)],
        Binary::Atan2 => &[(1.5, -2.0), (-0.3, 0.4), (2.0, 3.0)],
        Binary::Hypot | Binary::Copysign => &[(1.5, -2.0), (-0.3, 0.4)],
        // The order comes first.
        Binary::Polygamma => &[(3.0, 0.4), (3.0, -0.6), (3.0, 2.5), (4.0, 1.7)],
        _ => &[(1.5, -2.0), (0.3, 0.4)],
    }
}

pub(super) fn binary(f: Binary, a: Dual, b: Dual) -> Dual {
    let (da, db) = (a.d, b.d);
    let (a, b) = (a.v, b.v);
    let (v, pa, pb) = match f {
        Binary::Add => (a + b, 1.0, 1.0),
        Binary::Sub => (a - b, 1.0, -1.0),
        Binary::Mul => (a * b, b, a),
        Binary::Div => (a / b, 1.0 / b, -a / (b * b)),
        Binary::Rem => (a % b, 1.0, -(a / b).trunc()),
        Binary::Pow => (
            a.powf(b),
            if b == 0.0 { 0.0 } else { b * a.powf(b - 1.0) },
            if a == 0.0 && b > 0.0 { 0.0 } else { a.powf(b) * a.ln() },
        ),
        Binary::Atan2 if a == 0.0 && b == 0.0 => (a.atan2(b), 0.0, 0.0),
        Binary::Atan2 => (a.atan2(b), b / (a * a + b * b), -a / (a * a + b * b)),
        Binary::Hypot if a == 0.0 && b == 0.0 => (0.0, 0.0, 0.0),
        Binary::Hypot => (a.hypot(b), a / a.hypot(b), b / a.hypot(b)),
        Binary::Max | Binary::Min => {
            let first = if f == Binary::Max { a >= b } else { a <= b } || (b.is_nan() && !a.is_nan());
            let second = if f == Binary::Max { a < b } else { a > b } || (a.is_nan() && !b.is_nan());
            let v = if f == Binary::Max { a.max(b) } else { a.min(b) };
            (v, f64::from(first), f64::from(second))
        }
        Binary::Copysign => (a.copysign(b), sign(a) * 1.0_f64.copysign(b), 0.0),
        Binary::Polygamma => (polygamma(a.round(), b), 0.0, polygamma(a.round() + 1.0, b)),
        Binary::MulZero => return mul_zero(Dual { v: a, d: da }, Dual { v: b, d: db }),
    };
    let part = |p: f64, d: f64| if p == 0.0 && matches!(f, Binary::Max | Binary::Min) { 0.0 } else { scale(p, d) };
    Dual { v, d: part(pa, da) + part(pb, db) }
}

/// The product `*0`: the result is zero if the first factor or a tangent is zero, whatever the
/// other factor is.
fn mul_zero(a: Dual, b: Dual) -> Dual {
    let times = |x: f64, y: f64| if x == 0.0 { 0.0 } else { x * y };
    Dual { v: times(a.v, b.v), d: times(a.d, b.v) + if b.d == 0.0 { 0.0 } else { times(a.v, b.d) } }
}

pub(super) fn powi(x: Dual, n: i128) -> Dual {
    let n = i32::try_from(n).unwrap_or(if n < 0 { i32::MIN } else { i32::MAX });
    let p = if n == 0 { 0.0 } else { f64::from(n) * x.v.powi(n.wrapping_sub(1)) };
    Dual { v: x.v.powi(n), d: if p == 0.0 { 0.0 } else { scale(p, x.d) } }
}

/// The value of a comparison. `Cmp::holds` is not used here: the compiler folds
/// literals with it, and this is what tests that.
pub(super) fn compare<T: PartialOrd>(op: Cmp, a: &T, b: &T) -> bool {
    match op {
        Cmp::Eq => a == b,
        Cmp::Ne => a != b,
        Cmp::Lt => a < b,
        Cmp::Le => a <= b,
        Cmp::Gt => a > b,
        Cmp::Ge => a >= b,
    }
}

/// Integer operations in the declared type. They are total: the nearest value in range, or the
/// dividend if the divisor is 0.
pub(super) fn int(op: IntOp, ty: IntTy, x: i128, y: i128) -> i128 {
    let wide = match op {
        IntOp::Add => x.saturating_add(y),
        IntOp::Sub => x.saturating_sub(y),
        IntOp::Mul => x.saturating_mul(y),
        IntOp::Div => x.checked_div(y).unwrap_or(x),
        IntOp::Rem => x.checked_rem(y).unwrap_or(x),
        IntOp::Min => std::cmp::min(x, y),
        IntOp::Max => std::cmp::max(x, y),
        IntOp::BitAnd => x & y,
        IntOp::BitOr => x | y,
        IntOp::BitXor => x ^ y,
        IntOp::Shl | IntOp::Shr => return shifted(op == IntOp::Shl, ty, x, y),
        IntOp::Pow => power(x, y),
    };
    clamp(ty, wide)
}

/// A shift, bit by bit so that it is obvious. An amount outside of the width of the type has no
/// effect.
fn shifted(left: bool, ty: IntTy, x: i128, by: i128) -> i128 {
    let bits = match ty {
        IntTy::U8 => 8,
        IntTy::I32 | IntTy::U32 => 32,
        _ => 64,
    };
    if !(0..bits).contains(&by) {
        return x;
    }
    (0..by).fold(x, |x, _| if left { int_to_int(ty, x * 2) } else { x.div_euclid(2) })
}

/// A power by repeated multiplication. Above 130 steps only the sign changes.
fn power(x: i128, n: i128) -> i128 {
    let steps = if n > 130 { 130 + n % 2 } else { n };
    (0..steps).fold(1, |y: i128, _| y.saturating_mul(x))
}

/// The position of a real number in the order of `total_cmp`.
pub(super) fn order(x: f64) -> i128 {
    let magnitude = i128::from(x.abs().to_bits());
    if x.is_sign_negative() { -magnitude - 1 } else { magnitude }
}

pub(super) fn clamp(ty: IntTy, x: i128) -> i128 {
    let (lo, hi) = limits(ty);
    x.max(lo).min(hi)
}

/// The limits of a type, from Rust itself.
pub(super) fn limits(ty: IntTy) -> (i128, i128) {
    match ty {
        IntTy::Usize | IntTy::U64 => (u64::MIN.into(), u64::MAX.into()),
        IntTy::Isize | IntTy::I64 => (i64::MIN.into(), i64::MAX.into()),
        IntTy::I32 => (i32::MIN.into(), i32::MAX.into()),
        IntTy::U32 => (u32::MIN.into(), u32::MAX.into()),
        IntTy::U8 => (u8::MIN.into(), u8::MAX.into()),
    }
}

/// `as` from a real to an integer: it truncates and saturates, and NaN becomes 0.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the meaning of `as`")]
pub(super) fn real_to_int(ty: IntTy, x: f64) -> i128 {
    match ty {
        IntTy::Usize | IntTy::U64 => (x as u64).into(),
        IntTy::Isize | IntTy::I64 => (x as i64).into(),
        IntTy::I32 => (x as i32).into(),
        IntTy::U32 => (x as u32).into(),
        IntTy::U8 => (x as u8).into(),
    }
}

/// `as` between integers: it wraps.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the meaning of `as`")]
pub(super) fn int_to_int(ty: IntTy, x: i128) -> i128 {
    match ty {
        IntTy::Usize | IntTy::U64 => (x as u64).into(),
        IntTy::Isize | IntTy::I64 => (x as i64).into(),
        IntTy::I32 => (x as i32).into(),
        IntTy::U32 => (x as u32).into(),
        IntTy::U8 => (x as u8).into(),
    }
}

/// `as` from an integer to a real.
#[allow(clippy::cast_precision_loss, reason = "the meaning of `as`")]
pub(super) fn int_to_real(elem: Elem, x: i128) -> f64 {
    // The conversion goes directly to f32. Through f64 it would be rounded twice.
    if elem == Elem::Real(RealTy::F32) { f64::from(x as f32) } else { x as f64 }
}

fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

fn sigmoid(x: f64) -> f64 {
    // This exponential does not overflow.
    if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) }
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// The integral of `f` from `a` to `b` by Romberg's method: slow and obvious.
fn integral(f: impl Fn(f64) -> f64, a: f64, b: f64) -> f64 {
    let mut h = b - a;
    let mut row = vec![h / 2.0 * (f(a) + f(b))];
    for level in 1..=9 {
        h /= 2.0;
        let inner: f64 = (0..1_u32 << (level - 1)).map(|k| f(a + h * f64::from(2 * k + 1))).sum();
        let mut next = vec![row[0] / 2.0 + h * inner];
        let mut factor = 1.0;
        for k in 0..row.len() {
            factor *= 4.0;
            next.push(next[k] + (next[k] - row[k]) / (factor - 1.0));
        }
        row = next;
    }
    row[row.len() - 1]
}

fn erf(x: f64) -> f64 {
    if x.is_nan() {
        x
    } else if x.abs() < 2.0 {
        FRAC_2_SQRT_PI * integral(|t| (-t * t).exp(), 0.0, x)
    } else {
        x.signum() * (1.0 - erfc(x.abs()))
    }
}

fn erfc(x: f64) -> f64 {
    if x < 0.0 {
        2.0 - erfc(-x)
    } else if x < 0.5 {
        1.0 - erf(x)
    } else {
        // exp(-x^2) times the integral of exp(-s^2 - 2xs). There is no cancellation for large x.
        FRAC_2_SQRT_PI * (-x * x).exp() * integral(|s| (-s * (s + 2.0 * x)).exp(), 0.0, (x * x + 40.0).sqrt() - x)
    }
}

/// `[ln|gamma|, digamma, trigamma, ..]` at x, four derivatives in all: Lanczos's formula (g = 7,
/// nine terms) and its derivatives, and the reflection formula below 1/2.
fn gamma(x: f64) -> [f64; 5] {
    if x < 0.5 {
        let [l, d, t, q, p] = gamma(1.0 - x);
        let (s, c) = (PI * x).sin_cos();
        return [
            (PI / s.abs()).ln() - l,
            d - PI * c / s,
            PI * PI / (s * s) - t,
            q - 2.0 * PI.powi(3) * c / s.powi(3),
            2.0 * PI.powi(4) * (1.0 + 3.0 * (c / s).powi(2)) / s.powi(2) - p,
        ];
    }
    const COEFFICIENTS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let z = x - 1.0;
    let mut a = [0.999_999_999_999_809_9, 0.0, 0.0, 0.0, 0.0];
    for (k, c) in (1_u32..).zip(COEFFICIENTS) {
        let r = 1.0 / (z + f64::from(k));
        a[0] += c * r;
        a[1] -= c * r.powi(2);
        a[2] += 2.0 * c * r.powi(3);
        a[3] -= 6.0 * c * r.powi(4);
        a[4] += 24.0 * c * r.powi(5);
    }
    let (t, m) = (z + 7.5, z + 0.5);
    let (p, q, r, s) = (a[1] / a[0], a[2] / a[0], a[3] / a[0], a[4] / a[0]);
    [
        0.5 * (2.0 * PI).ln() + m * t.ln() - t + a[0].ln(),
        t.ln() + m / t - 1.0 + p,
        2.0 / t - m / t.powi(2) + q - p * p,
        -3.0 / t.powi(2) + 2.0 * m / t.powi(3) + r - 3.0 * p * q + 2.0 * p.powi(3),
        8.0 / t.powi(3) - 6.0 * m / t.powi(4) + s - 4.0 * p * r - 3.0 * q * q + 12.0 * p * p * q - 6.0 * p.powi(4),
    ]
}

/// The derivative of order n of digamma by its definition as a sum. The remainder of the sum is an
/// integral (by midpoints).
fn polygamma(n: f64, x: f64) -> f64 {
    const TERMS: i32 = 4000;
    let end = x + f64::from(TERMS) - 0.5;
    let mut sum = end.powf(-n) / n - (n + 1.0) / 24.0 * end.powf(-n - 2.0);
    for k in (0..TERMS).rev() {
        #[allow(clippy::cast_possible_truncation, reason = "an order is a small whole number")]
        let power = (x + f64::from(k)).powi(n as i32 + 1);
        sum += 1.0 / power;
    }
    let factorial: f64 = (1..=100).map(f64::from).take_while(|&k| k <= n).product();
    if n % 2.0 == 0.0 { -factorial * sum } else { factorial * sum }
}
