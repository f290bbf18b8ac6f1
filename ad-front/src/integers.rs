//! Integers: arithmetic in the declared type, bit operations, shifts, and methods. Terms saturate.
//! A check states that the function's own operation does not overflow.
//!
//! Invariant: an overflow is reported exactly if the function reaches it.

use super::functions::ints;
use super::lower::Lower;
use super::refs::results;
use super::table::{Call, On, Row, row};
use super::value::{Lowered, Value, Want};
use ad_ir::analysis::range::Linear;
use ad_ir::catalogue::{self, reached, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Elem, IntTy, Lit, Node, Term, Type};
use ad_ir::prim::{Cmp, IntOp, Prim, Reduce};

/// Methods of integers.
pub(super) const TABLE: &[Row] = &[
    row("max", On::Int, (1, 1), max, "the larger").unproved().gives(results::number_by_value),
    row("min", On::Int, (1, 1), min, "the smaller").unproved().gives(results::number_by_value),
    row("clamp", On::Int, (2, 2), clamp, "into a range").unproved().gives(results::number_by_value),
    row("abs", On::Int, (0, 0), abs, "absolute value"),
    row("unsigned_abs", On::Int, (0, 0), unsigned_abs, "absolute value, of the unsigned type"),
    row("signum", On::Int, (0, 0), signum, "-1, 0 or 1"),
    row("pow", On::Int, (1, 1), pow, "power"),
    row("rem_euclid", On::Int, (1, 1), rem_euclid, "the remainder that is not negative"),
    row("div_euclid", On::Int, (1, 1), div_euclid, "the quotient that `rem_euclid` goes with"),
    row("div_ceil", On::Int, (1, 1), div_ceil, "the quotient, rounded up (unsigned)"),
    row("abs_diff", On::Int, (1, 1), abs_diff, "distance, of the unsigned type"),
    row("is_power_of_two", On::Int, (0, 0), is_power_of_two, "whether it is a power of two (unsigned)"),
    row("is_positive", On::Int, (0, 0), is_positive, "whether it is above 0 (signed)"),
    row("is_negative", On::Int, (0, 0), is_negative, "whether it is below 0 (signed)"),
    row(
        "saturating_add",
        On::Int,
        (1, 1),
        |me, call| saturating(me, call, IntOp::Add),
        "the sum, or the end of the type",
    ),
    row(
        "saturating_sub",
        On::Int,
        (1, 1),
        |me, call| saturating(me, call, IntOp::Sub),
        "the difference, or the end of the type",
    ),
    row(
        "saturating_mul",
        On::Int,
        (1, 1),
        |me, call| saturating(me, call, IntOp::Mul),
        "the product, or the end of the type",
    ),
    row(
        "saturating_pow",
        On::Int,
        (1, 1),
        |me, call| saturating(me, call, IntOp::Pow),
        "the power, or the end of the type",
    ),
    row("wrapping_add", On::Int, (1, 1), |me, call| wrapping(me, call, IntOp::Add), "the sum, its low bits"),
    row("wrapping_sub", On::Int, (1, 1), |me, call| wrapping(me, call, IntOp::Sub), "the difference, its low bits"),
    row("wrapping_mul", On::Int, (1, 1), |me, call| wrapping(me, call, IntOp::Mul), "the product, its low bits"),
    row("wrapping_neg", On::Int, (0, 0), wrapping_neg, "the negation, its low bits"),
    row("checked_add", On::Int, (1, 1), |me, call| checked(me, call, IntOp::Add), "the sum, an `Option`")
        .gives(results::unknown),
    row("checked_sub", On::Int, (1, 1), |me, call| checked(me, call, IntOp::Sub), "the difference, an `Option`")
        .gives(results::unknown),
    row("checked_mul", On::Int, (1, 1), |me, call| checked(me, call, IntOp::Mul), "the product, an `Option`")
        .gives(results::unknown),
    row("checked_div", On::Int, (1, 1), |me, call| checked(me, call, IntOp::Div), "the quotient, an `Option`")
        .gives(results::unknown),
    row("checked_rem", On::Int, (1, 1), |me, call| checked(me, call, IntOp::Rem), "the remainder, an `Option`")
        .gives(results::unknown),
    row("checked_pow", On::Int, (1, 1), |me, call| checked(me, call, IntOp::Pow), "the power, an `Option`")
        .gives(results::unknown),
];

