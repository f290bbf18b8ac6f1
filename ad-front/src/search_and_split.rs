//! Methods of slices that search for an index, or split a mutable slice into parts.

use std::rc::Rc;

use super::bits;
use super::changes::place_arg;
use super::lower::Lower;
use super::table::{Call, On, Row, row};
use super::value::{Lowered, Range, Value};
use ad_ir::diag::Poison;
use ad_ir::ir::Term;
use ad_ir::memory_order::ReductionOrder;
use ad_ir::prim::{Cmp, IntOp};
use ad_ir::program::Takes;

/// Methods of slices and `Vec`s.
pub(super) const TABLE: &[Row] = &[
    row("split_at_mut", On::Place, (1, 1), split_at_mut, "what is before an index and behind it, to be changed")
        .of_vectors()
        .takes(Takes::Mutable),
    row("partition_point", On::Array, (1, 1), partition_point, "the index of the first element for which f fails")
        .reduces(ReductionOrder::Logical)
        .of_vectors(),
];

fn split_at_mut<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let (k, range) = call.arg(1)?;
    let k = Value::Term(me.usize(k, range)?);
    let part = |me: &mut Lower<'a>, start: Option<Value<'a>>, end: Option<Value<'a>>| {
        let ends = Value::Range(Rc::new(Range { start, end, inclusive: false, key: None }));
        let part = me.element(place.clone(), &ends, range, call.text(0))?;
        Ok(Value::Place(Rc::new(part)))
    };
    let (before, behind) = (part(me, None, Some(k.clone()))?, part(me, Some(k), None)?);
    Ok(Value::Tuple([before, behind].into()))
}

/// A binary search that tests the same elements as std's, so the result is the same even if the
/// slice is not partitioned.
fn partition_point<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (f, rf)) = (call.arg(0)?, call.arg(1)?);
    let seq = me.seq(x, rx)?;
    let (most, n) = (seq.dims.first().copied().ok_or(Poison)?, me.length(&seq)?);
    let holds = |me: &mut Lower<'a>, at: Term| {
        let item = (seq.item)(me, &[at])?;
        let value = me.apply(f, &[item], rf)?;
        me.boolean(&value, rf)
    };
    let (zero, two) = (me.g.lit_usize(0), me.g.lit_usize(2));
    // Each step halves the number of elements, rounded up. The last element is tested separately.
    let steps = bits::width(me, most);
    let (last, _) = me.in_steps(steps, false, vec![zero, n], |me, _, now| {
        let (base, size) = (now[0], now[1]);
        let half = me.g.int(IntOp::Div, size, two);
        let (middle, some) = (me.g.int(IntOp::Add, base, half), me.g.compare(Cmp::Gt, half, zero));
        let before = me.under(some, true, |me| holds(me, middle))?;
        let before = me.g.and(some, before);
        let base = me.g.select(before, middle, base);
        Ok((vec![base, me.g.int(IntOp::Sub, size, half)], Vec::new()))
    })?;
    let some = me.g.compare(Cmp::Gt, n, zero);
    let before = me.under(some, true, |me| holds(me, last[0]))?;
    let before = me.g.and(some, before);
    let more = me.g.cast(ad_ir::ir::Elem::USIZE, before);
    Ok(Value::Term(me.g.int(IntOp::Add, last[0], more)))
}
