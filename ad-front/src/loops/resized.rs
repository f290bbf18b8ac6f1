//! Arrays that a loop replaces by arrays of another shape, in the program for arrays of several
//! shapes: `h = layer.w.dot(&h)`. The loop carries an array with room for each of them, and the
//! size along each axis whose size changes.
//!
//! A trial lowering of the step finds the room. In it, the room before the step is a number that no
//! array has as its size, so the room after the step is seen as an expression of that number. This
//! module must never let an array be cut: a size that may be greater than the room is checked.

use crate::translation::inference::{InferenceKey, Inferred};
use ad_ir::sorted::{SortedMap, SortedSet};
use std::rc::Rc;

use super::{Carried, GrowingVec, LoopInput, PushedOnly};
use crate::carry::{CarriedForm, CarriedName, Leaves};
use crate::lower::Lower;
use crate::open::DynamicPart;
use crate::translation::cells::{Cell, CellValue};
use crate::value::{Lowered, Value, Want};
use ad_ir::catalogue;
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Node, Term};
use ad_ir::prim::{IntOp, Prim};

/// The room for each array whose shape changes: the capacity along each axis.
pub(super) type Room = SortedMap<Cell, Vec<Term>>;

/// The bound of a capacity after a step: the capacities before the step that it may be, and the
/// greatest other term that it may be.
#[derive(Default)]
struct Bound {
    rooms: SortedSet<usize>,
    other: Option<Term>,
}

/// The key under which a change of a variable's size along an axis is recorded.
fn size_of(key: &InferenceKey, name: &str, axis: usize) -> InferenceKey {
    key.for_variable(&format!("#{name}.{axis}"))
}

impl<'a> Lower<'a> {
    /// At the end of a step: whether an array has another shape than before and this was not known.
    pub(super) fn has_another_shape(
        &mut self,
        c: &Carried<'a>,
        key: &InferenceKey,
        now: &[Term],
        value: &Value<'a>,
    ) -> bool {
        if !self.input.sig().several_shapes {
            return false;
        }
        let Ok(before) = Self::unflatten(&c.form, &mut now.iter()) else { return false };
        if !matches!(before, Value::Term(_) | Value::DynamicPart(_)) {
            return false;
        }
        let (Some(before), Some(after)) = (self.array_as_part(&before), self.array_as_part(value)) else {
            return false;
        };
        if before.lens.len() != after.lens.len() || before.lens.is_empty() {
            return false;
        }
        let (old, new) = (before.sizes(&self.g), after.sizes(&self.g));
        let mut news = false;
        for (axis, (&n, &m)) in old.iter().zip(&new).enumerate() {
            let carried = matches!(&c.form, CarriedForm::Resized(axes) if axes[axis]);
            // Sizes of arguments are equated, as in a loop whose arrays keep their shapes.
            let may = carried
                || n == m
                || (self.state.facts.prove_le(&self.g, n, m) && self.state.facts.prove_le(&self.g, m, n))
                || self.may_be_required(n, m);
            news |= !may && self.inference.note(&size_of(key, &c.name, axis), Inferred::Length);
        }
        news
    }

    /// An array, or a part with dynamic lengths that is not a `Vec`.
    fn array_as_part(&self, value: &Value<'a>) -> Option<DynamicPart> {
        match value {
            Value::Term(t) if self.g.rank(*t) > 0 => Some(self.fully_valid(*t)),
            Value::DynamicPart(part) => Some((**part).clone()),
            _ => None,
        }
    }

    /// The arrays whose shape a loop changes: each with its value before the loop, and the axes
    /// whose sizes change.
    fn resized(&self, start: &LoopInput<'a, '_>, known: &[Cell]) -> Vec<(Cell, DynamicPart, Rc<[bool]>)> {
        if !self.input.sig().several_shapes {
            return Vec::new();
        }
        let changed = self.changed_cells(start.effects).into_iter().filter(|cell| !known.contains(cell));
        let found = changed.filter_map(|cell| {
            let Some(CellValue::Value(value)) = self.state.cells.held(cell) else { return None };
            let part = self.array_as_part(value)?;
            let name = self.state.cells.name(cell);
            let changes = |axis: usize| self.inference.is_known(&size_of(&start.key, name, axis));
            if !(0..part.lens.len()).any(changes) {
                return None;
            }
            let axes = part.lens.iter().enumerate().map(|(axis, len)| len.is_some() || changes(axis)).collect();
            Some((cell, part, axes))
        });
        found.collect()
    }

