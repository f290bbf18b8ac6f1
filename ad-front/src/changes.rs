//! Methods and functions that change their receiver or argument: each reads a place expression, and
//! writes the new value to it.

use std::rc::Rc;

use super::lower::Lower;
use super::methods::elementwise::MAPV;
use super::open::DynamicPart;
use super::place::Place;
use super::slice::{Cut, SliceAxis};
use super::table::{Call, Mark, On, Row, row};
use super::value::{Lowered, Number, Range, Value, Want};
use ad_ir::catalogue::refused::{self, Construct};
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Node, Term};
use ad_ir::memory_order::{HasLayouts, ResultOrder};
use ad_ir::prim::{Cmp, IntOp};
use ad_ir::program::Takes;

/// Functions that change their arguments.
pub(super) const TABLE: &[Row] = &[
    row("swap", On::Mem, (2, 2), swap, "exchanges two variables or parts: `std::mem::swap(&mut a, &mut b)`")
        .called("&mut 0_u8, &mut 0_u8"),
    row("take", On::Mem, (1, 1), take, "what was there, and zero, `None` or an empty `Vec` in its place")
        .called("&mut 0_u8"),
    row("replace", On::Mem, (2, 2), replace, "assigns, and returns what was there before").called("&mut 0_u8, 0_u8"),
    row("row_mut", On::Place, (1, 1), row_mut, "a row of a matrix, to be changed").order(ResultOrder::View),
    row("column_mut", On::Place, (1, 1), column_mut, "a column of a matrix, to be changed").order(ResultOrder::View),
    row("index_axis_mut", On::Place, (2, 2), index_axis_mut, "the part at one index of an axis, to be changed")
        .order(ResultOrder::View),
    row("slice_mut", On::Place, (1, 1), slice_mut, "a part, to be changed: `x.slice_mut(s![1.., 0]).fill(1.0)`")
        .order(ResultOrder::View),
    row("slice_axis_mut", On::Place, (2, 2), slice_axis_mut, "a part along an axis, to be changed")
        .order(ResultOrder::View),
    row("view_mut", On::Place, (0, 0), view_mut, "all of it, to be changed").order(ResultOrder::View),
    row("diag_mut", On::Place, (0, 0), diag_mut, "the diagonal, to be changed: `x.diag_mut().fill(1.0)`")
        .order(ResultOrder::View),
    row("assign", On::Place, (1, 1), assign, "each element of another array, broadcast to the shape"),
    row("fill", On::Place, (1, 1), fill, "one value for all elements").of_vectors_too(),
    row("mapv_inplace", On::Place, (1, 1), mapv_inplace, "f of each element in its place"),
    row("swap_axes", On::Place, (2, 2), swap_axes, "exchanges two axes of a local array or view")
        .of_layout()
        .takes(Takes::Mutable),
    row("reverse_axes", On::Place, (0, 0), reverse_axes, "puts the axes of a local array or view in reverse order")
        .takes(Takes::Mutable),
    row("invert_axis", On::Place, (1, 1), invert_axis, "reverses a local array or view along an axis")
        .of_layout()
        .takes(Takes::Mutable),
    row("swap", On::Place, (2, 2), swap_elements, "exchanges two elements").of_vectors_too(),
    row("reverse", On::Place, (0, 0), reverse, "puts the elements of a slice or `Vec` in reverse order").of_vectors(),
    row(
        "rotate_left",
        On::Place,
        (1, 1),
        rotate_left,
        "moves the first k elements of a slice or `Vec` behind the others",
    )
    .of_vectors(),
    row(
        "rotate_right",
        On::Place,
        (1, 1),
        rotate_right,
        "moves the last k elements of a slice or `Vec` before the others",
    )
    .of_vectors(),
    row("copy_from_slice", On::Place, (1, 1), copy, "each element of another slice of the same length").of_vectors(),
    row("new", On::Assoc, (0, 0), no_elements, "no elements: `Vec::new()`, to be pushed to").marks(&[Mark::OfQueues]),
    row("with_capacity", On::Assoc, (1, 1), with_capacity, "no elements: `Vec::with_capacity(n)`, to be pushed to")
        .marks(&[Mark::OfQueues]),
    row("push", On::Place, (1, 1), push, "one more element at the end of a `Vec`")
        .of_vectors_too()
        .takes(Takes::Mutable)
        .marks(&[Mark::Pushes]),
    row("pop", On::Place, (0, 0), pop, "takes the last element of a `Vec`, an `Option`")
        .of_vectors()
        .takes(Takes::Mutable)
        .marks(&[Mark::Resizes]),
    row("truncate", On::Place, (1, 1), truncate, "leaves the first n elements of a `Vec`")
        .of_vectors()
        .takes(Takes::Mutable)
        .marks(&[Mark::Resizes]),
    row("clear", On::Place, (0, 0), clear, "leaves no element of a `Vec`")
        .of_vectors()
        .takes(Takes::Mutable)
        .marks(&[Mark::Resizes]),
];

