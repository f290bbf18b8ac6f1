//! Methods that turn one iterator into another.

use std::rc::Rc;

use crate::arith::Selection;
use crate::lower::Lower;
use crate::refs::results;
use crate::table::{Call, Mark, On, Row, row};
use crate::value::{Lowered, Seq, Value};
use ad_ir::catalogue::refused;
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::Term;
use ad_ir::prim::{Cmp, IntOp};

/// Adapters.
pub(crate) const TABLE: &[Row] = &[
    row("copied", On::Iter, (0, 0), itself, "the same items").gives(results::copied_items),
    row("cloned", On::Iter, (0, 0), itself, "the same items").gives(results::copied_items),
    row("take", On::Place, (1, 1), take_from, "the next n items: `it.by_ref().take(n)`")
        .unproved()
        .marks(&[Mark::OfBorrowed]),
    row("by_ref", On::Iter, (0, 0), itself, "the same items")
        .gives(results::same_items)
        .marks(&[Mark::Advances, Mark::Lends]),
    row("map", On::Iter, (1, 1), map, "f of each item").gives(results::mapped_items),
    row("zip", On::Iter, (1, 1), zip, "pairs, as many as the shorter one has")
        .gives(results::zipped_items)
        .marks(&[Mark::Stops]),
    row("zip", On::Std, (2, 2), zip, "pairs, as many as the shorter one has: `std::iter::zip(a, b)`")
        .called("[0_u8], [0_u8]"),
    row("enumerate", On::Iter, (0, 0), enumerate, "pairs of index and item").gives(results::numbered_items),
    row("rev", On::Iter, (0, 0), rev, "the items from the last to the first").gives(results::same_items),
    row("skip", On::Iter, (1, 1), skip, "without the first n items").gives(results::same_items),
    row("take", On::Iter, (1, 1), take, "the first n items").gives(results::same_items).marks(&[Mark::Stops]),
    row("step_by", On::Iter, (1, 1), step_by, "every nth item").gives(results::same_items),
    row("cycle", On::Iter, (0, 0), cycle, "the items again and again").gives(results::same_items),
    row("chain", On::Iter, (1, 1), chain, "the items of one, then those of the other").gives(results::same_items),
    row("filter", On::Iter, (1, 1), filter, "the items for which f holds").gives(results::filtered_items),
    row("filter_map", On::Iter, (1, 1), filter_map, "the values that f has of items"),
    row("flat_map", On::Iter, (1, 1), flat_map, "the items of what f gives for each item"),
    row("flatten", On::Iter, (0, 0), flatten, "the items of each item"),
];

fn itself<'a>(_: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(call.arg(0)?.0.clone())
}

pub(super) fn map<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, f) = (call.arg(0)?, call.arg(1)?);
    Ok(Value::Seq(me.mapped(x, f)?))
}

impl<'a> Lower<'a> {
    /// The items of a value, and a function of each.
    pub(crate) fn mapped(
        &mut self,
        (x, rx): (&Value<'a>, SrcRange),
        (f, rf): (&Value<'a>, SrcRange),
    ) -> Lowered<Seq<'a>> {
        let seq = self.seq(x, rx)?;
        let (f, item) = (f.clone(), Rc::clone(&seq.item));
        let item = move |me: &mut Lower<'a>, ix: &[Term]| {
            let value = item(me, ix)?;
            me.apply(&f, &[value], rf)
        };
        Ok(Seq { item: Rc::new(item), ..seq })
    }
}

/// An iterator with one index, whose items are those at 0, 1, .. up to its length.
pub(crate) fn over_index<'a>(me: &mut Lower<'a>, value: &Value<'a>, what: &str, range: SrcRange) -> Lowered<Seq<'a>> {
    let seq = me.seq(value, range)?;
    if seq.present.is_some() {
        return Err(me.error(range, refused::counted_after_filter(what)));
    }
    me.flat(seq, range)
}

fn receiver<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(Seq<'a>, Term)> {
    let (x, range) = call.arg(0)?;
    let seq = over_index(me, x, call.name(), range)?;
    let len = me.length(&seq)?;
    Ok((seq, len))
}