/// The result of an operation, and the condition under which it is Rust's result.
struct Outcome {
    /// The saturated value.
    result: Term,
    /// The condition, elementwise. `None` if it always holds.
    ok: Option<Term>,
    /// The condition in the form `goal >= 0`.
    goal: Option<Linear>,
    /// The message if the condition does not hold.
    what: &'static str,
}

/// An integer operation, elementwise.
struct Operation {
    op: IntOp,
    ty: IntTy,
    a: Term,
    b: Term,
    /// The saturated value.
    result: Term,
    shape: Vec<Term>,
    /// Zeros of this shape.
    zero: Term,
}

/// The condition under which the value of an operation is in range.
struct Fits {
    /// The exact value as a linear form, if there is one.
    exact: Option<Linear>,
    /// The condition on terms.
    ok: Term,
    /// The message if it does not hold.
    what: &'static str,
}

impl<'a> Lower<'a> {
    /// An integer operation, elementwise, with a check that it does not overflow.
    pub(super) fn int_checked(&mut self, op: IntOp, a: Term, b: Term) -> Term {
        let Elem::Int(ty) = self.g.elem(a) else { return a };
        let outcome = self.outcome(op, ty, a, b);
        self.demand(outcome)
    }

    /// The value of an operation that must not overflow.
    fn demand(&mut self, outcome: Outcome) -> Term {
        if let Some(ok) = outcome.ok {
            let rank = self.g.rank(ok);
            let ok = if rank > 0 { self.g.reduce(Reduce::All, rank, ok) } else { ok };
            self.require(outcome.goal, ok, outcome.what);
        }
        outcome.result
    }

    /// An array of one integer.
    fn filled_int(&mut self, ty: IntTy, n: i128, shape: &[Term]) -> Term {
        let t = self.g.lit(Lit::Int(ty, n));
        self.g.broadcast(t, shape)
    }

    fn outcome(&mut self, op: IntOp, ty: IntTy, a: Term, b: Term) -> Outcome {
        let shape = self.g.shape(a).to_vec();
        let result = self.g.int(op, a, b);
        if matches!(self.g.node(result), Node::Prim(Prim::Cast(_), _)) {
            // In `1 + k - 1`, k is a step number. It has the type that is given to the range.
            let mut keys = self.inference.literals_of(&self.g, a);
            keys.extend(self.inference.literals_of(&self.g, b));
            self.inference.set_literals(result, &keys);
        }
        let fine = Outcome { result, ok: None, goal: None, what: "" };
        let scalar = shape.is_empty();
        let mut forms = [Linear::default(), Linear::default()];
        if scalar {
            forms = [a, b].map(|t| self.state.facts.linear(&self.g, t));
        }
        let zero = self.filled_int(ty, 0, &shape);
        let operation = Operation { op, ty, a, b, result, shape, zero };
        let Fits { exact, ok, what } = match op {
            IntOp::Min | IntOp::Max | IntOp::BitAnd | IntOp::BitOr | IntOp::BitXor => return fine,
            IntOp::Shl | IntOp::Shr => return self.shifted(op, a, b),
            IntOp::Add | IntOp::Sub => self.sum_fits(&operation, &forms),
            IntOp::Mul => self.product_fits(&operation, &forms),
            IntOp::Pow => self.power_fits(&operation),
            IntOp::Div | IntOp::Rem => return self.quotient(&operation, &forms[1]),
        };
        let goal = match exact {
            Some(l) if scalar && self.state.facts.within(&self.g, &l, ty.range()) => return fine,
            // An unsigned difference can only be too small, and that condition is linear.
            Some(l) if scalar && ty.range().0 == 0 && op == IntOp::Sub => Some(l),
            _ => None,
        };
        Outcome { result, ok: Some(ok), goal, what }
    }

