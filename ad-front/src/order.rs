//! `Ordering`: comparisons as values. An ordering is a list of pairs of keys, and the first pair
//! that differs decides. So `max_by` can see which key of an item its closure compares.

use super::lower::{Lower, elem_name};
use super::refs::results;
use super::table::{Call, On, Row, row};
use super::value::{Lowered, Value};
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::SrcRange;
use ad_ir::ir::{Elem, IntTy, Term, Type};
use ad_ir::prim::{Cmp, Prim};
use ad_ir::program::Takes;

/// The comparison of two values: pairs of keys, which are integers or reals other than NaN.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct KeyPairs(pub Vec<(Term, Term)>);

/// A possible result of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sign {
    Less,
    Equal,
    Greater,
}

/// Methods that create and consume `Ordering`s.
pub(super) const TABLE: &[Row] = &[
    row("cmp", On::Int, (1, 1), cmp, "comparison, an `Ordering`").unproved().gives(results::unknown),
    row("cmp", On::Bool, (1, 1), cmp, "comparison, an `Ordering`"),
    row("cmp", On::Tuple, (1, 1), cmp, "comparison of tuples of integers, an `Ordering`"),
    row("partial_cmp", On::Int, (1, 1), partial_cmp, "comparison, an `Option` of an `Ordering`")
        .unproved()
        .gives(results::unknown),
    row("partial_cmp", On::Real, (1, 1), partial_cmp, "comparison, an `Option` of an `Ordering`")
        .unproved()
        .gives(results::unknown),
    row("total_cmp", On::Real, (1, 1), total_cmp, "comparison that orders NaN too, an `Ordering`")
        .takes(Takes::Reference)
        .gives(results::unknown),
    row("reverse", On::Ordering, (0, 0), reverse, "the other way round"),
    row("then", On::Ordering, (1, 1), then, "by the first, or else by the second"),
    row("then_with", On::Ordering, (1, 1), then_with, "by the first, or else by that of a closure"),
    row("is_lt", On::Ordering, (0, 0), is_lt, "boolean"),
    row("is_le", On::Ordering, (0, 0), is_le, "boolean"),
    row("is_gt", On::Ordering, (0, 0), is_gt, "boolean"),
    row("is_ge", On::Ordering, (0, 0), is_ge, "boolean"),
    row("is_eq", On::Ordering, (0, 0), is_eq, "boolean"),
    row("is_ne", On::Ordering, (0, 0), is_ne, "boolean"),
];

impl<'a> Lower<'a> {
    /// A condition: the comparison has this result.
    pub(super) fn has_sign(&mut self, order: &KeyPairs, sign: Sign) -> Term {
        // The last pair comes first here, since a pair matters only if all earlier keys are equal.
        let mut result = self.g.lit_bool(sign == Sign::Equal);
        for &(a, b) in order.0.iter().rev() {
            let equal = self.g.compare(Cmp::Eq, a, b);
            let further = self.g.and(equal, result);
            result = match sign {
                Sign::Equal => further,
                Sign::Less | Sign::Greater => {
                    let op = if sign == Sign::Less { Cmp::Lt } else { Cmp::Gt };
                    let decided = self.g.compare(op, a, b);
                    self.g.or(decided, further)
                }
            };
        }
        result
    }

    /// The pairs of scalars by which two values of one type are compared.
    fn pairs(&mut self, a: &Value<'a>, b: &Value<'a>, range: SrcRange, pairs: &mut Vec<(Term, Term)>) -> Lowered<()> {
        if let (Value::Tuple(xs), Value::Tuple(ys)) = (a, b)
            && xs.len() == ys.len()
        {
            return xs.iter().zip(ys.iter()).try_for_each(|(x, y)| self.pairs(x, y, range, pairs));
        }
        let (a, b) = self.unify_literals(a, b, [range, range])?;
        if self.g.rank(a) > 0 || self.g.ty(a) != self.g.ty(b) {
            let (a, b) = (self.describe(&Value::Term(a)), self.describe(&Value::Term(b)));
            return Err(self.error(range, catalogue::types_differ(&a, &b)));
        }
        let number = |me: &mut Self, t: Term| {
            if *me.g.ty(t) == Type::scalar(Elem::Bool) { me.g.cast(Elem::Int(IntTy::U8), t) } else { t }
        };
        pairs.push((number(self, a), number(self, b)));
        Ok(())
    }

