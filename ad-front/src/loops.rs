//! Lowers loops. A loop becomes a scan. It carries the variables that its body may assign and, for
//! each jump to an outer target, a flag and the value. The module `loop_effects` collects both from
//! the syntax. The body is lowered once, with placeholders in the variables.
//!
//! Invariant: steps after a jump have no effect. Their checks do not fail, and their values do not
//! reach a gradient.

mod bounds;
mod capacity;
mod forms;
mod jumps;
mod lengths;
mod nest;
mod resized;
mod step;

use std::rc::Rc;

use self::resized::Room;
use super::carry::{CarriedForm, Leaves};
use super::growth::Growth;
use super::loop_effects::LoopEffects;
use super::lower::Lower;
use super::memory::Ordered;
use super::stack::GrowableVec;
use super::value::{Lowered, Seq, Value, Want};
use crate::translation::cells::{Cell, CellValue, Store};
use crate::translation::inference::InferenceKey;
use crate::translation::jumps::OuterJump;
use ad_ir::catalogue;
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::Term;
use ad_ir::memory_order::HasLayouts;

/// A variable that a loop carries.
struct Carried<'a> {
    cell: Cell,
    name: String,
    form: CarriedForm<'a>,
    /// The index of its first leaf.
    first: usize,
    /// The arrays in it whose memory order changes.
    orders: Rc<[Ordered]>,
}

/// A `Vec` that the loop only pushes to. The elements that a step pushes are a row of the loop's
/// result.
#[derive(Clone)]
struct PushedOnly<'a> {
    cell: Cell,
    name: String,
    start: Value<'a>,
    /// The number of levels of the pushed array. It is found while the body is lowered.
    levels: std::cell::Cell<u8>,
}

/// A `Vec` whose length changes in the loop and that is not pushed to only.
#[derive(Clone)]
struct GrowingVec<'a> {
    cell: Cell,
    name: String,
    start: GrowableVec<'a>,
    /// The slot of the `Vec` in the body: that of the enclosing loop which carries it, or a new
    /// one.
    slot: usize,
    /// Its slot before the loop.
    outer: Option<usize>,
    /// The index of its first leaf. The length follows its last leaf.
    first: usize,
    /// The number of elements added in each step, if that is constant. The length is then computed
    /// from the step number and is not carried.
    growth_per_step: Option<Term>,
    /// The last length, if a counting run has found it.
    counted: Option<Term>,
}

/// A callback that lowers the loop's body.
pub(super) type LowerBody<'a, 's> = &'s dyn Fn(&mut Lower<'a>, &[Term]) -> Lowered<Value<'a>>;

/// A loop that is being lowered.
struct Loop<'a, 's> {
    /// The iterator: the sizes of the loop nest, and which of the items exist.
    seq: Option<&'s Seq<'a>>,
    body: LowerBody<'a, 's>,
    /// The key for the types of carried literals.
    key: InferenceKey,
    carried: Vec<Carried<'a>>,
    pushed_only: Vec<PushedOnly<'a>>,
    stacks: Vec<GrowingVec<'a>>,
    /// True if the loop is lowered only to count its steps. Pushed values are placeholders then.
    count_only: bool,
    leaves: Vec<OuterJump>,
    effects: &'s LoopEffects,
    range: SrcRange,
}

impl Loop<'_, '_> {
    /// The expression that changes the length of a variable, or the loop.
    fn grows_at(&self, name: &str) -> SrcRange {
        self.effects.changes_length_at(name).unwrap_or(self.range)
    }

    /// The expression that changes the shape of a variable, or the loop.
    fn changes_at(&self, name: &str) -> SrcRange {
        self.effects.changes_shape_at(name).unwrap_or(self.range)
    }
}

/// The input of a loop, before it is known how its variables are carried.
struct LoopInput<'a, 's> {
    seq: Option<&'s Seq<'a>>,
    body: LowerBody<'a, 's>,
    effects: &'s LoopEffects,
    key: InferenceKey,
    range: SrcRange,
    /// The index of the loop's target.
    own: usize,
    /// Variables that are not assigned before the loop.
    unset: Vec<Cell>,
}

/// The state after one or more steps.
struct StepsResult<'a> {
    next: Vec<Term>,
    exits: Vec<Exit<'a>>,
    /// For each `Vec` that is only pushed to, an array of the pushed elements.
    pushed: Vec<Option<Term>>,
    /// The growth of each other `Vec` over all steps.
    growth: Vec<Growth>,
    /// The growth of each other `Vec` in one step.
    step_growth: Vec<Growth>,
    /// The number of steps, for a loop without an iterator.
    count: Option<Term>,
    /// The capacities after a step of each array whose shape changes.
    shapes: Vec<Vec<Term>>,
}

/// Whether a jump was taken, and the values that it carries.
type Exit<'a> = (Term, Vec<Payload<'a>>);

