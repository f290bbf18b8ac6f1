//! Chooses how a loop carries a `Vec` whose length it changes. If each step pushes and the loop
//! never reads it, the pushed elements are rows of the scan. Otherwise it is a growable vector
//! (`stack`) with capacity for all elements that it can have.

use std::rc::Rc;

use super::capacity::grows_only;
use super::resized::Room;
use super::{GrowingVec, Loop, LoopInput, PushedOnly};
use crate::carry::CarriedForm;
use crate::growth::Growth;
use crate::lower::Lower;
use crate::stack::GrowableVec;
use crate::translation::cells::{Cell, CellValue};
use crate::value::{Lowered, Value};
use ad_ir::catalogue;
use ad_ir::diag::Poison;
use ad_ir::ir::{Node, Term};
use ad_ir::prim::{IntOp, Prim};

/// The maximum nesting of trial lowerings. Each level doubles the work.
const MAX_TRIALS: u32 = 5;

/// The results of a counting run.
pub(super) struct Counted {
    /// The number of steps, of a loop without an iterator.
    pub(super) steps: Option<Term>,
    /// The last length of each `Vec`.
    lengths: Vec<Term>,
}

impl<'a> Lower<'a> {
    /// Decides for each `Vec` whose length the loop changes whether it becomes rows or a growable
    /// vector.
    pub(super) fn carry_lengths(
        &mut self,
        start: &LoopInput<'a, '_>,
    ) -> Lowered<(Vec<PushedOnly<'a>>, Vec<GrowingVec<'a>>)> {
        let (mut pushed_only, mut stacks) = (self.pushed_only(start.effects), Vec::new());
        let found = self.of_changing_length(start);
        if found.is_empty() {
            return Ok((pushed_only, stacks));
        }
        // A `Vec` that an enclosing loop carries has its capacity already.
        let carried = found.iter().all(|(_, _, value)| matches!(value, Value::GrowableVec(s) if s.slot.is_some()));
        if carried {
            let zero = self.g.lit_usize(0);
            for (cell, name, value) in found {
                stacks.push(self.growing_vec(start, cell, &name, &value, (zero, None))?);
            }
            return Ok((pushed_only, stacks));
        }
        // Rows are tried first: they copy nothing and carry nothing.
        let rows = pushed_only.len() == found.len() && self.state.nesting.trials() < MAX_TRIALS && {
            let as_rows = self.pushed_only(start.effects);
            self.trial(|me| me.trial_growth(start, as_rows, Vec::new())).is_ok()
        };
        if self.inference.needs_another_run() {
            return Err(Poison);
        }
        if rows || self.state.nesting.trials() >= MAX_TRIALS {
            return Ok((pushed_only, stacks));
        }
        let capacity = self.g.lit_usize(usize::MAX >> (16 + 4 * self.state.nesting.trials()));
        let Some(growth) = self.trial_of_growth(start, &found, capacity, pushed_only.len() == found.len())? else {
            return Ok((pushed_only, stacks));
        };
        let growth = self.loop_growth(growth, &found, start.range)?;
        let counted = match start.seq {
            Some(_) if !growth.exchanged && growth.each.iter().any(grows_only) => self.counting_run(start, &found)?,
            _ => None,
        };
        for (k, (cell, name, value)) in found.iter().enumerate() {
            let (step, all) = growth.each[k];
            if all.exact && !all.taken && all.replaced_by.is_none() && pushed_only.iter().any(|g| g.cell == *cell) {
                // Tuples cannot be rows of a scan.
                let element = self.growing_vec(start, *cell, name, value, (capacity, None))?.start.form;
                if matches!(element, CarriedForm::Leaf { .. }) {
                    continue;
                }
            }
            pushed_only.retain(|g| g.cell != *cell);
            if let Value::GrowableVec(stack) = value
                && stack.slot.is_some()
            {
                stacks.push(self.growing_vec(start, *cell, name, value, (capacity, None))?);
                continue;
            }
            let counted = counted.as_ref().filter(|_| grows_only(&growth.each[k])).map(|run| run.lengths[k]);
            let (capacity, limited) = self.capacity_in_loop(start, &found, &growth, (k, counted))?;
            let has_axes = start.seq.is_some_and(|seq| !seq.dims.is_empty());
            let growth_per_step = self.net(step).filter(|_| all.exact && step.replaced_by.is_none() && has_axes);
            let mut stack = self.growing_vec(start, *cell, name, value, (capacity, growth_per_step))?;
            (stack.start.limited, stack.counted) = (limited, counted);
            stacks.push(stack);
        }
        Ok((pushed_only, stacks))
    }

