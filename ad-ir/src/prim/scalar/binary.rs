//! The table of functions of two real arguments, with the terms of their derivatives. Every
//! derivative is tested: `ad-core/tests/table.rs` covers the whole table.

use super::Emit::{Kernel, Method, Op};
use super::Scaling::Absorbing;
use super::unary::sign_or_zero;
use super::{BinaryRow, DIVISION, Unary, scalar_table};
use crate::prim::{Build, Cmp, Prim};
use crate::term::Term;

/// The default of a row: a cheap function.
const CHEAP: BinaryRow = BinaryRow::CHEAP;
/// The default for a function that costs more than storing its result.
const EXPENSIVE: BinaryRow = BinaryRow { cost: super::EXPENSIVE, ..CHEAP };

scalar_table! {
    /// A function of two real arguments, elementwise.
    Binary, BinaryRow;

    Add: BinaryRow {
        name: "+", folded: Some(|a, b| a + b), emit: Op("+"),
        partials: [Some(|g, a, _, _| g.lit_like(a, 1.0)), Some(|g, a, _, _| g.lit_like(a, 1.0))],
        bounded: true, ..CHEAP
    };
    Sub: BinaryRow {
        name: "-", folded: Some(|a, b| a - b), emit: Op("-"),
        partials: [Some(|g, a, _, _| g.lit_like(a, 1.0)), Some(|g, a, _, _| g.lit_like(a, -1.0))],
        bounded: true, ..CHEAP
    };
    Mul: BinaryRow {
        name: "*", folded: Some(|a, b| a * b), emit: Op("*"),
        partials: [Some(|_, _, b, _| b), Some(|_, a, _, _| a)],
        bounded: true, ..CHEAP
    };
    Div: BinaryRow {
        name: "/", folded: Some(|a, b| a / b), emit: Op("/"),
        partials: [
            Some(|g, _, b, _| g.recip(b)),
            Some(div_db),
        ],
        cost: DIVISION, ..CHEAP
    };
    /// `a - b * trunc(a / b)`.
    Rem: BinaryRow {
        name: "%", emit: Op("%"),
        partials: [
            Some(|g, a, _, _| g.lit_like(a, 1.0)),
            Some(|g, a, b, _| { let q = g.div(a, b); let t = g.unary(Unary::Trunc, q); g.neg(t) }),
        ],
        cost: DIVISION, ..CHEAP
    };
    Pow: BinaryRow {
        name: "powf", emit: Method("powf"),
        partials: [Some(pow_da), Some(pow_db)],
        scaling: Absorbing, vectorised: true, on_arrays: true, ..EXPENSIVE
    };
    Atan2: BinaryRow {
        name: "atan2", emit: Method("atan2"),
        partials: [
            Some(|g, a, b, _| over_square_sum(g, b, a, b)),
            Some(|g, a, b, _| { let n = g.neg(a); over_square_sum(g, n, a, b) }),
        ],
        ..EXPENSIVE
    };
    Hypot: BinaryRow {
        name: "hypot", emit: Method("hypot"),
        partials: [
            Some(|g, a, _, y| over_or_zero(g, a, y)),
            Some(|g, _, b, y| over_or_zero(g, b, y)),
        ],
        on_arrays: true, ..EXPENSIVE
    };
    /// The derivative goes to the first argument on a tie. A NaN operand gets no derivative.
    Max: BinaryRow {
        name: "max", emit: Method("max"),
        partials: [
            Some(|g, a, b, _| wins(g, a, b, false)),
            Some(|g, a, b, _| loses(g, a, b, false)),
        ],
        bounded: true, ..CHEAP
    };
    Min: BinaryRow {
        name: "min", emit: Method("min"),
        partials: [
            Some(|g, a, b, _| wins(g, a, b, true)),
            Some(|g, a, b, _| loses(g, a, b, true)),
        ],
        bounded: true, ..CHEAP
    };
    Copysign: BinaryRow {
        name: "copysign", emit: Method("copysign"),
        partials: [
            Some(|g, a, _, y| { let s = sign_or_zero(g, a); let one = g.lit_like(a, 1.0); let t = g.binary(Binary::Copysign, one, y); g.mul(s, t) }),
            None,
        ],
        ..CHEAP
    };
    /// The derivative of order n of `digamma` at x, for a constant whole number n >= 1.
    Polygamma: BinaryRow {
        name: "polygamma", emit: Kernel("polygamma"),
        partials: [
            None,
            Some(|g, n, x, _| { let one = g.lit_like(n, 1.0); let next = g.add(n, one); g.binary(Binary::Polygamma, next, x) }),
        ],
        ..EXPENSIVE
    };
    /// `if a == 0 { 0 } else { a * b }`. It scales a cotangent that may be a masked zero
    /// (`modes::dual_arrays::transpose`).
    MulZero: BinaryRow {
        name: "*0", emit: Kernel("mul_zero"),
        partials: [Some(|_, _, b, _| b), Some(nonzero)],
        scaling: Absorbing, ..CHEAP
    };
}

