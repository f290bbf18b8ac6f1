//! Recurrences: folds, scans and products, one step after another. A step is lowered over
//! placeholders for the carried values. When the loop is closed, the outer terms that it uses
//! become captures (`ir::OpenLoop`). An accumulator is a scalar, an array, or a tuple or array
//! literal of these; each leaf is carried separately. Its shape does not change.
//!
//! Invariants: the order of the steps does not change. A check in a step becomes a flag that the
//! loop carries (`checks`).

use std::rc::Rc;

use super::carry::{CarriedForm, CarriedName, Leaves};
use super::checks::{Recurrence, Stepped};
use super::functions::{all_axes, with_exact};
use super::iter::consume::total;
use super::lower::Lower;
use super::memory::Ordered;
use super::methods::parts;
use super::open::DynamicPart;
use super::refs::results;
use super::table::{Call, Neutral, On, OnDynamicParts, Row, row};
use super::value::{Lowered, Seq, Value, Want};
use crate::translation::inference::InferenceKey;
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Elem, Lit, Term};
use ad_ir::memory_order::{HasLayouts, ReductionOrder, ResultOrder};
use ad_ir::prim::{Binary, Cmp, IntOp, Reduce};

/// The table rows of functions and methods.
pub(super) const TABLE: &[Row] = &[
    row("fold", On::Dsl, (3, 3), fold, "f(.. f(f(init, x0), x1) .., xn)")
        .order(ResultOrder::Given)
        .called("0.0_f64, x_, |a_: f64, _: f64| a_")
        .gives(results::folded),
    row("reduce", On::Dsl, (3, 3), fold, "`fold` of an associative f")
        .order(ResultOrder::Given)
        .called("0.0_f64, x_, |a_: f64, _: f64| a_")
        .gives(results::folded),
    row("scan", On::Dsl, (3, 3), scan, "the accumulator after each item")
        .called("0.0_f64, x_, |a_: f64, _: f64| a_")
        .gives(results::scanned),
    row("scanl", On::Dsl, (3, 3), scanl, "init, and the accumulator after each item")
        .called("0.0_f64, x_, |a_: f64, _: f64| a_")
        .gives(results::scanned),
    row("scanr", On::Dsl, (3, 3), scanr, "the accumulator after each item from the last to the first, and init")
        .called("0.0_f64, x_, |a_: f64, _: f64| a_")
        .gives(results::scanned),
    row("product", On::Dsl, (1, 1), product, "product of all elements")
        .called("x_")
        .gives(results::number)
        .parts(OnDynamicParts::Reduction(Neutral::One)),
    row("product", On::Array, (0, 0), product_of_array, "product of all elements")
        .reduces(ReductionOrder::Product)
        .gives(results::number)
        .parts(OnDynamicParts::By(product_of_part)),
    row("product_axis", On::Array, (1, 1), product_axis, "product over one axis")
        .order(ResultOrder::Lanes)
        .reduces(ReductionOrder::SumAxis)
        .gives(results::array_of_array),
    row("fold", On::Array, (2, 2), fold_elements, "`fold` over the elements as they come in memory")
        .order(ResultOrder::Given)
        .reduces(ReductionOrder::Memory)
        .gives(results::folded_elements)
        .parts(OnDynamicParts::By(parts::fold)),
    row("fold", On::Iter, (2, 2), fold_items, "the accumulator after all items").gives(results::folded_items),
    row("reduce", On::Iter, (1, 1), reduce_items, "f(.. f(x0, x1) .., xn), an `Option`"),
    row("fold", On::Zip, (2, 2), fold_zip, "the accumulator after all elements: `|acc, a, b| ..`")
        .order(ResultOrder::Given),
    row("product", On::Iter, (0, 0), product_items, "product of the items: `.product::<f64>()`").gives(results::number),
];

/// Which accumulators a recurrence returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RowCollection {
    None,
    /// The accumulator after each item.
    After,
}

/// The accumulator of a recurrence.
struct Accumulator<'a> {
    form: CarriedForm<'a>,
    key: InferenceKey,
    /// The arrays in it whose memory order changes.
    orders: Rc<[Ordered]>,
}

/// The name of the accumulator in keys.
const ACCUMULATOR: &str = "accumulator";

