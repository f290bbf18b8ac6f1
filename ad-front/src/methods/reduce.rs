//! Reductions and products of arrays, as methods of ndarray.

use super::elementwise::each;
use super::layout::move_axis;
use super::parts;
use super::sizes::axis_arg;
use crate::arith::axis_words;
use crate::functions::{self, all_axes, sum_over};
use crate::lower::Lower;
use crate::refs::results;
use crate::table::{self, Call, Mark, On, OnDynamicParts, Row, row};
use crate::value::{Lowered, Value, Want};
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Contraction, Term, Type, axis};
use ad_ir::memory_order::{ReductionOrder, ResultOrder};
use ad_ir::prim::{Cmp, IntOp, Reduce, Unary};

/// Reductions.
pub(crate) const TABLE: &[Row] = &[
    row("sum", On::Array, (0, 0), sum, "sum of all elements")
        .reduces(ReductionOrder::Sum)
        .gives(results::number)
        .parts(OnDynamicParts::By(parts::sum))
        .marks(&[Mark::Total]),
    row("mean", On::Array, (0, 0), mean, "mean of all elements, an `Option`")
        .reduces(ReductionOrder::Sum)
        .gives(results::some_number)
        .parts(OnDynamicParts::By(parts::mean)),
    row("sum_axis", On::Array, (1, 1), sum_axis, "sum over one axis")
        .order(ResultOrder::Lanes)
        .reduces(ReductionOrder::SumAxis)
        .gives(results::array_of_array)
        .parts(OnDynamicParts::By(parts::sum_axis)),
    row("mean_axis", On::Array, (1, 1), mean_axis, "mean over one axis, an `Option`")
        .order(ResultOrder::Lanes)
        .reduces(ReductionOrder::SumAxis)
        .gives(results::array_of_array)
        .parts(OnDynamicParts::By(parts::mean_axis)),
    row("var", On::Array, (1, 1), var, "variance of all elements")
        .reduces(ReductionOrder::Memory)
        .gives(results::number)
        .parts(OnDynamicParts::By(parts::var)),
    row("std", On::Array, (1, 1), std, "standard deviation of all elements")
        .reduces(ReductionOrder::Memory)
        .gives(results::number)
        .parts(OnDynamicParts::By(parts::std)),
    row("var_axis", On::Array, (2, 2), var_axis, "variance along one axis")
        .order(ResultOrder::Standard)
        .reduces(ReductionOrder::Logical)
        .gives(results::array_of_array),
    row("std_axis", On::Array, (2, 2), std_axis, "standard deviation along one axis")
        .order(ResultOrder::Standard)
        .reduces(ReductionOrder::Logical)
        .gives(results::array_of_array),
    row("map_axis", On::Array, (2, 2), map_axis, "f of each lane along an axis").order(ResultOrder::Lanes),
    row("fold_axis", On::Array, (3, 3), fold_axis, "each lane along an axis folded: `x.fold_axis(Axis(0), 0.0, f)`")
        .order(ResultOrder::Standard)
        .reduces(ReductionOrder::Logical),
    row("dot", On::Array, (1, 1), dot, "product of vectors and matrices")
        .order(ResultOrder::Product)
        .reduces(ReductionOrder::Dot)
        .gives(results::number)
        .parts(OnDynamicParts::OfTwo(parts::dot)),
];

/// The mean over axes, as an `Option`. The count is computed as ndarray does.
fn mean_over<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, x: Term, axes: &[u8], range: SrcRange) -> Lowered<Value<'a>> {
    let x = me.real_term(&Value::Term(x), range)?;
    let elem = me.g.elem(x);
    let shape = me.g.shape(x).to_vec();
    let mut count = me.g.lit_usize(1);
    for &k in axes {
        count = me.g.int(IntOp::Mul, count, shape[usize::from(k)]);
    }
    let sum = me.g.sum_axes(x, axes);
    let axis = axes.first().filter(|_| axes.len() < me.g.rank(x)).map(|&k| usize::from(k));
    let sum = me.summed(call, sum, x, axis);
    let divisor = me.g.cast(elem, count);
    let shape = me.g.shape(sum).to_vec();
    let divisor = me.g.broadcast(divisor, &shape);
    let zero = me.g.lit_usize(0);
    let exists = me.g.compare(Cmp::Gt, count, zero);
    let mean = me.g.div(sum, divisor);
    Ok(Value::Option(Value::Term(mean).into(), exists))
}

