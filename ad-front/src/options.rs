//! `Option`: a payload, and a boolean that says whether it is `Some`. This module has methods of
//! options, and methods of booleans that create options.
//!
//! Invariant: the payload of a `None` is never used. It is taken out under the condition that the
//! option is `Some`, or with a check.

use super::arith::Selection;
use super::functions::reals;
use super::lower::Lower;
use super::panic_messages::PanicMessage;
use super::refs::results;
use super::table::{Call, Mark, On, Proof, Row, row};
use super::value::{Lowered, Value, Want};
use ad_ir::catalogue::{self, refused, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{IntTy, Lit, Term};
use ad_ir::prim::{Binary, Cmp, Prim, Unary};
use ad_ir::program::{Check, FallibleKind, Phase};

/// Methods of `Option`.
pub(super) const TABLE: &[Row] = &[
    row("unwrap", On::Option, (0, 0), unwrap, "the value of an `Option`").gives(results::content),
    row("expect", On::Option, (1, 1), expect, "the value of an `Option`")
        .gives(results::content)
        .marks(&[Mark::Message]),
    row("unwrap_or", On::Option, (1, 1), unwrap_or, "the value, or another one").gives(results::content),
    row("unwrap_or_else", On::Option, (1, 1), unwrap_or_else, "the value, or that of a closure"),
    row("unwrap_or_default", On::Option, (0, 0), unwrap_or_default, "the value, or zero").gives(results::content),
    row("map", On::Option, (1, 1), map, "f of the value").gives(results::mapped_content),
    row("map_or", On::Option, (2, 2), map_or, "f of the value, or another value"),
    row("map_or_else", On::Option, (2, 2), map_or_else, "f of the value, or the value of another closure"),
    row("and_then", On::Option, (1, 1), and_then, "f of the value, an `Option` itself"),
    row("is_some", On::Option, (0, 0), is_some, "whether there is a value").proof(Proof::OfStd { by_reference: true }),
    row("is_none", On::Option, (0, 0), is_none, "whether there is none").proof(Proof::OfStd { by_reference: true }),
    row("is_some_and", On::Option, (1, 1), is_some_and, "whether there is a value, and f holds of it"),
    row("is_none_or", On::Option, (1, 1), is_none_or, "whether there is none, or f holds of it"),
    row("copied", On::Option, (0, 0), itself, "the same").gives(results::copied_content),
    row("cloned", On::Option, (0, 0), itself, "the same").gives(results::copied_content),
    row("then", On::Bool, (1, 1), then, "the value of a closure where it holds, an `Option`"),
    row("then_some", On::Bool, (1, 1), then_some, "a value where it holds, an `Option`"),
];

/// Methods of real scalars that are combinations of others.
pub(super) const REAL: &[Row] = &[
    row("rem_euclid", On::Real, (1, 1), rem_euclid, "the remainder that is not negative"),
    row("div_euclid", On::Real, (1, 1), div_euclid, "the quotient that `rem_euclid` goes with"),
    row("is_sign_negative", On::Real, (0, 0), sign_negative, "whether the sign bit is set"),
    row("is_sign_positive", On::Real, (0, 0), sign_positive, "whether the sign bit is not set"),
];

fn itself<'a>(_: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(call.arg(0)?.0.clone())
}

/// The payload, and the condition that it exists. There is no payload for a literal `None`.
pub(super) fn parts<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(Option<Value<'a>>, Term)> {
    match call.arg(0)? {
        (Value::Option(value, exists), _) => Ok((Some((**value).clone()), *exists)),
        (Value::None, _) => Ok((None, me.g.lit_bool(false))),
        (other, range) => {
            let found = me.describe(other);
            Err(me.error(range, catalogue::expected(wanted::OPTION, &found)))
        }
    }
}