fn zip<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((a, ra), (b, rb)) = (call.arg(0)?, call.arg(1)?);
    let (a, b) = (me.seq(a, ra), me.seq(b, rb));
    let (mut a, mut b) = (a?, b?);
    if b.eager {
        return Err(super::until::refuse(me, "zip", rb));
    }
    let same_domain = a.dims == b.dims && (a.whole() && b.whole() || !a.lens.is_empty() && a.lens == b.lens);
    if !same_domain || a.present.is_some() || b.present.is_some() {
        (a, b) = (over_index(me, &Value::Seq(a), "zip", ra)?, over_index(me, &Value::Seq(b), "zip", rb)?);
    }
    let (mut dims, mut len, lens) = (Rc::clone(&a.dims), None, Rc::clone(&a.lens));
    if let (&[n], &[m]) = (&*a.dims, &*b.dims) {
        dims = [me.shorter(n, m)].into();
        if !a.whole() || !b.whole() {
            let (n, m) = (me.length(&a)?, me.length(&b)?);
            len = Some(me.shorter(n, m));
        }
    }
    let mut seq = Seq::new(dims, move |me: &mut Lower<'a>, ix: &[Term]| {
        let (x, y) = ((a.item)(me, ix)?, (b.item)(me, ix)?);
        Ok(Value::Tuple([x, y].into()))
    });
    (seq.len, seq.lens) = (len, lens);
    Ok(Value::Seq(seq))
}

fn enumerate<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    if let Value::Seq(seq) = call.arg(0)?.0
        && seq.present.is_none()
        && (!seq.lens.is_empty() || seq.dims.len() > 1 && me.gives_places(seq)?)
    {
        let (seq, own) = (seq.clone(), seq.clone());
        let item = move |me: &mut Lower<'a>, ix: &[Term]| {
            let i = me.number_of(&own, ix);
            Ok(Value::Tuple([Value::Term(i), (own.item)(me, ix)?].into()))
        };
        return Ok(Value::Seq(Seq { item: Rc::new(item), ..seq }));
    }
    let (seq, _) = receiver(me, call)?;
    let item = Rc::clone(&seq.item);
    let item = move |me: &mut Lower<'a>, ix: &[Term]| {
        let i = ix.first().copied().ok_or(Poison)?;
        Ok(Value::Tuple([Value::Term(i), item(me, ix)?].into()))
    };
    Ok(Value::Seq(Seq { item: Rc::new(item), ..seq }))
}

/// Rearranges or drops items. `place` maps an index to the source index, and `length` maps the
/// number of items to the new number.
fn rearrange<'a>(
    me: &mut Lower<'a>,
    seq: Seq<'a>,
    length: impl Fn(&mut Lower<'a>, Term) -> Term,
    place: impl Fn(&mut Lower<'a>, Term) -> Term + 'a,
) -> Lowered<Seq<'a>> {
    let size = length(me, seq.dims.first().copied().ok_or(Poison)?);
    let len = seq.len.map(|len| length(me, len));
    let (item, eager) = (seq.item, seq.eager);
    let seq = Seq::new([size], move |me: &mut Lower<'a>, ix: &[Term]| {
        let k = place(me, ix.first().copied().ok_or(Poison)?);
        item(me, &[k])
    });
    Ok(Seq { len, eager, ..seq })
}

/// An iterator without items has none however often it is repeated. Nothing asks for an item where
/// the other iterator of a `zip` is empty too; elsewhere the derivative panics.
fn cycle<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (seq, len) = receiver(me, call)?;
    let endless = me.g.lit_usize(usize::MAX);
    if len == endless {
        return Ok(Value::Seq(seq));
    }
    let (item, eager) = (seq.item, seq.eager);
    let again = Seq::new([endless], move |me: &mut Lower<'a>, ix: &[Term]| {
        let (zero, one) = (me.g.lit_usize(0), me.g.lit_usize(1));
        me.require_lt(zero, len, ad_ir::catalogue::reached::CYCLE_OF_NOTHING);
        let len = me.g.int(IntOp::Max, len, one);
        let k = me.g.int(IntOp::Rem, ix.first().copied().ok_or(Poison)?, len);
        item(me, &[k])
    });
    Ok(Value::Seq(Seq { eager, ..again }))
}

fn rev<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let seq = me.seq(x, range)?;
    if seq.present.is_none() {
        let (seq, _) = receiver(me, call)?;
        return Ok(Value::Seq(reversed(me, seq)?));
    }
    Ok(Value::Seq(reversed(me, seq)?))
}