/// `-y / b` for `y = a / b`. The square of a reciprocal needs no other division.
fn div_db(g: &mut dyn Build, a: Term, b: Term, y: Term) -> Term {
    let quotient = if a == g.lit_like(a, 1.0) { g.mul(y, y) } else { g.div(y, b) };
    g.neg(quotient)
}

/// A mask: 1 where `a` is not 0. Where `a` is 0, the value that it scales is ignored, even if it is
/// NaN.
fn nonzero(g: &mut dyn Build, a: Term, _b: Term, _y: Term) -> Term {
    let zero = g.lit_like(a, 0.0);
    let at_zero = g.compare(Cmp::Eq, a, zero);
    g.select(at_zero, zero, a)
}

/// `a / y`, and 0 where y is 0.
fn over_or_zero(g: &mut dyn Build, a: Term, y: Term) -> Term {
    let zero = g.lit_like(y, 0.0);
    let at_zero = g.compare(Cmp::Eq, y, zero);
    let q = g.div(a, y);
    g.select(at_zero, zero, q)
}

/// `n / (a^2 + b^2)`, and 0 where both are 0. It divides twice, since the squares may overflow or
/// underflow where the quotient does not.
fn over_square_sum(g: &mut dyn Build, n: Term, a: Term, b: Term) -> Term {
    let zero = g.lit_like(a, 0.0);
    let h = g.binary(Binary::Hypot, a, b);
    let at_zero = g.compare(Cmp::Eq, h, zero);
    let once = g.div(n, h);
    let q = g.div(once, h);
    g.select(at_zero, zero, q)
}

/// `b * a^(b - 1)`, and 0 where b is 0, even if the power is infinite. The product keeps its
/// derivative with respect to b, which is not 0 there: a conditional on `b == 0` would make the
/// Hessian asymmetric at points where the function is smooth.
fn pow_da(g: &mut dyn Build, a: Term, b: Term, _y: Term) -> Term {
    let one = g.lit_like(b, 1.0);
    let less = g.sub(b, one);
    let p = g.binary(Binary::Pow, a, less);
    g.binary(Binary::MulZero, b, p)
}

/// `a^b * ln a`, and 0 where a is 0 and b is positive.
fn pow_db(g: &mut dyn Build, a: Term, b: Term, y: Term) -> Term {
    let zero = g.lit_like(a, 0.0);
    let at_zero = g.compare(Cmp::Eq, a, zero);
    let positive = g.compare(Cmp::Gt, b, zero);
    let flat = g.and(at_zero, positive);
    let l = g.unary(Unary::Ln, a);
    let d = g.mul(y, l);
    g.select(flat, zero, d)
}

/// 1 where the result of `a.max(b)` (or `min`) is a, ties included, if a is not NaN.
fn wins(g: &mut dyn Build, a: Term, b: Term, min: bool) -> Term {
    let (zero, one) = (g.lit_like(a, 0.0), g.lit_like(a, 1.0));
    let c = is_first(g, a, b, min);
    g.select(c, one, zero)
}

/// Whether the result of `a.max(b)` (or `min`) is a, ties included, and a is not NaN.
fn is_first(g: &mut dyn Build, a: Term, b: Term, min: bool) -> Term {
    let op = if min { Cmp::Le } else { Cmp::Ge };
    let c = g.compare(op, a, b);
    let b_nan = g.compare(Cmp::Ne, b, b);
    let a_ok = g.compare(Cmp::Eq, a, a);
    let only = g.and(a_ok, b_nan);
    g.or(c, only)
}

/// 1 where the result of `a.max(b)` (or `min`) is b and not a.
fn loses(g: &mut dyn Build, a: Term, b: Term, min: bool) -> Term {
    let (zero, one) = (g.lit_like(a, 0.0), g.lit_like(a, 1.0));
    // A literal is known to be a number, and needs one comparison.
    let (a_ok, known) = (g.compare(Cmp::Eq, a, a), g.compare(Cmp::Eq, one, one));
    let c = if a_ok == known {
        g.compare(if min { Cmp::Gt } else { Cmp::Lt }, a, b)
    } else {
        let first = is_first(g, a, b, min);
        let (other, b_ok) = (g.make(&Prim::Not, &[first]), g.compare(Cmp::Eq, b, b));
        g.and(b_ok, other)
    };
    g.select(c, one, zero)
}
