//! Consumers: sums, counts, tests, collections.

use std::cell::RefCell;
use std::rc::Rc;

use crate::functions::{all_axes, sum_over, with_exact};
use crate::lower::Lower;
use crate::refs::results;
use crate::table::{Call, Mark, On, Row, row};
use crate::value::{Lowered, Seq, Value, Want};
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Elem, Term};
use ad_ir::memory_order::{HasLayouts, ResultOrder};
use ad_ir::prim::{Cmp, IntOp, Reduce};

/// Consumers.
pub(crate) const TABLE: &[Row] = &[
    row("sum", On::Iter, (0, 0), sum, "sum of the items: `.sum::<f64>()`").gives(results::number),
    row(
        "for_each",
        On::Iter,
        (1, 1),
        for_each,
        "`for` with a closure as its body: `x.iter_mut().for_each(|v| *v *= 2.0)`",
    )
    .gives(results::tested_items)
    .marks(&[Mark::Loop]),
    row("count", On::Iter, (0, 0), count, "number of items").gives(results::number),
    row("len", On::Iter, (0, 0), len, "number of items"),
    row("is_empty", On::Iter, (0, 0), is_empty, "whether there is no item"),
    row("all", On::Iter, (1, 1), all, "whether f holds for all items")
        .gives(results::tested_items)
        .marks(&[Mark::Advances, Mark::Stops]),
    row("any", On::Iter, (1, 1), any, "whether f holds for an item")
        .gives(results::tested_items)
        .marks(&[Mark::Advances, Mark::Stops]),
    row("all", On::Zip, (1, 1), all, "whether f(a, b, ..) holds for all elements").order(ResultOrder::NoArray),
    row("any", On::Zip, (1, 1), any, "whether f(a, b, ..) holds for some elements").order(ResultOrder::NoArray),
    row("collect", On::Iter, (0, 0), collect, "the items as an array"),
    row("from_iter", On::Assoc, (1, 1), collect, "the items of an iterator"),
    row("unzip", On::Iter, (0, 0), unzip, "the parts of pairs as two arrays"),
];

