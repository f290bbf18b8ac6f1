//! Control flow: branches, early returns, labelled blocks, panics.
//!
//! The core language has no jumps. Each jump out of a block is recorded as an exit: its path
//! condition, the values of the variables, and the value of the jump. The code after a jump is
//! lowered under the guard that no exit was taken. At the end of the block the exits and the
//! fall-through path are merged; they exclude each other. A panic is a check that its path is not
//! taken.
//!
//! Invariant: no term of a path that is not taken reaches the gradient.

use proc_macro2::Ident;
use syn::Expr;

use super::arith::Selection;
use super::lower::Lower;
use super::value::{Lowered, Value};
use crate::translation::cells::{CellValue, Store};
use crate::translation::jumps::{Exit, OuterJump, Recorded, TargetKind};
use ad_ir::analysis::guards::Guard;
use ad_ir::catalogue;
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::Term;

/// The result of lowering one branch.
struct BranchEnd<'a> {
    value: Lowered<Value<'a>>,
    store: Store<'a>,
    reached: bool,
    /// The condition under which a jump left the branch. `None` if no jump did.
    exited: Option<Term>,
}

impl<'a> Lower<'a> {
    /// Lowers both branches from the current state and merges the states after them.
    pub(super) fn branch(
        &mut self,
        cond: Term,
        then: impl FnOnce(&mut Self) -> Lowered<Value<'a>>,
        other: impl FnOnce(&mut Self) -> Lowered<Value<'a>>,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let (before, reached) = (self.state.cells.store().clone(), self.state.jumps.reachable());
        let a = self.arm(cond, true, then);
        self.state.cells.go_to(before);
        self.state.jumps.set_reachable(reached);
        let b = self.arm(cond, false, other);
        self.state.jumps.set_reachable(reached && (a.reached || b.reached));
        let store = match (a.reached, b.reached) {
            (true, false) => a.store,
            (false, true) => b.store,
            _ => self.merge(cond, &a.store, &b.store, range),
        };
        self.state.cells.go_to(store);
        self.guard_after_branch(cond, [(a.reached, a.exited), (b.reached, b.exited)]);
        match (a.reached, b.reached) {
            (true, false) => b.value.and(a.value),
            (false, true) => a.value.and(b.value),
            (false, false) => a.value.and(b.value).map(|_| Value::Never),
            (true, true) => {
                let (a, b) = (a.value?, b.value?);
                self.join(Selection { cond, strict: false }, &a, &b, range)
            }
        }
    }

