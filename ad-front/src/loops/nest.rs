//! The scans of a loop: one for each axis of its iterator, the outermost first. A scan carries the
//! leaves of variables, then a flag for each jump, then a step counter and a flag that ends it, if
//! it needs them.

use super::{Loop, StepsResult};
use crate::checks::{Recurrence, Stepped};
use crate::growth::Growth;
use crate::lower::Lower;
use crate::translation::inference::InferenceKey;
use crate::value::Lowered;
use ad_ir::diag::Poison;
use ad_ir::ir::Term;
use ad_ir::memory_order::HasLayouts;
use ad_ir::prim::{Cmp, IntOp};

/// The scan for one axis of a loop.
struct AxisScan {
    size: Term,
    /// The number of leaves of variables, and the number of jumps. Their flags follow the leaves.
    variables: usize,
    jumps: usize,
    /// Whether the loop has no iterator. Then it counts its steps itself, after the flags.
    counts: bool,
    /// The number of items, if the loop tests for the end of its iterator.
    items: Option<Term>,
    /// The index of the flag that ends the loop.
    stop: Option<usize>,
    /// The number of leaves before the values of jumps.
    carries: usize,
    /// The literals `false` and 1.
    no: Term,
    one: Term,
}

impl AxisScan {
    /// The number of a step, in the loop.
    fn step_number(&self, step: Term, now: &[Term]) -> Term {
        if self.counts { now[self.variables + self.jumps] } else { step }
    }

    /// Whether the loop has ended before a step that the scan runs.
    fn done(&self, now: &[Term]) -> Option<Term> {
        self.stop.map(|k| now[k]).filter(|_| !self.counts)
    }
}

