//! Sorting: the order of the elements is a permutation of integers that comparisons compute, and
//! the sorted elements are a gather. So a comparison is an exact decision, and the derivative of
//! the elements is a scatter.
//!
//! The permutation is found by merging runs of 1, 2, 4, .. elements, as a function of the source
//! language that is lowered like one of the user's. Invariant: equal elements keep their order, as
//! in Rust, and std's `sort_unstable_by` may order them in another way.

use std::cell::OnceCell;

use syn::ItemFn;

use super::arith::axis_words;
use super::changes::{moved, place_arg};
use super::functions::require_elements;
use super::lower::Lower;
use super::methods::layout::move_axis;
use super::refs::results;
use super::table::{Call, On, Row, row};
use super::value::{Lowered, Value, Want};
use crate::translation::inference::InferenceKey;
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::Poison;
use ad_ir::ir::{Elem, Term};

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

/// The way in which two elements are compared.
#[derive(Clone, Copy)]
enum ComparedBy {
    Comparison,
    Key,
    Value,
    /// Real numbers: NaN comes last, and -0 is 0.
    Number,
}

/// The functions that find the order, each parsed where it is used first.
#[derive(Default)]
pub(super) struct Routines {
    order: SortedIndices,
    place: OnceCell<Option<ItemFn>>,
    line: OnceCell<Option<ItemFn>>,
}

#[derive(Default)]
struct SortedIndices([OnceCell<Option<ItemFn>>; 4]);

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

impl SortedIndices {
    fn get(&self, by: ComparedBy) -> Option<&ItemFn> {
        let (parameter, before) = match by {
            ComparedBy::Comparison => (", compare: F_", "compare(&items[from[j]], &items[from[i]]).is_lt()"),
            ComparedBy::Key => (", key: F_", "key(&items[from[j]]).cmp(&key(&items[from[i]])).is_lt()"),
            ComparedBy::Value => ("", "items[from[j]].cmp(&items[from[i]]).is_lt()"),
            ComparedBy::Number => {
                ("", "(items[from[j]] < items[from[i]] || !items[from[j]].is_nan() && items[from[i]].is_nan())")
            }
        };
        let parse = || {
            let text = format!(
                "fn order_of<I_, F_>(items: &[I_]{parameter}) -> Vec<usize> {{
                    let n = items.len();
                    let mut order: Vec<usize> = items.iter().enumerate().map(|(i, _)| i).collect();
                    let mut width = 1_usize;
                    while width < n {{
                        let from = order.clone();
                        let mut i = 0_usize;
                        let mut j = 0_usize;
                        for k in 0..n {{
                            let start = k - k % (2 * width);
                            let middle = (start + width).min(n);
                            let end = (middle + width).min(n);
                            if k == start {{
                                i = start;
                                j = middle;
                            }}
                            if j >= end || i < middle && !{before} {{
                                order[k] = from[i];
                                i += 1;
                            }} else {{
                                order[k] = from[j];
                                j += 1;
                            }}
                        }}
                        width *= 2;
                    }}
                    order
                }}"
            );
            syn::parse_str(&text).ok()
        };
        self.0[by as usize].get_or_init(parse).as_ref()
    }
}

fn sorted<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, by: ComparedBy) -> Lowered<Value<'a>> {
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
    let routine = me.input.definitions().routines.order.get(by).ok_or(Poison)?;
    let function = me.nested_function(routine)?;
    let args: Vec<Value> = std::iter::once(items).chain(call.args.iter().skip(1).cloned()).collect();
    let order = me.apply(&function, &args, call.range)?;
    // Elements after the last one are moved too, if a step decides how many there are.
    let order = match me.as_growable(&order, call.range)? {
        Some(order) => order.all.first().copied().ok_or(Poison)?,
        None => me.array(&order, call.range)?,
    };
    moved(me, &place, |me, i, _| me.g.index(order, &[i]))
}

fn sort_by<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    sorted(me, call, ComparedBy::Comparison)
}

fn sort_by_key<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    sorted(me, call, ComparedBy::Key)
}

fn sort<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let items = me.read_place(&place)?;
    if me.elem_of(&items).is_some_and(Elem::is_real) {
        return Err(me.error(call.range, catalogue::sort_of_reals(call.name(), &place.text)));
    }
    sorted(me, call, ComparedBy::Value)
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
    let routine = me.input.definitions().routines.order.get(ComparedBy::Number);
    let order = through(me, call, routine, &[Value::Term(x)])?;
    me.array(&order, call.range)
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
