//! Elementwise methods of arrays that are not in the scalar tables.

use super::parts;
use super::powi;
use crate::functions::{self, all_axes};
use crate::lower::Lower;
use crate::refs::results;
use crate::table::{Call, LowerFn, Neutral, On, OnDynamicParts, Row, row};
use crate::value::{Lowered, Value, Want};
use ad_ir::catalogue;
use ad_ir::diag::SrcRange;
use ad_ir::ir::Term;
use ad_ir::memory_order::ResultOrder;
use ad_ir::prim::{Cmp, Reduce};
use ad_ir::program::Takes;

/// Elementwise methods.
pub(crate) const TABLE: &[Row] = &[
    row("powi", On::Array, (1, 1), powi, "integer power, elementwise")
        .order(ResultOrder::LikeReceiver)
        .gives(results::array_of_array)
        .parts(OnDynamicParts::Elementwise),
    row("pow2", On::Array, (0, 0), pow2, "x * x, elementwise")
        .order(ResultOrder::LikeReceiver)
        .gives(results::array_of_array)
        .parts(OnDynamicParts::Elementwise),
    row("log", On::Array, (1, 1), log, "logarithm to a base, elementwise")
        .order(ResultOrder::LikeReceiver)
        .parts(OnDynamicParts::Elementwise),
    row("abs_sub", On::Array, (1, 1), abs_sub, "the positive difference, elementwise")
        .order(ResultOrder::LikeReceiver)
        .with_axes(),
    row("clamp", On::Array, (2, 2), clamp, "into a range, elementwise")
        .order(ResultOrder::LikeReceiver)
        .parts(OnDynamicParts::Elementwise),
    IS_NAN,
    IS_INFINITE,
    row("is_any_nan", On::Array, (0, 0), any_nan, "boolean")
        .order(ResultOrder::NoArray)
        .parts(OnDynamicParts::Reduction(Neutral::Zero)),
    row("is_any_infinite", On::Array, (0, 0), any_infinite, "boolean")
        .order(ResultOrder::NoArray)
        .parts(OnDynamicParts::Reduction(Neutral::Zero)),
    MAPV,
    row("map", On::Array, (1, 1), map, "f of each element")
        .order(ResultOrder::LikeReceiver)
        .gives(results::mapped_by_reference)
        .parts(OnDynamicParts::By(parts::map)),
    row("mapv_into", On::Array, (1, 1), map, "f of each element")
        .order(ResultOrder::InPlace)
        .takes(Takes::Value)
        .gives(results::array_of_array)
        .parts(OnDynamicParts::By(parts::map)),
    row("mapv_into_any", On::Array, (1, 1), map, "f of each element")
        .order(ResultOrder::InPlace)
        .takes(Takes::Value)
        .parts(OnDynamicParts::By(parts::map)),
];

const IS_NAN: Row = row("is_nan", On::Array, (0, 0), is_nan, "an array of booleans")
    .order(ResultOrder::LikeReceiver)
    .parts(OnDynamicParts::Elementwise);
const IS_INFINITE: Row = row("is_infinite", On::Array, (0, 0), is_infinite, "an array of booleans")
    .order(ResultOrder::LikeReceiver)
    .parts(OnDynamicParts::Elementwise);

/// The row of `mapv`, which `mapv_inplace` uses as well.
pub(crate) const MAPV: Row = row("mapv", On::Array, (1, 1), map, "f of each element")
    .order(ResultOrder::LikeReceiver)
    .gives(results::mapped)
    .parts(OnDynamicParts::By(parts::map));

/// Lowers an elementwise map. A function of the table is applied to the array. A closure is lowered
/// as a build over the index, which the bulk-operation transform replaces.
fn map<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (f, rf)) = (call.arg(0)?, call.arg(1)?);
    if let Value::List(parts) = x {
        let parts: Lowered<Vec<Value>> = parts.iter().map(|p| me.apply(f, std::slice::from_ref(p), rf)).collect();
        return Ok(Value::List(parts?.into()));
    }
    if let Value::GrowableVec(list) = x
        && list.as_single_array().is_none()
    {
        let items = me.mapped((x, rx), (f, rf))?;
        return me.collected_items(&items, Want::Any, rx);
    }
    if let &Value::Nested(t, levels) = x {
        let n = me.g.shape(t)[0];
        let mut inner = 0;
        let mapped = me.build_with(n, rf, |me, i| {
            let row = me.g.index(t, &[i]);
            let row = Value::nested_element(&me.g, row, levels);
            let value = me.apply(f, &[row], rf)?;
            inner = value.levels();
            Ok(value)
        })?;
        return Ok(Value::nested(&me.g, mapped, inner.saturating_add(1)));
    }
    let x = me.of_any_rank(x, rx)?;
    if let Value::Function(row, _) = f
        && let Some(op) = row.unary()
    {
        let x = me.real_term(&Value::Term(x), rx)?;
        return Ok(Value::Term(me.g.unary(op, x)));
    }
    let (sizes, want) = (me.g.shape(x).to_vec(), Want::Elem(me.g.elem(x)));
    each(me, &sizes, (rf, want), &mut |me, ix| {
        let element = me.g.index(x, ix);
        me.apply(f, &[Value::Term(element)], rf)
    })
}