type Step<'a, 's> = &'s dyn Fn(&mut Lower<'a>, Value<'a>, Value<'a>) -> Lowered<Value<'a>>;

impl<'a> Lower<'a> {
    /// The sequence argument of a function of the DSL: a range, the elements of an array of rank 1,
    /// or the rows (along the first axis) of an array of higher rank.
    fn outer_items(&mut self, value: &Value<'a>, range: SrcRange) -> Lowered<Seq<'a>> {
        let part = self.as_dynamic_part(value).is_some_and(|part| self.g.rank(part.all) == 1);
        if part || matches!(value, Value::Range(_) | Value::Seq(_)) {
            return self.seq(value, range);
        }
        let x = self.array(value, range)?;
        let n = self.g.shape(x).first().copied().ok_or(Poison)?;
        Ok(Seq::new([n], move |me: &mut Lower<'a>, ix: &[Term]| Ok(Value::Term(me.g.index(x, ix)))))
    }

    /// Flattens an accumulator. Literals without a type get the types in `wants`.
    fn flatten_accumulator(
        &mut self,
        value: &Value<'a>,
        wants: &mut dyn Iterator<Item = Want>,
        range: SrcRange,
    ) -> Lowered<(CarriedForm<'a>, Vec<Term>)> {
        let value = self.with_literal_types(value, wants, range)?;
        let mut leaves = Leaves::default();
        // All literals have their types already, so no key is used.
        let form = self.flatten(&value, &mut InferenceKey::new(&wants, ""), &mut leaves, range)?.ok_or(Poison)?;
        Ok((form, leaves.terms))
    }

    /// Gives the literals of an accumulator their types.
    fn with_literal_types(
        &mut self,
        value: &Value<'a>,
        wants: &mut dyn Iterator<Item = Want>,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let mut all = |parts: &[Value<'a>]| -> Lowered<Rc<[Value<'a>]>> {
            parts.iter().map(|p| self.with_literal_types(p, wants, range)).collect()
        };
        match value {
            Value::Tuple(parts) | Value::Struct(_, parts) | Value::List(parts) => Ok(value.with_parts(all(parts)?)),
            Value::Term(_) | Value::Number(_) => {
                Ok(Value::Term(self.term_as(value, wants.next().unwrap_or(Want::Any), range)?))
            }
            other => {
                let found = self.describe(other);
                Err(self.error(range, catalogue::accumulator(&found)))
            }
        }
    }

    /// Lowers a recurrence over a sequence. Returns the last accumulator and the requested rows.
    pub(super) fn recurrence(
        &mut self,
        init: &Value<'a>,
        seq: &Seq<'a>,
        (reverse, rows): (bool, RowCollection),
        range: SrcRange,
        step: Step<'a, '_>,
    ) -> Lowered<(Value<'a>, Vec<Term>)> {
        if reverse || !self.ends_by_test(seq) {
            self.ends(seq, range)?;
        }
        if rows == RowCollection::After && !seq.whole() {
            return Err(self.error(range, catalogue::size_depends_on_index()));
        }
        let mut wants = Vec::new();
        self.untyped_literals(init, &mut wants);
        if wants.contains(&Want::Any) {
            wants = self.infer_types(init, seq, &wants, step);
        }
        let (form, mut leaves) = self.flatten_accumulator(init, &mut wants.into_iter(), range)?;
        let key = InferenceKey::at_address(self.state.source.address(), "");
        let orders = self.carry_orders((&key, ACCUMULATOR), &mut leaves, 0..form.leaves())?;
        let acc = Accumulator { form, key, orders };
        let (last, all) = self.nested(&acc, leaves, seq, (reverse, rows), (range, step), &mut Vec::new())?;
        Ok((Self::unflatten(&acc.form, &mut last.iter())?, all))
    }

    /// Lowers one scan for each axis of the sequence, the outermost first.
    fn nested(
        &mut self,
        acc: &Accumulator<'a>,
        init: Vec<Term>,
        seq: &Seq<'a>,
        (reverse, rows): (bool, RowCollection),
        (range, step): (SrcRange, Step<'a, '_>),
        index: &mut Vec<Term>,
    ) -> Lowered<(Vec<Term>, Vec<Term>)> {
        let Some(&count) = seq.dims.get(index.len()) else {
            let exists = self.present(seq, index)?;
            let run = |me: &mut Self| {
                let item = (seq.item)(me, index)?;
                let value = Self::unflatten(&acc.form, &mut init.iter())?;
                let value = step(me, value, item)?;
                let mut next = Vec::new();
                me.flatten_like(&value, &acc.form, &mut init.iter(), &mut next, (CarriedName::Accumulator, range))?;
                let leaves = 0..next.len();
                me.carry_orders_on((&acc.key, ACCUMULATOR), &acc.orders, (&init, 0), &mut next, leaves)?;
                Ok(next)
            };
            // A step without an item does not change the accumulator.
            let next: Vec<Term> = match exists {
                None => run(self)?,
                Some(exists) => {
                    let next = self.under(exists, true, run)?;
                    if seq.present.is_none() && self.ends_by_test(seq) {
                        return Ok((next, Vec::new()));
                    }
                    next.into_iter().zip(&init).map(|(new, &old)| self.g.cond(exists, new, old)).collect()
                }
            };
            let made = if rows == RowCollection::After { next[..acc.form.leaves()].to_vec() } else { Vec::new() };
            return Ok((next, made));
        };
        let mut one_step = |me: &mut Self, i: Term, now: &[Term]| {
            index.push(i);
            me.in_carried_orders(&acc.orders, now);
            let result = me.nested(acc, now.to_vec(), seq, (reverse, rows), (range, step), index);
            index.pop();
            result
        };
        let (last, all) = match seq.len.filter(|_| self.ends_by_test(seq)) {
            Some(len) => self.in_steps_below(len, init, one_step)?,
            None => self.in_steps(count, reverse, init, &mut one_step)?,
        };
        self.in_carried_orders(&acc.orders, &last);
        Ok((last, all))
    }

    /// Lowers a step of a recurrence with a number of steps that enclosing loops decide and for
    /// which there is no closed bound: each step tests whether it is the last.
    fn in_steps_below(
        &mut self,
        len: Term,
        mut init: Vec<Term>,
        f: impl FnOnce(&mut Self, Term, &[Term]) -> Lowered<(Vec<Term>, Vec<Term>)>,
    ) -> Lowered<(Vec<Term>, Vec<Term>)> {
        let (leaves, endless) = (init.len(), self.g.lit_usize(usize::MAX));
        let (zero, one) = (self.g.lit_usize(0), self.g.lit_usize(1));
        // As a `while` does, it counts its steps itself: nothing has a row for each of them.
        init.extend([zero, self.g.compare(Cmp::Eq, len, zero)]);
        let recurrence = Recurrence { size: endless, reverse: false, stop: Some(leaves + 1), init };
        let (mut last, rows) = self.recur_steps(recurrence, |me, _, now| {
            let number = now[leaves];
            let (mut next, rows) = me.unchanging(Some(number), |me| f(me, number, &now[..leaves]))?;
            let count = me.g.int(IntOp::Add, number, one);
            next.extend([count, me.g.compare(Cmp::Le, len, count)]);
            Ok(Stepped { next, rows, more: Vec::new() })
        })?;
        last.truncate(leaves);
        Ok((last, rows))
    }

    /// The types to infer for the untyped literals of the accumulator, in the order of the leaves.
    /// `Any` means that a step decides.
    fn untyped_literals(&self, value: &Value<'a>, wants: &mut Vec<Want>) {
        match value {
            Value::Tuple(parts) | Value::Struct(_, parts) | Value::List(parts) => {
                parts.iter().for_each(|p| self.untyped_literals(p, wants));
            }
            Value::Number(n) => {
                let reals: Vec<Elem> =
                    self.input.sig().params.iter().map(|p| p.leaf.elem).filter(|e| e.is_real()).collect();
                let one = reals.iter().all(|e| *e == self.input.default_real());
                wants.push(if n.is_float() && one { Want::Elem(self.input.default_real()) } else { Want::Any });
            }
            Value::Term(t) => wants.push(Want::Elem(self.g.elem(*t))),
            _ => wants.push(Want::Any),
        }
    }

    /// Infers the types of the literals by a trial lowering of one step.
    fn infer_types(&mut self, init: &Value<'a>, seq: &Seq<'a>, wants: &[Want], step: Step<'a, '_>) -> Vec<Want> {
        let mut index: Vec<Term> = Vec::new();
        for &n in &*seq.dims {
            let elem = self.g.ty(n).clone();
            index.push(self.g.placeholder(elem));
        }
        let found = self.trial(|me| (seq.item)(me, &index).and_then(|item| step(me, init.clone(), item)));
        let mut elems = Vec::new();
        if let Ok(value) = found {
            self.elems(init, &value, &mut elems);
        }
        let known = |k: usize| elems.get(k).copied().flatten().map(Want::Elem);
        wants.iter().enumerate().map(|(k, &w)| if w == Want::Any { known(k).unwrap_or(w) } else { w }).collect()
    }

    fn elems(&self, init: &Value<'a>, value: &Value<'a>, out: &mut Vec<Option<Elem>>) {
        match (init, value) {
            (
                Value::Tuple(xs) | Value::Struct(_, xs) | Value::List(xs),
                Value::Tuple(ys) | Value::Struct(_, ys) | Value::List(ys),
            ) if init.is_like(value) => {
                xs.iter().zip(&**ys).for_each(|(x, y)| self.elems(x, y, out));
            }
            (Value::Tuple(xs) | Value::Struct(_, xs) | Value::List(xs), _) => {
                xs.iter().for_each(|x| self.elems(x, value, out));
            }
            _ => out.push(self.elem_of(value)),
        }
    }

    /// The table row of a recurrence whose closure has two parameters.
    fn recur(
        &mut self,
        init: (&Value<'a>, SrcRange),
        seq: &Seq<'a>,
        how: (bool, RowCollection),
        (f, rf): (&Value<'a>, SrcRange),
    ) -> Lowered<(Value<'a>, Vec<Term>)> {
        self.recurrence(init.0, seq, how, rf, &|me, acc, item| me.apply(f, &[acc, item], rf))
    }
}

/// The arguments of a function of the DSL: the sequence and the initial value.
fn arguments<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(Seq<'a>, (Value<'a>, SrcRange))> {
    let ((init, ri), (xs, rx)) = (call.arg(0)?, call.arg(1)?);
    let seq = me.outer_items(xs, rx)?;
    Ok((seq, (init.clone(), ri)))
}

fn fold<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (seq, (init, ri)) = arguments(me, call)?;
    Ok(me.recur((&init, ri), &seq, (false, RowCollection::None), call.arg(2)?)?.0)
}

pub(super) fn fold_items<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((xs, rx), init) = (call.arg(0)?, call.arg(1)?);
    let mut seq = me.seq(xs, rx)?;
    me.bound_loop(&mut seq, |me, tried| me.recur(init, tried, (false, RowCollection::None), call.arg(2)?).map(drop));
    Ok(me.recur(init, &seq, (false, RowCollection::None), call.arg(2)?)?.0)
}

/// `reduce`: the first item is the initial value.
fn reduce_items<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((xs, rx), f) = (call.arg(0)?, call.arg(1)?);
    let mut seq = super::iter::over_index(me, xs, "reduce", rx)?;
    me.bound_items(&mut seq, rx);
    let unbounded = me.ends_by_test(&seq);
    let (n, most) = (me.length(&seq)?, seq.dims.first().copied().ok_or(Poison)?);
    let (zero, one) = (me.g.lit_usize(0), me.g.lit_usize(1));
    let exists = me.g.compare(Cmp::Lt, zero, n);
    let item = Rc::clone(&seq.item);
    let mut fewer = [most, n].map(|n| me.g.int(IntOp::Sub, n, one));
    if unbounded {
        fewer[0] = most;
    }
    let mut rest = Seq::new([fewer[0]], move |me: &mut Lower<'a>, ix: &[Term]| {
        let i = ix.first().copied().ok_or(Poison)?;
        let next = me.g.int(IntOp::Add, i, one);
        item(me, &[next])
    });
    rest.len = seq.len.map(|_| fewer[1]);
    let all = me.under(exists, true, |me| {
        let first = (seq.item)(me, &[zero])?;
        me.recur((&first, rx), &rest, (false, RowCollection::None), f)
    })?;
    Ok(Value::Option(all.0.into(), exists))
}

