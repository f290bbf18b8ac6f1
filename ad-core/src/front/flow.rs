//! Where control goes: arms, early returns, blocks that are left by their label, panics.
//!
//! Nothing jumps in the core language. A way out of a block is kept as an exit: the conditions on the path that leads there, what the
//! variables hold, and the value. What follows in the text is lowered under a guard that no exit was taken, and where the block ends
//! the exits, which exclude each other, meet what falls through to the end. A panic has no place to go to: it is a check that its
//! path is not taken. What must never happen: that a term of a path that is not taken reaches the gradient.

use proc_macro2::Ident;
use syn::Expr;

use super::arith::Join;
use super::checks::Frame;
use super::lower::Lower;
use super::outward::Jump;
use super::state::{Cell, Held, Store};
use super::value::{Lowered, Value};
use crate::catalogue;
use crate::diag::{Poison, SrcRange};
use crate::ir::Term;

/// A condition and the value it has.
type Literal = (Term, bool);

/// Something that can be left before its end.
#[derive(Clone, Debug)]
pub(super) struct Target<'a> {
    kind: Kind,
    label: Option<String>,
    /// How many frames and cells there were outside.
    frames: usize,
    cells: usize,
    exits: Vec<Exit<'a>>,
    /// Of a step: what further outside may be left from in it.
    leaves: Vec<Leave>,
}

/// A jump out of a loop: the step is left, and the loop carries that it was, and with what.
#[derive(Clone, Debug)]
pub(super) struct Leave {
    /// What is left: a place among the targets.
    pub target: usize,
    /// Whether it was.
    pub flag: Cell,
    pub value: Cell,
    /// Variables that held nothing before the loop, and what they hold where it was left.
    pub others: Vec<(Cell, Cell)>,
    /// Variables that nobody looks at any more, since the function is left.
    pub forgotten: Vec<Cell>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A function or closure: by `return`.
    Function,
    /// A block with a label: by `break 'label`.
    Block,
    /// A loop: by `break`. Always from a step of it, so it has no exits of its own.
    Loop,
    /// A step of a loop: by `continue`, and on the way to anything further outside.
    Step,
}

/// A way out.
#[derive(Clone, Debug)]
struct Exit<'a> {
    /// The conditions, from the outside in.
    path: Vec<Literal>,
    store: Store<'a>,
    value: Value<'a>,
}

/// How an arm ended.
struct Arm<'a> {
    value: Lowered<Value<'a>>,
    store: Store<'a>,
    reached: bool,
    /// Under which conditions it was left before its end, if it was.
    gone: Option<Term>,
}

impl<'a> Lower<'a> {
    /// A conditional: both arms from what holds now, and what holds afterwards.
    pub(super) fn branch(
        &mut self,
        cond: Term,
        then: impl FnOnce(&mut Self) -> Lowered<Value<'a>>,
        other: impl FnOnce(&mut Self) -> Lowered<Value<'a>>,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let (before, reached) = (self.state.store.clone(), self.state.reached);
        let a = self.arm(cond, true, then);
        (self.state.store, self.state.reached) = (before, reached);
        let b = self.arm(cond, false, other);
        self.state.reached = reached && (a.reached || b.reached);
        self.state.store = match (a.reached, b.reached) {
            (true, false) => a.store,
            (false, true) => b.store,
            _ => self.merge(cond, &a.store, &b.store, range),
        };
        self.leave(cond, [(a.reached, a.gone), (b.reached, b.gone)]);
        match (a.reached, b.reached) {
            (true, false) => b.value.and(a.value),
            (false, true) => a.value.and(b.value),
            (false, false) => a.value.and(b.value).map(|_| Value::Never),
            (true, true) => {
                let (a, b) = (a.value?, b.value?);
                self.join(Join { cond, strict: false }, &a, &b, range)
            }
        }
    }

