//! Powers of one term: whether a factor is finite wherever another one is 0, so that their product
//! needs no mask. This module must never look into a term that is not a product or a quotient.

use crate::ir::{Graph, Node, Term};
use crate::prim::{Binary, Prim, Unary};

/// Whether `b` is finite wherever `a` is 0: both are powers of one number, which is 0 or close to
/// it there, or both are powers of its reciprocal.
#[must_use]
pub fn finite_where_zero(g: &Graph, a: Term, b: Term) -> bool {
    Power::of(g, a).times(&Power::of(g, b)).is_some_and(|product| product.is_moderate())
}

/// A term as `factor * base^exponent`, with a small exponent. The term is a product or quotient,
/// all of whose factors are powers of the base with exponents of one sign. So where one factor is
/// 0, no other one is infinite or NaN.
#[derive(Clone, Copy, Debug)]
pub struct Power {
    /// The term. Its exponent is not 0.
    pub base: Term,
    /// Positive or negative.
    pub exponent: i32,
    /// The product of the constants.
    pub factor: f64,
    /// The reciprocal of the base, if it is among the factors.
    pub reciprocal: Option<Term>,
    /// The sum of the absolute binary logarithms of the constants.
    scale: f64,
}

/// Products that are nested more deeply are not looked into.
const MAX_DEPTH: usize = 8;
/// The greatest exponent of a power.
const MAX_EXPONENT: i32 = 8;
/// The greatest sum of the absolute binary logarithms of the constants of a power.
const MAX_SCALE: f64 = 20.0;

impl Power {
    /// A term as a power. A term that is not such a product is the first power of itself.
    #[must_use]
    pub fn of(g: &Graph, t: Term) -> Self {
        Self::within(g, t, MAX_DEPTH)
    }

    fn within(g: &Graph, t: Term, depth: usize) -> Self {
        let itself = Power { base: t, exponent: 1, factor: 1.0, reciprocal: None, scale: 0.0 };
        depth.checked_sub(1).and_then(|depth| Self::product(g, t, depth)).unwrap_or(itself)
    }

    fn product(g: &Graph, t: Term, depth: usize) -> Option<Self> {
        let of = |t: Term| Self::within(g, t, depth);
        match g.node(t) {
            Node::Prim(Prim::Unary(Unary::Neg), args) => Some(of(args[0]).scaled(-1.0)),
            Node::Prim(Prim::Unary(Unary::Recip), args) => Some(of(args[0]).inverse(Some(t))),
            Node::Prim(Prim::Binary(Binary::Mul), args) => match (g.real_value(args[0]), g.real_value(args[1])) {
                (Some(c), None) => Some(of(args[1]).scaled(c)),
                (None, Some(c)) => Some(of(args[0]).scaled(c)),
                _ => of(args[0]).times(&of(args[1])),
            },
            Node::Prim(Prim::Binary(Binary::Div), args) => match (g.real_value(args[0]), g.real_value(args[1])) {
                (Some(c), None) => {
                    let reciprocal = if c == 1.0 { Some(t) } else { None };
                    Some(of(args[1]).inverse(reciprocal).scaled(c))
                }
                (None, Some(c)) => Some(of(args[0]).scaled(1.0 / c)),
                _ => of(args[0]).times(&of(args[1]).inverse(None)),
            },
            _ => None,
        }
    }

    /// The product, if it is a power of the same kind.
    #[must_use]
    pub fn times(&self, other: &Self) -> Option<Self> {
        let alike = self.base == other.base && self.exponent.signum() == other.exponent.signum();
        let exponent = self.exponent + other.exponent;
        (alike && exponent.abs() <= MAX_EXPONENT).then(|| Power {
            exponent,
            factor: self.factor * other.factor,
            reciprocal: self.reciprocal.or(other.reciprocal),
            scale: self.scale + other.scale,
            ..*self
        })
    }

    fn scaled(self, c: f64) -> Self {
        Power { factor: self.factor * c, scale: self.scale + c.abs().log2().abs(), ..self }
    }

    /// One divided by the power, and the term that is this quotient.
    fn inverse(self, quotient: Option<Term>) -> Self {
        let of_base = self.exponent == 1 && self.scale == 0.0 && self.factor > 0.0;
        let reciprocal = quotient.filter(|_| of_base);
        Power { exponent: -self.exponent, factor: 1.0 / self.factor, reciprocal, ..self }
    }

    /// Whether the constants in the power are near 1 in magnitude. Then the power is 0 only if the
    /// base or its reciprocal is far below 1 (in `f32` too), and there all its factors are finite.
    /// A constant 0 has an infinite scale.
    #[must_use]
    pub fn is_moderate(&self) -> bool {
        self.scale <= MAX_SCALE
    }
}