/// An array of scalars: `f` at each index. A real literal (`|_| 0.0`) gets the type of the other
/// elements. For one axis `f` may return an array literal; then the elements are rows, as in `[[F;
/// N]; M]`.
pub(crate) fn each<'a>(
    me: &mut Lower<'a>,
    sizes: &[Term],
    (range, want): (SrcRange, Want),
    f: &mut dyn FnMut(&mut Lower<'a>, &[Term]) -> Lowered<Value<'a>>,
) -> Lowered<Value<'a>> {
    let real = matches!(want, Want::Elem(elem) if elem.is_real());
    let mut levels = 0;
    let t = me.build_all(sizes, range, &mut |me, ix| {
        let value = f(me, ix)?;
        let t = match &value {
            Value::Number(n) if n.is_float() && real => me.term_as(&value, want, range)?,
            _ => me.term(&value, range)?,
        };
        let inner = if sizes.len() == 1 { value.levels() } else { 0 };
        levels = if inner > 0 { inner.saturating_add(1) } else { 0 };
        if me.g.rank(t) > 0 && levels == 0 {
            return Err(me.error(range, catalogue::map_to_arrays()));
        }
        Ok(Value::Term(t))
    })?;
    Ok(Value::nested(&me.g, t, levels))
}

/// Applies a scalar method to each element.
fn lifted<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, scalar: LowerFn) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let x = me.real_term(&Value::Term(x), range)?;
    let (sizes, want) = (me.g.shape(x).to_vec(), Want::Elem(me.g.elem(x)));
    each(me, &sizes, (range, want), &mut |me, ix| {
        let element = Value::Term(me.g.index(x, ix));
        scalar(me, &Call { texts: Vec::new(), ..call.of(element) })
    })
}

fn clamp<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let x = me.real_term(&Value::Term(x), range)?;
    // The bounds are checked once, even if there is no element.
    let zero = super::construct::constant(me, me.g.elem(x), 0);
    super::clamp(me, &Call { texts: Vec::new(), ..call.of(Value::Term(zero)) })?;
    lifted(me, call, super::clamp)
}

fn log<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    lifted(me, call, functions::log)
}

fn is_nan<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    lifted(me, call, super::is_nan)
}

fn is_infinite<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    lifted(me, call, super::infinite)
}

fn pow2<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let x = me.real_term(&Value::Term(x), range)?;
    Ok(Value::Term(me.g.mul(x, x)))
}

fn abs_sub<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (y, ry)) = (call.arg(0)?, call.arg(1)?);
    let x = me.array(x, rx)?;
    let (x, y) = me.unify_literals(&Value::Term(x), y, [rx, ry])?;
    let x = me.real_term(&Value::Term(x), rx)?;
    let text = [call.text(0).to_string(), call.text(1).to_string()];
    let difference = me.arith(crate::arith::Arith::Sub, x, y, text, call.range)?;
    let shape = me.g.shape(x).to_vec();
    let y = me.g.broadcast(y, &shape);
    let zero = me.g.lit_like(x, 0.0);
    let below = me.g.compare(Cmp::Le, x, y);
    Ok(Value::Term(me.g.select(below, zero, difference)))
}

/// Whether the method holds for any element. (ndarray 0.17 has an `is_all_nan` that holds if no
/// element is NaN. It is refused.)
fn any<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, each: &'static Row) -> Lowered<Value<'a>> {
    let of_each = Call { row: each, texts: Vec::new(), ..call.of(call.arg(0)?.0.clone()) };
    let Value::Term(t) = me.call_whole(&of_each)? else { return Err(ad_ir::diag::Poison) };
    let rank = all_axes(me, t).len();
    Ok(Value::Term(me.g.reduce(Reduce::Any, rank, t)))
}

fn any_nan<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    any(me, call, &IS_NAN)
}

fn any_infinite<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    any(me, call, &IS_INFINITE)
}