pub(super) fn place_arg<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, k: usize) -> Lowered<Place> {
    let (value, range) = call.arg(k)?;
    match value {
        Value::Place(place) => Ok((**place).clone()),
        other => {
            let found = me.describe(other);
            Err(me.error(range, catalogue::mutable_reference_expected(&found)))
        }
    }
}

/// The place expression that a method changes, and its current value as an array.
pub(super) fn changed<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(Place, Term)> {
    let place = place_arg(me, call, 0)?;
    let value = me.read_place(&place)?;
    let t = me.array(&value, place.range)?;
    Ok((place, t))
}

/// The place expression that a method changes, and its current value: an array or a part with
/// dynamic length.
pub(super) fn changed_part<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(Place, DynamicPart)> {
    let place = place_arg(me, call, 0)?;
    let value = me.read_place(&place)?;
    if let Value::DynamicPart(open) = &value {
        return Ok((place, (**open).clone()));
    }
    let all = me.array(&value, place.range)?;
    let lens = vec![None; me.g.rank(all)];
    Ok((place, DynamicPart { all, lens: lens.into() }))
}

fn at_axis<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, axis: usize, index: usize) -> Lowered<Value<'a>> {
    let (place, x) = changed_part(me, call)?;
    let (i, ri) = call.arg(index)?;
    let i = me.usize(i, ri)?;
    let (sizes, capacities) = (x.sizes(&me.g), me.g.shape(x.all).to_vec());
    me.require_index(i, sizes[axis], super::arith::axis_words(call.text(0), axis, sizes.len()));
    let mut cuts = me.whole(&sizes, &capacities);
    cuts[axis] = Cut::index(i);
    Ok(Value::Place(Rc::new(me.sliced_place(place, &cuts))))
}

fn of_matrix<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, axis: usize) -> Lowered<Value<'a>> {
    let (_, x) = changed_part(me, call)?;
    match me.g.rank(x.all) {
        2 => at_axis(me, call, axis, 1),
        rank => Err(me.error(call.range, catalogue::rows_of_no_matrix(call.name(), rank))),
    }
}

fn row_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    of_matrix(me, call, 0)
}

fn column_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    of_matrix(me, call, 1)
}

fn index_axis_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (_, x) = changed_part(me, call)?;
    let axis = super::methods::sizes::axis_arg(me, call, x.all)?;
    at_axis(me, call, axis, 2)
}

fn slice_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, x) = changed_part(me, call)?;
    let (spec, range) = call.arg(1)?;
    let (sizes, capacities) = (x.sizes(&me.g), me.g.shape(x.all).to_vec());
    let (axes, new) = super::slice::slice_axes(me, spec, sizes.len(), range)?;
    if !new.is_empty() {
        return Err(me.error(range, refused::construct(Construct::NewAxisInPlace)));
    }
    let cuts = me.cuts((&sizes, &capacities), &axes, range)?;
    Ok(Value::Place(Rc::new(me.sliced_place(place, &cuts))))
}

fn slice_axis_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, x) = changed_part(me, call)?;
    let axis = super::methods::sizes::axis_arg(me, call, x.all)?;
    let (part, range) = call.arg(2)?;
    let axes = super::slice::along(axis, super::slice::range_of_axis(me, part, range)?);
    let (sizes, capacities) = (x.sizes(&me.g), me.g.shape(x.all).to_vec());
    let cuts = me.cuts((&sizes, &capacities), &axes, range)?;
    Ok(Value::Place(Rc::new(me.sliced_place(place, &cuts))))
}

