//! Iterators: functions from index to item. They are lazy as in Rust: an item is lowered where it
//! is consumed, under the guards of that point. This module has their sources; `adapters` has the
//! adapters, and `consume` and `choose` have the consumers.
//!
//! The loops of a consumer have closed sizes. An iterator whose length depends on an enclosing loop
//! (`0..i`), or that skips items (`filter`), runs up to a closed bound and has a condition for each
//! item. Invariant: an item that does not exist is never evaluated or checked.

mod adapters;
mod bounds;
pub(super) mod choose;
pub(super) mod consume;
mod cursor;
mod differences;
mod lookups;
mod mutable;
mod ranges;
pub(super) mod until;

use std::rc::Rc;

use super::lower::Lower;
use super::methods::parts;
use super::refs::results;
use super::slice::front_axis;
use super::table::{Call, Mark, On, OnDynamicParts, Row, row};
use super::value::{Lowered, Number, Seq, Value};
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Elem, Node, Term};
use ad_ir::memory_order::ReductionOrder;
use ad_ir::prim::{Cmp, IntOp};

pub(super) use adapters::{TABLE as ADAPTERS, over_index};
pub(super) use choose::TABLE as CHOOSING;
pub(super) use consume::TABLE as CONSUMING;
pub(super) use cursor::TABLE as CURSORS;
pub(super) use mutable::TABLE as MUTABLE;
pub(super) use until::TABLE as UNTIL;

/// Functions and methods that create iterators.
pub(super) const TABLE: &[Row] = &[
    row("iter", On::Array, (0, 0), iter, "the elements in row-major order")
        .reduces(ReductionOrder::Logical)
        .of_vectors_too()
        .gives(results::elements)
        .marks(&[Mark::OfConstants]),
    row("into_iter", On::Array, (0, 0), iter, "the elements in row-major order")
        .reduces(ReductionOrder::Logical)
        .unproved()
        .gives(results::items)
        .marks(&[Mark::OfConstants]),
    row("iter", On::Iter, (0, 0), itself, "the iterator").gives(results::same_items),
    row("into_iter", On::Iter, (0, 0), itself, "the iterator").gives(results::same_items),
    row("outer_iter", On::Array, (0, 0), outer_iter, "the parts along the first axis")
        .reduces(ReductionOrder::Logical)
        .gives(results::views)
        .parts(OnDynamicParts::By(parts::outer_iter)),
    row("axis_iter", On::Array, (1, 1), axis_iter, "the parts along an axis")
        .reduces(ReductionOrder::Logical)
        .gives(results::views)
        .parts(OnDynamicParts::By(parts::axis_iter)),
    row("rows", On::Array, (0, 0), rows, "the rows: vectors along the last axis")
        .reduces(ReductionOrder::Logical)
        .gives(results::lanes)
        .parts(OnDynamicParts::By(parts::rows)),
    row("columns", On::Array, (0, 0), columns, "the columns: vectors along the first axis")
        .reduces(ReductionOrder::Logical)
        .gives(results::lanes)
        .parts(OnDynamicParts::By(parts::columns)),
    row("lanes", On::Array, (1, 1), lanes, "the vectors along an axis")
        .reduces(ReductionOrder::Logical)
        .gives(results::lanes),
    row("indexed_iter", On::Array, (0, 0), indexed_iter, "pairs of index and element")
        .reduces(ReductionOrder::Logical)
        .gives(results::indexed)
        .parts(OnDynamicParts::By(parts::indexed_iter)),
    row("windows", On::Array, (1, 1), windows, "the parts of n elements that follow each other by one")
        .reduces(ReductionOrder::Logical)
        .of_vectors_too()
        .gives(results::windows)
        .parts(OnDynamicParts::AsVector),
    row("chunks_exact", On::Array, (1, 1), chunks, "the parts of n elements that follow each other")
        .reduces(ReductionOrder::Logical)
        .of_vectors_too()
        .gives(results::chunks)
        .parts(OnDynamicParts::AsVector),
    row("exact_chunks", On::Array, (1, 1), chunks, "the parts of n elements that follow each other")
        .reduces(ReductionOrder::Logical)
        .parts(OnDynamicParts::AsVector),
    row("chunks", On::Array, (1, 1), all_chunks, "the parts of n elements that follow each other, and the rest")
        .reduces(ReductionOrder::Logical)
        .of_vectors()
        .gives(results::chunks)
        .parts(OnDynamicParts::AsVector),
    row("axis_chunks_iter", On::Array, (2, 2), axis_chunks, "the parts of n indices of an axis, and the rest")
        .reduces(ReductionOrder::Logical),
    row("remainder", On::Iter, (0, 0), remainder, "the elements behind the last whole one of `chunks_exact`"),
    row("repeat", On::Std, (1, 1), repeat, "one item without end: `std::iter::repeat(x)`").called("0.0_f64"),
    row("repeat_n", On::Std, (2, 2), repeat_n, "one item n times: `std::iter::repeat_n(x, n)`").called("0.0_f64, 0"),
    row("once", On::Std, (1, 1), once, "one item: `std::iter::once(x)`").called("0.0_f64"),
];