impl<'a> Lower<'a> {
    /// Splits the result of a fallible function into its value, if there is a term for it, and the
    /// condition that it is present.
    pub(super) fn result_and_presence(
        &mut self,
        kind: FallibleKind,
        value: Value<'a>,
        range: SrcRange,
    ) -> Lowered<(Option<Value<'a>>, Term)> {
        match value {
            Value::Never => Ok((Some(Value::Never), self.g.lit_bool(true))),
            Value::None if kind == FallibleKind::Option => Ok((None, self.g.lit_bool(false))),
            Value::Option(value, exists) if kind == FallibleKind::Option => Ok((Some((*value).clone()), exists)),
            Value::Enum(sum) if sum.of.of_std && kind == FallibleKind::Result => {
                let ok = self.g.lit_usize(0);
                let present = self.g.compare(Cmp::Eq, sum.tag, ok);
                let fields = sum.payloads.first().and_then(Option::as_ref);
                Ok((fields.and_then(|fields| fields.first()).cloned(), present))
            }
            other => {
                let wanted = match kind {
                    FallibleKind::Option => wanted::OPTION,
                    FallibleKind::Result => wanted::RESULT,
                };
                let found = self.describe(&other);
                Err(self.error(range, catalogue::expected(wanted, &found)))
            }
        }
    }

    /// Adds the check of phase `Absent`: without a result of the function there is no derivative.
    pub(super) fn require_present(&mut self, present: Term) {
        if self.g.bool_value(present) == Some(true) {
            return;
        }
        self.state.requirements.add(Check {
            ok: present,
            message: String::new(),
            format: None,
            shown: Vec::new(),
            loc: self.state.source.here(),
            phase: Phase::Absent,
            debug: false,
            incomplete: false,
        });
    }
}

fn unwrap<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (value, exists) = parts(me, call)?;
    me.require(None, exists, ad_ir::catalogue::reached::NONE);
    there_is(me, value, call)
}

pub(super) fn expect<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (value, exists) = parts(me, call)?;
    me.require_with_message(exists, &PanicMessage::of_user(call.text(1)));
    me.state.facts.assume(&me.g, exists, true);
    there_is(me, value, call)
}

fn there_is<'a>(me: &mut Lower<'a>, value: Option<Value<'a>>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    value.ok_or_else(|| me.error(call.range, catalogue::expected(wanted::VALUE, wanted::NOTHING)))
}

/// The payload if it exists, and otherwise the value of `other`.
fn or<'a>(
    me: &mut Lower<'a>,
    call: &Call<'a, '_>,
    some: impl FnOnce(&mut Lower<'a>, Value<'a>) -> Lowered<Value<'a>>,
    none: impl FnOnce(&mut Lower<'a>) -> Lowered<Value<'a>>,
) -> Lowered<Value<'a>> {
    let (value, exists) = parts(me, call)?;
    let some = value.map(|v| me.under(exists, true, |me| some(me, v)));
    let none = me.under(exists, false, none);
    let Some(some) = some.transpose()? else { return none };
    let none = none?;
    if let Some(order) = me.order_or_equal(&some, &none) {
        return Ok(Value::Ordering(order));
    }
    match me.g.bool_value(exists) {
        Some(false) => typed_like(me, none, &some, call.range),
        Some(true) => typed_like(me, some, &none, call.range),
        None => me.join(Selection { cond: exists, strict: false }, &some, &none, call.range),
    }
}

pub(super) fn unwrap_or<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let other = call.arg(1)?.0.clone();
    or(me, call, |_, v| Ok(v), |_| Ok(other))
}

fn unwrap_or_else<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (f, range) = call.arg(1)?;
    or(me, call, |_, v| Ok(v), |me| me.apply(f, &[], range))
}

pub(super) fn unwrap_or_default<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (value, _) = parts(me, call)?;
    let elem = value.and_then(|v| me.elem_of(&v));
    let zero = match elem {
        Some(elem) => me.g.zero(elem),
        None => return Err(me.error(call.range, refused::construct(refused::Construct::DefaultOfOther))),
    };
    or(me, call, |_, v| Ok(v), |_| Ok(Value::Term(zero)))
}

/// A literal gets the type of the value in the other case.
fn typed_like<'a>(me: &mut Lower<'a>, value: Value<'a>, other: &Value<'a>, range: SrcRange) -> Lowered<Value<'a>> {
    match (&value, me.elem_of(other)) {
        (Value::Number(_), Some(elem)) => Ok(Value::Term(me.term_as(&value, Want::Elem(elem), range)?)),
        _ => Ok(value),
    }
}