fn fold_zip<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((zip, _), (init, _), (f, rf)) = (call.arg(0)?, call.arg(1)?, call.arg(2)?);
    let Value::Zip(zip) = zip else { return Err(Poison) };
    zip.somewhere(me, rf)?;
    let seq = zip.in_order(me);
    let (last, _) = me.recurrence(init, &seq, (false, RowCollection::None), rf, &|me, acc, item| {
        let parts = if let Value::Tuple(parts) = item { parts } else { [item].into() };
        let args: Vec<Value> = std::iter::once(acc).chain(parts.iter().cloned()).collect();
        me.apply(f, &args, rf)
    })?;
    Ok(last)
}

/// ndarray's `fold` visits the elements in memory order.
fn fold_elements<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), init) = (call.arg(0)?, call.arg(1)?);
    let x = me.array(x, rx)?;
    if me.layouts().is_unknown(x) {
        return Err(me.error(rx, catalogue::folded_in_unknown_order()));
    }
    let x = me.layouts().folded(x);
    let seq = me.seq(&Value::Term(x), rx)?;
    Ok(me.recur(init, &seq, (false, RowCollection::None), call.arg(2)?)?.0)
}

/// The accumulators after each item, each of which is one array, and the initial one.
fn accumulators<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, reverse: bool) -> Lowered<(Term, Term, SrcRange)> {
    let (seq, (init, ri)) = arguments(me, call)?;
    if init.is_several() {
        return Err(me.error(ri, catalogue::scan_of_tuples(call.name())));
    }
    let (f, rf) = call.arg(2)?;
    // An array literal becomes an array here.
    let init = match init {
        Value::List(_) => Value::Term(me.term_as(&init, Want::Any, ri)?),
        other => other,
    };
    let (_, rows) = me.recur((&init, ri), &seq, (reverse, RowCollection::After), (f, rf))?;
    let [rows] = rows[..] else { return Err(Poison) };
    let elem = me.g.elem(rows);
    let init = me.term_as(&init, Want::Elem(elem), ri)?;
    Ok((init, rows, rf))
}

