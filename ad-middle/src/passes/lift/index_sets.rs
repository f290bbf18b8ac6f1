//! Index-set splitting: if a condition on the variable of a lift is a range (`i < n`, `i >= k`,
//! both), an arm that makes arrays or runs loops is lifted over this range only, and padded with
//! zeros. So the other indices cost nothing of what the arm does: `x.row(i).dot(w)` under `i <
//! x.nrows()` is one product with the rows that exist.
//!
//! The ends of a range must be closed, since they become sizes. An arm that only computes scalars
//! is not split: its elementwise choice vectorises, and costs a constant for each index.

use std::collections::HashSet;

use super::Lift;
use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Elem, IntTy, Lit, Node, Term, Type};
use ad_ir::prim::{Cmp, IntOp, Prim};

/// A condition on a variable: it is at least `low` and below `high`, and `rest` holds.
#[derive(Clone, Default)]
struct Range {
    low: Option<Term>,
    high: Option<Term>,
    rest: Option<Term>,
}

/// How a conditional is lifted.
#[derive(Clone)]
pub(super) struct Split {
    cond: Term,
    /// Whether the condition holds in the range.
    holds: bool,
    /// The arm that is lifted over a range, and the range.
    inside: (Term, Range),
    /// The other arm.
    outside: Outside,
}

#[derive(Clone)]
enum Outside {
    /// It is zero.
    Zero,
    /// It is lifted over all indices.
    Whole(Term),
    /// It is lifted over a range, too: the indices that are left.
    Part(Term, Range),
}

impl Split {
    /// The terms that are lifted over all indices.
    pub(super) fn over_all(&self) -> Vec<Term> {
        match self.outside {
            Outside::Zero => Vec::new(),
            Outside::Whole(other) => vec![self.cond, other],
            Outside::Part(..) => vec![self.cond],
        }
    }
}

/// The work of a term for one index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Work {
    Scalars,
    /// It reads parts of arrays.
    Parts,
    /// It computes arrays, or runs loops.
    Arrays,
}

