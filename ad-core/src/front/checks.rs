//! The context of translation (enclosing loops and guards) and the run-time checks.
//!
//! Terms are total, so they do not represent a panic of the user's function. A [`Check`] does: a
//! closed condition that holds unless the function itself panics. A check that the prover can prove
//! is omitted.

use std::collections::{BTreeMap, BTreeSet};

use super::corner::Moves;
use super::lower::Lower;
use super::value::Lowered;
use super::words::Words;
use crate::analysis::range::{Linear, sides};
use crate::ir::{Elem, Lit, Loc, Node, OpenLoop, Term, Type, Var};
use crate::memory_order::HasLayouts;
use crate::prim::{Cmp, IntOp, Prim, Reduce};
use crate::program::{Check, Phase};

/// One enclosing construct of the current point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    /// A loop over the values of the variable below the size. `mark` marks the facts before the
    /// loop.
    Loop { var: Var, size: Term, mark: usize },
    /// A step of a recurrence. `level` is its index in the list of enclosing recurrences
    /// (`State::steps`).
    Steps { var: Var, size: Term, mark: usize, level: usize },
    /// A guard: the condition has the value `holds`.
    Guard { cond: Term, holds: bool },
}

/// A recurrence that is being lowered.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    /// The placeholders of the carried values.
    carried: Vec<Term>,
    /// Conditions that depend on carried values. Each becomes a carried flag, which is checked
    /// after the loop.
    flags: Vec<(Term, Said)>,
}

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
    pub more: Vec<More>,
}

/// A value that is carried only for use after the loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct More {
    pub init: Term,
    /// Its placeholder in the step, from [`crate::ir::Graph::placeholder`].
    pub carried: Term,
    pub next: Term,
}

/// The numbers of checks, equations and flags at a point of the translation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Noted {
    checks: usize,
    equations: usize,
    flags: Vec<usize>,
}

/// The message of a check.
#[derive(Clone, Debug)]
struct Said {
    words: Words,
    shown: Vec<(String, Term)>,
    loc: Loc,
    /// Whether the check is evaluated only with debug assertions.
    debug: bool,
}

/// A condition that is being closed over the enclosing loops.
enum Ok {
    /// `linear >= 0` over `usize` atoms, or one of these sizes is 0.
    Linear(Linear, Vec<Term>),
    /// A boolean scalar, and two optional sufficient conditions that ignore the guards: a linear
    /// condition, and a closed term. They need no loop, so they are tested first.
    Term(Term, Option<(Linear, Vec<Term>)>, Option<Term>),
}