/// A value that a jump carries out of the loop.
#[derive(Clone)]
struct Payload<'a> {
    /// The cell that receives the value after the loop.
    cell: Cell,
    form: CarriedForm<'a>,
    leaves: Leaves,
}

/// The key under which a change of a variable's length is recorded.
fn length_of(key: &InferenceKey, name: &str) -> InferenceKey {
    key.for_variable(&format!("#{name}"))
}

impl<'a> Lower<'a> {
    /// Lowers a loop and updates the variables. Returns the value of `break`.
    pub(super) fn lower_loop(
        &mut self,
        (seq, body): (Option<&Seq<'a>>, LowerBody<'a, '_>),
        effects: &LoopEffects,
        (label, key): (Option<String>, InferenceKey),
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let cells = self.state.cells.len();
        let before = self.state.cells.store().clone();
        let result = self.loop_target(label, |me, own| {
            let mut start = LoopInput { seq, body, effects, key, range, own, unset: Vec::new() };
            start.unset = me.changed_cells(effects);
            start.unset.retain(|&c| matches!(me.state.cells.held(c), Some(CellValue::Unset)));
            me.run_loop(start, &before).map(|(leaves, exits)| (leaves, exits, own))
        });
        let (leaves, exits, own) = match result {
            Ok(result) => result,
            Err(Poison) => {
                self.state.cells.go_to(before);
                // After an error the values of the variables that the loop assigns are unknown.
                for cell in self.changed_cells(effects) {
                    self.state.cells.put(cell, CellValue::Broken);
                }
                return Err(Poison);
            }
        };
        let value = self.take_jumps((&leaves, exits), own, seq.is_none(), range)?;
        self.state.cells.truncate(cells);
        Ok(value)
    }

    /// Lowers the scans of a loop and gives its variables the values that they have after it.
    /// `before` has the variables before it. Returns the jumps out of it with their exits.
    fn run_loop(&mut self, start: LoopInput<'a, '_>, before: &Store<'a>) -> Lowered<(Vec<OuterJump>, Vec<Exit<'a>>)> {
        let (cells, scope) = (self.state.cells.len(), self.state.names.scope());
        let (pushed_only, stacks) = self.carry_lengths(&start)?;
        let room = self.room(&start, &pushed_only, &stacks)?;
        let (l, init) = self.prepare_loop(&start, pushed_only, stacks, &room)?;
        let base = self.state.cells.store().clone();
        let result = self.nest(&l, init.terms, &init.keys, &mut Vec::new());
        self.state.names.back_to(scope);
        let mut assignable = start.unset;
        assignable.extend(l.carried.iter().map(|c| c.cell).chain(l.pushed_only.iter().map(|g| g.cell)));
        assignable.extend(l.stacks.iter().map(|s| s.cell));
        let unexpected = self.state.cells.store().changed(before, cells, &assignable);
        self.state.cells.go_to(base);
        let result = result?;
        if let Some(cell) = unexpected.filter(|_| self.state.jumps.reachable()) {
            let known = self.changed_cells(l.effects).contains(&cell);
            return Err(self.not_carried_error(cell, known, before, l.range));
        }
        self.assign_after_loop(&l, &result)?;
        Ok((l.leaves, result.exits))
    }

    /// Gives the variables of a loop the values that they have after its last step.
    fn assign_after_loop(&mut self, l: &Loop<'a, '_>, result: &StepsResult<'a>) -> Lowered<()> {
        for c in &l.carried {
            self.in_carried_orders(&c.orders, &result.next);
            let mut value = Self::unflatten(&c.form, &mut result.next[c.first..].iter())?;
            if let (CarriedForm::Resized(_), Value::DynamicPart(part)) = (&c.form, &value) {
                // After an outermost loop its sizes are closed.
                value = self.dynamic_part(part.all, &part.lens);
            }
            self.hint(&value, &c.name);
            self.state.cells.put(c.cell, CellValue::Value(value));
        }
        for (s, growth) in l.stacks.iter().zip(&result.growth) {
            let value = self.vec_after_loop(l, s, &result.next, *growth)?;
            self.hint(&value, &s.name);
            self.state.cells.put(s.cell, CellValue::Value(value));
        }
        for (g, rows) in l.pushed_only.iter().zip(&result.pushed) {
            let Some(rows) = *rows else { continue };
            let value = self.append_rows(g, rows, l.range)?;
            let requested = self.growable.requested_capacity(&g.start);
            self.growable.keep_capacity(&value, requested);
            self.hint(&value, &g.name);
            self.state.cells.put(g.cell, CellValue::Value(value));
        }
        Ok(())
    }

    /// The variables that the loop only pushes to.
    fn pushed_only(&self, effects: &LoopEffects) -> Vec<PushedOnly<'a>> {
        let only = effects.pushed.iter().filter(|name| !effects.mentioned.contains(*name));
        only.filter_map(|name| {
            let Some(Ok(Value::Cell(cell))) = self.state.names.get(name) else { return None };
            let Some(CellValue::Value(start)) = self.state.cells.held(*cell) else { return None };
            let vec = match start {
                Value::List(_) => true,
                Value::Term(t) | Value::Nested(t, _) => self.g.rank(*t) > 0,
                _ => false,
            };
            (vec && self.state.cells.is_own(*cell)).then(|| PushedOnly {
                cell: *cell,
                name: name.clone(),
                start: start.clone(),
                levels: 0.into(),
            })
        })
        .collect()
    }

