//! Adapters that start or end at an item for which a test holds, and `scan`, which carries a state.
//!
//! Rust evaluates one item after the other, and only on demand. Here the end of the iterator is
//! computed first, and the items of a `scan` are computed in a separate loop. So such items are
//! computed eagerly. If they can fail, `Seq::eager` is set. Then no adapter that stops early may
//! follow: the check of an item would fail although the function never computes that item.

use std::rc::Rc;

use syn::{Expr, ExprClosure, ExprMethodCall, Stmt};

use super::adapters::{over_index, skip_items, take_items};
use super::consume::tests;
use crate::assume::Special;
use crate::changes::push_to;
use crate::loop_effects::LoopEffects;
use crate::lower::Lower;
use crate::place::Place;
use crate::table::{self, Call, Mark, On, Row, row};
use crate::translation::cells::{Cell, CellValue};
use crate::translation::inference::InferenceKey;
use crate::value::{Lowered, Seq, Value};
use ad_ir::catalogue::refused;
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::Term;
use ad_ir::prim::{Cmp, Prim, Reduce};

/// Adapters.
pub(crate) const TABLE: &[Row] = &[
    row("take_while", On::Iter, (1, 1), take_while, "the items before the first for which f does not hold")
        .marks(&[Mark::Stops]),
    row("skip_while", On::Iter, (1, 1), skip_while, "the items from the first on for which f does not hold"),
    row("map_while", On::Iter, (1, 1), map_while, "the values that f has of items, up to the first without one")
        .marks(&[Mark::Stops]),
    row(
        "scan",
        On::Iter,
        (2, 2),
        scan,
        "the values of f, which is given a state to change: `scan(0.0, |s, v| { *s += v; Some(*s) })`",
    )
    .marks(&[Mark::Stops, Mark::LoopWithState]),
];

/// The index of the first item that fails a test, and the condition that this item exists.
fn first_other<'a>(me: &mut Lower<'a>, seq: &Seq<'a>, range: SrcRange) -> Lowered<(Term, Term)> {
    let holds = tests(me, seq, range, false)?;
    let fails = me.g.prim(Prim::Not, &[holds]);
    let (some, numbers) = (me.g.reduce(Reduce::Any, 1, fails), me.g.cast(ad_ir::ir::Elem::USIZE, fails));
    Ok((me.g.reduce(Reduce::ArgMax, 1, numbers), some))
}

/// The first items of one loop, up to the first for which the test does not hold. The items of
/// `tested` are the tests.
fn take_until<'a>(me: &mut Lower<'a>, seq: Seq<'a>, tested: &Seq<'a>, range: SrcRange) -> Lowered<Value<'a>> {
    let before = me.checkpoint();
    let (at, some) = first_other(me, tested, range)?;
    let eager = me.checkpoint() != before || seq.eager;
    let size = seq.dims.first().copied().ok_or(Poison)?;
    let end = me.g.cond(some, at, size);
    let mut shorter = if let Some(present) = seq.present.clone() {
        let present = move |me: &mut Lower<'a>, ix: &[Term]| {
            let earlier = me.g.compare(Cmp::Lt, ix.first().copied().ok_or(Poison)?, end);
            let kept = me.under(earlier, true, |me| present(me, ix))?;
            Ok(me.g.and(earlier, kept))
        };
        Seq { present: Some(Rc::new(present)), ..seq }
    } else {
        let len = me.length(&seq)?;
        take_items(me, seq, len, end, range)?
    };
    shorter.eager = eager;
    Ok(Value::Seq(shorter))
}

/// An iterator over one loop, filtered or not.
fn in_order<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Seq<'a>> {
    let (x, range) = call.arg(0)?;
    let seq = me.seq(x, range)?;
    let seq = if seq.dims.len() == 1 { seq } else { over_index(me, &Value::Seq(seq), call.name(), range)? };
    me.ends(&seq, range)?;
    Ok(seq)
}

/// The results of the closure for each item.
fn tested<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, seq: &Seq<'a>) -> Lowered<Seq<'a>> {
    let (f, range) = call.arg(1)?;
    let (f, item) = (f.clone(), Rc::clone(&seq.item));
    let item = move |me: &mut Lower<'a>, ix: &[Term]| {
        let value = item(me, ix)?;
        me.apply(&f, &[value], range)
    };
    let _ = me;
    Ok(Seq { item: Rc::new(item), ..seq.clone() })
}

fn take_while<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let seq = in_order(me, call)?;
    let tests = tested(me, call, &seq)?;
    take_until(me, seq, &tests, call.arg(1)?.1)
}

fn skip_while<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let seq = over_index(me, x, call.name(), range)?;
    me.ends(&seq, range)?;
    let tests = tested(me, call, &seq)?;
    let (at, some) = first_other(me, &tests, call.arg(1)?.1)?;
    let len = me.length(&seq)?;
    let begin = me.g.cond(some, at, len);
    let eager = seq.eager;
    Ok(Value::Seq(Seq { eager, ..skip_items(me, seq, len, begin)? }))
}