    fn arm(&mut self, cond: Term, holds: bool, f: impl FnOnce(&mut Self) -> Lowered<Value<'a>>) -> Arm<'a> {
        let (depth, cells, exits, outside) =
            (self.state.frames.len(), self.state.store.len(), self.exits(), self.state.reached);
        // An arm that is known not to be taken is lowered for its errors.
        let never = self.g.bool_value(cond) == Some(!holds);
        self.state.reached &= !never;
        let (value, gone) = self.under(cond, holds, |me| {
            let value = f(me);
            let left = me.exits() > exits;
            let gone = if left { me.negated_path(depth + 1) } else { None };
            (value, gone)
        });
        let mut store = self.state.store.clone();
        store.truncate(cells);
        let reached = self.state.reached;
        // Whether it ended by a panic and nothing else: then a check says that it is not taken.
        let left = self.exits() > exits;
        let gone = if !reached && left { Some(self.g.lit_bool(true)) } else { gone };
        self.state.reached = outside;
        Arm { value, store, reached, gone }
    }

    /// What follows a conditional is reached where neither arm was left.
    fn leave(&mut self, cond: Term, arms: [(bool, Option<Term>); 2]) {
        let [(a_reached, a), (b_reached, b)] = arms;
        if !a_reached && !b_reached {
            self.diverge();
            return;
        }
        let (all, none) = (self.g.lit_bool(true), self.g.lit_bool(false));
        let known = |g: &crate::ir::Graph, t: Option<Term>| t.map_or(Some(false), |t| g.bool_value(t));
        match (known(&self.g, a), known(&self.g, b)) {
            (Some(false), Some(false)) => {
                // A panic in an arm: what follows may rely on its not being taken.
                match (a_reached, b_reached) {
                    (false, true) => self.state.facts.assume(&self.g, cond, false),
                    (true, false) => self.state.facts.assume(&self.g, cond, true),
                    _ => {}
                }
            }
            (Some(true), Some(false)) => self.guard(cond, false),
            (Some(false), Some(true)) => self.guard(cond, true),
            _ => {
                let (a, b) = (a.unwrap_or(none), b.unwrap_or(none));
                let gone = if a == all && b == all { all } else { self.g.cond(cond, a, b) };
                self.guard(gone, false);
            }
        }
    }

    /// From here on, to the end of what is around, a condition has this value.
    fn guard(&mut self, cond: Term, holds: bool) {
        self.state.facts.assume(&self.g, cond, holds);
        self.state.left.get_or_insert(self.g.len());
        self.state.frames.push(Frame::Guard { cond, holds });
    }

    /// Nothing that follows is reached.
    fn diverge(&mut self) {
        self.state.reached = false;
        let no = self.g.lit_bool(false);
        self.state.frames.push(Frame::Guard { cond: no, holds: true });
    }

    /// How many exits have been found from what is open.
    fn exits(&self) -> usize {
        self.state.targets.iter().map(|t| t.exits.len()).sum()
    }

    /// The conditions since a depth.
    fn conditions(&self, depth: usize) -> Vec<Literal> {
        let guards = self.state.frames.iter().skip(depth);
        guards
            .filter_map(|f| match f {
                Frame::Guard { cond, holds } => Some((*cond, *holds)),
                Frame::Loop { .. } | Frame::Steps { .. } => None,
            })
            .collect()
    }

    /// That the place is not reached, by all conditions around it.
    pub(super) fn path_not_taken(&mut self) -> Term {
        match self.negated_path(0) {
            Some(not) => not,
            None => self.g.lit_bool(false),
        }
    }

    /// That one of the conditions since a depth does not hold; `None` if there are none.
    fn negated_path(&mut self, depth: usize) -> Option<Term> {
        let path = self.conditions(depth);
        if path.is_empty() {
            return None;
        }
        let all = self.conjunction(&path);
        Some(self.g.not(all))
    }

    /// Lazily: a condition is looked at where those before it hold.
    fn conjunction(&mut self, path: &[Literal]) -> Term {
        let mut all = self.g.lit_bool(true);
        for &(cond, holds) in path.iter().rev() {
            let no = self.g.lit_bool(false);
            all = match (self.g.bool_value(cond), self.g.bool_value(all), holds) {
                (Some(value), _, _) if value == holds => all,
                (Some(_), _, _) => no,
                (None, Some(true), true) => cond,
                (None, Some(true), false) => self.g.not(cond),
                (None, _, true) => self.g.cond(cond, all, no),
                (None, _, false) => self.g.cond(cond, no, all),
            };
        }
        all
    }

    /// The body of a function or closure, with its `return`s.
    pub(super) fn returning(
        &mut self,
        range: SrcRange,
        f: impl FnOnce(&mut Self) -> Lowered<Value<'a>>,
    ) -> Lowered<Value<'a>> {
        self.target((Kind::Function, Vec::new()), None, range, f)
    }