    /// The condition of a sum or difference.
    fn sum_fits(&mut self, of: &Operation, [la, lb]: &[Linear; 2]) -> Fits {
        let Operation { a, b, zero, .. } = *of;
        let (low, high) = of.ty.range();
        let sum = of.op == IntOp::Add;
        let (most, least) = (self.filled_int(of.ty, high, &of.shape), self.filled_int(of.ty, low, &of.shape));
        // a + b <= high is a <= high - b where b >= 0, and so on. The right side does not saturate.
        let back = if sum { IntOp::Sub } else { IntOp::Add };
        let (up, down) = (self.g.int(back, most, b), self.g.int(back, least, b));
        let (below, above) = (self.g.compare(Cmp::Le, a, up), self.g.compare(Cmp::Ge, a, down));
        let positive = self.g.compare(Cmp::Ge, b, zero);
        let (if_positive, if_negative) = if sum { (below, above) } else { (above, below) };
        let ok = match (low, sum) {
            (0, true) => below,
            (0, false) => self.g.compare(Cmp::Le, b, a),
            _ => self.g.select(positive, if_positive, if_negative),
        };
        let what = if sum { reached::ADDITION_OVERFLOWS } else { reached::SUBTRACTION_OVERFLOWS };
        Fits { exact: la.combine(1, lb, if sum { 1 } else { -1 }), ok, what }
    }

    /// The condition of a product.
    fn product_fits(&mut self, of: &Operation, [la, lb]: &[Linear; 2]) -> Fits {
        let Operation { a, b, result, zero, .. } = *of;
        let (low, high) = of.ty.range();
        let exact = match (la.atoms.is_empty(), lb.atoms.is_empty()) {
            (true, _) => lb.combine(la.constant, &Linear::default(), 0),
            (_, true) => la.combine(lb.constant, &Linear::default(), 0),
            _ => None,
        };
        // A division does not give the factor back if the product has saturated.
        let back = self.g.int(IntOp::Div, result, b);
        let none = self.g.compare(Cmp::Eq, b, zero);
        // For unsigned types, a * b <= high is a <= high / b.
        let fits = if low == 0 {
            let most = self.filled_int(of.ty, high, &of.shape);
            let most = self.g.int(IntOp::Div, most, b);
            self.g.compare(Cmp::Le, a, most)
        } else {
            self.g.compare(Cmp::Eq, back, a)
        };
        Fits { exact, ok: self.g.or(none, fits), what: reached::PRODUCT_OVERFLOWS }
    }

    /// The condition of a power.
    fn power_fits(&mut self, of: &Operation) -> Fits {
        let Operation { a, b, result, zero, .. } = *of;
        // The power with one factor less, times the base, is tested as a product. A division does
        // not give the base back if the power has saturated.
        let one = self.filled_int(of.ty, 1, &of.shape);
        let less = self.g.int(IntOp::Sub, b, one);
        let before = self.g.int(IntOp::Pow, a, less);
        let back = self.g.int(IntOp::Div, result, a);
        let (same, none) = (self.g.compare(Cmp::Eq, back, before), self.g.compare(Cmp::Eq, a, zero));
        let first = self.g.compare(Cmp::Le, b, zero);
        let trivial = self.g.or(none, first);
        let exact = match (self.g.int_value(a), self.g.int_value(b)) {
            (Some(x), Some(n)) => u32::try_from(n).ok().and_then(|n| x.checked_pow(n)).map(Linear::constant),
            _ => None,
        };
        Fits { exact, ok: self.g.or(trivial, same), what: reached::POWER_OVERFLOWS }
    }