impl<'a> Seq<'a> {
    /// An iterator over all items of loops with these sizes.
    pub(super) fn new(
        dims: impl Into<Rc<[Term]>>,
        item: impl Fn(&mut Lower<'a>, &[Term]) -> Lowered<Value<'a>> + 'a,
    ) -> Self {
        Seq {
            dims: dims.into(),
            len: None,
            lens: Rc::new([]),
            present: None,
            item: Rc::new(item),
            eager: false,
            remainder: None,
        }
    }

    /// Whether every item of the loops exists.
    pub(super) fn whole(&self) -> bool {
        self.len.is_none() && self.lens.is_empty() && self.present.is_none()
    }
}

impl<'a> Lower<'a> {
    /// The elements of an array.
    pub(super) fn seq_of(&mut self, x: Term) -> Seq<'a> {
        Seq::new(self.g.shape(x), move |me: &mut Lower<'a>, ix: &[Term]| Ok(Value::Term(me.g.index(x, ix))))
    }

    /// A value as an iterator.
    pub(super) fn seq(&mut self, value: &Value<'a>, range: SrcRange) -> Lowered<Seq<'a>> {
        match value {
            Value::Seq(seq) => Ok(seq.clone()),
            Value::Cursor(cursor) => self.rest_of(&cursor.clone()),
            Value::Place(place) => self.seq_of_place(&place.clone()),
            Value::Range(r) => self.range_seq(&Rc::clone(r), range),
            Value::Number(n) if n.of_array().is_some() => {
                let (path, before) = n.of_array().ok_or(Poison)?;
                let (path, before) = (Rc::clone(path), before.to_vec());
                let size = self.constant(&super::shapes::length_of_constant(&path, before.len()), Elem::USIZE);
                Ok(Seq::new([size], move |_: &mut Lower<'a>, ix: &[Term]| {
                    let indices = before.iter().chain(ix).copied().collect();
                    Ok(Value::Number(super::value::Number::At(Rc::clone(&path), indices).into()))
                }))
            }
            Value::Tuple(_) | Value::Struct(..) | Value::Enum(_) | Value::Node(_) => {
                let found = self.describe(value);
                Err(self.error(range, catalogue::expected(wanted::ITERATOR, &found)))
            }
            Value::Option(inner, exists) => {
                let (inner, exists) = ((**inner).clone(), *exists);
                let one = self.g.lit_usize(1);
                let mut seq = Seq::new([one], move |_, _| Ok(inner.clone()));
                seq.present = Some(Rc::new(move |_, _| Ok(exists)));
                Ok(seq)
            }
            Value::GrowableVec(stack) => self.vec_seq(&Rc::clone(stack)),
            Value::DynamicPart(open) => Ok(self.dynamic_seq(&Rc::clone(open))),
            Value::List(_) | Value::Nested(..) | Value::Filled(..) => {
                if let Value::List(parts) = value
                    && value.is_selected_from()
                {
                    return Ok(self.listed(Rc::clone(parts), range));
                }
                if let Value::List(parts) = value
                    && !parts.is_empty()
                    && parts.iter().all(Value::has_untyped_integers)
                {
                    return Ok(self.listed(Rc::clone(parts), range));
                }
                let (x, levels) = (self.array(value, range)?, value.levels());
                Ok(Seq::new(&self.g.shape(x)[..1], move |me: &mut Lower<'a>, ix: &[Term]| {
                    let row = me.g.index(x, ix);
                    Ok(Value::nested_element(&me.g, row, levels))
                }))
            }
            _ => {
                let x = self.array(value, range)?;
                Ok(self.seq_of(x))
            }
        }
    }