impl<'a> Lower<'a> {
    /// Turns an iterator into one with a single index, in which every item exists.
    pub(crate) fn flat(&mut self, seq: Seq<'a>, range: SrcRange) -> Lowered<Seq<'a>> {
        if seq.dims.len() == 1 {
            return Ok(seq);
        }
        if !seq.lens.is_empty() && seq.present.is_none() {
            return Ok(self.by_number(seq));
        }
        if seq.present.is_none() && self.gives_places(&seq)? {
            let all = self.by_number(seq);
            return Ok(Seq { len: None, ..all });
        }
        let t = self.collected(&seq, range, Want::Any)?;
        let one = self.g.lit_usize(1);
        let len = seq.dims.iter().fold(one, |n, &size| self.g.int(IntOp::Mul, n, size));
        let shape: Vec<Term> = std::iter::once(len).chain(self.g.shape(t)[seq.dims.len()..].iter().copied()).collect();
        let t = self.g.reshape(t, &shape);
        Ok(Seq::new([len], move |me: &mut Lower<'a>, ix: &[Term]| Ok(Value::Term(me.g.index(t, ix)))))
    }

    /// Whether the items are mutable references, which an array cannot contain.
    pub(super) fn gives_places(&mut self, seq: &Seq<'a>) -> Lowered<bool> {
        fn is_place(value: &Value) -> bool {
            match value {
                Value::Place(_) => true,
                Value::Tuple(parts) | Value::Struct(_, parts) => parts.iter().any(is_place),
                _ => false,
            }
        }
        let (_, item) = self.unchecked(|me| me.in_loops(&seq.dims, &mut |me, ix| (seq.item)(me, ix)));
        Ok(is_place(&item?))
    }

    /// Checks that an iterator has an end.
    pub(crate) fn ends(&mut self, seq: &Seq<'a>, range: SrcRange) -> Lowered<()> {
        let endless = self.g.lit_usize(usize::MAX);
        match (seq.dims.contains(&endless), seq.len) {
            (false, _) => Ok(()),
            (true, None) => Err(self.error(range, catalogue::open_range())),
            (true, Some(_)) => Err(self.error(range, catalogue::item_count_depends_on_index())),
        }
    }

    /// Collects all items into an array.
    pub(super) fn collected(&mut self, seq: &Seq<'a>, range: SrcRange, want: Want) -> Lowered<Term> {
        if !seq.whole() {
            return Err(self.error(range, catalogue::size_depends_on_index()));
        }
        self.filled(seq, range, want, |_, _| Err(Poison))
    }

    /// Collects all items into an array over the loops, with `fill` for the items that do not
    /// exist.
    pub(crate) fn filled(
        &mut self,
        seq: &Seq<'a>,
        range: SrcRange,
        want: Want,
        fill: impl Fn(&mut Self, Elem) -> Lowered<Term>,
    ) -> Lowered<Term> {
        self.ends(seq, range)?;
        let mut one = None;
        let all = self.build_all(&seq.dims, range, &mut |me, ix| {
            let exists = me.present(seq, ix)?;
            let item = |me: &mut Self| {
                let value = (seq.item)(me, ix)?;
                me.term_as(&value, want, range)
            };
            let Some(exists) = exists else {
                let t = item(me)?;
                one = Some(t);
                return Ok(Value::Term(t));
            };
            let t = me.under(exists, true, item)?;
            let fill = fill(me, me.g.elem(t))?;
            if me.g.rank(t) > 0 {
                return Err(me.error(range, catalogue::sum_of_arrays()));
            }
            if me.g.elem(fill) != me.g.elem(t) {
                let [wanted, found] = [fill, t].map(|t| me.describe(&Value::Term(t)));
                return Err(me.error(range, catalogue::expected(&wanted, &found)));
            }
            Ok(Value::Term(me.g.cond(exists, t, fill)))
        })?;
        self.layouts().note_rows(all, one.as_slice());
        Ok(all)
    }

    /// The number of items.
    pub(crate) fn item_count(&mut self, seq: &Seq<'a>, range: SrcRange) -> Lowered<Term> {
        if let (Some(len), None) = (seq.len, &seq.present) {
            return Ok(len);
        }
        if !seq.lens.is_empty() && seq.present.is_none() {
            let counts = self.counts(seq);
            return Ok(self.product_of(&counts));
        }
        self.ends(seq, range)?;
        if seq.present.is_none() && seq.dims.len() == 1 {
            return self.length(seq);
        }
        let one = self.g.lit_usize(1);
        if seq.whole() {
            return Ok(seq.dims.iter().fold(one, |n, &size| self.g.int(IntOp::Mul, n, size)));
        }
        let t = self.build_all(&seq.dims, range, &mut |me, ix| {
            let exists = me.present(seq, ix)?.ok_or(Poison)?;
            Ok(Value::Term(me.g.cast(Elem::USIZE, exists)))
        })?;
        Ok(self.g.sum_all(t))
    }
}

/// The type that `::<..>` names.
fn named_elem<'a>(me: &Lower<'a>, call: &Call<'a, '_>) -> Option<Elem> {
    call.generics.and_then(|ty| me.annotated(ty)).map(|(elem, _)| elem)
}

fn sum<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let mut seq = me.seq(x, range)?;
    if me.ends_by_test(&seq) {
        // Such a sum is the loop over the items. As an array, it would have room for the longest.
        me.bound_items(&mut seq, range);
        let elem = named_elem(me, call);
        return total(me, ("Sum", "sum"), seq, range, |me, seq| me.sum_in_order(&seq, elem, range));
    }
    total(me, ("Sum", "sum"), seq, range, |me, seq| sum_of_numbers(me, call, &seq, range))
}

/// A sum or product of items. If they are of a user-defined type, the type has the function.
pub(crate) fn total<'a>(
    me: &mut Lower<'a>,
    of: (&str, &str),
    seq: Seq<'a>,
    range: SrcRange,
    of_numbers: impl FnOnce(&mut Lower<'a>, Seq<'a>) -> Lowered<Value<'a>>,
) -> Lowered<Value<'a>> {
    // The first item of a user-defined type ends the attempt, so only such items are lowered twice.
    let found = Rc::new(RefCell::new(None));
    let (noted, inner) = (Rc::clone(&found), Rc::clone(&seq.item));
    let item = move |me: &mut Lower<'a>, ix: &[Term]| {
        let item = inner(me, ix)?;
        match me.referred_value(&item) {
            own if own.is_defined() => {
                *noted.borrow_mut() = Some(own);
                Err(Poison)
            }
            _ => Ok(item),
        }
    };
    let (before, mark) = (me.checkpoint(), me.state.facts.mark());
    let attempt = of_numbers(me, Seq { item: Rc::new(item), ..seq.clone() });
    let Some(item) = found.take() else { return attempt };
    me.drop_checks_since(&before);
    me.state.facts.forget(mark);
    match me.own_total(of, (&seq, &item), range) {
        Some(total) => total,
        None => Err(me.error(range, catalogue::not_an_array(&me.describe(&item), false))),
    }
}