fn scan<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(Value::Term(accumulators(me, call, false)?.1))
}

/// Appends one more row before or after `rows`.
fn with_row(me: &mut Lower<'_>, rows: Term, one: Term, first: bool) -> Term {
    let (n, shape) = (me.g.shape(rows)[0], me.g.shape(rows).to_vec());
    let literal = me.g.lit_usize(1);
    let more = me.g.int(IntOp::Add, n, literal);
    let single = me.g.stack(&[one]);
    if me.g.elem(rows).is_real() {
        let sizes: Vec<Term> = std::iter::once(more).chain(shape[1..].iter().copied()).collect();
        let zero = me.g.lit_usize(0);
        let steps = vec![1; shape.len()];
        let start = |at: Term| -> Vec<Term> { std::iter::once(at).chain(shape[1..].iter().map(|_| zero)).collect() };
        let (of_rows, of_one) = if first { (literal, zero) } else { (zero, n) };
        let exact = super::methods::join::written(me, &[(rows, of_rows), (single, of_one)], 0, &sizes);
        let rows = me.g.pad(rows, &start(of_rows), &steps, &sizes);
        let one = me.g.pad(single, &start(of_one), &steps, &sizes);
        let relaxed = if first { me.g.add(one, rows) } else { me.g.add(rows, one) };
        return exact.map_or(relaxed, |exact| me.g.relaxed_exact(relaxed, exact));
    }
    let var = me.g.fresh();
    let i = me.g.mk(ad_ir::ir::Node::Var(var));
    let (exact, at) = if first {
        let zero = me.g.lit_usize(0);
        (me.g.compare(ad_ir::prim::Cmp::Eq, i, zero), me.g.int(IntOp::Sub, i, literal))
    } else {
        (me.g.compare(ad_ir::prim::Cmp::Eq, i, n), i)
    };
    let row = me.g.index(rows, &[at]);
    let body = me.g.cond(exact, one, row);
    me.g.build(more, var, body)
}

