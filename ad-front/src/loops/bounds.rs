//! Finds a closed bound for the number of steps of a `for` or of an iterator over a range whose end
//! an enclosing loop decides, as in `for p in starts[i]..starts[i + 1]`. The bound comes from the
//! elements that each step reads. A step that reads `x[p]` panics if `p` is not below the length of
//! `x`. So there is at most one step more than that: the one that panics. Without a bound, each
//! step of the loop would test for the end.
//!
//! This module must never use a read that a step may skip.

use super::LowerBody;
use crate::loop_effects::LoopEffects;
use crate::lower::Lower;
use crate::translation::cells::{Cell, CellValue};
use crate::translation::enclosing::{BoundedSteps, Frame};
use crate::translation::inference::InferenceKey;
use crate::value::{Lowered, Seq, Value};
use ad_ir::analysis::range::{Linear, to_term};
use ad_ir::diag::SrcRange;
use ad_ir::ir::Term;
use ad_ir::ir::{Elem, Node, Type};
use ad_ir::prim::{Cmp, IntOp, Prim};

/// The maximum nesting of loops for which this module looks for a bound. Each level doubles the
/// work.
const DEEPEST: u32 = 3;

impl<'a> Lower<'a> {
    /// Whether a loop over these items would have to test each step for the end.
    pub(super) fn has_unknown_end(&self, seq: &Seq<'a>) -> bool {
        seq.present.is_none() && self.ends_by_test(seq)
    }

    /// Gives the iterator a closed bound of its length, if the body has one, or if a `Vec` that the
    /// body pushes to needs one.
    pub(super) fn bound_steps(
        &mut self,
        seq: &mut Seq<'a>,
        body: LowerBody<'a, '_>,
        effects: &LoopEffects,
        key: &InferenceKey,
        range: SrcRange,
    ) {
        if self.state.nesting.trials() >= DEEPEST || self.overwrites_arrays(effects) {
            return;
        }
        // A jump may skip each of the reads.
        if effects.jumps.is_empty() {
            self.bound_by_reads(seq, |me, tried| {
                me.lower_loop((Some(tried), body), effects, (None, key.clone()), range).map(drop)
            });
        }
        let pushes = self.changed_cells(effects).into_iter().any(|cell| self.is_pushed(effects, cell));
        if pushes
            && self.ends_by_test(seq)
            && let Some(longest) = seq.len.and_then(|len| self.most_in_all_steps(len))
        {
            seq.dims = [longest].into();
        }
    }

    /// A closed upper bound of a number of elements, from the elements of arrays that it is
    /// computed from in all steps. `None` under a condition: where it does not hold, they may be of
    /// any size.
    pub(crate) fn most_in_all_steps(&mut self, n: Term) -> Option<Term> {
        let guarded = self.state.enclosing.frames().iter().any(|frame| matches!(frame, Frame::Guard { .. }));
        if guarded { None } else { self.most_of_lookups(n) }
    }

    fn is_pushed(&self, effects: &LoopEffects, cell: Cell) -> bool {
        effects.pushed.contains(self.state.cells.name(cell))
    }

    /// Gives an iterator whose end an enclosing loop decides a closed bound of its length, if
    /// evaluating its items has one. `filter` may have left items out.
    pub(crate) fn bound_items(&mut self, seq: &mut Seq<'a>, range: SrcRange) {
        self.bound_loop(seq, |me, tried| crate::iter::consume::evaluate_all(me, tried, range));
    }

