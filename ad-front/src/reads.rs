//! Reads of elements and parts that return an `Option`, and methods that split an array.

use std::rc::Rc;

use super::lower::Lower;
use super::methods::parts;
use super::refs::results;
use super::slice::SliceAxis;
use super::stack::GrowableVec;
use super::table::{Call, On, OnDynamicParts, Row, row};
use super::value::{Lowered, Range, Value};
use ad_ir::catalogue::{self, refused};
use ad_ir::diag::Poison;
use ad_ir::ir::Term;
use ad_ir::memory_order::ResultOrder;
use ad_ir::prim::{Cmp, IntOp};
use ad_ir::program::Takes;

/// Methods of arrays and slices.
pub(super) const TABLE: &[Row] = &[
    row("get", On::Array, (1, 1), get, "the element at an index, an `Option`")
        .order(ResultOrder::Given)
        .of_vectors_too()
        .gives(results::some_element)
        .parts(OnDynamicParts::AsVector),
    row("first", On::Array, (0, 0), first, "the first element, an `Option`")
        .order(ResultOrder::Given)
        .of_vectors_too()
        .gives(results::some_element)
        .parts(OnDynamicParts::AsVector),
    row("last", On::Array, (0, 0), last, "the last element, an `Option`")
        .order(ResultOrder::Given)
        .of_vectors_too()
        .gives(results::some_element)
        .parts(OnDynamicParts::AsVector),
    row("split_first", On::Array, (0, 0), split_first, "the first element and the rest, an `Option`")
        .order(ResultOrder::View)
        .of_vectors_too(),
    row("split_last", On::Array, (0, 0), split_last, "the last element and the rest, an `Option`")
        .order(ResultOrder::View)
        .of_vectors_too(),
    row("split_at", On::Array, (1, 2), split_at, "what is before an index, and what is behind it")
        .order(ResultOrder::View)
        .of_vectors_too()
        .takes(Takes::Value)
        .parts(OnDynamicParts::By(parts::split_at)),
];

/// An element as an `Option`. If there are fewer indices than axes, it is a row of an array of
/// arrays. If it never exists, its type is compatible with any other.
fn element<'a>(me: &mut Lower<'a>, (x, levels): (Term, u8), index: &[Term]) -> Value<'a> {
    let mut exists = me.g.lit_bool(true);
    for (&i, n) in index.iter().zip(me.g.shape(x).to_vec()) {
        let inside = me.g.compare(Cmp::Lt, i, n);
        exists = me.g.and(exists, inside);
    }
    there_or_nothing(me, (x, levels), index, exists)
}

fn there_or_nothing<'a>(me: &mut Lower<'a>, (x, levels): (Term, u8), index: &[Term], exists: Term) -> Value<'a> {
    if me.g.bool_value(exists) == Some(false) {
        return Value::None;
    }
    let part = me.g.index(x, index);
    Value::Option(Value::nested_element(&me.g, part, levels).into(), exists)
}

/// The number of indices of an element.
fn axes(me: &Lower, levels: u8, x: Term) -> usize {
    if levels > 0 { 1 } else { me.g.rank(x) }
}

fn get<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (index, ri)) = (call.arg(0)?, call.arg(1)?);
    if let Value::GrowableVec(stack) = x
        && !matches!(index, Value::Range(_))
    {
        let at = me.usize(index, ri)?;
        return of_stack(me, &Rc::clone(stack), at);
    }
    let (levels, x) = (x.levels(), me.array(x, rx)?);
    let parts: Vec<Value> = match index {
        Value::List(parts) | Value::Tuple(parts) => parts.to_vec(),
        Value::Range(_) => return Err(me.error(ri, refused::construct(refused::Construct::GetOfRange))),
        one => vec![one.clone()],
    };
    let wanted = axes(me, levels, x);
    if parts.len() != wanted {
        return Err(me.error(ri, catalogue::index_rank(parts.len(), wanted)));
    }
    let index = parts.iter().map(|p| me.usize(p, ri)).collect::<Lowered<Vec<Term>>>()?;
    Ok(element(me, (x, levels), &index))
}

