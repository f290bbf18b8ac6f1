//! Rules of products that absorb zero, `g *0 a`: 0 where g is 0, even if a is infinite or NaN. They
//! scale cotangents, so a chain of them is the longest path of a step backwards.
//!
//! Powers of one number need one mask only: where one of them is 0, the other is finite. The powers
//! of a distance in the derivatives of a potential are the main case.

use super::arith::{binary, by_squaring, negated, scaled};
use super::layout::replicated;
use super::{Rule, rule};
use ad_ir::analysis::powers::{Power, finite_where_zero};
use ad_ir::ir::{Elem, Graph, Node, RealTy, Term};
use ad_ir::prim::{Binary, Prim};

pub(super) const RULES: &[Rule] = &[
    rule!("mul_zero.constant", "c *0 x = c * x for a constant that is not 0; 0 *0 x = 0", Exact, constant),
    rule!(
        "mul_zero.indicator",
        "select m c 0 *0 x = select m (c * x) 0 for a constant c, also where the choice is replicated",
        Exact,
        indicator
    ),
    rule!("mul_zero.powers", "x^m *0 x^n = x^m * x^n, for m and n of one sign", Loose, powers),
    rule!(
        "mul_zero.chain",
        "(c * (g *0 x^m)) *0 x^n = (c * g) *0 x^(m + n), for m and n of one sign, and |c| from 1 to 2^20",
        Loose,
        chain
    ),
    rule!("mul_zero.same", "(c * g) *0 a + (d * g) *0 a = ((c + d) * g) *0 a, for c and d of one sign", Loose, same),
];

/// The greatest exponent of a power that a rule creates. Where it overflows, the products that it
/// replaces overflow as well, unless the cotangent is as small as the power is large.
const MAX_EXPONENT: i32 = 6;
/// The greatest constant that is multiplied by another factor than before.
const MAX_FACTOR: f64 = 1_048_576.0;

/// A product that absorbs zero tests whether its first factor is 0. For a constant, the answer is
/// known.
fn constant(g: &mut Graph, t: Term) -> Option<Term> {
    let (Binary::MulZero, a, b) = binary(g, t)? else { return None };
    let c = g.real_value(a)?;
    Some(if c == 0.0 { g.zeros_like(b) } else { g.mul(a, b) })
}

/// A cotangent that is a mask. The condition is then known to loops and not only to the product.
fn indicator(g: &mut Graph, t: Term) -> Option<Term> {
    let (Binary::MulZero, a, x) = binary(g, t)? else { return None };
    let (choice, axes, sizes) = replicated(g, a).unwrap_or((a, Vec::new(), Vec::new()));
    let Node::Prim(Prim::Select, args) = g.node(choice) else { return None };
    let (mask, chosen, other) = (args[0], args[1], args[2]);
    let c = g.real_value(chosen).filter(|&c| c != 0.0)?;
    if g.real_value(other).is_none_or(|zero| zero.to_bits() != 0) {
        return None;
    }
    let mask = g.replicate_axes(mask, &axes, &sizes);
    let (product, zeros) = (times(g, c, x), g.zeros_like(x));
    Some(g.select(mask, product, zeros))
}

/// Only the sign of a zero may change.
fn powers(g: &mut Graph, t: Term) -> Option<Term> {
    let (Binary::MulZero, a, b) = binary(g, t)? else { return None };
    finite_where_zero(g, a, b).then(|| g.mul(a, b))
}

/// A term as a constant times another term.
fn multiple(g: &Graph, t: Term) -> (f64, Term) {
    let (c, x) = negated(g, t).map_or((1.0, t), |x| (-1.0, x));
    scaled(g, x).map_or((c, x), |(d, y)| (c * d, y))
}

fn times(g: &mut Graph, c: f64, x: Term) -> Term {
    if c == 1.0 {
        return x;
    }
    if c == -1.0 {
        return g.neg(x);
    }
    let c = g.lit_like(x, c);
    g.mul(c, x)
}

fn chain(g: &mut Graph, t: Term) -> Option<Term> {
    let (Binary::MulZero, x, b) = binary(g, t)? else { return None };
    let (c, product) = multiple(g, x);
    let (Binary::MulZero, cotangent, a) = binary(g, product)? else { return None };
    let (first, second) = (Power::of(g, a), Power::of(g, b));
    let power = first.times(&second)?;
    let one_side = (first.factor.abs() <= 1.0) == (second.factor.abs() <= 1.0);
    let fits = (1.0..=MAX_FACTOR).contains(&c.abs()) && one_side && power.exponent.abs() <= MAX_EXPONENT;
    if !fits || !power.is_moderate() || g.elem(t) == Elem::Real(RealTy::Param) {
        return None;
    }
    let cotangent = times(g, c, cotangent);
    let power = written(g, &power);
    Some(g.binary(Binary::MulZero, cotangent, power))
}

/// Equal powers are one term.
fn written(g: &mut Graph, power: &Power) -> Term {
    let unit = if power.exponent > 0 { power.base } else { power.reciprocal.unwrap_or_else(|| g.recip(power.base)) };
    let product = by_squaring(g, unit, power.exponent.unsigned_abs());
    times(g, power.factor, product)
}

fn same(g: &mut Graph, t: Term) -> Option<Term> {
    let (f @ (Binary::Add | Binary::Sub), x, y) = binary(g, t)? else { return None };
    let fits = |c: f64| (1.0..=MAX_FACTOR).contains(&c.abs());
    let of = |g: &Graph, t: Term| {
        let (c, product) = multiple(g, t);
        let (Binary::MulZero, cotangent, a) = binary(g, product)? else { return None };
        let (d, cotangent) = multiple(g, cotangent);
        (fits(c) && fits(d)).then_some((c * d, cotangent, a))
    };
    let ((c, cotangent, a), (d, other, b)) = (of(g, x)?, of(g, y)?);
    let d = if f == Binary::Sub { -d } else { d };
    let one_sign = (c > 0.0) == (d > 0.0);
    if cotangent != other || a != b || !fits(c) || !fits(d) || !one_sign || g.elem(t) == Elem::Real(RealTy::Param) {
        return None;
    }
    let cotangent = times(g, c + d, cotangent);
    Some(g.binary(Binary::MulZero, cotangent, a))
}