/// The items from the last to the first.
pub(super) fn reversed<'a>(me: &mut Lower<'a>, seq: Seq<'a>) -> Lowered<Seq<'a>> {
    if seq.present.is_some() {
        // Each index of each loop runs from its last value to its first.
        let (dims, item, present) = (Rc::clone(&seq.dims), Rc::clone(&seq.item), seq.clone());
        let back = move |me: &mut Lower<'a>, ix: &[Term]| -> Vec<Term> {
            let one = me.g.lit_usize(1);
            let at = |(&n, &i): (&Term, &Term)| {
                let last = me.g.int(IntOp::Sub, n, one);
                me.g.int(IntOp::Sub, last, i)
            };
            dims.iter().zip(ix).map(at).collect()
        };
        let again = back.clone();
        let mut reversed = Seq::new(Rc::clone(&seq.dims), move |me: &mut Lower<'a>, ix: &[Term]| {
            let ix = back(me, ix);
            item(me, &ix)
        });
        reversed.present = Some(Rc::new(move |me, ix| {
            let ix = again(me, ix);
            let exists = me.present(&present, &ix)?;
            Ok(exists.unwrap_or_else(|| me.g.lit_bool(true)))
        }));
        return Ok(reversed);
    }
    let len = me.length(&seq)?;
    let back = move |me: &mut Lower<'a>, i: Term| {
        let one = me.g.lit_usize(1);
        let last = me.g.int(IntOp::Sub, len, one);
        me.g.int(IntOp::Sub, last, i)
    };
    rearrange(me, seq, |_, n| n, back)
}

fn skip<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (seq, len) = receiver(me, call)?;
    let (n, range) = call.arg(1)?;
    let n = me.usize(n, range)?;
    if len != me.g.lit_usize(usize::MAX) {
        super::choose::evaluate_dropped(me, &seq, |me, i| me.g.compare(Cmp::Lt, i, n))?;
    }
    Ok(Value::Seq(skip_items(me, seq, len, n)?))
}

/// Skips the first n items.
pub(super) fn skip_items<'a>(me: &mut Lower<'a>, mut seq: Seq<'a>, len: Term, n: Term) -> Lowered<Seq<'a>> {
    let endless = me.g.lit_usize(usize::MAX);
    if !me.g.is_closed(n) && len != endless {
        // The number of skipped items depends on an enclosing loop, so the closed bound is that of
        // the original.
        let rest = me.g.int(IntOp::Sub, len, n);
        seq.len = Some(rest);
        let item = Rc::clone(&seq.item);
        seq.item = Rc::new(move |me, ix| {
            let k = me.g.int(IntOp::Add, ix.first().copied().ok_or(Poison)?, n);
            item(me, &[k])
        });
        return Ok(seq);
    }
    rearrange(
        me,
        seq,
        |me, len| if len == endless { len } else { me.g.int(IntOp::Sub, len, n) },
        move |me, i| me.g.int(IntOp::Add, i, n),
    )
}

fn take<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (seq, len) = receiver(me, call)?;
    let (n, range) = call.arg(1)?;
    let n = me.usize(n, range)?;
    Ok(Value::Seq(take_items(me, seq, len, n, range)?))
}

/// `it.by_ref().take(n)`. The new iterator must not be left early, since all n items are taken from
/// `it` at once.
fn take_from<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = crate::changes::place_arg(me, call, 0)?;
    let value = me.read_place(&place)?;
    if let Value::Never = value {
        return Ok(Value::Never);
    }
    let (n, range) = call.arg(1)?;
    let n = me.usize(n, range)?;
    let Some(cursor) = me.cursor(&value, place.range)? else {
        return Err(me.error(call.range, ad_ir::catalogue::refused::advanced("by_ref")));
    };
    let rest = me.rest_of(&cursor)?;
    let len = me.length(&rest)?;
    let items = take_items(me, rest, len, n, range)?;
    let count = me.shorter(len, n);
    let at = me.g.int(IntOp::Add, cursor.at, count);
    me.write_place(&place, Value::Cursor(Rc::new(crate::value::Cursor { seq: cursor.seq.clone(), at })))?;
    Ok(Value::Seq(Seq { eager: true, ..items }))
}

/// Takes the first n items.
pub(super) fn take_items<'a>(
    me: &mut Lower<'a>,
    mut seq: Seq<'a>,
    len: Term,
    n: Term,
    range: SrcRange,
) -> Lowered<Seq<'a>> {
    if me.g.is_closed(n) {
        return rearrange(me, seq, |me, len| me.shorter(len, n), |_, i| i);
    }
    // The number of items depends on an enclosing loop.
    let size = seq.dims.first().copied().ok_or(Poison)?;
    let size = match me.most(n) {
        Some(most) => me.shorter(size, most),
        None if size != me.g.lit_usize(usize::MAX) => size,
        None => return Err(me.error(range, catalogue::item_count_depends_on_index())),
    };
    seq.dims = [size].into();
    seq.len = Some(me.shorter(len, n));
    Ok(seq)
}

