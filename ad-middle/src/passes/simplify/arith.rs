//! Rules of real arithmetic. Exact rules keep every bit, and so every NaN, infinity and signed
//! zero. Loose rules keep NaNs and infinities.

use super::{Rule, rule};
use ad_ir::ir::{Elem, Graph, IntTy, Lit, Node, RealTy, Term};
use ad_ir::prim::{Binary, Prim, Unary};

pub(super) const RULES: &[Rule] = &[
    rule!("fold", "an operation on constants is a constant (+ - * / and sign only)", Exact, fold),
    rule!("neg.neg", "--x = x", Exact, neg_neg),
    rule!("mul.one", "x * 1 = 1 * x = x / 1 = x; x * -1 = -1 * x = -x", Exact, mul_one),
    rule!("sub.zero", "x - 0 = x", Exact, sub_zero),
    rule!("add.neg", "x + -y = x - y; x - -y = x + y; -x + y = y - x", Exact, add_neg),
    rule!("mul.neg", "-x * -y = x * y; -x * y = x * -y = -(x * y); likewise /", Exact, mul_neg),
    rule!("solve.neg", "solve -b = -(solve b)", Loose, solve_neg),
    rule!("add.same", "x + x = 2 * x, also where x is x * y and y * x; -x - x = -2 * x", Exact, add_same),
    rule!(
        "mul.constants",
        "c * (d * x) = (c * d) * x for constants that are both at least 1, or both at most 1",
        Loose,
        mul_constants
    ),
    rule!(
        "mul.constants.inside",
        "c * ((d * x) * y) = ((c * d) * x) * y for constants of at least 1 whose product is at most 2^20",
        Loose,
        mul_constants_inside
    ),
    rule!("powi.small", "x.powi(n) = products of x by repeated squaring, for n = 1 to 8", Exact, powi_small),
    rule!("relaxed_exact.relaxed", "relaxed_exact(x, y) = x, where no decision depends on it", Loose, relaxed_alone),
    rule!("stop.known", "stop_gradient of a term that has no derivative is the term", Exact, stop_known),
];

pub(super) fn binary(g: &Graph, t: Term) -> Option<(Binary, Term, Term)> {
    match g.node(t) {
        Node::Prim(Prim::Binary(f), args) => Some((*f, args[0], args[1])),
        _ => None,
    }
}

pub(super) fn negated(g: &Graph, t: Term) -> Option<Term> {
    match g.node(t) {
        Node::Prim(Prim::Unary(Unary::Neg), args) => Some(args[0]),
        _ => None,
    }
}

fn is(g: &Graph, t: Term, x: f64) -> bool {
    g.real_value(t).is_some_and(|v| v.to_bits() == x.to_bits())
}

/// Constants of `f32` are folded in `f32`; those of a type parameter are not folded, as its
/// precision is not known.
fn fold(g: &mut Graph, t: Term) -> Option<Term> {
    let Elem::Real(ty) = g.ty(t).as_array()?.0 else { return None };
    let shape = g.shape(t).to_vec();
    let value = match g.node(t) {
        Node::Prim(Prim::Unary(Unary::Neg), args) => -g.real_value(args[0])?,
        Node::Prim(Prim::Binary(f), args) => {
            let folded = f.row().folded?;
            let (a, b) = (g.real_value(args[0])?, g.real_value(args[1])?);
            let exact = folded(a, b);
            match ty {
                RealTy::F64 => exact,
                #[allow(clippy::cast_possible_truncation, reason = "rounding to f32 is what the operation does")]
                RealTy::F32 => f64::from(folded(f64::from(a as f32), f64::from(b as f32)) as f32),
                RealTy::Param => return None,
            }
        }
        _ => return None,
    };
    if value.is_nan() {
        return None;
    }
    let lit = g.lit_real(ty, value);
    Some(g.broadcast(lit, &shape))
}

fn neg_neg(g: &mut Graph, t: Term) -> Option<Term> {
    negated(g, negated(g, t)?)
}

fn mul_one(g: &mut Graph, t: Term) -> Option<Term> {
    let (f, a, b) = binary(g, t)?;
    match f {
        Binary::Mul | Binary::Div if is(g, b, 1.0) => Some(a),
        Binary::Mul if is(g, a, 1.0) => Some(b),
        Binary::Mul | Binary::Div if is(g, b, -1.0) => Some(g.neg(a)),
        Binary::Mul if is(g, a, -1.0) => Some(g.neg(b)),
        _ => None,
    }
}

fn sub_zero(g: &mut Graph, t: Term) -> Option<Term> {
    match binary(g, t)? {
        (Binary::Sub, a, b) if is(g, b, 0.0) => Some(a),
        (Binary::Add, a, b) if is(g, b, -0.0) => Some(a),
        (Binary::Add, a, b) if is(g, a, -0.0) => Some(b),
        _ => None,
    }
}

fn add_neg(g: &mut Graph, t: Term) -> Option<Term> {
    let (f, a, b) = binary(g, t)?;
    match f {
        Binary::Add => {
            if let Some(y) = negated(g, b) {
                Some(g.sub(a, y))
            } else {
                let x = negated(g, a)?;
                Some(g.sub(b, x))
            }
        }
        Binary::Sub => {
            let y = negated(g, b)?;
            Some(g.add(a, y))
        }
        _ => None,
    }
}

