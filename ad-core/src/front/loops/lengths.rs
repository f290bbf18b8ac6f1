//! How a loop carries a `Vec` whose length it changes: as rows, where each step pushes and nothing in the loop looks at it; or with room for
//! all elements that it can have (`stack`).

use super::{Grown, Loop, Stacked, Start};
use crate::catalogue;
use crate::diag::Poison;
use crate::front::checks::Frame;
use crate::front::lower::Lower;
use crate::front::stack::{Longer, Stack};
use crate::front::state::{Cell, Held};
use crate::front::value::{Lowered, Value};
use crate::ir::Term;
use crate::prim::IntOp;

/// Lowerings inside one another that are made for what they come to: each doubles the work.
const ATTEMPTS: u32 = 3;

impl<'a> Lower<'a> {
    /// Each `Vec` whose length the loop changes, in one of the two ways.
    pub(super) fn lengths(&mut self, start: &Start<'a, '_>) -> Lowered<(Vec<Grown<'a>>, Vec<Stacked>)> {
        let (mut grown, mut stacks) = (self.grown(start.outward), Vec::new());
        let found = self.of_changing_length(start);
        if found.is_empty() {
            return Ok((grown, stacks));
        }
        let stacks_only = found.iter().all(|(_, _, value)| matches!(value, Value::Stack(_)));
        if stacks_only && self.attempts > 0 {
            let zero = self.g.lit_usize(0);
            for (cell, name, value) in found {
                stacks.push(self.stacked_from(start, cell, &name, &value, (zero, None))?);
            }
            return Ok((grown, stacks));
        }
        // Rows are best: nothing is copied, and nothing is carried.
        let rows = grown.len() == found.len() && self.attempts < ATTEMPTS && {
            let as_rows = self.grown(start.outward);
            self.attempt(|me| me.tried(start, as_rows, Vec::new())).is_ok()
        };
        if !self.decided.is_empty() {
            return Err(Poison);
        }
        if rows || self.attempts >= ATTEMPTS {
            return Ok((grown, stacks));
        }
        // Room for more than there is, to see how much is needed.
        let room = self.g.lit_usize(usize::MAX >> 16);
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
            // Then what is wrong with the rows is what is wrong.
            Err(Poison) if grown.len() == found.len() => return Ok((grown, stacks)),
            Err(Poison) => {
                try_all(self)?;
                return Err(Poison);
            }
        };
        let every = found.clone();
        let times = start.seq.map(|seq| seq.dims.to_vec()).unwrap_or_default();
        for ((cell, name, value), longer) in found.into_iter().zip(longer) {
            let (step, all) = longer;
            if all.exact && grown.iter().any(|g| g.cell == cell) {
                continue;
            }
            let most = match (all.most, step.most) {
                (Some(most), _) => Some(most),
                (None, Some(step)) => self.steps_of(start, &every)?.map(|count| self.g.int(IntOp::Mul, count, step)),
                _ => None,
            };
            let Some(most) = most else {
                return Err(self.error(start.range, catalogue::grows_now_and_then(&name)));
            };
            grown.retain(|g| g.cell != cell);
            let before = match &value {
                Value::Stack(_) => most,
                Value::List(parts) => self.g.lit_usize(parts.len()),
                value => {
                    let t = self.array(value, start.range)?;
                    self.g.shape(t)[0]
                }
            };
            let room = self.g.int(IntOp::Add, before, most);
            let each = step.most.filter(|_| all.exact && !times.is_empty());
            stacks.push(self.stacked_from(start, cell, &name, &value, (room, each))?);
        }
        Ok((grown, stacks))
    }

    /// How many steps a `while` or `loop` takes, by a run of it that keeps nothing of what is pushed; `None` where that is not the same in
    /// every step of a loop around it, or depends on what is pushed.
    fn steps_of(&mut self, start: &Start<'a, '_>, found: &[(Cell, String, Value<'a>)]) -> Lowered<Option<Term>> {
        let inside = self.frames.iter().any(|frame| !matches!(frame, Frame::Guard { .. }));
        if start.seq.is_some() || inside {
            return Ok(None);
        }
        let run = |me: &mut Self| {
            let one = me.g.lit_usize(1);
            let mut stacks = Vec::new();
            for (cell, name, value) in found {
                stacks.push(me.stacked_from(start, *cell, name, value, (one, None))?);
            }
            let (mut l, init) = me.begun(start, Vec::new(), stacks)?;
            l.counted = true;
            me.nest(&l, init.terms, &init.keys, &mut Vec::new())
        };
        let count = self.attempt(run).ok().and_then(|behind| behind.count);
        if self.decided.is_empty() { Ok(count) } else { Err(Poison) }
    }

    /// Nothing that decides how often a loop runs may depend on what is pushed in it.
    pub(super) fn unseen_elements(
        &mut self,
        l: &Loop<'a, '_>,
        now: &[Term],
        next: &[Term],
        more: &[crate::front::checks::More],
    ) -> Lowered<()> {
        let elements: Vec<usize> = l.stacks.iter().flat_map(|s| s.first..s.first + s.start.all.len()).collect();
        let leaves: Vec<Term> = elements.iter().map(|&k| now[k]).collect();
        let others = next.iter().enumerate().filter(|(k, _)| !elements.contains(k)).map(|(_, &t)| t);
        let mut all = others.chain(more.iter().map(|m| m.next));
        if all.any(|t| self.g.depends_on(t, &leaves)) { Err(Poison) } else { Ok(()) }
    }

    /// Variables that are pushed to or popped from, and what they hold.
    fn of_changing_length(&self, start: &Start<'a, '_>) -> Vec<(Cell, String, Value<'a>)> {
        let pushed: Vec<Cell> = start
            .outward
            .pushed
            .iter()
            .filter_map(|name| match self.scope.get(name) {
                Some(Ok(Value::Cell(cell))) => Some(*cell),
                _ => None,
            })
            .collect();
        let changed = self.changed_cells(start.outward).into_iter();
        changed
            .filter_map(|cell| {
                let Some(Held::Value(value)) = self.store.held(cell) else { return None };
                let found = match value {
                    Value::Stack(_) => true,
                    Value::List(_) | Value::Filled(..) => pushed.contains(&cell),
                    Value::Term(t) | Value::Nested(t) => pushed.contains(&cell) && self.g.rank(*t) > 0,
                    _ => false,
                };
                found.then(|| (cell, self.store.name(cell).to_string(), value.clone()))
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
    ) -> Lowered<Stacked> {
        let Some(stack) = self.stack(value, room, &start.key.of(name), start.range)? else {
            let found = self.describe(value);
            return Err(self.error(start.range, catalogue::carried_kind(&found)));
        };
        let was = matches!(value, Value::Stack(_));
        Ok(Stacked { cell, name: name.to_string(), start: stack, was, first: 0, each })
    }

    /// The loop lowered for how long each `Vec` becomes: in a step, and in all.
    fn tried(
        &mut self,
        start: &Start<'a, '_>,
        grown: Vec<Grown<'a>>,
        stacks: Vec<Stacked>,
    ) -> Lowered<Vec<(Longer, Longer)>> {
        let (l, init) = self.begun(start, grown, stacks)?;
        let behind = self.nest(&l, init.terms, &init.keys, &mut Vec::new())?;
        Ok(behind.once.into_iter().zip(behind.longer).collect())
    }

    /// The `Vec` at the beginning of a step.
    pub(super) fn stack_at(&mut self, l: &Loop<'a, '_>, s: &Stacked, now: &[Term], index: &[Term]) -> Stack {
        let leaves = s.start.all.len();
        let all = now[s.first..s.first + leaves].to_vec();
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
        Stack { all, len, more: self.no_longer(), ..s.start.clone() }
    }

    /// Its leaves at the end of a step, and how much longer it is.
    pub(super) fn stack_behind(
        &mut self,
        l: &Loop<'a, '_>,
        s: &Stacked,
        now: &[Term],
        next: &mut Vec<Term>,
    ) -> Lowered<Longer> {
        let value = match self.store.held(s.cell).cloned() {
            Some(Held::Value(value)) => value,
            _ => return Err(Poison),
        };
        let leaves = s.start.all.len();
        let (all, len, more) = match &value {
            Value::Stack(stack) if stack.all.len() == leaves => (stack.all.clone(), stack.len, stack.more),
            // It was taken.
            Value::List(parts) if parts.is_empty() => {
                let more = Longer { exact: false, ..self.no_longer() };
                (now[s.first..s.first + leaves].to_vec(), self.g.lit_usize(0), more)
            }
            Value::Never => {
                let zero = self.g.lit_usize(0);
                (now[s.first..s.first + leaves].to_vec(), zero, self.no_longer())
            }
            other => {
                let (was, is) = ("a `Vec` whose length changes", self.describe(other));
                return Err(self.error(l.range, catalogue::carried_changes(&s.name, was, &is)));
            }
        };
        for (k, t) in all.into_iter().enumerate() {
            let before = now[s.first + k];
            if l.counted {
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
            Some(each) if more == (Longer { most: Some(each), exact: true }) => {}
            Some(_) => return Err(self.error(l.range, catalogue::grows_now_and_then(&s.name))),
        }
        Ok(more)
    }

    /// The `Vec` behind the loop.
    pub(super) fn left_stack(
        &mut self,
        l: &Loop<'a, '_>,
        s: &Stacked,
        last: &[Term],
        longer: Longer,
    ) -> Lowered<Value<'a>> {
        let leaves = s.start.all.len();
        let all = last[s.first..s.first + leaves].to_vec();
        let len = match (s.each, longer.most) {
            (Some(_), Some(all)) => self.g.int(IntOp::Add, s.start.len, all),
            _ => last[s.first + leaves],
        };
        let more = if s.was { self.both(s.start.more, longer) } else { longer };
        let stack = Stack { all, len, more, ..s.start.clone() };
        if !s.was && self.is_closed(len) {
            return self.unstacked(&stack, l.range);
        }
        Ok(Value::Stack(stack.into()))
    }
}