/// A view of the whole array. A method that changes the axes of the view does not change the array.
fn view_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, x) = changed_part(me, call)?;
    let (sizes, capacities) = (x.sizes(&me.g), me.g.shape(x.all).to_vec());
    let cuts = me.whole(&sizes, &capacities);
    Ok(Value::Place(Rc::new(me.sliced_place(place, &cuts))))
}

fn diag_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, x) = changed(me, call)?;
    let shape = me.g.shape(x).to_vec();
    let n = super::methods::layout::shortest(me, &shape);
    Ok(Value::Place(Rc::new(me.diagonal_of(place, n))))
}

/// Methods that change the axes of an array. The receiver is not a part: a part of an array is a
/// view, so the array would not change.
fn turned<'a>(
    me: &mut Lower<'a>,
    call: &Call<'a, '_>,
    turn: impl FnOnce(&mut Lower<'a>, Term) -> Lowered<Term>,
) -> Lowered<Value<'a>> {
    let (place, t) = changed(me, call)?;
    if place.is_part() {
        return Err(me.error(call.range, refused::construct(Construct::TurnedView)));
    }
    let new = turn(me, t)?;
    me.write_place(&place, Value::Term(new))?;
    Ok(Value::Unit)
}

fn swap_axes<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let axis = |me: &mut Lower<'a>, k: usize, rank: usize| {
        let (value, range) = call.arg(k)?;
        let t = me.usize(value, range)?;
        match me.g.int_value(t).and_then(|n| usize::try_from(n).ok()) {
            Some(n) if n < rank => Ok(n),
            Some(n) => Err(me.error(range, catalogue::axis_out_of_range(n, rank))),
            None => Err(me.error(range, catalogue::axis())),
        }
    };
    turned(me, call, |me, t| {
        let mut perm = super::functions::all_axes(me, t);
        let (a, b) = (axis(me, 1, perm.len())?, axis(me, 2, perm.len())?);
        perm.swap(a, b);
        Ok(me.g.transpose(t, &perm))
    })
}

fn reverse_axes<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    turned(me, call, |me, t| {
        let perm: Vec<u8> = super::functions::all_axes(me, t).into_iter().rev().collect();
        Ok(me.g.transpose(t, &perm))
    })
}

fn invert_axis<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    turned(me, call, |me, t| {
        let axis = super::methods::sizes::axis_arg(me, call, t)?;
        let shape = me.g.shape(t).to_vec();
        let all = || Rc::new(Range { start: None, end: None, inclusive: false, key: None });
        let axes: Vec<SliceAxis> =
            (0..shape.len()).map(|k| SliceAxis::Range(all(), (k == axis).then_some(-1))).collect();
        let cuts = me.cuts((&shape, &shape), &axes, call.range)?;
        Ok(me.slice_term(t, &cuts))
    })
}

fn assign<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, part) = changed_part(me, call)?;
    let (new, range) = call.arg(1)?;
    let new = me.value_as_part(new, Want::Elem(me.g.elem(part.all)), range)?;
    let words = [call.text(0).to_string(), call.text(1).to_string()];
    // The shape of the assigned part does not change, so only the value is broadcast.
    if part.lens.iter().chain(&*new.lens).any(Option::is_some) {
        if me.g.elem(new.all) != me.g.elem(part.all) {
            let (a, b) = (me.describe(&Value::Term(part.all)), me.describe(&Value::Term(new.all)));
            return Err(me.error(range, catalogue::types_differ(&a, &b)));
        }
        let new = me.broadcast_part(&part, &new, &words, range)?;
        me.write_place(&place, Value::DynamicPart(new.into()))?;
        return Ok(Value::Unit);
    }
    let (t, new) = (part.all, new.all);
    let shape = me.g.shape(t).to_vec();
    let (same, new) = me.broadcast_both(t, new, words, range)?;
    if me.g.shape(same) != shape {
        return Err(me.error(call.range, catalogue::compound_shape(&place.text)));
    }
    me.write_over(&place, &Value::Term(t), Value::Term(new))?;
    Ok(Value::Unit)
}

