//! The context of translation (enclosing loops and guards) and the run-time checks.
//!
//! Terms are total, so they do not represent a panic of the user's function. A [`Check`] does: a
//! closed condition that holds unless the function itself panics. A check that the prover can prove
//! is omitted.

mod close;
mod region;

use super::lower::Lower;
use super::panic_messages::PanicMessage;
use super::value::Lowered;
use crate::translation::enclosing::{CheckMessage, ExtraCarry, Frame, OfSteps};
use crate::translation::requirements::Count;
use ad_ir::analysis::range::Linear;
use ad_ir::ir::{Elem, Node, OpenLoop, Term, Type, Var};
use ad_ir::memory_order::HasLayouts;
use ad_ir::prim::{Cmp, IntOp, Prim};
use ad_ir::program::{Check, Phase};

/// The input of a recurrence.
#[derive(Clone, Debug)]
pub(super) struct Recurrence {
    pub size: Term,
    pub reverse: bool,
    /// The index of the carried boolean that stops the loop before the next step.
    pub stop: Option<usize>,
    /// The carried values before the first step.
    pub init: Vec<Term>,
}

/// The result of lowering one step.
#[derive(Clone, Debug, Default)]
pub(super) struct Stepped {
    /// The next carried values.
    pub next: Vec<Term>,
    pub rows: Vec<Term>,
    /// Carried values that were discovered while the step was lowered. No step reads them.
    pub more: Vec<ExtraCarry>,
}

/// The numbers of checks, equations and flags at a point of the translation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Checkpoint {
    count: Count,
    flags: Vec<usize>,
}

/// A condition that is being closed over the enclosing loops.
enum Condition {
    /// `linear >= 0` over `usize` atoms, or one of these sizes is 0.
    Linear(Linear, Vec<Term>),
    /// A boolean scalar, and two optional sufficient conditions that ignore the guards: a linear
    /// condition, and a closed term. They need no loop, so they are tested first.
    Term(Term, Option<(Linear, Vec<Term>)>, Option<Term>),
}