fn sum<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    functions::sum_of_array(me, call)
}

fn mean<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.of_any_rank(x, range)?;
    let axes = all_axes(me, x);
    mean_over(me, call, x, &axes, range)
}

fn sum_axis<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let k = axis_arg(me, call, x)?;
    let relaxed = sum_over(me, x, &[axis(k)], range)?;
    Ok(Value::Term(me.summed(call, relaxed, x, Some(k))))
}

fn mean_axis<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let axis = axis(axis_arg(me, call, x)?);
    mean_over(me, call, x, &[axis], range)
}

/// The square root of a sum of squares. Its derivative is 0 at 0.
pub(crate) fn root(me: &mut Lower, x: Term) -> Term {
    let (zero, one) = (me.g.lit_like(x, 0.0), me.g.lit_like(x, 1.0));
    let none = me.g.compare(Cmp::Eq, x, zero);
    let safe = me.g.select(none, one, x);
    let root = me.g.unary(Unary::Sqrt, safe);
    me.g.select(none, zero, root)
}

/// The sum of squared distances from the mean, divided by the count less `ddof`.
fn variance<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, axes: &[u8], ddof: usize) -> Lowered<Term> {
    let ((x, rx), (ddof, rd)) = (call.arg(0)?, call.arg(ddof)?);
    let x = me.of_any_rank(x, rx)?;
    let x = me.real_term(&Value::Term(x), rx)?;
    let (elem, shape) = (me.g.elem(x), me.g.shape(x).to_vec());
    let ddof = me.term_as(ddof, Want::Elem(elem), rd)?;
    if *me.g.ty(ddof) != Type::scalar(elem) {
        let found = me.describe(&Value::Term(ddof));
        return Err(me.error(rd, catalogue::expected(wanted::REAL, &found)));
    }
    let along: Vec<Term> = axes.iter().map(|&k| shape[usize::from(k)]).collect();
    let count = me.product_of(&along);
    let count = me.g.cast(elem, count);
    let zero = me.g.lit_like(ddof, 0.0);
    // The condition of ndarray is negated, so that a NaN passes.
    let (below, above) = (me.g.compare(Cmp::Lt, ddof, zero), me.g.compare(Cmp::Gt, ddof, count));
    let outside = me.g.or(below, above);
    if me.g.real_value(ddof) != Some(0.0) {
        let ok = me.g.not(outside);
        me.require(None, ok, "`ddof` is negative, or greater than the number of elements");
    }
    let sum = me.g.sum_axes(x, axes);
    let own = me.g.shape(sum).to_vec();
    let counts = me.g.broadcast(count, &own);
    let mean = me.g.div(sum, counts);
    let means = me.g.replicate_axes(mean, axes, &along);
    let distance = me.g.sub(x, means);
    let square = me.g.mul(distance, distance);
    let total = me.g.sum_axes(square, axes);
    // Over all axes ndarray visits the elements in memory order; over one axis it visits them from
    // the first to the last.
    if axes.len() == shape.len() && !axes.is_empty() {
        let total = me.exact_fold(Reduce::Distances, total, x);
        let freedom = me.g.sub(count, ddof);
        return Ok(me.g.div(total, freedom));
    }
    let others = (0..shape.len()).map(axis).filter(|k| !axes.contains(k));
    let perm: Vec<u8> = others.chain(axes.iter().copied()).collect();
    let lanes = me.g.transpose(x, &perm);
    let total = functions::with_exact(me, total, Reduce::Distances, axes.len(), lanes);
    let freedom = me.g.sub(count, ddof);
    let freedom = me.g.broadcast(freedom, &own);
    Ok(me.g.div(total, freedom))
}

