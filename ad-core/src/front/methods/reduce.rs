//! Reductions and products of arrays as ndarray's methods.

use super::sizes::axis_arg;
use crate::catalogue;
use crate::diag::SrcRange;
use crate::front::arith::axis_words;
use crate::front::functions::{self, all_axes, sum_over};
use crate::front::lower::Lower;
use crate::front::table::{Call, Entry, On, row};
use crate::front::value::{Lowered, Value};
use crate::ir::{Contraction, Term};
use crate::prim::{Cmp, IntOp};

/// Reductions.
pub(in crate::front) const TABLE: &[Entry] = &[
    row("sum", On::Array, (0, 0), functions::sum, "sum of all elements"),
    row("mean", On::Array, (0, 0), mean, "mean of all elements, an `Option`"),
    row("sum_axis", On::Array, (1, 1), sum_axis, "sum over one axis"),
    row("mean_axis", On::Array, (1, 1), mean_axis, "mean over one axis, an `Option`"),
    row("dot", On::Array, (1, 1), dot, "product of vectors and matrices"),
];

/// The mean over axes and whether there is one; the count as ndarray takes it.
fn mean_over<'a>(me: &mut Lower<'a>, x: Term, axes: &[u8], range: SrcRange) -> Lowered<Value<'a>> {
    let x = me.real_term(&Value::Term(x), range)?;
    let elem = me.g.elem(x);
    let shape = me.g.shape(x).to_vec();
    let mut count = me.g.lit_usize(1);
    for &k in axes {
        count = me.g.int(IntOp::Mul, count, shape[usize::from(k)]);
    }
    let sum = me.g.sum_axes(x, axes);
    let divisor = me.g.cast(elem, count);
    let shape = me.g.shape(sum).to_vec();
    let divisor = me.g.broadcast(divisor, &shape);
    let zero = me.g.lit_usize(0);
    let there = me.g.compare(Cmp::Gt, count, zero);
    Ok(Value::Maybe(Value::Term(me.g.div(sum, divisor)).into(), there))
}

fn mean<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let axes = all_axes(me, x);
    mean_over(me, x, &axes, range)
}

fn sum_axis<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let axis = axis_arg(me, call, x)?;
    let axis = u8::try_from(axis).unwrap_or(u8::MAX);
    Ok(Value::Term(sum_over(me, x, &[axis], range)?))
}

fn mean_axis<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let axis = axis_arg(me, call, x)?;
    let axis = u8::try_from(axis).unwrap_or(u8::MAX);
    mean_over(me, x, &[axis], range)
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
    let spec = Contraction { a: labels.0.into(), b: labels.1.into(), out: labels.2.into() };
    Ok(Value::Term(me.g.contract(a, b, spec)))
}
