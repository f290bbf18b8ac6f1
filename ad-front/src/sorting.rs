//! Sorting: the order of the elements is a permutation of integers, and the sorted elements are a
//! gather. So a comparison is an exact decision, and the derivative of the elements is a scatter.
//!
//! A comparison is lowered for two placeholder items, to see which keys it compares. The keys are
//! integers, or become integers in the order of the reals, and a primitive sorts them. If a
//! comparison has no keys, the elements are merged by a function of the source language that is
//! lowered like one of the user's. Invariant: equal elements keep their order, as in Rust, and
//! std's `sort_unstable_by` may order them in another way.

use std::cell::OnceCell;

use syn::ItemFn;

use super::arith::axis_words;
use super::changes::{moved, place_arg};
use super::functions::require_elements;
use super::iter::choose::{Comparison, Keys, compared_keys};
use super::lower::Lower;
use super::methods::layout::move_axis;
use super::order::KeyPair;
use super::refs::results;
use super::table::{Call, On, Row, row};
use super::value::{Lowered, Seq, Value, Want};
use crate::translation::inference::InferenceKey;
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Elem, IntTy, Lit, Term};
use ad_ir::prim::{Cmp, Prim};

/// Methods that sort.
pub(super) const TABLE: &[Row] = &[
    row("sort_by", On::Place, (1, 1), sort_by, "puts the elements of a slice or `Vec` in the order of f(a, b)")
        .of_vectors(),
    row("sort_unstable_by", On::Place, (1, 1), sort_by, "the same, where equal elements may change places")
        .of_vectors(),
    row("sort_by_key", On::Place, (1, 1), sort_by_key, "puts the elements in the order of the integers f(a)")
        .of_vectors(),
    row("sort_unstable_by_key", On::Place, (1, 1), sort_by_key, "the same, where equal elements may change places")
        .of_vectors(),
    row("sort", On::Place, (0, 0), sort, "puts integers in ascending order").of_vectors(),
    row("sort_unstable", On::Place, (0, 0), sort, "puts integers in ascending order").of_vectors(),
];

/// Functions of `ad::prelude` that sort, and that search what is sorted.
pub(super) const FUNCTIONS: &[Row] = &[
    row("sort", On::Common, (1, 1), sorted_copy, "the elements of a vector in ascending order")
        .called("&[0.0_f64; 1]")
        .gives(results::array),
    row("argsort", On::Common, (1, 1), argsort, "the positions of the elements in ascending order")
        .called("&[0.0_f64; 1]")
        .gives(results::array),
    row("searchsorted", On::Common, (2, 2), searchsorted, "the index of the first element not less than v")
        .called("&[0.0_f64; 1], 0.0_f64")
        .gives(results::number),
    row("interp", On::Common, (3, 3), interp, "the piecewise linear function through points, at x")
        .called("0.0_f64, &[0.0_f64; 1], &[0.0_f64; 1]")
        .gives(results::number),
    row("cumprod", On::Common, (1, 1), cumprod, "products of the elements so far, along the last axis")
        .called("&[0.0_f64; 1]")
        .gives(results::array),
];

/// The functions that sort and search, each parsed where it is used first.
#[derive(Default)]
pub(super) struct Routines {
    order: OnceCell<Option<ItemFn>>,
    place: OnceCell<Option<ItemFn>>,
    line: OnceCell<Option<ItemFn>>,
}

/// The order of elements whose comparison has no key. Runs of 1, 2, 4, .. elements are merged.
const MERGED: &str = "fn order_of<I_, F_>(items: &[I_], compare: F_) -> Vec<usize> {
    let n = items.len();
    let mut order: Vec<usize> = items.iter().enumerate().map(|(i, _)| i).collect();
    let mut width = 1_usize;
    while width < n {
        let from = order.clone();
        let mut i = 0_usize;
        let mut j = 0_usize;
        for k in 0..n {
            let start = k - k % (2 * width);
            let middle = (start + width).min(n);
            let end = (middle + width).min(n);
            if k == start {
                i = start;
                j = middle;
            }
            if j >= end || i < middle && !compare(&items[from[j]], &items[from[i]]).is_lt() {
                order[k] = from[i];
                i += 1;
            } else {
                order[k] = from[j];
                j += 1;
            }
        }
        width *= 2;
    }
    order
}";

/// The number of elements that are less than v.
const PLACE: &str = "fn place_of<I_, T_>(items: &[I_], v: T_) -> usize {
    items.partition_point(|e| *e < v)
}";

