//! Iterators whose items are changed: each item is a place, a part of the array that it is an iterator over.

use std::rc::Rc;

use crate::front::changes::changed;
use crate::front::lower::Lower;
use crate::front::place::Place;
use crate::front::slice::Cut;
use crate::front::table::{Call, Entry, On, row};
use crate::front::value::{Lowered, Seq, Value};
use crate::ir::Term;
use crate::prim::IntOp;

/// What makes them.
pub(in crate::front) const TABLE: &[Entry] = &[
    row("iter_mut", On::Place, (0, 0), iter_mut, "the elements, to be changed: `for v in x.iter_mut() { *v *= 2.0; }`"),
    row("outer_iter_mut", On::Place, (0, 0), outer_iter_mut, "the parts along the first axis, to be changed"),
    row("axis_iter_mut", On::Place, (1, 1), axis_iter_mut, "the parts along an axis, to be changed"),
    row("rows_mut", On::Place, (0, 0), rows_mut, "the rows, to be changed"),
    row("columns_mut", On::Place, (0, 0), columns_mut, "the columns of a matrix, to be changed"),
    row("indexed_iter_mut", On::Place, (0, 0), indexed_iter_mut, "pairs of index and element, to be changed"),
    row(
        "chunks_exact_mut",
        On::Place,
        (1, 1),
        chunks_mut,
        "the parts of n elements that follow each other, to be changed",
    ),
    row(
        "exact_chunks_mut",
        On::Place,
        (1, 1),
        chunks_mut,
        "the parts of n elements that follow each other, to be changed",
    ),
];

impl<'a> Lower<'a> {
    /// The elements of what a mutable reference refers to: rows, of an array of arrays.
    pub(in crate::front) fn seq_of_place(&mut self, place: &Place) -> Lowered<Seq<'a>> {
        let value = self.read_place(place)?;
        let t = self.array(&value, place.range)?;
        let axes = match value {
            Value::Nested(_) | Value::List(_) | Value::Filled(..) => 1,
            _ => self.g.rank(t),
        };
        Ok(self.parts_mut(place.clone(), t, (0..axes).collect()))
    }

    /// The parts at each index of these axes.
    fn parts_mut(&mut self, place: Place, t: Term, axes: Vec<usize>) -> Seq<'a> {
        let shape = self.g.shape(t).to_vec();
        let dims: Vec<Term> = axes.iter().map(|&k| shape[k]).collect();
        Seq::new(dims, move |me: &mut Lower<'a>, ix: &[Term]| {
            let mut cuts = me.whole(&shape);
            for (&axis, &start) in axes.iter().zip(ix) {
                cuts[axis] = Cut { start, step: 1, len: None };
            }
            Ok(Value::Place(Rc::new(me.narrowed(place.clone(), &cuts))))
        })
    }
}

fn iter_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, _) = changed(me, call)?;
    Ok(Value::Seq(me.seq_of_place(&place)?))
}

fn outer_iter_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, t) = changed(me, call)?;
    Ok(Value::Seq(me.parts_mut(place, t, vec![0])))
}

fn axis_iter_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, t) = changed(me, call)?;
    let axis = crate::front::methods::sizes::axis_arg(me, call, t)?;
    Ok(Value::Seq(me.parts_mut(place, t, vec![axis])))
}

fn rows_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, t) = changed(me, call)?;
    let axes = me.g.rank(t) - 1;
    Ok(Value::Seq(me.parts_mut(place, t, (0..axes).collect())))
}

fn columns_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, t) = changed(me, call)?;
    let rank = me.g.rank(t);
    Ok(Value::Seq(me.parts_mut(place, t, (1..rank).collect())))
}

fn indexed_iter_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, t) = changed(me, call)?;
    let seq = me.parts_mut(place, t, (0..me.g.rank(t)).collect());
    let item = Rc::clone(&seq.item);
    Ok(Value::Seq(Seq::new(Rc::clone(&seq.dims), move |me: &mut Lower<'a>, ix: &[Term]| {
        let element = item(me, ix)?;
        Ok(Value::Tuple([crate::front::methods::construct::position(ix), element].into()))
    })))
}

fn chunks_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, t) = changed(me, call)?;
    let (size, range) = call.arg(1)?;
    if me.g.rank(t) != 1 {
        let found = me.describe(&Value::Term(t));
        return Err(me.error(range, crate::catalogue::expected("an array of rank 1", &found)));
    }
    let size = me.size(size, range)?;
    let zero = me.g.lit_usize(0);
    me.require_lt(zero, size, "parts of no elements");
    let n = me.g.shape(t)[0];
    let count = me.g.int(IntOp::Div, n, size);
    Ok(Value::Seq(Seq::new([count], move |me: &mut Lower<'a>, ix: &[Term]| {
        let k = ix.first().copied().ok_or(crate::diag::Poison)?;
        let start = me.g.int(IntOp::Mul, k, size);
        Ok(Value::Place(Rc::new(me.narrowed(place.clone(), &[Cut { start, step: 1, len: Some(size) }]))))
    })))
}
