//! Closed bounds of integers. They give the maximum length of an iterator over all steps of the
//! enclosing loops. This module must never return a bound that a step exceeds.

use super::super::lower::Lower;
use super::lookups::Lookups;
use crate::translation::enclosing::Frame;
use ad_ir::analysis::range::to_term;
use ad_ir::ir::{Elem, Lit, Node, Term, Type};
use ad_ir::prim::{IntOp, Prim};
use ad_ir::sorted::SortedMap;

/// A search for bounds. Terms share their parts, so it looks at each term once.
#[derive(Default)]
pub(super) struct Bounds {
    /// The elements of arrays whose values are known, if the bounds are lists of a bound for each
    /// value of an index. Without them, a bound is a number.
    lookups: Option<Lookups>,
    /// The bounds that were found, of each term the upper and the lower one. `None` if there is
    /// none.
    found: SortedMap<(Term, bool), Option<Term>>,
}

impl Bounds {
    /// A search for bounds of numbers that are computed from these elements.
    pub(super) fn of_lookups(lookups: Lookups) -> Bounds {
        Bounds { lookups: Some(lookups), found: SortedMap::new() }
    }
}

impl Lower<'_> {
    /// A length as a closed term, if it is equal to a closed term.
    pub(in super::super) fn closed(&mut self, len: Term) -> Option<Term> {
        if self.g.is_closed(len) {
            return Some(len);
        }
        // The difference may be closed although the ends are not, as in `i..i + 3`.
        let l = self.state.facts.linear(&self.g, len);
        let closed = l.atoms.keys().all(|&t| self.g.is_closed(t));
        closed.then(|| to_term(&mut self.g, &l))
    }

    /// A closed upper bound of an integer, from the enclosing loops.
    pub(in super::super) fn most(&mut self, t: Term) -> Option<Term> {
        // Terms that cancel do not loosen the bound: `j..j + i` has `i` items.
        if *self.g.ty(t) != Type::scalar(Elem::USIZE) {
            return self.bound(t, true, &mut Bounds::default());
        }
        let l = self.state.facts.linear(&self.g, t);
        let plain = to_term(&mut self.g, &l);
        let most = self.bound(plain, true, &mut Bounds::default());
        match (most, self.most_of_difference(t)) {
            (Some(a), Some(b)) => Some(self.least(a, b)),
            (a, b) => a.or(b),
        }
    }

    /// A closed upper or lower bound of an integer.
    pub(super) fn bound(&mut self, t: Term, most: bool, known: &mut Bounds) -> Option<Term> {
        if let Some(values) = known.lookups.as_ref().and_then(|lookups| lookups.values_of(t)) {
            return Some(values);
        }
        if self.g.is_closed(t) {
            return Some(self.as_bound(t, known));
        }
        if let Some(&found) = known.found.get(&(t, most)) {
            return found;
        }
        let found = self.new_bound(t, most, known);
        known.found.insert((t, most), found);
        found
    }

    /// A closed number as a bound.
    fn as_bound(&mut self, t: Term, known: &Bounds) -> Term {
        match &known.lookups {
            Some(lookups) => self.g.replicate(lookups.count, t),
            None => t,
        }
    }

    fn new_bound(&mut self, t: Term, most: bool, known: &mut Bounds) -> Option<Term> {
        let Elem::Int(ty) = self.g.elem(t) else { return None };
        let unsigned = ty.range().0 == 0;
        let zero = self.g.lit(Lit::Int(ty, 0));
        let least = (!most && unsigned).then(|| self.as_bound(zero, known));
        match self.g.node(t).clone() {
            Node::Var(v) => {
                let size = self.state.enclosing.frames().iter().find_map(|f| match f {
                    Frame::Loop { var, size, .. } | Frame::Recurrence { var, size, .. } if *var == v => Some(*size),
                    _ => None,
                })?;
                let one = self.g.lit_usize(1);
                let last = self.g.int(IntOp::Sub, size, one);
                if most { Some(self.as_bound(last, known)) } else { least }
            }
            Node::Gather { .. } if most && let Some(sizes) = self.most_of_sizes(t) => Some(self.as_bound(sizes, known)),
            Node::Prim(Prim::Int(op), args) => {
                let (a, b) = (args[0], args[1]);
                match op {
                    // Saturation preserves the order.
                    IntOp::Add => {
                        let (x, y) = (self.bound(a, most, known)?, self.bound(b, most, known)?);
                        Some(self.past_end(a, x, y).unwrap_or_else(|| self.g.int(op, x, y)))
                    }
                    IntOp::Sub => {
                        let (a, b) = (self.bound(a, most, known)?, self.bound(b, !most, known)?);
                        Some(self.g.int(op, a, b))
                    }
                    IntOp::Mul if unsigned => {
                        let (a, b) = (self.bound(a, most, known)?, self.bound(b, most, known)?);
                        Some(self.g.int(op, a, b))
                    }
                    IntOp::Div | IntOp::Shr if self.g.int_value(b).is_some_and(|n| n > 0) => {
                        let (a, b) = (self.bound(a, most, known)?, self.as_bound(b, known));
                        Some(self.g.int(op, a, b))
                    }
                    IntOp::Min | IntOp::Max => {
                        let (x, y) = (self.bound(a, most, known), self.bound(b, most, known));
                        match (x, y) {
                            (Some(x), Some(y)) => Some(self.g.int(op, x, y)),
                            // The bound of one operand suffices if it bounds the result.
                            (Some(x), None) | (None, Some(x)) if most == (op == IntOp::Min) => Some(x),
                            _ => None,
                        }
                    }
                    IntOp::Rem if most && unsigned && self.g.int_value(b).is_some_and(|n| n > 0) => {
                        let last = self.g.lit(Lit::Int(ty, self.g.int_value(b)? - 1));
                        Some(self.as_bound(last, known))
                    }
                    IntOp::Rem | IntOp::BitAnd if most && unsigned => {
                        match (self.bound(a, true, known), self.bound(b, true, known)) {
                            (Some(x), Some(y)) => Some(self.g.int(IntOp::Min, x, y)),
                            (x, y) => x.or(y),
                        }
                    }
                    _ => least,
                }
            }
            Node::Prim(Prim::Select, args) => self.either([args[1], args[2]], most, known),
            Node::Cond { then, other, .. } => self.either([then, other], most, known),
            Node::Prim(Prim::Cast(to), args) => {
                let (Elem::Int(to), Elem::Int(from)) = (to, self.g.elem(args[0])) else { return least };
                // A bound of the argument is a bound of the result only if no value wraps.
                if to.range().0 <= from.range().0 && from.range().1 <= to.range().1 {
                    let inner = self.bound(args[0], most, known)?;
                    return Some(self.g.cast(Elem::Int(to), inner));
                }
                least
            }
            _ => least,
        }
    }

    /// `n - 1 + more` without the subtraction, where `most` is the bound `n - 1` of the index of a
    /// loop. If `n` is 0 there is no step, so the bound does not matter.
    fn past_end(&mut self, index: Term, most: Term, more: Term) -> Option<Term> {
        let Node::Prim(Prim::Int(IntOp::Sub), args) = self.g.node(most) else { return None };
        let size = args[0];
        let index = matches!(self.g.node(index), Node::Var(_)) && self.g.int_value(args[1]) == Some(1);
        let more = self.g.int_value(more).filter(|&n| index && n > 0)?;
        let more = self.g.lit_usize(usize::try_from(more - 1).ok()?);
        Some(self.g.int(IntOp::Add, size, more))
    }

    fn either(&mut self, [a, b]: [Term; 2], most: bool, known: &mut Bounds) -> Option<Term> {
        let (a, b) = (self.bound(a, most, known)?, self.bound(b, most, known)?);
        Some(self.g.int(if most { IntOp::Max } else { IntOp::Min }, a, b))
    }
}