/// Beyond the ends the value is that of the end, and a point belongs to the line after it.
const LINE: &str = "fn line_at<T_, X_, Y_>(x: T_, xs: &[X_], ys: &[Y_]) -> T_ {
    let n = xs.len();
    if x < xs[0] {
        ys[0]
    } else if x >= xs[n - 1] {
        ys[n - 1]
    } else {
        let k = xs.partition_point(|e| *e <= x).max(1).min(n - 1);
        let j = k.saturating_sub(1);
        ys[j] + (x - xs[j]) / (xs[k] - xs[j]) * (ys[k] - ys[j])
    }
}";

/// The integer of a key, which is a scalar. Integers are in the order of their keys: -0 is 0, and
/// NaN comes last, if there may be one.
fn rank(me: &mut Lower<'_>, key: Term, may_be_nan: bool) -> Term {
    let Elem::Real(ty) = me.g.elem(key) else { return key };
    let zero = me.g.lit_real(ty, 0.0);
    let is_zero = me.g.compare(Cmp::Eq, key, zero);
    let x = me.g.select(is_zero, zero, key);
    let in_order = me.g.prim(Prim::TotalOrder, &[x]);
    if !may_be_nan {
        return in_order;
    }
    let (is_number, last) = (me.g.compare(Cmp::Eq, key, key), me.g.lit(Lit::Int(IntTy::I64, i64::MAX.into())));
    me.g.select(is_number, in_order, last)
}

/// The positions of the items in the order of their keys. Positions after the last item stay as
/// they are.
fn order_by_keys<'a>(me: &mut Lower<'a>, seq: &Seq<'a>, keys: &Keys, range: SrcRange) -> Lowered<Term> {
    let n = seq.dims.first().copied().ok_or(Poison)?;
    let count = me.unchecked(|me| me.item_count(seq, range))?;
    let at = |me: &mut Lower<'a>, x: Term, places: Term| {
        me.build_with(n, range, |me, i| {
            let place = me.g.index(places, &[i]);
            Ok(Value::Term(me.g.index(x, &[place])))
        })
    };
    let mut order = None;
    // Equal elements keep their order, so the most significant key comes last.
    for &(key, descending) in keys.iter().rev() {
        order = Some(match order {
            None => argsort_of(me, key, count, descending),
            Some(so_far) => {
                let key = at(me, key, so_far)?;
                let places = argsort_of(me, key, count, descending);
                at(me, so_far, places)?
            }
        });
    }
    Ok(order.unwrap_or_else(|| me.g.iota(n)))
}

/// The positions of the first `count` of these integers in their order.
fn argsort_of(me: &mut Lower<'_>, key: Term, count: Term, descending: bool) -> Term {
    let one = me.g.lit_usize(1);
    let lens = me.g.replicate(one, count);
    me.g.prim(Prim::Argsort(descending), &[lens, key])
}

fn sorted<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, compare: &Comparison<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let mut items = me.read_place(&place)?;
    if let Value::Never = items {
        return Ok(Value::Unit);
    }
    if let Value::List(parts) = &items
        && items.is_selected_from()
    {
        let (n, key) = (me.g.lit_usize(parts.len()), InferenceKey::at_address(me.state.source.address(), "sorted"));
        items = match me.stack(&items, n, &key, place.range)? {
            Some(list) => Value::GrowableVec(list.into()),
            None => items,
        };
        me.write_place(&place, items.clone())?;
    }
    let seq = me.seq(&items, place.range)?;
    let ranked = |me: &mut Lower<'a>, items: [Value<'a>; 2]| {
        let mut order = compare(me, items)?;
        for pair in &mut order.0 {
            *pair = KeyPair::of(pair.keys.map(|key| rank(me, key, pair.nan_is_equal)));
        }
        Ok(order)
    };
    let order = match compared_keys(me, &seq, &ranked, call.range)? {
        Some(keys) => order_by_keys(me, &seq, &keys, call.range)?,
        None => merged(me, call, items)?,
    };
    moved(me, &place, |me, i, _| me.g.index(order, &[i]))
}

/// The order of items that a closure compares in a way that has no key.
fn merged<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, items: Value<'a>) -> Lowered<Term> {
    let definitions = me.input.definitions();
    let routine = definitions.routines.order.get_or_init(|| syn::parse_str(MERGED).ok()).as_ref();
    let function = me.nested_function(routine.ok_or(Poison)?)?;
    let order = me.apply(&function, &[items, call.arg(1)?.0.clone()], call.range)?;
    // Elements after the last one are moved too, if a step decides how many there are.
    match me.as_growable(&order, call.range)? {
        Some(order) => order.all.first().copied().ok_or(Poison),
        None => me.array(&order, call.range),
    }
}