fn sum_of_numbers<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, seq: &Seq<'a>, range: SrcRange) -> Lowered<Value<'a>> {
    let want = named_elem(me, call).map_or(Want::Any, Want::Elem);
    let t = me.filled(seq, range, want, |me, elem| Ok(me.g.zero(elem)))?;
    if me.g.rank(t) != seq.dims.len() {
        return Err(me.error(range, catalogue::sum_of_arrays()));
    }
    let (axes, elem) = (all_axes(me, t), me.g.elem(t));
    let relaxed = sum_over(me, t, &axes, range)?;
    let Elem::Real(ty) = elem else { return Ok(Value::Term(relaxed)) };
    // An item that does not exist adds nothing: not even 0 to -0.
    let mut items = t;
    if !seq.whole() {
        let (before, mark) = (me.checkpoint(), me.state.facts.mark());
        let exists =
            me.build_all(&seq.dims, range, &mut |me, ix| Ok(Value::Term(me.present(seq, ix)?.ok_or(Poison)?)))?;
        me.drop_checks_since(&before);
        me.state.facts.forget(mark);
        let nothing = me.g.lit_real(ty, -0.0);
        let shape = me.g.shape(t).to_vec();
        let nothing = me.g.broadcast(nothing, &shape);
        items = me.g.select(exists, t, nothing);
    }
    Ok(Value::Term(with_exact(me, relaxed, Reduce::InOrder, axes.len(), items)))
}

/// Lowers `for_each` of a named function. With a closure expression it is a loop
/// (`Lower::each_loop`).
fn for_each<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((items, r), (f, rf)) = (call.arg(0)?, call.arg(1)?);
    me.each_item(items, f, [r, rf])?;
    Ok(Value::Unit)
}

fn count<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let mut seq = me.seq(x, range)?;
    me.bound_items(&mut seq, range);
    if me.ends_by_test(&seq) && seq.present.is_some() {
        let (item, one) = (Rc::clone(&seq.item), me.g.lit_usize(1));
        let ones = move |me: &mut Lower<'a>, ix: &[Term]| item(me, ix).map(|_| Value::Term(one));
        return me.sum_in_order(&Seq { item: Rc::new(ones), ..seq }, Some(Elem::USIZE), range);
    }
    let n = me.item_count(&seq, range)?;
    // Rust evaluates each item before it is counted. A count of an unbounded iterator makes only
    // the checks of the loop.
    let endless = me.g.lit_usize(usize::MAX);
    if !seq.dims.contains(&endless) {
        evaluate_all(me, &seq, range)?;
    }
    Ok(Value::Term(n))
}

/// `len` does not evaluate an item.
fn len<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let seq = me.seq(x, range)?;
    Ok(Value::Term(me.item_count(&seq, range)?))
}

/// Evaluates every item for its checks and errors.
pub(crate) fn evaluate_all<'a>(me: &mut Lower<'a>, seq: &Seq<'a>, range: SrcRange) -> Lowered<()> {
    me.ends(seq, range)?;
    let (_, done) = me.in_loops(&seq.dims, &mut |me, ix| {
        let exists = me.present(seq, ix)?;
        let item = |me: &mut Lower<'a>| (seq.item)(me, ix).map(drop);
        match exists {
            Some(exists) => me.under(exists, true, item),
            None => item(me),
        }
    });
    done
}

fn is_empty<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let Value::Term(n) = len(me, call)? else { return Err(Poison) };
    let zero = me.g.lit_usize(0);
    Ok(Value::Term(me.g.compare(Cmp::Eq, n, zero)))
}

