//! The jumps out of a loop: the cells that carry their flags and values, and the tests that a loop
//! with jumps needs in each step.
//!
//! This module does not resolve jumps; `flow` does.

use super::{Exit, Payload, PushedOnly};
use crate::loop_effects::LoopEffects;
use crate::lower::Lower;
use crate::translation::cells::{Cell, CellValue};
use crate::translation::enclosing::ExtraCarry;
use crate::translation::jumps::OuterJump;
use crate::value::{Lowered, Seq, Value};
use ad_ir::catalogue;
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Term, Type};
use ad_ir::memory_order::HasLayouts;

impl<'a> Lower<'a> {
    /// Allocates cells for the jumps out of a loop.
    pub(super) fn jump_cells(
        &mut self,
        effects: &LoopEffects,
        own: usize,
        unset: &[Cell],
        pushed_only: &[PushedOnly<'a>],
    ) -> Vec<OuterJump> {
        let mut leaves: Vec<OuterJump> = Vec::new();
        for jump in &effects.jumps {
            // A jump without a target is an error, which is reported at its source location.
            let Some(target) = self.state.jumps.target_of(jump, own) else { continue };
            if leaves.iter().any(|l| l.target == target) {
                continue;
            }
            let no = self.g.lit_bool(false);
            let flag = self.state.cells.add_hidden(CellValue::Value(Value::Term(no)));
            let value = self.state.cells.add_hidden(CellValue::Value(Value::Never));
            let assigned_inside =
                unset.iter().map(|&c| (c, self.state.cells.add_hidden(CellValue::Value(Value::Never)))).collect();
            let ends = self.state.jumps.leaves_function(target);
            let dead = pushed_only.iter().filter(|_| ends).map(|g| g.cell).collect();
            leaves.push(OuterJump { target, flag, value, assigned_inside, dead });
        }
        // The innermost target is first, since its exit may lead to outer ones.
        leaves.sort_by_key(|l| std::cmp::Reverse(l.target));
        leaves
    }

    /// Continues at the targets of the jumps that a loop may take. `own` is the loop's own target,
    /// and `endless` says that the loop ends only by a jump. Returns the value of `break`.
    pub(super) fn take_jumps(
        &mut self,
        (leaves, exits): (&[OuterJump], Vec<Exit<'a>>),
        own: usize,
        endless: bool,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let mut value = Value::Unit;
        // A jump without values is never taken.
        let taken: Vec<_> = leaves.iter().zip(exits).filter(|(_, (_, payload))| !payload.is_empty()).collect();
        let last = taken.len().saturating_sub(1);
        let ends = taken.iter().any(|(leave, _)| leave.target == own);
        for (k, (leave, (flag, payload))) in taken.into_iter().enumerate() {
            for p in &payload {
                let value = Self::unflatten(&p.form, &mut p.leaves.terms.iter())?;
                self.state.cells.put(p.cell, CellValue::Value(value));
            }
            if leave.target == own {
                if endless {
                    self.assign_inside(leave);
                }
                value = self.read(leave.value, range)?;
                continue;
            }
            let jump = |me: &mut Self| {
                me.assign_inside(leave);
                let value = me.read(leave.value, range)?;
                me.exit(leave.target, value, range)
            };
            if endless && k == last && !ends {
                jump(self)?;
                value = Value::Never;
            } else {
                self.branch(flag, jump, |_| Ok(Value::Unit), range)?;
            }
        }
        Ok(value)
    }

    /// Gives variables that the loop has assigned first the values that they had at the jump.
    fn assign_inside(&mut self, leave: &OuterJump) {
        for &(own, kept) in &leave.assigned_inside {
            if let Some(held) = self.state.cells.held(kept).cloned() {
                self.state.cells.put(own, held);
            }
        }
    }

    /// Carries the values of jumps through the steps after the jump. `unknown`: the leaves whose
    /// value a counting run does not know.
    pub(super) fn carry_jump_values(
        &mut self,
        exits: &mut [Exit<'a>],
        unknown: &mut Vec<Term>,
        range: SrcRange,
    ) -> Lowered<Vec<ExtraCarry>> {
        let mut more = Vec::new();
        for (flag, payload) in exits {
            let taken = *flag;
            for p in payload.iter_mut() {
                for t in &mut p.leaves.terms {
                    let mut m = self.carry_jump_value(taken, *t, range)?;
                    // A counting run does not know what is pushed; the jump's value may have it.
                    if self.g.depends_on(m.next, self.growable.unknown()) {
                        m.next = m.carried;
                        unknown.push(m.carried);
                    }
                    *t = m.carried;
                    more.push(m);
                }
            }
        }
        Ok(more)
    }

    /// Replaces the values that jumps carry in one step by those after the loop.
    pub(super) fn set_jump_values(
        &mut self,
        payloads: &mut [Vec<Payload<'a>>],
        last: &[Term],
        unknown: &[Term],
    ) -> Lowered<()> {
        let mut more = last.iter();
        for p in payloads.iter_mut().flatten() {
            for (t, key) in p.leaves.terms.iter_mut().zip(&p.leaves.keys) {
                let item = std::mem::replace(t, *more.next().ok_or(Poison)?);
                if unknown.contains(&item) {
                    *t = self.g.placeholder(self.g.ty(*t).clone());
                    self.growable.add_unknown(*t);
                }
                self.layouts().note_rows(*t, &[item]);
                self.inference.set_literals(*t, key.as_slice());
            }
        }
        Ok(())
    }

    /// Carries a value from the step in which a jump is taken to the end of the loop.
    fn carry_jump_value(&mut self, taken: Term, value: Term, range: SrcRange) -> Lowered<ExtraCarry> {
        let shape = self.g.shape(value).to_vec();
        if shape.iter().any(|&n| !self.g.is_closed(n)) {
            return Err(self.error(range, catalogue::size_depends_on_index()));
        }
        let elem = self.g.elem(value);
        let zero = self.g.zero(elem);
        let init = self.g.broadcast(zero, &shape);
        let carried = self.g.placeholder(Type::Array(elem, shape.into()));
        let next = self.g.cond(taken, value, carried);
        Ok(ExtraCarry { init, carried, next })
    }

    /// Whether the loop tests in each step for the end of the iterator. It does if the iterator has
    /// a dynamic length, and if the loop can also stop early or has no closed size.
    pub(super) fn tests_for_end(&self, seq: &Seq<'a>, jumps: usize) -> bool {
        let endless = |&n: &Term| self.g.int_value(n) == Some(i128::from(u64::MAX));
        seq.len.is_some() && (jumps > 0 || seq.dims.first().is_some_and(endless))
    }
}