impl Lower<'_> {
    /// A checkpoint of the checks found so far.
    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint { count: self.state.requirements.count(), flags: self.state.enclosing.flag_counts() }
    }

    /// The conditions that hold here unless the function has panicked: the checks so far.
    pub(super) fn passed(&self) -> Vec<Term> {
        let all = self.state.requirements.checks().iter().filter(|c| !c.debug).map(|c| c.ok);
        all.chain(self.state.enclosing.flags().filter(|(_, said)| !said.debug).map(|(ok, _)| *ok)).collect()
    }

    /// Drops the checks that were found since a checkpoint.
    pub(super) fn drop_checks_since(&mut self, noted: &Checkpoint) {
        self.state.requirements.drop_since(noted.count);
        self.state.enclosing.drop_flags_since(&noted.flags);
    }

    /// Lowers inside of a loop over a fresh variable below `size`.
    pub(super) fn in_loop<R>(&mut self, size: Term, f: impl FnOnce(&mut Self, Term) -> R) -> (Var, R) {
        let (var, term, mark) = self.enter(size);
        let depth = self.state.enclosing.enter_loop(var, size, mark);
        let result = self.unchanging(Some(term), |me| me.maybe_unreached(|me| f(me, term)));
        self.state.enclosing.leave(depth);
        self.state.facts.forget(mark);
        (var, result)
    }

    /// [`Lower::in_loop`] for several nested loops, the outermost first.
    pub(super) fn in_loops<R>(&mut self, sizes: &[Term], f: &mut dyn FnMut(&mut Self, &[Term]) -> R) -> (Vec<Var>, R) {
        fn nest<'a, R>(
            me: &mut Lower<'a>,
            sizes: &[Term],
            (index, vars): (&mut Vec<Term>, &mut Vec<Var>),
            f: &mut dyn FnMut(&mut Lower<'a>, &[Term]) -> R,
        ) -> R {
            let Some((&size, rest)) = sizes.split_first() else { return f(me, index) };
            let (var, inner) = me.in_loop(size, |me, i| {
                index.push(i);
                nest(me, rest, (index, vars), f)
            });
            // The innermost loop returns first.
            vars.push(var);
            inner
        }
        let mut vars = Vec::new();
        let inner = nest(self, sizes, (&mut Vec::new(), &mut vars), f);
        vars.reverse();
        (vars, inner)
    }

    /// Starts a loop: a fresh variable below `size`, and a mark of the facts before it.
    fn enter(&mut self, size: Term) -> (Var, Term, usize) {
        let var = self.g.fresh();
        let term = self.g.mk(Node::Var(var));
        let mark = self.state.facts.mark();
        // A size inside of its loop is not 0, so a saturating difference is exact here.
        let exact = match self.g.node(size) {
            Node::Prim(Prim::Int(IntOp::Sub), args) => Some((args[0], args[1])),
            _ => None,
        };
        let mut upper = vec![self.state.facts.linear(&self.g, size)];
        if let Some((a, b)) = exact {
            let (a, b) = (self.state.facts.linear(&self.g, a), self.state.facts.linear(&self.g, b));
            upper.extend(a.combine(1, &b, -1));
        }
        let i = self.state.facts.linear(&self.g, term);
        for size in upper {
            let below = size.combine(1, &i, -1).and_then(|l| l.combine(1, &Linear::constant(-1), 1));
            if let Some(fact) = below {
                self.state.facts.learn(fact);
            }
        }
        (var, term, mark)
    }

    /// Lowers a step of a recurrence. `f` gets the step index and the carried values, and returns
    /// the next carried values and rows. The result of the loop is the last carried values and all
    /// rows.
    pub(super) fn in_steps(
        &mut self,
        size: Term,
        reverse: bool,
        init: Vec<Term>,
        f: impl FnOnce(&mut Self, Term, &[Term]) -> Lowered<(Vec<Term>, Vec<Term>)>,
    ) -> Lowered<(Vec<Term>, Vec<Term>)> {
        self.recur_steps(Recurrence { size, reverse, stop: None, init }, |me, step, carried| {
            let (next, rows) = me.unchanging(Some(step), |me| f(me, step, carried))?;
            Ok(Stepped { next, rows, more: Vec::new() })
        })
    }

    /// Like [`Lower::in_steps`], but the step may add carried values. Their last values follow
    /// those of the others.
    pub(super) fn recur_steps(
        &mut self,
        Recurrence { size, reverse, stop, mut init }: Recurrence,
        f: impl FnOnce(&mut Self, Term, &[Term]) -> Lowered<Stepped>,
    ) -> Lowered<(Vec<Term>, Vec<Term>)> {
        let types: Vec<Type> = init.iter().map(|&t| self.g.ty(t).clone()).collect();
        let mut carried: Vec<Term> = types.into_iter().map(|ty| self.g.placeholder(ty)).collect();
        for (&now, &first) in carried.iter().zip(&init) {
            self.layouts().note_like(now, first);
        }
        let (var, step, mark) = self.enter(size);
        let depth = self.state.enclosing.enter_recurrence(carried.clone(), (var, size, mark));
        let made = self.maybe_unreached(|me| f(me, step, &carried));
        let OfSteps { flags, spares } = self.state.enclosing.leave_recurrence(depth);
        self.state.facts.forget(mark);
        let Stepped { next: mut results, rows, more } = made?;
        for m in more {
            init.push(m.init);
            carried.push(m.carried);
            results.push(m.next);
        }
        let carries = results.len();
        for (ok, _) in &flags {
            init.push(self.g.lit_bool(true));
            let flag = self.g.placeholder(Type::scalar(Elem::Bool));
            carried.push(flag);
            results.push(self.g.and(flag, *ok));
        }
        // After a failed check the function would have panicked. An unbounded loop has to stop
        // then, too.
        let endless = self.g.int_value(size) == Some(i128::from(u64::MAX));
        if let Some(k) = stop.filter(|_| endless) {
            for (n, _) in flags.iter().enumerate().filter(|(_, (_, said))| !said.debug) {
                let failed = self.g.not(results[carries + n]);
                results[k] = self.g.or(results[k], failed);
            }
        }
        for m in spares {
            init.push(m.init);
            carried.push(m.carried);
            results.push(m.next);
        }
        let all = results.len();
        results.extend(&rows);
        if let Some(k) = stop {
            let of: Vec<Term> = init.iter().chain(&results).copied().collect();
            init[k] = self.stopped_if_unreached(init[k], &of);
        }
        let leaves: Vec<Term> = carried.iter().copied().chain([step]).collect();
        let left = stop.map(|k| init[k]);
        self.guard_invariants(size, left, &leaves, &mut results);
        let firsts = init.clone();
        let t = self.g.close_loop(&OpenLoop { count: size, reverse, stop, step: var, init, carried, results });
        for (k, (_, said)) in flags.into_iter().enumerate() {
            let ok = self.g.proj(t, carries + k);
            self.check(Condition::Term(ok, None, None), said);
        }
        let last: Vec<Term> = (0..carries).map(|k| self.g.proj(t, k)).collect();
        for (&last, first) in last.iter().zip(firsts) {
            self.layouts().note_like(last, first);
        }
        Ok((last, (0..rows.len()).map(|k| self.g.proj(t, all + k)).collect()))
    }

    /// An unbounded loop that does not depend on an enclosing loop may be hoisted out of it. So it
    /// starts as stopped if the enclosing loop has no step that reaches it.
    pub(super) fn stopped_if_unreached(&mut self, mut left: Term, of: &[Term]) -> Term {
        let leaves = |me: &mut Self, frame: &Frame| match *frame {
            Frame::Loop { var, .. } => vec![me.g.mk(Node::Var(var))],
            Frame::Recurrence { var, level, .. } => {
                let mut leaves = me.state.enclosing.carried(level).to_vec();
                leaves.push(me.g.mk(Node::Var(var)));
                leaves
            }
            Frame::Guard { .. } => Vec::new(),
        };
        let frames = self.state.enclosing.frames().to_vec();
        let mut around: Vec<(usize, Vec<Term>)> = Vec::new();
        for (k, frame) in frames.iter().enumerate() {
            let leaves = leaves(self, frame);
            if !leaves.is_empty() && !of.iter().any(|&t| self.g.depends_on(t, &leaves)) {
                around.push((k, leaves));
            }
        }
        let Some(&(first, _)) = around.first() else { return left };
        for frame in &frames[first..] {
            if let Frame::Guard { cond, holds } = *frame {
                let not = if holds { self.g.not(cond) } else { cond };
                left = self.g.or(not, left);
            }
        }
        for (k, leaves) in around {
            if let Frame::Loop { size, mark, .. } | Frame::Recurrence { size, mark, .. } = frames[k]
                && !self.g.depends_on(left, &leaves)
                && !self.known_nonempty(size, mark)
            {
                left = self.unless_empty(left, size);
            }
        }
        left
    }

    /// Runs `f` under the guard that a condition has a value.
    pub(super) fn under<R>(&mut self, cond: Term, holds: bool, f: impl FnOnce(&mut Self) -> R) -> R {
        let mark = self.state.facts.mark();
        self.state.facts.assume(&self.g, cond, holds);
        // Guards that were added after an exit end here too.
        let depth = self.state.enclosing.enter_guard(cond, holds);
        let result = self.maybe_unreached(f);
        self.state.enclosing.leave(depth);
        self.state.facts.forget(mark);
        result
    }

    /// Whether every call of the function reaches this point: there is no guard, and every
    /// enclosing loop is known to have a step.
    pub(super) fn unconditional(&self) -> bool {
        self.state.enclosing.frames().iter().all(|frame| match *frame {
            Frame::Guard { .. } => false,
            Frame::Loop { size, mark, .. } | Frame::Recurrence { size, mark, .. } => self.known_nonempty(size, mark),
        })
    }

    /// Requires `a < b` for integer scalars.
    pub(super) fn require_lt(&mut self, a: Term, b: Term, message: &str) {
        let (la, lb) = (self.state.facts.linear(&self.g, a), self.state.facts.linear(&self.g, b));
        let goal = lb.combine(1, &la, -1).and_then(|l| l.combine(1, &Linear::constant(-1), 1));
        let ok = self.g.compare(Cmp::Lt, a, b);
        self.require(goal, ok, message);
    }

    /// Requires `index < size`. `words` describes the size in the message.
    pub(super) fn require_index(&mut self, index: Term, size: Term, words: String) {
        let (la, lb) = (self.state.facts.linear(&self.g, index), self.state.facts.linear(&self.g, size));
        let goal = lb.combine(1, &la, -1).and_then(|l| l.combine(1, &Linear::constant(-1), 1));
        let ok = self.g.compare(Cmp::Lt, index, size);
        let mut shown = vec![(words, size)];
        if self.g.int_value(index).is_none() {
            shown.push(("index".to_string(), index));
        }
        self.require_shown(goal, ok, ad_ir::catalogue::reached::INDEX, shown);
    }

    /// Requires `a <= b` for integer scalars.
    pub(super) fn require_le(&mut self, a: Term, b: Term, message: &str) {
        let (la, lb) = (self.state.facts.linear(&self.g, a), self.state.facts.linear(&self.g, b));
        let goal = lb.combine(1, &la, -1);
        let ok = self.g.compare(Cmp::Le, a, b);
        self.require(goal, ok, message);
    }

    /// Requires `ok`. If `goal` is given, `ok` means `goal >= 0`; it may be proved, and it is a
    /// known fact afterwards.
    pub(super) fn require(&mut self, goal: Option<Linear>, ok: Term, message: &str) {
        self.require_shown(goal, ok, message, Vec::new());
    }

    /// Requires `ok`. The function panics with this message otherwise.
    pub(super) fn require_with_message(&mut self, ok: Term, words: &PanicMessage) {
        if self.g.bool_value(ok) == Some(true) {
            return;
        }
        let debug = self.state.requirements.take_debug_only();
        self.check(
            Condition::Term(ok, None, Some(ok)),
            CheckMessage {
                words: words.clone(),
                shown: Vec::new(),
                loc: self.state.source.here(),
                debug,
                incomplete: false,
                of_call: false,
            },
        );
    }

    /// Requires that a call has returned, of a function that may panic. The call is made for the
    /// check, even if nothing reads its result.
    pub(super) fn require_finished(&mut self, call: Term) {
        let ok = self.g.prim(Prim::Finished, &[call]);
        let (words, loc) = (ad_ir::catalogue::reached::CALL.into(), self.state.source.here());
        let (shown, debug, incomplete) = (Vec::new(), false, false);
        let said = CheckMessage { words, shown, loc, debug, incomplete, of_call: true };
        self.check(Condition::Term(ok, None, None), said);
    }

    /// [`Lower::require`], with sizes to show in the message.
    pub(super) fn require_shown(&mut self, goal: Option<Linear>, ok: Term, message: &str, shown: Vec<(String, Term)>) {
        if self.g.bool_value(ok) == Some(true) {
            return;
        }
        if let Some(goal) = &goal {
            self.note_step_bound(goal);
            if self.state.facts.prove(&self.g, goal) {
                return;
            }
        }
        let start = match &goal {
            Some(l) if l.atoms.keys().all(|&t| *self.g.ty(t) == Type::scalar(Elem::USIZE)) => {
                Condition::Linear(l.clone(), Vec::new())
            }
            _ => Condition::Term(ok, None, Some(ok)),
        };
        // A value inside of a loop cannot be shown outside of it.
        let (shown, lost): (Vec<_>, Vec<_>) =
            shown.into_iter().partition(|(_, t)| self.g.free(*t).is_empty() && !self.g.is_open(*t));
        let debug = self.state.requirements.take_debug_only();
        let incomplete = !lost.is_empty();
        let loc = self.state.source.here();
        self.check(start, CheckMessage { words: message.into(), shown, loc, debug, incomplete, of_call: false });
        // If the check fails there is no result, so the code that follows may rely on it.
        if let Some(goal) = goal {
            self.state.facts.learn(goal);
        }
    }

    /// Adds a check, unless an enclosing loop has to carry it as a flag.
    fn check(&mut self, ok: Condition, said: CheckMessage) {
        let Some(closed) = self.close(ok, &said) else { return };
        if self.g.bool_value(closed) == Some(true) || self.state.requirements.has(closed) {
            return;
        }
        let phase = if self.of_sizes_only(closed) { Phase::Entry } else { Phase::Reached };
        let CheckMessage { words, mut shown, loc, debug, mut incomplete, of_call: _ } = said;
        let tell = |t| {
            let told = self.shown_value(t, closed);
            incomplete |= told.is_none();
            told
        };
        let format = words.format(tell).map(|(format, values)| {
            shown.splice(0..0, values.into_iter().map(|t| (String::new(), t)));
            format
        });
        self.state.requirements.add(Check {
            ok: closed,
            message: words.text,
            format,
            shown,
            loc,
            phase,
            debug,
            incomplete,
        });
    }
}