    /// A quotient or remainder. `divisor` is the linear form of the divisor, if it is a scalar.
    fn quotient(&mut self, of: &Operation, divisor: &Linear) -> Outcome {
        let Operation { a, b, result, zero, .. } = *of;
        let low = of.ty.range().0;
        let divides = self.g.compare(Cmp::Ne, b, zero);
        let ok = if low == 0 {
            divides
        } else {
            let (least, minus) = (self.filled_int(of.ty, low, &of.shape), self.filled_int(of.ty, -1, &of.shape));
            let (fits, other) = (self.g.compare(Cmp::Ne, a, least), self.g.compare(Cmp::Ne, b, minus));
            let fits = self.g.or(fits, other);
            self.g.and(divides, fits)
        };
        let literal = self.g.int_value(self.g.splat(b));
        if literal.is_some_and(|n| n != 0 && n != -1) {
            return Outcome { result, ok: None, goal: None, what: "" };
        }
        if low != 0 || !of.shape.is_empty() {
            return Outcome { result, ok: Some(ok), goal: None, what: reached::DIVISION_FAILS };
        }
        let goal = divisor.combine(1, &Linear::constant(-1), 1);
        let what = if of.op == IntOp::Div { reached::DIVISION_BY_ZERO } else { reached::REMAINDER_BY_ZERO };
        Outcome { result, ok: Some(ok), goal, what }
    }

    /// `a << b`, `a >> b`. The amount may have another type.
    fn shifted(&mut self, op: IntOp, a: Term, b: Term) -> Outcome {
        let (Elem::Int(ty), Elem::Int(by)) = (self.g.elem(a), self.g.elem(b)) else {
            return Outcome { result: a, ok: None, goal: None, what: "" };
        };
        let shape = self.g.shape(b).to_vec();
        let bits = i128::from(ty.bits());
        let amount = self.g.cast(Elem::Int(ty), b);
        let result = self.g.int(op, a, amount);
        if self.g.int_value(self.g.splat(b)).is_some_and(|n| (0..bits).contains(&n)) {
            return Outcome { result, ok: None, goal: None, what: "" };
        }
        let (zero, end) = (self.filled_int(by, 0, &shape), self.filled_int(by, bits, &shape));
        let mut ok = self.g.compare(Cmp::Lt, b, end);
        let mut goal = None;
        if by.range().0 < 0 {
            let above = self.g.compare(Cmp::Ge, b, zero);
            ok = self.g.and(above, ok);
        } else if shape.is_empty() {
            let l = self.state.facts.linear(&self.g, b);
            goal = Linear::constant(bits - 1).combine(1, &l, -1);
        }
        Outcome { result, ok: Some(ok), goal, what: reached::SHIFT_OVERFLOWS }
    }

    /// `a << b` and `a >> b` with a check, for scalars or arrays.
    pub(super) fn shift(&mut self, op: IntOp, a: Term, b: Term, words: [String; 2], range: SrcRange) -> Lowered<Term> {
        let (Elem::Int(_), Elem::Int(_)) = (self.g.elem(a), self.g.elem(b)) else {
            let (a, b) = (self.describe(&Value::Term(a)), self.describe(&Value::Term(b)));
            return Err(self.error(range, catalogue::expected(wanted::INTEGERS, &format!("{a} and {b}"))));
        };
        let (a, b) = self.broadcast_both(a, b, words, range)?;
        let outcome = self.shifted(op, a, b);
        Ok(self.demand(outcome))
    }

    /// `!x` of integers inverts every bit.
    pub(super) fn complement(&mut self, x: Term, ty: IntTy) -> Term {
        let shape = self.g.shape(x).to_vec();
        let (low, high) = ty.range();
        let all = self.filled_int(ty, if low == 0 { high } else { -1 }, &shape);
        self.g.int(IntOp::BitXor, x, all)
    }

    /// The exponent of an integer power, in the type of the base. Above 126 only its parity
    /// matters.
    fn exponent(&mut self, value: &Value<'a>, ty: IntTy, range: SrcRange) -> Lowered<Term> {
        let n = self.term_as(value, Want::Elem(Elem::Int(IntTy::U32)), range)?;
        if *self.g.ty(n) != Type::scalar(Elem::Int(IntTy::U32)) {
            let found = self.describe(&Value::Term(n));
            return Err(self.error(range, catalogue::expected(wanted::U32, &found)));
        }
        let (one, most) = (self.filled_int(IntTy::U32, 1, &[]), self.filled_int(IntTy::U32, 126, &[]));
        let odd = self.g.int(IntOp::BitAnd, n, one);
        let most = self.g.int(IntOp::Add, most, odd);
        let n = self.g.int(IntOp::Min, n, most);
        Ok(self.g.cast(Elem::Int(ty), n))
    }