fn map_while<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let seq = in_order(me, call)?;
    let options = tested(me, call, &seq)?;
    let range = call.arg(1)?.1;
    let (item, again) = (Rc::clone(&options.item), Rc::clone(&options.item));
    let exists = move |me: &mut Lower<'a>, ix: &[Term]| match item(me, ix)? {
        Value::Option(_, exists) => Ok(Value::Term(exists)),
        Value::None => Ok(Value::Term(me.g.lit_bool(false))),
        Value::Never => Ok(Value::Never),
        other => {
            let found = me.describe(&other);
            Err(me.error(range, catalogue::expected(wanted::OPTION, &found)))
        }
    };
    let tests = Seq { item: Rc::new(exists), ..options.clone() };
    let value = move |me: &mut Lower<'a>, ix: &[Term]| match again(me, ix)? {
        Value::Option(value, _) => Ok((*value).clone()),
        _ => Ok(Value::Never),
    };
    take_until(me, Seq { item: Rc::new(value), ..seq }, &tests, range)
}

/// Refuses `scan` with a named function. With a closure expression it is a loop
/// (`Lower::scan_loop`).
fn scan<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Err(me.error(call.arg(2)?.1, catalogue::closure_in_its_place(call.name())))
}

/// The initial state and the closure of `scan(init, |state, item| ..)`.
pub(crate) fn of_scan(m: &ExprMethodCall) -> Option<(&Expr, &ExprClosure)> {
    match (m.args.first(), m.args.last()) {
        (Some(init), Some(Expr::Closure(f))) => {
            let row = table::find(On::Iter, &m.method.to_string())?;
            (row.is(Mark::LoopWithState) && m.args.len() == row.args.0).then_some((init, f))
        }
        _ => None,
    }
}

/// Whether a closure's value is syntactically `Some(..)`, so that it does not end the iterator.
fn is_some(e: &Expr) -> bool {
    match e {
        Expr::Call(c) => matches!(&*c.func, Expr::Path(p) if Special::Some.is(&p.path)),
        Expr::Paren(p) => is_some(&p.expr),
        Expr::Group(g) => is_some(&g.expr),
        Expr::Block(b) if b.label.is_none() => {
            matches!(b.block.stmts.last(), Some(Stmt::Expr(last, None)) if is_some(last))
        }
        _ => false,
    }
}

impl<'a> Lower<'a> {
    /// `.scan(init, |state, item| ..)`: a loop that carries the state and collects the values.
    pub(crate) fn scan_loop(
        &mut self,
        (init, f): (&'a Expr, &'a ExprClosure),
        items: &Value<'a>,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let (seq, init) = (self.seq(items, range), self.expr(init));
        let (seq, init) = (seq?, init?);
        self.ends(&seq, range)?;
        let [state, item] = [f.inputs.first(), f.inputs.last()];
        let (Some(state), Some(item), 2) = (state, item, f.inputs.len()) else {
            return Err(self.error(SrcRange::of(f), catalogue::closure_arity(f.inputs.len(), 2)));
        };
        let before = self.checkpoint();
        let (cells, outer) = (self.state.cells.len(), self.state.names.scope());
        // The closure cannot change captured variables.
        let calls = self.enter_uncounted(None);
        let own = self.state.cells.enter_body();
        let names = [" state", " scanned"];
        self.bind_cell(names[0].into(), CellValue::Value(init), true);
        self.bind_cell(names[1].into(), CellValue::Value(Value::List(Rc::new([]))), true);
        self.count_inside();
        let [held, made] = [cells, cells + 1].map(|k| Place::variable(Cell(k), "the state", range));
        let body = |me: &mut Self, ix: &[Term]| {
            let next = (seq.item)(me, ix)?;
            let outer = me.state.names.scope();
            let value = me.returning(range, |me| {
                me.bind(state, Some(Value::Place(Rc::new(held.clone()))))?;
                me.bind(item, Some(next))?;
                me.expr(&f.body)
            });
            me.state.names.back_to(outer);
            let push = |me: &mut Self, value: &Value<'a>| push_to(me, &made, value, range).map(|()| Value::Unit);
            let leave = |me: &mut Self| match me.state.jumps.innermost_loop() {
                Some(own) => me.exit(own, Value::Unit, range),
                None => Err(Poison),
            };
            match value? {
                Value::Option(value, exists) if me.g.bool_value(exists) == Some(true) => push(me, &value),
                Value::Option(value, exists) => me.branch(exists, |me| push(me, &value), leave, range),
                Value::None => leave(me),
                Value::Never => Ok(Value::Never),
                other => {
                    let found = me.describe(&other);
                    Err(me.error(SrcRange::of(&f.body), catalogue::expected(wanted::OPTION, &found)))
                }
            }
        };
        let effects = LoopEffects::of_scan(names, seq.whole() && is_some(&f.body));
        let lower_loop = self.lower_loop((Some(&seq), &body), &effects, (None, InferenceKey::new(&*f.body, "")), range);
        let found = self.state.cells.held(Cell(cells + 1)).cloned();
        let made_calls = self.made_calls();
        self.state.cells.truncate(cells);
        self.state.names.back_to(outer);
        self.state.cells.leave_body(own);
        self.leave_uncounted(&calls, made_calls);
        lower_loop?;
        let Some(CellValue::Value(found)) = found else { return Err(Poison) };
        let eager = self.checkpoint() != before || seq.eager;
        let made = self.seq(&found, range)?;
        Ok(Value::Seq(Seq { eager, ..made }))
    }
}

/// Refuses an adapter that stops early after an iterator with eagerly computed items.
pub(crate) fn refuse<'a>(me: &mut Lower<'a>, name: &str, range: SrcRange) -> Poison {
    me.error(range, refused::stops_ahead(name))
}
