//! Linear combinations of terms, in exact arithmetic: an operation that overflows gives `None`.

use crate::sorted::SortedMap;

use crate::ir::{Elem, Graph, Term};
use crate::prim::IntOp;

/// `constant + sum of coefficient * atom`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Linear {
    /// The constant part.
    pub constant: i128,
    /// Coefficients, none of them 0.
    pub atoms: SortedMap<Term, i128>,
}

impl Linear {
    /// A constant.
    #[must_use]
    pub fn constant(n: i128) -> Self {
        Linear { constant: n, atoms: SortedMap::new() }
    }

    /// One term.
    #[must_use]
    pub fn atom(t: Term) -> Self {
        Linear { constant: 0, atoms: SortedMap::from([(t, 1)]) }
    }

    /// `a * self + b * other`, unless a number gets too large.
    #[must_use]
    pub fn combine(&self, a: i128, other: &Linear, b: i128) -> Option<Linear> {
        let mut sum = Linear::constant(self.constant.checked_mul(a)?.checked_add(other.constant.checked_mul(b)?)?);
        for (from, factor) in [(self, a), (other, b)] {
            for (&t, &c) in &from.atoms {
                let entry = sum.atoms.entry(t).or_insert(0);
                *entry = entry.checked_add(c.checked_mul(factor)?)?;
            }
        }
        sum.atoms.retain(|_, c| *c != 0);
        Some(sum)
    }

    pub(super) fn minus(&self, other: &Linear) -> Option<Linear> {
        self.combine(1, other, -1)
    }

    pub(super) fn plus(&self, n: i128) -> Option<Linear> {
        self.combine(1, &Linear::constant(n), 1)
    }
}

/// A `usize` term with the value of `l`, which is known not to be negative: the positive part minus
/// the negative part.
pub fn to_term(g: &mut Graph, l: &Linear) -> Term {
    let (plus, minus) = sides(g, l);
    g.int(IntOp::Sub, plus, minus)
}

/// The positive and the negative part of a linear form over integers of any type, as `usize` terms.
pub fn sides(g: &mut Graph, l: &Linear) -> (Term, Term) {
    let start = |n: i128| usize::try_from(n.max(0)).unwrap_or(usize::MAX);
    let (mut plus, mut minus) = (g.lit_usize(0), g.lit_usize(0));
    for (&t, &c) in &l.atoms {
        let t = g.cast(Elem::USIZE, t);
        let factor = g.lit_usize(start(c.abs()));
        let product = g.int(IntOp::Mul, t, factor);
        let side = if c > 0 { &mut plus } else { &mut minus };
        *side = g.int(IntOp::Add, *side, product);
    }
    let (up, down) = (g.lit_usize(start(l.constant)), g.lit_usize(start(l.constant.saturating_neg())));
    (g.int(IntOp::Add, plus, up), g.int(IntOp::Add, minus, down))
}