    /// The elements of a literal of tuples, selected by index.
    fn listed(&mut self, parts: Rc<[Value<'a>]>, range: SrcRange) -> Seq<'a> {
        let n = self.g.lit_usize(parts.len());
        Seq::new([n], move |me: &mut Lower<'a>, ix: &[Term]| {
            let at = ix.first().copied().ok_or(Poison)?;
            me.one_of(&parts, at, range)
        })
    }

    /// The element at an index that is in range.
    pub(super) fn one_of(&mut self, parts: &[Value<'a>], at: Term, range: SrcRange) -> Lowered<Value<'a>> {
        let open = |part: &Value<'a>| match part {
            Value::Number(n) if part.is_open() => Some(Rc::clone(n)),
            _ => None,
        };
        if let Some(numbers) = parts.iter().map(open).collect() {
            return Ok(Value::Number(Number::Of(numbers, at).into()));
        }
        let columns = |part: &Value<'a>| match part {
            Value::Tuple(columns) | Value::Struct(_, columns) | Value::List(columns) => Some(Rc::clone(columns)),
            _ => None,
        };
        if let Some(rows) = parts.iter().map(columns).collect::<Option<Vec<_>>>()
            && let Some(first) = parts.first()
            && parts.iter().all(|part| part.is_like(first))
        {
            let column = |k: usize| rows.iter().map(|row| row[k].clone()).collect::<Vec<Value<'a>>>();
            let columns = (0..rows[0].len()).map(|k| self.one_of(&column(k), at, range)).collect::<Lowered<_>>()?;
            return Ok(first.with_parts(columns));
        }
        let mut parts = parts.iter().enumerate().rev();
        let (_, last) = parts.next().ok_or(Poison)?;
        parts.try_fold(last.clone(), |rest, (k, part)| {
            let k = self.g.lit_usize(k);
            let cond = self.g.compare(Cmp::Eq, at, k);
            self.join(super::arith::Selection { cond, strict: false }, part, &rest, range)
        })
    }

    /// The length of an iterator with one index. It is not closed if it depends on enclosing loops.
    pub(super) fn length(&self, seq: &Seq<'a>) -> Lowered<Term> {
        match seq.len {
            Some(len) => Ok(len),
            None => seq.dims.first().copied().ok_or(Poison),
        }
    }

    /// The minimum of two lengths. The largest number means that there is no end.
    pub(super) fn shorter(&mut self, a: Term, b: Term) -> Term {
        let endless = self.g.lit_usize(usize::MAX);
        if a == b || b == endless {
            a
        } else if a == endless {
            b
        } else {
            self.g.int(IntOp::Min, a, b)
        }
    }

    /// The condition that an item exists at an index. `None` if one exists at every index of the
    /// loops.
    pub(super) fn present(&mut self, seq: &Seq<'a>, ix: &[Term]) -> Lowered<Option<Term>> {
        let mut cond = None;
        if let Some(len) = seq.len {
            cond = Some(self.g.compare(Cmp::Lt, ix.first().copied().ok_or(Poison)?, len));
        }
        if !seq.lens.is_empty() {
            cond = self.is_valid(&seq.lens, ix);
        }
        if let Some(present) = &seq.present {
            let kept = match cond {
                Some(c) => {
                    let kept = self.under(c, true, |me| present(me, ix))?;
                    self.g.and(c, kept)
                }
                None => present(self, ix)?,
            };
            cond = Some(kept);
        }
        Ok(cond)
    }

    /// Lowers something and drops the checks that it makes.
    pub(super) fn unchecked<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let (noted, mark) = (self.checkpoint(), self.state.facts.mark());
        let result = self.maybe_unreached(f);
        self.drop_checks_since(&noted);
        self.state.facts.forget(mark);
        result
    }
}

fn itself<'a>(_: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(call.arg(0)?.0.clone())
}

