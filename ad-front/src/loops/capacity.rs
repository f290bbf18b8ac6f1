//! The capacity that a `Vec` needs in a loop: its length before the loop, and what the steps add to
//! it. This module must never return less than a step can reach.

use std::rc::Rc;

use super::LoopInput;
use crate::growth::Growth;
use crate::lower::Lower;
use crate::translation::cells::Cell;
use crate::value::{Lowered, Value};
use ad_ir::catalogue;
use ad_ir::diag::SrcRange;
use ad_ir::ir::{Node, Term};
use ad_ir::prim::{IntOp, Prim};

/// The greatest depth of a number above the length that it is computed from.
const MAX_DEPTH: u32 = 16;

/// The growth of the `Vec`s of a loop.
pub(super) struct LoopGrowth {
    /// The growth of each of them in one step, and over all steps.
    pub(super) each: Vec<(Growth, Growth)>,
    /// The length of each before the loop.
    before: Vec<Term>,
    /// Whether they are swapped. Then any of them may become as long as any other, and what follows
    /// counts instead.
    pub(super) exchanged: bool,
    /// The largest length before the loop.
    longest: Option<Term>,
    /// The most elements that one of them gets in a step, if all have a bound.
    most_in_a_step: Option<Term>,
    /// The largest length of what replaces one of them.
    instead_of_any: Option<Term>,
    /// Whether one of them has no bound.
    unlimited: bool,
}

/// Whether a `Vec` only grows, but not in each step. A loop that ends early may push much less than
/// all its steps could.
pub(super) fn grows_only((step, all): &(Growth, Growth)) -> bool {
    all.bound.is_some() && !all.exact && !all.taken && step.replaced_by.is_none()
}

