//! Consumers that select one item of an iterator: by position, by a test, or by the largest or
//! smallest key.
//!
//! A comparing closure is lowered once, for two placeholder items, to see that it compares one key
//! of each. The result is the item with the extreme key. Of equal items `max_by` returns the last
//! and `min_by` the first, as in Rust.

use std::rc::Rc;

use super::consume::{evaluate_all, tests};
use crate::lower::Lower;
use crate::order::{KeyPair, KeyPairs};
use crate::refs::results;
use crate::table::{self, Call, Mark, On, Row, row};
use crate::value::{Lowered, Seq, Value};
use ad_ir::catalogue::refused;
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Elem, Lit, Node, Term};
use ad_ir::memory_order::ReductionOrder;
use ad_ir::prim::{Cmp, IntOp, Reduce};

/// Consumers that return an item as an `Option`.
pub(crate) const TABLE: &[Row] = &[
    row("max", On::Iter, (0, 0), max, "the largest of integers, an `Option`").gives(results::some_item),
    row("min", On::Iter, (0, 0), min, "the smallest of integers, an `Option`").gives(results::some_item),
    row("max_by", On::Iter, (1, 1), max_by, "the largest item by a comparison, an `Option`")
        .gives(results::compared_item),
    row("min_by", On::Iter, (1, 1), min_by, "the smallest item by a comparison, an `Option`")
        .gives(results::compared_item),
    row("max_by_key", On::Iter, (1, 1), max_by_key, "the item of the largest key, an `Option`"),
    row("min_by_key", On::Iter, (1, 1), min_by_key, "the item of the smallest key, an `Option`"),
    row("contains", On::Iter, (1, 1), in_range, "whether a range has a number: `(0.0..1.0).contains(&x)`"),
    row("contains", On::Array, (1, 1), among, "whether an element of a slice or `Vec` is equal")
        .reduces(ReductionOrder::Logical)
        .of_vectors(),
    row("last", On::Iter, (0, 0), last, "the last item, an `Option`").gives(results::some_item),
    row("nth", On::Iter, (1, 1), nth, "the item at an index, an `Option`").marks(&[Mark::Advances, Mark::Stops]),
    row("position", On::Iter, (1, 1), position, "the index of the first item for which f holds, an `Option`")
        .gives(results::tested_items)
        .marks(&[Mark::Advances, Mark::Stops]),
    row("rposition", On::Iter, (1, 1), rposition, "the index of the last item for which f holds, an `Option`")
        .gives(results::tested_items)
        .marks(&[Mark::Advances, Mark::Stops]),
    row("find", On::Iter, (1, 1), find, "the first item for which f holds, an `Option`")
        .gives(results::found_item)
        .marks(&[Mark::Advances, Mark::Stops]),
];

/// The extreme that is selected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extreme {
    /// The last of the largest items.
    Largest,
    /// The first of the smallest items.
    Smallest,
}

/// Arrays of keys by which items are compared. The flag says whether a smaller key counts as
/// larger.
pub(crate) type Keys = Vec<(Term, bool)>;

/// A comparison of two items.
pub(crate) type Comparison<'a, 'f> = dyn Fn(&mut Lower<'a>, [Value<'a>; 2]) -> Lowered<KeyPairs> + 'f;

/// An iterator over one loop whose number of items is bounded, filtered or not. `keyed` is the
/// number of items that the method's function takes, if it is applied to all items.
fn one_loop<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, keyed: Option<usize>) -> Lowered<Seq<'a>> {
    let seq = loop_over(me, call, keyed)?;
    me.ends(&seq, call.arg(0)?.1)?;
    Ok(seq)
}

