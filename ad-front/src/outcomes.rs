//! `Result`: a payload or an error, and the methods of options that give one.
//!
//! Invariants: a payload is used only where there is one, and an error only where there is one. An
//! error that is not made of numbers has the value `()`, and is read by no derivative.

use std::rc::Rc;

use super::lower::Lower;
use super::options;
use super::table::{Call, Mark, On, Proof, Row, row};
use super::value::{EnumValue, Lowered, Value};
use ad_ir::catalogue::{self, reached, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::Term;
use ad_ir::prim::Cmp;

/// Methods of `Result`, and of `Option` that give a `Result`.
pub(super) const TABLE: &[Row] = &[
    row("ok_or", On::Option, (1, 1), ok_or, "the value, or an error").marks(&[Mark::Error]),
    row("ok_or_else", On::Option, (1, 1), ok_or_else, "the value, or the error of a closure").marks(&[Mark::Error]),
    row("map_err", On::Result, (1, 1), map_err, "f of the error").marks(&[Mark::Error]),
    row("map", On::Result, (1, 1), map, "f of the value"),
    row("and_then", On::Result, (1, 1), and_then, "f of the value, a `Result` itself"),
    row("ok", On::Result, (0, 0), ok, "the value, an `Option`"),
    row("unwrap", On::Result, (0, 0), unwrap, "the value of a `Result`"),
    row("expect", On::Result, (1, 1), expect, "the value of a `Result`").marks(&[Mark::Message]),
    row("unwrap_or", On::Result, (1, 1), unwrap_or, "the value, or another one"),
    row("unwrap_or_else", On::Result, (1, 1), unwrap_or_else, "the value, or f of the error"),
    row("unwrap_or_default", On::Result, (0, 0), unwrap_or_default, "the value, or zero"),
    row("is_ok", On::Result, (0, 0), is_ok, "whether there is a value").proof(Proof::OfStd { by_reference: true }),
    row("is_err", On::Result, (0, 0), is_err, "whether there is an error").proof(Proof::OfStd { by_reference: true }),
];

/// The parts of a `Result`.
struct Outcome<'a> {
    value: Option<Value<'a>>,
    error: Option<Value<'a>>,
    /// Whether there is a value.
    fine: Term,
}

impl<'a> Outcome<'a> {
    /// The receiver of a call.
    fn of(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Self> {
        let (receiver, range) = call.arg(0)?;
        let Value::Enum(sum) = receiver else {
            let found = me.describe(receiver);
            return Err(me.error(range, catalogue::expected(wanted::RESULT, &found)));
        };
        let part = |variant: usize| sum.payloads.get(variant)?.as_ref()?.first().cloned();
        let (value, error, ok) = (part(0), part(1), me.g.lit_usize(0));
        Ok(Outcome { value, error, fine: me.g.compare(Cmp::Eq, sum.tag, ok) })
    }

    /// The outcome as a value.
    fn made(self, me: &mut Lower<'a>) -> Lowered<Value<'a>> {
        let of = me.input.definitions().ty("Result").filter(|of| of.of_std).ok_or(Poison)?;
        let (ok, err) = (me.g.lit_usize(0), me.g.lit_usize(1));
        let tag = me.g.select(self.fine, ok, err);
        let payload = |part: Option<Value<'a>>| part.map(|part| Rc::from([part]));
        Ok(Value::Enum(Rc::new(EnumValue { of, tag, payloads: [payload(self.value), payload(self.error)].into() })))
    }

    /// The outcome as an `Option`, without the error.
    fn option(self) -> Value<'a> {
        match self.value {
            Some(value) => Value::Option(value.into(), self.fine),
            None => Value::None,
        }
    }
}

/// The error that a function creates from these arguments.
fn error_of<'a>(me: &mut Lower<'a>, f: &Value<'a>, args: &[Value<'a>], range: SrcRange) -> Lowered<Value<'a>> {
    let opaque = matches!(f, Value::Unit) || me.trial(|me| me.apply(f, args, range)).is_err();
    if opaque { Ok(Value::Unit) } else { me.apply(f, args, range) }
}

/// `Ok` of the option's value, or this error if it has none.
fn with_error<'a>(
    me: &mut Lower<'a>,
    call: &Call<'a, '_>,
    error: impl FnOnce(&mut Lower<'a>) -> Lowered<Value<'a>>,
) -> Lowered<Value<'a>> {
    let (value, fine) = options::parts(me, call)?;
    let error = me.under(fine, false, error)?;
    Outcome { value, error: Some(error), fine }.made(me)
}

fn ok_or<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let error = call.arg(1)?.0.clone();
    with_error(me, call, |_| Ok(error))
}

fn ok_or_else<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (f, range) = call.arg(1)?;
    with_error(me, call, |me| error_of(me, f, &[], range))
}

fn map_err<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (f, range) = call.arg(1)?;
    let mut outcome = Outcome::of(me, call)?;
    if let Some(error) = outcome.error.take() {
        outcome.error = Some(me.under(outcome.fine, false, |me| error_of(me, f, &[error], range))?);
    }
    outcome.made(me)
}

fn map<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (f, range) = call.arg(1)?;
    let mut outcome = Outcome::of(me, call)?;
    if let Some(value) = outcome.value.take() {
        outcome.value = Some(me.under(outcome.fine, true, |me| me.apply(f, &[value], range))?);
    }
    outcome.made(me)
}

fn and_then<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (f, range) = call.arg(1)?;
    let Outcome { value, error, fine } = Outcome::of(me, call)?;
    let failed = |me: &mut Lower<'a>| {
        let fine = me.g.lit_bool(false);
        Outcome { value: None, error, fine }.made(me)
    };
    match value {
        Some(value) => me.branch(fine, |me| me.apply(f, &[value], range), failed, call.range),
        None => failed(me),
    }
}

fn ok<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(Outcome::of(me, call)?.option())
}

fn unwrap<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let outcome = Outcome::of(me, call)?;
    me.require(None, outcome.fine, reached::ERR);
    outcome.value.ok_or_else(|| me.error(call.range, catalogue::expected(wanted::VALUE, wanted::NOTHING)))
}

fn expect<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let option = ok(me, call)?;
    options::expect(me, &call.of(option))
}

fn unwrap_or<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let option = ok(me, call)?;
    options::unwrap_or(me, &call.of(option))
}

fn unwrap_or_else<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (f, range) = call.arg(1)?;
    let Outcome { value, error, fine } = Outcome::of(me, call)?;
    let error = error.unwrap_or(Value::Unit);
    let failed = |me: &mut Lower<'a>| me.apply(f, &[error], range);
    match value {
        Some(value) => me.branch(fine, |_| Ok(value), failed, call.range),
        None => failed(me),
    }
}

fn unwrap_or_default<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let option = ok(me, call)?;
    options::unwrap_or_default(me, &call.of(option))
}

fn is_ok<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(Value::Term(Outcome::of(me, call)?.fine))
}

fn is_err<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let fine = Outcome::of(me, call)?.fine;
    Ok(Value::Term(me.g.not(fine)))
}