fn copy<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, part) = changed_part(me, call)?;
    let (new, range) = call.arg(1)?;
    let new = me.value_as_part(new, Want::Elem(me.g.elem(part.all)), range)?;
    if me.g.elem(new.all) != me.g.elem(part.all) || me.g.rank(new.all) != me.g.rank(part.all) {
        let (a, b) = (me.describe(&Value::Term(part.all)), me.describe(&Value::Term(new.all)));
        return Err(me.error(range, catalogue::types_differ(&a, &b)));
    }
    let words = [call.text(0).to_string(), call.text(1).to_string()];
    let all = me.with_sizes_of(&new, &part, &words, range)?;
    let new = me.dynamic_part(all, &part.lens);
    me.write_over(&place, &Value::Term(part.all), new)?;
    Ok(Value::Unit)
}

fn fill<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, part) = changed_part(me, call)?;
    let (x, range) = call.arg(1)?;
    let x = me.term_as(x, Want::Elem(me.g.elem(part.all)), range)?;
    if me.g.rank(x) > 0 {
        let found = me.describe(&Value::Term(x));
        return Err(me.error(range, catalogue::expected(wanted::ONE_NUMBER, &found)));
    }
    let capacities = me.g.shape(part.all).to_vec();
    let all = me.g.broadcast(x, &capacities);
    let new = me.dynamic_part(all, &part.lens);
    me.write_over(&place, &Value::Term(part.all), new)?;
    Ok(Value::Unit)
}

fn mapv_inplace<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let old = me.read_place(&place)?;
    let (f, range) = call.arg(1)?;
    let new = me.call_row(&MAPV, None, vec![old.clone(), f.clone()], vec![place.range, range], call.range)?;
    me.write_over(&place, &old, new)?;
    Ok(Value::Unit)
}

fn swap_elements<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let ((i, ri), (j, rj)) = (call.arg(1)?, call.arg(2)?);
    let a = me.element(place.clone(), i, ri, call.text(0))?;
    let b = me.element(place, j, rj, call.text(0))?;
    let (x, y) = (me.read_place(&a)?, me.read_place(&b)?);
    me.write_place(&a, y)?;
    me.write_place(&b, x)?;
    Ok(Value::Unit)
}

/// Rearranges the elements along the first axis. `from` gives the source index of each, from the
/// index and the number of elements.
pub(super) fn moved<'a>(
    me: &mut Lower<'a>,
    place: &Place,
    from: impl Fn(&mut Lower<'a>, Term, Term) -> Term,
) -> Lowered<Value<'a>> {
    let old = me.read_place(place)?;
    if let Value::GrowableVec(stack) = &old {
        let stack = Rc::clone(stack);
        let mut all = Vec::new();
        for &t in &stack.all {
            let capacity = me.g.shape(t)[0];
            let var = me.g.fresh();
            let i = me.g.mk(Node::Var(var));
            let at = from(me, i, stack.len);
            all.push(me.g.gather(t, [capacity].into(), &[var], &[at]));
        }
        let window = stack.window.map(|_| 0);
        let new = Value::GrowableVec(Rc::new(super::stack::GrowableVec { all, window, ..(*stack).clone() }));
        me.write_place(place, new)?;
        return Ok(Value::Unit);
    }
    let levels = old.levels();
    let x = me.value_as_part(&old, Want::Any, place.range)?;
    let n = x.sizes(&me.g).first().copied().ok_or(Poison)?;
    let capacity = me.g.shape(x.all)[0];
    let var = me.g.fresh();
    let i = me.g.mk(Node::Var(var));
    let at = from(me, i, n);
    let new = me.g.gather(x.all, [capacity].into(), &[var], &[at]);
    let new = match me.dynamic_part(new, &x.lens) {
        Value::Term(new) => Value::nested(&me.g, new, levels),
        new => new,
    };
    me.write_place(place, new)?;
    Ok(Value::Unit)
}

/// The number of elements along the first axis.
pub(super) fn length_at<'a>(me: &mut Lower<'a>, place: &Place) -> Lowered<Term> {
    match me.read_place(place)? {
        Value::GrowableVec(stack) => Ok(stack.len),
        Value::DynamicPart(open) => open.sizes(&me.g).first().copied().ok_or(Poison),
        Value::List(parts) => Ok(me.g.lit_usize(parts.len())),
        value => {
            let t = me.array(&value, place.range)?;
            Ok(me.g.shape(t)[0])
        }
    }
}