fn sort_by<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (f, range) = call.arg(1)?;
    sorted(me, call, &|me, items| {
        let value = me.apply(f, &items, range)?;
        me.ordering(&value, range)
    })
}

fn sort_by_key<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (f, range) = call.arg(1)?;
    sorted(me, call, &|me, [a, b]| {
        let (a, b) = (me.apply(f, &[a], range)?, me.apply(f, &[b], range)?);
        me.integer_order(&a, &b, range)
    })
}

fn sort<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let items = me.read_place(&place)?;
    if me.elem_of(&items).is_some_and(Elem::is_real) {
        return Err(me.error(call.range, catalogue::sort_of_reals(call.name(), &place.text)));
    }
    sorted(me, call, &|me, [a, b]| me.integer_order(&a, &b, call.range))
}

/// An argument that is a vector of reals.
pub(super) fn vector<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, k: usize) -> Lowered<Term> {
    let (value, range) = call.arg(k)?;
    let x = me.array(value, range)?;
    let x = me.real_term(&Value::Term(x), range)?;
    if me.g.rank(x) == 1 {
        return Ok(x);
    }
    let found = me.describe(value);
    Err(me.error(range, catalogue::expected(wanted::VECTOR, &found)))
}

/// Calls a function of the source language.
fn through<'a>(
    me: &mut Lower<'a>,
    call: &Call<'a, '_>,
    routine: Option<&'a ItemFn>,
    args: &[Value<'a>],
) -> Lowered<Value<'a>> {
    let function = me.nested_function(routine.ok_or(Poison)?)?;
    me.apply(&function, args, call.range)
}

/// The positions of the elements in ascending order.
fn order_of<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, x: Term) -> Lowered<Term> {
    let n = me.g.shape(x)[0];
    let ranks = me.build_with(n, call.range, |me, i| {
        let element = me.g.index(x, &[i]);
        Ok(Value::Term(rank(me, element, true)))
    })?;
    Ok(argsort_of(me, ranks, n, false))
}

fn argsort<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let x = vector(me, call, 0)?;
    Ok(Value::Term(order_of(me, call, x)?))
}

fn sorted_copy<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let x = vector(me, call, 0)?;
    let order = order_of(me, call, x)?;
    let n = me.g.shape(x)[0];
    let sorted = me.build_with(n, call.range, |me, i| {
        let from = me.g.index(order, &[i]);
        Ok(Value::Term(me.g.index(x, &[from])))
    })?;
    Ok(Value::Term(sorted))
}

fn searchsorted<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let x = vector(me, call, 0)?;
    let (v, range) = call.arg(1)?;
    let v = me.term_as(v, Want::Elem(me.g.elem(x)), range)?;
    let definitions = me.input.definitions();
    let routine = definitions.routines.place.get_or_init(|| syn::parse_str(PLACE).ok()).as_ref();
    through(me, call, routine, &[Value::Term(x), Value::Term(v)])
}

fn interp<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (xs, ys) = (vector(me, call, 1)?, vector(me, call, 2)?);
    let (x, range) = call.arg(0)?;
    let x = me.term_as(x, Want::Elem(me.g.elem(xs)), range)?;
    let (n, m) = (me.g.shape(xs)[0], me.g.shape(ys)[0]);
    me.equate(n, m, [axis_words(call.text(1), 0, 1), axis_words(call.text(2), 0, 1)], call.range)?;
    let ys = me.g.recast(ys, &[n]);
    require_elements(me, xs, "interp of an empty array");
    let definitions = me.input.definitions();
    let routine = definitions.routines.line.get_or_init(|| syn::parse_str(LINE).ok()).as_ref();
    through(me, call, routine, &[Value::Term(x), Value::Term(xs), Value::Term(ys)])
}

fn cumprod<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (value, range) = call.arg(0)?;
    let x = me.array(value, range)?;
    let x = me.real_term(&Value::Term(x), range)?;
    let last = me.g.rank(x) - 1;
    let x = move_axis(me, x, last, 0);
    let shape = me.g.shape(x).to_vec();
    let one = me.g.lit_shaped(me.g.elem(x), &shape[1..], 1.0);
    let (_, rows) = me.in_steps(shape[0], false, vec![one], |me, i, now| {
        let factors = me.g.index(x, &[i]);
        let product = me.g.mul(now[0], factors);
        Ok((vec![product], vec![product]))
    })?;
    Ok(Value::Term(move_axis(me, rows[0], 0, last)))
}