impl Lift<'_> {
    /// How a conditional whose condition varies is split, if it is.
    pub(super) fn split(&mut self, t: Term) -> Option<Split> {
        let Node::Cond { cond, then, other } = *self.g.node(t) else { return None };
        let real = matches!(self.g.ty(t), Type::Array(Elem::Real(_), _));
        if self.items_last || self.ends || !real || !self.varies(cond) {
            return None;
        }
        let arms = [(then, other, true), (other, then, false)];
        arms.into_iter().find_map(|(arm, left, holds)| {
            let zero = is_zero(self.g, left);
            let least = if zero { Work::Parts } else { Work::Arrays };
            if self.work(arm) < least {
                return None;
            }
            let range = self.range(cond, holds)?;
            let outside = if zero {
                Outside::Zero
            } else if self.work(left) < Work::Arrays {
                Outside::Whole(left)
            } else {
                // Both arms are long: they are apart if the condition is one comparison.
                let other = self.range(cond, !holds).filter(|other| other.rest.is_none());
                Outside::Part(left, other.filter(|_| range.rest.is_none())?)
            };
            Some(Split { cond, holds, inside: (arm, range), outside })
        })
    }

    /// The terms that the lift of a term computes for all indices, if no conditional in it is
    /// lifted as a whole.
    pub(super) fn shared(&mut self, root: Term) -> HashSet<Term> {
        let (mut seen, mut stack) = (HashSet::new(), vec![root]);
        while let Some(t) = stack.pop() {
            if !self.varies(t) || !seen.insert(t) {
                continue;
            }
            if let Node::Cond { cond, .. } = *self.g.node(t)
                && self.varies(cond)
                && (self.range(cond, true).is_some() || self.range(cond, false).is_some())
            {
                stack.push(cond);
                continue;
            }
            self.g.node(t).for_each_scoped_child(|c, inside| {
                if !inside {
                    stack.push(c);
                }
            });
        }
        seen
    }

    /// What an arm does for one index, without the terms that are computed for all indices anyway.
    fn work(&self, arm: Term) -> Work {
        let (mut seen, mut stack, mut most) = (HashSet::new(), vec![arm], Work::Scalars);
        while let Some(t) = stack.pop() {
            if !self.varies(t) || self.shared.contains(&t) || !seen.insert(t) {
                continue;
            }
            let node = self.g.node(t);
            let array = self.g.ty(t).as_array().is_none_or(|(_, shape)| !shape.is_empty());
            most = most.max(match node {
                Node::Prim(Prim::Sum(_) | Prim::Contract(_), _) => Work::Arrays,
                _ if !array => Work::Scalars,
                Node::Gather { .. } | Node::Cond { .. } => Work::Parts,
                Node::Prim(Prim::Slice(_) | Prim::Transpose(_) | Prim::Recast | Prim::Reshape, _) => Work::Parts,
                _ => Work::Arrays,
            });
            if most == Work::Arrays {
                break;
            }
            node.for_each_scoped_child(|c, inside| {
                if !inside {
                    stack.push(c);
                }
            });
        }
        most
    }

    /// The range of the indices for which a condition may be as given, and what else it needs.
    /// `None` if the condition does not compare the index with the end of a range.
    fn range(&mut self, cond: Term, holds: bool) -> Option<Range> {
        let mut found = Range::default();
        let mut stack = vec![(cond, holds)];
        while let Some((c, holds)) = stack.pop() {
            match self.g.node(c).clone() {
                Node::Prim(Prim::Not, args) => stack.push((args[0], !holds)),
                Node::Prim(Prim::And, args) if holds => stack.extend([(args[1], true), (args[0], true)]),
                Node::Prim(Prim::Or, args) if !holds => stack.extend([(args[1], false), (args[0], false)]),
                Node::Cond { cond, then, other } if holds && self.g.bool_value(other) == Some(false) => {
                    stack.extend([(then, true), (cond, true)]);
                }
                Node::Cond { cond, then, other } if !holds && self.g.bool_value(then) == Some(true) => {
                    stack.extend([(other, false), (cond, false)]);
                }
                node => {
                    if !self.end(&node, holds, &mut found) {
                        let c = if holds { c } else { self.g.not(c) };
                        found.rest = Some(match found.rest {
                            Some(rest) => self.g.and(rest, c),
                            None => c,
                        });
                    }
                }
            }
        }
        (found.low.is_some() || found.high.is_some()).then_some(found)
    }

    /// Adds a comparison of the index to a range. Returns whether it is one.
    fn end(&mut self, node: &Node, holds: bool, range: &mut Range) -> bool {
        let Node::Prim(Prim::Compare(op), args) = node else { return false };
        let (of_first, of_second) = (self.beyond(args[0]), self.beyond(args[1]));
        let (op, more, end) = match (of_first, of_second) {
            (Some(more), None) => (*op, more, args[1]),
            (None, Some(more)) => (op.swapped(), more, args[0]),
            _ => return false,
        };
        if !self.is_size(end) {
            return false;
        }
        let zero = self.g.int_value(end) == Some(0) && more == 0;
        let op = match if holds { op } else { op.negated() } {
            // There is nothing below 0.
            Cmp::Eq if zero => Cmp::Le,
            Cmp::Ne if zero => Cmp::Gt,
            op => op,
        };
        // The index is at least `end - more`, or `end + 1 - more`, and below one of the two. A
        // difference of sizes is 0 where the second is greater.
        let (one, more) = (self.g.lit_usize(1), self.g.lit_usize(more));
        let next = self.g.int(IntOp::Add, end, one);
        let (end, next) = (self.g.int(IntOp::Sub, end, more), self.g.int(IntOp::Sub, next, more));
        let (low, high) = match op {
            Cmp::Lt => (None, Some(end)),
            Cmp::Le => (None, Some(next)),
            Cmp::Gt => (Some(next), None),
            Cmp::Ge => (Some(end), None),
            Cmp::Eq if self.g.int_value(more) == Some(0) => (Some(end), Some(next)),
            Cmp::Eq | Cmp::Ne => return false,
        };
        range.low = self.nearer(IntOp::Max, range.low, low);
        range.high = self.nearer(IntOp::Min, range.high, high);
        true
    }

    fn nearer(&mut self, op: IntOp, a: Option<Term>, b: Option<Term>) -> Option<Term> {
        match (a, b) {
            (Some(a), Some(b)) if a != b => Some(self.g.int(op, a, b)),
            _ => a.or(b),
        }
    }

    /// The literal that is added to the variable in an index.
    fn beyond(&self, t: Term) -> Option<usize> {
        match self.g.node(t) {
            Node::Var(v) if *v == self.var => Some(0),
            Node::Gather { src, index, vars, .. } if vars.is_empty() && index.len() == 1 => {
                let counts = matches!(self.g.node(*src), Node::Prim(Prim::Iota, _));
                counts.then(|| self.beyond(index[0])).flatten()
            }
            Node::Prim(Prim::Int(IntOp::Add), args) => {
                let more = usize::try_from(self.g.int_value(args[1])?).ok()?;
                self.beyond(args[0])?.checked_add(more)
            }
            _ => None,
        }
    }

    /// Whether a term can be a size: a closed `usize` that is computed from sizes and integers.
    fn is_size(&self, t: Term) -> bool {
        let usize = Type::scalar(Elem::USIZE);
        *self.g.ty(t) == usize
            && self.g.free(t).is_empty()
            && !self.g.is_open(t)
            && self.g.reachable(&[t]).iter().all(|&t| match self.g.node(t) {
                Node::Size(..) | Node::Lit(Lit::Int(IntTy::Usize, _)) => true,
                Node::Input(_) => *self.g.ty(t) == usize || self.g.rank(t) > 0,
                Node::Prim(Prim::Int(IntOp::Add | IntOp::Sub | IntOp::Mul | IntOp::Min | IntOp::Max), _) => true,
                _ => false,
            })
    }

    /// The array of a conditional that is split.
    pub(super) fn in_parts(&mut self, t: Term) -> Term {
        let Some(Split { cond, holds, inside: (arm, range), outside }) = self.splits.get(&t).cloned() else { return t };
        let arm = range.rest.map_or(arm, |rest| {
            let zeros = self.g.zeros_like(arm);
            self.g.cond(rest, arm, zeros)
        });
        let inside = self.over(&range, arm);
        let outside = match outside {
            Outside::Zero => return inside,
            Outside::Whole(other) => self.done[&other],
            Outside::Part(other, range) => self.over(&range, other),
        };
        let mask = self.done[&cond];
        let (then, other) = if holds { (inside, outside) } else { (outside, inside) };
        self.select(mask, then, other)
    }

    /// The array of a term for the indices of a range, and zeros for all others.
    fn over(&mut self, range: &Range, t: Term) -> Term {
        let zero = self.g.lit_usize(0);
        let size = self.size;
        let end = self.nearer(IntOp::Min, range.high, Some(size)).unwrap_or(size);
        let low = if range.low.is_some() { self.nearer(IntOp::Min, range.low, Some(size)) } else { None };
        let low = low.unwrap_or(zero);
        let len = self.g.int(IntOp::Sub, end, low);
        let var = self.g.fresh();
        let i = self.g.mk(Node::Var(var));
        let at = self.g.int(IntOp::Add, i, low);
        let moved = self.g.subst_vars(t, &[(self.var, at)]);
        let part = Lift::new(self.g, var, len).lift(moved);
        let mut shape = self.g.shape(part).to_vec();
        let mut starts = vec![zero; shape.len()];
        (starts[0], shape[0]) = (low, size);
        self.g.pad(part, &starts, &vec![1; shape.len()], &shape)
    }
}
