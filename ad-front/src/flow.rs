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
use super::checks::Frame;
use super::loop_effects::Jump;
use super::lower::Lower;
use super::state::{Cell, CellValue, Store};
use super::value::{Lowered, Value};
use ad_ir::analysis::guards::Guard;
use ad_ir::catalogue;
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::Term;

/// A construct that a jump can leave: a function, a labelled block, a loop or a loop body.
#[derive(Clone, Debug)]
pub(super) struct JumpTarget<'a> {
    kind: TargetKind,
    label: Option<String>,
    /// The number of frames and cells when the construct was entered.
    frames: usize,
    cells: usize,
    exits: Vec<Exit<'a>>,
    /// For a loop body: the jumps in it that leave an outer target.
    outer_jumps: Vec<OuterJump>,
}

/// A jump out of a loop. It ends the current step. The loop carries a flag that the jump was taken,
/// and the value of the jump.
#[derive(Clone, Debug)]
pub(super) struct OuterJump {
    /// The index of the target that the jump leaves.
    pub target: usize,
    /// Whether the jump was taken.
    pub flag: Cell,
    pub value: Cell,
    /// Variables that are not assigned before the loop, each with the cell that carries its value
    /// at the jump.
    pub assigned_inside: Vec<(Cell, Cell)>,
    /// Variables that are dead, because the jump returns from the function.
    pub dead: Vec<Cell>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TargetKind {
    /// A function or closure. `return` leaves it.
    Function,
    /// A block with a label. `break 'label` leaves it.
    Block,
    /// A loop. `break` leaves it. The jump is always in a step, so the exit is recorded for the
    /// step.
    Loop,
    /// A step of a loop. `continue` and every jump to an outer target leave it.
    Step,
}

/// A recorded jump.
#[derive(Clone, Debug)]
struct Exit<'a> {
    /// The path condition, the outermost guard first.
    path: Vec<Guard>,
    store: Store<'a>,
    value: Value<'a>,
}

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
        let (before, reached) = (self.state.store.clone(), self.state.reachable);
        let a = self.arm(cond, true, then);
        (self.state.store, self.state.reachable) = (before, reached);
        let b = self.arm(cond, false, other);
        self.state.reachable = reached && (a.reached || b.reached);
        self.state.store = match (a.reached, b.reached) {
            (true, false) => a.store,
            (false, true) => b.store,
            _ => self.merge(cond, &a.store, &b.store, range),
        };
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
        let (depth, cells, exits, outside) =
            (self.state.frames.len(), self.state.store.len(), self.exit_count(), self.state.reachable);
        // A branch that is known not to be taken is lowered for its errors only.
        let never = self.g.bool_value(cond) == Some(!holds);
        self.state.reachable &= !never;
        let (value, exited) = self.under(cond, holds, |me| {
            let value = f(me);
            let left = me.exit_count() > exits;
            let exited = if left { me.negated_path(depth + 1) } else { None };
            (value, exited)
        });
        let mut store = self.state.store.clone();
        store.truncate(cells);
        let reached = self.state.reachable;
        // True if the branch ends by a jump. A branch that only panics needs no guard, since a
        // check already states that it is not taken.
        let left = self.exit_count() > exits;
        let exited = if !reached && left { Some(self.g.lit_bool(true)) } else { exited };
        self.state.reachable = outside;
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
        self.state.after_jump.get_or_insert(self.g.len());
        self.state.frames.push(Frame::Guard { cond, holds });
    }

    /// Marks the code that follows as unreachable.
    fn diverge(&mut self) {
        self.state.reachable = false;
        let no = self.g.lit_bool(false);
        self.state.frames.push(Frame::Guard { cond: no, holds: true });
    }

    /// The number of exits recorded so far for the current targets.
    fn exit_count(&self) -> usize {
        self.state.targets.iter().map(|t| t.exits.len()).sum()
    }

    /// The guards of all frames from `depth` inwards.
    fn conditions(&self, depth: usize) -> Vec<Guard> {
        let guards = self.state.frames.iter().skip(depth);
        guards
            .filter_map(|f| match f {
                Frame::Guard { cond, holds } => Some((*cond, *holds)),
                Frame::Loop { .. } | Frame::Recurrence { .. } => None,
            })
            .collect()
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
        let path = self.conditions(depth);
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
        let at = self.state.targets.len();
        let (frames, cells) = (self.state.frames.len(), self.state.store.len());
        self.state.targets.push(JumpTarget {
            kind: TargetKind::Loop,
            label,
            frames,
            cells,
            exits: Vec::new(),
            outer_jumps: Vec::new(),
        });
        let result = f(self, at);
        self.state.targets.truncate(at);
        result
    }

    /// Lowers a step of the innermost loop.
    pub(super) fn step_target(
        &mut self,
        outer_jumps: Vec<OuterJump>,
        range: SrcRange,
        f: impl FnOnce(&mut Self) -> Lowered<Value<'a>>,
    ) -> Lowered<Value<'a>> {
        let outside = self.state.reachable;
        let value = self.target((TargetKind::Step, outer_jumps), None, range, f);
        // The loop may have no steps, so the code after it is reachable.
        self.state.reachable = outside;
        value
    }

    fn target(
        &mut self,
        (kind, outer_jumps): (TargetKind, Vec<OuterJump>),
        label: Option<String>,
        range: SrcRange,
        f: impl FnOnce(&mut Self) -> Lowered<Value<'a>>,
    ) -> Lowered<Value<'a>> {
        let (frames, cells, outside, outer_exits) =
            (self.state.frames.len(), self.state.store.len(), self.state.reachable, self.exit_count());
        let mark = self.state.facts.mark();
        self.state.targets.push(JumpTarget { kind, label, frames, cells, exits: Vec::new(), outer_jumps });
        let before = self.state.after_jump.take();
        let value = f(self);
        let guarded = std::mem::replace(&mut self.state.after_jump, before);
        let exits = self.state.targets.pop().map_or_else(Vec::new, |t| t.exits);
        if exits.is_empty() {
            // There are no exits, so the facts at the end of the block hold after it.
            self.state.store.truncate(cells);
            if matches!(kind, TargetKind::Function | TargetKind::Step) {
                self.state.frames.truncate(frames);
                self.state.facts.forget(mark);
                self.state.reachable = outside;
            }
            // This is conservative: if the code after the block has the same guards, a shorter
            // range would do.
            guarded.into_iter().for_each(|start| self.maybe_unreached_since(start));
            return value;
        }
        let falls = self.state.reachable.then(|| self.conditions(frames));
        let left = self.exit_count() > outer_exits;
        self.state.frames.truncate(frames);
        self.state.facts.forget(mark);
        self.state.reachable = outside;
        guarded.into_iter().for_each(|start| self.maybe_unreached_since(start));
        let value = value?;
        let mut exits: Vec<Exit> = exits;
        if let Some(path) = falls {
            exits.push(Exit { path, store: self.state.store.clone(), value });
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
        self.state.store = store;
        value
    }

    /// Lowers `return`.
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
            None => match self.innermost_loop() {
                Some(k) => k,
                None => return Err(self.error(SrcRange::of(b), catalogue::break_outside("break"))),
            },
        };
        self.exit(k, value, SrcRange::of(b))
    }

    /// Lowers `continue`.
    pub(super) fn continue_expr(&mut self, c: &'a syn::ExprContinue) -> Lowered<Value<'a>> {
        let k = match &c.label {
            Some(label) => {
                Some(self.find_label(&label.ident)?).filter(|&k| self.state.targets[k].kind == TargetKind::Loop)
            }
            None => self.innermost_loop(),
        };
        match k {
            // The target of a loop's step follows that of the loop in the list.
            Some(k) => self.exit(k + 1, Value::Unit, SrcRange::of(c)),
            None => Err(self.error(SrcRange::of(c), catalogue::break_outside("continue"))),
        }
    }

    /// Whether a target is the function or closure. Its variables are dead after the jump.
    pub(super) fn leaves_function(&self, k: usize) -> bool {
        self.state.targets.get(k).is_some_and(|t| t.kind == TargetKind::Function)
    }

    /// The index of the enclosing function or closure.
    pub(super) fn function_around(&self) -> Option<usize> {
        self.state.targets.iter().rposition(|t| t.kind == TargetKind::Function)
    }

    pub(super) fn innermost_loop(&self) -> Option<usize> {
        let function = self.function_around().unwrap_or(0);
        self.state.targets.iter().rposition(|t| t.kind == TargetKind::Loop).filter(|&k| k > function)
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
                    ad_ir::diag::suggest(&name, labels.iter().map(String::as_str)).map(|near| format!("'{near}"));
                Err(self.error(SrcRange::of(label), catalogue::unknown_label(&name, near.as_deref())))
            }
        }
    }

    /// The target of a jump out of the loop at index `own`. `None` for a `continue` of that loop
    /// and for an unknown label.
    pub(super) fn jump_target(&self, jump: &Jump, own: usize) -> Option<usize> {
        match jump {
            Jump::Break(None) => Some(own),
            Jump::Break(Some(label)) => self.label_at(label),
            Jump::Continue(label) => self.label_at(label).filter(|&k| k != own).map(|k| k + 1),
            Jump::Return => self.function_around(),
        }
    }

    /// Records a jump that leaves target `k` with a value. A jump out of a loop ends the step, and
    /// the loop carries the flag and the value.
    pub(super) fn exit(&mut self, k: usize, value: Value<'a>, range: SrcRange) -> Lowered<Value<'a>> {
        if self.state.reachable {
            let step =
                self.state.targets.iter().enumerate().skip(k + 1).rev().find(|(_, t)| t.kind == TargetKind::Step);
            let (from, value) = match step {
                None => (k, value),
                Some((step, t)) => {
                    let Some(leave) = t.outer_jumps.iter().find(|l| l.target == k).cloned() else {
                        let what = "a jump out of a loop that was not foreseen";
                        return Err(self.error(range, catalogue::internal("the front end", what)));
                    };
                    let yes = self.g.lit_bool(true);
                    self.state.store.put(leave.flag, CellValue::Value(Value::Term(yes)));
                    self.state.store.put(leave.value, CellValue::Value(value));
                    for (own, kept) in leave.assigned_inside {
                        if let Some(CellValue::Value(value)) = self.state.store.held(own).cloned() {
                            self.state.store.put(kept, CellValue::Value(value));
                        }
                    }
                    for cell in leave.dead {
                        self.state.store.put(cell, CellValue::Value(Value::Never));
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
        let outer = self.state.scope.clone();
        let cond = match super::pattern::is_chain(&i.cond) {
            true => self.chain(&i.cond),
            false => self.expr(&i.cond).and_then(|v| self.boolean(&v, cond_range)),
        };
        let Ok(cond) = cond else {
            // The branches may contain further errors.
            let _ = self.block(&i.then_branch);
            self.state.scope = outer;
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
                    me.state.scope = outer;
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