fn iter<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    Ok(Value::Seq(me.seq(x, range)?))
}

/// The parts of an array along its leading axes.
fn parts<'a>(me: &mut Lower<'a>, x: Term, axes: usize) -> Value<'a> {
    Value::Seq(Seq::new(&me.g.shape(x)[..axes], move |me: &mut Lower<'a>, ix: &[Term]| {
        Ok(Value::Term(me.g.index(x, ix)))
    }))
}

fn outer_iter<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    Ok(parts(me, x, 1))
}

fn axis_iter<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let axis = super::methods::sizes::axis_arg(me, call, x)?;
    let x = front_axis(me, x, axis);
    Ok(parts(me, x, 1))
}

fn rows<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let axes = me.g.rank(x) - 1;
    Ok(parts(me, x, axes))
}

/// The vectors along an axis. The axis becomes the last one.
fn along<'a>(me: &mut Lower<'a>, x: Term, axis: usize) -> Value<'a> {
    let rank = me.g.rank(x);
    let perm: Vec<u8> = (0..rank)
        .filter(|&k| k != axis)
        .chain(std::iter::once(axis))
        .map(|k| u8::try_from(k).unwrap_or(u8::MAX))
        .collect();
    let x = me.g.transpose(x, &perm);
    parts(me, x, rank - 1)
}

fn columns<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    Ok(along(me, x, 0))
}

fn lanes<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let axis = super::methods::sizes::axis_arg(me, call, x)?;
    Ok(along(me, x, axis))
}

fn indexed_iter<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    Ok(Value::Seq(Seq::new(me.g.shape(x), move |me: &mut Lower<'a>, ix: &[Term]| {
        let element = Value::Term(me.g.index(x, ix));
        Ok(Value::Tuple([super::methods::construct::position(ix), element].into()))
    })))
}

/// Windows or chunks of `size` elements of the first axis. Part k starts at `k * step`.
fn overlapping<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, by_one: bool) -> Lowered<Value<'a>> {
    let ((x, rx), (size, rs)) = (call.arg(0)?, call.arg(1)?);
    if let Value::Term(x) = x
        && me.g.rank(*x) > 1
    {
        return blocks(me, *x, (size, rs), by_one);
    }
    let levels = x.levels();
    let (list, x, exists) = list_or_vector(me, x, rx)?;
    let size = me.size(size, rs)?;
    let (zero, one) = (me.g.lit_usize(0), me.g.lit_usize(1));
    me.require_lt(zero, size, ad_ir::catalogue::reached::NO_ELEMENTS);
    let step = if by_one { one } else { size };
    let count = |me: &mut Lower<'a>, n: Term| {
        if by_one {
            let more = me.g.int(IntOp::Add, n, one);
            me.g.int(IntOp::Sub, more, size)
        } else {
            me.g.int(IntOp::Div, n, size)
        }
    };
    let n = me.g.shape(x)[0];
    let most = count(me, n);
    let remainder = (!by_one && list.is_none() && exists.is_none()).then(|| {
        let start = me.g.int(IntOp::Mul, most, size);
        let len = me.g.int(IntOp::Sub, n, start);
        let (mut starts, mut sizes) = (vec![zero; me.g.rank(x)], me.g.shape(x).to_vec());
        (starts[0], sizes[0]) = (start, len);
        let part = me.g.slice(x, &starts, &vec![1; starts.len()], &sizes);
        Rc::new(Value::nested(&me.g, part, levels))
    });
    let mut seq = Seq::new([most], move |me: &mut Lower<'a>, ix: &[Term]| {
        let start = me.g.int(IntOp::Mul, ix.first().copied().ok_or(Poison)?, step);
        let var = me.g.fresh();
        let offset = me.g.mk(Node::Var(var));
        let at = me.g.int(IntOp::Add, start, offset);
        let mut part = |t: Term| me.g.gather(t, [size].into(), &[var], &[at]);
        match &list {
            Some(list) => {
                let all = list.all.iter().map(|&t| part(t)).collect();
                Ok(me.list_of(list.form.clone(), all, size))
            }
            None => {
                let part = part(x);
                Ok(Value::nested(&me.g, part, levels))
            }
        }
    });
    seq.len = exists.map(|exists| count(me, exists));
    seq.remainder = remainder;
    Ok(Value::Seq(seq))
}