fn step_by<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (mut seq, len) = receiver(me, call)?;
    let (n, range) = call.arg(1)?;
    let n = me.usize(n, range)?;
    let zero = me.g.lit_usize(0);
    me.require_lt(zero, n, ad_ir::catalogue::reached::STEP_OF_ZERO);
    let one = me.g.lit_usize(1);
    if len != me.g.lit_usize(usize::MAX) && n != one {
        super::choose::evaluate_dropped(me, &seq, |me, i| {
            // A step of 0 is refused by a check before.
            let step = me.g.int(IntOp::Max, n, one);
            let rest = me.g.int(IntOp::Rem, i, step);
            me.g.compare(Cmp::Lt, zero, rest)
        })?;
    }
    // This is ceil(len / n) without an overflow: (len - 1) / n + 1 if there is an item.
    let length = |me: &mut Lower<'a>, len: Term| {
        let one = me.g.lit_usize(1);
        if me.g.int_value(n) == Some(1) || len == me.g.lit_usize(usize::MAX) {
            return len;
        }
        let last = me.g.int(IntOp::Sub, len, one);
        let steps = me.g.int(IntOp::Div, last, n);
        let count = me.g.int(IntOp::Add, steps, one);
        let some = me.g.compare(Cmp::Gt, len, zero);
        match me.g.bool_value(some) {
            Some(true) => count,
            Some(false) => zero,
            None => me.g.select(some, count, zero),
        }
    };
    if !me.g.is_closed(n) {
        // The step depends on an enclosing loop, so the closed bound is that of the original.
        seq.len = Some(length(me, len));
        let item = Rc::clone(&seq.item);
        seq.item = Rc::new(move |me, ix| {
            let k = me.g.int(IntOp::Mul, ix.first().copied().ok_or(Poison)?, n);
            item(me, &[k])
        });
        return Ok(Value::Seq(seq));
    }
    Ok(Value::Seq(rearrange(me, seq, length, move |me, i| me.g.int(IntOp::Mul, i, n))?))
}

fn chain<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((a, ra), (b, rb)) = (call.arg(0)?, call.arg(1)?);
    let (a, b) = (me.seq(a, ra), me.seq(b, rb));
    let (mut a, mut b) = (a?, b?);
    if a.dims.len() > 1 {
        a = over_index(me, &Value::Seq(a), "chain", ra)?;
    }
    if b.dims.len() > 1 {
        b = over_index(me, &Value::Seq(b), "chain", rb)?;
    }
    let (n, m) = (a.dims.first().copied().ok_or(Poison)?, b.dims.first().copied().ok_or(Poison)?);
    let (range, eager) = (call.range, a.eager || b.eager);
    let size = me.g.int(IntOp::Add, n, m);
    let split = move |me: &mut Lower<'a>, ix: &[Term]| -> Lowered<(Term, Term, Term)> {
        let i = ix.first().copied().ok_or(Poison)?;
        let first = me.g.compare(Cmp::Lt, i, n);
        Ok((i, first, me.g.int(IntOp::Sub, i, n)))
    };
    let present: Option<Rc<super::super::value::Present>> = if a.whole() && b.whole() {
        None
    } else {
        let (a, b) = (a.clone(), b.clone());
        Some(Rc::new(move |me, ix| {
            let (i, first, rest) = split(me, ix)?;
            let x = me.under(first, true, |me| me.present(&a, &[i]))?;
            let y = me.under(first, false, |me| me.present(&b, &[rest]))?;
            let yes = me.g.lit_bool(true);
            Ok(me.g.cond(first, x.unwrap_or(yes), y.unwrap_or(yes)))
        }))
    };
    let mut seq = Seq::new([size], move |me: &mut Lower<'a>, ix: &[Term]| {
        let (i, first, rest) = split(me, ix)?;
        match me.g.bool_value(first) {
            Some(true) => return (a.item)(me, &[i]),
            Some(false) => return (b.item)(me, &[rest]),
            None => {}
        }
        let x = me.under(first, true, |me| (a.item)(me, &[i]))?;
        let y = me.under(first, false, |me| (b.item)(me, &[rest]))?;
        me.join(Selection { cond: first, strict: false }, &x, &y, range)
    });
    (seq.present, seq.eager) = (present, eager);
    Ok(Value::Seq(seq))
}

