//! Operators in expressions: chains of operators, their operands, and literals that get the type of
//! the other operand. Arithmetic itself is in [`super::arith`].
//!
//! Invariant: an operator is never applied to operands of two types, as in Rust.

use quote::ToTokens;
use syn::{BinOp, Expr, ExprBinary, UnOp};

use super::lower::{Lower, arith_of};
use super::table::On;
use super::value::{Lowered, Number, Value, Want};
use ad_ir::catalogue::{self, refused, wanted};
use ad_ir::diag::{Poison, SrcRange, text_of};
use ad_ir::ir::{Elem, Term};
use ad_ir::memory_order::HasLayouts;
use ad_ir::prim::{Cmp, IntOp};

impl<'a> Lower<'a> {
    /// Reports `x ** 2`, which Rust reads as `x * (*2)`, and `x ^ 2` of a real number.
    fn power(&mut self, b: &ExprBinary, left: &Value<'a>, range: SrcRange) -> Lowered<()> {
        let real = self.kind_of(left) == On::Real || self.elem_of(left).is_some_and(Elem::is_real);
        let stars =
            matches!(&*b.right, Expr::Unary(u) if matches!(u.op, UnOp::Deref(_)) && matches!(&*u.expr, Expr::Lit(_)));
        match b.op {
            BinOp::Mul(_) if stars => Err(self.error(range, catalogue::foreign::power("**"))),
            BinOp::BitXor(_) if real => Err(self.error(range, catalogue::foreign::power("^"))),
            _ => Ok(()),
        }
    }