    fn arm(&mut self, cond: Term, holds: bool, f: impl FnOnce(&mut Self) -> Lowered<Value<'a>>) -> BranchEnd<'a> {
        let (depth, cells, exits, outside) = (
            self.state.enclosing.depth(),
            self.state.cells.len(),
            self.state.jumps.exit_count(),
            self.state.jumps.reachable(),
        );
        // A branch that is known not to be taken is lowered for its errors only.
        let never = self.g.bool_value(cond) == Some(!holds);
        self.state.jumps.set_reachable(outside && !never);
        let (value, exited) = self.under(cond, holds, |me| {
            let value = f(me);
            let left = me.state.jumps.exit_count() > exits;
            let exited = if left { me.negated_path(depth + 1) } else { None };
            (value, exited)
        });
        let mut store = self.state.cells.store().clone();
        store.truncate(cells);
        let reached = self.state.jumps.reachable();
        // True if the branch ends by a jump. A branch that only panics needs no guard, since a
        // check already states that it is not taken.
        let left = self.state.jumps.exit_count() > exits;
        let exited = if !reached && left { Some(self.g.lit_bool(true)) } else { exited };
        self.state.jumps.set_reachable(outside);
        BranchEnd { value, store, reached, exited }
    }

    /// Guards the code after a conditional: it is reached if neither branch was left by a jump.
    fn guard_after_branch(&mut self, cond: Term, arms: [(bool, Option<Term>); 2]) {
        let [(a_reached, a), (b_reached, b)] = arms;
        if !a_reached && !b_reached {
            self.diverge();
            return;
        }
        let (all, false_) = (self.g.lit_bool(true), self.g.lit_bool(false));
        let known = |g: &ad_ir::ir::Graph, t: Option<Term>| t.map_or(Some(false), |t| g.bool_value(t));
        match (known(&self.g, a), known(&self.g, b)) {
            (Some(false), Some(false)) => {
                // One branch panics, so its condition is known not to hold afterwards.
                match (a_reached, b_reached) {
                    (false, true) => self.state.facts.assume(&self.g, cond, false),
                    (true, false) => self.state.facts.assume(&self.g, cond, true),
                    _ => {}
                }
            }
            (Some(true), Some(false)) => self.guard(cond, false),
            (Some(false), Some(true)) => self.guard(cond, true),
            _ => {
                let (a, b) = (a.unwrap_or(false_), b.unwrap_or(false_));
                let exited = if a == all && b == all { all } else { self.g.cond(cond, a, b) };
                self.guard(exited, false);
            }
        }
    }

    /// Assumes that a condition has this value until the end of the enclosing construct.
    fn guard(&mut self, cond: Term, holds: bool) {
        self.state.facts.assume(&self.g, cond, holds);
        self.state.jumps.note_guard(self.g.len());
        self.state.enclosing.guard(cond, holds);
    }

    /// Marks the code that follows as unreachable.
    fn diverge(&mut self) {
        self.state.jumps.set_reachable(false);
        let no = self.g.lit_bool(false);
        self.state.enclosing.guard(no, true);
    }

    /// A condition: the current point is not reached.
    pub(super) fn path_not_taken(&mut self) -> Term {
        match self.negated_path(0) {
            Some(not) => not,
            None => self.g.lit_bool(false),
        }
    }

    /// A condition: at least one guard from `depth` inwards does not hold. `None` if there are no
    /// guards.
    pub(super) fn negated_path(&mut self, depth: usize) -> Option<Term> {
        let path = self.state.enclosing.guards_from(depth);
        if path.is_empty() {
            return None;
        }
        let all = self.conjunction(&path);
        Some(self.g.not(all))
    }

    /// A short-circuit conjunction: a condition is evaluated only if all earlier ones hold.
    fn conjunction(&mut self, path: &[Guard]) -> Term {
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

    /// Lowers the body of a function or closure with its `return`s.
    pub(super) fn returning(
        &mut self,
        range: SrcRange,
        f: impl FnOnce(&mut Self) -> Lowered<Value<'a>>,
    ) -> Lowered<Value<'a>> {
        self.target((TargetKind::Function, Vec::new()), None, range, f)
    }

    /// Lowers a block with a label.
    pub(super) fn labelled(&mut self, b: &'a syn::ExprBlock) -> Lowered<Value<'a>> {
        let label = b.label.as_ref().map(|l| l.name.ident.to_string());
        let range = SrcRange::of(&b.label);
        self.target((TargetKind::Block, Vec::new()), label, range, |me| me.block(&b.block))
    }

    /// Lowers a loop. `f` lowers the steps, and receives the index of the loop's target.
    pub(super) fn loop_target<R>(&mut self, label: Option<String>, f: impl FnOnce(&mut Self, usize) -> R) -> R {
        let depths = (self.state.enclosing.depth(), self.state.cells.len());
        let at = self.state.jumps.enter_loop(label, depths);
        let result = f(self, at);
        self.state.jumps.leave_loop(at);
        result
    }

    /// Lowers a step of the innermost loop.
    pub(super) fn step_target(
        &mut self,
        outer_jumps: Vec<OuterJump>,
        range: SrcRange,
        f: impl FnOnce(&mut Self) -> Lowered<Value<'a>>,
    ) -> Lowered<Value<'a>> {
        let outside = self.state.jumps.reachable();
        let value = self.target((TargetKind::Step, outer_jumps), None, range, f);
        // The loop may have no steps, so the code after it is reachable.
        self.state.jumps.set_reachable(outside);
        value
    }

    fn target(
        &mut self,
        (kind, outer_jumps): (TargetKind, Vec<OuterJump>),
        label: Option<String>,
        range: SrcRange,
        f: impl FnOnce(&mut Self) -> Lowered<Value<'a>>,
    ) -> Lowered<Value<'a>> {
        let (frames, cells, outside, outer_exits) = (
            self.state.enclosing.depth(),
            self.state.cells.len(),
            self.state.jumps.reachable(),
            self.state.jumps.exit_count(),
        );
        let mark = self.state.facts.mark();
        let outer = self.state.jumps.enter((kind, outer_jumps), label, (frames, cells));
        let value = f(self);
        let Recorded { exits, after_jump: guarded } = self.state.jumps.leave(outer);
        if exits.is_empty() {
            // There are no exits, so the facts at the end of the block hold after it.
            self.state.cells.truncate(cells);
            if matches!(kind, TargetKind::Function | TargetKind::Step) {
                self.state.enclosing.leave_to(frames);
                self.state.facts.forget(mark);
                self.state.jumps.set_reachable(outside);
            }
            // This is conservative: if the code after the block has the same guards, a shorter
            // range would do.
            guarded.into_iter().for_each(|start| self.maybe_unreached_since(start));
            return value;
        }
        let falls = self.state.jumps.reachable().then(|| self.state.enclosing.guards_from(frames));
        let left = self.state.jumps.exit_count() > outer_exits;
        self.state.enclosing.leave_to(frames);
        self.state.facts.forget(mark);
        self.state.jumps.set_reachable(outside);
        guarded.into_iter().for_each(|start| self.maybe_unreached_since(start));
        let value = value?;
        let mut exits: Vec<Exit> = exits;
        if let Some(path) = falls {
            exits.push(Exit { path, store: self.state.cells.store().clone(), value });
        }
        for exit in &mut exits {
            exit.store.truncate(cells);
        }
        if left {
            // Some paths jump to an outer target, so the code after this block needs a guard.
            let false_ = self.g.lit_bool(false);
            let mut any_taken = false_;
            for exit in exits.iter().rev() {
                let taken = self.conjunction(&exit.path);
                let yes = self.g.lit_bool(true);
                any_taken = if any_taken == false_ { taken } else { self.g.cond(taken, yes, any_taken) };
            }
            self.guard(any_taken, true);
        }
        self.merge_exits(exits, range)
    }

