//! Queues: the methods of `VecDeque` that `Vec` lacks. A queue is a growable vector. A method that
//! takes the first element, or puts one before it, rotates the array. The pass `ring_buffers` turns
//! rotations into offsets, so that the elements stay where they are.
//!
//! This module must never read an element that does not exist.

use std::rc::Rc;

use super::changes::{moved, place_arg, pop, push, push_to, rotated};
use super::lower::Lower;
use super::reads::{first, last};
use super::refs::results;
use super::row::OnDynamicParts;
use super::stack::GrowableVec;
use super::table::{Call, Mark, On, Row, row};
use super::value::{Lowered, Value};
use ad_ir::ir::Term;
use ad_ir::memory_order::ResultOrder;
use ad_ir::prim::{Cmp, IntOp};
use ad_ir::program::Takes;

/// The methods of queues.
pub(super) const TABLE: &[Row] = &[
    row("push_back", On::Place, (1, 1), push, "one more element at the end of a `VecDeque`")
        .of_queues()
        .takes(Takes::Mutable)
        .marks(&[Mark::Pushes]),
    row("push_front", On::Place, (1, 1), push_front, "one more element before the others of a `VecDeque`")
        .of_queues()
        .takes(Takes::Mutable)
        .marks(&[Mark::Resizes]),
    row("pop_front", On::Place, (0, 0), pop_front, "takes the first element of a `VecDeque`, an `Option`")
        .of_queues()
        .takes(Takes::Mutable)
        .marks(&[Mark::Resizes]),
    row("pop_back", On::Place, (0, 0), pop, "takes the last element of a `VecDeque`, an `Option`")
        .of_queues()
        .takes(Takes::Mutable)
        .marks(&[Mark::Resizes]),
    row("front", On::Array, (0, 0), first, "the first element of a `VecDeque`, an `Option`")
        .order(ResultOrder::Given)
        .of_queues()
        .gives(results::some_element)
        .parts(OnDynamicParts::AsVector),
    row("back", On::Array, (0, 0), last, "the last element of a `VecDeque`, an `Option`")
        .order(ResultOrder::Given)
        .of_queues()
        .gives(results::some_element)
        .parts(OnDynamicParts::AsVector),
];

fn pop_front<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let old = me.read_place(&place)?;
    let (zero, one) = (me.g.lit_usize(0), me.g.lit_usize(1));
    let (first, new) = match &old {
        Value::Never => return Ok(Value::Never),
        Value::List(parts) => match parts.split_first() {
            None => return Ok(Value::None),
            Some((first, rest)) => {
                let yes = me.g.lit_bool(true);
                (Value::Option(first.clone().into(), yes), Value::List(rest.into()))
            }
        },
        Value::GrowableVec(stack) => {
            let stack = Rc::clone(stack);
            let exists = me.g.compare(Cmp::Lt, zero, stack.len);
            let first = me.under(exists, true, |me| me.vec_element(&stack, zero))?;
            // An empty queue may be rotated as well: it has only padding, which is never read, and
            // its length stays 0.
            let capacity = me.capacity(&stack);
            moved(me, &place, |me, i, _| rotated(me, i, one, capacity))?;
            let len = me.g.int(IntOp::Sub, stack.len, one);
            let new = match me.read_place(&place)? {
                Value::GrowableVec(stack) => Value::GrowableVec(me.shortened_vec(&stack, len).into()),
                other => other,
            };
            (Value::Option(first.into(), exists), new)
        }
        old => {
            let levels = old.levels();
            let t = me.array(old, place.range)?;
            let n = me.g.shape(t)[0];
            let exists = me.g.compare(Cmp::Lt, zero, n);
            let first = me.g.index(t, &[zero]);
            let first = Value::nested_element(&me.g, first, levels);
            let rest = rows_from(me, t, one);
            (Value::Option(first.into(), exists), Value::nested(&me.g, rest, levels))
        }
    };
    me.write_place(&place, new)?;
    Ok(first)
}

/// The rows of an array from `start` on.
fn rows_from(me: &mut Lower<'_>, t: Term, start: Term) -> Term {
    let zero = me.g.lit_usize(0);
    let mut sizes = me.g.shape(t).to_vec();
    sizes[0] = me.g.int(IntOp::Sub, sizes[0], start);
    let (mut starts, steps) = (vec![zero; sizes.len()], vec![1; sizes.len()]);
    starts[0] = start;
    me.g.slice(t, &starts, &steps, &sizes)
}

fn push_front<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let (x, range) = call.arg(1)?;
    // A push at the end provides the capacity. Then the elements are rotated.
    push_to(me, &place, x, range)?;
    let zero = me.g.lit_usize(0);
    match me.read_place(&place)? {
        Value::List(parts) => {
            let mut parts = parts.to_vec();
            parts.rotate_right(1);
            me.write_place(&place, Value::List(parts.into()))?;
        }
        Value::GrowableVec(stack) => {
            let (one, capacity) = (me.g.lit_usize(1), me.capacity(&stack));
            let by = me.g.int(IntOp::Sub, capacity, one);
            moved(me, &place, |me, i, _| rotated(me, i, by, capacity))?;
            if let Value::GrowableVec(stack) = me.read_place(&place)? {
                let new = me.set_element(&Rc::<GrowableVec<'a>>::clone(&stack), zero, x, range)?;
                me.write_place(&place, new)?;
            }
        }
        Value::Never => {}
        _ => moved(me, &place, |me, i, n| {
            let one = me.g.lit_usize(1);
            let by = me.g.int(IntOp::Sub, n, one);
            rotated(me, i, by, n)
        })
        .map(|_| ())?,
    }
    Ok(Value::Unit)
}