    /// The operands of `x.op(y)`. The exponent of a power has its own type.
    fn operands(&mut self, call: &Call<'a, '_>, op: IntOp) -> Lowered<(IntTy, Term, Term)> {
        if op != IntOp::Pow {
            return pair(self, call);
        }
        let ((a, ra), (n, rn)) = (call.arg(0)?, call.arg(1)?);
        let elem = self.elem_of(a).unwrap_or(Elem::Int(IntTy::I32));
        let Elem::Int(ty) = elem else {
            let found = self.describe(a);
            return Err(self.error(ra, catalogue::expected(wanted::INTEGERS, &found)));
        };
        let (a, n) = (self.integer(a, ty, ra), self.exponent(n, ty, rn));
        Ok((ty, a?, n?))
    }
}

fn pair<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(IntTy, Term, Term)> {
    let (ty, terms) = ints(me, call)?;
    match terms[..] {
        [a, b] => Ok((ty, a, b)),
        _ => Err(Poison),
    }
}

fn one<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(IntTy, Term)> {
    let (ty, terms) = ints(me, call)?;
    match terms[..] {
        [x] => Ok((ty, x)),
        _ => Err(Poison),
    }
}

fn max<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (_, a, b) = pair(me, call)?;
    Ok(Value::Term(me.g.int(IntOp::Max, a, b)))
}

fn min<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (_, a, b) = pair(me, call)?;
    Ok(Value::Term(me.g.int(IntOp::Min, a, b)))
}

fn clamp<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (_, terms) = ints(me, call)?;
    let [x, low, high] = terms[..] else { return Err(Poison) };
    me.require_le(low, high, reached::CLAMP);
    let x = me.g.int(IntOp::Max, x, low);
    Ok(Value::Term(me.g.int(IntOp::Min, x, high)))
}

fn abs<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (_, x) = one(me, call)?;
    let minus = me.negate(x, call.range)?;
    Ok(Value::Term(me.g.int(IntOp::Max, x, minus)))
}

fn signum<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (ty, x) = signed(me, call)?;
    let (one, minus) = (me.filled_int(ty, 1, &[]), me.filled_int(ty, -1, &[]));
    let x = me.g.int(IntOp::Min, x, one);
    Ok(Value::Term(me.g.int(IntOp::Max, x, minus)))
}

fn pow<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (ty, a, n) = me.operands(call, IntOp::Pow)?;
    // A square is lowered as a product, since more facts can be proved of products.
    let (op, n) = if me.g.int_value(n) == Some(2) { (IntOp::Mul, a) } else { (IntOp::Pow, n) };
    let outcome = me.outcome(op, ty, a, n);
    Ok(Value::Term(me.demand(outcome)))
}

fn rem_euclid<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (ty, a, b) = pair(me, call)?;
    let rem = me.int_checked(IntOp::Rem, a, b);
    if ty.range().0 == 0 {
        return Ok(Value::Term(rem));
    }
    let zero = me.filled_int(ty, 0, &[]);
    let (plus, minus) = (me.g.int(IntOp::Add, rem, b), me.g.int(IntOp::Sub, rem, b));
    let positive = me.g.compare(Cmp::Gt, b, zero);
    let shifted = me.g.select(positive, plus, minus);
    let negative = me.g.compare(Cmp::Lt, rem, zero);
    Ok(Value::Term(me.g.select(negative, shifted, rem)))
}

fn div_euclid<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (ty, a, b) = pair(me, call)?;
    let quotient = me.int_checked(IntOp::Div, a, b);
    if ty.range().0 == 0 {
        return Ok(Value::Term(quotient));
    }
    let rem = me.g.int(IntOp::Rem, a, b);
    let (zero, one) = (me.filled_int(ty, 0, &[]), me.filled_int(ty, 1, &[]));
    let (down, up) = (me.g.int(IntOp::Sub, quotient, one), me.g.int(IntOp::Add, quotient, one));
    let positive = me.g.compare(Cmp::Gt, b, zero);
    let shifted = me.g.select(positive, down, up);
    let negative = me.g.compare(Cmp::Lt, rem, zero);
    Ok(Value::Term(me.g.select(negative, shifted, quotient)))
}

