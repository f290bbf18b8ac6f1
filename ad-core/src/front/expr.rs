//! Expressions. What is not lowered here is refused by name through `refuse`.

use std::rc::Rc;

use quote::ToTokens;
use syn::{BinOp, Expr, ExprBinary, ExprCall, ExprMethodCall, GenericArgument, Lit, UnOp};

use super::lower::{Lower, arith_of};
use super::refuse;
use super::table::{self, Call, On};
use super::types;
use super::value::{Lowered, Number, Range, Value};
use crate::catalogue::{self, refused};
use crate::diag::{Message, Poison, SrcRange, suggest, text_of};
use crate::ir::{Elem, RealTy, Term};
use crate::prim::{Cmp, IntOp};

impl<'a> Lower<'a> {
    /// The meaning of an expression.
    pub(super) fn expr(&mut self, e: &'a Expr) -> Lowered<Value<'a>> {
        // What adds no level of its own.
        let mut e = e;
        let mut ndarray = false;
        loop {
            e = match e {
                Expr::Paren(p) => &p.expr,
                Expr::Group(g) => {
                    // `macros` marks so what is ndarray's.
                    ndarray = ndarray || super::macros::is_ndarray(g);
                    &g.expr
                }
                Expr::Reference(r) if r.mutability.is_none() => &r.expr,
                Expr::Unary(u) if matches!(u.op, UnOp::Deref(_)) => &u.expr,
                _ => break,
            }
        }
        let value = self.deeper(|| SrcRange::of(e), |me| me.form(e));
        if ndarray { value.map(Value::into_ndarray) } else { value }
    }

    fn form(&mut self, e: &'a Expr) -> Lowered<Value<'a>> {
        match e {
            Expr::Lit(l) => self.literal(&l.lit),
            Expr::Path(p) => self.path(p),
            Expr::Binary(b) if super::place::assigns(&b.op) => self.at(b, |me| me.compound(b)),
            Expr::Binary(b) => self.at(b, |me| me.binary(b)),
            Expr::Reference(r) => Ok(Value::Place(Rc::new(self.place(&r.expr)?))),
            Expr::Assign(a) => self.at(a, |me| me.assign_expr(a)),
            Expr::Unary(u) => self.at(u, |me| me.unary(u)),
            Expr::Call(c) => self.at(c, |me| me.call_expr(c)),
            Expr::MethodCall(m) => self.at(m, |me| me.method(m)),
            Expr::Index(x) => self.at(x, |me| me.index_expr(x)),
            Expr::Closure(c) if c.asyncness.is_none() => Ok(self.closure(c)),
            Expr::Cast(c) => self.at(c, |me| {
                let range = SrcRange::of(c);
                let value = me.expr(&c.expr)?;
                match types::elem_of(&c.ty, me.sig.real_param.as_ref()) {
                    Some(to) => me.cast(&value, to, range),
                    None => Err(me.error(SrcRange::of(&c.ty), catalogue::element_type(&text_of(&c.ty, 40)))),
                }
            }),
            Expr::If(i) => self.if_expr(i),
            Expr::Match(m) => self.match_expr(m),
            Expr::Block(b) if b.label.is_none() => self.block(&b.block),
            Expr::Block(b) => self.labelled(b),
            Expr::ForLoop(l) => self.at(&l.expr, |me| me.for_loop(l)),
            Expr::While(l) => self.at(&l.cond, |me| me.while_loop(l)),
            Expr::Loop(l) => self.endless_loop(l),
            Expr::Return(r) => self.return_expr(r),
            Expr::Break(b) => self.break_expr(b),
            Expr::Continue(c) => self.continue_expr(c),
            Expr::Tuple(t) if t.elems.is_empty() => Ok(Value::Unit),
            Expr::Tuple(t) => Ok(Value::Tuple(self.all(&t.elems)?.into())),
            Expr::Array(a) => Ok(Value::List(self.all(&a.elems)?.into())),
            Expr::Range(r) => {
                let mut end = |side: &'a Option<Box<Expr>>| side.as_ref().map(|e| self.expr(e)).transpose();
                let (start, end) = (end(&r.start), end(&r.end));
                let inclusive = matches!(r.limits, syn::RangeLimits::Closed(_));
                let key = Some(super::carry::Key::new(r, ""));
                Ok(Value::Range(Rc::new(Range { start: start?, end: end?, inclusive, key })))
            }
            Expr::Field(f) => self.field(f),
            Expr::Repeat(r) => self.at(r, |me| {
                let (value, len) = (me.expr(&r.expr), me.expr(&r.len));
                let (value, len) = (value?, len?);
                if let Value::Range(_) = value {
                    // A range with a step, as `macros` writes them.
                    return Ok(Value::Tuple(Rc::new([value, len])));
                }
                let len = me.size(&len, SrcRange::of(&r.len))?;
                match &value {
                    Value::Number(n) if !n.is_float() && n.outer().is_none() => {
                        return Ok(Value::Filled(Rc::clone(n), [len].into()));
                    }
                    Value::Filled(n, sizes) => {
                        let sizes = std::iter::once(len).chain(sizes.iter().copied()).collect();
                        return Ok(Value::Filled(Rc::clone(n), sizes));
                    }
                    _ => {}
                }
                let t = me.term(&value, SrcRange::of(&r.expr))?;
                let repeated = me.g.replicate(len, t);
                Ok(me.rows(repeated, true))
            }),
            other => Err(refuse::expression(self, other)),
        }
    }

    /// Several expressions; errors in all of them are reported.
    pub(super) fn all(&mut self, exprs: impl IntoIterator<Item = &'a Expr>) -> Lowered<Vec<Value<'a>>> {
        let one = |e: &'a Expr| match e {
            // `sum(axis=0)`.
            Expr::Assign(a) => match &*a.left {
                Expr::Path(p) if p.path.get_ident().is_some_and(|name| self.scope.get(&name.to_string()).is_none()) => {
                    Err(self.error(SrcRange::of(a), catalogue::named_argument(&text_of(p, 30))))
                }
                _ => self.expr(e),
            },
            e => self.expr(e),
        };
        let values: Vec<Lowered<Value>> = exprs.into_iter().map(one).collect();
        values.into_iter().collect()
    }

    pub(super) fn literal(&mut self, lit: &'a Lit) -> Lowered<Value<'a>> {
        let range = SrcRange { first: lit.span(), last: lit.span() };
        let number = match lit {
            Lit::Bool(b) => return Ok(Value::Term(self.g.lit_bool(b.value))),
            Lit::Float(x) => x.base10_parse::<f64>().map(Number::Float).ok(),
            Lit::Int(n) if matches!(n.suffix(), "f64" | "f32") => n.base10_digits().parse().map(Number::Float).ok(),
            Lit::Int(n) => n.base10_parse::<i128>().map(Number::Int).ok(),
            Lit::Byte(b) => Some(Number::Int(b.value().into())),
            _ => None,
        };
        let suffix = match lit {
            Lit::Byte(_) => "u8",
            Lit::Float(x) => x.suffix(),
            Lit::Int(n) => n.suffix(),
            _ => "",
        };
        let Some(number) = number else {
            return Err(self.error(range, catalogue::literal(&text_of(lit, 40))));
        };
        if suffix.is_empty() {
            let number = Rc::new(number);
            self.literals.insert(Rc::as_ptr(&number) as usize, (Rc::clone(&number), super::carry::Key::new(lit, "")));
            return Ok(Value::Number(number));
        }
        match types::elem_named(suffix, None) {
            Some(elem) => Ok(Value::Term(self.number(&number, elem, range)?)),
            None => {
                let numbers = ["i8", "i16", "u16", "i128", "u128"];
                let refused = refused::named_type(suffix).filter(|_| numbers.contains(&suffix));
                Err(self.error(range, refused.unwrap_or_else(|| catalogue::unknown_suffix(suffix))))
            }
        }
    }

    fn path(&mut self, p: &'a syn::ExprPath) -> Lowered<Value<'a>> {
        let range = SrcRange::of(p);
        if let (None, Some(name)) = (&p.qself, p.path.get_ident()) {
            let name = name.to_string();
            if let Some(value) = self.lookup(&name, range) {
                return value;
            }
        }
        if self.sig.const_params.iter().any(|n| p.path.is_ident(n)) {
            return Ok(Value::Term(self.constant(&p.path.to_token_stream(), Elem::USIZE)));
        }
        if let Some((ty, x)) = super::consts::find(&p.path, self.sig.real_param.as_ref()) {
            return Ok(match ty {
                super::consts::Const::Real(ty) => {
                    self.assume_const(&p.path.to_token_stream(), ty, x);
                    Value::Term(self.real(ty, x))
                }
                super::consts::Const::Int(ty, n) => Value::Term(self.g.lit(crate::ir::Lit::Int(ty, n))),
            });
        }
        if let Some(number) = super::consts::assumed(&p.path) {
            return Ok(Value::Number(number.into()));
        }
        if let Some(resolved) = self.resolve(&p.path)? {
            return Ok(Value::Function(resolved.entry, resolved.elem));
        }
        let names: Vec<String> = p.path.segments.iter().map(|s| s.ident.to_string()).collect();
        if let [.., name] = &names[..]
            && name == "None"
        {
            self.assume_path(&p.path, &p.path.segments[p.path.segments.len() - 1].ident);
            return Ok(Value::Nothing);
        }
        if let [.., of, name] = &names[..]
            && of == "Ordering"
            && let Some(by) = ["Less", "Equal", "Greater"].iter().position(|n| n == name)
        {
            let (one, by) = (self.g.lit_usize(1), self.g.lit_usize(by));
            return Ok(Value::Ordering(super::order::Order(vec![(by, one)])));
        }
        let last = p.path.segments.last().map_or_else(String::new, |s| s.ident.to_string());
        let upper = |c: char| c.is_uppercase() || c == '_' || c.is_ascii_digit();
        if p.qself.is_none() && last.starts_with(|c: char| c.is_uppercase()) && last.chars().all(upper) {
            return Ok(Value::Number(Number::Outer(p.path.to_token_stream().into()).into()));
        }
        Err(self.unknown(&p.path, range))
    }

    pub(super) fn unknown(&mut self, path: &syn::Path, range: SrcRange) -> Poison {
        let text = path.to_token_stream().to_string().replace(' ', "");
        let last = path.segments.last().map_or_else(String::new, |s| s.ident.to_string());
        if table::is_later(&last) {
            return self.error(range, catalogue::later(&format!("`{last}`")));
        }
        if path.get_ident().is_some() && types::elem_named(&last, self.sig.real_param.as_ref()).is_some() {
            return self.error(range, catalogue::type_as_value(&last));
        }
        if path.get_ident().is_some() && table::find(On::Real, &last).is_some() {
            return self.error(range, catalogue::method_as_value(&last));
        }
        let mut near: Option<String> = suggest(&last, self.scope.names()).map(str::to_string);
        near = near.or_else(|| suggest(&last, ["break", "continue", "return", "true", "false"]).map(str::to_string));
        near = near.or_else(|| table::nearest(&[On::Dsl], &last).map(str::to_string));
        self.error(range, catalogue::unknown_name(&text, near.as_deref()))
    }

    /// A function that cannot be called for a reason of its own: the annotated one, one of those inside of it, one that makes a value of
    /// a type that is none of the language's.
    fn unseen_function(&self, path: &syn::Path, last: &str) -> Option<Message> {
        let owner = path.segments.iter().rev().nth(1).map(|s| s.ident.to_string());
        let Some(owner) = owner else {
            return match last {
                _ if self.sig.name == last => Some(catalogue::recursion(last)),
                _ if self.inner.contains(last) => Some(catalogue::function_behind(last)),
                "Ok" | "Err" => Some(refused::value(last)),
                _ => None,
            };
        };
        let arrays = owner == "Vec" || owner == "Array" || owner == "Zip" || types::ndarray_rank(&owner).is_some();
        const TRAITS: &[&str] =
            &["Self", "Default", "Clone", "Iterator", "IntoIterator", "From", "Into", "Ord", "PartialOrd"];
        let of_type = owner.starts_with(char::is_uppercase) && !TRAITS.contains(&&*owner) && !arrays;
        let known = types::elem_named(&owner, self.sig.real_param.as_ref()).is_some();
        (of_type && !known).then(|| refused::value(&owner))
    }

    /// The nearest name among what a path may lead to: `Array1::zeroes`, `f64::sqr`, `ndarray::stak`, `build_1`.
    fn nearest_function(&self, path: &syn::Path, last: &str) -> Option<String> {
        let owner = path.segments.iter().rev().nth(1).map_or_else(String::new, |s| s.ident.to_string());
        let on: &[On] = match &*owner {
            "" => &[On::Dsl, On::Nd],
            "iter" => &[On::Std],
            "mem" => &[On::Mem],
            "ndarray" | "linalg" => &[On::Nd],
            "Vec" | "Array" => &[On::Assoc],
            _ if types::ndarray_rank(&owner).is_some() => &[On::Assoc],
            _ => match types::elem_named(&owner, self.sig.real_param.as_ref()) {
                Some(Elem::Real(_)) => &[On::Real],
                Some(Elem::Int(_)) => &[On::Int],
                _ => &[On::Dsl],
            },
        };
        if owner.is_empty()
            && let Some(near) = suggest(last, self.scope.names())
        {
            return Some(near.to_string());
        }
        let near = table::nearest(on, last)?;
        let mut of = path.clone();
        let _ = of.segments.pop();
        Some(format!("{}{near}", of.to_token_stream().to_string().replace(' ', "")))
    }

    /// `x ** 2`, which Rust reads as `x * (*2)`, and `x ^ 2` of a real number.
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

    fn unary(&mut self, u: &'a syn::ExprUnary) -> Lowered<Value<'a>> {
        let range = SrcRange::of(u);
        let value = self.expr(&u.expr)?;
        match (&u.op, &value) {
            (UnOp::Neg(_), Value::Number(n)) => Ok(Value::Number(Number::Neg(n.clone()).into())),
            (UnOp::Neg(_), _) => {
                let x = self.term(&value, range)?;
                self.along_memory(x, |me, x| Ok(Value::Term(me.negate(x, range)?)))
            }
            (UnOp::Not(_), Value::Term(t)) if self.g.elem(*t) == Elem::Bool => Ok(Value::Term(self.g.not(*t))),
            (UnOp::Not(_), Value::Number(n)) => Ok(Value::Number(Number::Not(n.clone()).into())),
            (UnOp::Not(_), Value::Term(_)) => {
                let t = self.term(&value, range)?;
                if let Elem::Int(ty) = self.g.elem(t) {
                    return Ok(Value::Term(self.complement(t, ty)));
                }
                let found = self.describe(&value);
                Err(self.error(range, catalogue::expected("`bool` or an integer", &found)))
            }
            _ => {
                let found = self.describe(&value);
                Err(self.error(range, catalogue::expected("`bool`", &found)))
            }
        }
    }

    /// A chain of operators: down its left side by a loop, since `a + b + c + ..` nests as deep as it is long.
    fn binary(&mut self, e: &'a ExprBinary) -> Lowered<Value<'a>> {
        let mut chain = vec![e];
        let mut left: &Expr = &e.left;
        while let Expr::Binary(b) = left {
            chain.push(b);
            left = &b.left;
        }
        let first = SrcRange::of(left).first;
        let mut acc = self.expr(left);
        let mut by_reference = self.receivers.is_reference(left);
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
        let by_reference = [by_reference, self.receivers.is_reference(&b.right)];
        let texts = [text.to_string(), text_of(&b.right, 30)];
        self.operation(&b.op, (left, right, by_reference), ranges, range, (texts, false))
    }

    /// An operator, but `&&`, `||` and assignments, on two values, either of which may be a reference.
    pub(super) fn operation(
        &mut self,
        op: &BinOp,
        (left, right, by_reference): (Value<'a>, Value<'a>, [bool; 2]),
        ranges: [SrcRange; 2],
        range: SrcRange,
        (texts, assigned): ([String; 2], bool),
    ) -> Lowered<Value<'a>> {
        let symbol = op.to_token_stream().to_string();
        let symbol = if assigned { format!("{symbol}=") } else { symbol };
        if let Some(op) = arith_of(op) {
            if let (Value::Number(x), Value::Number(y)) = (&left, &right) {
                return Ok(Value::Number(Number::Arith(op, x.clone(), y.clone()).into()));
            }
            let (x, y) = self.converted(symbol, [&left, &right], ranges, (range, &texts))?;
            let words = if self.g.ty(x) == self.g.ty(y) { Default::default() } else { texts };
            return Ok(Value::Term(self.arith_along_memory(op, (x, y), by_reference, words, range)?));
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
                let (x, y) = self.meet(&left, &right, ranges)?;
                let words = if self.g.ty(x) == self.g.ty(y) { Default::default() } else { texts };
                return Ok(Value::Term(self.bits(op, x, y, words, range)?));
            }
            BinOp::Shl(_) | BinOp::Shr(_) => {
                // The amount has a type of its own.
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
        let (x, y) = self.converted(symbol, [&left, &right], ranges, (range, &texts))?;
        Ok(Value::Term(self.comparison(cmp, x, y, range)?))
    }

    /// Two operands of one type of elements.
    fn converted(
        &mut self,
        symbol: String,
        [left, right]: [&Value<'a>; 2],
        ranges: [SrcRange; 2],
        (range, texts): (SrcRange, &[String; 2]),
    ) -> Lowered<(Term, Term)> {
        let real = |v: &Value| matches!(v, Value::Number(n) if n.is_float());
        let integer = |me: &Self, v: &Value<'a>| matches!(v, Value::Term(t) if matches!(me.g.elem(*t), Elem::Int(_)) && me.g.rank(*t) == 0);
        // `n / 2.0`: a literal has no type to be converted.
        let types = match (real(left) && integer(self, right), integer(self, left) && real(right)) {
            (false, false) => {
                let (x, y) = self.meet(left, right, ranges)?;
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

    /// `&&` and `||`: what stands on the right is only reached if the left does not decide.
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

    fn field(&mut self, f: &'a syn::ExprField) -> Lowered<Value<'a>> {
        let value = self.expr(&f.base)?;
        if let Value::Never = value {
            return Ok(Value::Never);
        }
        if let (Value::Tuple(parts), syn::Member::Unnamed(k)) = (&value, &f.member)
            && let Some(part) = parts.get(k.index as usize)
        {
            return Ok(part.clone());
        }
        let name = text_of(&f.member, 40);
        let message = match (&value, &f.member) {
            (Value::Tuple(parts), syn::Member::Unnamed(k)) => catalogue::no_such_part(k.index as usize, parts.len()),
            _ if self.method_entry(Some(&value), &name).is_some() => catalogue::method_without_call(&name),
            (_, syn::Member::Unnamed(k)) if self.kind_of(&value) == On::Array => {
                catalogue::field_of_array(&text_of(&f.base, 30), k.index as usize)
            }
            _ => catalogue::field(&name),
        };
        Err(self.error(SrcRange::of(f), message))
    }

    fn call_expr(&mut self, c: &'a ExprCall) -> Lowered<Value<'a>> {
        let range = SrcRange::of(c);
        let Expr::Path(p) = &*c.func else {
            let f = self.expr(&c.func);
            let args = self.all(&c.args);
            let (f, args) = (f?, args?);
            if matches!(self.kind_of(&f), On::Real | On::Int) {
                return Err(self.error(range, called_number(&c.func, c)));
            }
            return self.apply(&f, &args, range);
        };
        let local = p.path.get_ident().and_then(|name| self.lookup(&name.to_string(), range));
        if let Some(f) = local {
            let args = self.all(&c.args);
            let (f, args) = (f?, args?);
            let called = match self.kind_of(&f) {
                On::Array => {
                    let index: Vec<String> = c.args.iter().map(|e| text_of(e, 30)).collect();
                    let index = if index.len() == 1 { index[0].clone() } else { format!("[{}]", index.join(", ")) };
                    Some(catalogue::called_array(&text_of(p, 30), &index))
                }
                On::Real | On::Int => Some(called_number(&c.func, c)),
                _ => None,
            };
            if let Some(message) = called {
                return Err(self.error(range, message));
            }
            return self.apply(&f, &args, range);
        }
        if let Some(name) = super::panics::named(&p.path) {
            return self.panicking(name, c);
        }
        if p.path.segments.last().is_some_and(|s| s.ident == "Axis") {
            self.assume_path(&p.path, &p.path.segments[p.path.segments.len() - 1].ident);
            return self.axis(c, range);
        }
        if is_array_from_fn(&p.path) {
            self.assume_path(&p.path, &p.path.segments[p.path.segments.len() - 1].ident);
            return self.array_from_fn(c, &p.path, range);
        }
        if p.path.segments.last().is_some_and(|s| s.ident == "Some") {
            self.assume_path(&p.path, &p.path.segments[p.path.segments.len() - 1].ident);
            let args = self.all(&c.args)?;
            let [value] = &args[..] else {
                return Err(self.error(range, catalogue::arity("Some", (1, 1), args.len())));
            };
            let there = self.g.lit_bool(true);
            return Ok(Value::Maybe(value.clone().into(), there));
        }
        let resolved = self.resolve(&p.path);
        let args = self.all(&c.args);
        let Some(resolved) = resolved? else {
            let text = p.path.to_token_stream().to_string().replace(' ', "");
            let last = p.path.segments.last().map_or_else(String::new, |s| s.ident.to_string());
            if table::is_later(&last) {
                return Err(self.error(range, catalogue::later(&format!("`{last}`"))));
            }
            if let Some(message) = self.unseen_function(&p.path, &last) {
                return Err(self.error(SrcRange::of(p), message));
            }
            let near = self.nearest_function(&p.path, &last);
            let method = [On::Real, On::Array].iter().any(|&on| table::find(on, &last).is_some());
            let method = method.then(|| as_method(&last, c));
            let message = catalogue::unknown_function(&text, near.as_deref(), method.as_deref());
            return Err(self.error(SrcRange::of(p), message));
        };
        let ranges = c.args.iter().map(SrcRange::of).collect();
        let call = Call {
            name: resolved.entry.name,
            args: args?,
            ranges,
            texts: c.args.iter().map(|a| text_of(a, 30)).collect(),
            range,
            generics: resolved.generics,
            rank: resolved.rank,
        };
        self.call_of(resolved.entry, resolved.elem, call)
    }

    /// `f64::exp(x)`, `f64::from(n)`, `T::lit(2.0)`: the type is said by the path.
    pub(super) fn call_of(
        &mut self,
        entry: table::Entry,
        elem: Option<Elem>,
        mut call: Call<'a, '_>,
    ) -> Lowered<Value<'a>> {
        if let Some(elem) = elem {
            if let Some(value) = self.call_on_type(elem, &call) {
                return value;
            }
            if let (Some(value), Some(&range)) = (call.args.first_mut(), call.ranges.first())
                && let Value::Number(_) = value
            {
                *value = Value::Term(self.term_as(value, super::value::Want::Elem(elem), range)?);
            }
        }
        self.call(entry, call)
    }

    /// Calls whose meaning is the type's: conversions, and scalar functions of a literal.
    fn call_on_type(&mut self, elem: Elem, call: &Call<'a, '_>) -> Option<Lowered<Value<'a>>> {
        if let ("zero" | "one", Elem::Real(RealTy::Param)) = (call.name, elem) {
            let x = if call.name == "one" { 1.0 } else { 0.0 };
            return Some(Ok(Value::Term(self.real(RealTy::Param, x))));
        }
        if !matches!(call.name, "from" | "lit") {
            return None;
        }
        let [value] = &call.args[..] else {
            return Some(Err(self.error(call.range, catalogue::arity(call.name, (1, 1), call.args.len()))));
        };
        if call.name == "lit" {
            let result = self.term_as(value, super::value::Want::Elem(Elem::F64), call.range);
            return Some(result.map(|t| match (self.g.real_value(t), elem) {
                (Some(x), Elem::Real(ty)) => Value::Term(self.real(ty, x)),
                _ => Value::Term(self.g.cast(elem, t)),
            }));
        }
        let made = self.cast(value, elem, call.range);
        if elem != Elem::Real(RealTy::Param) {
            return Some(made);
        }
        // Of a type parameter it is num-traits' `NumCast::from`: an `Option`, which every number has a value in.
        let always = self.g.lit_bool(true);
        Some(made.map(|value| Value::Maybe(value.into(), always)))
    }

    /// `std::array::from_fn(|i| ..)`: of the size in `::<_, N, _>`, or of that which a type says later.
    fn array_from_fn(&mut self, c: &'a ExprCall, path: &'a syn::Path, range: SrcRange) -> Lowered<Value<'a>> {
        let args = self.all(&c.args)?;
        let [f] = &args[..] else {
            return Err(self.error(range, catalogue::arity("from_fn", (1, 1), args.len())));
        };
        let value = Value::FromFn(Rc::new(f.clone()));
        let Some(syn::PathArguments::AngleBracketed(generics)) = path.segments.last().map(|s| &s.arguments) else {
            return Ok(value);
        };
        let size = match generics.args.get(1) {
            Some(GenericArgument::Const(e)) => types::len(e),
            Some(GenericArgument::Type(ty @ syn::Type::Path(_))) => types::Len::Named(ty.to_token_stream()),
            _ => return Ok(value),
        };
        let size = self.static_size(&size);
        self.sized(value, &[size], range)
    }

    fn axis(&mut self, c: &'a ExprCall, range: SrcRange) -> Lowered<Value<'a>> {
        if let [arg] = &self.all(&c.args)?[..]
            && let Ok(t) = self.usize(arg, range)
            && let Some(k) = self.g.int_value(t).and_then(|n| usize::try_from(n).ok())
        {
            return Ok(Value::Axis(k));
        }
        Err(self.error(range, catalogue::axis()))
    }

    /// Whether an expression is an `Ordering`, whose methods change nothing.
    fn orders(&self, e: &Expr) -> bool {
        match e {
            Expr::Paren(p) => self.orders(&p.expr),
            Expr::Group(g) => self.orders(&g.expr),
            Expr::Call(_) => true,
            Expr::MethodCall(m) => table::find(On::Place, &m.method.to_string()).is_none(),
            Expr::Path(p) => match p.path.get_ident().and_then(|name| self.scope.get(&name.to_string())) {
                Some(Ok(Value::Ordering(_))) => true,
                Some(Ok(Value::Cell(cell))) => {
                    matches!(self.store.held(*cell), Some(super::state::Held::Value(Value::Ordering(_))))
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn method(&mut self, m: &'a ExprMethodCall) -> Lowered<Value<'a>> {
        let range = SrcRange::of(m);
        let name = m.method.to_string();
        let place = table::find(On::Place, &name);
        // The next item of an iterator without a name is its first one.
        let place = place.filter(|_| name != "next" || super::place::names_one(&m.receiver));
        let receiver = match place.filter(|_| table::find(On::Ordering, &name).is_none() || !self.orders(&m.receiver)) {
            Some(entry) => {
                let receiver = self.place(&m.receiver).map(|p| Value::Place(Rc::new(p)));
                let mut values = vec![receiver];
                values.extend(m.args.iter().map(|e| self.expr(e)));
                let args = values.into_iter().collect::<Lowered<Vec<Value>>>()?;
                let ranges = std::iter::once(&*m.receiver).chain(&m.args).map(SrcRange::of).collect();
                let texts = std::iter::once(&*m.receiver).chain(&m.args).map(|e| text_of(e, 30)).collect();
                if let Some(receiver) = args.first() {
                    self.assume_method(m, entry.on, receiver);
                }
                return self
                    .call(entry, Call { name: entry.name, args, ranges, texts, range, generics: None, rank: None });
            }
            None => self.expr(&m.receiver),
        };
        if let (Some(f), Ok(receiver)) = (super::outward::each(m), &receiver)
            && self.kind_of(receiver) == On::Iter
        {
            return self.each_loop(m, f, receiver);
        }
        // What `expect` says is the user's own.
        let args = if name == "expect" && m.args.len() == 1 { Ok(vec![Value::Unit]) } else { self.all(&m.args) };
        let name_range = SrcRange::of(&m.method);
        if let Some(message) = refused::method(&name).filter(|_| {
            receiver.as_ref().is_ok_and(|r| matches!(self.kind_of(r), On::Array | On::Zip | On::Iter))
                && self.method_entry(receiver.as_ref().ok(), &name).is_none()
        }) {
            return Err(self.error(range, message));
        }
        if table::is_mutating(&name) && self.method_entry(receiver.as_ref().ok(), &name).is_none() {
            return Err(self.error(range, refused::mutation(&name)));
        }
        let receiver = receiver?;
        if let Value::Never = receiver {
            return Ok(Value::Never);
        }
        if let Value::Number(n) = &receiver
            && let Some((path, before)) = n.of_array()
            && m.args.is_empty()
        {
            match &*name {
                "len" => {
                    let len = super::shapes::length_of_constant(path, before.len());
                    return Ok(Value::Term(self.constant(&len, Elem::USIZE)));
                }
                "iter" | "into_iter" => return Ok(Value::Seq(self.seq(&receiver, range)?)),
                _ => {}
            }
        }
        // `3.sin()`, `n.sqrt()`.
        let real = table::find(On::Real, &name).is_some() && table::find_method(On::Int, &name).is_none();
        if real && self.kind_of(&receiver) == On::Int {
            let (text, literal) = (text_of(&m.receiver, 30), matches!(&*m.receiver, Expr::Lit(_)));
            let call = if m.args.is_empty() { format!("{name}()") } else { format!("{name}(..)") };
            return Err(self.error(name_range, catalogue::method_of_reals(&call, &text, literal)));
        }
        let Some(entry) = self.method_entry(Some(&receiver), &name) else {
            if let Value::Number(n) = &receiver
                && let Some(path) = n.outer()
            {
                let text = path.to_string().replace(' ', "");
                let on = |on| table::find(on, &name).is_some();
                let array = n.array_if_known().or(Some(on(On::Array) && !on(On::Real)));
                return Err(self.error(SrcRange::of(&m.receiver), catalogue::unseen_constant(&text, array)));
            }
            if table::is_later(&name) {
                return Err(self.error(range, catalogue::later(&format!("`.{name}()`"))));
            }
            let kind = self.kind_of(&receiver);
            let found = self.describe(&receiver);
            let place = if kind == On::Array { On::Place } else { kind };
            let near = table::nearest(&[kind, On::Any, place], &name);
            let as_function = table::find(On::Dsl, &name).is_some();
            return Err(self.error(name_range, catalogue::unknown_method(&name, &found, near, as_function)));
        };
        // An iterator is its items here, and not how far it has come.
        if entry.on == On::Iter && table::is_advancing(&name) && super::place::names_one(&m.receiver) {
            return Err(self.error(range, refused::advanced(&name)));
        }
        self.assume_method(m, entry.on, &receiver);
        let generics = m.turbofish.as_ref().and_then(|t| {
            t.args.iter().find_map(|a| match a {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            })
        });
        let mut values = vec![receiver];
        values.extend(args?);
        let mut ranges = vec![SrcRange::of(&m.receiver)];
        ranges.extend(m.args.iter().map(SrcRange::of));
        let text = |e: &Expr| super::words::string(e).unwrap_or_else(|| text_of(e, 30));
        let texts = std::iter::once(&*m.receiver).chain(&m.args).map(text).collect();
        self.call(entry, Call { name: entry.name, args: values, ranges, texts, range, generics, rank: None })
    }

    fn method_entry(&self, receiver: Option<&Value<'a>>, name: &str) -> Option<table::Entry> {
        let receiver = receiver?;
        // An array of rank 0 is a scalar here, and has the methods of arrays all the same.
        let rank_zero = matches!(receiver, Value::Term(t) if self.g.rank(*t) == 0);
        table::find_method(self.kind_of(receiver), name).or_else(|| table::find(On::Array, name).filter(|_| rank_zero))
    }

    /// What a path of the table stands for.
    pub(super) fn resolve<'c>(&mut self, path: &'c syn::Path) -> Lowered<Option<Resolved<'c>>> {
        let segments: Vec<&syn::PathSegment> = path.segments.iter().collect();
        let Some((last, before)) = segments.split_last() else { return Ok(None) };
        let name = last.ident.to_string();
        let plain = |entry| Resolved { entry, generics: generic(&last.arguments), rank: None, elem: None };
        let Some(owner) = before.last() else {
            let found = table::find(On::Dsl, &name).or_else(|| table::find(On::Nd, &name));
            if found.is_some() {
                self.assume_path(path, &last.ident);
            }
            return Ok(found.map(plain));
        };
        let owner_name = owner.ident.to_string();
        if let Some(elem) = types::elem_named(&owner_name, self.sig.real_param.as_ref()) {
            let on = if elem.is_real() { On::Real } else { On::Int };
            let entry = match &*name {
                "from" | "lit" => table::find(On::Assoc, &name),
                "zero" | "one" if elem == Elem::Real(RealTy::Param) => table::find(On::Assoc, &name),
                _ => table::find_method(on, &name),
            };
            // Of a type parameter, and of a trait, rustc checks more than we could.
            if name != "lit" && elem != Elem::Real(RealTy::Param) {
                self.assume_number(path, elem, &last.ident);
            }
            return Ok(entry.map(|entry| Resolved { elem: Some(elem), ..plain(entry) }));
        }
        let module = match &*owner_name {
            "iter" => Some(On::Std),
            "ad" | "prelude" | "dsl" => Some(On::Dsl),
            "ndarray" | "linalg" => Some(On::Nd),
            "mem" => Some(On::Mem),
            _ => None,
        };
        if let Some(on) = module {
            let found = table::find(on, &name);
            if found.is_some() {
                self.assume_path(path, &last.ident);
            }
            return Ok(found.map(plain));
        }
        if matches!(&*owner_name, "Zip" | "Slice") {
            let found = table::find(On::Nd, &format!("{owner_name}::{name}"));
            if found.is_some() {
                self.assume_owner(path);
            }
            return Ok(found.map(plain));
        }
        let rank = types::ndarray_rank(&owner_name).map(|(rank, _)| rank);
        let rank = rank.or(if owner_name == "Vec" { Some(1) } else { None });
        if rank.is_some() || owner_name == "Array" {
            let entry = table::find(On::Assoc, &name);
            if entry.is_some() {
                self.assume_owner(path);
            }
            return Ok(entry.map(|entry| Resolved { generics: generic(&owner.arguments), rank, ..plain(entry) }));
        }
        Ok(None)
    }
}

fn called_number(f: &Expr, c: &ExprCall) -> Message {
    let args: Vec<String> = c.args.iter().map(|e| text_of(e, 30)).collect();
    catalogue::called_number(&text_of(f, 30), &args.join(", "))
}

/// A call of a function as one of a method: `(a + b).max(0.0)`.
fn as_method(name: &str, c: &ExprCall) -> String {
    let args: Vec<String> = c.args.iter().map(|e| text_of(e, 30)).collect();
    let Some((first, rest)) = args.split_first() else { return format!("x.{name}()") };
    let plain = matches!(
        c.args.first(),
        Some(Expr::Path(_) | Expr::MethodCall(_) | Expr::Index(_) | Expr::Paren(_) | Expr::Call(_))
    );
    let first = if plain { first.clone() } else { format!("({first})") };
    format!("{first}.{name}({})", rest.join(", "))
}

fn is_array_from_fn(path: &syn::Path) -> bool {
    let mut last = path.segments.iter().rev();
    matches!((last.next(), last.next()), (Some(f), Some(of)) if f.ident == "from_fn" && of.ident == "array")
}

/// A path that stands in the table.
pub(super) struct Resolved<'c> {
    pub entry: table::Entry,
    pub generics: Option<&'c syn::Type>,
    pub rank: Option<u8>,
    /// The number type whose method it is.
    pub elem: Option<Elem>,
}

fn generic(args: &syn::PathArguments) -> Option<&syn::Type> {
    match args {
        syn::PathArguments::AngleBracketed(args) => args.args.iter().find_map(|a| match a {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        }),
        _ => None,
    }
}
