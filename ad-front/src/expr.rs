//! Expressions. An expression that is not lowered here is refused by name through `refuse`.

use std::rc::Rc;

use quote::ToTokens;
use syn::{Expr, Lit, UnOp};

use super::lower::Lower;
use super::order::Sign;
use super::place::Place;
use super::refuse;
use super::table::{self, On};
use super::types;
use super::value::{Lowered, Number, Range, Value};
use crate::translation::cells::CellValue;
use crate::translation::inference::InferenceKey;
use ad_ir::catalogue::{self, refused};
use ad_ir::diag::{Message, Poison, SrcRange, suggest, text_of};
use ad_ir::ir::Elem;
use ad_ir::memory_order::HasLayouts;
use ad_ir::program::KnownType;

impl<'a> Lower<'a> {
    /// Lowers an expression.
    pub(super) fn expr(&mut self, e: &'a Expr) -> Lowered<Value<'a>> {
        // These layers add no nesting level.
        let mut e = e;
        let mut ndarray = false;
        loop {
            e = match e {
                Expr::Paren(p) => &p.expr,
                Expr::Group(g) => {
                    // `macros` marks the array literals of ndarray's macros.
                    ndarray = ndarray || super::macros::is_ndarray(g);
                    &g.expr
                }
                Expr::Reference(r) if r.mutability.is_none() => &r.expr,
                Expr::Unary(u) if matches!(u.op, UnOp::Deref(_)) => &u.expr,
                _ => break,
            }
        }
        let value = self.one_level_deeper(|| SrcRange::of(e), |me| me.form(e));
        if ndarray { value.map(Value::into_ndarray) } else { value }
    }

    /// Lowers an expression that is moved or stored. The name of a mutable reference (or view)
    /// means the reference itself, not its referent.
    pub(super) fn moved(&mut self, e: &'a Expr) -> Lowered<Value<'a>> {
        match e {
            Expr::Paren(p) => self.moved(&p.expr),
            Expr::Path(p) => match p.path.get_ident().and_then(|name| self.state.names.get(&name.to_string())) {
                Some(Ok(place @ Value::Place(_))) if p.qself.is_none() => Ok(place.clone()),
                _ => self.expr(e),
            },
            e => self.expr(e),
        }
    }

    /// `&mut e`: a place, or a temporary value in a variable of its own. A closure is a value: its
    /// calls change what it has captured.
    fn mutable_reference(&mut self, e: &'a Expr) -> Lowered<Value<'a>> {
        match e {
            Expr::Paren(p) => self.mutable_reference(&p.expr),
            Expr::Group(g) if !super::place::is_place_expression(e) && !super::macros::is_ndarray(g) => {
                self.mutable_reference(&g.expr)
            }
            Expr::Closure(_) => self.expr(e),
            Expr::Array(_) | Expr::Repeat(_) | Expr::Macro(_) | Expr::Struct(_) | Expr::Call(_) | Expr::Lit(_) => {
                let value = self.expr(e)?;
                if matches!(value, Value::Place(_)) {
                    return Ok(value);
                }
                let cell = self.state.cells.add_hidden(CellValue::Value(value));
                Ok(Value::Place(Rc::new(Place::variable(cell, &text_of(e, 40), SrcRange::of(e)))))
            }
            _ => Ok(Value::Place(Rc::new(self.place(e)?))),
        }
    }

    fn form(&mut self, e: &'a Expr) -> Lowered<Value<'a>> {
        match e {
            Expr::Lit(l) => self.literal(&l.lit),
            Expr::Path(p) => self.path(p),
            Expr::Binary(b) if super::place::compound::assigns(&b.op) => self.at_syntax(b, |me| me.compound(b)),
            Expr::Binary(b) => self.at_syntax(b, |me| me.binary(b)),
            Expr::Reference(r) => self.mutable_reference(&r.expr),
            Expr::Assign(a) => self.at_syntax(a, |me| me.assign_expr(a)),
            Expr::Unary(u) => self.at_syntax(u, |me| me.unary(u)),
            Expr::Call(c) => self.at_syntax(c, |me| me.call_expr(c)),
            Expr::MethodCall(m) => self.at_syntax(m, |me| me.method(m)),
            Expr::Index(x) => self.at_syntax(x, |me| me.index_expr(x)),
            Expr::Closure(c) if c.asyncness.is_none() => Ok(self.closure(c)),
            Expr::Cast(c) => self.at_syntax(c, |me| {
                let range = SrcRange::of(c);
                let value = me.expr(&c.expr)?;
                match me.number_type_of(&c.ty) {
                    Some(to) => me.cast(&value, to, range),
                    None => Err(me.error(SrcRange::of(&c.ty), catalogue::element_type(&text_of(&c.ty, 40)))),
                }
            }),
            Expr::If(i) => self.if_expr(i),
            Expr::Match(m) => self.match_expr(m),
            Expr::Block(b) if b.label.is_none() => self.block(&b.block),
            Expr::Block(b) => self.labelled(b),
            Expr::ForLoop(l) => self.at_syntax(&l.expr, |me| me.for_loop(l)),
            Expr::While(l) => self.at_syntax(&l.cond, |me| me.while_loop(l)),
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
                let key = Some(InferenceKey::new(r, ""));
                Ok(Value::Range(Rc::new(Range { start: start?, end: end?, inclusive, key })))
            }
            Expr::Field(f) => self.field(f),
            Expr::Try(t) => self.at_syntax(t, |me| me.try_expr(t)),
            Expr::Struct(s) => self.at_syntax(&s.path, |me| me.struct_expr(s)),
            Expr::Repeat(r) => self.at_syntax(r, |me| {
                let (value, len) = (me.expr(&r.expr), me.expr(&r.len));
                let (value, len) = (value?, len?);
                if let Value::Range(_) = value {
                    // A range with a step, as `macros` writes it.
                    return Ok(Value::Tuple(Rc::new([value, len])));
                }
                if let Some(vec) = me.filled_with_dynamic_length(&value, &len, SrcRange::of(r))? {
                    return Ok(vec);
                }
                let len = me.size(&len, SrcRange::of(&r.len))?;
                if (value.is_several() || matches!(&value, Value::GrowableVec(list) if me.is_fixed(list)))
                    && let Some(list) = me.repeated_product(r, &value, len)?
                {
                    return Ok(list);
                }
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
                let (t, levels) = (me.term(&value, SrcRange::of(&r.expr))?, value.levels());
                let repeated = me.g.replicate(len, t);
                me.layouts().note_rows(repeated, &[t]);
                Ok(Value::nested(&me.g, repeated, levels.saturating_add(1)))
            }),
            // Only rustc knows the configuration, so the call becomes a constant.
            Expr::Macro(m) if m.mac.path.segments.last().is_some_and(|s| s.ident == "cfg") => {
                let path = self.at_its_place(&m.mac.to_token_stream());
                Ok(Value::Term(self.constant(&path, Elem::Bool)))
            }
            other => Err(refuse::expression(self, other)),
        }
    }

    /// Lowers several expressions. Errors in all of them are reported.
    pub(super) fn all(&mut self, exprs: impl IntoIterator<Item = &'a Expr>) -> Lowered<Vec<Value<'a>>> {
        let one = |e: &'a Expr| match e {
            // This is an error such as `sum(axis=0)`.
            Expr::Assign(a) => match &*a.left {
                Expr::Path(p)
                    if p.path.get_ident().is_some_and(|name| self.state.names.get(&name.to_string()).is_none()) =>
                {
                    Err(self.error(SrcRange::of(a), catalogue::named_argument(&text_of(p, 30))))
                }
                _ => self.expr(e),
            },
            e => self.moved(e),
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
            self.inference.declare_literal(&number, InferenceKey::new(lit, ""));
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
        if let Some(value) = self.unit_of(&p.path) {
            return Ok(value);
        }
        if let Some(value) = self.associated_path(p) {
            return value;
        }
        if !self.is_elsewhere() && self.input.sig().const_params.iter().any(|n| p.path.is_ident(n)) {
            return Ok(Value::Term(self.constant(&p.path.to_token_stream(), Elem::USIZE)));
        }
        if p.qself.is_none()
            && p.path.get_ident().is_none()
            && let Some(function) = self.defined(&super::travel::written(&p.path))
        {
            return function;
        }
        if let Some((ty, x)) = super::consts::find(&p.path, self.real_param()) {
            return Ok(match ty {
                super::consts::Const::Real(ty) => {
                    self.assume_const(&p.path.to_token_stream(), ty, x);
                    Value::Term(self.real(ty, x))
                }
                super::consts::Const::Int(ty, n) => Value::Term(self.g.lit(ad_ir::ir::Lit::Int(ty, n))),
            });
        }
        if let Some(number) = super::consts::assumed(&p.path) {
            return Ok(Value::Number(number.into()));
        }
        if let Some(resolved) = self.resolve(&p.path)? {
            return Ok(Value::Function(resolved.row, resolved.elem));
        }
        let names: Vec<String> = p.path.segments.iter().map(|s| s.ident.to_string()).collect();
        if let [.., name] = &names[..]
            && name == "None"
        {
            self.assume_none(&p.path);
            return Ok(Value::None);
        }
        if let [.., of, name] = &names[..]
            && of == "Ordering"
            && let Some(sign) = Sign::named(name)
        {
            return Ok(Value::Ordering(self.constant_order(sign)));
        }
        if let Some(upper) = super::linalg::uplo(&p.path) {
            return Ok(Value::Term(self.g.lit_bool(upper)));
        }
        let last = p.path.segments.last().map_or_else(String::new, |s| s.ident.to_string());
        if p.qself.is_none() && super::consts::is_upper_case(&last) {
            if self.is_of_type_parameter(&p.path) {
                let path = super::travel::written(&p.path);
                return Err(self.error(range, catalogue::constant_of_parameter(&path, &last)));
            }
            return self.outer_constant(&p.path);
        }
        Err(self.unknown(&p.path, range))
    }

    pub(super) fn unknown(&mut self, path: &syn::Path, range: SrcRange) -> Poison {
        let text = path.to_token_stream().to_string().replace(' ', "");
        let last = path.segments.last().map_or_else(String::new, |s| s.ident.to_string());
        if let Some(message) = refused::later(&last, false) {
            return self.error(range, message);
        }
        if path.get_ident().is_some() && self.number_type(&last).is_some() {
            return self.error(range, catalogue::type_as_value(&last));
        }
        if path.get_ident().is_some() && table::find(On::Real, &last).is_some() {
            return self.error(range, catalogue::method_as_value(&last));
        }
        let near = self.near_name(&last);
        self.error(range, catalogue::unknown_name(&text, near.as_deref()))
    }

    /// A suggestion for an unknown name.
    pub(super) fn near_name(&self, name: &str) -> Option<String> {
        let near = suggest(name, self.state.names.all());
        let near = near.or_else(|| suggest(name, ["break", "continue", "return", "true", "false"]));
        near.or_else(|| table::nearest(&[On::Dsl], name)).map(str::to_string)
    }

    /// The error for a function that exists and cannot be called: the annotated function, a nested
    /// function that is out of scope, or a constructor of an unknown type.
    pub(super) fn uncallable_function(&self, path: &syn::Path, last: &str) -> Option<Message> {
        let owner = path.segments.iter().rev().nth(1).map(|s| s.ident.to_string());
        let Some(owner) = owner else {
            return match last {
                _ if self.input.sig().name == last => Some(catalogue::recursion(last)),
                _ if super::inner_derivatives::names(&self.input.sig().stem).any(|own| own == last) => {
                    Some(catalogue::inner_derivative_of_itself(&self.input.sig().name.to_string(), last))
                }
                _ if self.is_itself(last) || self.state.items.was_nested(last) => Some(catalogue::recursion(last)),
                _ if last.starts_with(char::is_uppercase) => Some(refused::value(last)),
                _ => None,
            };
        };
        let arrays = KnownType::named(&owner).is_some_and(|ty| !matches!(ty, KnownType::Box | KnownType::Slice));
        // Types and traits whose functions are methods here.
        const TRAITS: &[&str] = &[
            "Self",
            "Default",
            "Clone",
            "ToOwned",
            "From",
            "Into",
            "AsRef",
            "Iterator",
            "IntoIterator",
            "DoubleEndedIterator",
            "ExactSizeIterator",
            "Ord",
            "PartialOrd",
            "PartialEq",
            "Add",
            "Sub",
            "Mul",
            "Div",
            "Rem",
            "Neg",
            "Not",
            "AddAssign",
            "SubAssign",
            "MulAssign",
            "DivAssign",
            "RemAssign",
            "Float",
            "ArrayBase",
            "ArrayRef",
        ];
        let of_type = owner.starts_with(char::is_uppercase) && !TRAITS.contains(&&*owner) && !arrays;
        let known = self.number_type(&owner).is_some();
        (of_type && !known).then(|| refused::value(&owner))
    }

    /// The nearest known name for a path: `Array1::zeroes`, `f64::sqr`, `ndarray::stak`, `build_1`.
    pub(super) fn nearest_function(&self, path: &syn::Path, last: &str) -> Option<String> {
        let owner = path.segments.iter().rev().nth(1).map_or_else(String::new, |s| s.ident.to_string());
        let module = table::module(&owner);
        let on: &[On] = match &*owner {
            "" => &[On::Dsl, On::Nd],
            _ if module.is_some() => module.as_slice(),
            _ if KnownType::named(&owner)
                .is_some_and(|ty| !matches!(ty, KnownType::Box | KnownType::Zip | KnownType::Slice)) =>
            {
                &[On::Assoc]
            }
            _ => match self.number_type(&owner) {
                Some((Elem::Real(_), _)) => &[On::Real],
                Some((Elem::Int(_), _)) => &[On::Int],
                _ => &[On::Dsl],
            },
        };
        if owner.is_empty()
            && let Some(near) = suggest(last, self.state.names.all())
        {
            return Some(near.to_string());
        }
        let near = table::nearest(on, last)?;
        let mut of = path.clone();
        let _ = of.segments.pop();
        Some(format!("{}{near}", of.to_token_stream().to_string().replace(' ', "")))
    }

    fn field(&mut self, f: &'a syn::ExprField) -> Lowered<Value<'a>> {
        let value = self.expr(&f.base)?;
        if let Value::Never = value {
            return Ok(Value::Never);
        }
        if let Some(field) = self.field_value(&value, f) {
            return field;
        }
        let name = text_of(&f.member, 40);
        if let Value::Range(r) = &value
            && let (Some(start), Some(end)) = (&r.start, &r.end)
            && !r.inclusive
        {
            match &*name {
                "start" => return Ok(start.clone()),
                "end" => return Ok(end.clone()),
                _ => {}
            }
        }
        let message = match (&value, &f.member) {
            (Value::Tuple(parts), syn::Member::Unnamed(k)) => catalogue::no_such_part(k.index as usize, parts.len()),
            _ if self.method_row(Some(&value), &name).is_some() => catalogue::method_without_call(&name),
            (_, syn::Member::Unnamed(k)) if self.kind_of(&value) == On::Array => {
                catalogue::field_of_array(&text_of(&f.base, 30), k.index as usize)
            }
            _ => catalogue::field(&name),
        };
        Err(self.error(SrcRange::of(f), message))
    }
}