impl<'a> Lower<'a> {
    /// The growth of these `Vec`s, given that of each.
    pub(super) fn loop_growth(
        &mut self,
        each: Vec<(Growth, Growth)>,
        found: &[(Cell, String, Value<'a>)],
        range: SrcRange,
    ) -> Lowered<LoopGrowth> {
        let before = self.lengths_before(found, range)?;
        Ok(LoopGrowth {
            exchanged: each.iter().any(|(step, _)| step.swapped),
            longest: before.iter().fold(None, |most, &n| self.max_bound(most, Some(n))),
            most_in_a_step: each.iter().fold(None, |most, (step, _)| self.max_bound(most, step.bound)),
            instead_of_any: each.iter().fold(None, |most, (step, _)| self.max_bound(most, step.replaced_by)),
            unlimited: each.iter().any(|(step, _)| step.bound.is_none()),
            each,
            before,
        })
    }

    /// The capacity that the `Vec` k of a loop needs, and whether it is a limit that the program
    /// states. `counted` is its last length, if a counting run has found it.
    pub(super) fn capacity_in_loop(
        &mut self,
        start: &LoopInput<'a, '_>,
        found: &[(Cell, String, Value<'a>)],
        growth: &LoopGrowth,
        (k, counted): (usize, Option<Term>),
    ) -> Lowered<(Term, bool)> {
        let ((step, all), (_, name, value)) = (growth.each[k], &found[k]);
        let (in_a_step, instead) = match (growth.exchanged, growth.unlimited) {
            (false, _) => (step.bound, step.replaced_by),
            (true, false) => (growth.most_in_a_step, growth.instead_of_any),
            (true, true) => (None, growth.instead_of_any),
        };
        let most = match all.bound.filter(|_| !growth.exchanged) {
            Some(most) => Some(most),
            None => self.most_added(start, found, in_a_step, all.bound.is_some())?,
        };
        let before = growth.longest.filter(|_| growth.exchanged).unwrap_or(growth.before[k]);
        match (most, self.capacity_of(value)) {
            _ if counted.is_some() => Ok((self.max_bound(Some(before), counted).unwrap_or(before), false)),
            (Some(most), _) => {
                let before = self.max_bound(Some(before), instead).unwrap_or(before);
                Ok((self.g.int(IntOp::Add, before, most), false))
            }
            (None, Some(capacity)) => Ok((self.g.int(IntOp::Max, before, capacity), true)),
            // An array that is replaced by another one does not count as pushed to.
            (None, None) if !start.effects.pushed.contains(name) && matches!(value, Value::Term(_)) => {
                let place = start.effects.changes_shape_at(name).unwrap_or(start.range);
                Err(self.error(place, catalogue::carried_shape(name)))
            }
            (None, None) => {
                let place = start.effects.changes_length_at(name).unwrap_or(start.range);
                Err(self.error(place, catalogue::grows_now_and_then(name)))
            }
        }
    }

    /// The number of elements that each `Vec` has, or has room for, before the loop.
    fn lengths_before(&mut self, found: &[(Cell, String, Value<'a>)], range: SrcRange) -> Lowered<Vec<Term>> {
        let mut befores = Vec::new();
        for (_, _, value) in found {
            let before = match value {
                Value::GrowableVec(stack) => self.capacity(&Rc::clone(stack)),
                Value::DynamicPart(open) => self.g.shape(open.all)[0],
                Value::List(parts) => self.g.lit_usize(parts.len()),
                value => {
                    let t = self.array(value, range)?;
                    self.g.shape(t)[0]
                }
            };
            befores.push(before);
        }
        Ok(befores)
    }

    /// The maximum number of elements that the loop adds, given that of a step. `bounded`: whether
    /// all steps together are known to add a bounded number. Otherwise the steps are counted.
    fn most_added(
        &mut self,
        start: &LoopInput<'a, '_>,
        found: &[(Cell, String, Value<'a>)],
        in_a_step: Option<Term>,
        bounded: bool,
    ) -> Lowered<Option<Term>> {
        let Some(one) = in_a_step else { return Ok(None) };
        if self.g.int_value(one) == Some(0) {
            return Ok(Some(one));
        }
        Ok(match start.seq.filter(|_| bounded) {
            Some(seq) => Some(seq.dims.iter().fold(one, |n, &size| self.g.int(IntOp::Mul, n, size))),
            None => {
                let steps = self.counting_run(start, found)?.and_then(|run| run.steps);
                steps.map(|count| self.g.int(IntOp::Mul, count, one))
            }
        })
    }

    /// The capacity that the user requested, or a closed bound of it.
    fn capacity_of(&mut self, value: &Value<'a>) -> Option<Term> {
        let made = self.growable.requested_capacity(value)?;
        if self.g.is_closed(made) { Some(made) } else { self.most_within_capacity(made) }
    }

    /// A closed bound of a number that is at most the length of a `Vec` which a loop carries, as in
    /// `v.len() / 2`. It is at most the capacity. A loop up to it would visit the whole capacity,
    /// so only what has memory for all items asks for it.
    pub(crate) fn most_within_capacity(&mut self, t: Term) -> Option<Term> {
        self.within_capacity(t, MAX_DEPTH)
    }

    fn within_capacity(&mut self, t: Term, depth: u32) -> Option<Term> {
        if let Some(capacity) = self.growable.capacity_for(t) {
            return self.g.is_closed(capacity).then_some(capacity);
        }
        let depth = depth.checked_sub(1)?;
        let Node::Prim(Prim::Int(op), args) = self.g.node(t).clone() else { return None };
        let positive = self.g.int_value(args[1]).is_some_and(|n| n > 0);
        match op {
            // The result grows with the first operand, and is not greater.
            IntOp::Sub | IntOp::Div | IntOp::Shr if positive => {
                let most = self.within_capacity(args[0], depth)?;
                Some(self.g.int(op, most, args[1]))
            }
            IntOp::Sub => self.within_capacity(args[0], depth),
            IntOp::Min => args.iter().find_map(|&arg| self.within_capacity(arg, depth)),
            _ => None,
        }
    }
}
