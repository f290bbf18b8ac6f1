//! One step of a loop. The current values are put into its variables and the body is lowered. The
//! result is read off: the next values of the variables, the jumps taken and the pushed elements.
//!
//! This module does not know how often the step is run; its caller does.

use super::{Carried, Exit, Loop, Payload, PushedOnly, StepsResult, length_of};
use crate::carry::{CarriedForm, CarriedName, Leaves};
use crate::lower::Lower;
use crate::translation::cells::CellValue;
use crate::translation::inference::Inferred;
use crate::translation::jumps::OuterJump;
use crate::value::{Lowered, Value, Want};
use crate::variables::same;
use ad_ir::catalogue;
use ad_ir::diag::Poison;
use ad_ir::ir::Term;

impl<'a> Lower<'a> {
    /// Lowers the body once.
    pub(super) fn step(&mut self, l: &Loop<'a, '_>, now: Vec<Term>, index: &[Term]) -> Lowered<StepsResult<'a>> {
        let exists = match l.seq {
            Some(seq) => self.present(seq, index)?,
            None => None,
        };
        let Some(exists) = exists else { return self.run(l, &now, index) };
        let mut result = self.under(exists, true, |me| me.run(l, &now, index))?;
        // A step without an item changes nothing. A loop that tests for the end of the iterator has
        // no such step after the last item.
        if l.seq.is_some_and(|seq| seq.present.is_some() || !self.tests_for_end(seq, l.leaves.len())) {
            let no = self.g.lit_bool(false);
            for (new, &old) in result.next.iter_mut().zip(&now) {
                *new = self.g.cond(exists, *new, old);
            }
            for (flag, _) in &mut result.exits {
                *flag = self.g.cond(exists, *flag, no);
            }
        }
        let as_before = self.no_growth();
        for growth in &mut result.growth {
            growth.exact &= *growth == as_before;
        }
        if let Some((g, _)) = l.pushed_only.iter().zip(&result.pushed).find(|(_, t)| t.is_some()) {
            return Err(self.error(l.grows_at(&g.name), catalogue::grows_now_and_then(&g.name)));
        }
        Ok(result)
    }

    fn run(&mut self, l: &Loop<'a, '_>, now: &[Term], index: &[Term]) -> Lowered<StepsResult<'a>> {
        for c in &l.carried {
            self.in_carried_orders(&c.orders, now);
            let value = Self::unflatten(&c.form, &mut now[c.first..].iter())?;
            self.state.cells.put(c.cell, CellValue::Value(value));
        }
        for g in &l.pushed_only {
            self.state.cells.put(g.cell, CellValue::Value(Value::List([].into())));
        }
        for s in &l.stacks {
            let stack = self.vec_at_start(l, s, now, index);
            self.state.cells.put(s.cell, CellValue::Value(Value::GrowableVec(stack.into())));
        }
        self.step_target(l.leaves.clone(), l.range, |me| (l.body)(me, index))?;
        let (mut next, mut shapes) = (Vec::new(), Vec::new());
        for c in &l.carried {
            self.carry_on(l, c, now, (&mut next, &mut shapes))?;
        }
        let mut growth = Vec::new();
        for s in &l.stacks {
            growth.push(self.vec_at_end(l, s, now, &mut next)?);
        }
        let mut exits = Vec::new();
        for (k, leave) in l.leaves.iter().enumerate() {
            exits.push(self.exit_of_step(l, (k, leave), now, index)?);
        }
        let mut pushed = Vec::new();
        for g in &l.pushed_only {
            let mut t = self.pushed(l, g)?;
            if let (Some(t), Some(gone)) = (&mut t, exits.iter().map(|l| l.0).reduce(|a, b| self.g.or(a, b))) {
                *t = self.unless(gone, *t);
            }
            pushed.push(t);
        }
        Ok(StepsResult { next, exits, pushed, step_growth: growth.clone(), growth, count: None, shapes })
    }

    /// Adds the leaves of a variable after a step to `next`, and the capacities of an array whose
    /// shape changes to `shapes`. `now` has the leaves before the step.
    fn carry_on(
        &mut self,
        l: &Loop<'a, '_>,
        c: &Carried<'a>,
        now: &[Term],
        (next, shapes): (&mut Vec<Term>, &mut Vec<Vec<Term>>),
    ) -> Lowered<()> {
        let value = match self.state.cells.held(c.cell).cloned() {
            Some(CellValue::Value(value)) => value,
            _ => return Err(Poison),
        };
        let own = &now[c.first..c.first + c.form.leaves()];
        if self.has_another_shape(c, &l.key, own, &value) {
            return Err(Poison);
        }
        if let CarriedForm::Resized(_) = c.form {
            let part = self.value_as_part(&value, Want::Any, l.range)?;
            shapes.push(self.g.shape(part.all).to_vec());
        }
        if self.of_another_length(&c.form, own, &value)
            && self.inference.note(&length_of(&l.key, &c.name), Inferred::Length)
        {
            return Err(Poison);
        }
        let first = next.len();
        let who = (CarriedName::Variable(&c.name), l.changes_at(&c.name));
        self.flatten_like(&value, &c.form, &mut own.iter(), next, who)?;
        let leaves = first..next.len();
        self.carry_orders_on((&l.key, &c.name), &c.orders, (now, c.first), next, leaves)
    }

    /// Whether a step takes jump `k` out of the loop, and the values that the jump carries.
    fn exit_of_step(
        &mut self,
        l: &Loop<'a, '_>,
        (k, leave): (usize, &OuterJump),
        now: &[Term],
        index: &[Term],
    ) -> Lowered<Exit<'a>> {
        let flag = self.read(leave.flag, l.range)?;
        let flag = self.boolean(&flag, l.range)?;
        let mut payload = Vec::new();
        // No step takes this jump: it is under a condition that is known to be false.
        if let Some(CellValue::Value(Value::Never)) = self.state.cells.held(leave.value) {
            return Ok((flag, payload));
        }
        for cell in std::iter::once(leave.value).chain(leave.assigned_inside.iter().map(|o| o.1)) {
            let Some(CellValue::Value(value)) = self.state.cells.held(cell).cloned() else { return Err(Poison) };
            if same(&value, &Value::Unit) || matches!(value, Value::Never) {
                payload.push(Payload { cell, form: CarriedForm::Unit, leaves: Leaves::default() });
                continue;
            }
            let own: Vec<Term> = now.iter().chain(index).copied().collect();
            if self.depends_on_lengths(&value, &own) {
                return Err(self.error(l.range, catalogue::changing_length()));
            }
            let mut leaves = Leaves::default();
            let mut key = l.key.for_variable(&format!("={k}.{}", payload.len()));
            let Some(form) = self.flatten(&value, &mut key, &mut leaves, l.range)? else {
                let found = self.describe(&value);
                return Err(self.error(l.range, catalogue::carried_kind(&found)));
            };
            payload.push(Payload { cell, form, leaves });
        }
        Ok((flag, payload))
    }

    /// The elements that a step has pushed.
    fn pushed(&mut self, l: &Loop<'a, '_>, g: &PushedOnly<'a>) -> Lowered<Option<Term>> {
        let Some(CellValue::Value(value)) = self.state.cells.held(g.cell).cloned() else { return Err(Poison) };
        let t = match &value {
            Value::Never => return Ok(None),
            Value::List(parts) if parts.is_empty() => return Ok(None),
            value => {
                g.levels.set(value.levels());
                let want = self.elem_of(&g.start).map_or(Want::Any, Want::Elem);
                self.term_as(value, want, l.grows_at(&g.name))?
            }
        };
        let sized = self.g.shape(t).iter().all(|&n| self.g.is_closed(n));
        // If all jumps return from the function, the `Vec` is dead after a jump.
        let ends = l.leaves.iter().all(|leave| self.state.jumps.leaves_function(leave.target));
        if sized && ends && l.seq.is_some() {
            return Ok(Some(t));
        }
        Err(self.error(l.grows_at(&g.name), catalogue::grows_now_and_then(&g.name)))
    }

    /// The pushed elements as a row of the scan. The row of a step that is not run is zero.
    pub(super) fn row(&mut self, t: Term, done: Option<Term>) -> Term {
        let one = self.g.int_value(self.g.shape(t)[0]) == Some(1);
        let zero = self.g.lit_usize(0);
        let t = if one { self.g.index(t, &[zero]) } else { t };
        done.map_or(t, |done| self.unless(done, t))
    }

    /// A term, or zeros if the condition holds.
    pub(super) fn unless(&mut self, cond: Term, t: Term) -> Term {
        let (shape, none) = (self.g.shape(t).to_vec(), self.g.zero(self.g.elem(t)));
        let none = self.g.broadcast(none, &shape);
        self.g.cond(cond, none, t)
    }
}