    pub(super) fn unary(&mut self, u: &'a syn::ExprUnary) -> Lowered<Value<'a>> {
        let range = SrcRange::of(u);
        let value = self.expr(&u.expr)?;
        if value.is_defined()
            && let Some(made) = self.own_unary(&u.op, &value, range)
        {
            return made;
        }
        match (&u.op, &value) {
            (UnOp::Neg(_), Value::Number(n)) => Ok(Value::Number(Number::Neg(n.clone()).into())),
            (UnOp::Neg(_), Value::DynamicPart(open)) => {
                let open = std::rc::Rc::clone(open);
                if self.g.elem(open.all).is_real() {
                    let t = self.g.neg(open.all);
                    return Ok(self.part_like(t, &open));
                }
                let capacities = self.g.shape(open.all).to_vec();
                let want = Want::Elem(self.g.elem(open.all));
                self.map_dynamic(&capacities, &open.lens, (range, want), &mut |me, ix| {
                    let x = me.g.index(open.all, ix);
                    Ok(Value::Term(me.negate(x, range)?))
                })
            }
            (UnOp::Neg(_), _) => {
                let x = self.term(&value, range)?;
                let made = self.in_memory_order(x, |me, x| Ok(Value::Term(me.negate(x, range)?)))?;
                Ok(match made {
                    Value::Term(t) if !self.input.receivers().is_reference(&u.expr) => {
                        Value::Term(self.layouts().written_over(x, t))
                    }
                    made => made,
                })
            }
            (UnOp::Not(_), Value::Term(t)) if self.g.elem(*t) == Elem::Bool => Ok(Value::Term(self.g.not(*t))),
            (UnOp::Not(_), Value::Number(n)) => Ok(Value::Number(Number::Not(n.clone()).into())),
            (UnOp::Not(_), Value::Term(_)) => {
                let t = self.term(&value, range)?;
                if let Elem::Int(ty) = self.g.elem(t) {
                    return Ok(Value::Term(self.complement(t, ty)));
                }
                let found = self.describe(&value);
                Err(self.error(range, catalogue::expected(wanted::BOOL_OR_INTEGER, &found)))
            }
            _ => {
                let found = self.describe(&value);
                Err(self.error(range, catalogue::expected(wanted::BOOL, &found)))
            }
        }
    }

    /// Lowers a chain of operators. A loop follows the left operands, since the nesting of
    /// `a + b + c + ..` grows with its length.
    pub(super) fn binary(&mut self, e: &'a ExprBinary) -> Lowered<Value<'a>> {
        let mut chain = vec![e];
        let mut left: &Expr = &e.left;
        while let Expr::Binary(b) = left {
            chain.push(b);
            left = &b.left;
        }
        let first = SrcRange::of(left).first;
        let mut acc = self.expr(left);
        let mut by_reference = self.input.receivers().is_reference(left);
        let mut text = text_of(left, 30);
        for b in chain.into_iter().rev() {
            let right = SrcRange::of(&b.right);
            let range = SrcRange { first, last: right.last };
            let ranges = [SrcRange { first, last: SrcRange::of(&b.op).first }, right];
            acc = self.operate((acc, by_reference), b, ranges, range, &text);
            by_reference = false;
            if text.len() < 30 {
                text =
                    format!("{text} {} {}", b.op.to_token_stream().to_string().replace(' ', ""), text_of(&b.right, 30));
            }
        }
        acc
    }

    fn operate(
        &mut self,
        (left, by_reference): (Lowered<Value<'a>>, bool),
        b: &'a ExprBinary,
        ranges: [SrcRange; 2],
        range: SrcRange,
        text: &str,
    ) -> Lowered<Value<'a>> {
        if matches!(b.op, BinOp::And(_) | BinOp::Or(_)) {
            return self.logic(left, b, ranges, matches!(b.op, BinOp::And(_)));
        }
        let right = self.expr(&b.right);
        let (left, right) = (left?, right?);
        self.power(b, &left, range)?;
        let by_reference = [by_reference, self.input.receivers().is_reference(&b.right)];
        let texts = [text.to_string(), text_of(&b.right, 30)];
        self.operation(&b.op, (left, right, by_reference), ranges, range, (texts, false))
    }

    /// Lowers an operator other than `&&`, `||` and assignments on two values. Both may be
    /// references.
    pub(super) fn operation(
        &mut self,
        op: &BinOp,
        (left, right, by_reference): (Value<'a>, Value<'a>, [bool; 2]),
        ranges: [SrcRange; 2],
        range: SrcRange,
        (texts, assigned): ([String; 2], bool),
    ) -> Lowered<Value<'a>> {
        // A value that is never reached has no type, so the result has none either.
        if matches!(left, Value::Never) || matches!(right, Value::Never) {
            return Ok(Value::Never);
        }
        if (left.is_defined() || right.is_defined())
            && !assigned
            && let Some(made) = self.own_operator(op, &left, &right, range)
        {
            return made;
        }
        let symbol = op.to_token_stream().to_string();
        let symbol = if assigned { format!("{symbol}=") } else { symbol };
        if let Some(op) = arith_of(op) {
            if let (Value::Number(x), Value::Number(y)) = (&left, &right) {
                return Ok(Value::Number(Number::Arith(op, x.clone(), y.clone()).into()));
            }
            if self.as_dynamic_part(&left).is_some() || self.as_dynamic_part(&right).is_some() {
                let want = self.elem_of(&left).or(self.elem_of(&right)).map_or(Want::Any, Want::Elem);
                let (x, y) =
                    (self.value_as_part(&left, want, ranges[0])?, self.value_as_part(&right, want, ranges[1])?);
                return self.dynamic_arith(op, [&x, &y], by_reference, (&texts, range));
            }
            let (x, y) = self.converted(symbol, [&left, &right], ranges, (range, &texts))?;
            let words = if self.g.ty(x) == self.g.ty(y) { Default::default() } else { texts };
            return Ok(Value::Term(self.arith_in_memory_order(op, (x, y), by_reference, words, range)?));
        }
        let cmp = match op {
            BinOp::Eq(_) => Cmp::Eq,
            BinOp::Ne(_) => Cmp::Ne,
            BinOp::Lt(_) => Cmp::Lt,
            BinOp::Le(_) => Cmp::Le,
            BinOp::Gt(_) => Cmp::Gt,
            BinOp::Ge(_) => Cmp::Ge,
            BinOp::BitAnd(_) | BinOp::BitOr(_) | BinOp::BitXor(_) => {
                if let (Value::Number(x), Value::Number(y)) = (&left, &right) {
                    let op = match op {
                        BinOp::BitAnd(_) => IntOp::BitAnd,
                        BinOp::BitOr(_) => IntOp::BitOr,
                        _ => IntOp::BitXor,
                    };
                    return Ok(Value::Number(Number::Bits(op, x.clone(), y.clone()).into()));
                }
                let (x, y) = self.unify_literals(&left, &right, ranges)?;
                let words = if self.g.ty(x) == self.g.ty(y) { Default::default() } else { texts };
                return Ok(Value::Term(self.bits(op, x, y, words, range)?));
            }
            BinOp::Shl(_) | BinOp::Shr(_) => {
                // The amount of a shift has its own type.
                let y = self.term(&right, ranges[1])?;
                let op = if matches!(op, BinOp::Shl(_)) { IntOp::Shl } else { IntOp::Shr };
                if let (Value::Number(x), 0) = (&left, self.g.rank(y)) {
                    return Ok(Value::Number(Number::Shift(op, x.clone(), y).into()));
                }
                let x = self.term(&left, ranges[0])?;
                let words = if self.g.ty(x) == self.g.ty(y) { Default::default() } else { texts };
                return Ok(Value::Term(self.shift(op, x, y, words, range)?));
            }
            _ => return Err(self.error(range, refused::construct(refused::Construct::Unknown))),
        };
        if let (Value::Tuple(_), Value::Tuple(_), Cmp::Eq | Cmp::Ne) = (&left, &right, cmp)
            && let Some(same) = self.derived_equality(&left, &right, range)
        {
            let same = same?;
            return Ok(Value::Term(if cmp == Cmp::Eq { same } else { self.g.not(same) }));
        }
        let (x, y) = self.converted(symbol, [&left, &right], ranges, (range, &texts))?;
        Ok(Value::Term(self.comparison(cmp, x, y, range)?))
    }

    /// Converts two operands to the same element type.
    fn converted(
        &mut self,
        symbol: String,
        [left, right]: [&Value<'a>; 2],
        ranges: [SrcRange; 2],
        (range, texts): (SrcRange, &[String; 2]),
    ) -> Lowered<(Term, Term)> {
        let real = |v: &Value| matches!(v, Value::Number(n) if n.is_float());
        let integer = |me: &Self, v: &Value<'a>| matches!(v, Value::Term(t) if matches!(me.g.elem(*t), Elem::Int(_)) && me.g.rank(*t) == 0);
        // In `n / 2.0` the literal has no type that could be converted.
        let types = match (real(left) && integer(self, right), integer(self, left) && real(right)) {
            (false, false) => {
                let (x, y) = self.unify_literals(left, right, ranges)?;
                if self.g.elem(x) == self.g.elem(y) {
                    return Ok((x, y));
                }
                [x, y].map(|t| self.describe(&Value::Term(t)))
            }
            (true, _) => ["`f64`".into(), self.describe(right)],
            (_, true) => [self.describe(left), "`f64`".into()],
        };
        let assigned = symbol.len() > 1 && symbol.ends_with('=') && !matches!(&*symbol, "==" | "!=" | "<=" | ">=");
        let message = catalogue::operands_differ(&symbol, texts, [&types[0], &types[1]], assigned);
        Err(self.error(range, message))
    }

    /// Lowers `&&` and `||`. The right operand is evaluated only if the left one does not decide
    /// the result.
    fn logic(
        &mut self,
        left: Lowered<Value<'a>>,
        b: &'a ExprBinary,
        ranges: [SrcRange; 2],
        and: bool,
    ) -> Lowered<Value<'a>> {
        let left = left.and_then(|v| self.boolean(&v, ranges[0]));
        let Ok(left) = left else {
            let _ = self.expr(&b.right);
            return Err(Poison);
        };
        self.shortcut(left, and, |me| me.expr(&b.right), ranges[1])
    }
}