    /// A block with a label.
    pub(super) fn labelled(&mut self, b: &'a syn::ExprBlock) -> Lowered<Value<'a>> {
        let label = b.label.as_ref().map(|l| l.name.ident.to_string());
        let range = SrcRange::of(&b.label);
        self.target((Kind::Block, Vec::new()), label, range, |me| me.block(&b.block))
    }

    /// A loop, in which `f` lowers the steps; given its place among the targets.
    pub(super) fn loop_target<R>(&mut self, label: Option<String>, f: impl FnOnce(&mut Self, usize) -> R) -> R {
        let at = self.state.targets.len();
        let (frames, cells) = (self.state.frames.len(), self.state.store.len());
        self.state.targets.push(Target {
            kind: Kind::Loop,
            label,
            frames,
            cells,
            exits: Vec::new(),
            leaves: Vec::new(),
        });
        let result = f(self, at);
        self.state.targets.truncate(at);
        result
    }

    /// A step of the innermost loop.
    pub(super) fn step_target(
        &mut self,
        leaves: Vec<Leave>,
        range: SrcRange,
        f: impl FnOnce(&mut Self) -> Lowered<Value<'a>>,
    ) -> Lowered<Value<'a>> {
        let outside = self.state.reached;
        let value = self.target((Kind::Step, leaves), None, range, f);
        // A loop may have no steps.
        self.state.reached = outside;
        value
    }

