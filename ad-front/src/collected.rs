//! `collect` of filtered iterators and of parts with dynamic length, and the methods that insert
//! into a `Vec` or remove from it. All of them are lowered as a loop over the items that pushes.
//!
//! Invariant: an item that does not exist is never collected, and no item is lost. The capacity
//! follows the rules of `loops::lengths`.

use std::rc::Rc;

use super::changes::{length_at, moved, place_arg, pop_from, push_to, rotated};
use super::growth::Growth;
use super::loop_effects::LoopEffects;
use super::lower::Lower;
use super::methods::construct::constant;
use super::place::Place;
use super::stack::GrowableVec;
use super::table::{Call, Mark, On, Row, row};
use super::value::{Lowered, Seq, Value, Want};
use crate::translation::cells::CellValue;
use crate::translation::inference::InferenceKey;
use ad_ir::catalogue::{self, refused, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Node, OpenLoop, Term, Type};
use ad_ir::prim::{Cmp, IntOp};
use ad_ir::program::Takes;

/// Methods that change the number of elements of a `Vec`.
pub(super) const TABLE: &[Row] = &[
    row("insert", On::Place, (2, 2), insert, "an element at an index of a `Vec`, those from there on behind it")
        .of_vectors()
        .takes(Takes::Mutable)
        .marks(&[Mark::Resizes]),
    row("remove", On::Place, (1, 1), remove, "takes the element at an index of a `Vec`")
        .of_vectors()
        .takes(Takes::Mutable)
        .marks(&[Mark::Resizes]),
    row("swap_remove", On::Place, (1, 1), swap_remove, "takes an element of a `Vec`, the last one in its place")
        .of_vectors()
        .takes(Takes::Mutable)
        .marks(&[Mark::Resizes]),
    row("retain", On::Place, (1, 1), retain, "leaves the elements of a `Vec` for which f holds")
        .of_vectors()
        .takes(Takes::Mutable)
        .marks(&[Mark::Resizes]),
    row("dedup", On::Place, (0, 0), dedup, "leaves one element of each run of equal ones in a `Vec`")
        .of_vectors()
        .takes(Takes::Mutable)
        .marks(&[Mark::Resizes]),
    row("drain", On::Place, (1, 1), drain, "takes the elements of a range out of a `Vec`, an iterator")
        .of_vectors()
        .takes(Takes::Mutable)
        .marks(&[Mark::Resizes]),
    row("partition", On::Iter, (1, 1), partition, "two `Vec`s: the items for which f holds, and the others"),
    row("extend", On::Place, (1, 1), extend, "pushes the items of an iterator to a `Vec`")
        .unproved()
        .marks(&[Mark::Resizes]),
    row("extend_from_slice", On::Place, (1, 1), extend, "pushes the elements of a slice to a `Vec`")
        .of_vectors()
        .takes(Takes::Mutable)
        .marks(&[Mark::Resizes]),
];