/// An iterator over one loop, whose number of items may have no bound.
fn loop_over<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, keyed: Option<usize>) -> Lowered<Seq<'a>> {
    let (x, range) = call.arg(0)?;
    let mut seq = me.seq(x, range)?;
    me.bound_items(&mut seq, range);
    if let Some(taken) = keyed.filter(|_| me.ends_by_test(&seq)) {
        let (f, rf) = call.arg(1)?;
        me.bound_loop(&mut seq, |me, tried| {
            let (item, f) = (Rc::clone(&tried.item), f.clone());
            let key = move |me: &mut Lower<'a>, ix: &[Term]| {
                let items = vec![item(me, ix)?; taken];
                me.apply(&f, &items, rf)
            };
            evaluate_all(me, &Seq { item: Rc::new(key), ..tried.clone() }, range)
        });
        if taken == 2 && !me.ends_by_test(&seq) {
            // A single item is not compared, so it is there whatever the function reads.
            let one = me.g.lit_usize(1);
            seq.dims = seq.dims.iter().map(|&bound| me.g.int(IntOp::Max, bound, one)).collect();
        }
    }
    if seq.dims.len() == 1 { Ok(seq) } else { super::adapters::over_index(me, &Value::Seq(seq), call.name(), range) }
}

/// Lowers something for the item at an index, under the condition that the item exists.
fn with_item<'a, R>(
    me: &mut Lower<'a>,
    seq: &Seq<'a>,
    i: Term,
    f: impl FnOnce(&mut Lower<'a>, Value<'a>) -> Lowered<R>,
) -> Lowered<R> {
    let exists = me.present(seq, &[i])?;
    let run = |me: &mut Lower<'a>| {
        let value = (seq.item)(me, &[i])?;
        f(me, value)
    };
    match exists {
        Some(exists) => me.under(exists, true, run),
        None => run(me),
    }
}

/// The item at a position. The condition `exists` says whether it exists. Its checks have been made
/// already.
fn item_at<'a>(me: &mut Lower<'a>, seq: &Seq<'a>, at: Term, exists: Term) -> Lowered<Value<'a>> {
    let value = me.unchecked(|me| (seq.item)(me, &[at]))?;
    Ok(Value::Option(value.into(), exists))
}

/// The keys of all items as an array.
fn key_array<'a>(
    me: &mut Lower<'a>,
    size: Term,
    f: impl FnOnce(&mut Lower<'a>, Term) -> Lowered<Vec<Term>>,
) -> Lowered<Vec<Term>> {
    let (var, keys) = me.in_loop(size, f);
    let mut build = |key| {
        let key = me.guard_element(size, var, key);
        me.g.build(size, var, key)
    };
    Ok(keys?.into_iter().map(&mut build).collect())
}

/// The conditions that the items exist, as an array. `None` if all exist.
fn mask<'a>(me: &mut Lower<'a>, seq: &Seq<'a>) -> Lowered<Option<Term>> {
    if seq.whole() {
        return Ok(None);
    }
    let size = seq.dims.first().copied().ok_or(Poison)?;
    let masks = key_array(me, size, |me, i| Ok(vec![me.present(seq, &[i])?.ok_or(Poison)?]))?;
    Ok(masks.first().copied())
}

/// The minimum or maximum of a type.
fn end_of(me: &mut Lower, elem: Elem, largest: bool) -> Term {
    match elem {
        Elem::Real(ty) => me.g.lit_real(ty, if largest { f64::INFINITY } else { f64::NEG_INFINITY }),
        Elem::Int(ty) => me.g.lit(Lit::Int(ty, if largest { ty.range().1 } else { ty.range().0 })),
        Elem::Bool => me.g.lit_bool(largest),
    }
}