    /// Merges exits that exclude each other. The last one needs no condition of its own.
    fn merge_exits(&mut self, exits: Vec<Exit<'a>>, range: SrcRange) -> Lowered<Value<'a>> {
        // The conditions of earlier exits are known to be false here.
        let mut known: Vec<Guard> = Vec::new();
        let mut conds = Vec::new();
        for exit in &exits {
            let whole = self.conjunction(&exit.path);
            let rest: Vec<Guard> = exit.path.iter().copied().filter(|l| !known.contains(l)).collect();
            conds.push(self.conjunction(&rest));
            match &exit.path[..] {
                [(cond, holds)] => known.push((*cond, !holds)),
                _ => known.push((whole, false)),
            }
            known.extend(rest.split_last().filter(|(_, before)| before.is_empty()).map(|(l, _)| (l.0, !l.1)));
        }
        let mut exits = exits.into_iter().zip(conds).rev();
        let Some((last, _)) = exits.next() else { return Ok(Value::Never) };
        let (mut store, mut value) = (last.store, Ok(last.value));
        for (exit, cond) in exits {
            store = self.merge(cond, &exit.store, &store, range);
            value = match self.g.bool_value(cond) {
                Some(true) => Ok(exit.value),
                Some(false) => value,
                None => value.and_then(|v| self.join(Selection { cond, strict: false }, &exit.value, &v, range)),
            };
        }
        self.state.cells.go_to(store);
        value
    }

    /// Lowers `return`.
    pub(super) fn return_expr(&mut self, r: &'a syn::ExprReturn) -> Lowered<Value<'a>> {
        let value = match &r.expr {
            Some(e) => self.moved(e)?,
            None => Value::Unit,
        };
        let Some(k) = self.state.jumps.function_around() else {
            return Err(
                self.error(SrcRange::of(r), catalogue::internal("the front end", "a `return` outside of a function"))
            );
        };
        // The result type of the differentiated function itself is known.
        let value = match (&value, &r.expr) {
            (Value::Number(n), Some(e)) if k == 0 && n.outer().is_none() => match self.input.sig().result_elem() {
                Some(elem) => Value::Term(self.term_as(&value, super::value::Want::Elem(elem), SrcRange::of(e))?),
                None => value,
            },
            _ => value,
        };
        self.exit(k, value, SrcRange::of(r))
    }

    /// Lowers `break`, with or without a label and a value.
    pub(super) fn break_expr(&mut self, b: &'a syn::ExprBreak) -> Lowered<Value<'a>> {
        let value = match &b.expr {
            Some(e) => self.expr(e)?,
            None => Value::Unit,
        };
        let k = match &b.label {
            Some(label) => self.find_label(&label.ident)?,
            None => match self.state.jumps.innermost_loop() {
                Some(k) => k,
                None => return Err(self.error(SrcRange::of(b), catalogue::break_outside("break"))),
            },
        };
        self.exit(k, value, SrcRange::of(b))
    }

    /// Lowers `continue`.
    pub(super) fn continue_expr(&mut self, c: &'a syn::ExprContinue) -> Lowered<Value<'a>> {
        let k = match &c.label {
            Some(label) => Some(self.find_label(&label.ident)?).filter(|&k| self.state.jumps.is_loop(k)),
            None => self.state.jumps.innermost_loop(),
        };
        match k {
            // The target of a loop's step follows that of the loop in the list.
            Some(k) => self.exit(k + 1, Value::Unit, SrcRange::of(c)),
            None => Err(self.error(SrcRange::of(c), catalogue::break_outside("continue"))),
        }
    }

    fn find_label(&mut self, label: &Ident) -> Lowered<usize> {
        let name = label.to_string();
        match self.state.jumps.label_at(&name) {
            Some(k) => Ok(k),
            None => {
                let near = ad_ir::diag::suggest(&name, self.state.jumps.labels()).map(|near| format!("'{near}"));
                Err(self.error(SrcRange::of(label), catalogue::unknown_label(&name, near.as_deref())))
            }
        }
    }

    /// Records a jump that leaves target `k` with a value. A jump out of a loop ends the step, and
    /// the loop carries the flag and the value.
    pub(super) fn exit(&mut self, k: usize, value: Value<'a>, range: SrcRange) -> Lowered<Value<'a>> {
        if self.state.jumps.reachable() {
            let (from, value) = match self.state.jumps.step_left(k) {
                None => (k, value),
                Some((step, leave)) => {
                    let Some(leave) = leave.cloned() else {
                        let what = "a jump out of a loop that was not foreseen";
                        return Err(self.error(range, catalogue::internal("the front end", what)));
                    };
                    let yes = self.g.lit_bool(true);
                    self.state.cells.put(leave.flag, CellValue::Value(Value::Term(yes)));
                    self.state.cells.put(leave.value, CellValue::Value(value));
                    for (own, kept) in leave.assigned_inside {
                        if let Some(CellValue::Value(value)) = self.state.cells.held(own).cloned() {
                            self.state.cells.put(kept, CellValue::Value(value));
                        }
                    }
                    for cell in leave.dead {
                        self.state.cells.put(cell, CellValue::Value(Value::Never));
                    }
                    (step, Value::Unit)
                }
            };
            let at = self.state.jumps.recorder(from);
            let path = self.state.enclosing.guards_from(at.frames);
            let mut store = self.state.cells.store().clone();
            store.truncate(at.cells);
            self.state.jumps.record(&at, Exit { path, store, value });
        }
        self.diverge();
        Ok(Value::Never)
    }

    /// Lowers `panic!` and similar macros: a check that this point is not reached.
    pub(super) fn panic(&mut self, said: &super::panic_messages::PanicMessage) -> Value<'a> {
        let no = self.g.lit_bool(false);
        self.require_with_message(no, said);
        self.diverge();
        Value::Never
    }

    /// Lowers `if`, with or without `else`.
    pub(super) fn if_expr(&mut self, i: &'a syn::ExprIf) -> Lowered<Value<'a>> {
        let range = SrcRange::of(&i.if_token);
        let cond_range = SrcRange::of(&i.cond);
        if let Expr::Let(l) = &*i.cond {
            return self.if_let(l, &i.then_branch, i.else_branch.as_ref().map(|e| &*e.1));
        }
        let outer = self.state.names.scope();
        let cond = match super::pattern::is_chain(&i.cond) {
            true => self.chain(&i.cond),
            false => self.expr(&i.cond).and_then(|v| self.boolean(&v, cond_range)),
        };
        let Ok(cond) = cond else {
            // The branches may contain further errors.
            let _ = self.block(&i.then_branch);
            self.state.names.back_to(outer);
            if let Some((_, other)) = &i.else_branch {
                let _ = self.expr(other);
            }
            return Err(Poison);
        };
        self.at_syntax(&i.cond, |me| {
            me.branch(
                cond,
                |me| {
                    let then = me.block(&i.then_branch);
                    me.state.names.back_to(outer);
                    then
                },
                |me| match &i.else_branch {
                    Some((_, other)) => me.expr(other),
                    None => Ok(Value::Unit),
                },
                range,
            )
        })
    }

    /// Lowers `a && b` and `a || b`. The right operand is evaluated only if the left one does not
    /// decide the result.
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