impl<'a> Lower<'a> {
    /// Collects the items of a filtered iterator into a `Vec`.
    pub(super) fn collected_items(&mut self, seq: &Seq<'a>, want: Want, range: SrcRange) -> Lowered<Value<'a>> {
        let seq = &self.bounded_by_capacity(seq, range);
        if self.ends_by_test(seq) {
            return Err(self.error(range, catalogue::collected_count_depends_on_index()));
        }
        if !seq.lens.is_empty() && seq.present.is_none() {
            let seq = self.by_number(seq.clone());
            return self.collected_items(&seq, want, range);
        }
        if let (Some(len), None, 1) = (seq.len, &seq.present, seq.dims.len()) {
            // Numbers of a known count need no loop.
            let all = |me: &mut Self| me.filled(seq, range, want, |me, elem| Ok(me.g.zero(elem)));
            if self.trial(|me| all(me).map(|t| me.g.rank(t)) == Ok(1)) {
                let (t, more) = (all(self)?, self.no_growth());
                if let Some(spare) = self.in_spare_array(seq, self.g.elem(t), range)? {
                    return Ok(Value::GrowableVec(spare.into()));
                }
                let form = super::carry::CarriedForm::Leaf { levels: 0 };
                let stack = GrowableVec { all: vec![t], form, ..GrowableVec::without_arrays(len, more) };
                return Ok(Value::GrowableVec(Rc::new(stack)));
            }
            if self.inference.needs_another_run() {
                return Err(Poison);
            }
        }
        let (cells, outer) = (self.state.cells.len(), self.state.names.scope());
        let name = " collected".to_string();
        self.bind_cell(name.clone(), CellValue::Value(Value::List(Rc::new([]))), true);
        let made = self.push_all(&name, seq, want, range);
        let found = self.state.cells.held(crate::translation::cells::Cell(cells)).cloned();
        self.state.cells.truncate(cells);
        self.state.names.back_to(outer);
        made?;
        match found {
            // The `Vec` is empty and its element type is unknown.
            Some(CellValue::Value(value)) => Ok(value),
            _ => Err(Poison),
        }
    }

    /// The items, with the capacity of a `Vec` as the greatest number of them if its length decides
    /// how many they are, as in `0..v.len() / 2`, or the greatest number for which their reads are
    /// in range.
    fn bounded_by_capacity(&mut self, seq: &Seq<'a>, range: SrcRange) -> Seq<'a> {
        let mut seq = seq.clone();
        let unbounded = matches!(&seq.dims[..], &[most] if self.g.int_value(most) == Some(usize::MAX as i128));
        if let Some(most) = seq.len.filter(|_| unbounded).and_then(|len| self.most_within_capacity(len)) {
            seq.dims = [most].into();
        }
        self.bound_items(&mut seq, range);
        if self.ends_by_test(&seq)
            && let Some(most) = seq.len.and_then(|len| self.most_in_all_steps(len))
        {
            seq.dims = [most].into();
        }
        seq
    }

    /// Pushes all items to a named variable.
    fn push_all(&mut self, name: &str, seq: &Seq<'a>, want: Want, range: SrcRange) -> Lowered<()> {
        self.ends(seq, range)?;
        let Some(Ok(Value::Cell(cell))) = self.state.names.get(name) else { return Err(Poison) };
        let place = Place::variable(*cell, name.trim(), range);
        let body = |me: &mut Self, ix: &[Term]| {
            let item = (seq.item)(me, ix)?;
            let item = match (&item, want) {
                (Value::Number(_), Want::Elem(_)) => Value::Term(me.term_as(&item, want, range)?),
                _ => item,
            };
            push_to(me, &place, &item, range)?;
            Ok(Value::Unit)
        };
        let effects = LoopEffects::of_pushing(name, seq.whole());
        let key = InferenceKey::at_address(self.state.source.address(), "pushed");
        self.lower_loop((Some(seq), &body), &effects, (None, key), range)?;
        Ok(())
    }
}

fn extended<'a>(me: &mut Lower<'a>, place: &Place, items: &Value<'a>, range: SrcRange) -> Lowered<Value<'a>> {
    if !place.is_variable() {
        return Err(me.error(range, refused::construct(refused::Construct::ExtendedPart)));
    }
    let seq = me.seq(items, range)?;
    let want = match me.read_place(place)? {
        Value::Never => return Ok(Value::Unit),
        old => me.elem_of(&old).map_or(Want::Any, Want::Elem),
    };
    let outer = me.state.names.scope();
    let name = format!(" {}", place.text);
    me.state.names.bind(name.clone(), Some(Value::Cell(place.cell)));
    let pushed = me.push_all(&name, &seq, want, range);
    me.state.names.back_to(outer);
    pushed.map(|()| Value::Unit)
}

fn extend<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let (items, range) = call.arg(1)?;
    extended(me, &place, items, range)
}

fn retain<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let (f, rf) = call.arg(1)?;
    let old = me.read_place(&place)?;
    if matches!(old, Value::Never) {
        return Ok(Value::Unit);
    }
    let mut seq = me.seq(&old, place.range)?;
    let (f, item) = (f.clone(), Rc::clone(&seq.item));
    seq.present = Some(Rc::new(move |me, ix| {
        let value = item(me, ix)?;
        let value = me.apply(&f, &[value], rf)?;
        me.boolean(&value, rf)
    }));
    let want = me.elem_of(&old).map_or(Want::Any, Want::Elem);
    let new = me.collected_items(&seq, want, call.range)?;
    me.write_place(&place, new)?;
    Ok(Value::Unit)
}

