//! Iterators over mutable references: each item is a place expression, a part of the array.

use std::rc::Rc;

use crate::changes::{changed_part, length_at, place_arg};
use crate::lower::Lower;
use crate::open::DynamicPart;
use crate::place::Place;
use crate::slice::Cut;
use crate::table::{Call, On, Row, row};
use crate::value::{Lowered, Seq, Value, Want};
use ad_ir::ir::Term;
use ad_ir::memory_order::ResultOrder;
use ad_ir::prim::{Cmp, IntOp};

/// Methods that create them.
pub(crate) const TABLE: &[Row] = &[
    row("iter_mut", On::Place, (0, 0), iter_mut, "the elements, to be changed: `for v in x.iter_mut() { *v *= 2.0; }`")
        .order(ResultOrder::NoArray)
        .of_vectors_too(),
    row("last_mut", On::Place, (0, 0), last_mut, "the last element, to be changed, an `Option`")
        .order(ResultOrder::NoArray)
        .of_vectors(),
    row("first_mut", On::Place, (0, 0), first_mut, "the first element, to be changed, an `Option`")
        .order(ResultOrder::NoArray)
        .of_vectors(),
    row("outer_iter_mut", On::Place, (0, 0), outer_iter_mut, "the parts along the first axis, to be changed")
        .order(ResultOrder::NoArray),
    row("axis_iter_mut", On::Place, (1, 1), axis_iter_mut, "the parts along an axis, to be changed")
        .order(ResultOrder::NoArray),
    row("rows_mut", On::Place, (0, 0), rows_mut, "the rows, to be changed").order(ResultOrder::NoArray),
    row("columns_mut", On::Place, (0, 0), columns_mut, "the columns of a matrix, to be changed")
        .order(ResultOrder::NoArray),
    row("indexed_iter_mut", On::Place, (0, 0), indexed_iter_mut, "pairs of index and element, to be changed")
        .order(ResultOrder::NoArray),
    row(
        "chunks_exact_mut",
        On::Place,
        (1, 1),
        chunks_mut,
        "the parts of n elements that follow each other, to be changed",
    )
    .of_vectors_too(),
    row(
        "exact_chunks_mut",
        On::Place,
        (1, 1),
        chunks_mut,
        "the parts of n elements that follow each other, to be changed",
    ),
];

impl<'a> Lower<'a> {
    /// The elements of a mutable reference. The elements of an array of arrays are rows.
    pub(crate) fn seq_of_place(&mut self, place: &Place) -> Lowered<Seq<'a>> {
        let value = self.read_place(place)?;
        let several = matches!(&value, Value::List(parts) if parts.iter().any(Value::is_several));
        if let (Value::List(parts), true) = (&value, several) {
            return Ok(elements(self.g.lit_usize(parts.len()), place.clone()));
        }
        let rows = self.is_rows(place, &value);
        if let (Value::GrowableVec(stack), false) = (&value, rows) {
            let stack = Rc::clone(stack);
            let mut seq = elements(self.capacity(&stack), place.clone());
            seq.len = Some(stack.len);
            return Ok(seq);
        }
        let nested = rows || value.levels() > 0;
        let x = self.value_as_part(&value, Want::Any, place.range)?;
        let axes = if nested { 1 } else { self.g.rank(x.all) };
        if axes == 0 {
            let found = self.describe(&value);
            return Err(self.error(place.range, ad_ir::catalogue::array_expected(&found)));
        }
        Ok(self.parts_mut(place.clone(), &x, (0..axes).collect()))
    }

    /// The parts at each index of these axes.
    fn parts_mut(&mut self, place: Place, x: &DynamicPart, axes: Vec<usize>) -> Seq<'a> {
        let (sizes, capacities) = (x.sizes(&self.g), self.g.shape(x.all).to_vec());
        let dims: Vec<Term> = axes.iter().map(|&k| capacities[k]).collect();
        let lens: Vec<Option<Term>> = axes.iter().map(|&k| x.lens[k]).collect();
        let mut seq = Seq::new(dims, move |me: &mut Lower<'a>, ix: &[Term]| {
            let mut cuts = me.whole(&sizes, &capacities);
            for (&axis, &start) in axes.iter().zip(ix) {
                cuts[axis] = Cut::index(start);
            }
            Ok(Value::Place(Rc::new(me.sliced_place(place.clone(), &cuts))))
        });
        self.filter_valid(&mut seq, &lens);
        seq
    }
}

