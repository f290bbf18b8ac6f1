//! The loops and conditions that enclose a point of the function.
//!
//! Invariants: the frames and the recurrences are in the order of nesting, the outermost first.
//! Each recurrence has one frame, which has its index. Whoever enters a construct leaves it again,
//! and with it all guards that were added inside.
//!
//! This module must never make a term or assume a condition: that is the task of `checks` and
//! `flow`.

use std::rc::Rc;

use super::restored::restored;
use crate::panic_messages::PanicMessage;
use ad_ir::analysis::guards::Guard;
use ad_ir::ir::{Loc, Term, Var};

/// A construct that encloses the current point.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Frame {
    /// A loop over the values of the variable below the size. `mark` marks the facts before the
    /// loop.
    Loop { var: Var, size: Term, mark: usize },
    /// A step of a recurrence. `level` is its index in the list of enclosing recurrences.
    Recurrence { var: Var, size: Term, mark: usize, level: usize },
    /// A guard: the condition has the value `holds`.
    Guard { cond: Term, holds: bool },
}

impl Frame {
    /// Whether it is a loop or a recurrence.
    pub(crate) fn repeats(&self) -> bool {
        !matches!(self, Frame::Guard { .. })
    }
}

/// A value that is carried only for use after the loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExtraCarry {
    pub init: Term,
    /// Its placeholder in the step, from [`ad_ir::ir::Graph::placeholder`].
    pub carried: Term,
    pub next: Term,
}

/// The message of a check.
#[derive(Clone, Debug)]
pub(crate) struct CheckMessage {
    pub words: PanicMessage,
    pub shown: Vec<(String, Term)>,
    pub loc: Loc,
    /// Whether the check is evaluated only with debug assertions.
    pub debug: bool,
    /// Whether values that belong to the message exist in a loop only.
    pub incomplete: bool,
    /// Whether it is the check that a call has returned.
    pub of_call: bool,
}

/// A recurrence that is being lowered.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenRecurrence {
    /// The placeholders of the carried values.
    carried: Vec<Term>,
    /// Conditions that depend on carried values. Each becomes a carried flag, which is checked
    /// after the loop.
    flags: Vec<(Term, CheckMessage)>,
    /// Arrays that steps write into before they read them, each with its state after the step.
    spares: Vec<(ExtraCarry, Term)>,
}

/// What the steps of a recurrence have found.
pub(crate) struct OfSteps {
    /// Conditions that depend on carried values.
    pub flags: Vec<(Term, CheckMessage)>,
    /// Arrays that steps write into before they read them.
    pub spares: Vec<ExtraCarry>,
}

/// A loop whose number of steps is to be bounded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundedSteps {
    /// The number of frames around it.
    pub depth: usize,
    /// Its size, which no other loop has.
    pub size: Term,
    /// The number of its items. Only the steps below this number have one.
    pub len: Term,
}

restored! {
    /// The constructs that enclose a point of the function.
    pub(crate) struct Enclosing {
        /// The enclosing loops and conditions.
        frames: Vec<Frame>,
        /// The enclosing loops as recurrences, the outermost first.
        recurrences: Vec<OpenRecurrence>,
        /// The loop whose number of steps is to be bounded, and the closed bounds found so far.
        bounded: Option<BoundedSteps>,
        step_bounds: Vec<Term>,
        /// The valid length along each axis of the array that is being reduced. An entry is `Some`
        /// where the length is dynamic.
        valid_lengths: Option<Rc<[Option<Term>]>>,
    }
}

/// The number of enclosing constructs.
#[derive(Clone, Copy)]
pub(crate) struct Depth(usize);

impl Enclosing {
    /// The enclosing loops and conditions, the outermost first.
    pub(crate) fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// The number of enclosing loops and conditions.
    pub(crate) fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Whether a loop or a recurrence encloses the point.
    pub(crate) fn in_loop(&self) -> bool {
        self.frames.iter().any(Frame::repeats)
    }

    /// The guards from a depth inwards.
    pub(crate) fn guards_from(&self, depth: usize) -> Vec<Guard> {
        let guard = |f: &Frame| match f {
            Frame::Guard { cond, holds } => Some((*cond, *holds)),
            Frame::Loop { .. } | Frame::Recurrence { .. } => None,
        };
        self.frames.iter().skip(depth).filter_map(guard).collect()
    }

    /// Enters a loop over the values of a variable.
    pub(crate) fn enter_loop(&mut self, var: Var, size: Term, mark: usize) -> Depth {
        self.enter(Frame::Loop { var, size, mark })
    }

    /// Enters a condition.
    pub(crate) fn enter_guard(&mut self, cond: Term, holds: bool) -> Depth {
        self.enter(Frame::Guard { cond, holds })
    }

