//! Calls of the functions, methods, constants and operators of `impl` blocks. The type of the
//! values decides which `impl` a call means.
//!
//! Invariant: the body of a function sees the items of the block in which its type is defined, and
//! nothing of the block that calls it.

use std::rc::Rc;

use proc_macro2::{Ident, Span};
use syn::{BinOp, Expr, ExprCall, ExprMethodCall, Type, UnOp};

use super::definitions::{AssociatedFunction, Impl, SelfParam, trait_of};
use super::lower::Lower;
use super::value::{Captured, Closure, ClosureBody, Lowered, Scope, Value};
use crate::translation::cells::CellValue;
use ad_ir::catalogue;
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Elem, Term};
use ad_ir::prim::{Cmp, Reduce};

/// The name that marks the items of the block in which a type is defined.
fn marker(ty: &str) -> String {
    format!(" {ty}")
}

/// The last name of a type.
pub(super) fn name_of(ty: &Type) -> Option<String> {
    match ty {
        Type::Paren(p) => name_of(&p.elem),
        Type::Group(g) => name_of(&g.elem),
        Type::Reference(r) => name_of(&r.elem),
        Type::Path(p) => p.path.segments.last().map(|s| s.ident.to_string()),
        _ => None,
    }
}

impl Value<'_> {
    /// Whether the type of the value is one of the table of definitions.
    pub(super) fn is_defined(&self) -> bool {
        matches!(self, Value::Struct(..) | Value::Enum(_) | Value::Node(_))
    }
}

impl<'a> Lower<'a> {
    /// Marks the current items as those that the functions of a type see.
    pub(super) fn mark_items(&mut self, ty: &str) {
        self.state.names.mark_items(marker(ty));
    }

