//! The table of functions of one real argument, with the terms of their derivatives. Every
//! derivative is tested: `ad-core/tests/table.rs` covers the whole table.

use super::Emit::{Kernel, Method, Op};
use super::Scaling::Absorbing;
use super::{Binary, DIVISION, UnaryRow, reference, scalar_table};
use crate::prim::Build;
use crate::prim::Cmp;
use crate::term::Term;

const ALL: &[f64] = &[-2.3, -0.7, 0.4, 1.9];
const POS: &[f64] = &[0.2, 0.9, 1.7, 6.0];
const UNIT: &[f64] = &[-0.8, -0.3, 0.2, 0.7];

/// The default of a row: a cheap function.
const CHEAP: UnaryRow = UnaryRow::CHEAP;
/// The default for a function that costs more than storing its result.
const EXPENSIVE: UnaryRow = UnaryRow { cost: super::EXPENSIVE, ..CHEAP };

scalar_table! {
    /// A function of one real argument, elementwise.
    Unary, UnaryRow;

    Neg: UnaryRow {
        name: "-", eval: |x| -x, emit: Op("-"),
        partial: Some(|g, x, _| g.lit_like(x, -1.0)),
        bounded: true, points: ALL, ..CHEAP
    };
    Recip: UnaryRow {
        name: "recip", eval: f64::recip, emit: Method("recip"),
        partial: Some(|g, _, y| { let q = g.mul(y, y); g.neg(q) }),
        cost: DIVISION, domain: Some((0.2, 9.0)), points: &[-2.0, 0.5, 3.0], ..CHEAP
    };
    Exp: UnaryRow {
        name: "exp", eval: f64::exp, emit: Method("exp"),
        partial: Some(|_, _, y| y),
        vectorised: true, domain: Some((-1.5, 1.5)), points: ALL, ..EXPENSIVE
    };
    Exp2: UnaryRow {
        name: "exp2", eval: f64::exp2, emit: Method("exp2"),
        partial: Some(|g, x, y| { let c = g.lit_like(x, std::f64::consts::LN_2); g.mul(y, c) }),
        domain: Some((-1.5, 1.5)), points: ALL, ..EXPENSIVE
    };
    ExpM1: UnaryRow {
        name: "exp_m1", eval: f64::exp_m1, emit: Method("exp_m1"),
        partial: Some(|g, x, y| { let one = g.lit_like(x, 1.0); g.add(y, one) }),
        vectorised: true, domain: Some((-1.5, 1.5)), points: ALL, ..EXPENSIVE
    };
    Ln: UnaryRow {
        name: "ln", eval: f64::ln, emit: Method("ln"),
        partial: Some(|g, x, _| g.recip(x)),
        vectorised: true, domain: Some((0.2, 9.0)), points: POS, ..EXPENSIVE
    };
    Ln1p: UnaryRow {
        name: "ln_1p", eval: f64::ln_1p, emit: Method("ln_1p"),
        partial: Some(|g, x, _| { let one = g.lit_like(x, 1.0); let q = g.add(x, one); g.recip(q) }),
        vectorised: true, domain: Some((-0.7, 9.0)), points: &[-0.6, 0.3, 4.0], ..EXPENSIVE
    };
    Log2: UnaryRow {
        name: "log2", eval: f64::log2, emit: Method("log2"),
        partial: Some(|g, x, _| { let c = g.lit_like(x, std::f64::consts::LN_2); let q = g.mul(x, c); g.recip(q) }),
        domain: Some((0.2, 9.0)), points: POS, ..EXPENSIVE
    };
    Log10: UnaryRow {
        name: "log10", eval: f64::log10, emit: Method("log10"),
        partial: Some(|g, x, _| { let c = g.lit_like(x, std::f64::consts::LN_10); let q = g.mul(x, c); g.recip(q) }),
        domain: Some((0.2, 9.0)), points: POS, ..EXPENSIVE
    };
    Sqrt: UnaryRow {
        name: "sqrt", eval: f64::sqrt, emit: Method("sqrt"),
        partial: Some(|g, x, y| { let half = g.lit_like(x, 0.5); g.div(half, y) }),
        scaling: Absorbing,
        domain: Some((0.2, 9.0)), points: POS, ..EXPENSIVE
    };
    Cbrt: UnaryRow {
        name: "cbrt", eval: f64::cbrt, emit: Method("cbrt"),
        partial: Some(|g, x, y| { let third = g.lit_like(x, 1.0 / 3.0); let q = g.mul(y, y); g.div(third, q) }),
        scaling: Absorbing,
        domain: Some((0.2, 9.0)), points: &[-2.0, 0.3, 5.0], ..EXPENSIVE
    };
    Sin: UnaryRow {
        name: "sin", eval: f64::sin, emit: Method("sin"),
        partial: Some(|g, x, _| g.unary(Unary::Cos, x)),
        vectorised: true, bounded: true, points: ALL, ..EXPENSIVE
    };
    Cos: UnaryRow {
        name: "cos", eval: f64::cos, emit: Method("cos"),
        partial: Some(|g, x, _| { let s = g.unary(Unary::Sin, x); g.neg(s) }),
        vectorised: true, bounded: true, points: ALL, ..EXPENSIVE
    };
    Tan: UnaryRow {
        name: "tan", eval: f64::tan, emit: Method("tan"),
        partial: Some(|g, x, y| { let one = g.lit_like(x, 1.0); let q = g.mul(y, y); g.add(one, q) }),
        domain: Some((-1.2, 1.2)), points: &[-1.2, 0.3, 1.1], ..EXPENSIVE
    };
    Asin: UnaryRow {
        name: "asin", eval: f64::asin, emit: Method("asin"),
        partial: Some(|g, x, _| { let q = one_minus_square(g, x); let s = g.unary(Unary::Sqrt, q); g.recip(s) }),
        domain: Some((-0.9, 0.9)), points: UNIT, ..EXPENSIVE
    };
    Acos: UnaryRow {
        name: "acos", eval: f64::acos, emit: Method("acos"),
        partial: Some(|g, x, _| { let q = one_minus_square(g, x); let s = g.unary(Unary::Sqrt, q); let r = g.recip(s); g.neg(r) }),
        domain: Some((-0.9, 0.9)), points: UNIT, ..EXPENSIVE
    };
    Atan: UnaryRow {
        name: "atan", eval: f64::atan, emit: Method("atan"),
        partial: Some(|g, x, _| { let one = g.lit_like(x, 1.0); let q = g.mul(x, x); let d = g.add(one, q); g.recip(d) }),
        points: ALL, ..EXPENSIVE
    };
    Sinh: UnaryRow {
        name: "sinh", eval: f64::sinh, emit: Method("sinh"),
        partial: Some(|g, x, _| g.unary(Unary::Cosh, x)),
        domain: Some((-1.5, 1.5)), points: ALL, ..EXPENSIVE
    };
    Cosh: UnaryRow {
        name: "cosh", eval: f64::cosh, emit: Method("cosh"),
        partial: Some(|g, x, _| g.unary(Unary::Sinh, x)),
        domain: Some((-1.5, 1.5)), points: ALL, ..EXPENSIVE
    };
    Tanh: UnaryRow {
        name: "tanh", eval: f64::tanh, emit: Method("tanh"),
        partial: Some(|g, _, y| one_minus_square(g, y)),
        vectorised: true, bounded: true, points: ALL, ..EXPENSIVE
    };
    Asinh: UnaryRow {
        name: "asinh", eval: f64::asinh, emit: Method("asinh"),
        partial: Some(|g, x, _| { let one = g.lit_like(x, 1.0); let q = g.mul(x, x); let d = g.add(q, one); let s = g.unary(Unary::Sqrt, d); g.recip(s) }),
        points: ALL, ..EXPENSIVE
    };
    Acosh: UnaryRow {
        name: "acosh", eval: f64::acosh, emit: Method("acosh"),
        partial: Some(|g, x, _| { let one = g.lit_like(x, 1.0); let q = g.mul(x, x); let d = g.sub(q, one); let s = g.unary(Unary::Sqrt, d); g.recip(s) }),
        domain: Some((1.2, 9.0)), points: &[1.2, 2.0, 5.0], ..EXPENSIVE
    };
    Atanh: UnaryRow {
        name: "atanh", eval: f64::atanh, emit: Method("atanh"),
        partial: Some(|g, x, _| { let q = one_minus_square(g, x); g.recip(q) }),
        domain: Some((-0.9, 0.9)), points: UNIT, ..EXPENSIVE
    };
    Abs: UnaryRow {
        name: "abs", eval: f64::abs, emit: Method("abs"),
        partial: Some(|g, x, _| sign_or_zero(g, x)),
        bounded: true, points: &[-2.0, -0.5, 0.7, 3.0], ..CHEAP
    };
    /// The derivative is 0 (table of conventions).
    Signum: UnaryRow {
        name: "signum", eval: f64::signum, emit: Method("signum"),
        step: true, points: &[-1.5, 0.5], ..CHEAP
    };
    Floor: UnaryRow {
        name: "floor", eval: f64::floor, emit: Method("floor"),
        step: true, points: &[-1.5, 0.5], ..CHEAP
    };
    Ceil: UnaryRow {
        name: "ceil", eval: f64::ceil, emit: Method("ceil"),
        step: true, points: &[-1.5, 0.5], ..CHEAP
    };
    Round: UnaryRow {
        name: "round", eval: f64::round, emit: Method("round"),
        step: true, points: &[-1.3, 0.6], ..CHEAP
    };
    Trunc: UnaryRow {
        name: "trunc", eval: f64::trunc, emit: Method("trunc"),
        step: true, points: &[-1.3, 0.6], ..CHEAP
    };
    /// The derivative is 1 (table of conventions).
    Fract: UnaryRow {
        name: "fract", eval: f64::fract, emit: Method("fract"),
        partial: Some(|g, x, _| g.lit_like(x, 1.0)),
        points: &[-1.3, 0.6], ..CHEAP
    };
    ToDegrees: UnaryRow {
        name: "to_degrees", eval: f64::to_degrees, emit: Method("to_degrees"),
        partial: Some(|g, x, _| g.lit_like(x, 180.0 / std::f64::consts::PI)),
        domain: Some((-1.5, 1.5)), points: ALL, ..CHEAP
    };
    ToRadians: UnaryRow {
        name: "to_radians", eval: f64::to_radians, emit: Method("to_radians"),
        partial: Some(|g, x, _| g.lit_like(x, std::f64::consts::PI / 180.0)),
        points: ALL, ..CHEAP
    };
    Sigmoid: UnaryRow {
        name: "sigmoid", eval: reference::sigmoid, emit: Kernel("sigmoid"),
        partial: Some(|g, x, y| { let one = g.lit_like(x, 1.0); let q = g.sub(one, y); g.mul(y, q) }),
        vectorised: true, bounded: true, points: ALL, ..EXPENSIVE
    };
    /// The derivative at 0 is 0 (table of conventions).
    Relu: UnaryRow {
        name: "relu", eval: |x| if x > 0.0 || x.is_nan() { x } else { 0.0 }, emit: Kernel("relu"),
        partial: Some(|g, x, _| step(g, x)),
        bounded: true, points: &[-1.5, 0.5], ..CHEAP
    };
    Softplus: UnaryRow {
        name: "softplus", eval: reference::softplus, emit: Kernel("softplus"),
        partial: Some(|g, x, _| g.unary(Unary::Sigmoid, x)),
        vectorised: true, points: ALL, ..EXPENSIVE
    };
    Erf: UnaryRow {
        name: "erf", eval: reference::erf, emit: Kernel("erf"),
        partial: Some(|g, x, _| gauss(g, x, std::f64::consts::FRAC_2_SQRT_PI)),
        points: ALL, ..EXPENSIVE
    };
    Erfc: UnaryRow {
        name: "erfc", eval: reference::erfc, emit: Kernel("erfc"),
        partial: Some(|g, x, _| gauss(g, x, -std::f64::consts::FRAC_2_SQRT_PI)),
        points: ALL, ..EXPENSIVE
    };
    LnGamma: UnaryRow {
        name: "ln_gamma", eval: reference::ln_gamma, emit: Kernel("ln_gamma"),
        partial: Some(|g, x, _| g.unary(Unary::Digamma, x)),
        domain: Some((0.3, 6.0)), points: POS, ..EXPENSIVE
    };
    Digamma: UnaryRow {
        name: "digamma", eval: reference::digamma, emit: Kernel("digamma"),
        partial: Some(|g, x, _| g.unary(Unary::Trigamma, x)),
        domain: Some((0.3, 6.0)), points: POS, ..EXPENSIVE
    };
    /// The derivative of digamma.
    Trigamma: UnaryRow {
        name: "trigamma", eval: reference::trigamma, emit: Kernel("trigamma"),
        partial: Some(|g, x, _| g.unary(Unary::Tetragamma, x)),
        internal: true, domain: Some((0.3, 6.0)), points: POS, ..EXPENSIVE
    };
    /// The derivative of trigamma. Higher derivatives are [`super::Binary::Polygamma`].
    Tetragamma: UnaryRow {
        name: "tetragamma", eval: reference::tetragamma, emit: Kernel("tetragamma"),
        partial: Some(|g, x, _| { let n = g.lit_like(x, 3.0); g.binary(Binary::Polygamma, n, x) }),
        internal: true, domain: Some((0.3, 6.0)), points: POS, ..EXPENSIVE
    };
}

fn one_minus_square(g: &mut dyn Build, x: Term) -> Term {
    let one = g.lit_like(x, 1.0);
    let q = g.mul(x, x);
    g.sub(one, q)
}

/// The sign of x, and 0 at 0.
pub(super) fn sign_or_zero(g: &mut dyn Build, x: Term) -> Term {
    let zero = g.lit_like(x, 0.0);
    let at_zero = g.compare(Cmp::Eq, x, zero);
    let s = g.unary(Unary::Signum, x);
    g.select(at_zero, zero, s)
}

/// 1 where x is positive, and 0 elsewhere.
fn step(g: &mut dyn Build, x: Term) -> Term {
    let (zero, one) = (g.lit_like(x, 0.0), g.lit_like(x, 1.0));
    let positive = g.compare(Cmp::Gt, x, zero);
    g.select(positive, one, zero)
}

/// `c * exp(-x^2)`.
fn gauss(g: &mut dyn Build, x: Term, c: f64) -> Term {
    let q = g.mul(x, x);
    let n = g.neg(q);
    let e = g.unary(Unary::Exp, n);
    let c = g.lit_like(x, c);
    g.mul(c, e)
}