fn reverse<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    moved(me, &place, |me, i, n| {
        let one = me.g.lit_usize(1);
        let last = me.g.int(IntOp::Sub, n, one);
        me.g.int(IntOp::Sub, last, i)
    })
}

fn rotate_left<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    rotate(me, call, true)
}

fn rotate_right<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    rotate(me, call, false)
}

fn rotate<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, left: bool) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let (k, range) = call.arg(1)?;
    let k = me.usize(k, range)?;
    let n = length_at(me, &place)?;
    me.require_le(k, n, ad_ir::catalogue::reached::ROTATED);
    moved(me, &place, |me, i, n| {
        let by = if left { k } else { me.g.int(IntOp::Sub, n, k) };
        rotated(me, i, by, n)
    })
}

/// The source index of element `i` of `n` elements that are rotated to the left by `by`.
pub(super) fn rotated(me: &mut Lower<'_>, i: Term, by: Term, n: Term) -> Term {
    let at = me.g.int(IntOp::Add, i, by);
    // Both are at most n, so their sum is less than 2n if there is an element.
    let over = me.g.compare(Cmp::Le, n, at);
    let back = me.g.int(IntOp::Sub, at, n);
    me.g.select(over, back, at)
}

fn no_elements<'a>(_: &mut Lower<'a>, _: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(Value::List(Rc::new([])))
}

/// `Vec::with_capacity`. The capacity bounds the length if no other bound is known.
fn with_capacity<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (n, range) = call.arg(0)?;
    let n = me.usize(n, range)?;
    let none: Rc<[Value<'a>]> = Rc::new([]);
    me.growable.request_capacity(&none, n);
    Ok(Value::List(none))
}

pub(super) fn push<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let (x, range) = call.arg(1)?;
    push_to(me, &place, x, range)?;
    Ok(Value::Unit)
}

/// Pushes an element to a place expression.
pub(super) fn push_to<'a>(me: &mut Lower<'a>, place: &Place, x: &Value<'a>, range: SrcRange) -> Lowered<()> {
    let old = me.read_place(place)?;
    let new = match &old {
        Value::Never => Value::Never,
        Value::List(parts) => {
            let more: Rc<[Value<'a>]> = parts.iter().cloned().chain([x.clone()]).collect();
            me.growable.keep_known(parts, &more);
            Value::List(more)
        }
        Value::GrowableVec(stack) => me.push_element(&Rc::clone(stack), x, range)?,
        _ if place.is_part() => return Err(me.error(place.range, catalogue::row_grows(&place.text))),
        old => {
            let t = me.array(old, range)?;
            let x = me.term_as(x, Want::Elem(me.g.elem(t)), range)?;
            let one = me.g.lit_usize(1);
            let n = me.g.shape(t)[0];
            let more = me.int_checked(IntOp::Add, n, one);
            let var = me.g.fresh();
            let g = &mut me.g;
            let i = g.mk(Node::Var(var));
            let here = g.compare(Cmp::Lt, i, n);
            let before = g.index(t, &[i]);
            if g.ty(before) != g.ty(x) {
                let (a, b) = (me.describe(&Value::Term(before)), me.describe(&Value::Term(x)));
                return Err(me.error(range, catalogue::types_differ(&a, &b)));
            }
            let element = g.cond(here, before, x);
            let all = g.build(more, var, element);
            me.layouts().note_rows(all, &[before, x]);
            let (new, requested) = (Value::nested(&me.g, all, old.levels()), me.growable.requested_capacity(old));
            me.growable.keep_capacity(&new, requested);
            new
        }
    };
    me.write_place(place, new)
}

pub(super) fn pop<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    pop_from(me, &place)
}