    /// The items that the functions of a type see.
    fn items_of(&self, ty: &str) -> Scope<'a> {
        self.state.names.items_from(&marker(ty)).unwrap_or_default()
    }

    /// Whether a value has a type.
    fn has_type(&self, value: &Value<'a>, ty: &Type) -> bool {
        match ty {
            Type::Paren(p) => return self.has_type(value, &p.elem),
            Type::Group(g) => return self.has_type(value, &g.elem),
            Type::Reference(r) => return self.has_type(value, &r.elem),
            Type::Tuple(t) => {
                return matches!(value, Value::Tuple(parts) if parts.len() == t.elems.len()
                    && parts.iter().zip(&t.elems).all(|(part, ty)| self.has_type(part, ty)));
            }
            _ => {}
        }
        let name = name_of(ty).unwrap_or_default();
        match value {
            Value::Struct(of, _) => of.name == name,
            Value::Enum(sum) => sum.of.name == name,
            Value::Node(node) => node.of.name == name,
            Value::Place(place) => match self.state.cells.held(place.cell) {
                Some(CellValue::Value(value)) if place.is_variable() => self.has_type(value, ty),
                _ => false,
            },
            Value::Number(n) => match self.annotated(ty) {
                Some((elem, 0)) => elem.is_real() == n.is_float() && elem != Elem::Bool,
                _ => false,
            },
            Value::Term(t) | Value::Nested(t, _) => self.annotated(ty) == Some((self.g.elem(*t), self.g.rank(*t))),
            Value::List(_) => self.annotated(ty).is_some_and(|(_, rank)| rank == usize::from(value.levels())),
            _ => false,
        }
    }

    /// The functions of this name in the `impl` blocks that satisfy a test. Inherent functions come
    /// before those of traits.
    fn function_where(
        &self,
        name: &str,
        holds: impl Fn(&Impl, &AssociatedFunction) -> bool,
    ) -> Option<&'a AssociatedFunction> {
        let impls = self.input.definitions().impls();
        let found = |i: &'a Impl| i.function(name).filter(|f| holds(i, f));
        let own = impls.iter().filter(|i| i.of_trait.is_none()).find_map(found);
        own.or_else(|| impls.iter().filter(|i| i.of_trait.is_some()).find_map(found))
    }

    /// A function of a type, by the names of both.
    pub(super) fn associated(&self, ty: &str, name: &str) -> Option<(String, &'a AssociatedFunction)> {
        // A type may have another name here.
        let ty = self.input.definitions().ty(ty).map_or_else(|| ty.to_string(), |of| of.name.to_string());
        let found = self.function_where(name, |i, _| name_of(&i.self_ty).is_some_and(|own| own == ty))?;
        Some((ty, found))
    }

    /// The method of a value.
    fn method_of(&self, value: &Value<'a>, name: &str) -> Option<(String, &'a AssociatedFunction)> {
        let found = self.function_where(name, |i, f| f.receiver.is_some() && self.has_type(value, &i.self_ty))?;
        Some((self.type_name(value), found))
    }

    /// The name of the type of a value, if it is in the table.
    fn type_name(&self, value: &Value<'a>) -> String {
        match value {
            Value::Struct(of, _) => of.name.to_string(),
            Value::Enum(sum) => sum.of.name.to_string(),
            Value::Node(node) => node.of.name.to_string(),
            _ => String::new(),
        }
    }

    /// A function of the table as a value.
    fn function_value(&self, (ty, f): &(String, &'a AssociatedFunction)) -> Value<'a> {
        Value::Closure(Rc::new(Closure {
            params: f.params.iter().map(|(pat, ty)| (pat, ty.as_ref())).collect(),
            body: ClosureBody::Block(&f.body),
            output: f.output.as_ref(),
            sizes: f.sizes.iter().collect(),
            types: super::type_params::of(&f.sig.generics).into(),
            scope: self.items_of(ty),
            items: self.items_of(ty),
            definition: f.definition.or(self.state.names.definition()),
            captured: Captured::References([].into()),
            recursive: None,
            ruled: None,
            derivative: None,
            source: None,
        }))
    }

    /// Calls a function of the table.
    pub(super) fn apply_function(
        &mut self,
        f: &(String, &'a AssociatedFunction),
        args: &[Value<'a>],
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let address = std::ptr::from_ref(f.1) as usize;
        if let Some(called) = self.call_recursive(f.1, args, range) {
            return called;
        }
        self.state.nesting.enter_function(address);
        let function = self.function_value(f);
        let result = self.apply(&function, args, range);
        self.state.nesting.leave_function();
        result
    }

    /// The function that a path names: `Body::new`, `<Circle as Shape>::area`.
    fn function_at(&self, p: &syn::ExprPath) -> Option<(String, &'a AssociatedFunction)> {
        let mut names = p.path.segments.iter().rev().map(|s| s.ident.to_string());
        let (name, owner) = (names.next()?, names.next()?);
        match &p.qself {
            Some(of) => self.associated(&name_of(&of.ty)?, &name),
            None => self.associated(&owner, &name),
        }
    }

    /// The call of a function of the table by its path. `None` if it is another function.
    pub(super) fn associated_call(&mut self, c: &'a ExprCall) -> Option<Lowered<Value<'a>>> {
        let Expr::Path(p) = &*c.func else { return None };
        let range = SrcRange::of(c);
        if let Some(f) = self.function_at(p) {
            return Some(self.all(&c.args).and_then(|args| self.apply_function(&f, &args, range)));
        }
        let mut names = p.path.segments.iter().rev().map(|s| s.ident.to_string());
        let (name, owner) = (names.next()?, names.next()?);
        if name == "default"
            && c.args.is_empty()
            && let Some(of) = self.input.definitions().ty(&owner)
        {
            return Some(self.default_of(of, range));
        }
        if self.wants(&owner, &p.path) {
            return Some(Err(Poison));
        }
        // `Shape::area(&circle)`: the first argument decides.
        let of_trait = |i: &Impl| i.of_trait.as_ref().is_some_and(|(of, _)| *of == owner);
        if !self.input.definitions().impls().iter().any(|i| of_trait(i) && i.function(&name).is_some()) {
            return None;
        }
        Some(self.all(&c.args).and_then(|args| {
            let first = args.first().cloned();
            let found = first.as_ref().and_then(|first| {
                let value = self.referred_value(first);
                let f = self.function_where(&name, |i, _| of_trait(i) && self.has_type(&value, &i.self_ty))?;
                Some((self.type_name(&value), f))
            });
            match found {
                Some(f) => self.apply_function(&f, &args, range),
                None => Err(self.unknown(&p.path, range)),
            }
        }))
    }

    /// Asks for the function or constant that a path names, if its owner is a type from outside
    /// that does not have it here.
    fn wants(&mut self, owner: &str, path: &syn::Path) -> bool {
        let definitions = self.input.definitions();
        match (definitions.ty(owner), path.segments.last()) {
            (Some(of), Some(last)) => self.want(&of.name, &last.ident),
            _ => false,
        }
    }

    /// The value that a mutable reference refers to.
    pub(super) fn referred_value(&mut self, value: &Value<'a>) -> Value<'a> {
        match value {
            Value::Place(place) => self.read_place(&Rc::clone(place)).unwrap_or(Value::Never),
            value => value.clone(),
        }
    }

    /// An associated constant, or a function of the table as a value. `None` if it is another path.
    pub(super) fn associated_path(&mut self, p: &'a syn::ExprPath) -> Option<Lowered<Value<'a>>> {
        if let Some(f) = self.function_at(p) {
            return Some(Ok(self.function_value(&f)));
        }
        let mut names = p.path.segments.iter().rev().map(|s| s.ident.to_string());
        let (name, owner) = (names.next()?, names.next()?);
        let owner = p.qself.as_ref().map_or(Some(owner), |of| name_of(&of.ty))?;
        let definitions = self.input.definitions();
        let owner = definitions.ty(&owner).map_or(owner, |of| of.name.to_string());
        let of_type = definitions.impls().iter().filter(|i| name_of(&i.self_ty).is_some_and(|own| own == owner));
        let mut constants = of_type.flat_map(|i| i.constants.iter().map(|c| (i.definition, c)));
        let Some((definition, (_, ty, value))) = constants.find(|(_, (own, ..))| *own == name) else {
            return self.wants(&owner, &p.path).then_some(Err(Poison));
        };
        let definition = definition.or(self.state.names.definition());
        let items = self.items_of(&owner);
        let inside = self.state.names.enter(items);
        let made = self.one_level_deeper(
            || SrcRange::of(value),
            |me| {
                me.at_definition(definition, |me| {
                    let made = me.expr(value)?;
                    me.ascribe(made, ty, SrcRange::of(value))
                })
            },
        );
        self.state.names.back_to(inside);
        Some(made)
    }

    /// The call of a method of the table. `Err` gives the receiver back, if it has been lowered.
    pub(super) fn own_method(
        &mut self,
        m: &'a ExprMethodCall,
        name: &str,
    ) -> Result<Lowered<Value<'a>>, Option<Lowered<Value<'a>>>> {
        let range = SrcRange::of(m);
        if super::place::is_place_expression(&m.receiver) {
            // Reading a place has no effect.
            let Ok(value) = self.trial(|me| me.expr(&m.receiver)) else { return Err(None) };
            let Some(f) = self.own_method_of(&value, name) else { return Err(None) };
            let receiver = match f.1.receiver {
                Some(SelfParam::Mutable) => self.place(&m.receiver).map(|place| Value::Place(Rc::new(place))),
                _ => self.expr(&m.receiver),
            };
            return Ok(self.call_method(&f, receiver, m, range));
        }
        if super::table::find(super::table::On::Place, name).is_some() {
            return Err(None);
        }
        let receiver = self.expr(&m.receiver);
        let Ok(value) = &receiver else { return Err(Some(receiver)) };
        let value = self.referred_value(value);
        let Some(f) = self.own_method_of(&value, name) else { return Err(Some(receiver)) };
        let receiver = match (f.1.receiver, receiver) {
            (Some(SelfParam::Mutable), Ok(temporary)) if !matches!(temporary, Value::Place(_)) => {
                let cell = self.state.cells.add_hidden(CellValue::Value(temporary));
                Ok(Value::Place(Rc::new(super::place::Place::variable(cell, name, range))))
            }
            (Some(SelfParam::Read), Ok(_)) => Ok(value),
            (_, receiver) => receiver,
        };
        Ok(self.call_method(&f, receiver, m, range))
    }

    /// The method of the table that a value has. A number's or an array's own method comes first.
    fn own_method_of(&self, value: &Value<'a>, name: &str) -> Option<(String, &'a AssociatedFunction)> {
        let f = self.method_of(value, name)?;
        (value.is_defined() || self.method_row(Some(value), name).is_none()).then_some(f)
    }

    /// Whether a method belongs to a type from outside whose definition is missing. If so, it is
    /// asked for.
    pub(super) fn wants_method(&mut self, m: &'a ExprMethodCall, name: &str) -> bool {
        if self.input.outside().list.is_empty() || !super::place::is_place_expression(&m.receiver) {
            return false;
        }
        let value = self.trial(|me| me.expr(&m.receiver));
        value.is_ok_and(|value| self.wants_method_of(&value, m, name))
    }

    /// Like [`wants_method`](Self::wants_method), for the value of the receiver.
    pub(super) fn wants_method_of(&mut self, value: &Value<'a>, m: &ExprMethodCall, name: &str) -> bool {
        let value = self.referred_value(value);
        let of = match &value {
            Value::Struct(of, _) => &of.name,
            Value::Enum(sum) => &sum.of.name,
            Value::Node(node) => &node.of.name,
            _ => return false,
        };
        let missing = self.method_of(&value, name).is_none() && self.method_row(Some(&value), name).is_none();
        missing && self.want(of, &m.method)
    }

    /// The sum or product of items of a user-defined type, one of which is given: the function of
    /// its `impl` of `Sum` or `Product`. `None` if there is no such `impl`.
    pub(super) fn own_total(
        &mut self,
        (of_trait, name): (&str, &str),
        (seq, item): (&super::value::Seq<'a>, &Value<'a>),
        range: SrcRange,
    ) -> Option<Lowered<Value<'a>>> {
        let of = match item {
            Value::Struct(of, _) => &of.name,
            Value::Enum(sum) => &sum.of.name,
            _ => return None,
        };
        let is_it = |i: &Impl| i.of_trait.as_ref().is_some_and(|(own, _)| own == of_trait);
        let Some(found) = self.function_where(name, |i, _| is_it(i) && self.has_type(item, &i.self_ty)) else {
            return self.want(of, &Ident::new(name, Span::call_site())).then_some(Err(Poison));
        };
        let f = (self.type_name(item), found);
        Some(self.apply_function(&f, &[Value::Seq(seq.clone())], range))
    }

    /// Asks for the method of an operator of a type from outside.
    fn wants_operator(&mut self, name: &str, left: &Value<'a>, right: Option<&Value<'a>>) -> bool {
        let of = match (left, right) {
            (Value::Struct(of, _), _) | (_, Some(Value::Struct(of, _))) => &of.name,
            (Value::Enum(sum), _) | (_, Some(Value::Enum(sum))) => &sum.of.name,
            _ => return false,
        };
        self.want(of, &Ident::new(name, Span::call_site()))
    }

    fn call_method(
        &mut self,
        f: &(String, &'a AssociatedFunction),
        receiver: Lowered<Value<'a>>,
        m: &'a ExprMethodCall,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let args = self.all(&m.args);
        let (receiver, args) = (receiver?, args?);
        if let Value::Never = receiver {
            return Ok(Value::Never);
        }
        let all: Vec<Value> = std::iter::once(receiver).chain(args).collect();
        self.apply_function(f, &all, range)
    }

    /// The function of a trait of operators that these operands have.
    fn operator(
        &self,
        (of_trait, name): (&str, &str),
        left: &Value<'a>,
        right: Option<&Value<'a>>,
    ) -> Option<(String, &'a AssociatedFunction)> {
        let found = self.function_where(name, |i, _| {
            i.of_trait.as_ref().is_some_and(|(own, argument)| {
                let argument = argument.as_ref().unwrap_or(&i.self_ty);
                own == of_trait && right.is_none_or(|right| self.has_type(right, argument))
            }) && self.has_type(left, &i.self_ty)
        })?;
        let ty = if left.is_defined() { left } else { right.unwrap_or(left) };
        Some((self.type_name(ty), found))
    }

    /// An operator with an operand whose type is in the table of definitions. `None` if there is no
    /// `impl` for it.
    pub(super) fn own_operator(
        &mut self,
        op: &BinOp,
        left: &Value<'a>,
        right: &Value<'a>,
        range: SrcRange,
    ) -> Option<Lowered<Value<'a>>> {
        if let Some(of_trait) = trait_of(op, false) {
            let Some(f) = self.operator(of_trait, left, Some(right)) else {
                return self.wants_operator(of_trait.1, left, Some(right)).then_some(Err(Poison));
            };
            return Some(self.apply_function(&f, &[left.clone(), right.clone()], range));
        }
        let equal = match op {
            BinOp::Eq(_) => true,
            BinOp::Ne(_) => false,
            _ => return None,
        };
        let result = match self.operator(("PartialEq", "eq"), left, Some(right)) {
            Some(f) => {
                let args = [left.clone(), right.clone()];
                self.apply_function(&f, &args, range).and_then(|value| self.boolean(&value, range))
            }
            None => match self.derived_equality(left, right, range) {
                Some(same) => same,
                None => return self.wants_operator("eq", left, Some(right)).then_some(Err(Poison)),
            },
        };
        Some(result.map(|same| Value::Term(if equal { same } else { self.g.not(same) })))
    }

    /// Whether two values are equal as `#[derive(PartialEq)]` compares them. `None` if it does not.
    pub(super) fn derived_equality(&mut self, a: &Value<'a>, b: &Value<'a>, range: SrcRange) -> Option<Lowered<Term>> {
        let all = |me: &mut Self, xs: &[Value<'a>], ys: &[Value<'a>]| -> Option<Lowered<Term>> {
            let mut same = me.g.lit_bool(true);
            for (x, y) in xs.iter().zip(ys) {
                match me.derived_equality(x, y, range)? {
                    Ok(also) => same = me.g.and(same, also),
                    Err(poison) => return Some(Err(poison)),
                }
            }
            Some(Ok(same))
        };
        match (a, b) {
            (Value::Tuple(xs), Value::Tuple(ys)) if xs.len() == ys.len() => all(self, xs, ys),
            (Value::Struct(of, xs), Value::Struct(other, ys)) if std::ptr::eq(*of, *other) && of.compared => {
                all(self, xs, ys)
            }
            (Value::Enum(x), Value::Enum(y)) if std::ptr::eq(x.of, y.of) && x.of.compared => {
                let mut same = self.g.compare(Cmp::Eq, x.tag, y.tag);
                for (k, pair) in x.payloads.iter().zip(y.payloads.iter()).enumerate() {
                    let (Some(xs), Some(ys)) = pair else { continue };
                    let number = self.g.lit_usize(k);
                    let (here, yes) = (self.g.compare(Cmp::Eq, x.tag, number), self.g.lit_bool(true));
                    match all(self, xs, ys)? {
                        Ok(fields) => {
                            let fields = self.g.cond(here, fields, yes);
                            same = self.g.and(same, fields);
                        }
                        Err(poison) => return Some(Err(poison)),
                    }
                }
                Some(Ok(same))
            }
            (Value::Tuple(_) | Value::Struct(..) | Value::Enum(_) | Value::Node(_), _) => None,
            _ => Some(self.unify_literals(a, b, [range, range]).and_then(|(a, b)| {
                if self.g.rank(a) == 0 {
                    return self.comparison(Cmp::Eq, a, b, range);
                }
                let b = self.same_shape(a, b, Default::default(), range)?;
                let (rank, same) = (self.g.rank(a), self.g.compare(Cmp::Eq, a, b));
                Ok(self.g.reduce(Reduce::All, rank, same))
            })),
        }
    }

    /// `a += b` of a value of the table. `None` if there is no `impl` for it.
    pub(super) fn own_assignment(
        &mut self,
        op: &BinOp,
        place: &super::place::Place,
        (old, right): (&Value<'a>, &Value<'a>),
        range: SrcRange,
    ) -> Option<Lowered<Value<'a>>> {
        let of_trait = trait_of(op, true)?;
        let Some(f) = self.operator(of_trait, old, Some(right)) else {
            let wanted = old.is_defined() && self.wants_operator(of_trait.1, old, None);
            return wanted.then_some(Err(Poison));
        };
        let place = Value::Place(Rc::new(place.clone()));
        Some(self.apply_function(&f, &[place, right.clone()], range))
    }

    /// `a[i]` of a value of the table. `None` if there is no `impl` for it.
    pub(super) fn own_index(
        &mut self,
        base: &Value<'a>,
        index: &Value<'a>,
        range: SrcRange,
    ) -> Option<Lowered<Value<'a>>> {
        if !base.is_defined() {
            return None;
        }
        let Some(f) = self.operator(("Index", "index"), base, Some(index)) else {
            return self.wants_operator("index", base, None).then_some(Err(Poison));
        };
        Some(self.apply_function(&f, &[base.clone(), index.clone()], range))
    }

    /// The place of `a[i]` of a value of the table. `None` if there is no `impl` for it.
    pub(super) fn own_index_mut(
        &mut self,
        base: &super::place::Place,
        index: &Value<'a>,
        range: SrcRange,
    ) -> Option<Lowered<super::place::Place>> {
        if self.input.definitions().impls().is_empty() {
            return None;
        }
        let value = self.read_place(base).ok().filter(Value::is_defined)?;
        let f = self.operator(("IndexMut", "index_mut"), &value, Some(index))?;
        let base = Value::Place(Rc::new(base.clone()));
        Some(match self.apply_function(&f, &[base, index.clone()], range) {
            Ok(Value::Place(place)) => Ok((*place).clone()),
            Ok(other) => {
                let found = self.describe(&other);
                Err(self.error(range, catalogue::mutable_reference_expected(&found)))
            }
            Err(poison) => Err(poison),
        })
    }

    /// `-a` and `!a` of a value of the table. `None` if there is no `impl` for it.
    pub(super) fn own_unary(&mut self, op: &UnOp, value: &Value<'a>, range: SrcRange) -> Option<Lowered<Value<'a>>> {
        let of_trait = match op {
            UnOp::Neg(_) => ("Neg", "neg"),
            UnOp::Not(_) => ("Not", "not"),
            _ => return None,
        };
        let Some(f) = self.operator(of_trait, value, None) else {
            return self.wants_operator(of_trait.1, value, None).then_some(Err(Poison));
        };
        Some(self.apply_function(&f, std::slice::from_ref(value), range))
    }
}