fn div_ceil<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (ty, a, b) = pair(me, call)?;
    if ty.range().0 < 0 {
        return Err(me.error(call.range, catalogue::expected(wanted::UNSIGNED_INTEGER, &format!("`{}`", ty.name()))));
    }
    let quotient = me.int_checked(IntOp::Div, a, b);
    let rest = me.g.int(IntOp::Rem, a, b);
    let (zero, one) = (me.filled_int(ty, 0, &[]), me.filled_int(ty, 1, &[]));
    let up = me.g.int(IntOp::Add, quotient, one);
    let more = me.g.compare(Cmp::Gt, rest, zero);
    Ok(Value::Term(me.g.select(more, up, quotient)))
}

/// The distance of two integers, in the unsigned type of the same width.
fn distance(me: &mut Lower, ty: IntTy, a: Term, b: Term) -> Term {
    let unsigned = match ty {
        IntTy::Isize => IntTy::Usize,
        IntTy::I64 => IntTy::U64,
        IntTy::I32 => IntTy::U32,
        other => other,
    };
    let (high, low) = (me.g.int(IntOp::Max, a, b), me.g.int(IntOp::Min, a, b));
    let difference = me.g.int(IntOp::Sub, high, low);
    if unsigned == ty {
        return difference;
    }
    // For operands of the same sign the difference is in range. Otherwise the distances of both
    // from 0 are added.
    let elem = Elem::Int(unsigned);
    let near = me.g.cast(elem, difference);
    let (zero, one, more) = (me.filled_int(ty, 0, &[]), me.filled_int(ty, 1, &[]), me.filled_int(unsigned, 1, &[]));
    let above = me.g.cast(elem, high);
    let below = me.g.int(IntOp::Add, low, one);
    let below = me.g.prim(Prim::IntNeg, &[below]);
    let below = me.g.cast(elem, below);
    let below = me.g.int(IntOp::Add, below, more);
    let far = me.g.int(IntOp::Add, above, below);
    let (up, down) = (me.g.compare(Cmp::Ge, high, zero), me.g.compare(Cmp::Lt, low, zero));
    let opposite_signs = me.g.and(up, down);
    me.g.select(opposite_signs, far, near)
}

fn abs_diff<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (ty, a, b) = pair(me, call)?;
    Ok(Value::Term(distance(me, ty, a, b)))
}

fn unsigned_abs<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (ty, x) = signed(me, call)?;
    let zero = me.filled_int(ty, 0, &[]);
    Ok(Value::Term(distance(me, ty, x, zero)))
}

fn signed<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(IntTy, Term)> {
    let (ty, x) = one(me, call)?;
    if ty.range().0 < 0 {
        return Ok((ty, x));
    }
    Err(me.error(call.range, catalogue::expected(wanted::SIGNED_INTEGER, &format!("`{}`", ty.name()))))
}

fn is_power_of_two<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (ty, x) = one(me, call)?;
    if ty.range().0 < 0 {
        return Err(me.error(call.range, catalogue::expected(wanted::UNSIGNED_INTEGER, &format!("`{}`", ty.name()))));
    }
    let (zero, one) = (me.filled_int(ty, 0, &[]), me.filled_int(ty, 1, &[]));
    let less = me.g.int(IntOp::Sub, x, one);
    let rest = me.g.int(IntOp::BitAnd, x, less);
    let (single, any) = (me.g.compare(Cmp::Eq, rest, zero), me.g.compare(Cmp::Gt, x, zero));
    Ok(Value::Term(me.g.and(single, any)))
}

fn is_positive<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (ty, x) = signed(me, call)?;
    let zero = me.filled_int(ty, 0, &[]);
    Ok(Value::Term(me.g.compare(Cmp::Gt, x, zero)))
}

fn is_negative<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (ty, x) = signed(me, call)?;
    let zero = me.filled_int(ty, 0, &[]);
    Ok(Value::Term(me.g.compare(Cmp::Lt, x, zero)))
}

