//! Chooses how a loop carries a `Vec` whose length it changes. If each step pushes and the loop
//! never reads it, the pushed elements are rows of the scan. Otherwise it is a growable vector
//! (`stack`) with capacity for all elements that it can have.

use std::rc::Rc;

use super::{Grown, Loop, Stacked, Start};
use crate::catalogue;
use crate::diag::Poison;
use crate::front::carry::Form;
use crate::front::checks::Frame;
use crate::front::longer::Longer;
use crate::front::lower::Lower;
use crate::front::stack::Stack;
use crate::front::state::{Cell, Held};
use crate::front::value::{Lowered, Value};
use crate::ir::{Node, Term};
use crate::prim::{IntOp, Prim};

/// The maximum nesting of trial lowerings. Each level doubles the work.
const ATTEMPTS: u32 = 5;

impl<'a> Lower<'a> {
    /// Decides for each `Vec` whose length the loop changes whether it becomes rows or a growable
    /// vector.
    pub(super) fn lengths(&mut self, start: &Start<'a, '_>) -> Lowered<(Vec<Grown<'a>>, Vec<Stacked<'a>>)> {
        let (mut grown, mut stacks) = (self.grown(start.outward), Vec::new());
        let found = self.of_changing_length(start);
        if found.is_empty() {
            return Ok((grown, stacks));
        }
        // A `Vec` that an enclosing loop carries has its capacity already.
        let carried = found.iter().all(|(_, _, value)| matches!(value, Value::Stack(s) if s.slot.is_some()));
        if carried {
            let zero = self.g.lit_usize(0);
            for (cell, name, value) in found {
                stacks.push(self.stacked_from(start, cell, &name, &value, (zero, None))?);
            }
            return Ok((grown, stacks));
        }
        // Rows are tried first: they copy nothing and carry nothing.
        let rows = grown.len() == found.len() && self.state.attempts < ATTEMPTS && {
            let as_rows = self.grown(start.outward);
            self.attempt(|me| me.tried(start, as_rows, Vec::new())).is_ok()
        };
        if !self.decided.is_empty() {
            return Err(Poison);
        }
        if rows || self.state.attempts >= ATTEMPTS {
            return Ok((grown, stacks));
        }
        // A trial lowering with a huge capacity shows how much capacity is needed.
        let room = self.g.lit_usize(usize::MAX >> (16 + 4 * self.state.attempts));
        let try_all = |me: &mut Self| {
            let mut stacks = Vec::new();
            for (cell, name, value) in &found {
                stacks.push(me.stacked_from(start, *cell, name, value, (room, None))?);
            }
            me.tried(start, Vec::new(), stacks)
        };
        let longer = match self.attempt(try_all) {
            _ if !self.decided.is_empty() => return Err(Poison),
            Ok(longer) => longer,
            // If this fails as well, the errors of the lowering with rows are reported.
            Err(Poison) if grown.len() == found.len() => return Ok((grown, stacks)),
            Err(Poison) => {
                try_all(self)?;
                return Err(Poison);
            }
        };
        let every = found.clone();
        let times = start.seq.map(|seq| seq.dims.to_vec()).unwrap_or_default();
        let mut befores = Vec::new();
        for (_, _, value) in &found {
            let before = match value {
                Value::Stack(stack) => self.room(&Rc::clone(stack)),
                Value::Open(open) => self.g.shape(open.all)[0],
                Value::List(parts) => self.g.lit_usize(parts.len()),
                value => {
                    let t = self.array(value, start.range)?;
                    self.g.shape(t)[0]
                }
            };
            befores.push(before);
        }
        // If the `Vec`s are swapped, any of them may become as long as any other.
        let exchanged = longer.iter().any(|(step, _)| step.exchanged);
        let largest = befores.iter().fold(None, |most, &n| self.more_of(most, Some(n)));
        let most_in_a_step = longer.iter().fold(None, |most, (step, _)| self.more_of(most, step.most));
        let instead_of_any = longer.iter().fold(None, |most, (step, _)| self.more_of(most, step.instead));
        let unlimited = longer.iter().any(|(step, _)| step.most.is_none());
        for (k, (cell, name, value)) in found.into_iter().enumerate() {
            let (step, all) = longer[k];
            if all.exact && !all.taken && all.instead.is_none() && grown.iter().any(|g| g.cell == cell) {
                // Tuples cannot be rows of a scan.
                let element = self.stacked_from(start, cell, &name, &value, (room, None))?.start.form;
                if matches!(element, Form::Leaf { .. }) {
                    continue;
                }
            }
            grown.retain(|g| g.cell != cell);
            if let Value::Stack(stack) = &value
                && stack.slot.is_some()
            {
                stacks.push(self.stacked_from(start, cell, &name, &value, (room, None))?);
                continue;
            }
            let (in_a_step, instead) = match (exchanged, unlimited) {
                (false, _) => (step.most, step.instead),
                (true, false) => (most_in_a_step, instead_of_any),
                (true, true) => (None, instead_of_any),
            };
            let most = match (all.most, in_a_step) {
                (Some(most), _) if !exchanged => Some(most),
                (_, Some(one)) if self.g.int_value(one) == Some(0) => Some(one),
                (_, Some(one)) => match start.seq.filter(|_| all.most.is_some()) {
                    Some(seq) => {
                        let steps = seq.dims.iter().fold(one, |n, &size| self.g.int(IntOp::Mul, n, size));
                        Some(steps)
                    }
                    None => self.steps_of(start, &every)?.map(|count| self.g.int(IntOp::Mul, count, one)),
                },
                _ => None,
            };
            let before = if exchanged { largest.unwrap_or(befores[k]) } else { befores[k] };
            let (room, limited) = match (most, self.capacity_of(&value)) {
                (Some(most), _) => {
                    let before = self.more_of(Some(before), instead).unwrap_or(before);
                    (self.g.int(IntOp::Add, before, most), false)
                }
                (None, Some(capacity)) => (self.g.int(IntOp::Max, before, capacity), true),
                // An array that is replaced by another one does not count as pushed to.
                (None, None) if !start.outward.pushed.contains(&name) && matches!(value, Value::Term(_)) => {
                    return Err(self.error(start.range, catalogue::carried_shape(&name)));
                }
                (None, None) => return Err(self.error(start.range, catalogue::grows_now_and_then(&name))),
            };
            let each = self.net(step).filter(|_| all.exact && step.instead.is_none() && !times.is_empty());
            let mut stack = self.stacked_from(start, cell, &name, &value, (room, each))?;
            stack.start.limited = limited;
            stacks.push(stack);
        }
        Ok((grown, stacks))
    }