impl Lower<'_> {
    /// A checkpoint of the checks found so far.
    pub(super) fn noted(&self) -> Noted {
        let flags = self.state.steps.iter().map(|s| s.flags.len()).collect();
        Noted { checks: self.state.checks.len(), equations: self.state.equations.len(), flags }
    }

    /// Drops the checks that were found since a checkpoint.
    pub(super) fn forget_since(&mut self, noted: &Noted) {
        self.state.checks.truncate(noted.checks);
        self.state.equations.truncate(noted.equations);
        self.state.steps.truncate(noted.flags.len());
        self.state.steps.iter_mut().zip(&noted.flags).for_each(|(s, &n)| s.flags.truncate(n));
    }

    /// Lowers inside of a loop over a fresh variable below `size`.
    pub(super) fn in_loop<R>(&mut self, size: Term, f: impl FnOnce(&mut Self, Term) -> R) -> (Var, R) {
        let (var, term, mark) = self.enter(size);
        let depth = self.state.frames.len();
        self.state.frames.push(Frame::Loop { var, size, mark });
        let result = self.unsure(|me| f(me, term));
        self.state.frames.truncate(depth);
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
            let (next, rows) = f(me, step, carried)?;
            Result::Ok(Stepped { next, rows, more: Vec::new() })
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
        let level = self.state.steps.len();
        self.state.steps.push(Steps { carried: carried.clone(), flags: Vec::new() });
        let depth = self.state.frames.len();
        self.state.frames.push(Frame::Steps { var, size, mark, level });
        let made = self.unsure(|me| f(me, step, &carried));
        self.state.frames.truncate(depth);
        self.state.facts.forget(mark);
        let flags = self.state.steps.pop().unwrap_or_default().flags;
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
        let all = results.len();
        results.extend(&rows);
        if let Some(k) = stop {
            let of: Vec<Term> = init.iter().chain(&results).copied().collect();
            init[k] = self.or_not_reached(init[k], &of);
        }
        let leaves: Vec<Term> = carried.iter().copied().chain([step]).collect();
        let left = stop.map(|k| init[k]);
        self.once_in_steps(size, left, &leaves, &mut results);
        let firsts = init.clone();
        let t = self.g.close_loop(&OpenLoop { count: size, reverse, stop, step: var, init, carried, results });
        for (k, (_, said)) in flags.into_iter().enumerate() {
            let ok = self.g.proj(t, carries + k);
            self.check(Ok::Term(ok, None, None), said);
        }
        let last: Vec<Term> = (0..carries).map(|k| self.g.proj(t, k)).collect();
        for (&last, first) in last.iter().zip(firsts) {
            self.layouts().note_like(last, first);
        }
        Result::Ok((last, (0..rows.len()).map(|k| self.g.proj(t, all + k)).collect()))
    }

    /// An unbounded loop that does not depend on an enclosing loop may be hoisted out of it. So it
    /// starts as stopped if the enclosing loop has no step that reaches it.
    fn or_not_reached(&mut self, mut left: Term, of: &[Term]) -> Term {
        let leaves = |me: &mut Self, frame: &Frame| match *frame {
            Frame::Loop { var, .. } => vec![me.g.mk(Node::Var(var))],
            Frame::Steps { var, level, .. } => {
                let mut leaves = me.state.steps.get(level).map_or_else(Vec::new, |s| s.carried.clone());
                leaves.push(me.g.mk(Node::Var(var)));
                leaves
            }
            Frame::Guard { .. } => Vec::new(),
        };
        let frames = self.state.frames.clone();
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
            if let Frame::Loop { size, mark, .. } | Frame::Steps { size, mark, .. } = frames[k]
                && !self.g.depends_on(left, &leaves)
                && !self.filled_outside(size, mark)
            {
                left = self.where_filled(left, size);
            }
        }
        left
    }

    /// Runs `f` under the guard that a condition has a value.
    pub(super) fn under<R>(&mut self, cond: Term, holds: bool, f: impl FnOnce(&mut Self) -> R) -> R {
        let mark = self.state.facts.mark();
        self.state.facts.assume(&self.g, cond, holds);
        // Guards that were added after an exit end here too.
        let depth = self.state.frames.len();
        self.state.frames.push(Frame::Guard { cond, holds });
        let result = self.unsure(f);
        self.state.frames.truncate(depth);
        self.state.facts.forget(mark);
        result
    }

    /// Whether every call of the function reaches this point: there is no guard, and every
    /// enclosing loop is known to have a step.
    pub(super) fn unconditional(&self) -> bool {
        self.state.frames.iter().all(|frame| match *frame {
            Frame::Guard { .. } => false,
            Frame::Loop { size, mark, .. } | Frame::Steps { size, mark, .. } => self.filled_outside(size, mark),
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
        if self.g.free(index).is_empty() && self.g.int_value(index).is_none() {
            shown.push(("index".to_string(), index));
        }
        self.require_shown(goal, ok, crate::catalogue::reached::INDEX, shown);
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
    pub(super) fn require_saying(&mut self, ok: Term, words: &Words) {
        if self.g.bool_value(ok) == Some(true) {
            return;
        }
        let debug = std::mem::take(&mut self.state.debug);
        self.check(
            Ok::Term(ok, None, Some(ok)),
            Said { words: words.clone(), shown: Vec::new(), loc: self.state.here, debug },
        );
    }

    /// [`Lower::require`], with sizes to show in the message.
    pub(super) fn require_shown(&mut self, goal: Option<Linear>, ok: Term, message: &str, shown: Vec<(String, Term)>) {
        if self.g.bool_value(ok) == Some(true) {
            return;
        }
        if let Some(goal) = &goal
            && self.state.facts.prove(&self.g, goal)
        {
            return;
        }
        let start = match &goal {
            Some(l) if l.atoms.keys().all(|&t| *self.g.ty(t) == Type::scalar(Elem::USIZE)) => {
                Ok::Linear(l.clone(), Vec::new())
            }
            _ => Ok::Term(ok, None, Some(ok)),
        };
        // A value inside of a loop cannot be shown outside of it.
        let shown = shown.into_iter().filter(|(_, t)| self.g.free(*t).is_empty() && !self.g.is_open(*t)).collect();
        let debug = std::mem::take(&mut self.state.debug);
        self.check(start, Said { words: message.into(), shown, loc: self.state.here, debug });
        // If the check fails there is no result, so the code that follows may rely on it.
        if let Some(goal) = goal {
            self.state.facts.learn(goal);
        }
    }

    /// Adds a check, unless an enclosing loop has to carry it as a flag.
    fn check(&mut self, ok: Ok, said: Said) {
        let Some(closed) = self.close(ok, &said) else { return };
        if self.g.bool_value(closed) == Some(true) || self.state.checks.iter().any(|c| c.ok == closed) {
            return;
        }
        let phase = if self.of_sizes_only(closed) { Phase::Entry } else { Phase::Reached };
        let Said { words, mut shown, loc, debug } = said;
        let format = words.format(|t| self.told(t, closed)).map(|(format, values)| {
            shown.splice(0..0, values.into_iter().map(|t| (String::new(), t)));
            format
        });
        self.state.checks.push(Check { ok: closed, message: words.plain, format, shown, loc, phase, debug });
    }

    /// The condition that `ok` holds in all iterations of the enclosing loops in which the current
    /// point is reached. `None` if it depends on carried values; the recurrence then carries it as
    /// a flag.
    fn close(&mut self, mut ok: Ok, said: &Said) -> Option<Term> {
        let tight = self.tight(&ok);
        for k in (0..self.state.frames.len()).rev() {
            ok = match self.state.frames[k] {
                Frame::Guard { cond, holds } => {
                    let (inner, enough, corner) = match ok {
                        Ok::Linear(l, filled) => {
                            let t = self.linear_term(&l, &filled);
                            (t, Some((l, filled)), Some(t))
                        }
                        Ok::Term(t, enough, corner) => (t, enough, corner),
                    };
                    let yes = self.g.lit_bool(true);
                    let (then, other) = if holds { (inner, yes) } else { (yes, inner) };
                    match self.g.bool_value(cond) {
                        Some(value) if value == holds => Ok::Term(inner, enough, corner),
                        Some(_) => Ok::Term(yes, None, None),
                        None => Ok::Term(self.g.cond(cond, then, other), enough, corner),
                    }
                }
                Frame::Loop { var, size, mark } => self.close_loop(ok, var, size, mark),
                Frame::Steps { var, size, mark, level } => {
                    let carried = self.state.steps.get(level).map_or_else(Vec::new, |s| s.carried.clone());
                    let free = |me: &Self, l: &Linear| !l.atoms.keys().any(|&t| me.g.depends_on(t, &carried));
                    ok = match ok {
                        Ok::Linear(l, filled) if !free(self, &l) => Ok::Term(self.linear_term(&l, &filled), None, None),
                        Ok::Term(t, enough, corner) => Ok::Term(
                            t,
                            enough.filter(|(l, _)| free(self, l)),
                            corner.filter(|&t| !self.g.depends_on(t, &carried)),
                        ),
                        ok => ok,
                    };
                    if let Ok::Term(t, ..) = ok
                        && self.g.depends_on(t, &carried)
                    {
                        if let Some(steps) = self.state.steps.get_mut(level)
                            && !steps.flags.iter().any(|f| f.0 == t)
                        {
                            steps.flags.push((t, said.clone()));
                        }
                        return None;
                    }
                    self.close_loop(ok, var, size, mark)
                }
            };
        }
        Some(match ok {
            Ok::Linear(l, filled) => self.linear_term(&l, &filled),
            Ok::Term(t, ..) if self.of_sizes_only(t) => t,
            Ok::Term(t, enough, corner) => {
                let linear = enough
                    .map(|(l, filled)| self.linear_term(&l, &filled))
                    .filter(|&t| self.g.bool_value(t).is_none() && self.of_sizes_only(t));
                let corner =
                    corner.filter(|&c| c != t && super::corner::may_be_first(&self.g, c, &self.surely_known()));
                match tight.filter(|&c| c != t).or(linear).or(corner) {
                    Some(enough) => {
                        let yes = self.g.lit_bool(true);
                        self.g.cond(enough, yes, t)
                    }
                    None => t,
                }
            }
        })
    }

    /// A condition that implies `ok` in all iterations, by the known bounds of the terms that vary.
    /// It needs no loop. It is used only if there are guards inside of a loop: without guards, a
    /// test of the worst iteration is exact.
    fn tight(&mut self, ok: &Ok) -> Option<Term> {
        let guarded = self.state.frames.iter().position(|f| !matches!(f, Frame::Guard { .. }))?;
        if !self.state.frames[guarded..].iter().any(|f| matches!(f, Frame::Guard { .. })) {
            return None;
        }
        let enough = match ok {
            Ok::Linear(l, _) => match self.closed_least(l) {
                Some(least) => self.linear_term(&least, &[]),
                None => {
                    let t = self.linear_term(l, &[]);
                    self.enough(t)?
                }
            },
            Ok::Term(t, ..) => self.enough(*t)?,
        };
        let known = self.surely_known();
        let first = self.g.bool_value(enough) != Some(false) && super::corner::may_be_first(&self.g, enough, &known);
        first.then_some(enough)
    }

    /// A closed lower bound of a linear form.
    fn closed_least(&mut self, l: &Linear) -> Option<Linear> {
        let g = &self.g;
        self.state.facts.at_least(g, l, &|t| g.free(t).is_empty() && !g.is_open(t))
    }

    /// A closed sufficient condition.
    fn enough(&mut self, t: Term) -> Option<Term> {
        let Node::Prim(prim, args) = self.g.node(t).clone() else {
            return self.g.bool_value(t).map(|_| t);
        };
        match prim {
            Prim::And | Prim::Or => {
                let (a, b) = (self.enough(args[0])?, self.enough(args[1])?);
                Some(if prim == Prim::And { self.g.and(a, b) } else { self.g.or(a, b) })
            }
            Prim::Compare(op @ (Cmp::Lt | Cmp::Le | Cmp::Gt | Cmp::Ge))
                if matches!(self.g.elem(args[0]), Elem::Int(_)) =>
            {
                let less = matches!(op, Cmp::Lt | Cmp::Le);
                let (a, b) = (self.closed_bound(args[0], less)?, self.closed_bound(args[1], !less)?);
                Some(self.g.compare(op, a, b))
            }
            _ => None,
        }
    }

    /// A closed upper (`up`) or lower bound of an integer. All operations are monotone, saturated
    /// or not.
    fn closed_bound(&mut self, t: Term, up: bool) -> Option<Term> {
        if self.g.free(t).is_empty() && !self.g.is_open(t) {
            return Some(t);
        }
        let usize_ty = Type::scalar(Elem::USIZE);
        if *self.g.ty(t) != usize_ty {
            return None;
        }
        let l = self.state.facts.linear(&self.g, t);
        let sign = if up { -1 } else { 1 };
        let turned = l.combine(sign, &Linear::default(), 0)?;
        let parts = l.atoms.keys().all(|&t| *self.g.ty(t) == usize_ty);
        if let Some(least) = self.closed_least(&turned).filter(|_| parts)
            && let Some(bound) = least.combine(sign, &Linear::default(), 0)
            && bound.atoms.keys().all(|&t| *self.g.ty(t) == usize_ty)
        {
            let (plus, minus) = sides(&mut self.g, &bound);
            // If the sum might saturate, the difference could be too small.
            let sum = matches!(self.g.node(plus), Node::Prim(Prim::Int(_), _));
            let exact = !sum || !self.state.facts.linear(&self.g, plus).atoms.contains_key(&plus);
            return Some(if exact || !up { self.g.int(IntOp::Sub, plus, minus) } else { plus });
        }
        let Node::Prim(Prim::Int(op), args) = self.g.node(t).clone() else { return None };
        let other = match op {
            IntOp::Add | IntOp::Mul | IntOp::Min | IntOp::Max => up,
            IntOp::Sub | IntOp::Div => !up,
            _ => return None,
        };
        let (a, b) = (self.closed_bound(args[0], up)?, self.closed_bound(args[1], other)?);
        Some(self.g.int(op, a, b))
    }

    /// The terms in sizes of enclosing loops that are evaluated unconditionally.
    fn surely_known(&self) -> Vec<Term> {
        let sizes = self.state.frames.iter().map_while(|frame| match *frame {
            Frame::Loop { size, .. } | Frame::Steps { size, .. } => Some(size),
            Frame::Guard { .. } => None,
        });
        self.g.reachable(&sizes.collect::<Vec<_>>())
    }

    fn close_loop(&mut self, ok: Ok, var: Var, size: Term, mark: usize) -> Ok {
        match ok {
            Ok::Linear(l, filled) => match self.worst(&l, &filled, var, size, mark) {
                Some((l, filled)) => Ok::Linear(l, filled),
                None => {
                    let t = self.linear_term(&l, &filled);
                    self.close_term(t, Some(t), None, var, size)
                }
            },
            Ok::Term(t, enough, corner) => {
                let enough = enough.and_then(|(l, filled)| self.worst(&l, &filled, var, size, mark));
                self.close_term(t, corner, enough, var, size)
            }
        }
    }

    /// Closes a condition over all values of a loop variable. If the worst value is known, it tests
    /// only that one.
    fn close_term(
        &mut self,
        t: Term,
        corner: Option<Term>,
        enough: Option<(Linear, Vec<Term>)>,
        var: Var,
        size: Term,
    ) -> Ok {
        let exact = corner == Some(t);
        let corner = corner.and_then(|c| {
            let worst = match super::corner::moves(&self.g, c, var)? {
                Moves::Not => return Some(self.where_filled(c, size)),
                Moves::Up => self.g.lit_usize(0),
                Moves::Down => {
                    let one = self.g.lit_usize(1);
                    self.g.int(IntOp::Sub, size, one)
                }
            };
            let c = self.g.subst_vars(c, &[(var, worst)]);
            Some(self.where_filled(c, size))
        });
        match corner {
            Some(c) if exact => Ok::Term(c, enough, Some(c)),
            _ => Ok::Term(self.for_all(t, var, size), enough, corner),
        }
    }

    /// A linear condition holds for all values of a variable if it holds for the worst one.
    fn worst(&mut self, l: &Linear, filled: &[Term], var: Var, size: Term, mark: usize) -> Option<(Linear, Vec<Term>)> {
        let var_term = self.g.mk(Node::Var(var));
        if l.atoms.keys().any(|&t| t != var_term && self.g.mentions(t, var)) {
            return None;
        }
        let c = l.atoms.get(&var_term).copied().unwrap_or(0);
        let minus_var = Linear { constant: 0, atoms: BTreeMap::from([(var_term, 1)]) };
        let last = self.state.facts.linear(&self.g, size).combine(1, &Linear::constant(-1), 1);
        let worst = if c < 0 { last? } else { Linear::default() };
        let rest = l.combine(1, &minus_var, -c)?.combine(1, &worst, c)?;
        let mut filled = filled.to_vec();
        if !self.filled_outside(size, mark) {
            filled.push(size);
        }
        Some((rest, filled))
    }

    fn for_all(&mut self, t: Term, var: Var, size: Term) -> Term {
        if !self.g.mentions(t, var) {
            return self.where_filled(t, size);
        }
        let all = self.g.build(size, var, t);
        self.g.reduce(Reduce::All, 1, all)
    }

    /// Whether a loop is known to have a step, by the facts before it. Facts inside of the loop
    /// always imply this.
    fn filled_outside(&self, size: Term, mark: usize) -> bool {
        let mut outside = self.state.facts.clone();
        outside.forget(mark);
        let below = outside.linear(&self.g, size).combine(1, &Linear::constant(-1), 1);
        below.is_some_and(|l| outside.prove(&self.g, &l))
    }

    fn where_filled(&mut self, t: Term, size: Term) -> Term {
        let zero = self.g.lit_usize(0);
        let empty = self.g.compare(Cmp::Eq, size, zero);
        self.g.or(empty, t)
    }

    /// `l >= 0`, or one of these sizes is 0.
    fn linear_term(&mut self, l: &Linear, filled: &[Term]) -> Term {
        let (plus, minus) = sides(&mut self.g, l);
        let holds = self.g.compare(Cmp::Le, minus, plus);
        filled.iter().fold(holds, |t, &size| self.where_filled(t, size))
    }

    /// Whether a condition can be tested on entry, before anything is computed.
    fn of_sizes_only(&self, t: Term) -> bool {
        let (mut seen, mut stack) = (BTreeSet::new(), vec![t]);
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            let fine = match self.g.node(t) {
                Node::Size(..) | Node::Lit(Lit::Int(..) | Lit::Bool(_)) | Node::Cond { .. } => true,
                Node::Input(_) => matches!(self.g.ty(t), Type::Array(Elem::Int(_), shape) if shape.is_empty()),
                Node::Prim(prim, _) => matches!(
                    prim,
                    Prim::Int(_) | Prim::IntNeg | Prim::Compare(_) | Prim::Not | Prim::And | Prim::Or | Prim::Cast(_)
                ),
                _ => false,
            };
            if !fine {
                return false;
            }
            self.g.node(t).for_each_child(|c| stack.push(c));
        }
        true
    }
}
