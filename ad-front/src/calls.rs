//! Calls of functions and methods: the table row of a name, and the error for a name without one.
//!
//! Invariant: every use of a row is recorded in `assume`, so that the generated code asserts it.

use std::rc::Rc;

use quote::ToTokens;
use syn::{Expr, ExprCall, ExprMethodCall, GenericArgument};

use super::assume::Special;
use super::lower::Lower;
use super::table::{self, Call, Mark, On, OnType, Row};
use super::types;
use super::value::{Lowered, Value};
use ad_ir::catalogue::{self, refused};
use ad_ir::diag::{Message, Poison, SrcRange, text_of};
use ad_ir::ir::{Elem, IntTy, Type};
use ad_ir::program::KnownType;

impl<'a> Lower<'a> {
    pub(super) fn call_expr(&mut self, c: &'a ExprCall) -> Lowered<Value<'a>> {
        let range = SrcRange::of(c);
        if let Some(made) = self.construct(c) {
            return made;
        }
        if let Some(called) = self.associated_call(c) {
            return called;
        }
        let Expr::Path(p) = &*c.func else {
            let f = self.expr(&c.func);
            let args = self.all(&c.args);
            let (f, args) = (f?, args?);
            if matches!(self.kind_of(&f), On::Real | On::Int) {
                return Err(self.error(range, called_number(&c.func, c)));
            }
            return self.apply(&f, &args, range);
        };
        let local = match p.path.get_ident() {
            Some(name) => self.lookup(&name.to_string(), range),
            None => self.instantiated(c),
        };
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
        if let Some(row) = super::panics::named(&p.path) {
            return self.panicking(row, c);
        }
        if let Some((special, called)) = Special::of(&p.path) {
            self.assume_function(&p.path, called);
            return match special {
                Special::Axis => self.axis(c, range),
                Special::FromFn => self.array_from_fn(c, &p.path, range),
                Special::Some => self.some(c, range),
            };
        }
        let resolved = self.resolve(&p.path);
        // A string argument is accepted only if the function is known to take one.
        let text = |e: &&Expr| matches!(e, Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(_), .. }));
        let unknown = matches!(resolved, Ok(None));
        let args = self.all(c.args.iter().filter(|e| !(unknown && text(e))));
        let Some(resolved) = resolved? else {
            let text = p.path.to_token_stream().to_string().replace(' ', "");
            let last = p.path.segments.last().map_or_else(String::new, |s| s.ident.to_string());
            if let Some(message) = refused::later(&last, false) {
                return Err(self.error(range, message));
            }
            if let Some(message) = self.uncallable_function(&p.path, &last) {
                return Err(self.error(SrcRange::of(p), message));
            }
            let near = self.nearest_function(&p.path, &last);
            let operands: Vec<String> = c.args.iter().map(operand).collect();
            if let Some(message) = refused::operator(&last, &operands).filter(|_| p.path.segments.len() > 1) {
                return Err(self.error(range, message));
            }
            // This is `Iterator::map(x, f)` or `Array1::sum(&x)`.
            let of_type = p.path.segments.iter().rev().nth(1);
            let of_type = of_type.is_some_and(|s| s.ident.to_string().starts_with(char::is_uppercase));
            let on: &[On] = match of_type {
                true => &[On::Real, On::Array, On::Iter, On::Any, On::Option, On::Int],
                false => &[On::Real, On::Array],
            };
            let method = on.iter().any(|&on| table::find(on, &last).is_some());
            let method = method.then(|| as_method(&last, c));
            let message = catalogue::unknown_function(&text, near.as_deref(), method.as_deref());
            return Err(self.error(SrcRange::of(p), message));
        };
        let ranges = c.args.iter().map(SrcRange::of).collect();
        let call = Call {
            row: resolved.row,
            args: args?,
            ranges,
            texts: c.args.iter().map(|a| text_of(a, 30)).collect(),
            range,
            generics: resolved.generics,
            rank: resolved.rank,
        };
        self.call_of(resolved.elem, resolved.is_parameter, call)
    }

    /// Lowers `f64::exp(x)`, `f64::from(n)`, `T::lit(2.0)`. The path states the type.
    pub(super) fn call_of(
        &mut self,
        elem: Option<Elem>,
        is_parameter: bool,
        mut call: Call<'a, '_>,
    ) -> Lowered<Value<'a>> {
        if let Some(elem) = elem {
            if let Some(value) = self.call_on_type(elem, is_parameter, &call) {
                return value;
            }
            if let (Some(value), Some(&range)) = (call.args.first_mut(), call.ranges.first())
                && let Value::Number(_) = value
            {
                *value = Value::Term(self.term_as(value, super::value::Want::Elem(elem), range)?);
            }
        }
        self.call(&call)
    }

    /// Lowers `T::lit(x)`: the `f64` in the type parameter.
    fn literal_in_type(&mut self, elem: Elem, value: &Value<'a>, range: SrcRange) -> Lowered<Value<'a>> {
        let t = self.term_as(value, super::value::Want::Elem(Elem::F64), range)?;
        if self.g.rank(t) > 0 || self.g.elem(t) != Elem::F64 {
            let found = self.describe(value);
            return Err(self.error(range, catalogue::expected_type("f64", &found)));
        }
        Ok(Value::Term(match (self.g.real_value(t), elem) {
            (Some(x), Elem::Real(ty)) => self.real(ty, x),
            _ => self.g.cast(elem, t),
        }))
    }

    /// `f64::from(b)` is 1 where b holds, and 0 elsewhere. `b as f64` is not Rust.
    fn bool_as_integer(&mut self, value: &Value<'a>, to: Elem) -> Value<'a> {
        match value {
            Value::Term(t) if to.is_real() && *self.g.ty(*t) == Type::scalar(Elem::Bool) => {
                Value::Term(self.g.cast(Elem::Int(IntTy::U8), *t))
            }
            other => other.clone(),
        }
    }

    /// Lowers a call that is a function of a type: a conversion, or a scalar function of a literal.
    fn call_on_type(&mut self, elem: Elem, is_parameter: bool, call: &Call<'a, '_>) -> Option<Lowered<Value<'a>>> {
        let means = call.row.on_type.filter(|means| means.is_of(elem, is_parameter))?;
        if let (OnType::Constant(x), Elem::Real(ty)) = (means, elem) {
            return Some(Ok(Value::Term(self.real(ty, x))));
        }
        let [value] = &call.args[..] else {
            return Some(Err(self.error(call.range, catalogue::arity(call.name(), (1, 1), call.args.len()))));
        };
        if means == OnType::Literal {
            return Some(self.literal_in_type(elem, value, call.range));
        }
        let value = &self.bool_as_integer(value, elem);
        let made = self.cast(value, elem, call.range);
        if !is_parameter {
            return Some(made);
        }
        // For a type parameter this is num-traits' `NumCast::from`. Its `Option` is always `Some`
        // here.
        let always = self.g.lit_bool(true);
        Some(made.map(|value| Value::Option(value.into(), always)))
    }

    /// Lowers `std::array::from_fn(|i| ..)`. The length is in `::<_, N, _>`, or comes from a type
    /// later.
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
        let size = self.stated_size(&size);
        self.with_sizes(value, &[size], range)
    }

    fn some(&mut self, c: &'a ExprCall, range: SrcRange) -> Lowered<Value<'a>> {
        let args = self.all(&c.args)?;
        let [value] = &args[..] else {
            return Err(self.error(range, catalogue::arity("Some", (1, 1), args.len())));
        };
        let exists = self.g.lit_bool(true);
        Ok(Value::Option(value.clone().into(), exists))
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
            Expr::Path(p) => match p.path.get_ident().and_then(|name| self.state.names.get(&name.to_string())) {
                Some(Ok(Value::Ordering(_))) => true,
                Some(Ok(Value::Cell(cell))) => {
                    matches!(
                        self.state.cells.held(*cell),
                        Some(crate::translation::cells::CellValue::Value(Value::Ordering(_)))
                    )
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether an expression is an integer. A method such as `rotate_left` of an integer differs
    /// from that of a place expression.
    fn is_integer(&mut self, e: &'a Expr) -> bool {
        !super::place::is_place_expression(e)
            || self.trial(|me| me.expr(e).is_ok_and(|value| me.kind_of(&value) == On::Int))
    }

    pub(super) fn method(&mut self, m: &'a ExprMethodCall) -> Lowered<Value<'a>> {
        let range = SrcRange::of(m);
        let name = m.method.to_string();
        if let Some(f) = super::loop_effects::each(m).filter(|_| super::loop_effects::changes_receiver(m)) {
            let items = self.changed_items(m)?;
            return self.each_loop(m, f, &items);
        }
        let mut lowered = None;
        if self.input.definitions().has_method(&name) {
            match self.own_method(m, &name) {
                Ok(called) => return called,
                Err(receiver) => lowered = receiver,
            }
        }
        if lowered.is_none() && self.wants_method(m, &name) {
            return Err(Poison);
        }
        if let Some(row) = self.place_method(m, &name) {
            return self.method_of_place(m, row);
        }
        let receiver = lowered.unwrap_or_else(|| self.expr(&m.receiver));
        if let (Some(f), Ok(receiver)) = (super::loop_effects::each(m), &receiver)
            && matches!(self.kind_of(receiver), On::Iter | On::Zip)
        {
            return self.each_loop(m, f, receiver);
        }
        if let (Some(parts), Ok(receiver)) = (super::iter::until::of_scan(m), &receiver)
            && self.kind_of(receiver) == On::Iter
        {
            return self.scan_loop(parts, receiver, SrcRange::of(&m.receiver));
        }
        // The argument of `expect` is a message, and is not lowered as a value.
        let says = table::find(On::Option, &name).is_some_and(|row| row.is(Mark::Message));
        let args = match m.args.first() {
            Some(_) if says && m.args.len() == 1 => Ok(vec![Value::Unit]),
            Some(error) if table::makes_an_error(&name) && self.is_opaque_error(error) => Ok(vec![Value::Unit]),
            _ => self.all(&m.args),
        };
        let name_range = SrcRange::of(&m.method);
        if let Some(message) = self.refused_method(receiver.as_ref().ok(), &name) {
            return Err(self.error(range, message));
        }
        let receiver = receiver?;
        if self.wants_method_of(&receiver, m, &name) {
            return Err(Poison);
        }
        if let Value::Never = receiver {
            return Ok(Value::Never);
        }
        if let Value::Number(n) = &receiver
            && n.of_array().is_some()
            && m.args.is_empty()
            && let Some(row) = table::find(On::Array, &name).filter(|row| row.is(Mark::OfConstants))
        {
            let (args, ranges) = (vec![receiver], vec![range]);
            return self.call(&Call { row, args, ranges, texts: Vec::new(), range, generics: None, rank: None });
        }
        // This is an error such as `3.sin()` or `n.sqrt()`.
        let real = table::find(On::Real, &name).is_some() && table::find_method(On::Int, &name).is_none();
        if real && self.kind_of(&receiver) == On::Int {
            let (text, literal) = (text_of(&m.receiver, 30), matches!(&*m.receiver, Expr::Lit(_)));
            let call = if m.args.is_empty() { format!("{name}()") } else { format!("{name}(..)") };
            return Err(self.error(name_range, catalogue::method_of_reals(&call, &text, literal)));
        }
        let Some(row) = self.method_row(Some(&receiver), &name) else {
            return Err(self.unknown_method(m, &receiver, &name));
        };
        if row.is(Mark::Stops) && matches!(&receiver, Value::Seq(seq) if seq.eager) {
            return Err(super::iter::until::refuse(self, &name, range));
        }
        // A method that advances an iterator is refused here if the iterator has a name, since the
        // value does not have a position.
        if row.is(Mark::Advances) && super::place::is_place_expression(&m.receiver) {
            return Err(self.error(range, refused::advanced(&name)));
        }
        self.assume_method(m, row, &receiver);
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
        let text = |e: &Expr| super::panic_messages::string(e).unwrap_or_else(|| text_of(e, 30));
        let texts = std::iter::once(&*m.receiver).chain(&m.args).map(text).collect();
        self.call(&Call { row, args: values, ranges, texts, range, generics, rank: None })
    }

    /// The row of a method of a place expression, if this is one.
    fn place_method(&mut self, m: &'a ExprMethodCall, name: &str) -> Option<&'static Row> {
        let place = table::find(On::Place, name);
        // The next item of a temporary iterator is its first one.
        let place = place.filter(|row| !row.is(Mark::OfNamed) || super::place::is_place_expression(&m.receiver));
        let place = place.filter(|row| !row.is(Mark::OfBorrowed) || borrowed(&m.receiver).is_some());
        let place = place.filter(|_| table::find(On::Int, name).is_none() || !self.is_integer(&m.receiver));
        place.filter(|_| table::find(On::Ordering, name).is_none() || !self.orders(&m.receiver))
    }

    fn method_of_place(&mut self, m: &'a ExprMethodCall, row: &'static Row) -> Lowered<Value<'a>> {
        let range = SrcRange::of(m);
        let of = if row.is(Mark::OfBorrowed) { borrowed(&m.receiver).unwrap_or(&m.receiver) } else { &m.receiver };
        let receiver = self.place(of).map(|p| Value::Place(Rc::new(p)));
        let mut values = vec![receiver];
        values.extend(m.args.iter().map(|e| self.expr(e)));
        let args = values.into_iter().collect::<Lowered<Vec<Value>>>()?;
        let ranges = std::iter::once(&*m.receiver).chain(&m.args).map(SrcRange::of).collect();
        let texts = std::iter::once(&*m.receiver).chain(&m.args).map(|e| text_of(e, 30)).collect();
        if let Some(receiver) = args.first() {
            self.assume_method(m, row, receiver);
        }
        return self.call(&Call { row, args, ranges, texts, range, generics: None, rank: None });
    }

    /// The message for a method that is not supported, although its name is known.
    fn refused_method(&self, receiver: Option<&Value<'a>>, name: &str) -> Option<Message> {
        if self.method_row(receiver, name).is_some() {
            return None;
        }
        let of_array = receiver
            .is_some_and(|r| matches!(self.kind_of(r), On::Array | On::Zip | On::Iter) || matches!(r, Value::Place(_)));
        refused::method(name).filter(|_| of_array).or_else(|| refused::mutating(name))
    }

    /// The error for a method without a row.
    fn unknown_method(&mut self, m: &'a ExprMethodCall, receiver: &Value<'a>, name: &str) -> Poison {
        let range = SrcRange::of(m);
        if let Value::Number(n) = receiver
            && let Some(path) = n.outer()
        {
            let text = path.to_string().replace(' ', "");
            let on = |on| table::find(on, name).is_some();
            let array = n.array_if_known().or(Some(on(On::Array) && !on(On::Real)));
            return self.error(SrcRange::of(&m.receiver), catalogue::unseen_constant(&text, array));
        }
        if let Some(message) = refused::later(name, true) {
            return self.error(range, message);
        }
        let operands: Vec<String> = std::iter::once(&*m.receiver).chain(&m.args).map(operand).collect();
        if let Some(message) = refused::operator(name, &operands) {
            return self.error(range, message);
        }
        let kind = self.kind_of(receiver);
        let found = self.describe(receiver);
        let place = if kind == On::Array { On::Place } else { kind };
        let near = table::nearest_row(&[kind, On::Any, place], name).map(|row| (row.name, row.doc));
        let as_function = table::find(On::Dsl, name).is_some();
        self.error(SrcRange::of(&m.method), catalogue::unknown_method(name, &found, near, as_function))
    }

    pub(super) fn method_row(&self, receiver: Option<&Value<'a>>, name: &str) -> Option<&'static Row> {
        let receiver = receiver?;
        // An array of rank 0 is a scalar here, and still has the methods of arrays.
        let rank_zero = matches!(receiver, Value::Term(t) if self.g.rank(*t) == 0);
        table::find_method(self.kind_of(receiver), name).or_else(|| table::find(On::Array, name).filter(|_| rank_zero))
    }

    /// The table row of a path.
    pub(super) fn resolve<'c>(&mut self, path: &'c syn::Path) -> Lowered<Option<Resolved<'c>>> {
        let segments: Vec<&syn::PathSegment> = path.segments.iter().collect();
        let Some((last, before)) = segments.split_last() else { return Ok(None) };
        let name = last.ident.to_string();
        let plain =
            |row| Resolved { row, generics: generic(&last.arguments), rank: None, elem: None, is_parameter: false };
        let Some(owner) = before.last() else {
            let found =
                [On::Dsl, On::Nd, On::Linalg, On::Fft, On::Common].into_iter().find_map(|on| table::find(on, &name));
            self.assume_row(path, found);
            return Ok(found.map(plain));
        };
        let owner_name = owner.ident.to_string();
        if let Some((elem, is_parameter)) = self.number_type(&owner_name) {
            let on = if elem.is_real() { On::Real } else { On::Int };
            let of_type = |row: &&'static Row| row.on_type.is_some_and(|means| means.is_of(elem, is_parameter));
            let row = table::find(On::Assoc, &name).filter(of_type).or_else(|| table::find_method(on, &name));
            let literal = row.is_some_and(|row| row.on_type == Some(OnType::Literal));
            // rustc checks the functions of type parameters and traits better than an assertion
            // could.
            if !literal && !is_parameter {
                let conversion = row.is_some_and(|row| row.on_type == Some(OnType::Conversion));
                self.assume_number(path, elem, &last.ident, conversion);
            }
            return Ok(row.map(|row| Resolved { elem: Some(elem), is_parameter, ..plain(row) }));
        }
        if let Some(on) = table::module(&owner_name) {
            let of_ndarray = || table::find(On::Nd, &name).filter(|_| on == On::Linalg);
            let common = || table::find(On::Common, &name).filter(|_| on == On::Dsl);
            let found = table::find(on, &name).or_else(of_ndarray).or_else(common);
            self.assume_row(path, found);
            return Ok(found.map(plain));
        }
        let Some(ty) = KnownType::named(&owner_name) else { return Ok(None) };
        let (found, rank) = match ty {
            KnownType::Box | KnownType::Zip | KnownType::Slice => {
                let on = if ty == KnownType::Box { On::Std } else { On::Nd };
                let found = table::find(on, &format!("{owner_name}::{name}"));
                if found.is_some() {
                    self.assume_owner(path, ty);
                }
                return Ok(found.map(plain));
            }
            KnownType::VecDeque => {
                let made = table::find(On::Assoc, &name).filter(|row| row.is(Mark::OfQueues));
                if made.is_some() {
                    self.growable.add_queue();
                }
                (made, Some(1))
            }
            KnownType::Vec => (table::find(On::Assoc, &name), Some(1)),
            KnownType::Ranked(_, rank) => (table::find(On::Assoc, &name), Some(rank)),
            KnownType::Array(_) => (table::find(On::Assoc, &name), None),
        };
        if found.is_some() {
            self.assume_owner(path, ty);
        }
        Ok(found.map(|row| Resolved { generics: generic(&owner.arguments), rank, ..plain(row) }))
    }

    /// Records the function of a row.
    fn assume_row(&mut self, path: &syn::Path, row: Option<&Row>) {
        if let Some(called) = row.and_then(Row::function) {
            self.assume_function(path, called);
        }
    }
}

/// The place of `it.by_ref()`, where `it` has a name.
pub(super) fn borrowed(e: &Expr) -> Option<&Expr> {
    receiver_of_loan(e).filter(|it| super::place::is_place_expression(it))
}

/// The receiver of a method that lends an iterator: `it` of `it.by_ref()`.
pub(super) fn receiver_of_loan(e: &Expr) -> Option<&Expr> {
    let Expr::MethodCall(m) = e else { return None };
    let row = table::find(On::Iter, &m.method.to_string())?;
    row.is(Mark::Lends).then_some(&*m.receiver)
}

fn called_number(f: &Expr, c: &ExprCall) -> Message {
    let args: Vec<String> = c.args.iter().map(|e| text_of(e, 30)).collect();
    catalogue::called_number(&text_of(f, 30), &args.join(", "))
}

/// The text of an expression that a method call or an operator may follow.
fn operand(e: &Expr) -> String {
    let plain = matches!(
        e,
        Expr::Path(_)
            | Expr::Lit(_)
            | Expr::MethodCall(_)
            | Expr::Index(_)
            | Expr::Paren(_)
            | Expr::Call(_)
            | Expr::Field(_)
    );
    let text = text_of(e, 30);
    if plain || matches!(e, Expr::Reference(_)) && !text.contains(' ') { text } else { format!("({text})") }
}

/// The text of a function call as a method call: `(a + b).max(0.0)`.
fn as_method(name: &str, c: &ExprCall) -> String {
    let Some((first, rest)) = c.args.iter().collect::<Vec<_>>().split_first().map(|(f, rest)| (*f, rest.to_vec()))
    else {
        return format!("x.{name}()");
    };
    let rest: Vec<String> = rest.into_iter().map(|e| text_of(e, 30)).collect();
    let first = if matches!(first, Expr::Reference(_)) { format!("({})", text_of(first, 30)) } else { operand(first) };
    format!("{first}.{name}({})", rest.join(", "))
}

/// A path with its table row.
pub(super) struct Resolved<'c> {
    pub row: &'static Row,
    pub generics: Option<&'c syn::Type>,
    pub rank: Option<u8>,
    /// The number type whose method it is.
    pub elem: Option<Elem>,
    /// Whether the path names the type by a type parameter.
    pub is_parameter: bool,
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