/// The position of the extreme item, and the condition that it exists.
fn place<'a>(me: &mut Lower<'a>, seq: &Seq<'a>, keys: &Keys, extreme: Extreme) -> Lowered<(Term, Term)> {
    let n = seq.dims.first().copied().ok_or(Poison)?;
    let (zero, one) = (me.g.lit_usize(0), me.g.lit_usize(1));
    let last = extreme == Extreme::Largest;
    let masked = mask(me, seq)?;
    if let (None, [(key, turned)]) = (masked, &keys[..]) {
        let op = if (extreme == Extreme::Largest) == *turned { Reduce::ArgMin } else { Reduce::ArgMax };
        let end = me.g.int(IntOp::Sub, n, one);
        let at = if last {
            // The last of equal items is the first one from the end.
            let back = me.g.slice(*key, &[end], &[-1], &[n]);
            let at = me.g.reduce(op, 1, back);
            me.g.int(IntOp::Sub, end, at)
        } else {
            me.g.reduce(op, 1, *key)
        };
        return Ok((at, me.g.compare(Cmp::Gt, n, zero)));
    }
    // A mask of the items that remain after each key. The last or the first of them is the result.
    let exists = match masked {
        Some(mask) => me.g.reduce(Reduce::Any, 1, mask),
        None => me.g.compare(Cmp::Gt, n, zero),
    };
    let yes = me.g.lit_bool(true);
    let mut left = masked.unwrap_or_else(|| me.g.replicate(n, yes));
    for &(key, turned) in keys {
        let largest = (extreme == Extreme::Largest) != turned;
        let fill = end_of(me, me.g.elem(key), !largest);
        let fill = me.g.replicate(n, fill);
        let candidates = me.g.select(left, key, fill);
        let best = me.g.reduce(if largest { Reduce::Max } else { Reduce::Min }, 1, candidates);
        let best = me.g.replicate(n, best);
        let equal = me.g.compare(Cmp::Eq, key, best);
        left = me.g.and(left, equal);
    }
    let (index, fill) = (me.g.iota(n), if last { zero } else { me.g.lit_usize(usize::MAX) });
    let fill = me.g.replicate(n, fill);
    let places = me.g.select(left, index, fill);
    Ok((me.g.reduce(if last { Reduce::Max } else { Reduce::Min }, 1, places), exists))
}

/// The extreme item by evaluated keys.
fn extreme<'a>(me: &mut Lower<'a>, seq: &Seq<'a>, keys: &Keys, extreme: Extreme) -> Lowered<Value<'a>> {
    let (at, exists) = place(me, seq, keys, extreme)?;
    item_at(me, seq, at, exists)
}

/// An item as a list of integers that are compared lexicographically.
fn integers<'a>(me: &mut Lower<'a>, value: &Value<'a>, range: SrcRange) -> Lowered<Vec<Term>> {
    if let Value::Tuple(parts) = value {
        let keys: Lowered<Vec<Vec<Term>>> = parts.iter().map(|p| integers(me, p, range)).collect();
        return Ok(keys?.concat());
    }
    let t = me.term(value, range)?;
    match me.g.elem(t) {
        Elem::Int(_) if me.g.rank(t) == 0 => Ok(vec![t]),
        Elem::Bool if me.g.rank(t) == 0 => Ok(vec![me.g.cast(Elem::USIZE, t)]),
        _ => {
            let found = me.describe(&Value::Term(t));
            Err(me.error(range, catalogue::expected(wanted::INTEGERS_TO_MAX, &found)))
        }
    }
}

fn by_value<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, which: Extreme, f: Option<&Value<'a>>) -> Lowered<Value<'a>> {
    let seq = one_loop(me, call, f.map(|_| 1))?;
    let size = seq.dims.first().copied().ok_or(Poison)?;
    let keys = key_array(me, size, |me, i| {
        with_item(me, &seq, i, |me, item| {
            let key = match f {
                Some(f) => me.apply(f, &[item], call.range)?,
                None => item,
            };
            integers(me, &key, call.range)
        })
    })?;
    let keys: Keys = keys.into_iter().map(|k| (k, false)).collect();
    extreme(me, &seq, &keys, which)
}

fn max<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    by_value(me, call, Extreme::Largest, None)
}

fn min<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    by_value(me, call, Extreme::Smallest, None)
}

fn max_by_key<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    by_value(me, call, Extreme::Largest, Some(call.arg(1)?.0))
}

fn min_by_key<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    by_value(me, call, Extreme::Smallest, Some(call.arg(1)?.0))
}