fn mul_neg(g: &mut Graph, t: Term) -> Option<Term> {
    let (f, a, b) = binary(g, t)?;
    if !matches!(f, Binary::Mul | Binary::Div) {
        return None;
    }
    match (negated(g, a), negated(g, b)) {
        (Some(x), Some(y)) => Some(g.binary(f, x, y)),
        (Some(x), None) => {
            let p = g.binary(f, x, b);
            Some(g.neg(p))
        }
        (None, Some(y)) => {
            let p = g.binary(f, a, y);
            Some(g.neg(p))
        }
        (None, None) => None,
    }
}

/// Then the systems of `b` and of `-b` are one, and a right-hand side need not be copied to change
/// its sign. (Only the sign of a zero may change.)
fn solve_neg(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(prim @ (Prim::TriangularSolve(_) | Prim::LuSolve(_)), args) = g.node(t).clone() else {
        return None;
    };
    let b = negated(g, args[0])?;
    let args: Vec<Term> = std::iter::once(b).chain(args[1..].iter().copied()).collect();
    let solution = g.prim(prim, &args);
    Some(g.neg(solution))
}

fn add_same(g: &mut Graph, t: Term) -> Option<Term> {
    let (f, a, b) = binary(g, t)?;
    let (a, factor) = match f {
        Binary::Add => (a, 2.0),
        Binary::Sub => (negated(g, a)?, -2.0),
        _ => return None,
    };
    let swapped = || matches!((binary(g, a), binary(g, b)), (Some((Binary::Mul, x, y)), Some((Binary::Mul, z, w))) if x == w && y == z);
    if a != b && !swapped() {
        return None;
    }
    let factor = g.lit_like(a, factor);
    Some(g.mul(factor, a))
}

/// The constant factor of a product, and the other factor.
pub(super) fn scaled(g: &Graph, t: Term) -> Option<(f64, Term)> {
    let (Binary::Mul, a, b) = binary(g, t)? else { return None };
    match (g.real_value(a), g.real_value(b)) {
        (Some(c), None) => Some((c, b)),
        (None, Some(c)) => Some((c, a)),
        _ => None,
    }
}

/// Neither product is finite where the other is not: with one constant above 1 and one below, `d *
/// x` might overflow where the result does not.
fn mul_constants(g: &mut Graph, t: Term) -> Option<Term> {
    let (c, inner) = scaled(g, t)?;
    let (d, x) = scaled(g, inner)?;
    if g.elem(t) == Elem::Real(RealTy::Param) {
        return None;
    }
    let same_side_of_one = (c.abs() >= 1.0 && d.abs() >= 1.0) || (c.abs() <= 1.0 && d.abs() <= 1.0);
    // The product must be a finite number in either precision.
    let product = c * d;
    if !same_side_of_one || !(1e-30..1e30).contains(&product.abs()) {
        return None;
    }
    let factor = g.lit_like(x, product);
    Some(g.mul(factor, x))
}

/// An infinite product stays infinite, because no factor becomes smaller. The products differ only
/// within rounding of the greatest number, where one overflows and the other does not.
fn mul_constants_inside(g: &mut Graph, t: Term) -> Option<Term> {
    let (c, product) = scaled(g, t)?;
    let (Binary::Mul, a, b) = binary(g, product)? else { return None };
    let ((d, x), other, first) = match (scaled(g, a), scaled(g, b)) {
        (Some(inner), _) => (inner, b, true),
        (None, Some(inner)) => (inner, a, false),
        _ => return None,
    };
    let greater = c.abs() >= 1.0 && d.abs() >= 1.0 && (c * d).abs() <= f64::from(1 << 20);
    if g.elem(t) == Elem::Real(RealTy::Param) || !greater {
        return None;
    }
    let factor = g.lit_like(x, c * d);
    let inner = g.mul(factor, x);
    Some(if first { g.mul(inner, other) } else { g.mul(other, inner) })
}

/// The greatest literal exponent whose power is written as products.
const MAX_EXPANDED_EXPONENT: i128 = 8;

/// These are the products of `powi` itself, in its order, so the bits are the same.
fn powi_small(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::PowI, args) = g.node(t) else { return None };
    let (x, n) = (args[0], args[1]);
    let Node::Lit(Lit::Int(IntTy::I32, n @ 1..=MAX_EXPANDED_EXPONENT)) = *g.node(g.splat(n)) else { return None };
    u32::try_from(n).ok().map(|n| by_squaring(g, x, n))
}

/// A power with a positive exponent, by repeated squaring.
pub(super) fn by_squaring(g: &mut Graph, x: Term, n: u32) -> Term {
    let (mut product, mut square) = (None, x);
    for bit in 0..=n.ilog2() {
        if bit > 0 {
            square = g.mul(square, square);
        }
        if n >> bit & 1 == 1 {
            product = Some(product.map_or(square, |product| g.mul(product, square)));
        }
    }
    product.unwrap_or(square)
}

fn relaxed_alone(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::RelaxedExact, args) = g.node(t) else { return None };
    Some(args[0])
}

fn stop_known(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::StopGradient, args) = g.node(t) else { return None };
    let x = args[0];
    let inert = !g.elem(x).is_real()
        || matches!(g.node(x), Node::Prim(Prim::StopGradient, _))
        || matches!(g.node(g.splat(x)), Node::Lit(_));
    inert.then_some(x)
}