/// Keeps the elements for which a condition on the sequence and the index holds.
fn left<'a>(
    me: &mut Lower<'a>,
    call: &Call<'a, '_>,
    holds: impl Fn(&mut Lower<'a>, &Seq<'a>, Term) -> Lowered<Term> + 'a,
) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let old = me.read_place(&place)?;
    if matches!(old, Value::Never) {
        return Ok(Value::Unit);
    }
    let mut seq = me.seq(&old, place.range)?;
    let all = seq.clone();
    seq.present = Some(Rc::new(move |me, ix| holds(me, &all, ix.first().copied().ok_or(Poison)?)));
    let want = me.elem_of(&old).map_or(Want::Any, Want::Elem);
    let new = me.collected_items(&seq, want, call.range)?;
    me.write_place(&place, new)?;
    Ok(Value::Unit)
}

fn dedup<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let range = call.range;
    left(me, call, move |me, all, i| {
        let (zero, one, yes) = (me.g.lit_usize(0), me.g.lit_usize(1), me.g.lit_bool(true));
        let first = me.g.compare(Cmp::Eq, i, zero);
        let before = me.g.int(IntOp::Sub, i, one);
        // The elements of a run are equal, so it does not matter which one is compared.
        let differs = me.under(first, false, |me| {
            let (a, b) = ((all.item)(me, &[before])?, (all.item)(me, &[i])?);
            let (a, b) = me.unify_literals(&a, &b, [range, range])?;
            me.comparison(Cmp::Ne, a, b, range)
        })?;
        Ok(me.g.cond(first, yes, differs))
    })
}

/// Removes a range of elements. They are removed even if the iterator is not consumed, as in Rust.
fn drain<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let (ends, range) = call.arg(1)?;
    let Value::Range(ends) = ends else {
        let found = me.describe(ends);
        return Err(me.error(range, catalogue::expected(wanted::RANGE, &found)));
    };
    let old = me.read_place(&place)?;
    if matches!(old, Value::Never) {
        return Ok(Value::Never);
    }
    let stack = match me.as_growable(&old, place.range)? {
        Some(stack) => stack,
        None => return Err(me.error(call.range, refused::mutation("drain"))),
    };
    let (from, to) = me.checked_bounds(ends, stack.len, range)?;
    let taken = me.part_of_vec(&stack, ends, range)?;
    let count = me.g.int(IntOp::Sub, to, from);
    let len = me.g.int(IntOp::Sub, stack.len, count);
    let all = stack.all.iter().map(|&t| {
        let capacity = me.g.shape(t)[0];
        let var = me.g.fresh();
        let i = me.g.mk(Node::Var(var));
        let (earlier, shifted) = (me.g.compare(Cmp::Lt, i, from), me.g.int(IntOp::Add, i, count));
        let at = me.g.select(earlier, i, shifted);
        me.g.gather(t, [capacity].into(), &[var], &[at])
    });
    let all = all.collect();
    let rest = me.shortened_vec(&GrowableVec { all, ..stack }, len);
    let rest = match me.closed(len) {
        Some(len) if rest.slot.is_none() => me.vec_into_array(&GrowableVec { len, ..rest }, range)?,
        _ => Value::GrowableVec(rest.into()),
    };
    me.write_place(&place, rest)?;
    Ok(Value::Seq(me.seq(&taken, range)?))
}

fn partition<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (f, rf)) = (call.arg(0)?, call.arg(1)?);
    let seq = me.seq(x, rx)?;
    let seq = if seq.dims.len() == 1 { seq } else { me.by_number(seq) };
    let side = |me: &mut Lower<'a>, yes: bool| {
        let (f, all, before) = (f.clone(), Rc::clone(&seq.item), seq.clone());
        let mut side = seq.clone();
        (side.len, side.lens) = (None, Rc::new([]));
        side.present = Some(Rc::new(move |me: &mut Lower<'a>, ix: &[Term]| {
            let test = |me: &mut Lower<'a>| {
                let value = all(me, ix)?;
                let value = me.apply(&f, &[value], rf)?;
                let holds = me.boolean(&value, rf)?;
                Ok(if yes { holds } else { me.g.not(holds) })
            };
            match me.present(&before, ix)? {
                None => test(me),
                Some(exists) => {
                    let also = me.under(exists, true, test)?;
                    Ok(me.g.and(exists, also))
                }
            }
        }));
        me.collected_items(&side, Want::Any, call.range)
    };
    let (yes, no) = (side(me, true)?, side(me, false)?);
    Ok(Value::Tuple([yes, no].into()))
}