/// The results of a test for all items as an array, with a neutral value for items that do not
/// exist. Rust stops at the item that decides (`stop`), so the checks of later items do not count.
pub(super) fn tests<'a>(me: &mut Lower<'a>, seq: &Seq<'a>, range: SrcRange, stop: bool) -> Lowered<Term> {
    let (before, mark) = (me.checkpoint(), me.state.facts.mark());
    let fill = |me: &mut Lower<'a>, _: Elem| Ok(me.g.lit_bool(!stop));
    let t = me.filled(seq, range, Want::Elem(Elem::Bool), fill)?;
    if me.g.elem(t) != Elem::Bool || me.g.rank(t) != seq.dims.len() {
        let found = me.describe(&Value::Term(t));
        return Err(me.error(range, catalogue::expected(wanted::BOOL, &found)));
    }
    if me.checkpoint() == before {
        return Ok(t);
    }
    me.drop_checks_since(&before);
    me.state.facts.forget(mark);
    // Rust evaluates the items up to the first that decides. Its position is found with total
    // terms: they agree with Rust up to the first item that fails, and later items do not matter.
    let rank = me.g.rank(t);
    let decides = if stop { t } else { me.g.prim(ad_ir::prim::Prim::Not, &[t]) };
    let some = me.g.reduce(Reduce::Any, rank, decides);
    let number = me.g.cast(Elem::USIZE, decides);
    let last = me.g.reduce(Reduce::ArgMax, rank, number);
    let all = me.build_all(&seq.dims, range, &mut |me, ix| {
        let mut at = me.g.lit_usize(0);
        for (&i, &n) in ix.iter().zip(seq.dims.iter()) {
            at = me.g.int(IntOp::Mul, at, n);
            at = me.g.int(IntOp::Add, at, i);
        }
        let near = me.g.compare(Cmp::Le, at, last);
        let none = me.g.not(some);
        let reached = me.g.or(none, near);
        me.under(reached, true, |me| match me.present(seq, ix)? {
            Some(exists) => me.under(exists, true, |me| (seq.item)(me, ix)),
            None => (seq.item)(me, ix),
        })
    });
    all?;
    Ok(t)
}

fn decided<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, op: Reduce) -> Lowered<Value<'a>> {
    let seq = match call.arg(0)? {
        (Value::Zip(zip), _) => {
            let (items, (f, range)) = (zip.in_order(me), call.arg(1)?);
            let (dims, f) = (Rc::clone(&items.dims), f.clone());
            Seq::new(dims, move |me: &mut Lower<'a>, ix: &[Term]| {
                let args = crate::methods::zip::zip_item(me, &items, ix)?;
                me.apply(&f, &args, range)
            })
        }
        _ => match super::adapters::map(me, call)? {
            Value::Seq(seq) => seq,
            _ => return Err(Poison),
        },
    };
    let range = call.arg(1)?.1;
    if me.ends_by_test(&seq) {
        return me.decided_in_order(&seq, op == Reduce::All, range);
    }
    me.ends(&seq, call.arg(0)?.1)?;
    let t = tests(me, &seq, range, op == Reduce::Any)?;
    let rank = me.g.rank(t);
    Ok(Value::Term(me.g.reduce(op, rank, t)))
}

fn all<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    decided(me, call, Reduce::All)
}

fn any<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    decided(me, call, Reduce::Any)
}

pub(crate) fn collect<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let seq = me.seq(x, range)?;
    let want = named_elem(me, call).map_or(Want::Any, Want::Elem);
    if !seq.whole() {
        return me.collected_items(&seq, want, range);
    }
    if seq.dims.len() > 1 {
        let seq = super::adapters::over_index(me, &Value::Seq(seq), "collect", range)?;
        return Ok(Value::Term(me.collected(&seq, range, Want::Any)?));
    }
    // A `Vec` of rows is indexed by row.
    me.listed_items(&seq, range, want)
}

fn unzip<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let seq = me.seq(x, range)?;
    // An array cannot contain pairs, so each component is collected separately.
    let mut part = |k: usize| {
        let item = Rc::clone(&seq.item);
        let item = move |me: &mut Lower<'a>, ix: &[Term]| match item(me, ix)? {
            Value::Tuple(parts) if parts.len() == 2 => Ok(parts[k].clone()),
            other => {
                let found = me.describe(&other);
                Err(me.error(range, catalogue::expected(wanted::PAIRS, &found)))
            }
        };
        let part = Seq { item: Rc::new(item), ..seq.clone() };
        if !part.whole() {
            return me.collected_items(&part, Want::Any, range);
        }
        let part = me.flat(part, range)?;
        me.listed_items(&part, range, Want::Any)
    };
    let (a, b) = (part(0)?, part(1)?);
    Ok(Value::Tuple([a, b].into()))
}
