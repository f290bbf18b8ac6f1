//! `Ordering`: comparisons as values. An ordering is a list of pairs of keys, and the first pair
//! that differs decides. So `max_by` can see which key of an item its closure compares.

use super::arith::Selection;
use super::lower::{Lower, elem_name};
use super::refs::results;
use super::table::{Call, On, Row, row};
use super::value::{Lowered, Value};
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::SrcRange;
use ad_ir::ir::{Elem, IntTy, Term, Type};
use ad_ir::prim::{Cmp, Prim};
use ad_ir::program::Takes;

/// A key of each of two values. The keys are integers or reals.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct KeyPair {
    pub keys: [Term; 2],
    /// Whether a NaN is equal to every number. Otherwise there is no NaN.
    pub nan_is_equal: bool,
}

impl KeyPair {
    pub(super) fn of(keys: [Term; 2]) -> Self {
        KeyPair { keys, nan_is_equal: false }
    }
}

/// The comparison of two values.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct KeyPairs(pub Vec<KeyPair>);

/// A possible result of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sign {
    Less,
    Equal,
    Greater,
}

impl Sign {
    /// The constant of `Ordering` of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "Less" => Some(Sign::Less),
            "Equal" => Some(Sign::Equal),
            "Greater" => Some(Sign::Greater),
            _ => None,
        }
    }
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
        for &KeyPair { keys: [a, b], nan_is_equal } in order.0.iter().rev() {
            let equal = if nan_is_equal {
                let (less, greater) = (self.g.compare(Cmp::Lt, a, b), self.g.compare(Cmp::Gt, a, b));
                let differ = self.g.or(less, greater);
                self.g.not(differ)
            } else {
                self.g.compare(Cmp::Eq, a, b)
            };
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
    fn pairs(&mut self, a: &Value<'a>, b: &Value<'a>, range: SrcRange, pairs: &mut Vec<KeyPair>) -> Lowered<()> {
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
        pairs.push(KeyPair::of([number(self, a), number(self, b)]));
        Ok(())
    }

    /// 0 for less, 1 for equal, 2 for greater.
    fn sign_of(&mut self, order: &KeyPairs) -> Term {
        let (less, greater) = (self.has_sign(order, Sign::Less), self.has_sign(order, Sign::Greater));
        let [zero, one, two] = [0, 1, 2].map(|k| self.g.lit_usize(k));
        let other = self.g.select(greater, two, one);
        self.g.select(less, zero, other)
    }

    /// One of two comparisons, whose keys may differ.
    pub(super) fn chosen_order(&mut self, how: Selection, a: &KeyPairs, b: &KeyPairs) -> KeyPairs {
        let (a, b) = (self.sign_of(a), self.sign_of(b));
        let (chosen, one) = (self.choose(how, a, b), self.g.lit_usize(1));
        KeyPairs(vec![KeyPair::of([chosen, one])])
    }

    /// A constant of `Ordering`.
    pub(super) fn constant_order(&mut self, sign: Sign) -> KeyPairs {
        let (sign, one) = (self.g.lit_usize(sign as usize), self.g.lit_usize(1));
        KeyPairs(vec![KeyPair::of([sign, one])])
    }

    /// `partial_cmp(..).unwrap_or(Ordering::Equal)`. `None` if the comparison is one of several
    /// keys, or if it is not this constant.
    pub(super) fn order_or_equal(&mut self, some: &Value<'a>, none: &Value<'a>) -> Option<KeyPairs> {
        let (Value::Ordering(some), Value::Ordering(none)) = (some, none) else { return None };
        let [pair] = some.0[..] else { return None };
        (*none == self.constant_order(Sign::Equal)).then(|| KeyPairs(vec![KeyPair { nan_is_equal: true, ..pair }]))
    }

    /// The comparison of two values that consist of integers.
    pub(super) fn integer_order(&mut self, a: &Value<'a>, b: &Value<'a>, range: SrcRange) -> Lowered<KeyPairs> {
        let mut pairs = Vec::new();
        self.pairs(a, b, range, &mut pairs)?;
        if let Some(real) = pairs.iter().find(|p| self.g.elem(p.keys[0]).is_real()) {
            let found = elem_name(self.g.elem(real.keys[0]), self.input.sig().real_param.as_ref());
            return Err(self.error(range, catalogue::expected(wanted::INTEGERS_TO_CMP, &format!("`{found}`"))));
        }
        Ok(KeyPairs(pairs))
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
    let ((a, _), (b, _)) = (call.arg(0)?, call.arg(1)?);
    Ok(Value::Ordering(me.integer_order(a, b, call.range)?))
}

fn partial_cmp<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let order = both(me, call)?;
    let mut exists = me.g.lit_bool(true);
    for &KeyPair { keys: [a, b], .. } in &order.0 {
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
    if let Some(other) = order.0.iter().find(|p| !me.g.elem(p.keys[0]).is_real()) {
        let found = elem_name(me.g.elem(other.keys[0]), me.input.sig().real_param.as_ref());
        return Err(me.error(call.range, catalogue::expected(wanted::REALS_TO_CMP, &format!("`{found}`"))));
    }
    let mut place = |t: Term| me.g.prim(Prim::TotalOrder, &[t]);
    Ok(Value::Ordering(KeyPairs(order.0.iter().map(|p| KeyPair::of(p.keys.map(&mut place))).collect())))
}

fn receiver<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<KeyPairs> {
    let (value, range) = call.arg(0)?;
    me.ordering(value, range)
}

fn reverse<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let mut order = receiver(me, call)?;
    order.0.iter_mut().for_each(|pair| pair.keys.reverse());
    Ok(Value::Ordering(order))
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