/// The items after the last whole chunk.
fn remainder<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let found = match x {
        Value::Seq(seq) => seq.remainder.as_ref(),
        Value::Cursor(cursor) => cursor.seq.remainder.as_ref(),
        _ => None,
    };
    match found {
        Some(rest) => Ok((**rest).clone()),
        None => {
            let found = me.describe(x);
            Err(me.error(range, catalogue::unknown_method(call.name(), &found, None, false)))
        }
    }
}

/// Windows or chunks of an array of several axes, with a size for each axis.
fn blocks<'a>(me: &mut Lower<'a>, x: Term, (sizes, range): (&Value<'a>, SrcRange), by_one: bool) -> Lowered<Value<'a>> {
    let sizes = me.sizes(sizes, range)?;
    let rank = me.g.rank(x);
    if sizes.len() != rank {
        return Err(me.error(range, catalogue::part_sizes(rank, sizes.len())));
    }
    let (zero, one) = (me.g.lit_usize(0), me.g.lit_usize(1));
    let mut counts = Vec::new();
    for (axis, &size) in sizes.iter().enumerate() {
        me.require_lt(zero, size, ad_ir::catalogue::reached::NO_ELEMENTS);
        let n = me.g.shape(x)[axis];
        counts.push(if by_one {
            let more = me.g.int(IntOp::Add, n, one);
            me.g.int(IntOp::Sub, more, size)
        } else {
            me.g.int(IntOp::Div, n, size)
        });
    }
    Ok(Value::Seq(Seq::new(counts, move |me: &mut Lower<'a>, ix: &[Term]| {
        let (mut vars, mut at) = (Vec::new(), Vec::new());
        for (&i, &size) in ix.iter().zip(&sizes) {
            let start = if by_one { i } else { me.g.int(IntOp::Mul, i, size) };
            let var = me.g.fresh();
            let offset = me.g.mk(Node::Var(var));
            vars.push(var);
            at.push(me.g.int(IntOp::Add, start, offset));
        }
        Ok(Value::Term(me.g.gather(x, sizes.clone().into(), &vars, &at)))
    })))
}

/// A list whose elements are products or arrays, if the value is one. Else a vector. The last is
/// the number of elements, if it is not the size of the array.
fn list_or_vector<'a>(
    me: &mut Lower<'a>,
    x: &Value<'a>,
    range: SrcRange,
) -> Lowered<(Option<super::stack::GrowableVec<'a>>, Term, Option<Term>)> {
    if let Value::GrowableVec(list) = x
        && let Some(&first) = list.all.first()
        && list.window.is_none()
    {
        if me.is_fixed(list) {
            let list = me.without_padding(list);
            let first = list.all.first().copied().ok_or(Poison)?;
            return Ok((Some(list), first, None));
        }
        let of_arrays = me.g.rank(first) > 1 && !me.g.is_closed(list.len);
        if of_arrays || list.as_single_array().is_none() {
            return Ok((Some((**list).clone()), first, Some(list.len)));
        }
    }
    if x.levels() > 0 {
        return Ok((None, me.array(x, range)?, None));
    }
    let (x, exists) = vector_or_part(me, x, range)?;
    Ok((None, x, exists))
}

/// A vector, or a part of one with its length.
fn vector_or_part<'a>(me: &mut Lower<'a>, x: &Value<'a>, range: SrcRange) -> Lowered<(Term, Option<Term>)> {
    let (x, exists) = match x {
        Value::GrowableVec(stack) if stack.as_single_array().is_some() && !me.g.is_closed(stack.len) => {
            (stack.all.first().copied().ok_or(Poison)?, Some(stack.len))
        }
        x => (me.array(x, range)?, None),
    };
    if me.g.rank(x) == 1 {
        return Ok((x, exists));
    }
    let found = me.describe(&Value::Term(x));
    Err(me.error(range, catalogue::expected(wanted::VECTOR, &found)))
}

fn windows<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    overlapping(me, call, true)
}

fn chunks<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    overlapping(me, call, false)
}