impl<'a> Lower<'a> {
    /// Lowers one scan for each axis of the iterator, the outermost first.
    pub(super) fn nest(
        &mut self,
        l: &Loop<'a, '_>,
        init: Vec<Term>,
        keys: &[Option<InferenceKey>],
        index: &mut Vec<Term>,
    ) -> Lowered<StepsResult<'a>> {
        let endless = self.g.lit_usize(usize::MAX);
        let size = match l.seq {
            Some(seq) => seq.dims.get(index.len()).copied(),
            None => Some(endless).filter(|_| index.is_empty()),
        };
        let Some(size) = size else { return self.step(l, init, index) };
        let (axis, init) = self.axis_scan(l, (size, size == endless), init, index.is_empty());
        let (mut one_step, mut unknown, mut items) = (None, Vec::new(), Vec::new());
        let recurrence = Recurrence { size, reverse: false, stop: axis.stop, init };
        let (last, rows) = self.recur_steps(recurrence, |me, i, now| {
            for (&t, key) in now.iter().zip(keys) {
                me.inference.set_literals(t, key.as_slice());
            }
            // Checks that depend on the step number apply only to steps that are run.
            let (done, number) = (axis.done(now), axis.step_number(i, now));
            index.push(number);
            let mut run = |me: &mut Self| me.nest(l, now[..axis.variables].to_vec(), keys, index);
            let result = match done {
                Some(done) => me.under(done, false, run),
                None => run(me),
            };
            index.pop();
            let mut result = result?;
            let more = me.carry_jump_values(&mut result.exits, &mut unknown, l.range)?;
            let next = me.next_leaves(&axis, number, &result);
            if l.count_only {
                me.require_known_count(l, now, &next, &more)?;
            }
            let rows: Vec<Term> = result.pushed.iter().flatten().map(|&t| me.row(t, done)).collect();
            items.clone_from(&rows);
            one_step = Some(result);
            Ok(Stepped { next, rows, more })
        })?;
        let one_step = one_step.ok_or(Poison)?;
        let pushed = self.pushed_elements(size, rows.into_iter().zip(items), &one_step.pushed)?;
        for (&t, key) in last.iter().zip(keys) {
            self.inference.set_literals(t, key.as_slice());
        }
        self.after_steps(l, &axis, (one_step, pushed), (&last, &unknown))
    }

    /// The scan for the next axis, and what its leaves begin with. `init` are the values of
    /// variables. `endless`: the loop has no iterator.
    fn axis_scan(
        &mut self,
        l: &Loop<'a, '_>,
        (size, endless): (Term, bool),
        init: Vec<Term>,
        outermost: bool,
    ) -> (AxisScan, Vec<Term>) {
        let (variables, jumps) = (init.len(), l.leaves.len());
        let mut all = init;
        let (no, zero, one) = (self.g.lit_bool(false), self.g.lit_usize(0), self.g.lit_usize(1));
        all.resize(variables + jumps, no);
        let items = l.seq.filter(|seq| self.tests_for_end(seq, jumps)).and_then(|seq| seq.len);
        if endless {
            all.push(zero);
        }
        let stop = match jumps {
            0 if items.is_none() => None,
            1 if items.is_none() => Some(variables),
            _ => {
                all.push(items.map_or(no, |items| self.g.compare(Cmp::Eq, items, zero)));
                Some(all.len() - 1)
            }
        };
        if let Some(k) = stop.filter(|_| l.count_only && outermost) {
            // A counting run becomes part of a size and is evaluated unconditionally. So it starts
            // as stopped if this point is not reached.
            let not = self.path_not_taken();
            all[k] = self.g.or(not, all[k]);
        }
        (AxisScan { size, variables, jumps, counts: endless, items, stop, carries: all.len(), no, one }, all)
    }

    /// The leaves of a scan after the step with this number.
    fn next_leaves(&mut self, axis: &AxisScan, number: Term, result: &StepsResult<'a>) -> Vec<Term> {
        let flags: Vec<Term> = result.exits.iter().map(|(flag, _)| *flag).collect();
        let mut next: Vec<Term> = result.next.iter().chain(&flags).copied().collect();
        let mut gone = flags.into_iter().reduce(|a, b| self.g.or(a, b));
        let count = self.g.int(IntOp::Add, number, axis.one);
        if axis.counts {
            next.push(count);
        }
        if let Some(items) = axis.items {
            let last = self.g.compare(Cmp::Le, items, count);
            gone = Some(gone.map_or(last, |gone| self.g.or(gone, last)));
        }
        if next.len() < axis.carries {
            next.push(gone.unwrap_or(axis.no));
        }
        next
    }

    /// The state after all steps. `last` are the leaves of the scan after it, and `unknown` those
    /// whose value a counting run does not know.
    fn after_steps(
        &mut self,
        l: &Loop<'a, '_>,
        axis: &AxisScan,
        (one_step, pushed): (StepsResult<'a>, Vec<Option<Term>>),
        (last, unknown): (&[Term], &[Term]),
    ) -> Lowered<StepsResult<'a>> {
        let flags = axis.variables..axis.variables + axis.jumps;
        let mut payloads: Vec<_> = one_step.exits.into_iter().map(|(_, payload)| payload).collect();
        self.set_jump_values(&mut payloads, &last[axis.carries..], unknown)?;
        // If all jumps return from the function, the lengths after a jump are not used. Otherwise a
        // jump makes them inexact.
        let all = l.leaves.iter().all(|leave| self.state.jumps.leaves_function(leave.target));
        let steps = Some(axis.size).filter(|_| !axis.counts);
        let growth = one_step.growth.into_iter();
        Ok(StepsResult {
            next: last[..axis.variables].to_vec(),
            pushed,
            growth: growth.map(|one| self.repeated_growth(steps, Growth { exact: one.exact && all, ..one })).collect(),
            step_growth: one_step.step_growth,
            count: axis.counts.then(|| last[flags.end]),
            exits: last[flags].iter().copied().zip(payloads).collect(),
            shapes: one_step.shapes,
        })
    }

    /// The elements that all steps of a loop push, for each `Vec`. `one_step` are those of one
    /// step, and `rows` has the rows of those that push, each with the row of one step.
    fn pushed_elements(
        &mut self,
        size: Term,
        mut rows: impl Iterator<Item = (Term, Term)>,
        one_step: &[Option<Term>],
    ) -> Lowered<Vec<Option<Term>>> {
        let mut pushed = Vec::new();
        for elements in one_step {
            let Some(elements) = elements else {
                pushed.push(None);
                continue;
            };
            let count = self.g.shape(*elements)[0];
            let (t, item) = rows.next().ok_or(Poison)?;
            if self.g.int_value(count) == Some(1) {
                self.layouts().note_rows(t, &[item]);
                pushed.push(Some(t));
                continue;
            }
            let all = self.g.int(IntOp::Mul, size, count);
            let shape: Vec<Term> = std::iter::once(all).chain(self.g.shape(t)[2..].iter().copied()).collect();
            let all = self.g.reshape(t, &shape);
            self.layouts().note_rows(all, &[item]);
            pushed.push(Some(all));
        }
        Ok(pushed)
    }
}
