//! The table of functions of one real argument, with the terms of their derivatives. Every
//! derivative is tested: `ad-core/tests/table.rs` covers the whole table.

use super::Emit::{Kernel, Method, Op};
use super::Scaling::Absorbing;
use super::{Binary, DIVISION, UnaryRow, scalar_table};
use crate::prim::Build;
use crate::prim::Cmp;
use crate::term::Term;

/// The default of a row: a cheap function.
const CHEAP: UnaryRow = UnaryRow::CHEAP;
/// The default for a function that costs more than storing its result.
const EXPENSIVE: UnaryRow = UnaryRow { cost: super::EXPENSIVE, ..CHEAP };

scalar_table! {
    /// A function of one real argument, elementwise.
    Unary, UnaryRow;

    Neg: UnaryRow {
        name: "-", emit: Op("-"),
        partial: Some(|g, x, _| g.lit_like(x, -1.0)),
        bounded: true, ..CHEAP
    };
    Recip: UnaryRow {
        name: "recip", emit: Method("recip"),
        partial: Some(|g, _, y| { let q = g.mul(y, y); g.neg(q) }),
        cost: DIVISION, ..CHEAP
    };
    Exp: UnaryRow {
        name: "exp", emit: Method("exp"),
        partial: Some(|_, _, y| y),
        vectorised: true, ..EXPENSIVE
    };
    Exp2: UnaryRow {
        name: "exp2", emit: Method("exp2"),
        partial: Some(|g, x, y| { let c = g.lit_like(x, std::f64::consts::LN_2); g.mul(y, c) }),
        ..EXPENSIVE
    };
    ExpM1: UnaryRow {
        name: "exp_m1", emit: Method("exp_m1"),
        partial: Some(|g, x, y| { let one = g.lit_like(x, 1.0); g.add(y, one) }),
        vectorised: true, ..EXPENSIVE
    };
    Ln: UnaryRow {
        name: "ln", emit: Method("ln"),
        partial: Some(|g, x, _| g.recip(x)),
        vectorised: true, ..EXPENSIVE
    };
    Ln1p: UnaryRow {
        name: "ln_1p", emit: Method("ln_1p"),
        partial: Some(|g, x, _| { let one = g.lit_like(x, 1.0); let q = g.add(x, one); g.recip(q) }),
        vectorised: true, ..EXPENSIVE
    };
    Log2: UnaryRow {
        name: "log2", emit: Method("log2"),
        partial: Some(|g, x, _| { let c = g.lit_like(x, std::f64::consts::LN_2); let q = g.mul(x, c); g.recip(q) }),
        ..EXPENSIVE
    };
    Log10: UnaryRow {
        name: "log10", emit: Method("log10"),
        partial: Some(|g, x, _| { let c = g.lit_like(x, std::f64::consts::LN_10); let q = g.mul(x, c); g.recip(q) }),
        ..EXPENSIVE
    };
    Sqrt: UnaryRow {
        name: "sqrt", emit: Method("sqrt"),
        partial: Some(|g, x, y| { let half = g.lit_like(x, 0.5); g.div(half, y) }),
        scaling: Absorbing,
        ..EXPENSIVE
    };
    Cbrt: UnaryRow {
        name: "cbrt", emit: Method("cbrt"),
        partial: Some(|g, x, y| { let third = g.lit_like(x, 1.0 / 3.0); let q = g.mul(y, y); g.div(third, q) }),
        scaling: Absorbing,
        ..EXPENSIVE
    };
    Sin: UnaryRow {
        name: "sin", emit: Method("sin"),
        partial: Some(|g, x, _| g.unary(Unary::Cos, x)),
        vectorised: true, bounded: true, ..EXPENSIVE
    };
    Cos: UnaryRow {
        name: "cos", emit: Method("cos"),
        partial: Some(|g, x, _| { let s = g.unary(Unary::Sin, x); g.neg(s) }),
        vectorised: true, bounded: true, ..EXPENSIVE
    };
    Tan: UnaryRow {
        name: "tan", emit: Method("tan"),
        partial: Some(|g, x, y| { let one = g.lit_like(x, 1.0); let q = g.mul(y, y); g.add(one, q) }),
        ..EXPENSIVE
    };
    Asin: UnaryRow {
        name: "asin", emit: Method("asin"),
        partial: Some(|g, x, _| { let q = one_minus_square(g, x); let s = g.unary(Unary::Sqrt, q); g.recip(s) }),
        ..EXPENSIVE
    };
    Acos: UnaryRow {
        name: "acos", emit: Method("acos"),
        partial: Some(|g, x, _| { let q = one_minus_square(g, x); let s = g.unary(Unary::Sqrt, q); let r = g.recip(s); g.neg(r) }),
        ..EXPENSIVE
    };
    Atan: UnaryRow {
        name: "atan", emit: Method("atan"),
        partial: Some(|g, x, _| { let one = g.lit_like(x, 1.0); let q = g.mul(x, x); let d = g.add(one, q); g.recip(d) }),
        ..EXPENSIVE
    };
    Sinh: UnaryRow {
        name: "sinh", emit: Method("sinh"),
        partial: Some(|g, x, _| g.unary(Unary::Cosh, x)),
        ..EXPENSIVE
    };
    Cosh: UnaryRow {
        name: "cosh", emit: Method("cosh"),
        partial: Some(|g, x, _| g.unary(Unary::Sinh, x)),
        ..EXPENSIVE
    };
    Tanh: UnaryRow {
        name: "tanh", emit: Method("tanh"),
        partial: Some(|g, _, y| one_minus_square(g, y)),
        vectorised: true, bounded: true, ..EXPENSIVE
    };
    Asinh: UnaryRow {
        name: "asinh", emit: Method("asinh"),
        partial: Some(|g, x, _| { let one = g.lit_like(x, 1.0); let q = g.mul(x, x); let d = g.add(q, one); let s = g.unary(Unary::Sqrt, d); g.recip(s) }),
        ..EXPENSIVE
    };
    Acosh: UnaryRow {
        name: "acosh", emit: Method("acosh"),
        partial: Some(|g, x, _| { let one = g.lit_like(x, 1.0); let q = g.mul(x, x); let d = g.sub(q, one); let s = g.unary(Unary::Sqrt, d); g.recip(s) }),
        ..EXPENSIVE
    };
    Atanh: UnaryRow {
        name: "atanh", emit: Method("atanh"),
        partial: Some(|g, x, _| { let q = one_minus_square(g, x); g.recip(q) }),
        ..EXPENSIVE
    };
    Abs: UnaryRow {
        name: "abs", emit: Method("abs"),
        partial: Some(|g, x, _| sign_or_zero(g, x)),
        bounded: true, ..CHEAP
    };
    /// The derivative is 0 (table of conventions).
    Signum: UnaryRow {
        name: "signum", emit: Method("signum"),
        step: true, ..CHEAP
    };
    Floor: UnaryRow {
        name: "floor", emit: Method("floor"),
        rounds: true, step: true, ..CHEAP
    };
    Ceil: UnaryRow {
        name: "ceil", emit: Method("ceil"),
        rounds: true, step: true, ..CHEAP
    };
    Round: UnaryRow {
        name: "round", emit: Method("round"),
        rounds: true, step: true, ..CHEAP
    };
    Trunc: UnaryRow {
        name: "trunc", emit: Method("trunc"),
        rounds: true, step: true, ..CHEAP
    };
    /// The derivative is 1 (table of conventions).
    Fract: UnaryRow {
        name: "fract", emit: Method("fract"),
        partial: Some(|g, x, _| g.lit_like(x, 1.0)),
        rounds: true, ..CHEAP
    };
    ToDegrees: UnaryRow {
        name: "to_degrees", emit: Method("to_degrees"),
        partial: Some(|g, x, _| g.lit_like(x, 180.0 / std::f64::consts::PI)),
        ..CHEAP
    };
    ToRadians: UnaryRow {
        name: "to_radians", emit: Method("to_radians"),
        partial: Some(|g, x, _| g.lit_like(x, std::f64::consts::PI / 180.0)),
        ..CHEAP
    };
    Sigmoid: UnaryRow {
        name: "sigmoid", emit: Kernel("sigmoid"),
        partial: Some(|g, x, y| { let one = g.lit_like(x, 1.0); let q = g.sub(one, y); g.mul(y, q) }),
        vectorised: true, bounded: true, ..EXPENSIVE
    };
    /// The derivative at 0 is 0 (table of conventions).
    Relu: UnaryRow {
        name: "relu", emit: Kernel("relu"),
        partial: Some(|g, x, _| step(g, x)),
        bounded: true, ..CHEAP
    };
    Softplus: UnaryRow {
        name: "softplus", emit: Kernel("softplus"),
        partial: Some(|g, x, _| g.unary(Unary::Sigmoid, x)),
        vectorised: true, ..EXPENSIVE
    };
    Erf: UnaryRow {
        name: "erf", emit: Kernel("erf"),
        partial: Some(|g, x, _| gauss(g, x, std::f64::consts::FRAC_2_SQRT_PI)),
        ..EXPENSIVE
    };
    Erfc: UnaryRow {
        name: "erfc", emit: Kernel("erfc"),
        partial: Some(|g, x, _| gauss(g, x, -std::f64::consts::FRAC_2_SQRT_PI)),
        ..EXPENSIVE
    };
    LnGamma: UnaryRow {
        name: "ln_gamma", emit: Kernel("ln_gamma"),
        partial: Some(|g, x, _| g.unary(Unary::Digamma, x)),
        ..EXPENSIVE
    };
    Digamma: UnaryRow {
        name: "digamma", emit: Kernel("digamma"),
        partial: Some(|g, x, _| g.unary(Unary::Trigamma, x)),
        ..EXPENSIVE
    };
    /// The derivative of digamma.
    Trigamma: UnaryRow {
        name: "trigamma", emit: Kernel("trigamma"),
        partial: Some(|g, x, _| g.unary(Unary::Tetragamma, x)),
        internal: true, ..EXPENSIVE
    };
    /// The derivative of trigamma. Higher derivatives are [`super::Binary::Polygamma`].
    Tetragamma: UnaryRow {
        name: "tetragamma", emit: Kernel("tetragamma"),
        partial: Some(|g, x, _| { let n = g.lit_like(x, 3.0); g.binary(Binary::Polygamma, n, x) }),
        internal: true, ..EXPENSIVE
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