/// Chunks along the first axis. The last chunk may be shorter.
fn all_chunks<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (size, rs)) = (call.arg(0)?, call.arg(1)?);
    let levels = x.levels();
    let (list, x, exists) = list_or_vector(me, x, rx)?;
    let size = me.size(size, rs)?;
    let (zero, one) = (me.g.lit_usize(0), me.g.lit_usize(1));
    me.require_lt(zero, size, ad_ir::catalogue::reached::NO_ELEMENTS);
    let less = me.g.int(IntOp::Sub, size, one);
    let count = |me: &mut Lower<'a>, n: Term| {
        let more = me.g.int(IntOp::Add, n, less);
        me.g.int(IntOp::Div, more, size)
    };
    let all = me.g.shape(x)[0];
    let (most, n) = (count(me, all), exists.unwrap_or(all));
    let mut seq = Seq::new([most], move |me: &mut Lower<'a>, ix: &[Term]| {
        let start = me.g.int(IntOp::Mul, ix.first().copied().ok_or(Poison)?, size);
        let var = me.g.fresh();
        let offset = me.g.mk(Node::Var(var));
        let at = me.g.int(IntOp::Add, start, offset);
        let arrays = list.as_ref().map_or_else(|| vec![x], |list| list.all.clone());
        let all = arrays.into_iter().map(|t| me.g.gather(t, [size].into(), &[var], &[at])).collect();
        let rest = me.g.int(IntOp::Sub, n, start);
        let (len, more) = (me.g.int(IntOp::Min, size, rest), me.no_growth());
        let form = match &list {
            Some(list) => list.form.clone(),
            None => super::carry::CarriedForm::Leaf { levels: Value::levels_inside(&me.g, x, levels) },
        };
        Ok(Value::GrowableVec(Rc::new(super::stack::GrowableVec {
            all,
            form,
            ..super::stack::GrowableVec::without_arrays(len, more)
        })))
    });
    seq.len = exists.map(|exists| count(me, exists));
    Ok(Value::Seq(seq))
}

/// Chunks along an axis. The last chunk may be smaller, so its size depends on the loop.
fn axis_chunks<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (size, rs)) = (call.arg(0)?, call.arg(2)?);
    let x = me.array(x, rx)?;
    let axis = super::methods::sizes::axis_arg(me, call, x)?;
    let size = me.size(size, rs)?;
    let (zero, one) = (me.g.lit_usize(0), me.g.lit_usize(1));
    me.require_lt(zero, size, ad_ir::catalogue::reached::NO_ELEMENTS);
    let (n, rank) = (me.g.shape(x)[axis], me.g.rank(x));
    let less = me.g.int(IntOp::Sub, size, one);
    let more = me.g.int(IntOp::Add, n, less);
    let count = me.g.int(IntOp::Div, more, size);
    let first = front_axis(me, x, axis);
    Ok(Value::Seq(Seq::new([count], move |me: &mut Lower<'a>, ix: &[Term]| {
        let start = me.g.int(IntOp::Mul, ix.first().copied().ok_or(Poison)?, size);
        let var = me.g.fresh();
        let offset = me.g.mk(Node::Var(var));
        let at = me.g.int(IntOp::Add, start, offset);
        let all = me.g.gather(first, [size].into(), &[var], &[at]);
        let all = super::methods::layout::move_axis(me, all, 0, axis);
        let rest = me.g.int(IntOp::Sub, n, start);
        let len = me.g.int(IntOp::Min, size, rest);
        let lens: Vec<Option<Term>> = (0..rank).map(|k| (k == axis).then_some(len)).collect();
        Ok(me.dynamic_part(all, &lens))
    })))
}

fn repeated<'a>(item: &Value<'a>, n: Term) -> Value<'a> {
    let item = item.clone();
    Value::Seq(Seq::new([n], move |_: &mut Lower<'a>, _: &[Term]| Ok(item.clone())))
}

fn repeat<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let endless = me.g.lit_usize(usize::MAX);
    Ok(repeated(call.arg(0)?.0, endless))
}

fn repeat_n<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (n, range) = call.arg(1)?;
    let n = me.size(n, range)?;
    Ok(repeated(call.arg(0)?.0, n))
}

fn once<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let one = me.g.lit_usize(1);
    Ok(repeated(call.arg(0)?.0, one))
}