    /// The number of steps of a `while` or `loop`, from a counting run that does not keep pushed
    /// elements. `None` if the number varies between the steps of an enclosing loop, or depends on
    /// pushed elements.
    fn steps_of(&mut self, start: &Start<'a, '_>, found: &[(Cell, String, Value<'a>)]) -> Lowered<Option<Term>> {
        let inside = self.state.frames.iter().any(|frame| !matches!(frame, Frame::Guard { .. }));
        if start.seq.is_some() || inside {
            return Ok(None);
        }
        let mut count = None;
        // The last elements are known as long as no element is removed.
        for windows in [true, false] {
            let run = |me: &mut Self| {
                let mut stacks = Vec::new();
                for (cell, name, value) in found {
                    let room = match value {
                        Value::Stack(stack) => me.room(&Rc::clone(stack)),
                        Value::List(parts) => me.g.lit_usize(parts.len().max(1)),
                        value => {
                            let t = me.array(value, start.range)?;
                            me.g.shape(t)[0]
                        }
                    };
                    let mut stack = me.stacked_from(start, *cell, name, value, (room, None))?;
                    stack.start = me.windowed(&stack.start);
                    stack.start.window = stack.start.window.filter(|_| windows).or(Some(0));
                    stacks.push(stack);
                }
                let (mut l, init) = me.begun(start, Vec::new(), stacks)?;
                l.counted = true;
                me.nest(&l, init.terms, &init.keys, &mut Vec::new())
            };
            let unseen = self.unseen.len();
            count = self.attempt(run).ok().and_then(|behind| behind.count);
            // A check may have read an unknown element.
            let unknown = self.unseen.split_off(unseen);
            count = count.filter(|&count| !self.g.depends_on(count, &unknown));
            if !self.decided.is_empty() {
                return Err(Poison);
            }
            if count.is_some() {
                break;
            }
        }
        Ok(count)
    }

    /// The number of steps must not depend on elements that are pushed in the loop.
    pub(super) fn unseen_elements(
        &mut self,
        l: &Loop<'a, '_>,
        now: &[Term],
        next: &[Term],
        more: &[crate::front::checks::More],
    ) -> Lowered<()> {
        let elements: Vec<usize> = l.stacks.iter().flat_map(|s| s.first..s.first + s.start.all.len()).collect();
        let mut unknown = self.unseen.clone();
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
    pub(super) fn of_another_length(&mut self, form: &Form<'a>, now: &[Term], value: &Value<'a>) -> bool {
        let n = match (form, now.first()) {
            (Form::Open(lens), Some(&t)) => match **lens {
                [len] => len.unwrap_or(self.g.shape(t)[0]),
                _ => return false,
            },
            (Form::List(parts), _) => self.g.lit_usize(parts.len()),
            (Form::Leaf { .. }, Some(&t)) if self.g.rank(t) > 0 => self.g.shape(t)[0],
            _ => return false,
        };
        let m = match value {
            Value::Stack(stack) if stack.plain().is_some() || matches!(form, Form::List(_)) => return true,
            Value::Open(open) if matches!(form, Form::Open(_)) => match self.sizes_there(open)[..] {
                [m] => m,
                _ => return false,
            },
            Value::Open(open) => return self.g.rank(open.all) == 1,
            Value::Term(t) | Value::Nested(t, _) if self.g.rank(*t) > 0 => self.g.shape(*t)[0],
            Value::List(parts) => self.g.lit_usize(parts.len()),
            Value::Filled(_, sizes) => sizes[0],
            _ => return false,
        };
        let may = n == m
            || (self.state.facts.prove_le(&self.g, n, m) && self.state.facts.prove_le(&self.g, m, n))
            || (self.size_of(n).is_some()
                && self.size_of(m).is_some()
                && (self.g.int_value(n).is_none() || self.g.int_value(m).is_none()));
        // Only a `Vec` or an array of rank 1 can change its number of elements.
        let rows = matches!(value, Value::List(_) | Value::Nested(..) | Value::Filled(..))
            || matches!(value, Value::Term(t) if self.g.rank(*t) == 1)
            || matches!(value, Value::Open(_));
        !may && rows
    }

    /// The capacity that the user requested, if it is closed.
    fn capacity_of(&self, value: &Value<'a>) -> Option<Term> {
        let Value::List(parts) = value else { return None };
        let made = self.capacities.iter().find(|(list, _)| Rc::ptr_eq(list, parts))?.1;
        self.is_closed(made).then_some(made)
    }

    /// The variables whose length changes, with their current values.
    fn of_changing_length(&self, start: &Start<'a, '_>) -> Vec<(Cell, String, Value<'a>)> {
        let pushed: Vec<Cell> = start
            .outward
            .pushed
            .iter()
            .filter_map(|name| match self.state.scope.get(name) {
                Some(Ok(Value::Cell(cell))) => Some(*cell),
                _ => None,
            })
            .collect();
        let changed = self.changed_cells(start.outward).into_iter();
        changed
            .filter_map(|cell| {
                let Some(Held::Value(value)) = self.state.store.held(cell) else { return None };
                let changes = pushed.contains(&cell) || {
                    let key = super::length_of(&start.key, self.state.store.name(cell));
                    self.chosen.contains_key(&key)
                };
                let found = match value {
                    Value::Stack(_) => true,
                    Value::Open(open) => changes && self.g.rank(open.all) == 1,
                    Value::List(_) | Value::Filled(..) => changes,
                    Value::Term(t) | Value::Nested(t, _) => changes && self.g.rank(*t) > 0,
                    _ => false,
                };
                found.then(|| (cell, self.state.store.name(cell).to_string(), value.clone()))
            })
            .collect()
    }

    fn stacked_from(
        &mut self,
        start: &Start<'a, '_>,
        cell: Cell,
        name: &str,
        value: &Value<'a>,
        (room, each): (Term, Option<Term>),
    ) -> Lowered<Stacked<'a>> {
        let Some(stack) = self.stack(value, room, &start.key.of(name), start.range)? else {
            let found = self.describe(value);
            return Err(self.error(start.range, catalogue::carried_kind(&found)));
        };
        let outer = stack.slot;
        Ok(Stacked { cell, name: name.to_string(), start: stack, slot: 0, outer, first: 0, each })
    }

    /// Lowers the loop and returns the growth of each `Vec`, in one step and over all steps.
    fn tried(
        &mut self,
        start: &Start<'a, '_>,
        grown: Vec<Grown<'a>>,
        stacks: Vec<Stacked<'a>>,
    ) -> Lowered<Vec<(Longer, Longer)>> {
        let (l, init) = self.begun(start, grown, stacks)?;
        let behind = self.nest(&l, init.terms, &init.keys, &mut Vec::new())?;
        Ok(behind.once.into_iter().zip(behind.longer).collect())
    }

    /// The `Vec` at the start of a step.
    pub(super) fn stack_at(&mut self, l: &Loop<'a, '_>, s: &Stacked<'a>, now: &[Term], index: &[Term]) -> Stack<'a> {
        let leaves = s.start.all.len();
        let all = now[s.first..s.first + leaves].to_vec();
        self.in_carried_items((&l.key, &s.name), &all);
        let len = match (s.each, l.seq) {
            (Some(each), Some(seq)) => {
                let before = index.iter().zip(&*seq.dims).fold(None, |before, (&i, &size)| match before {
                    None => Some(i),
                    Some(before) => {
                        let rows = self.g.int(IntOp::Mul, before, size);
                        Some(self.g.int(IntOp::Add, rows, i))
                    }
                });
                let zero = self.g.lit_usize(0);
                let more = self.g.int(IntOp::Mul, before.unwrap_or(zero), each);
                self.g.int(IntOp::Add, s.start.len, more)
            }
            _ => now[s.first + leaves],
        };
        Stack { all, len, more: self.no_longer(), slot: Some(s.slot), ..s.start.clone() }
    }

    /// Appends the leaves of the `Vec` at the end of a step to `next`, and returns its growth.
    pub(super) fn stack_behind(
        &mut self,
        l: &Loop<'a, '_>,
        s: &Stacked<'a>,
        now: &[Term],
        next: &mut Vec<Term>,
    ) -> Lowered<Longer> {
        let value = match self.state.store.held(s.cell).cloned() {
            Some(Held::Value(value)) => value,
            _ => return Err(Poison),
        };
        let (leaves, value) = (s.start.all.len(), self.as_vec(value));
        let (all, len, more) = match &value {
            Value::Stack(stack) if stack.all.len() == leaves && stack.slot == Some(s.slot) => {
                if l.counted && s.start.window.is_some_and(|known| stack.window.is_none_or(|now| now < known)) {
                    return Err(Poison);
                }
                (stack.all.clone(), stack.len, stack.more)
            }
            // `std::mem::take` has replaced it with an empty one.
            Value::List(parts) if parts.is_empty() => {
                let more = Longer { exact: false, ..self.no_longer() };
                (now[s.first..s.first + leaves].to_vec(), self.g.lit_usize(0), more)
            }
            Value::Never => {
                let zero = self.g.lit_usize(0);
                (now[s.first..s.first + leaves].to_vec(), zero, self.no_longer())
            }
            // A counting run only follows pushed elements.
            _ if l.counted => return Err(Poison),
            other => self.instead(l, s, now, other)?,
        };
        if !l.counted {
            self.carry_items_on((&l.key, &s.name), &now[s.first..s.first + leaves], &all)?;
        }
        for (k, t) in all.into_iter().enumerate() {
            let before = now[s.first + k];
            if l.counted && s.start.window == Some(0) {
                next.push(before);
                continue;
            }
            if self.g.ty(t) != self.g.ty(before) {
                return Err(self.error(l.range, catalogue::carried_shape(&s.name)));
            }
            next.push(t);
        }
        match s.each {
            None => next.push(len),
            Some(each) if self.net(more) == Some(each) && more.instead.is_none() => {}
            Some(_) => return Err(self.error(l.range, catalogue::grows_now_and_then(&s.name))),
        }
        Ok(more)
    }

    /// The `Vec` after the loop.
    pub(super) fn left_stack(
        &mut self,
        l: &Loop<'a, '_>,
        s: &Stacked<'a>,
        last: &[Term],
        longer: Longer,
    ) -> Lowered<Value<'a>> {
        let leaves = s.start.all.len();
        let all = last[s.first..s.first + leaves].to_vec();
        self.in_carried_items((&l.key, &s.name), &all);
        let len = match (s.each, self.net(longer)) {
            (Some(_), Some(all)) => self.g.int(IntOp::Add, s.start.len, all),
            _ => last[s.first + leaves],
        };
        let most = longer.most.map(|_| self.g.lit_usize(0));
        let more = match s.outer {
            Some(_) => self.both(s.start.more, longer),
            // Its capacity covers all its elements.
            None => Longer { most: most.or_else(|| s.start.limited.then(|| self.g.lit_usize(0))), ..self.no_longer() },
        };
        let limited = s.start.limited && s.outer.is_some();
        let stack = Stack { all, len, more, slot: s.outer, limited, ..s.start.clone() };
        if s.outer.is_none() && self.is_closed(len) {
            return self.unstacked(&stack, l.range);
        }
        Ok(Value::Stack(stack.into()))
    }

    /// Replaces a `Vec` of the loop with another value. Returns its leaves in the current capacity,
    /// its length and its growth.
    fn instead(
        &mut self,
        l: &Loop<'a, '_>,
        s: &Stacked<'a>,
        now: &[Term],
        value: &Value<'a>,
    ) -> Lowered<(Vec<Term>, Term, Longer)> {
        let none = self.no_longer();
        let room = now.get(s.first).map_or_else(|| none.most.unwrap_or(s.start.len), |&t| self.g.shape(t)[0]);
        let other = l.stacks.iter().any(|o| matches!(value, Value::Stack(v) if v.slot == Some(o.slot)));
        let found = self.stack(value, room, &l.key.of(&s.name), l.range)?;
        let Some(found) = found.filter(|found| found.all.len() == s.start.all.len()) else {
            let (was, is) = ("a `Vec` whose length changes", self.describe(value));
            return Err(self.error(l.range, catalogue::carried_changes(&s.name, was, &is)));
        };
        for k in 0..found.all.len() {
            let (x, before) = (found.all[k], now[s.first + k]);
            if self.g.elem(x) != self.g.elem(before) {
                if self.soften(before, self.g.elem(x)) || self.soften(x, self.g.elem(before)) {
                    return Err(Poison);
                }
                let (x, y) = (self.describe(&Value::Term(before)), self.describe(&Value::Term(x)));
                return Err(self.error(l.range, catalogue::carried_changes(&s.name, &x, &y)));
            }
        }
        let more = if other {
            Longer { exact: false, exchanged: true, freed: 0, ..found.more }
        } else {
            let own = match value {
                Value::Stack(stack) => {
                    let stack = self.loose(stack);
                    stack.more.most.map(|_| self.room(&stack))
                }
                _ => Some(found.len),
            };
            let bound = own.and_then(|own| self.relative(own, room));
            match bound {
                Some((most, instead)) => Longer { most: Some(most), exact: false, instead, ..none },
                None => Longer { most: None, exact: false, ..none },
            }
        };
        if s.start.limited {
            self.require_le(found.len, room, crate::catalogue::reached::PAST_CAPACITY);
        }
        let found = self.with_room(&found, room);
        Ok((found.all, found.len, more))
    }

    /// Compares a number of elements with the capacity before the step. Returns the possible
    /// growth, or an upper bound that does not depend on the earlier length. In a trial lowering
    /// the capacity is a number that no array has, so expressions of it can be recognised.
    fn relative(&mut self, own: Term, room: Term) -> Option<(Term, Option<Term>)> {
        let none = self.g.lit_usize(0);
        let much = self.g.int_value(room).filter(|&n| n > 1 << 32);
        let Some(much) = much else { return Some((none, Some(own))) };
        let mut l = self.state.facts.linear(&self.g, own);
        let grows = |me: &Self, t: Term| {
            let from = me.g.reachable(&[t]);
            from.into_iter().any(|u| u == room) && !matches!(me.g.node(t), Node::Prim(Prim::Int(IntOp::Min), _))
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
        small.then(|| (crate::analysis::range::to_term(&mut self.g, &l), None))
    }
}
