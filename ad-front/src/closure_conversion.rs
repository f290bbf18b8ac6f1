//! Closures that are compiled on their own. If each closure calls the previous one twice, lowering
//! at every call writes 2^n bodies for n closures. So a closure whose call would expand to many
//! bodies becomes a function (closure conversion): the numbers and arrays of known size that it
//! captures are further parameters, and the closures that it captures are defined again in its
//! body. Equal functions are compiled once.
//!
//! Invariant: whatever cannot be passed to such a function is lowered at the call.

use ad_ir::sorted::SortedMap;
use std::rc::Rc;

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::{Expr, ExprClosure, FnArg, Item, ItemFn, Stmt, Type, parse_quote};

use super::lower::Lower;
use super::recursion::LARGE;
use super::types::{Len, elem_tokens};
use super::value::{Captured, Closure, Lowered, Number, Value};
use crate::translation::cells::CellValue;
use crate::translation::items::name_of;
use ad_ir::diag::SrcRange;
use ad_ir::ir::Node;
use ad_ir::program::Container;

/// A closure expression.
pub(super) struct Source<'a> {
    expr: &'a ExprClosure,
    /// The items in scope.
    beside: Rc<[&'a Item]>,
    /// The number of bodies to which a call expands.
    bodies: usize,
}

/// A closure as a function.
#[derive(Default)]
struct Conversion<'a> {
    /// The captured closures with their names, each after the closures that it captures.
    closures: Vec<(String, Rc<Closure<'a>>)>,
    /// The captured values.
    captured: SortedMap<String, Value<'a>>,
}