fn insert<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let ((at, ra), (x, rx)) = (call.arg(1)?, call.arg(2)?);
    let at = me.usize(at, ra)?;
    let before = length_at(me, &place)?;
    me.require_le(at, before, ad_ir::catalogue::reached::INSERTED_PAST_END);
    push_to(me, &place, x, rx)?;
    if let Value::GrowableVec(stack) = me.read_place(&place)? {
        let one = me.g.lit_usize(1);
        if only_scalars(me, &stack) {
            let last = me.g.int(IntOp::Sub, stack.len, one);
            let held = stack.all.iter().map(|&t| me.g.index(t, &[last])).collect();
            passed_on(me, &place, &stack, [at, stack.len], (held, false))?;
            return Ok(Value::Unit);
        }
        let next = me.g.int(IntOp::Add, at, one);
        let len = me.g.int(IntOp::Sub, stack.len, one);
        shifted(me, &place, [at, next], len)?;
        if let Value::GrowableVec(stack) = me.read_place(&place)? {
            let new = me.set_element(&stack, at, x, rx)?;
            me.write_place(&place, new)?;
        }
        return Ok(Value::Unit);
    }
    moved(me, &place, |me, i, n| {
        let one = me.g.lit_usize(1);
        let (earlier, here) = (me.g.compare(Cmp::Lt, i, at), me.g.compare(Cmp::Eq, i, at));
        let (last, previous) = (me.g.int(IntOp::Sub, n, one), me.g.int(IntOp::Sub, i, one));
        let shifted = me.g.select(here, last, previous);
        me.g.select(earlier, i, shifted)
    })
}

/// Whether each part of an element is a number, an integer or a truth value.
fn only_scalars(me: &Lower<'_>, stack: &GrowableVec<'_>) -> bool {
    stack.all.iter().all(|&t| me.g.rank(t) == 1)
}

/// Moves the elements `from..end` of a growable vector by one: a loop over these elements holds one
/// element, puts it where the next one was, and holds that one then. It begins with `held` at
/// `from`, or at `end` and runs to the front if `back` is true. So the work, also that of the
/// derivative, is in proportion to the elements that move.
fn passed_on<'a>(
    me: &mut Lower<'a>,
    place: &Place,
    stack: &GrowableVec<'a>,
    [from, end]: [Term; 2],
    (held, back): (Vec<Term>, bool),
) -> Lowered<()> {
    let count = me.g.int(IntOp::Sub, end, from);
    let step = me.g.fresh();
    let k = me.g.mk(Node::Var(step));
    let (here, at) = (me.g.compare(Cmp::Lt, k, count), me.g.int(IntOp::Add, from, k));
    let init: Vec<Term> = stack.all.iter().copied().chain(held).collect();
    let types: Vec<Type> = init.iter().map(|&t| me.g.ty(t).clone()).collect();
    let carried: Vec<Term> = types.into_iter().map(|ty| me.g.placeholder(ty)).collect();
    let (arrays, held) = carried.split_at(stack.all.len());
    let (mut results, mut next) = (Vec::new(), Vec::new());
    for (&all, &held) in arrays.iter().zip(held) {
        let (put, old) = (me.g.update(all, held, &[], &[at]), me.g.index(all, &[at]));
        results.push(me.g.cond(here, put, all));
        next.push(me.g.cond(here, old, held));
    }
    results.extend(next);
    let steps = me.capacity(stack);
    let moved = OpenLoop { count: steps, reverse: back, stop: None, step, init, carried, results };
    let moved = me.g.close_loop(&moved);
    let all = (0..stack.all.len()).map(|k| me.g.proj(moved, k)).collect();
    let window = stack.window.map(|_| 0);
    me.write_place(place, Value::GrowableVec(Rc::new(GrowableVec { all, window, ..stack.clone() })))
}

/// Moves the elements `from..end` of a growable vector to the index `to`. Elements before `to` do
/// not change. Elements after the last moved one become zeros.
fn shifted(me: &mut Lower<'_>, place: &Place, [from, to]: [Term; 2], end: Term) -> Lowered<()> {
    let Value::GrowableVec(stack) = me.read_place(place)? else { return Ok(()) };
    let count = me.g.int(IntOp::Sub, end, from);
    let mut all = Vec::new();
    for &t in &stack.all {
        let (capacity, elem) = (me.g.shape(t)[0], me.g.elem(t));
        let rest = me.g.shape(t)[1..].to_vec();
        let (var, place) = (me.g.fresh(), me.g.fresh());
        let [i, j] = [var, place].map(|v| me.g.mk(Node::Var(v)));
        let at = me.g.int(IntOp::Add, from, i);
        let (row, zero) = (me.g.index(t, &[at]), constant(me, elem, 0));
        let zero = me.g.broadcast(zero, &rest);
        let there = me.g.compare(Cmp::Lt, i, count);
        let row = me.g.cond(there, row, zero);
        let rows = me.g.build(capacity, var, row);
        // All rows after the moved elements are zeros.
        let at = me.g.int(IntOp::Add, to, j);
        all.push(me.g.update(t, rows, &[place], &[at]));
    }
    let window = stack.window.map(|_| 0);
    let new = Value::GrowableVec(Rc::new(GrowableVec { all, window, ..(*stack).clone() }));
    me.write_place(place, new)?;
    Ok(())
}