    fn target(
        &mut self,
        (kind, leaves): (Kind, Vec<Leave>),
        label: Option<String>,
        range: SrcRange,
        f: impl FnOnce(&mut Self) -> Lowered<Value<'a>>,
    ) -> Lowered<Value<'a>> {
        let (frames, cells, outside, outer_exits) =
            (self.state.frames.len(), self.state.store.len(), self.state.reached, self.exits());
        let mark = self.state.facts.mark();
        self.state.targets.push(Target { kind, label, frames, cells, exits: Vec::new(), leaves });
        let before = self.state.left.take();
        let value = f(self);
        let guarded = std::mem::replace(&mut self.state.left, before);
        let exits = self.state.targets.pop().map_or_else(Vec::new, |t| t.exits);
        if exits.is_empty() {
            // What holds at the end holds behind it too.
            self.state.store.truncate(cells);
            if matches!(kind, Kind::Function | Kind::Step) {
                self.state.frames.truncate(frames);
                self.state.facts.forget(mark);
                self.state.reached = outside;
            }
            // Longer than need be, if what is behind is under the same guards.
            guarded.into_iter().for_each(|start| self.unsure_since(start));
            return value;
        }
        let falls = self.state.reached.then(|| self.conditions(frames));
        let left = self.exits() > outer_exits;
        self.state.frames.truncate(frames);
        self.state.facts.forget(mark);
        self.state.reached = outside;
        guarded.into_iter().for_each(|start| self.unsure_since(start));
        let value = value?;
        let mut ways: Vec<Exit> = exits;
        if let Some(path) = falls {
            ways.push(Exit { path, store: self.state.store.clone(), value });
        }
        for way in &mut ways {
            way.store.truncate(cells);
        }
        if left {
            // Some paths go further out: what follows is not reached there.
            let none = self.g.lit_bool(false);
            let mut stays = none;
            for way in ways.iter().rev() {
                let taken = self.conjunction(&way.path);
                let yes = self.g.lit_bool(true);
                stays = if stays == none { taken } else { self.g.cond(taken, yes, stays) };
            }
            self.guard(stays, true);
        }
        self.meet_ways(ways, range)
    }

    /// One of several ways that exclude each other was taken: the last if none of the others was.
    fn meet_ways(&mut self, ways: Vec<Exit<'a>>, range: SrcRange) -> Lowered<Value<'a>> {
        // That an earlier way was not taken need not be asked again.
        let mut known: Vec<Literal> = Vec::new();
        let mut conds = Vec::new();
        for way in &ways {
            let whole = self.conjunction(&way.path);
            let rest: Vec<Literal> = way.path.iter().copied().filter(|l| !known.contains(l)).collect();
            conds.push(self.conjunction(&rest));
            match &way.path[..] {
                [(cond, holds)] => known.push((*cond, !holds)),
                _ => known.push((whole, false)),
            }
            known.extend(rest.split_last().filter(|(_, before)| before.is_empty()).map(|(l, _)| (l.0, !l.1)));
        }
        let mut ways = ways.into_iter().zip(conds).rev();
        let Some((last, _)) = ways.next() else { return Ok(Value::Never) };
        let (mut store, mut value) = (last.store, Ok(last.value));
        for (way, cond) in ways {
            store = self.merge(cond, &way.store, &store, range);
            value = match self.g.bool_value(cond) {
                Some(true) => Ok(way.value),
                Some(false) => value,
                None => value.and_then(|v| self.join(Join { cond, strict: false }, &way.value, &v, range)),
            };
        }
        self.state.store = store;
        value
    }

    /// `return`.
    pub(super) fn return_expr(&mut self, r: &'a syn::ExprReturn) -> Lowered<Value<'a>> {
        let value = match &r.expr {
            Some(e) => self.moved(e)?,
            None => Value::Unit,
        };
        let Some(k) = self.function_around() else {
            return Err(
                self.error(SrcRange::of(r), catalogue::internal("the front end", "a `return` outside of a function"))
            );
        };
        // Of the function itself the type is known.
        let value = match (&value, &r.expr) {
            (Value::Number(n), Some(e)) if k == 0 && n.outer().is_none() => {
                let want = super::value::Want::Elem(self.sig.result.elem);
                Value::Term(self.term_as(&value, want, SrcRange::of(e))?)
            }
            _ => value,
        };
        self.exit(k, value, SrcRange::of(r))
    }

    /// `break`, with a label and a value or without.
    pub(super) fn break_expr(&mut self, b: &'a syn::ExprBreak) -> Lowered<Value<'a>> {
        let value = match &b.expr {
            Some(e) => self.expr(e)?,
            None => Value::Unit,
        };
        let k = match &b.label {
            Some(label) => self.find_label(&label.ident)?,
            None => match self.innermost_loop() {
                Some(k) => k,
                None => return Err(self.error(SrcRange::of(b), catalogue::break_outside("break"))),
            },
        };
        self.exit(k, value, SrcRange::of(b))
    }

    /// `continue`.
    pub(super) fn continue_expr(&mut self, c: &'a syn::ExprContinue) -> Lowered<Value<'a>> {
        let k = match &c.label {
            Some(label) => Some(self.find_label(&label.ident)?).filter(|&k| self.state.targets[k].kind == Kind::Loop),
            None => self.innermost_loop(),
        };
        match k {
            // The step of a loop stands behind it.
            Some(k) => self.exit(k + 1, Value::Unit, SrcRange::of(c)),
            None => Err(self.error(SrcRange::of(c), catalogue::break_outside("continue"))),
        }
    }

    /// Whether a target is the function or closure, so that no variable of it is looked at any more.
    pub(super) fn leaves_function(&self, k: usize) -> bool {
        self.state.targets.get(k).is_some_and(|t| t.kind == Kind::Function)
    }

    /// The function or closure around the place.
    fn function_around(&self) -> Option<usize> {
        self.state.targets.iter().rposition(|t| t.kind == Kind::Function)
    }

    pub(super) fn innermost_loop(&self) -> Option<usize> {
        let function = self.function_around().unwrap_or(0);
        self.state.targets.iter().rposition(|t| t.kind == Kind::Loop).filter(|&k| k > function)
    }

    fn label_at(&self, name: &str) -> Option<usize> {
        let function = self.function_around().unwrap_or(0);
        let mut inside = self.state.targets.iter().enumerate().skip(function).rev();
        inside.find(|(_, t)| t.label.as_deref() == Some(name)).map(|(k, _)| k)
    }

    fn find_label(&mut self, label: &Ident) -> Lowered<usize> {
        let name = label.to_string();
        match self.label_at(&name) {
            Some(k) => Ok(k),
            None => {
                let labels: Vec<String> = self.state.targets.iter().filter_map(|t| t.label.clone()).collect();
                let near =
                    crate::diag::suggest(&name, labels.iter().map(String::as_str)).map(|near| format!("'{near}"));
                Err(self.error(SrcRange::of(label), catalogue::unknown_label(&name, near.as_deref())))
            }
        }
    }

    /// The target of a jump out of the loop at `own`, unless it is a next step of that loop or an error.
    pub(super) fn jump_target(&self, jump: &Jump, own: usize) -> Option<usize> {
        match jump {
            Jump::Break(None) => Some(own),
            Jump::Break(Some(label)) => self.label_at(label),
            Jump::Continue(label) => self.label_at(label).filter(|&k| k != own).map(|k| k + 1),
            Jump::Return => self.function_around(),
        }
    }

    /// Leaves a target with a value. Out of a loop: leaves the step, and the loop carries the rest.
    pub(super) fn exit(&mut self, k: usize, value: Value<'a>, range: SrcRange) -> Lowered<Value<'a>> {
        if self.state.reached {
            let step = self.state.targets.iter().enumerate().skip(k + 1).rev().find(|(_, t)| t.kind == Kind::Step);
            let (from, value) = match step {
                None => (k, value),
                Some((step, t)) => {
                    let Some(leave) = t.leaves.iter().find(|l| l.target == k).cloned() else {
                        let what = "a jump out of a loop that was not foreseen";
                        return Err(self.error(range, catalogue::internal("the front end", what)));
                    };
                    let yes = self.g.lit_bool(true);
                    self.state.store.put(leave.flag, Held::Value(Value::Term(yes)));
                    self.state.store.put(leave.value, Held::Value(value));
                    for (own, kept) in leave.others {
                        if let Some(Held::Value(value)) = self.state.store.held(own).cloned() {
                            self.state.store.put(kept, Held::Value(value));
                        }
                    }
                    for cell in leave.forgotten {
                        self.state.store.put(cell, Held::Value(Value::Never));
                    }
                    (step, Value::Unit)
                }
            };
            let path = self.conditions(self.state.targets[from].frames);
            let mut store = self.state.store.clone();
            store.truncate(self.state.targets[from].cells);
            self.state.targets[from].exits.push(Exit { path, store, value });
        }
        self.diverge();
        Ok(Value::Never)
    }

    /// `panic!` and what is like it: a check that this place is not reached.
    pub(super) fn panic(&mut self, said: &super::words::Words) -> Value<'a> {
        let no = self.g.lit_bool(false);
        self.require_saying(no, said);
        self.diverge();
        Value::Never
    }

    /// `if`, with or without `else`.
    pub(super) fn if_expr(&mut self, i: &'a syn::ExprIf) -> Lowered<Value<'a>> {
        let range = SrcRange::of(&i.if_token);
        let cond_range = SrcRange::of(&i.cond);
        if let Expr::Let(l) = &*i.cond {
            return self.if_let(l, &i.then_branch, i.else_branch.as_ref().map(|e| &*e.1));
        }
        let cond = self.expr(&i.cond).and_then(|v| self.boolean(&v, cond_range));
        let Ok(cond) = cond else {
            // The arms may have errors of their own.
            let _ = self.block(&i.then_branch);
            if let Some((_, other)) = &i.else_branch {
                let _ = self.expr(other);
            }
            return Err(Poison);
        };
        self.at(&i.cond, |me| {
            me.branch(
                cond,
                |me| me.block(&i.then_branch),
                |me| match &i.else_branch {
                    Some((_, other)) => me.expr(other),
                    None => Ok(Value::Unit),
                },
                range,
            )
        })
    }

    /// `a && b` and `a || b`: what stands on the right is only reached if the left does not decide.
    pub(super) fn shortcut(
        &mut self,
        left: Term,
        and: bool,
        right: impl FnOnce(&mut Self) -> Lowered<Value<'a>>,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let mut found = None;
        let run = |me: &mut Self| {
            let value = right(me)?;
            if !matches!(value, Value::Never) {
                found = Some(me.boolean(&value, range)?);
            }
            Ok(Value::Unit)
        };
        let skip = |_: &mut Self| Ok(Value::Unit);
        if and {
            self.branch(left, run, skip, range)?;
        } else {
            self.branch(left, skip, run, range)?;
        }
        Ok(Value::Term(match found {
            Some(right) if and => self.g.and(left, right),
            Some(right) => self.g.or(left, right),
            None => self.g.lit_bool(!and),
        }))
    }
}
