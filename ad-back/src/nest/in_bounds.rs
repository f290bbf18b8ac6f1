//! Which indices of a nest are in range in every iteration. An index is an expression over the
//! indices of the loops, whose bounds are terms; the question becomes one of linear forms over
//! terms, which `in_range` answers. The loops around a read or a slice have a step. Conditions
//! around it are not used, so a read that is in range may be moved out of its branch. This module
//! must never write code.

use super::super::kernel::{Id, Op};
use super::state::{Nest, NestRange};
use ad_ir::analysis::range::Linear;
use ad_ir::ir::{Elem, Lit, Term};
use ad_ir::prim::{IntOp, Prim};

/// The depth to which an index is examined.
const DEPTH: u32 = 8;

impl Nest<'_, '_> {
    /// Whether the index is below `size`, the size of an axis, in every iteration.
    pub(super) fn proven(&self, ix: Id, size: Term) -> bool {
        match self.k.node(ix).op {
            Op::Var(v) => self.known.fits(None, Some(self.k.loops[usize::from(v)]), size),
            Op::Lit(Lit::Int(_, n)) => match self.g.int_value(size) {
                Some(size) => n < size,
                None => self.term_of_literal(ix).is_some_and(|t| self.known.below(t, size)),
            },
            Op::Scalar(t) => self.known.below(t, size),
            _ => self.part_fits(self.level(ix), (Some(ix), None), size),
        }
    }

    /// The answer of `ask` inside of so many loops.
    fn inside(&self, level: usize, ask: impl FnOnce() -> bool) -> bool {
        if self.flat { ask() } else { self.known.where_nonempty(&self.k.loops[..level], ask) }
    }

    /// Whether `start + len <= size`, the size of an axis, in every iteration of so many loops.
    /// Without a length, whether `start < size`.
    pub(super) fn part_fits(&self, level: usize, (start, len): (Option<Id>, Option<Term>), size: Term) -> bool {
        let key = (level, start, len, size);
        if let Some(&answer) = self.bounded.borrow().get(&key) {
            return answer;
        }
        let answer = self.inside(level, || {
            let len = len.map_or(Linear::constant(1), |len| self.known.linear(len));
            let limit = self.known.size(size).combine(1, &len, -1);
            limit.is_some_and(|limit| match start {
                Some(start) => self.at_most(start, &limit, DEPTH),
                None => self.known.holds(&limit),
            })
        });
        self.bounded.borrow_mut().insert(key, answer);
        answer
    }

    /// Whether `base - (i + distance)` is an index of an axis for each `i < len`, in every
    /// iteration of so many loops.
    pub(super) fn falls(&self, level: usize, base: Id, (len, distance): (Term, i128), size: Term) -> bool {
        self.inside(level, || {
            let limit = self.known.size(size).combine(1, &Linear::constant(distance - 1), 1);
            let needed = self.known.linear(len).combine(1, &Linear::constant(distance - 1), 1);
            let left = needed.and_then(|needed| self.least(base, DEPTH).combine(1, &needed, -1));
            left.is_some_and(|left| self.known.holds(&left))
                && limit.is_some_and(|limit| self.at_most(base, &limit, DEPTH))
        })
    }

    /// Whether an index is at most `limit` in every iteration. Its operations saturate, so a sum is
    /// at most the sum of the bounds, and a difference is at least 0.
    fn at_most(&self, id: Id, limit: &Linear, depth: u32) -> bool {
        let node = self.k.node(id);
        if node.elem != Elem::USIZE || depth == 0 {
            return false;
        }
        match &node.op {
            Op::Prim(Prim::Int(op), args) => match (op, &**args) {
                (IntOp::Add, &[a, b]) => [(a, b), (b, a)].into_iter().any(|(a, b)| {
                    let rest = self.most(b, depth - 1).and_then(|b| limit.combine(1, &b, -1));
                    rest.is_some_and(|rest| self.at_most(a, &rest, depth - 1))
                }),
                (IntOp::Sub, &[a, b]) => {
                    let limit_of_a = limit.combine(1, &self.least(b, depth - 1), 1);
                    self.known.holds(limit) && limit_of_a.is_some_and(|limit| self.at_most(a, &limit, depth - 1))
                }
                (IntOp::Min, args) => args.iter().any(|&a| self.at_most(a, limit, depth - 1)),
                (IntOp::Max, args) => args.iter().all(|&a| self.at_most(a, limit, depth - 1)),
                _ => self.is_within(id, limit, depth),
            },
            Op::If(_, a, b) => [*a, *b].into_iter().all(|arm| self.at_most(arm, limit, depth - 1)),
            Op::Var(v) if usize::from(*v) + 1 == self.depth => {
                let within = |most: Term| {
                    let room = limit.combine(1, &self.known.linear(most), -1);
                    room.and_then(|l| l.combine(1, &Linear::constant(1), 1)).is_some_and(|goal| self.known.holds(&goal))
                };
                let shorter = if let NestRange::Prefix(end) = *self.part { end } else { None };
                within(self.k.loops[usize::from(*v)]) || shorter.is_some_and(within)
            }
            _ => self.is_within(id, limit, depth),
        }
    }

    fn is_within(&self, id: Id, limit: &Linear, depth: u32) -> bool {
        let room = self.most(id, depth - 1).and_then(|most| limit.combine(1, &most, -1));
        room.is_some_and(|goal| self.known.holds(&goal))
    }

    /// An upper bound of an index.
    fn most(&self, id: Id, depth: u32) -> Option<Linear> {
        let node = self.k.node(id);
        if node.elem != Elem::USIZE || depth == 0 {
            return None;
        }
        match &node.op {
            Op::Lit(Lit::Int(_, n)) => Some(Linear::constant(*n)),
            Op::Scalar(t) => Some(self.known.linear(*t)),
            Op::Var(v) => self.known.linear(self.k.loops[usize::from(*v)]).combine(1, &Linear::constant(-1), 1),
            Op::Prim(Prim::Int(op), args) => match (op, &**args) {
                (IntOp::Add, &[a, b]) => self.most(a, depth - 1)?.combine(1, &self.most(b, depth - 1)?, 1),
                // The difference of larger numbers is exact; otherwise it is 0, and at most `a`.
                (IntOp::Sub, &[a, _]) => self.most(a, depth - 1),
                (IntOp::Mul, &[a, b]) => {
                    let (a, factor) = match (&self.k.node(a).op, &self.k.node(b).op) {
                        (_, Op::Lit(Lit::Int(_, n))) => (a, *n),
                        (Op::Lit(Lit::Int(_, n)), _) => (b, *n),
                        _ => return None,
                    };
                    self.most(a, depth - 1)?.combine(factor, &Linear::default(), 0)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A lower bound of an index. A sum that saturates may be less, but nothing is subtracted from
    /// it, and a difference from which it is subtracted is 0.
    fn least(&self, id: Id, depth: u32) -> Linear {
        let node = self.k.node(id);
        let zero = Linear::default();
        if node.elem != Elem::USIZE || depth == 0 {
            return zero;
        }
        match &node.op {
            Op::Lit(Lit::Int(_, n)) => Linear::constant(*n),
            Op::Scalar(t) => self.known.linear(*t),
            Op::Prim(Prim::Int(IntOp::Add), args) => match **args {
                [a, b] => self.least(a, depth - 1).combine(1, &self.least(b, depth - 1), 1).unwrap_or(zero),
                _ => zero,
            },
            _ => zero,
        }
    }
}