fn scanl<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (init, rows, _) = accumulators(me, call, false)?;
    Ok(Value::Term(with_row(me, rows, init, true)))
}

fn scanr<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (init, rows, _) = accumulators(me, call, true)?;
    Ok(Value::Term(with_row(me, rows, init, false)))
}

fn product<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let seq = me.seq(&Value::Term(x), range)?;
    let elem = me.g.elem(x);
    me.product_of_items(&seq, Some(elem), range)
}

/// The product of an array in ndarray's order.
fn product_of_array<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let Value::Term(relaxed) = product(me, call)? else { return Err(Poison) };
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let elem = me.g.elem(x);
    if !elem.is_real() {
        return Ok(Value::Term(relaxed));
    }
    let own = me.exact_product((relaxed, x), range, |me, x| {
        let seq = me.seq(&Value::Term(x), range)?;
        me.product_of_items(&seq, Some(elem), range)
    })?;
    Ok(Value::Term(own))
}

/// The product of a part with dynamic length.
fn product_of_part<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (_, range) = call.arg(0)?;
    let elem = me.g.elem(x.all);
    let one = super::methods::construct::constant(me, elem, 1);
    let in_order = |me: &mut Lower<'a>, t: Term| {
        let seq = me.seq(&Value::Term(t), range)?;
        me.product_of_items(&seq, Some(elem), range)
    };
    let filled = me.padded_with(x, one);
    let relaxed = in_order(me, filled)?;
    let relaxed = me.term(&relaxed, range)?;
    Ok(Value::Term(me.exact_product_of_part(relaxed, x, range, &in_order)?))
}