/// Pops the last element of a place expression.
pub(super) fn pop_from<'a>(me: &mut Lower<'a>, place: &Place) -> Lowered<Value<'a>> {
    let old = me.read_place(place)?;
    let (zero, one) = (me.g.lit_usize(0), me.g.lit_usize(1));
    let (last, new) = match &old {
        Value::Never => return Ok(Value::Never),
        Value::List(parts) => match parts.split_last() {
            None => return Ok(Value::None),
            Some((last, rest)) => {
                let yes = me.g.lit_bool(true);
                (Value::Option(last.clone().into(), yes), Value::List(rest.into()))
            }
        },
        Value::GrowableVec(stack) => {
            let stack = Rc::clone(stack);
            let exists = me.g.compare(Cmp::Lt, zero, stack.len);
            let at = me.g.int(IntOp::Sub, stack.len, one);
            let last = me.under(exists, true, |me| me.vec_element(&stack, at))?;
            (Value::Option(last.into(), exists), Value::GrowableVec(me.shortened_vec(&stack, at).into()))
        }
        old => {
            let levels = old.levels();
            let t = me.array(old, place.range)?;
            let n = me.g.shape(t)[0];
            let exists = me.g.compare(Cmp::Lt, zero, n);
            let at = me.g.int(IntOp::Sub, n, one);
            let last = me.g.index(t, &[at]);
            let last = Value::nested_element(&me.g, last, levels);
            let rest = first_rows(me, t, at);
            (Value::Option(last.into(), exists), Value::nested(&me.g, rest, levels))
        }
    };
    me.write_place(place, new)?;
    Ok(last)
}

/// The first `n` rows of an array that has at least as many.
fn first_rows(me: &mut Lower<'_>, t: Term, n: Term) -> Term {
    let zero = me.g.lit_usize(0);
    let mut sizes = me.g.shape(t).to_vec();
    sizes[0] = n;
    let (starts, steps) = (vec![zero; sizes.len()], vec![1; sizes.len()]);
    me.g.slice(t, &starts, &steps, &sizes)
}

fn shortened<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, most: Term, range: SrcRange) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let old = me.read_place(&place)?;
    let new = match &old {
        Value::Never => Value::Never,
        Value::GrowableVec(stack) => {
            let stack = Rc::clone(stack);
            let len = me.g.int(IntOp::Min, stack.len, most);
            Value::GrowableVec(me.shortened_vec(&stack, len).into())
        }
        Value::List(parts) if me.g.int_value(most).is_some() => {
            let n = me.g.int_value(most).and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
            Value::List(parts[..n.min(parts.len())].into())
        }
        old => {
            let levels = old.levels();
            let t = me.array(old, place.range)?;
            if !me.g.is_closed(most) {
                return Err(me.error(range, catalogue::size_depends_on_index()));
            }
            let n = me.g.int(IntOp::Min, me.g.shape(t)[0], most);
            let rest = first_rows(me, t, n);
            Value::nested(&me.g, rest, levels)
        }
    };
    me.write_place(&place, new)?;
    Ok(Value::Unit)
}

fn truncate<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (n, range) = call.arg(1)?;
    let n = me.usize(n, range)?;
    shortened(me, call, n, range)
}

fn clear<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let zero = me.g.lit_usize(0);
    shortened(me, call, zero, call.range)
}

fn swap<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (a, b) = (place_arg(me, call, 0)?, place_arg(me, call, 1)?);
    let (x, y) = (me.read_place(&a)?, me.read_place(&b)?);
    me.write_place(&a, y)?;
    me.write_place(&b, x)?;
    Ok(Value::Unit)
}

fn replace<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let new = call.arg(1)?.0.clone();
    let old = me.read_place(&place)?;
    me.write_place(&place, new)?;
    Ok(old)
}

/// `mem::take`: replaces a value with the default of its type.
fn take<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let old = me.read_place(&place)?;
    let new = match &old {
        Value::Never => Value::Never,
        Value::Option(..) | Value::None => Value::None,
        Value::Number(n) => Value::Number(if n.is_float() { Number::Float(0.0) } else { Number::Int(0) }.into()),
        Value::Term(t) if me.g.rank(*t) == 0 => Value::Term(me.g.zero(me.g.elem(*t))),
        Value::List(_) | Value::GrowableVec(_) => Value::List(Rc::new([])),
        // Elements that are pushed later have this type.
        Value::Term(t) | Value::Nested(t, _) if me.g.rank(*t) == 1 => {
            let (zero, none) = (me.g.zero(me.g.elem(*t)), me.g.lit_usize(0));
            Value::Term(me.g.replicate(none, zero))
        }
        _ => return Err(me.error(call.range, refused::construct(Construct::TakeOfOther))),
    };
    me.write_place(&place, new)?;
    Ok(old)
}