fn remove<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    if me.growable.has_queue() {
        return Err(me.error(call.range, refused::construct(refused::Construct::RemoveOfQueue)));
    }
    let shift = |me: &mut Lower<'a>, place: &Place, n, at| {
        let one = me.g.lit_usize(1);
        if let Value::GrowableVec(stack) = me.read_place(place)?
            && only_scalars(me, &stack)
        {
            let elems: Vec<_> = stack.all.iter().map(|&t| me.g.elem(t)).collect();
            let zeros = elems.into_iter().map(|elem| constant(me, elem, 0)).collect();
            return passed_on(me, place, &stack, [at, n], (zeros, true));
        }
        let next = me.g.int(IntOp::Add, at, one);
        shifted(me, place, [next, at], n)
    };
    taken_out(me, call, Some(&shift), |me, i, n, at| {
        let one = me.g.lit_usize(1);
        let next = me.g.int(IntOp::Add, i, one);
        let (earlier, last) = (me.g.compare(Cmp::Lt, i, at), me.g.compare(Cmp::Le, n, next));
        let shifted = me.g.select(last, at, next);
        me.g.select(earlier, i, shifted)
    })
}

fn swap_remove<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    taken_out(me, call, None, |me, i, n, at| {
        let one = me.g.lit_usize(1);
        let end = me.g.int(IntOp::Sub, n, one);
        let (here, last) = (me.g.compare(Cmp::Eq, i, at), me.g.compare(Cmp::Eq, i, end));
        let other = me.g.select(last, at, i);
        me.g.select(here, end, other)
    })
}

/// Moves the elements of a growable vector that follow a removed one, given the number of elements
/// and the index of the removed one.
type Shift<'f, 'a> = &'f dyn Fn(&mut Lower<'a>, &Place, Term, Term) -> Lowered<()>;

/// Moves one element to the end and removes it. `from` maps each index to the source index, given
/// the number of elements and the index of that element. In a growable vector `shift` moves the
/// elements instead, if it is given.
fn taken_out<'a>(
    me: &mut Lower<'a>,
    call: &Call<'a, '_>,
    shift: Option<Shift<'_, 'a>>,
    from: impl Fn(&mut Lower<'a>, Term, Term, Term) -> Term,
) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let (at, range) = call.arg(1)?;
    let at = me.usize(at, range)?;
    let n = length_at(me, &place)?;
    me.require_index(at, n, super::arith::axis_words(call.text(0), 0, 1));
    if let Value::GrowableVec(stack) = me.read_place(&place)? {
        let taken = me.vec_element(&stack, at)?;
        let (one, capacity) = (me.g.lit_usize(1), me.capacity(&stack));
        if me.g.int_value(at) == Some(0) {
            // The padding moves too, so that the pass `ring_buffers` recognises a rotation.
            moved(me, &place, |me, i, _| rotated(me, i, one, capacity))?;
        } else if let Some(shift) = shift {
            shift(me, &place, n, at)?;
        } else {
            moved(me, &place, |me, i, n| from(me, i, n, at))?;
        }
        let len = me.g.int(IntOp::Sub, n, one);
        if let Value::GrowableVec(stack) = me.read_place(&place)? {
            // The index was checked, so an element was certainly taken out.
            let more = Growth { freed: stack.more.freed + 1, taken: true, ..stack.more };
            let shorter = GrowableVec { more, ..me.shortened_vec(&stack, len) };
            me.write_place(&place, Value::GrowableVec(shorter.into()))?;
        }
        return Ok(taken);
    }
    moved(me, &place, |me, i, n| from(me, i, n, at))?;
    match pop_from(me, &place)? {
        Value::Option(value, _) => Ok((*value).clone()),
        other => Ok(other),
    }
}