/// For each compared key, to which of the two items it belongs: whether the second one is first.
/// `None` for a key that belongs to neither. The whole is `None` if a comparison is not one of the
/// same key of both items.
fn sides<'a>(me: &mut Lower<'a>, seq: &Seq<'a>, compare: &Comparison<'a, '_>) -> Lowered<Option<Vec<Option<bool>>>> {
    let size = seq.dims.first().copied().ok_or(Poison)?;
    let (i, (j, order)) = me.unchecked(|me| {
        me.in_loop(size, |me, i| {
            me.in_loop(size, |me, j| with_item(me, seq, i, |me, a| with_item(me, seq, j, |me, b| compare(me, [a, b]))))
        })
    });
    let (vi, vj) = (me.g.mk(Node::Var(i)), me.g.mk(Node::Var(j)));
    let mut side = |KeyPair { keys: [a, b], .. }: KeyPair| {
        let forwards = !me.g.mentions(a, j) && me.g.subst_vars(a, &[(i, vj)]) == b;
        let backwards = !me.g.mentions(a, i) && me.g.subst_vars(a, &[(j, vi)]) == b;
        match (forwards, backwards) {
            (true, true) => Some(None),
            (true, false) => Some(Some(false)),
            (false, true) => Some(Some(true)),
            (false, false) => None,
        }
    };
    Ok(order?.0.into_iter().map(&mut side).collect())
}

/// The keys by which a function compares two items. `None` if it does not compare the same keys of
/// both.
pub(crate) fn compared_keys<'a>(
    me: &mut Lower<'a>,
    seq: &Seq<'a>,
    compare: &Comparison<'a, '_>,
    range: SrcRange,
) -> Lowered<Option<Keys>> {
    let Some(sides) = sides(me, seq, compare)? else { return Ok(None) };
    let size = seq.dims.first().copied().ok_or(Poison)?;
    // A single item is not compared.
    let count = me.unchecked(|me| me.item_count(seq, range))?;
    let two = me.g.lit_usize(2);
    let compared = me.g.compare(Cmp::Ge, count, two);
    let arrays = key_array(me, size, |me, i| {
        with_item(me, seq, i, |me, item| {
            let order = me.under(compared, true, |me| compare(me, [item.clone(), item]))?;
            Ok(order.0.iter().map(|pair| pair.keys[0]).collect())
        })
    })?;
    Ok(Some(arrays.into_iter().zip(sides).filter_map(|(key, side)| Some((key, side?))).collect()))
}

fn by<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, which: Extreme) -> Lowered<Value<'a>> {
    let seq = one_loop(me, call, Some(2))?;
    let (f, range) = call.arg(1)?;
    let compare = |me: &mut Lower<'a>, items: [Value<'a>; 2]| {
        let value = me.apply(f, &items, range)?;
        let order = me.ordering(&value, range)?;
        // Which item is the extreme one would depend on the order in which they are compared.
        for pair in order.0.iter().filter(|pair| pair.nan_is_equal) {
            let is_number = me.g.compare(Cmp::Eq, pair.keys[0], pair.keys[0]);
            me.require(None, is_number, ad_ir::catalogue::reached::NAN_COMPARED);
        }
        Ok(order)
    };
    match compared_keys(me, &seq, &compare, range)? {
        Some(keys) => extreme(me, &seq, &keys, which),
        None => Err(me.error(range, refused::comparison())),
    }
}

fn max_by<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    by(me, call, Extreme::Largest)
}

fn min_by<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    by(me, call, Extreme::Smallest)
}

fn last<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let seq = one_loop(me, call, None)?;
    evaluate_all(me, &seq, call.range)?;
    extreme(me, &seq, &Vec::new(), Extreme::Largest)
}

fn nth<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let seq = one_loop(me, call, None)?;
    let (x, range) = call.arg(0)?;
    let seq = if seq.present.is_some() { super::adapters::over_index(me, x, "nth", range)? } else { seq };
    let (n, rn) = call.arg(1)?;
    let n = me.usize(n, rn)?;
    let len = me.length(&seq)?;
    let exists = me.g.compare(Cmp::Lt, n, len);
    evaluate_dropped(me, &seq, |me, i| me.g.compare(Cmp::Lt, i, n))?;
    let value = me.under(exists, true, |me| (seq.item)(me, &[n]))?;
    Ok(Value::Option(value.into(), exists))
}