    /// Gives such an iterator a closed bound of its length, if `lower`, which lowers a loop over
    /// its items, has one.
    pub(crate) fn bound_loop(&mut self, seq: &mut Seq<'a>, lower: impl FnOnce(&mut Self, &Seq<'a>) -> Lowered<()>) {
        if self.ends_by_test(seq) && self.state.nesting.trials() < DEEPEST {
            self.bound_by_reads(seq, lower);
        }
    }

    /// Whether only a loop whose steps test for the end can run over these items.
    pub(crate) fn ends_by_test(&self, seq: &Seq<'a>) -> bool {
        seq.dims.len() == 1 && seq.lens.is_empty() && self.tests_for_end(seq, 0)
    }

    /// Lowers the loop with a size that no array has, and takes the least of the bounds that its
    /// reads imply. Nothing of that loop remains.
    fn bound_by_reads(&mut self, seq: &mut Seq<'a>, lower: impl FnOnce(&mut Self, &Seq<'a>) -> Lowered<()>) {
        let Some(len) = seq.len else { return };
        // A number that no array has as its size.
        let size = self.g.lit_usize(usize::MAX >> 8);
        let tried = Seq { dims: [size].into(), ..seq.clone() };
        let bounds = self.trial(|me| {
            me.state.enclosing.begin_step_bounds(size, len);
            let lowered = lower(me, &tried);
            lowered.map_or_else(|_| Vec::new(), |()| me.state.enclosing.take_step_bounds())
        });
        if let Some(bound) = bounds.into_iter().reduce(|a, b| self.g.int(IntOp::Min, a, b)) {
            let longest = self.most_of_lookups(len);
            seq.dims = [longest.map_or(bound, |longest| self.g.int(IntOp::Min, bound, longest))].into();
        }
    }

    /// Whether the body overwrites arrays. Such a loop saves the overwritten elements of each step,
    /// so the exact number of steps is better than a bound. A loop that only adds to an array is a
    /// sum, and saves nothing. A `Vec` that is pushed to needs a bound for its capacity.
    fn overwrites_arrays(&self, effects: &LoopEffects) -> bool {
        let scalar = |cell| match self.state.cells.held(cell) {
            Some(CellValue::Value(Value::Term(t))) => self.g.rank(*t) == 0,
            Some(CellValue::Value(Value::Number(_)) | CellValue::Unset) => true,
            _ => false,
        };
        self.changed_cells(effects)
            .into_iter()
            .any(|cell| !scalar(cell) && !self.is_pushed(effects, cell) && self.is_used(effects, cell))
    }

    /// Records the bound that a requirement `goal >= 0` implies for the number of steps.
    pub(crate) fn note_step_bound(&mut self, goal: &Linear) {
        let Some(BoundedSteps { depth, size, len }) = self.state.enclosing.bounded_steps() else { return };
        let (var, mark, guards) =
            match self.state.enclosing.frames().get(depth..) {
                Some(
                    [Frame::Recurrence { var, size: n, mark, .. } | Frame::Loop { var, size: n, mark }, guards @ ..],
                ) if *n == size => (*var, *mark, guards.to_vec()),
                _ => return,
            };
        let number = self.g.mk(Node::Var(var));
        // Each item that exists meets this condition. The function's own conditions on the number
        // of a step, as in `if k < 3`, may skip the read.
        let exists = self.g.compare(Cmp::Lt, number, len);
        let within = |frame: &Frame| match *frame {
            Frame::Guard { cond, holds } => holds && cond == exists,
            // A loop that may have no step may skip the read.
            Frame::Loop { size, mark, .. } | Frame::Recurrence { size, mark, .. } => self.known_nonempty(size, mark),
        };
        if !guards.iter().all(within) {
            return;
        }
        let (mut bound, mut bounds) = (Linear::constant(goal.constant), false);
        for (&t, &times) in &goal.atoms {
            if *self.g.ty(t) != Type::scalar(Elem::USIZE) {
                return;
            }
            if times < 0 {
                // The other summands are not negative, and a saturated sum is not smaller than a
                // summand.
                bounds |= t == number
                    || matches!(self.g.node(t), Node::Prim(Prim::Int(IntOp::Add), args) if args.contains(&number));
            } else if self.g.is_closed(t) {
                bound.atoms.insert(t, times);
            } else {
                return;
            }
        }
        // The step after the last one that meets the requirement has to be there to fail.
        let Some(steps) = bound.combine(1, &Linear::constant(2), 1).filter(|_| bounds) else { return };
        let mut steps = to_term(&mut self.g, &steps);
        // The first step may already fail.
        if !self.known_nonempty(steps, mark) {
            let one = self.g.lit_usize(1);
            steps = self.g.int(IntOp::Max, steps, one);
        }
        self.state.enclosing.add_step_bound(steps);
    }
}