fn map<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (f, range) = call.arg(1)?;
    let (value, exists) = parts(me, call)?;
    let Some(value) = value else { return Ok(Value::None) };
    let value = me.under(exists, true, |me| me.apply(f, &[value], range))?;
    Ok(Value::Option(value.into(), exists))
}

fn map_or<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((other, _), (f, range)) = (call.arg(1)?, call.arg(2)?);
    or(me, call, |me, v| me.apply(f, &[v], range), |_| Ok(other.clone()))
}

fn map_or_else<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((other, ro), (f, range)) = (call.arg(1)?, call.arg(2)?);
    or(me, call, |me, v| me.apply(f, &[v], range), |me| me.apply(other, &[], ro))
}

fn and_then<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let Value::Option(inner, exists) = map(me, call)? else { return Ok(Value::None) };
    match &*inner {
        Value::None => Ok(Value::None),
        Value::Option(value, also) => Ok(Value::Option(value.clone(), me.g.and(exists, *also))),
        other => {
            let found = me.describe(other);
            Err(me.error(call.range, catalogue::expected(wanted::OPTION, &found)))
        }
    }
}

fn is_some<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(Value::Term(parts(me, call)?.1))
}

fn is_some_and<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (f, range) = call.arg(1)?;
    or(me, call, |me, v| me.apply(f, &[v], range), |me| Ok(Value::Term(me.g.lit_bool(false))))
}

fn is_none_or<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (f, range) = call.arg(1)?;
    or(me, call, |me, v| me.apply(f, &[v], range), |me| Ok(Value::Term(me.g.lit_bool(true))))
}

fn is_none<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (_, exists) = parts(me, call)?;
    Ok(Value::Term(me.g.not(exists)))
}

fn then<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((c, rc), (f, rf)) = (call.arg(0)?, call.arg(1)?);
    let c = me.boolean(c, rc)?;
    let value = me.under(c, true, |me| me.apply(f, &[], rf))?;
    Ok(Value::Option(value.into(), c))
}

fn then_some<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((c, rc), (value, _)) = (call.arg(0)?, call.arg(1)?);
    let c = me.boolean(c, rc)?;
    Ok(Value::Option(value.clone().into(), c))
}

fn two<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<[Term; 3]> {
    let args = reals(me, call)?;
    let [x, y] = args[..] else { return Err(Poison) };
    Ok([x, y, me.g.lit_like(x, 0.0)])
}

/// std's definition: `r = x % y`, plus `|y|` if r is negative.
fn rem_euclid<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let [x, y, zero] = two(me, call)?;
    let rem = me.g.binary(Binary::Rem, x, y);
    let size = me.g.unary(Unary::Abs, y);
    let more = me.g.add(rem, size);
    let negative = me.g.compare(Cmp::Lt, rem, zero);
    Ok(Value::Term(me.g.select(negative, more, rem)))
}

fn div_euclid<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let [x, y, zero] = two(me, call)?;
    let one = me.g.lit_like(x, 1.0);
    let (quotient, rem) = (me.g.div(x, y), me.g.binary(Binary::Rem, x, y));
    let quotient = me.g.unary(Unary::Trunc, quotient);
    let (down, up) = (me.g.sub(quotient, one), me.g.add(quotient, one));
    let positive = me.g.compare(Cmp::Gt, y, zero);
    let moved = me.g.select(positive, down, up);
    let negative = me.g.compare(Cmp::Lt, rem, zero);
    Ok(Value::Term(me.g.select(negative, moved, quotient)))
}

fn sign_negative<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let args = reals(me, call)?;
    let [x] = args[..] else { return Err(Poison) };
    let place = me.g.prim(Prim::TotalOrder, &[x]);
    let zero = me.g.lit(Lit::Int(IntTy::I64, 0));
    Ok(Value::Term(me.g.compare(Cmp::Lt, place, zero)))
}

fn sign_positive<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let Value::Term(negative) = sign_negative(me, call)? else { return Err(Poison) };
    Ok(Value::Term(me.g.not(negative)))
}