    /// Finds the room for the arrays whose shape the loop changes.
    pub(super) fn room(
        &mut self,
        start: &LoopInput<'a, '_>,
        pushed_only: &[PushedOnly<'a>],
        stacks: &[GrowingVec<'a>],
    ) -> Lowered<Room> {
        let known: Vec<Cell> = pushed_only.iter().map(|g| g.cell).chain(stacks.iter().map(|s| s.cell)).collect();
        let found = self.resized(start, &known);
        if found.is_empty() {
            return Ok(Room::new());
        }
        // A number for each axis that no array has as its size.
        let base = usize::MAX >> (12 + 4 * self.state.nesting.trials());
        let (mut rooms, mut firsts, mut tried) = (Vec::new(), Vec::new(), Room::new());
        for (cell, part, _) in &found {
            firsts.push(rooms.len());
            let own: Vec<Term> = (0..part.lens.len()).map(|k| self.g.lit_usize(base - rooms.len() - k)).collect();
            rooms.extend(&own);
            tried.insert(*cell, own);
        }
        let shapes: Lowered<SortedMap<Cell, Vec<Term>>> = self.trial(|me| {
            let (l, init) = me.prepare_loop(start, pushed_only.to_vec(), stacks.to_vec(), &tried)?;
            let result = me.nest(&l, init.terms, &init.keys, &mut Vec::new())?;
            let cells = l.carried.iter().filter(|c| matches!(c.form, CarriedForm::Resized(_))).map(|c| c.cell);
            Ok(cells.zip(result.shapes).collect())
        });
        if self.inference.needs_another_run() {
            return Err(Poison);
        }
        // The errors of the trial are found again with the arrays' own sizes as room.
        let shapes = shapes.unwrap_or_default();
        let mut bounds = Vec::new();
        for (cell, part, _) in &found {
            let own = self.g.shape(part.all).to_vec();
            for (axis, &first) in own.iter().enumerate() {
                let mut bound = Bound { other: Some(first), ..Bound::default() };
                if let Some(&after) = shapes.get(cell).and_then(|shape| shape.get(axis))
                    && !self.add_bound(after, &rooms, &mut bound)
                {
                    let name = self.state.cells.name(*cell).to_string();
                    let place = start.effects.changes_shape_at(&name).unwrap_or(start.range);
                    return Err(self.error(place, catalogue::carried_shape(&name)));
                }
                bounds.push(bound);
            }
        }
        // The room of an array covers that of each array which it may be replaced by.
        let mut room = Room::new();
        for ((cell, part, _), &first) in found.iter().zip(&firsts) {
            let mut own = Vec::new();
            for k in first..first + part.lens.len() {
                let (mut all, mut next) = (SortedSet::from([k]), vec![k]);
                while let Some(k) = next.pop() {
                    next.extend(bounds[k].rooms.iter().copied().filter(|&other| all.insert(other)));
                }
                let mut most = None;
                for k in all {
                    most = self.max_bound(most, bounds[k].other);
                }
                own.push(most.ok_or(Poison)?);
            }
            room.insert(*cell, own);
        }
        Ok(room)
    }

    /// Adds what a capacity may be to a bound. `false`: an expression of the room is not
    /// understood.
    fn add_bound(&mut self, t: Term, rooms: &[Term], bound: &mut Bound) -> bool {
        if let Some(k) = rooms.iter().position(|&room| room == t) {
            bound.rooms.insert(k);
            return true;
        }
        let depends = |me: &Self, t: Term| me.g.reachable(&[t]).iter().any(|t| rooms.contains(t));
        if !depends(self, t) {
            bound.other = self.max_bound(bound.other, Some(t));
            return true;
        }
        match self.g.node(t).clone() {
            Node::Prim(Prim::Int(IntOp::Max), args) => args.iter().all(|&t| self.add_bound(t, rooms, bound)),
            // The smaller one is at most either of them.
            Node::Prim(Prim::Int(IntOp::Min), args) => match args.iter().find(|&&t| !depends(self, t)) {
                Some(&known) => self.add_bound(known, rooms, bound),
                None => args.first().is_some_and(|&t| self.add_bound(t, rooms, bound)),
            },
            _ => false,
        }
    }

    /// The array before a loop that changes its shape, in its room.
    pub(super) fn flatten_resized(
        &mut self,
        start: &LoopInput<'a, '_>,
        cell: Cell,
        room: &Room,
        known: &[Cell],
    ) -> Option<(CarriedForm<'a>, Leaves)> {
        let room = room.get(&cell)?;
        let (_, part, axes) = self.resized(start, known).into_iter().find(|(own, ..)| *own == cell)?;
        let keys = self.inference.first_literal(part.all);
        let sizes = part.sizes(&self.g);
        let room: Vec<Term> = room
            .iter()
            .zip(&sizes)
            .zip(&*axes)
            .map(|((&room, &size), &changes)| if changes { room } else { size })
            .collect();
        let mut leaves = Leaves { terms: vec![self.resized_to(part.all, &room)], keys: vec![keys] };
        for (&size, _) in sizes.iter().zip(&*axes).filter(|(_, changes)| **changes) {
            leaves.terms.push(size);
            leaves.keys.push(None);
        }
        Some((CarriedForm::Resized(axes), leaves))
    }

    /// The next leaves of an array whose shape changes.
    pub(crate) fn next_resized(
        &mut self,
        value: &Value<'a>,
        axes: &[bool],
        current: &mut std::slice::Iter<'_, Term>,
        out: &mut Vec<Term>,
        (who, range): (CarriedName, SrcRange),
    ) -> Lowered<()> {
        let now = *current.next().ok_or(Poison)?;
        let lens = axes.iter().map(|&changes| if changes { current.next().copied() } else { None });
        let now = DynamicPart { all: now, lens: lens.collect() };
        let new = self.value_as_part(value, Want::Elem(self.g.elem(now.all)), range)?;
        if self.g.elem(new.all) != self.g.elem(now.all) || new.lens.len() != now.lens.len() {
            let (was, is) = (self.describe(&Value::Term(now.all)), self.describe(&Value::Term(new.all)));
            return Err(self.error(range, who.type_change(&was, &is)));
        }
        let (room, own) = (self.g.shape(now.all).to_vec(), self.g.shape(new.all).to_vec());
        let (before, sizes) = (now.sizes(&self.g), new.sizes(&self.g));
        let mut next = Vec::new();
        for (k, &changes) in axes.iter().enumerate() {
            if changes {
                next.push(sizes[k]);
                if !self.is_within(own[k], room[k]) {
                    self.require_le(sizes[k], room[k], ad_ir::catalogue::reached::SHAPES);
                }
            } else {
                self.equate(before[k], sizes[k], who.descriptions(), range)?;
            }
        }
        out.push(self.resized_to(new.all, &room));
        out.extend(next);
        Ok(())
    }

    /// Whether a capacity is known to be at most another one.
    fn is_within(&mut self, t: Term, room: Term) -> bool {
        if t == room {
            return true;
        }
        if let Node::Prim(Prim::Int(IntOp::Max), args) = self.g.node(t).clone() {
            return args.iter().all(|&t| self.is_within(t, room));
        }
        if let Node::Prim(Prim::Int(IntOp::Min), args) = self.g.node(t).clone()
            && args.iter().any(|&t| self.is_within(t, room))
        {
            return true;
        }
        match self.g.node(room).clone() {
            Node::Prim(Prim::Int(IntOp::Max), args) => args.iter().any(|&room| self.is_within(t, room)),
            _ => self.state.facts.prove_le(&self.g, t, room),
        }
    }
}