impl<'a> Lower<'a> {
    /// A closure expression, before its name is bound.
    pub(super) fn source(&self, expr: &'a ExprClosure) -> Rc<Source<'a>> {
        let mut bodies = 1_usize;
        each_name(expr.body.to_token_stream(), &mut |name| {
            if let Some(Ok(Value::Closure(f))) = self.state.names.get(&name.to_string()) {
                bodies = bodies.saturating_add(f.source.as_ref().map_or(1, |source| source.bodies));
            }
        });
        Rc::new(Source { expr, beside: Rc::clone(self.state.items.all()), bodies })
    }

    /// Calls a closure as a function that is compiled on its own. `None` if its body is to be
    /// lowered at the call.
    pub(super) fn call_converted(
        &mut self,
        closure: &Closure<'a>,
        args: &[Value<'a>],
        range: SrcRange,
    ) -> Option<Lowered<Value<'a>>> {
        let source = closure.source.as_ref().filter(|source| source.bodies > LARGE)?;
        if !self.only_first_derivatives() || !self.input.sig().const_params.is_empty() {
            return None;
        }
        let mut conversion = Conversion::default();
        self.capture(closure, &mut conversion)?;
        let mut item = self.as_function(closure, args, &conversion)?;
        let given = args.iter().chain(conversion.captured.values());
        let given: Vec<Value<'a>> = given.filter(|value| self.in_body(value).is_none()).cloned().collect();
        let beside: TokenStream = source.beside.iter().map(ToTokens::to_token_stream).collect();
        let text = format!("{:?} {} {beside}", closure.definition, item.to_token_stream());
        let known = self.functions.result_of_closure(&text);
        let result = match known {
            Some(result) => result,
            None => {
                let value = self.trial(|me| me.call_inline(closure, args, range));
                let result = value.ok().and_then(|value| self.result_type(&value)).filter(|result| {
                    item.sig.output = parse_quote!(-> #result);
                    self.can_be_compiled(&item)
                });
                let result = result.map(|ty| ty.to_token_stream().to_string());
                self.functions.note_result_of_closure(text, result.clone());
                result
            }
        };
        let result: Type = syn::parse_str(&result?).ok()?;
        item.sig.output = parse_quote!(-> #result);
        let signature = item.sig.clone();
        let compiled = match self.compiled_item(item, &source.beside, false, closure.definition) {
            Ok(compiled) => compiled,
            Err(poison) => return Some(Err(poison)),
        };
        Some(self.call_number(compiled, &signature, &given, range))
    }

    /// Adds what a closure captures. `None` if something cannot be passed to a function.
    fn capture(&self, closure: &Closure<'a>, conversion: &mut Conversion<'a>) -> Option<()> {
        let source = closure.source.as_ref()?;
        let Captured::References(changed) = &closure.captured else { return None };
        if !changed.is_empty() {
            return None;
        }
        let mut own = Vec::new();
        for pat in &source.expr.inputs {
            each_name(pat.to_token_stream(), &mut |name| own.push(name.to_string()));
        }
        let mut named = Vec::new();
        each_name(source.expr.to_token_stream(), &mut |name| named.push(name.to_string()));
        named.sort();
        named.dedup();
        for name in named {
            if own.contains(&name) {
                continue;
            }
            let value = match closure.scope.get(&name) {
                None => continue,
                Some(value) => value.ok()?.clone(),
            };
            let value = match value {
                Value::Cell(cell) => match self.state.cells.held(cell)? {
                    CellValue::Value(value) => value.clone(),
                    _ => return None,
                },
                value => value,
            };
            match &value {
                Value::Closure(f) if f.source.is_some() => {
                    let inner = f.source.as_ref()?;
                    // Its items have to be visible in the function.
                    let visible = inner.beside.iter().all(|&i| source.beside.iter().any(|&j| std::ptr::eq(i, j)));
                    if !visible || f.definition != closure.definition || conversion.captured.contains_key(&name) {
                        return None;
                    }
                    if !conversion.closures.iter().any(|(n, other)| *n == name && Rc::ptr_eq(other, f)) {
                        self.capture(f, conversion)?;
                        conversion.closures.push((name.clone(), Rc::clone(f)));
                    }
                    // The name has one meaning in the whole function.
                    if conversion.closures.iter().any(|(n, other)| *n == name && !Rc::ptr_eq(other, f)) {
                        return None;
                    }
                }
                // An item is visible.
                Value::Closure(_) => {}
                value => {
                    // An item with this name is visible too.
                    let item = source.beside.iter().any(|item| name_of(item).as_ref() == Some(&name));
                    if item || conversion.closures.iter().any(|(n, _)| *n == name) {
                        return None;
                    }
                    match conversion.captured.get(&name) {
                        Some(other) if !same(other, value) => return None,
                        _ => drop(conversion.captured.insert(name, value.clone())),
                    }
                }
            }
        }
        Some(())
    }

    /// The expression of a value that is written into the body: a literal, which may have no type
    /// yet, or an integer, which may be a size or an exponent. `None` for all other values.
    fn in_body(&self, value: &Value<'a>) -> Option<Expr> {
        match value {
            Value::Number(n) => literal(n),
            Value::Term(t) => {
                let n = self.g.int_value(*t).filter(|n| *n >= 0)?;
                let ty = elem_tokens(self.g.elem(*t), None);
                let n = Literal::i128_unsuffixed(n);
                Some(parse_quote!((#n as #ty)))
            }
            _ => None,
        }
    }

    /// The type of a number, of a tuple of numbers, or of a parameter of the function that is a
    /// slice, an ndarray or an array of known size. `None` for all other values.
    fn argument_type(&self, value: &Value<'a>) -> Option<Type> {
        let t = match value {
            Value::Term(t) => t,
            Value::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.argument_type(part)).collect::<Option<Vec<_>>>()?;
                return Some(parse_quote!((#(#parts,)*)));
            }
            _ => return None,
        };
        let elem = elem_tokens(self.g.elem(*t), self.input.sig().real_param.as_ref());
        if self.g.rank(*t) == 0 {
            return Some(parse_quote!(#elem));
        }
        let Node::Input(input) = self.g.node(*t) else { return None };
        let leaf = &self.input.sig().params.get(self.graph_inputs.param_at(*input)? as usize)?.leaf;
        match (leaf.container, &leaf.lens[..]) {
            (Container::Slice, []) if leaf.rank == 1 => Some(parse_quote!(&[#elem])),
            (Container::NdArray, []) => {
                let array = format_ident!("Array{}", leaf.rank);
                Some(parse_quote!(&#array<#elem>))
            }
            (Container::Static, [Len::Number(n)]) => Some(parse_quote!(&[#elem; #n])),
            _ => None,
        }
    }

    /// The type of a result that is a number or a tuple of numbers.
    fn result_type(&self, value: &Value<'a>) -> Option<Type> {
        match value {
            Value::Term(t) if self.g.rank(*t) > 0 => None,
            Value::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.result_type(part)).collect::<Option<Vec<_>>>()?;
                Some(parse_quote!((#(#parts,)*)))
            }
            value => self.argument_type(value),
        }
    }

    /// The function, without the type of its result.
    fn as_function(&self, closure: &Closure<'a>, args: &[Value<'a>], conversion: &Conversion<'a>) -> Option<ItemFn> {
        let source = closure.source.as_ref()?;
        let mut params: Vec<FnArg> = Vec::new();
        let (mut captured, mut bound): (Vec<Stmt>, Vec<Stmt>) = (Vec::new(), Vec::new());
        for (k, (arg, pat)) in args.iter().zip(&source.expr.inputs).enumerate() {
            let given = match self.in_body(arg) {
                Some(constant) => constant,
                None => {
                    let (name, ty) = (format_ident!("argument{k}_"), self.argument_type(arg)?);
                    params.push(parse_quote!(#name: #ty));
                    parse_quote!(#name)
                }
            };
            bound.push(parse_quote!(let #pat = #given;));
        }
        for (name, value) in &conversion.captured {
            let name = ident(name);
            match self.in_body(value) {
                Some(constant) => captured.push(parse_quote!(let #name = #constant;)),
                None => {
                    let ty = self.argument_type(value)?;
                    params.push(parse_quote!(#name: #ty));
                }
            }
        }
        for (name, f) in &conversion.closures {
            let (name, expr) = (ident(name), &f.source.as_ref()?.expr);
            captured.push(parse_quote!(let #name = #expr;));
        }
        let (generics, where_clause, body) =
            (&self.input.sig().generics, &self.input.sig().where_clause, &source.expr.body);
        Some(parse_quote!(fn closure #generics (#(#params),*) #where_clause { #(#captured)* #(#bound)* (#body) }))
    }
}

/// The expression of a literal.
fn literal(n: &Number) -> Option<Expr> {
    match n {
        Number::Float(x) if x.is_finite() && x.is_sign_positive() => {
            let x = Literal::f64_unsuffixed(*x);
            Some(parse_quote!(#x))
        }
        Number::Int(n) if *n >= 0 => {
            let n = Literal::i128_unsuffixed(*n);
            Some(parse_quote!(#n))
        }
        Number::Neg(n) => literal(n).map(|n| parse_quote!((-#n))),
        _ => None,
    }
}

fn ident(name: &str) -> Ident {
    match name.strip_prefix("r#") {
        Some(name) => Ident::new_raw(name, Span::call_site()),
        None => Ident::new(name, Span::call_site()),
    }
}

/// Whether two captured values are the same value.
fn same<'a>(a: &Value<'a>, b: &Value<'a>) -> bool {
    match (a, b) {
        (Value::Term(a), Value::Term(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => Rc::ptr_eq(a, b),
        (Value::Tuple(a), Value::Tuple(b)) => Rc::ptr_eq(a, b),
        _ => false,
    }
}

/// Calls `f` for each name in the tokens.
fn each_name(tokens: TokenStream, f: &mut dyn FnMut(&Ident)) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => each_name(group.stream(), f),
            TokenTree::Ident(name) => f(&name),
            _ => {}
        }
    }
}