fn filter<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (f, rf)) = (call.arg(0)?, call.arg(1)?);
    let seq = me.seq(x, rx)?;
    let (f, item, before) = (f.clone(), Rc::clone(&seq.item), seq.present.clone());
    let present = move |me: &mut Lower<'a>, ix: &[Term]| {
        let test = |me: &mut Lower<'a>| {
            let value = item(me, ix)?;
            let value = me.apply(&f, &[value], rf)?;
            me.boolean(&value, rf)
        };
        match &before {
            None => test(me),
            Some(before) => {
                let exists = before(me, ix)?;
                let also = me.under(exists, true, test)?;
                Ok(me.g.and(exists, also))
            }
        }
    };
    Ok(Value::Seq(Seq { present: Some(Rc::new(present)), ..seq }))
}

fn filter_map<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let Value::Seq(seq) = map(me, call)? else { return Err(Poison) };
    let (_, range) = call.arg(1)?;
    let (item, before) = (Rc::clone(&seq.item), seq.present.clone());
    let option = move |me: &mut Lower<'a>, ix: &[Term]| match item(me, ix)? {
        Value::Option(value, exists) => Ok(((*value).clone(), exists)),
        // The closure never finds a value, or this point is unreachable.
        Value::None | Value::Never => Ok((Value::Never, me.g.lit_bool(false))),
        other => {
            let found = me.describe(&other);
            Err(me.error(range, catalogue::expected(wanted::OPTION, &found)))
        }
    };
    let again = option.clone();
    let present = move |me: &mut Lower<'a>, ix: &[Term]| match &before {
        None => Ok(option(me, ix)?.1),
        Some(before) => {
            let exists = before(me, ix)?;
            let (_, also) = me.under(exists, true, |me| option(me, ix))?;
            Ok(me.g.and(exists, also))
        }
    };
    let item = move |me: &mut Lower<'a>, ix: &[Term]| Ok(again(me, ix)?.0);
    Ok(Value::Seq(Seq { present: Some(Rc::new(present)), item: Rc::new(item), ..seq }))
}

/// Flattens an iterator: the loops of the items become inner loops.
fn flatten_items<'a>(me: &mut Lower<'a>, outer: Seq<'a>, range: SrcRange) -> Lowered<Value<'a>> {
    let depth = outer.dims.len();
    // The sizes of the inner loops, and whether all of their items exist. A trial with placeholder
    // indices finds this.
    let inner = me.unchecked(|me| {
        let (_, inner) = me.in_loops(&outer.dims, &mut |me, ix| {
            let exists = me.present(&outer, ix)?;
            let value = match exists {
                Some(exists) => me.under(exists, true, |me| (outer.item)(me, ix)),
                None => (outer.item)(me, ix),
            }?;
            let mut inner = me.seq(&value, range)?;
            me.bound_items(&mut inner, range);
            if me.ends_by_test(&inner) {
                me.ends(&inner, range)?;
            }
            let sizes: Lowered<Vec<Term>> = inner
                .dims
                .iter()
                .map(|&n| match me.closed(n).or_else(|| me.most(n)) {
                    Some(closed) => Ok(closed),
                    None => Err(me.error(range, catalogue::size_depends_on_index())),
                })
                .collect();
            let exact = inner.dims.iter().all(|&n| me.g.is_closed(n));
            Ok((sizes?, inner.whole() && exact))
        });
        inner
    });
    let (sizes, whole) = inner?;
    let dims: Rc<[Term]> = outer.dims.iter().copied().chain(sizes).collect();
    let present: Option<Rc<super::super::value::Present>> = if whole && outer.whole() {
        None
    } else {
        let outer = outer.clone();
        Some(Rc::new(move |me, ix| {
            let (ox, inx) = ix.split_at(depth);
            let exists = me.present(&outer, ox)?;
            let yes = me.g.lit_bool(true);
            let exists = exists.unwrap_or(yes);
            let also = me.under(exists, true, |me| {
                let value = (outer.item)(me, ox)?;
                let inner = me.seq(&value, range)?;
                Ok(me.present(&inner, inx)?.unwrap_or(yes))
            })?;
            Ok(me.g.and(exists, also))
        }))
    };
    let mut seq = Seq::new(dims, move |me: &mut Lower<'a>, ix: &[Term]| {
        let (ox, inx) = ix.split_at(depth);
        let value = (outer.item)(me, ox)?;
        let inner = me.seq(&value, range)?;
        (inner.item)(me, inx)
    });
    seq.present = present;
    Ok(Value::Seq(seq))
}

fn flat_map<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let Value::Seq(seq) = map(me, call)? else { return Err(Poison) };
    flatten_items(me, seq, call.arg(1)?.1)
}

fn flatten<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let seq = me.seq(x, range)?;
    flatten_items(me, seq, range)
}