/// An element of a growable `Vec`.
fn of_stack<'a>(me: &mut Lower<'a>, stack: &GrowableVec<'a>, at: Term) -> Lowered<Value<'a>> {
    let exists = me.g.compare(Cmp::Lt, at, stack.len);
    let value = me.under(exists, true, |me| me.vec_element(stack, at))?;
    Ok(Value::Option(value.into(), exists))
}

pub(super) fn first<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    if let Value::GrowableVec(stack) = x {
        let zero = me.g.lit_usize(0);
        return of_stack(me, &Rc::clone(stack), zero);
    }
    let (levels, x) = (x.levels(), me.array(x, range)?);
    let zero = me.g.lit_usize(0);
    let index = vec![zero; axes(me, levels, x)];
    Ok(element(me, (x, levels), &index))
}

pub(super) fn last<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    if let Value::GrowableVec(stack) = x {
        let stack = Rc::clone(stack);
        let Value::Option(value, _) = ({
            let one = me.g.lit_usize(1);
            let at = me.g.int(IntOp::Sub, stack.len, one);
            of_stack(me, &stack, at)?
        }) else {
            return Err(Poison);
        };
        let zero = me.g.lit_usize(0);
        let exists = me.g.compare(Cmp::Lt, zero, stack.len);
        return Ok(Value::Option(value, exists));
    }
    let (levels, x) = (x.levels(), me.array(x, range)?);
    let (zero, one) = (me.g.lit_usize(0), me.g.lit_usize(1));
    let sizes = me.g.shape(x)[..axes(me, levels, x)].to_vec();
    let (mut exists, mut index) = (me.g.lit_bool(true), Vec::new());
    for n in sizes {
        let some = me.g.compare(Cmp::Lt, zero, n);
        exists = me.g.and(exists, some);
        index.push(me.g.int(IntOp::Sub, n, one));
    }
    Ok(there_or_nothing(me, (x, levels), &index, exists))
}

/// The rows `start..end` of the first axis. They are known to be in range.
fn rows<'a>(
    me: &mut Lower<'a>,
    x: Term,
    start: Option<Term>,
    end: Option<Term>,
    call: &Call<'a, '_>,
) -> Lowered<Value<'a>> {
    let range = Range { start: start.map(Value::Term), end: end.map(Value::Term), inclusive: false, key: None };
    Ok(Value::Term(me.slice(x, &[SliceAxis::Range(Rc::new(range), None)], call.range)?))
}

fn split_end<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, front: bool) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    if let Value::GrowableVec(list) = x {
        let ends = if front { [1, 0] } else { [0, 1] };
        let (mut parts, exists) = me.elements_apart(&Rc::clone(list), ends, Some(0), range)?;
        if !front {
            parts.reverse();
        }
        return Ok(Value::Option(Value::Tuple(parts.into()).into(), exists));
    }
    let levels = x.levels();
    let x = me.array(x, range)?;
    let (zero, one, n) = (me.g.lit_usize(0), me.g.lit_usize(1), me.g.shape(x)[0]);
    let exists = me.g.compare(Cmp::Lt, zero, n);
    let last = me.g.int(IntOp::Sub, n, one);
    let (at, start, end) = if front { (zero, Some(one), None) } else { (last, None, Some(last)) };
    if me.g.bool_value(exists) == Some(false) {
        return Ok(Value::None);
    }
    let element = me.g.index(x, &[at]);
    let element = Value::nested_element(&me.g, element, levels);
    let rest = me.under(exists, true, |me| rows(me, x, start, end, call))?;
    let rest = me.part_of_rows(rest, levels)?;
    Ok(Value::Option(Value::Tuple([element, rest].into()).into(), exists))
}

fn split_first<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    split_end(me, call, true)
}

fn split_last<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    split_end(me, call, false)
}

/// `x.split_at(k)` of slices, `x.split_at(Axis(k), i)` of arrays.
fn split_at<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let (all, levels) = (me.array(x, range)?, x.levels());
    let lens = vec![None; me.g.rank(all)].into();
    let parts = parts::split_at(me, &super::open::DynamicPart { all, lens }, call)?;
    let Value::Tuple(parts) = &parts else { return Err(Poison) };
    let parts = parts.iter().map(|part| me.part_of_rows(part.clone(), levels)).collect::<Lowered<Vec<Value>>>()?;
    Ok(Value::Tuple(parts.into()))
}
