//! Closed bounds of integers. They give the maximum length of an iterator over all steps of the
//! enclosing loops. This module must never return a bound that a step exceeds.

use super::super::lower::Lower;
use crate::translation::enclosing::Frame;
use ad_ir::analysis::range::to_term;
use ad_ir::ir::{Elem, Lit, Node, Term, Type};
use ad_ir::prim::{IntOp, Prim};
use ad_ir::sorted::SortedMap;

/// The bounds that were found, of each term the upper and the lower one. `None` if there is none.
type Bounds = SortedMap<(Term, bool), Option<Term>>;

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
        let l = self.state.facts.linear(&self.g, t);
        let plain = if *self.g.ty(t) == Type::scalar(Elem::USIZE) { to_term(&mut self.g, &l) } else { t };
        self.bound(plain, true, &mut Bounds::new())
    }

    /// A closed upper or lower bound of an integer. It is found once for each term, since terms
    /// share their parts.
    fn bound(&mut self, t: Term, most: bool, known: &mut Bounds) -> Option<Term> {
        if self.g.is_closed(t) {
            return Some(t);
        }
        if let Some(&found) = known.get(&(t, most)) {
            return found;
        }
        let found = self.new_bound(t, most, known);
        known.insert((t, most), found);
        found
    }

    fn new_bound(&mut self, t: Term, most: bool, known: &mut Bounds) -> Option<Term> {
        let Elem::Int(ty) = self.g.elem(t) else { return None };
        let unsigned = ty.range().0 == 0;
        let least = |me: &mut Self| (!most && unsigned).then(|| me.g.lit(Lit::Int(ty, 0)));
        match self.g.node(t).clone() {
            Node::Var(v) => {
                let size = self.state.enclosing.frames().iter().find_map(|f| match f {
                    Frame::Loop { var, size, .. } | Frame::Recurrence { var, size, .. } if *var == v => Some(*size),
                    _ => None,
                })?;
                let one = self.g.lit_usize(1);
                if most { Some(self.g.int(IntOp::Sub, size, one)) } else { Some(self.g.lit_usize(0)) }
            }
            Node::Gather { .. } if most && self.most_of_sizes(t).is_some() => self.most_of_sizes(t),
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
                        let a = self.bound(a, most, known)?;
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
                    IntOp::Rem | IntOp::BitAnd if most && unsigned => {
                        self.bound(a, true, known).or_else(|| self.bound(b, true, known))
                    }
                    _ => least(self),
                }
            }
            Node::Prim(Prim::Select, args) => self.either([args[1], args[2]], most, known),
            Node::Cond { then, other, .. } => self.either([then, other], most, known),
            Node::Prim(Prim::Cast(to), args) => {
                let (Elem::Int(to), Elem::Int(from)) = (to, self.g.elem(args[0])) else { return least(self) };
                // A bound of the argument is a bound of the result only if no value wraps.
                if to.range().0 <= from.range().0 && from.range().1 <= to.range().1 {
                    let inner = self.bound(args[0], most, known)?;
                    return Some(self.g.cast(Elem::Int(to), inner));
                }
                least(self)
            }
            _ => least(self),
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