fn product_items<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let mut seq = me.seq(x, range)?;
    if me.ends_by_test(&seq) {
        me.bound_items(&mut seq, range);
        let elem = call.generics.and_then(|ty| me.number_type_of(ty));
        return total(me, ("Product", "product"), seq, range, |me, seq| me.product_of_items(&seq, elem, range));
    }
    total(me, ("Product", "product"), seq, range, |me, seq| product_of_numbers(me, call, &seq, range))
}

fn product_of_numbers<'a>(
    me: &mut Lower<'a>,
    call: &Call<'a, '_>,
    seq: &Seq<'a>,
    range: SrcRange,
) -> Lowered<Value<'a>> {
    if let Some(elem) = call.generics.and_then(|ty| me.number_type_of(ty)) {
        return me.product_of_items(seq, Some(elem), range);
    }
    // In `let p: f64 = xs.product()` the result has the type of the items.
    let one = |me: &mut Lower<'a>, elem: Elem| match elem {
        Elem::Real(ty) => Ok(me.g.lit_real(ty, 1.0)),
        Elem::Int(ty) => Ok(me.g.lit(Lit::Int(ty, 1))),
        Elem::Bool => Err(me.error(range, catalogue::expected(wanted::NUMBERS, wanted::BOOL))),
    };
    let items = me.filled(seq, range, Want::Any, one)?;
    if me.g.rank(items) != seq.dims.len() {
        return Err(me.error(range, catalogue::sum_of_arrays()));
    }
    let (all, elem) = (me.seq(&Value::Term(items), range)?, me.g.elem(items));
    me.product_of_items(&all, Some(elem), range)
}

fn product_axis<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let k = super::methods::sizes::axis_arg(me, call, x)?;
    let (lanes, last_axis) = (x, k + 1 == me.g.rank(x));
    let mut perm = all_axes(me, x);
    let outer = perm.remove(k);
    perm.insert(0, outer);
    let x = me.g.transpose(x, &perm);
    let shape = me.g.shape(x)[1..].to_vec();
    let one = match me.g.elem(x) {
        Elem::Real(ty) => me.g.lit_real(ty, 1.0),
        Elem::Int(ty) => me.g.lit(Lit::Int(ty, 1)),
        Elem::Bool => return Err(me.error(range, catalogue::expected(wanted::NUMBERS, wanted::ARRAY_OF_BOOL))),
    };
    let ones = me.g.broadcast(one, &shape);
    let seq = me.outer_items(&Value::Term(x), range)?;
    let (last, _) =
        me.recurrence(&Value::Term(ones), &seq, (false, RowCollection::None), range, &|me, acc, item| {
            let (a, b) = (me.term(&acc, range)?, me.term(&item, range)?);
            Ok(Value::Term(match me.g.elem(a) {
                Elem::Real(_) => me.g.binary(Binary::Mul, a, b),
                _ => me.int_checked(IntOp::Mul, a, b),
            }))
        })?;
    // Contiguous lanes are multiplied in ndarray's order. Other axes are multiplied from the first
    // element to the last.
    if let (Value::Term(relaxed), true) = (&last, last_axis) {
        return Ok(Value::Term(with_exact(me, *relaxed, Reduce::Factors, 1, lanes)));
    }
    Ok(last)
}