    /// A trial lowering with a huge capacity, which shows how much capacity is needed. If it fails
    /// although the loop can be lowered with `rows`, the errors of that lowering are reported.
    fn trial_of_growth(
        &mut self,
        start: &LoopInput<'a, '_>,
        found: &[(Cell, String, Value<'a>)],
        capacity: Term,
        rows: bool,
    ) -> Lowered<Option<Vec<(Growth, Growth)>>> {
        let try_all = |me: &mut Self| {
            let mut stacks = Vec::new();
            for (cell, name, value) in found {
                stacks.push(me.growing_vec(start, *cell, name, value, (capacity, None))?);
            }
            me.trial_growth(start, Vec::new(), stacks)
        };
        match self.trial(try_all) {
            _ if self.inference.needs_another_run() => Err(Poison),
            Ok(growth) => Ok(Some(growth)),
            Err(Poison) if rows => Ok(None),
            Err(Poison) => {
                try_all(self)?;
                Err(Poison)
            }
        }
    }

    /// A counting run of a loop that may end early. It does not keep pushed elements. `None` if the
    /// number that it counts varies between the steps of an enclosing loop, or depends on pushed
    /// elements.
    pub(super) fn counting_run(
        &mut self,
        start: &LoopInput<'a, '_>,
        found: &[(Cell, String, Value<'a>)],
    ) -> Lowered<Option<Counted>> {
        let inside = self.state.enclosing.in_loop();
        if inside {
            return Ok(None);
        }
        let mut counted = None;
        // The last elements are known as long as no element is removed.
        for windows in [true, false] {
            let run = |me: &mut Self| {
                let mut stacks = Vec::new();
                for (cell, name, value) in found {
                    let capacity = match value {
                        Value::GrowableVec(stack) => me.capacity(&Rc::clone(stack)),
                        Value::List(parts) => me.g.lit_usize(parts.len().max(1)),
                        value => {
                            let t = me.array(value, start.range)?;
                            me.g.shape(t)[0]
                        }
                    };
                    let mut stack = me.growing_vec(start, *cell, name, value, (capacity, None))?;
                    stack.start = me.last_elements(&stack.start);
                    stack.start.window = stack.start.window.filter(|_| windows).or(Some(0));
                    stacks.push(stack);
                }
                let (mut l, init) = me.prepare_loop(start, Vec::new(), stacks, &Room::new())?;
                if l.leaves.is_empty() {
                    return Err(Poison);
                }
                l.count_only = true;
                let result = me.nest(&l, init.terms, &init.keys, &mut Vec::new())?;
                let lengths = l.stacks.iter().map(|s| result.next[s.first + s.start.all.len()]).collect();
                Ok(Counted { steps: result.count, lengths })
            };
            let unseen = self.growable.unknown().len();
            counted = self.trial(run).ok();
            // A check may have read an unknown element.
            let unknown = self.growable.take_unknown_after(unseen);
            counted = counted.filter(|run| {
                let mut all = run.steps.iter().chain(&run.lengths);
                !all.any(|&t| self.g.depends_on(t, &unknown))
            });
            if self.inference.needs_another_run() {
                return Err(Poison);
            }
            if counted.is_some() {
                break;
            }
        }
        Ok(counted)
    }

    /// The number of steps must not depend on elements that are pushed in the loop.
    pub(super) fn require_known_count(
        &mut self,
        l: &Loop<'a, '_>,
        now: &[Term],
        next: &[Term],
        more: &[crate::translation::enclosing::ExtraCarry],
    ) -> Lowered<()> {
        let elements: Vec<usize> = l.stacks.iter().flat_map(|s| s.first..s.first + s.start.all.len()).collect();
        let mut unknown = self.growable.unknown().to_vec();
        if l.stacks.iter().any(|s| s.start.window == Some(0)) {
            unknown.extend(elements.iter().map(|&k| now[k]));
            let others = next.iter().enumerate().filter(|(k, _)| !elements.contains(k)).map(|(_, &t)| t);
            let mut all = others.chain(more.iter().map(|m| m.next));
            return if all.any(|t| self.g.depends_on(t, &unknown)) { Err(Poison) } else { Ok(()) };
        }
        let mut all = next.iter().copied().chain(more.iter().map(|m| m.next));
        if all.any(|t| self.g.depends_on(t, &unknown)) { Err(Poison) } else { Ok(()) }
    }

    /// Whether a value is an array of another length than the current one of a carried variable.
    pub(super) fn of_another_length(&mut self, form: &CarriedForm<'a>, now: &[Term], value: &Value<'a>) -> bool {
        let n = match (form, now.first()) {
            (CarriedForm::DynamicPart(lens), Some(&t)) => match **lens {
                [len] => len.unwrap_or(self.g.shape(t)[0]),
                _ => return false,
            },
            (CarriedForm::List(parts), _) => self.g.lit_usize(parts.len()),
            (CarriedForm::Rows(first), _) => first.len,
            (CarriedForm::Leaf { .. }, Some(&t)) if self.g.rank(t) > 0 => self.g.shape(t)[0],
            _ => return false,
        };
        let m = match value {
            Value::GrowableVec(stack) if matches!(form, CarriedForm::Rows(_)) && self.is_fixed(stack) => stack.len,
            Value::GrowableVec(_) if matches!(form, CarriedForm::Rows(_)) => return true,
            Value::GrowableVec(stack) if stack.as_single_array().is_some() || matches!(form, CarriedForm::List(_)) => {
                return true;
            }
            Value::DynamicPart(open) if matches!(form, CarriedForm::DynamicPart(_)) => match open.sizes(&self.g)[..] {
                [m] => m,
                _ => return false,
            },
            Value::DynamicPart(open) => return self.g.rank(open.all) == 1,
            Value::Term(t) | Value::Nested(t, _) if self.g.rank(*t) > 0 => self.g.shape(*t)[0],
            Value::List(parts) => self.g.lit_usize(parts.len()),
            Value::Filled(_, sizes) => sizes[0],
            _ => return false,
        };
        let may = n == m
            || (self.state.facts.prove_le(&self.g, n, m) && self.state.facts.prove_le(&self.g, m, n))
            || (self.may_be_required(n, m) && (self.g.int_value(n).is_none() || self.g.int_value(m).is_none()));
        // Only a `Vec` or an array of rank 1 can change its number of elements.
        let rows = matches!(value, Value::List(_) | Value::Nested(..) | Value::Filled(..))
            || matches!(value, Value::Term(t) if self.g.rank(*t) == 1)
            || matches!(value, Value::DynamicPart(_) | Value::GrowableVec(_));
        !may && rows
    }

    /// The variables whose length changes, with their current values.
    fn of_changing_length(&self, start: &LoopInput<'a, '_>) -> Vec<(Cell, String, Value<'a>)> {
        let pushed: Vec<Cell> = start
            .effects
            .pushed
            .iter()
            .filter_map(|name| match self.state.names.get(name) {
                Some(Ok(Value::Cell(cell))) => Some(*cell),
                _ => None,
            })
            .collect();
        let changed = self.changed_cells(start.effects).into_iter();
        changed
            .filter_map(|cell| {
                let Some(CellValue::Value(value)) = self.state.cells.held(cell) else { return None };
                let changes = pushed.contains(&cell) || {
                    let key = super::length_of(&start.key, self.state.cells.name(cell));
                    self.inference.is_known(&key)
                };
                let found = match value {
                    Value::GrowableVec(stack) => changes || !self.is_fixed(stack),
                    Value::DynamicPart(open) => changes && self.g.rank(open.all) == 1,
                    Value::List(_) | Value::Filled(..) => changes,
                    Value::Term(t) | Value::Nested(t, _) => changes && self.g.rank(*t) > 0,
                    _ => false,
                };
                found.then(|| (cell, self.state.cells.name(cell).to_string(), value.clone()))
            })
            .collect()
    }

    fn growing_vec(
        &mut self,
        start: &LoopInput<'a, '_>,
        cell: Cell,
        name: &str,
        value: &Value<'a>,
        (capacity, growth_per_step): (Term, Option<Term>),
    ) -> Lowered<GrowingVec<'a>> {
        let Some(stack) = self.stack(value, capacity, &start.key.for_variable(name), start.range)? else {
            let found = self.describe(value);
            return Err(self.error(start.range, catalogue::carried_kind(&found)));
        };
        let outer = stack.slot;
        let name = name.to_string();
        Ok(GrowingVec { cell, name, start: stack, slot: 0, outer, first: 0, growth_per_step, counted: None })
    }

    /// Lowers the loop and returns the growth of each `Vec`, in one step and over all steps.
    fn trial_growth(
        &mut self,
        start: &LoopInput<'a, '_>,
        pushed_only: Vec<PushedOnly<'a>>,
        stacks: Vec<GrowingVec<'a>>,
    ) -> Lowered<Vec<(Growth, Growth)>> {
        let (l, init) = self.prepare_loop(start, pushed_only, stacks, &Room::new())?;
        let result = self.nest(&l, init.terms, &init.keys, &mut Vec::new())?;
        Ok(result.step_growth.into_iter().zip(result.growth).collect())
    }

    /// The `Vec` at the start of a step.
    pub(super) fn vec_at_start(
        &mut self,
        l: &Loop<'a, '_>,
        s: &GrowingVec<'a>,
        now: &[Term],
        index: &[Term],
    ) -> GrowableVec<'a> {
        let leaves = s.start.all.len();
        let all = now[s.first..s.first + leaves].to_vec();
        self.in_carried_items((&l.key, &s.name), &all);
        let len = match (s.growth_per_step, l.seq) {
            (Some(growth_per_step), Some(seq)) => {
                let before = index.iter().zip(&*seq.dims).fold(None, |before, (&i, &size)| match before {
                    None => Some(i),
                    Some(before) => {
                        let rows = self.g.int(IntOp::Mul, before, size);
                        Some(self.g.int(IntOp::Add, rows, i))
                    }
                });
                let zero = self.g.lit_usize(0);
                let more = self.g.int(IntOp::Mul, before.unwrap_or(zero), growth_per_step);
                self.g.int(IntOp::Add, s.start.len, more)
            }
            _ => now[s.first + leaves],
        };
        if let Some(&first) = all.first()
            && !self.g.is_closed(len)
        {
            let capacity = self.g.shape(first)[0];
            self.growable.record_length(len, capacity);
        }
        GrowableVec { all, len, more: self.no_growth(), slot: Some(s.slot), ..s.start.clone() }
    }

    /// Appends the leaves of the `Vec` at the end of a step to `next`, and returns its growth.
    pub(super) fn vec_at_end(
        &mut self,
        l: &Loop<'a, '_>,
        s: &GrowingVec<'a>,
        now: &[Term],
        next: &mut Vec<Term>,
    ) -> Lowered<Growth> {
        let value = match self.state.cells.held(s.cell).cloned() {
            Some(CellValue::Value(value)) => value,
            _ => return Err(Poison),
        };
        let (leaves, value) = (s.start.all.len(), self.as_vec(value));
        let (all, len, more) = match &value {
            Value::GrowableVec(stack) if stack.all.len() == leaves && stack.slot == Some(s.slot) => {
                if l.count_only && s.start.window.is_some_and(|known| stack.window.is_none_or(|now| now < known)) {
                    return Err(Poison);
                }
                (stack.all.clone(), stack.len, stack.more)
            }
            // `std::mem::take` has replaced it with an empty one.
            Value::List(parts) if parts.is_empty() => {
                let more = Growth { exact: false, ..self.no_growth() };
                (now[s.first..s.first + leaves].to_vec(), self.g.lit_usize(0), more)
            }
            Value::Never => {
                let zero = self.g.lit_usize(0);
                (now[s.first..s.first + leaves].to_vec(), zero, self.no_growth())
            }
            // A counting run only follows pushed elements.
            _ if l.count_only => return Err(Poison),
            other => self.replaced_vec(l, s, now, other)?,
        };
        if !l.count_only {
            self.carry_items_on((&l.key, &s.name), &now[s.first..s.first + leaves], &all)?;
        }
        for (k, t) in all.into_iter().enumerate() {
            let before = now[s.first + k];
            if l.count_only && s.start.window == Some(0) {
                next.push(before);
                continue;
            }
            if self.g.ty(t) != self.g.ty(before) {
                return Err(self.error(l.changes_at(&s.name), catalogue::carried_shape(&s.name)));
            }
            next.push(t);
        }
        match s.growth_per_step {
            None => next.push(len),
            Some(growth_per_step) if self.net(more) == Some(growth_per_step) && more.replaced_by.is_none() => {}
            Some(_) => return Err(self.error(l.grows_at(&s.name), catalogue::grows_now_and_then(&s.name))),
        }
        Ok(more)
    }

    /// The `Vec` after the loop.
    pub(super) fn vec_after_loop(
        &mut self,
        l: &Loop<'a, '_>,
        s: &GrowingVec<'a>,
        last: &[Term],
        growth: Growth,
    ) -> Lowered<Value<'a>> {
        let leaves = s.start.all.len();
        let all = last[s.first..s.first + leaves].to_vec();
        self.in_carried_items((&l.key, &s.name), &all);
        let len = match (s.growth_per_step, self.net(growth), s.counted) {
            (Some(_), Some(all), _) => self.g.int(IntOp::Add, s.start.len, all),
            (_, _, Some(counted)) => counted,
            _ => last[s.first + leaves],
        };
        let most = growth.bound.map(|_| self.g.lit_usize(0));
        let more = match s.outer {
            Some(_) => self.growth_in_sequence(s.start.more, growth),
            // Its capacity covers all its elements.
            None => Growth { bound: most.or_else(|| s.start.limited.then(|| self.g.lit_usize(0))), ..self.no_growth() },
        };
        let limited = s.start.limited && s.outer.is_some();
        let stack = GrowableVec { all, len, more, slot: s.outer, limited, ..s.start.clone() };
        if s.outer.is_none() && self.g.is_closed(len) {
            return self.vec_into_array(&stack, l.range);
        }
        Ok(Value::GrowableVec(stack.into()))
    }

    /// Replaces a `Vec` of the loop with another value. Returns its leaves in the current capacity,
    /// its length and its growth.
    fn replaced_vec(
        &mut self,
        l: &Loop<'a, '_>,
        s: &GrowingVec<'a>,
        now: &[Term],
        value: &Value<'a>,
    ) -> Lowered<(Vec<Term>, Term, Growth)> {
        let none = self.no_growth();
        let capacity = now.get(s.first).map_or_else(|| none.bound.unwrap_or(s.start.len), |&t| self.g.shape(t)[0]);
        let other = l.stacks.iter().any(|o| matches!(value, Value::GrowableVec(v) if v.slot == Some(o.slot)));
        let found = self.stack(value, capacity, &l.key.for_variable(&s.name), l.range)?;
        let Some(found) = found.filter(|found| found.all.len() == s.start.all.len()) else {
            let (was, is) = ("a `Vec` whose length changes", self.describe(value));
            return Err(self.error(l.range, catalogue::carried_changes(&s.name, was, &is)));
        };
        for k in 0..found.all.len() {
            let (x, before) = (found.all[k], now[s.first + k]);
            if self.g.elem(x) != self.g.elem(before) {
                if self.inference.retype(&self.g, before, self.g.elem(x))
                    || self.inference.retype(&self.g, x, self.g.elem(before))
                {
                    return Err(Poison);
                }
                let (x, y) = (self.describe(&Value::Term(before)), self.describe(&Value::Term(x)));
                return Err(self.error(l.range, catalogue::carried_changes(&s.name, &x, &y)));
            }
        }
        let more = if other {
            Growth { exact: false, swapped: true, freed: 0, ..found.more }
        } else {
            let own = match value {
                Value::GrowableVec(stack) => {
                    let stack = self.uncarried(stack);
                    stack.more.bound.map(|_| self.capacity(&stack))
                }
                _ => Some(found.len),
            };
            match own {
                Some(own) => self.replacing_growth(own, capacity),
                None => Growth { bound: None, exact: false, ..none },
            }
        };
        if s.start.limited {
            self.require_le(found.len, capacity, ad_ir::catalogue::reached::PAST_CAPACITY);
        }
        let found = self.with_capacity_of(&found, capacity);
        Ok((found.all, found.len, more))
    }

    /// Compares a number of elements with the capacity before the step. Returns the possible
    /// growth, or an upper bound that does not depend on the earlier length. In a trial lowering
    /// the capacity is a number that no array has, so expressions of it can be recognised.
    pub(crate) fn relative_growth(&mut self, own: Term, capacity: Term) -> Option<(Term, Option<Term>)> {
        let none = self.g.lit_usize(0);
        let much = self.g.int_value(capacity).filter(|&n| n > 1 << 32);
        let Some(much) = much else { return Some((none, Some(own))) };
        let mut l = self.state.facts.linear(&self.g, own);
        let grows = |me: &Self, t: Term| {
            let from = me.g.reachable(&[t]);
            from.into_iter().any(|u| u == capacity) && !matches!(me.g.node(t), Node::Prim(Prim::Int(IntOp::Min), _))
        };
        if l.atoms.keys().any(|&t| grows(self, t)) {
            return None;
        }
        if l.constant.abs() < 1 << 32 {
            return Some((none, Some(own)));
        }
        l.constant -= much;
        if l.constant < -(1 << 32) && l.constant + much > 0 {
            return Some((none, None)).filter(|_| l.atoms.values().all(|&c| c < 0));
        }
        let small = l.constant.abs() < 1 << 32;
        small.then(|| (ad_ir::analysis::range::to_term(&mut self.g, &l), None))
    }
}