    /// The old elements of a `Vec`, followed by the pushed ones.
    fn append_rows(&mut self, pushed_only: &PushedOnly<'a>, rows: Term, range: SrcRange) -> Lowered<Value<'a>> {
        let (start, levels) = (&pushed_only.start, pushed_only.levels.get());
        if matches!(start, Value::List(parts) if parts.is_empty()) {
            return Ok(Value::nested(&self.g, rows, levels));
        }
        let start = self.term_as(start, Want::Elem(self.g.elem(rows)), range)?;
        let both = Value::List([Value::Term(start), Value::Term(rows)].into());
        match self.call_row(
            &super::methods::join::CONCATENATE,
            None,
            vec![Value::Axis(0), both],
            vec![range; 2],
            range,
        )? {
            Value::Option(all, _) => {
                let all = self.term(&all, range)?;
                self.layouts().note_rows(all, &[start, rows]);
                Ok(Value::nested(&self.g, all, levels))
            }
            _ => Err(Poison),
        }
    }

    /// Prepares a loop: the initial values of all that it carries.
    fn prepare_loop<'s>(
        &mut self,
        start: &LoopInput<'a, 's>,
        pushed_only: Vec<PushedOnly<'a>>,
        mut stacks: Vec<GrowingVec<'a>>,
        room: &Room,
    ) -> Lowered<(Loop<'a, 's>, Leaves)> {
        let mut init = Leaves::default();
        let known: Vec<Cell> = pushed_only.iter().map(|g| g.cell).chain(stacks.iter().map(|s| s.cell)).collect();
        let carried = self.carried(start, &known, room, &mut init)?;
        for s in &mut stacks {
            // A carried `Vec` keeps one slot in all steps. If no enclosing loop carries it, it gets
            // a new slot.
            s.slot = s.outer.unwrap_or_else(|| self.growable.new_slot());
            s.first = init.terms.len();
            init.terms.extend(&s.start.all);
            init.terms.extend(s.growth_per_step.is_none().then_some(s.start.len));
            for &t in &init.terms[s.first..] {
                init.keys.push(self.inference.first_literal(t));
            }
        }
        let leaves = self.jump_cells(start.effects, start.own, &start.unset, &pushed_only);
        let (seq, body, key) = (start.seq, start.body, start.key.clone());
        let (effects, range) = (start.effects, start.range);
        Ok((Loop { seq, body, key, carried, pushed_only, stacks, count_only: false, leaves, effects, range }, init))
    }

    fn carried(
        &mut self,
        start: &LoopInput<'a, '_>,
        known: &[Cell],
        room: &Room,
        init: &mut Leaves,
    ) -> Lowered<Vec<Carried<'a>>> {
        let (key, range) = (&start.key, start.range);
        let mut carried = Vec::new();
        for cell in self.changed_cells(start.effects) {
            let Some(CellValue::Value(value)) = self.state.cells.held(cell).cloned() else { continue };
            if known.contains(&cell) {
                continue;
            }
            let name = self.state.cells.name(cell).to_string();
            let (first, mut own) = (init.terms.len(), Leaves::default());
            let form = match self.flatten_resized(start, cell, room, known) {
                Some((form, leaves)) => {
                    own = leaves;
                    Some(form)
                }
                None => self.flatten(&value, &mut key.for_variable(&name), &mut own, range)?,
            };
            if let Some(form) = form {
                init.terms.append(&mut own.terms);
                init.keys.append(&mut own.keys);
                let leaves = first..init.terms.len();
                let orders = self.carry_orders((key, &name), &mut init.terms, leaves)?;
                init.keys.resize(init.terms.len(), None);
                carried.push(Carried { cell, name, form, first, orders });
            }
        }
        Ok(carried)
    }

    /// Reports that the body changes a variable that is not carried. Either a loop cannot carry its
    /// type, or it is changed through an iterator that was created outside of the loop.
    fn not_carried_error(&mut self, cell: Cell, known: bool, before: &Store<'a>, range: SrcRange) -> Poison {
        if !known {
            let name = before.name(cell).to_string();
            return self.error(range, catalogue::changed_through_iterator(&name));
        }
        let Some(CellValue::Value(value)) = before.held(cell) else { return Poison };
        let found = self.describe(&value.clone());
        self.error(range, catalogue::carried_kind(&found))
    }
}
