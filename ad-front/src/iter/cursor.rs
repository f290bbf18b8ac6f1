//! Iterators that are advanced explicitly: `while let Some(v) = it.next()`. The position of the
//! iterator is a number that a loop carries. The items remain a function of the index.

use std::rc::Rc;

use crate::changes::place_arg;
use crate::lower::Lower;
use crate::table::{Call, Mark, On, Proof, Row, row};
use crate::value::{Cursor, Lowered, Seq, Value};
use ad_ir::catalogue::refused;
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::Term;
use ad_ir::prim::{Cmp, IntOp};

/// Methods that return the next item.
pub(crate) const TABLE: &[Row] = &[
    row("next", On::Place, (0, 0), next, "the next item of an iterator, an `Option`")
        .unproved()
        .marks(&[Mark::OfNamed]),
    row("next", On::Iter, (0, 0), first, "the first item, an `Option`").marks(&[Mark::Stops]),
    row("peek", On::Place, (0, 0), peek, "the item that `next` would take, an `Option`").proof(Proof::OfPeekable),
    row("peekable", On::Iter, (0, 0), itself, "the iterator, with `peek`").marks(&[Mark::Stops]),
];

impl<'a> Lower<'a> {
    /// A value as a partly consumed iterator. `None` if its position is not one number.
    pub(crate) fn cursor(&mut self, value: &Value<'a>, range: SrcRange) -> Lowered<Option<Rc<Cursor<'a>>>> {
        if let Value::Cursor(cursor) = value {
            return Ok(Some(Rc::clone(cursor)));
        }
        let seq = self.seq(value, range)?;
        if seq.present.is_some() || seq.eager {
            return Ok(None);
        }
        let (seq, at) = (self.flat(seq, range)?, self.g.lit_usize(0));
        Ok(Some(Rc::new(Cursor { seq, at })))
    }

    /// The remaining items.
    pub(crate) fn rest_of(&mut self, cursor: &Rc<Cursor<'a>>) -> Lowered<Seq<'a>> {
        let (len, size) = (self.length(&cursor.seq)?, cursor.seq.dims.first().copied().ok_or(Poison)?);
        let rest = self.g.int(IntOp::Sub, len, cursor.at);
        let closed = self.g.is_closed(rest);
        let own = Rc::clone(cursor);
        let mut seq = Seq::new([if closed { rest } else { size }], move |me: &mut Lower<'a>, ix: &[Term]| {
            let k = me.g.int(IntOp::Add, ix.first().copied().ok_or(Poison)?, own.at);
            (own.seq.item)(me, &[k])
        });
        seq.len = (!closed).then_some(rest);
        Ok(seq)
    }

    /// The next item, and the condition that it exists.
    fn peek_item(&mut self, cursor: &Cursor<'a>) -> Lowered<(Value<'a>, Term)> {
        let len = self.length(&cursor.seq)?;
        let exists = self.g.compare(Cmp::Lt, cursor.at, len);
        let item = self.under(exists, true, |me| (cursor.seq.item)(me, &[cursor.at]))?;
        Ok((Value::Option(item.into(), exists), exists))
    }
}

fn of_place<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Rc<Cursor<'a>>> {
    let place = place_arg(me, call, 0)?;
    let value = me.read_place(&place)?;
    if !matches!(value, Value::Seq(_) | Value::Cursor(_) | Value::Range(_)) {
        return Err(me.error(call.range, refused::mutation(call.name())));
    }
    match me.cursor(&value, place.range)? {
        Some(cursor) => Ok(cursor),
        None => Err(me.error(call.range, refused::advanced(call.name()))),
    }
}

fn next<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (place, cursor) = (place_arg(me, call, 0)?, of_place(me, call)?);
    let (item, exists) = me.peek_item(&cursor)?;
    let one = me.g.lit_usize(1);
    let next = me.g.int(IntOp::Add, cursor.at, one);
    let at = match me.g.bool_value(exists) {
        Some(true) => next,
        Some(false) => cursor.at,
        None => me.g.select(exists, next, cursor.at),
    };
    me.write_place(&place, Value::Cursor(Rc::new(Cursor { seq: cursor.seq.clone(), at })))?;
    Ok(item)
}

fn peek<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let cursor = of_place(me, call)?;
    Ok(me.peek_item(&cursor)?.0)
}

/// `next` of a temporary iterator.
fn first<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    match me.cursor(x, range)? {
        Some(cursor) => Ok(me.peek_item(&cursor)?.0),
        None => Err(me.error(call.range, refused::advanced(call.name()))),
    }
}

fn itself<'a>(_: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(call.arg(0)?.0.clone())
}
