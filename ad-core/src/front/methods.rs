//! Methods of scalars and of any value; those of arrays by topic in the files below.

pub(super) mod construct;
pub(super) mod elementwise;
pub(super) mod join;
pub(super) mod layout;
pub(super) mod reduce;
pub(super) mod sizes;
pub(super) mod zip;

use super::functions::{self, ints, is_finite, reals};
use super::lower::Lower;
use super::table::{Call, Entry, On, row};
use super::value::{Lowered, Value};
use crate::catalogue;
use crate::diag::Poison;
use crate::ir::{Elem, IntTy, Lit, Term};
use crate::prim::{Cmp, IntOp, Prim, Unary};

/// Methods of scalars beside those of the scalar tables.
pub(super) const SCALAR: &[Entry] = &[
    row("powi", On::Real, (1, 1), powi, "integer power"),
    row("log", On::Real, (1, 1), functions::log, "logarithm to a base"),
    row("mul_add", On::Real, (2, 2), mul_add, "x * a + b"),
    row("clamp", On::Real, (2, 2), clamp, "into a range"),
    row("sin_cos", On::Real, (0, 0), sin_cos, "both"),
    row("is_nan", On::Real, (0, 0), is_nan, "boolean"),
    row("is_finite", On::Real, (0, 0), finite, "boolean"),
    row("is_infinite", On::Real, (0, 0), infinite, "boolean"),
    row("max", On::Int, (1, 1), int_max, "the larger"),
    row("min", On::Int, (1, 1), int_min, "the smaller"),
    row("clamp", On::Int, (2, 2), int_clamp, "into a range"),
    row("abs", On::Int, (0, 0), int_abs, "absolute value"),
    row("rem_euclid", On::Int, (1, 1), rem_euclid, "the remainder that is not negative"),
    row("abs_diff", On::Int, (1, 1), abs_diff, "distance of unsigned integers"),
    row("saturating_sub", On::Int, (1, 1), saturating_sub, "0 where the difference is negative (unsigned)"),
];

/// Methods of every value: copies and views are the value itself; and those of `Option`.
pub(super) const ANY: &[Entry] = &[
    row("clone", On::Any, (0, 0), itself, "the value"),
    row("to_owned", On::Any, (0, 0), itself, "the value"),
    row("into_owned", On::Any, (0, 0), itself, "the value"),
    row("to_vec", On::Any, (0, 0), itself, "the value"),
    row("view", On::Any, (0, 0), itself, "the value"),
    row("as_slice", On::Any, (0, 0), some, "the elements, an `Option`"),
    row("into", On::Any, (0, 0), itself, "the value, where that is a view or an array"),
    row("borrow", On::Any, (0, 0), itself, "the value"),
    row("as_ref", On::Any, (0, 0), itself, "the value"),
    row("unwrap", On::Option, (0, 0), unwrap, "the value of an `Option`"),
    row("expect", On::Option, (1, 1), unwrap, "the value of an `Option`"),
];

fn itself<'a>(_: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(call.arg(0)?.0.clone())
}

fn some<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let there = me.g.lit_bool(true);
    Ok(Value::Maybe(call.arg(0)?.0.clone().into(), there))
}

fn unwrap<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    match call.arg(0)? {
        (Value::Maybe(value, there), _) => {
            me.require(None, *there, "unwrap: there is no value (the array is empty, or the shapes do not fit)");
            Ok((**value).clone())
        }
        (other, range) => {
            let found = me.describe(other);
            Err(me.error(range, catalogue::expected("an `Option`", &found)))
        }
    }
}

pub(super) fn powi<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (n, rn)) = (call.arg(0)?, call.arg(1)?);
    let (x, n) = (me.real_term(x, rx), me.integer(n, IntTy::I32, rn));
    let (x, n) = (x?, n?);
    let shape = me.g.shape(x).to_vec();
    let n = me.g.broadcast(n, &shape);
    Ok(Value::Term(me.g.prim(Prim::PowI, &[x, n])))
}

fn mul_add<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let args = reals(me, call)?;
    let [x, a, b] = args[..] else { return Err(Poison) };
    let product = me.g.mul(x, a);
    Ok(Value::Term(me.g.add(product, b)))
}

fn clamp<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let args = reals(me, call)?;
    let [x, low, high] = args[..] else { return Err(Poison) };
    let ordered = me.g.compare(Cmp::Le, low, high);
    if !matches!((me.g.real_value(low), me.g.real_value(high)), (Some(low), Some(high)) if low <= high) {
        me.require(None, ordered, "clamp: the lower bound is above the upper one");
    }
    // Comparisons that are false for NaN, so that NaN stays; at a bound the value is x itself, with derivative 1.
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

fn int_pair<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(IntTy, Term, Term)> {
    let (ty, terms) = ints(me, call)?;
    match terms[..] {
        [a, b] => Ok((ty, a, b)),
        _ => Err(Poison),
    }
}

fn int_max<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (_, a, b) = int_pair(me, call)?;
    Ok(Value::Term(me.g.int(IntOp::Max, a, b)))
}

fn int_min<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (_, a, b) = int_pair(me, call)?;
    Ok(Value::Term(me.g.int(IntOp::Min, a, b)))
}

fn int_clamp<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (_, terms) = ints(me, call)?;
    let [x, low, high] = terms[..] else { return Err(Poison) };
    me.require_le(low, high, "clamp: the lower bound is above the upper one");
    let x = me.g.int(IntOp::Max, x, low);
    Ok(Value::Term(me.g.int(IntOp::Min, x, high)))
}

fn int_abs<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (_, terms) = ints(me, call)?;
    let [x] = terms[..] else { return Err(Poison) };
    let minus = me.negate(x, call.range)?;
    Ok(Value::Term(me.g.int(IntOp::Max, x, minus)))
}

fn rem_euclid<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (ty, a, b) = int_pair(me, call)?;
    let rem = me.int_checked(IntOp::Rem, a, b);
    if ty.range().0 == 0 {
        return Ok(Value::Term(rem));
    }
    let zero = me.g.lit(Lit::Int(ty, 0));
    let (plus, minus) = (me.g.int(IntOp::Add, rem, b), me.g.int(IntOp::Sub, rem, b));
    let positive = me.g.compare(Cmp::Gt, b, zero);
    let shifted = me.g.select(positive, plus, minus);
    let negative = me.g.compare(Cmp::Lt, rem, zero);
    Ok(Value::Term(me.g.select(negative, shifted, rem)))
}

fn unsigned_pair<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(Term, Term)> {
    let (ty, a, b) = int_pair(me, call)?;
    if ty.range().0 < 0 {
        return Err(me.error(call.range, catalogue::later(&format!("`{}` of signed integers", call.name))));
    }
    Ok((a, b))
}

fn saturating_sub<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (a, b) = unsigned_pair(me, call)?;
    Ok(Value::Term(me.g.int(IntOp::Sub, a, b)))
}

fn abs_diff<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (a, b) = unsigned_pair(me, call)?;
    // One of the two differences is 0.
    let (up, down) = (me.g.int(IntOp::Sub, a, b), me.g.int(IntOp::Sub, b, a));
    Ok(Value::Term(me.g.int(IntOp::Max, up, down)))
}