    fn enter(&mut self, frame: Frame) -> Depth {
        self.frames.push(frame);
        Depth(self.frames.len() - 1)
    }

    /// Adds a condition that holds until the end of the enclosing construct.
    pub(crate) fn guard(&mut self, cond: Term, holds: bool) {
        self.frames.push(Frame::Guard { cond, holds });
    }

    /// Leaves a loop or a condition.
    pub(crate) fn leave(&mut self, depth: Depth) {
        self.frames.truncate(depth.0);
    }

    /// Leaves all constructs from a depth inwards.
    pub(crate) fn leave_to(&mut self, depth: usize) {
        self.frames.truncate(depth);
    }

    /// Enters the step of a recurrence that carries these placeholders.
    pub(crate) fn enter_recurrence(&mut self, carried: Vec<Term>, (var, size, mark): (Var, Term, usize)) -> Depth {
        let level = self.recurrences.len();
        self.recurrences.push(OpenRecurrence { carried, ..OpenRecurrence::default() });
        self.enter(Frame::Recurrence { var, size, mark, level })
    }

    /// Leaves the step of a recurrence.
    pub(crate) fn leave_recurrence(&mut self, depth: Depth) -> OfSteps {
        self.leave(depth);
        let OpenRecurrence { flags, spares, .. } = self.recurrences.pop().unwrap_or_default();
        OfSteps { flags, spares: spares.into_iter().map(|(spare, _)| spare).collect() }
    }

    /// The placeholders of the values that a recurrence carries.
    pub(crate) fn carried(&self, level: usize) -> &[Term] {
        self.recurrences.get(level).map_or(&[], |r| &r.carried)
    }

    /// The placeholders of the only enclosing recurrence. `None` if there is none, or more.
    pub(crate) fn carried_by_only_recurrence(&self) -> Option<&[Term]> {
        let [only] = &self.recurrences[..] else { return None };
        Some(&only.carried)
    }

    /// Has a recurrence carry a condition as a flag.
    pub(crate) fn add_flag(&mut self, level: usize, ok: Term, said: &CheckMessage) {
        if let Some(steps) = self.recurrences.get_mut(level)
            && !steps.flags.iter().any(|f| f.0 == ok)
        {
            steps.flags.push((ok, said.clone()));
        }
    }

    /// The conditions that the enclosing recurrences carry as flags.
    pub(crate) fn flags(&self) -> impl Iterator<Item = &(Term, CheckMessage)> {
        self.recurrences.iter().flat_map(|r| &r.flags)
    }

    /// The number of flags of each recurrence.
    pub(crate) fn flag_counts(&self) -> Vec<usize> {
        self.recurrences.iter().map(|r| r.flags.len()).collect()
    }

    /// Drops the flags that were added since there were these.
    pub(crate) fn drop_flags_since(&mut self, counts: &[usize]) {
        self.recurrences.truncate(counts.len());
        self.recurrences.iter_mut().zip(counts).for_each(|(r, &n)| r.flags.truncate(n));
    }

    /// Has the outermost recurrence carry an array for the steps to write into. This step leaves
    /// `written` in it.
    pub(crate) fn add_spare(&mut self, spare: ExtraCarry, written: Term) {
        if let Some(outermost) = self.recurrences.first_mut() {
            outermost.spares.push((spare, written));
        }
    }

    /// Whether a step of the outermost recurrence leaves this in a spare array.
    pub(crate) fn is_spare(&self, t: Term) -> bool {
        self.recurrences.first().is_some_and(|r| r.spares.iter().any(|(_, written)| *written == t))
    }

    /// Begins to collect bounds of the number of steps of the next loop.
    pub(crate) fn begin_step_bounds(&mut self, size: Term, len: Term) {
        self.bounded = Some(BoundedSteps { depth: self.frames.len(), size, len });
        self.step_bounds.clear();
    }

    /// The loop whose number of steps is to be bounded.
    pub(crate) fn bounded_steps(&self) -> Option<BoundedSteps> {
        self.bounded
    }

    /// Adds a closed bound of the number of steps.
    pub(crate) fn add_step_bound(&mut self, steps: Term) {
        self.step_bounds.push(steps);
    }

    /// The closed bounds found so far, which are taken out.
    pub(crate) fn take_step_bounds(&mut self) -> Vec<Term> {
        std::mem::take(&mut self.step_bounds)
    }

    /// The valid lengths of the array that is being reduced.
    pub(crate) fn valid_lengths(&self) -> Option<&Rc<[Option<Term>]>> {
        self.valid_lengths.as_ref()
    }

    /// Sets the valid lengths of the array that is being reduced. Returns the former ones.
    pub(crate) fn replace_valid_lengths(&mut self, lens: Option<Rc<[Option<Term>]>>) -> Option<Rc<[Option<Term>]>> {
        std::mem::replace(&mut self.valid_lengths, lens)
    }
}