/// The elements of a value other than an array.
fn elements<'a>(n: Term, place: Place) -> Seq<'a> {
    Seq::new([n], move |_: &mut Lower<'a>, ix: &[Term]| {
        let at = ix.first().copied().ok_or(ad_ir::diag::Poison)?;
        Ok(Value::Place(Rc::new(place.clone().element_at(at))))
    })
}

/// The first or last element of a place as an `Option`.
fn end_of<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, last: bool) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let n = length_at(me, &place)?;
    let (zero, one) = (me.g.lit_usize(0), me.g.lit_usize(1));
    let exists = me.g.compare(Cmp::Lt, zero, n);
    let at = if last { me.g.int(IntOp::Sub, n, one) } else { zero };
    if me.g.bool_value(exists) == Some(false) {
        return Ok(Value::None);
    }
    let place = me.under(exists, true, |me| me.element(place, &Value::Term(at), call.range, call.text(0)))?;
    Ok(Value::Option(Value::Place(Rc::new(place)).into(), exists))
}

fn last_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    end_of(me, call, true)
}

fn first_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    end_of(me, call, false)
}

fn iter_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    Ok(Value::Seq(me.seq_of_place(&place)?))
}

fn outer_iter_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, x) = changed_part(me, call)?;
    Ok(Value::Seq(me.parts_mut(place, &x, vec![0])))
}

fn axis_iter_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, x) = changed_part(me, call)?;
    let axis = crate::methods::sizes::axis_arg(me, call, x.all)?;
    Ok(Value::Seq(me.parts_mut(place, &x, vec![axis])))
}

fn rows_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, x) = changed_part(me, call)?;
    let axes = me.g.rank(x.all) - 1;
    Ok(Value::Seq(me.parts_mut(place, &x, (0..axes).collect())))
}

fn columns_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, x) = changed_part(me, call)?;
    let rank = me.g.rank(x.all);
    Ok(Value::Seq(me.parts_mut(place, &x, (1..rank).collect())))
}

fn indexed_iter_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, x) = changed_part(me, call)?;
    let seq = me.parts_mut(place, &x, (0..me.g.rank(x.all)).collect());
    let item = Rc::clone(&seq.item);
    let item = move |me: &mut Lower<'a>, ix: &[Term]| {
        let element = item(me, ix)?;
        Ok(Value::Tuple([crate::methods::construct::position(ix), element].into()))
    };
    Ok(Value::Seq(Seq { item: Rc::new(item), ..seq }))
}

/// Chunks with a size for each axis. An array of arrays has chunks of rows.
fn chunks_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let value = me.read_place(&place)?;
    let nested = value.levels() > 0;
    let t = me.array(&value, place.range)?;
    let (sizes, range) = call.arg(1)?;
    let sizes = me.sizes(sizes, range)?;
    let shape = me.g.shape(t).to_vec();
    let axes = if nested { 1 } else { shape.len() };
    if sizes.len() != axes {
        return Err(me.error(range, ad_ir::catalogue::part_sizes(axes, sizes.len())));
    }
    let zero = me.g.lit_usize(0);
    let mut counts = Vec::new();
    for (&size, &n) in sizes.iter().zip(&shape) {
        me.require_lt(zero, size, ad_ir::catalogue::reached::NO_ELEMENTS);
        counts.push(me.g.int(IntOp::Div, n, size));
    }
    Ok(Value::Seq(Seq::new(counts, move |me: &mut Lower<'a>, ix: &[Term]| {
        let mut cuts = me.whole(&shape, &shape);
        for ((cut, &k), &size) in cuts.iter_mut().zip(ix).zip(&sizes) {
            let start = me.g.int(IntOp::Mul, k, size);
            *cut = Cut::range(start, 1, size);
        }
        Ok(Value::Place(Rc::new(me.sliced_place(place.clone(), &cuts))))
    })))
}