/// Evaluates items whose values are dropped, for their checks.
pub(super) fn evaluate_dropped<'a>(
    me: &mut Lower<'a>,
    seq: &Seq<'a>,
    which: impl FnOnce(&mut Lower<'a>, Term) -> Term,
) -> Lowered<()> {
    let size = seq.dims.first().copied().ok_or(Poison)?;
    let (_, passed) = me.in_loop(size, |me, i| {
        let passed = which(me, i);
        me.under(passed, true, |me| with_item(me, seq, i, |_, _| Ok(())))
    });
    passed
}

/// The position of the first item for which a test holds.
fn first_place<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, seq: &Seq<'a>) -> Lowered<(Term, Term)> {
    let (f, range) = call.arg(1)?;
    let (f, item) = (f.clone(), Rc::clone(&seq.item));
    let item = move |me: &mut Lower<'a>, ix: &[Term]| {
        let value = item(me, ix)?;
        me.apply(&f, &[value], range)
    };
    let mut mapped = Seq { item: Rc::new(item), ..seq.clone() };
    me.bound_items(&mut mapped, range);
    if me.ends_by_test(&mapped) {
        return me.first_in_order(&mapped, range);
    }
    me.ends(&mapped, call.arg(0)?.1)?;
    let t = tests(me, &mapped, range, true)?;
    let exists = me.g.reduce(Reduce::Any, 1, t);
    let numbers = me.g.cast(Elem::USIZE, t);
    Ok((me.g.reduce(Reduce::ArgMax, 1, numbers), exists))
}

fn position<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let seq = super::adapters::over_index(me, x, "position", range)?;
    let (at, exists) = first_place(me, call, &seq)?;
    Ok(Value::Option(Value::Term(at).into(), exists))
}

fn rposition<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let seq = super::adapters::over_index(me, x, "rposition", range)?;
    me.ends(&seq, range)?;
    let (len, one) = (me.length(&seq)?, me.g.lit_usize(1));
    // The items are tested from the last one on.
    let back = super::adapters::reversed(me, seq)?;
    let (at, exists) = first_place(me, call, &back)?;
    let last = me.g.int(IntOp::Sub, len, one);
    let at = me.g.int(IntOp::Sub, last, at);
    Ok(Value::Option(Value::Term(at).into(), exists))
}

fn find<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let seq = loop_over(me, call, Some(1))?;
    let (at, exists) = first_place(me, call, &seq)?;
    item_at(me, &seq, at, exists)
}

/// Lowers `contains` by the ends of the range, which need not be integers.
fn in_range<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((ends, range), (x, rx)) = (call.arg(0)?, call.arg(1)?);
    let Value::Range(ends) = ends else {
        let near = table::find(On::Iter, "any").map(|row| (row.name, row.doc));
        return Err(me.error(call.range, catalogue::unknown_method("contains", "an iterator", near, false)));
    };
    let mut inside = me.g.lit_bool(true);
    let upper = if ends.inclusive { Cmp::Le } else { Cmp::Lt };
    for (end, op) in [(&ends.start, Cmp::Ge), (&ends.end, upper)] {
        let Some(end) = end else { continue };
        let (a, b) = me.unify_literals(x, end, [rx, range])?;
        let holds = me.comparison(op, a, b, call.range)?;
        inside = me.g.and(inside, holds);
    }
    Ok(Value::Term(inside))
}

fn among<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((all, range), (x, rx)) = (call.arg(0)?, call.arg(1)?);
    if let Value::GrowableVec(_) = all {
        return Err(me.error(range, catalogue::changing_length()));
    }
    let all = me.array(all, range)?;
    let n = me.g.shape(all).to_vec();
    let equal = me.build_all(&n, range, &mut |me, ix| {
        let element = Value::Term(me.g.index(all, ix));
        let (a, b) = me.unify_literals(&element, x, [range, rx])?;
        Ok(Value::Term(me.comparison(Cmp::Eq, a, b, call.range)?))
    })?;
    Ok(Value::Term(me.g.reduce(Reduce::Any, n.len(), equal)))
}