fn saturating<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, op: IntOp) -> Lowered<Value<'a>> {
    let (_, a, b) = me.operands(call, op)?;
    Ok(Value::Term(me.g.int(op, a, b)))
}

fn checked<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, op: IntOp) -> Lowered<Value<'a>> {
    let (ty, a, b) = me.operands(call, op)?;
    let outcome = me.outcome(op, ty, a, b);
    let ok = outcome.ok.unwrap_or_else(|| me.g.lit_bool(true));
    Ok(Value::Option(Value::Term(outcome.result).into(), ok))
}

impl Lower<'_> {
    /// Computes in halves of 32 bits, so that no operation overflows in 64 bits.
    fn wrapping_halves(&mut self, op: IntOp, ty: IntTy, a: Term, b: Term) -> Term {
        let wide = Elem::Int(IntTy::U64);
        let (a, b) = (self.g.cast(wide, a), self.g.cast(wide, b));
        let shape = self.g.shape(a).to_vec();
        let number = |me: &mut Self, n: i128| me.filled_int(IntTy::U64, n, &shape);
        let (mask, half, one) = (number(self, 0xffff_ffff), number(self, 32), number(self, 1));
        let low = |me: &mut Self, t: Term| me.g.int(IntOp::BitAnd, t, mask);
        let high = |me: &mut Self, t: Term| me.g.int(IntOp::Shr, t, half);
        let sum = |me: &mut Self, a: Term, b: Term| {
            let (la, lb, ha, hb) = (low(me, a), low(me, b), high(me, a), high(me, b));
            let less = me.g.int(IntOp::Add, la, lb);
            let carry = high(me, less);
            let more = me.g.int(IntOp::Add, ha, hb);
            let more = me.g.int(IntOp::Add, more, carry);
            let (less, more) = (low(me, less), me.g.int(IntOp::Shl, more, half));
            me.g.int(IntOp::BitOr, more, less)
        };
        let result = match op {
            IntOp::Mul => {
                let (la, lb, ha, hb) = (low(self, a), low(self, b), high(self, a), high(self, b));
                let (less, p, q) =
                    (self.g.int(IntOp::Mul, la, lb), self.g.int(IntOp::Mul, ha, lb), self.g.int(IntOp::Mul, la, hb));
                let (p, q) = (low(self, p), low(self, q));
                let more = self.g.int(IntOp::Add, p, q);
                let more = self.g.int(IntOp::Shl, more, half);
                sum(self, less, more)
            }
            IntOp::Sub => {
                // This is the complement of b, plus one.
                let all = number(self, i128::from(u64::MAX));
                let rest = self.g.int(IntOp::BitXor, b, all);
                let negated = sum(self, rest, one);
                sum(self, a, negated)
            }
            _ => sum(self, a, b),
        };
        self.g.cast(Elem::Int(ty), result)
    }
}

fn wrapping<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, op: IntOp) -> Lowered<Value<'a>> {
    let (ty, a, b) = me.operands(call, op)?;
    Ok(Value::Term(wrapped(me, op, ty, [a, b])))
}

fn wrapping_neg<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (ty, x) = one(me, call)?;
    let zero = me.filled_int(ty, 0, &[]);
    Ok(Value::Term(wrapped(me, IntOp::Sub, ty, [zero, x])))
}

/// Computes in a wider type, where nothing saturates, and casts back, which keeps the low bits.
fn wrapped(me: &mut Lower<'_>, op: IntOp, ty: IntTy, [a, b]: [Term; 2]) -> Term {
    let wide = match ty {
        IntTy::I32 => IntTy::I64,
        // A difference is negative if it wraps. A product is less than 2^64.
        IntTy::U8 | IntTy::U32 if op == IntOp::Mul => IntTy::U64,
        IntTy::U8 | IntTy::U32 => IntTy::I64,
        _ => return me.wrapping_halves(op, ty, a, b),
    };
    let (a, b) = (me.g.cast(Elem::Int(wide), a), me.g.cast(Elem::Int(wide), b));
    let result = me.g.int(op, a, b);
    me.g.cast(Elem::Int(ty), result)
}
