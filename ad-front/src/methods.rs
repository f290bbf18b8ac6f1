//! Methods of scalars and of any value. The submodules have those of arrays by topic.

pub(super) mod construct;
pub(super) mod elementwise;
pub(super) mod join;
pub(super) mod layout;
pub(super) mod parts;
pub(super) mod reduce;
pub(super) mod sizes;
pub(super) mod zip;

use super::functions::{self, is_finite, reals};
use super::lower::Lower;
use super::refs::results;
use super::table::{Call, On, OnDynamicParts, Proof, Row, row};
use super::value::{Lowered, Value};
use ad_ir::catalogue;
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Elem, IntTy, Term};
use ad_ir::memory_order::ResultOrder;
use ad_ir::prim::{Cmp, Prim, Unary};
use ad_ir::program::Takes;

/// Methods of scalars in addition to those of the scalar tables.
pub(super) const SCALAR: &[Row] = &[
    row("powi", On::Real, (1, 1), powi, "integer power"),
    row("log", On::Real, (1, 1), functions::log, "logarithm to a base"),
    row("mul_add", On::Real, (2, 2), mul_add, "x * a + b"),
    row("clamp", On::Real, (2, 2), clamp, "into a range").gives(results::number_by_value),
    row("sin_cos", On::Real, (0, 0), sin_cos, "both").gives(results::unknown),
    row("is_nan", On::Real, (0, 0), is_nan, "boolean"),
    row("is_finite", On::Real, (0, 0), finite, "boolean"),
    row("is_infinite", On::Real, (0, 0), infinite, "boolean"),
];

/// Methods of every value. A copy or view is the value itself.
pub(super) const ANY: &[Row] = &[
    row("clone", On::Any, (0, 0), itself, "the value").gives(results::clone),
    row("to_owned", On::Any, (0, 0), copy, "the value")
        .order(ResultOrder::LikeReceiver)
        .proof(Proof::method(Takes::Reference))
        .with_axes()
        .gives(results::owned),
    row("into_owned", On::Any, (0, 0), copy, "the value")
        .order(ResultOrder::LikeReceiver)
        .gives(results::array_of_array),
    row("to_vec", On::Any, (0, 0), itself, "the value")
        .proof(Proof::method(Takes::Deref))
        .of_vectors_too()
        .gives(results::vector)
        .parts(OnDynamicParts::AsVector),
    row("view", On::Any, (0, 0), itself, "the value").proof(Proof::method(Takes::Deref)).gives(results::view),
    row("as_slice", On::Any, (0, 0), some, "the elements, an `Option`").proof(Proof::method(Takes::Deref)),
    row("into", On::Any, (0, 0), itself, "the value, where that is a view or an array"),
    row("borrow", On::Any, (0, 0), itself, "the value"),
    row("as_ref", On::Any, (0, 0), itself, "the value"),
];

fn itself<'a>(_: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(call.arg(0)?.0.clone())
}

fn copy<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(match call.arg(0)?.0 {
        Value::DynamicPart(part) => me.part_like(part.all, part),
        other => other.clone(),
    })
}

fn some<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let exists = me.g.lit_bool(true);
    Ok(Value::Option(call.arg(0)?.0.clone().into(), exists))
}

pub(super) fn powi<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (n, rn)) = (call.arg(0)?, call.arg(1)?);
    let (x, n) = (me.real_term(x, rx), exponent(me, n, (rn, call.text(1))));
    let (x, n) = (x?, n?);
    let shape = me.g.shape(x).to_vec();
    let n = me.g.broadcast(n, &shape);
    Ok(Value::Term(me.g.prim(Prim::PowI, &[x, n])))
}

/// An integer exponent.
fn exponent<'a>(me: &mut Lower<'a>, n: &Value<'a>, (range, text): (SrcRange, &str)) -> Lowered<Term> {
    let found = match n {
        Value::Number(n) if n.is_float() => "`f64`".to_string(),
        Value::Term(t) if me.g.rank(*t) == 0 && me.g.elem(*t) != Elem::Int(IntTy::I32) => {
            if me.inference.retype(&me.g, *t, Elem::Int(IntTy::I32)) {
                return Err(Poison);
            }
            me.describe(n)
        }
        _ => return me.integer(n, IntTy::I32, range),
    };
    Err(me.error(range, catalogue::power(&found, text)))
}

fn mul_add<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let args = reals(me, call)?;
    let [x, a, b] = args[..] else { return Err(Poison) };
    let product = me.g.mul(x, a);
    let (relaxed, exact) = (me.g.add(product, b), me.g.prim(Prim::Fused, &[x, a, b]));
    Ok(Value::Term(me.g.relaxed_exact(relaxed, exact)))
}

fn clamp<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let args = reals(me, call)?;
    let [x, low, high] = args[..] else { return Err(Poison) };
    let ordered = me.g.compare(Cmp::Le, low, high);
    if !matches!((me.g.real_value(low), me.g.real_value(high)), (Some(low), Some(high)) if low <= high) {
        me.require(None, ordered, ad_ir::catalogue::reached::CLAMP);
    }
    // The comparisons are false for NaN, so NaN is the result. At a bound the result is x itself,
    // with derivative 1.
    let (below, above) = (me.g.compare(Cmp::Lt, x, low), me.g.compare(Cmp::Gt, x, high));
    let upper = me.g.select(above, high, x);
    Ok(Value::Term(me.g.select(below, low, upper)))
}

fn sin_cos<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let args = reals(me, call)?;
    let [x] = args[..] else { return Err(Poison) };
    let (sin, cos) = (me.g.unary(Unary::Sin, x), me.g.unary(Unary::Cos, x));
    Ok(Value::Tuple([Value::Term(sin), Value::Term(cos)].into()))
}

fn is_nan<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let args = reals(me, call)?;
    let [x] = args[..] else { return Err(Poison) };
    Ok(Value::Term(me.g.compare(Cmp::Ne, x, x)))
}

fn finite<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let args = reals(me, call)?;
    let (&[x], Some(Elem::Real(ty))) = (&args[..], args.first().map(|&t| me.g.elem(t))) else { return Err(Poison) };
    Ok(Value::Term(is_finite(&mut me.g, ty, x)))
}

fn infinite<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let args = reals(me, call)?;
    let (&[x], Some(Elem::Real(ty))) = (&args[..], args.first().map(|&t| me.g.elem(t))) else { return Err(Poison) };
    let size = me.g.unary(Unary::Abs, x);
    let infinity = me.g.lit_real(ty, f64::INFINITY);
    Ok(Value::Term(me.g.compare(Cmp::Eq, size, infinity)))
}