    /// The comparison that a closure of two items returns. `Option`s are unwrapped already.
    pub(super) fn ordering(&mut self, value: &Value<'a>, range: SrcRange) -> Lowered<KeyPairs> {
        match value {
            Value::Ordering(order) => Ok(order.clone()),
            other => {
                let found = self.describe(other);
                Err(self.error(range, catalogue::expected(wanted::ORDERING, &found)))
            }
        }
    }
}

fn both<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<KeyPairs> {
    let ((a, _), (b, _)) = (call.arg(0)?, call.arg(1)?);
    let mut pairs = Vec::new();
    me.pairs(a, b, call.range, &mut pairs)?;
    Ok(KeyPairs(pairs))
}

fn cmp<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let order = both(me, call)?;
    if let Some(&(a, _)) = order.0.iter().find(|p| me.g.elem(p.0).is_real()) {
        let found = elem_name(me.g.elem(a), me.input.sig().real_param.as_ref());
        return Err(me.error(call.range, catalogue::expected(wanted::INTEGERS_TO_CMP, &format!("`{found}`"))));
    }
    Ok(Value::Ordering(order))
}

fn partial_cmp<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let order = both(me, call)?;
    let mut exists = me.g.lit_bool(true);
    for &(a, b) in &order.0 {
        if me.g.elem(a).is_real() {
            let (a, b) = (me.g.compare(Cmp::Eq, a, a), me.g.compare(Cmp::Eq, b, b));
            let numbers = me.g.and(a, b);
            exists = me.g.and(exists, numbers);
        }
    }
    Ok(Value::Option(Value::Ordering(order).into(), exists))
}

fn total_cmp<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let order = both(me, call)?;
    if let Some(&(a, _)) = order.0.iter().find(|p| !me.g.elem(p.0).is_real()) {
        let found = elem_name(me.g.elem(a), me.input.sig().real_param.as_ref());
        return Err(me.error(call.range, catalogue::expected(wanted::REALS_TO_CMP, &format!("`{found}`"))));
    }
    let mut place = |t: Term| me.g.prim(Prim::TotalOrder, &[t]);
    Ok(Value::Ordering(KeyPairs(order.0.iter().map(|&(a, b)| (place(a), place(b))).collect())))
}

fn receiver<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<KeyPairs> {
    let (value, range) = call.arg(0)?;
    me.ordering(value, range)
}

fn reverse<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let order = receiver(me, call)?;
    Ok(Value::Ordering(KeyPairs(order.0.into_iter().map(|(a, b)| (b, a)).collect())))
}

fn then<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let mut order = receiver(me, call)?;
    let (other, range) = call.arg(1)?;
    order.0.extend(me.ordering(other, range)?.0);
    Ok(Value::Ordering(order))
}

fn then_with<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let mut order = receiver(me, call)?;
    let (f, range) = call.arg(1)?;
    let equal = me.has_sign(&order, Sign::Equal);
    let other = me.under(equal, true, |me| {
        let value = me.apply(f, &[], range)?;
        me.ordering(&value, range)
    })?;
    order.0.extend(other.0);
    Ok(Value::Ordering(order))
}

fn signs<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, sign: Sign, is: bool) -> Lowered<Value<'a>> {
    let order = receiver(me, call)?;
    let has = me.has_sign(&order, sign);
    Ok(Value::Term(if is { has } else { me.g.not(has) }))
}

fn is_lt<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    signs(me, call, Sign::Less, true)
}

fn is_le<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    signs(me, call, Sign::Greater, false)
}

fn is_gt<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    signs(me, call, Sign::Greater, true)
}

fn is_ge<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    signs(me, call, Sign::Less, false)
}

fn is_eq<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    signs(me, call, Sign::Equal, true)
}

fn is_ne<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    signs(me, call, Sign::Equal, false)
}