fn variance_of_all<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Term> {
    let (x, range) = call.arg(0)?;
    let x = me.of_any_rank(x, range)?;
    let axes = all_axes(me, x);
    variance(me, call, &axes, 1)
}

fn variance_along<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Term> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let k = axis_arg(me, call, x)?;
    variance(me, call, &[axis(k)], 2)
}

fn var<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(Value::Term(variance_of_all(me, call)?))
}

fn var_axis<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(Value::Term(variance_along(me, call)?))
}

fn std<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let variance = variance_of_all(me, call)?;
    Ok(Value::Term(root(me, variance)))
}

fn std_axis<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let variance = variance_along(me, call)?;
    Ok(Value::Term(root(me, variance)))
}

fn map_axis<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (f, rf)) = (call.arg(0)?, call.arg(2)?);
    let x = me.array(x, rx)?;
    let k = axis_arg(me, call, x)?;
    let last = me.g.rank(x) - 1;
    let lanes = move_axis(me, x, k, last);
    let sizes = me.g.shape(lanes)[..last].to_vec();
    let want = Want::Elem(me.g.elem(x));
    let made = each(me, &sizes, (rf, want), &mut |me, ix| {
        let lane = me.g.index(lanes, ix);
        me.apply(f, &[Value::Term(lane)], rf)
    })?;
    Ok(made)
}

fn fold_axis<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (init, ri), (f, rf)) = (call.arg(0)?, call.arg(2)?, call.arg(3)?);
    let x = me.array(x, rx)?;
    let k = axis_arg(me, call, x)?;
    let last = me.g.rank(x) - 1;
    let lanes = move_axis(me, x, k, last);
    let sizes = me.g.shape(lanes)[..last].to_vec();
    let Some(fold) = table::find(On::Iter, "fold") else { return Err(Poison) };
    each(me, &sizes, (rf, Want::Elem(me.g.elem(x))), &mut |me, ix| {
        let lane = me.g.index(lanes, ix);
        let items = Value::Seq(me.seq_of(lane));
        me.call_row(fold, None, vec![items, init.clone(), f.clone()], vec![rx, ri, rf], call.range)
    })
}

fn dot<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((a, ra), (b, rb)) = (call.arg(0)?, call.arg(1)?);
    let (a, b) = (me.array(a, ra), me.array(b, rb));
    let (a, b) = (a?, b?);
    let (ea, eb) = (me.g.elem(a), me.g.elem(b));
    if ea != eb || !ea.is_real() {
        let (a, b) = (me.describe(&Value::Term(a)), me.describe(&Value::Term(b)));
        return Err(me.error(call.range, catalogue::dot(&a, &b)));
    }
    let (sa, sb) = (me.g.shape(a).to_vec(), me.g.shape(b).to_vec());
    let labels: (&[u8], &[u8], &[u8]) = match (sa.len(), sb.len()) {
        (1, 1) => (&[0], &[0], &[]),
        (2, 1) => (&[0, 1], &[1], &[0]),
        (1, 2) => (&[0], &[0, 1], &[1]),
        (2, 2) => (&[0, 1], &[1, 2], &[0, 2]),
        _ => {
            let (a, b) = (me.describe(&Value::Term(a)), me.describe(&Value::Term(b)));
            return Err(me.error(call.range, catalogue::dot(&a, &b)));
        }
    };
    let inner = sa.len() - 1;
    let words = [axis_words(call.text(0), inner, sa.len()), axis_words(call.text(1), 0, sb.len())];
    me.equate(sa[inner], sb[0], words, call.range)?;
    let mut renamed = sb;
    renamed[0] = sa[inner];
    let b = me.g.recast(b, &renamed);
    let spec = Contraction::new(labels.0, labels.1, labels.2);
    let relaxed = me.g.contract(a, b, spec);
    Ok(Value::Term(match (sa.len(), renamed.len()) {
        (2, 2) => relaxed,
        (1, 2) => me.exact_dot(relaxed, (b, 0), a),
        (_, _) => me.exact_dot(relaxed, (a, inner), b),
    }))
}
