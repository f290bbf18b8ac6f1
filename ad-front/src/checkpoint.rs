//! `checkpoint(|| e)`: the value is that of `e`. A derivative computes it again and saves nothing
//! inside. The closure is lowered as usual. What depends on the values that it captures becomes the
//! body of a loop with one step (`checks::region`).
//!
//! This module must never change the value of `e`, nor the order of its panics.

use std::rc::Rc;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

use super::lower::Lower;
use super::open::DynamicPart;
use super::stack::GrowableVec;
use super::table::Call;
use super::value::{Captured, Closure, ClosureBody, EnumValue, Lowered, Value};
use crate::translation::cells::{CellValue, Store};
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::SrcRange;
use ad_ir::ir::{Node, Term};
use ad_ir::sorted::SortedSet;

/// Lowers `checkpoint(f)`.
pub(super) fn checkpoint<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (f, range) = call.arg(0)?;
    let closure = match f {
        Value::Closure(closure) if closure.source.is_some() => Rc::clone(closure),
        other => {
            let found = me.describe(other);
            return Err(me.error(range, catalogue::expected(wanted::CLOSURE, &found)));
        }
    };
    if !closure.params.is_empty() {
        return Err(me.error(range, catalogue::closure_arity(closure.params.len(), 0)));
    }
    let over = me.captured_terms(&closure);
    let (value, terms) = me.in_region(&over, |me| {
        let value = me.apply(f, &[], range)?;
        let mut terms = Vec::new();
        with_terms(me, &value, range, &mut |_, t| {
            terms.push(t);
            t
        })?;
        Ok((value, terms))
    })?;
    let mut terms = terms.into_iter();
    with_terms(me, &value, range, &mut |_, t| terms.next().unwrap_or(t))
}

/// The same value with other terms. A value that may hide a term (such as a closure, through its
/// captures) is refused.
pub(super) fn with_terms<'a>(
    me: &mut Lower<'a>,
    x: &Value<'a>,
    range: SrcRange,
    new: &mut dyn FnMut(&mut Lower<'a>, Term) -> Term,
) -> Lowered<Value<'a>> {
    let mut all = |me: &mut Lower<'a>, parts: &[Value<'a>]| -> Lowered<Rc<[Value<'a>]>> {
        parts.iter().map(|part| with_terms(me, part, range, new)).collect()
    };
    Ok(match x {
        Value::List(parts) => Value::List(all(me, parts)?),
        Value::Matrix(parts) => Value::Matrix(all(me, parts)?),
        Value::Tuple(parts) | Value::Struct(_, parts) => x.with_parts(all(me, parts)?),
        Value::Enum(sum) => {
            let payloads = sum.payloads.iter().map(|p| p.as_ref().map(|p| all(me, p)).transpose());
            let payloads = payloads.collect::<Lowered<_>>()?;
            Value::Enum(Rc::new(EnumValue { of: sum.of, tag: new(me, sum.tag), payloads }))
        }
        Value::Option(value, exists) => {
            let value = with_terms(me, value, range, new)?;
            Value::Option(value.into(), new(me, *exists))
        }
        Value::Term(t) => Value::Term(new(me, *t)),
        Value::Nested(t, levels) => Value::Nested(new(me, *t), *levels),
        Value::DynamicPart(part) => {
            let lens = part.lens.iter().map(|len| len.map(|len| new(me, len))).collect();
            Value::DynamicPart(Rc::new(DynamicPart { all: new(me, part.all), lens }))
        }
        Value::GrowableVec(list) => {
            let all = list.all.iter().map(|&t| new(me, t)).collect();
            Value::GrowableVec(Rc::new(GrowableVec { all, len: new(me, list.len), ..(**list).clone() }))
        }
        // The only reals in these values are constants.
        Value::Number(_)
        | Value::Filled(..)
        | Value::Range(_)
        | Value::None
        | Value::Axis(_)
        | Value::Unit
        | Value::Never => x.clone(),
        other => {
            let found = me.describe(other);
            return Err(me.error(range, catalogue::expected(wanted::VALUE, &found)));
        }
    })
}

impl<'a> Lower<'a> {
    /// The terms of the values that a closure captures, without those that are known when the
    /// program is compiled, sizes, and integers that depend on no real number.
    fn captured_terms(&self, closure: &Closure<'a>) -> Vec<Term> {
        let (mut found, mut seen) = (SortedSet::new(), SortedSet::new());
        self.terms_of_closure(closure, &mut found, &mut seen);
        found.into_iter().filter(|&t| self.is_captured(t)).collect()
    }

    fn is_captured(&self, t: Term) -> bool {
        let real = |t: &Term| self.g.ty(*t).has_real();
        match self.g.node(t) {
            Node::Lit(_) | Node::Size(..) => false,
            _ if real(&t) => true,
            _ => self.g.reachable(&[t]).iter().any(real),
        }
    }

    fn terms_of_closure(&self, closure: &Closure<'a>, found: &mut SortedSet<Term>, seen: &mut SortedSet<usize>) {
        let store = match &closure.captured {
            Captured::Copies(store) => store,
            Captured::References(_) => self.state.cells.store(),
        };
        let body = match closure.body {
            ClosureBody::Expr(e) => e.to_token_stream(),
            ClosureBody::Block(b) => b.to_token_stream(),
        };
        let mut stack: Vec<TokenStream> = vec![body];
        let mut names = SortedSet::new();
        while let Some(tokens) = stack.pop() {
            for token in tokens {
                match token {
                    TokenTree::Group(group) => stack.push(group.stream()),
                    TokenTree::Ident(name) => drop(names.insert(name.to_string())),
                    TokenTree::Punct(_) | TokenTree::Literal(_) => {}
                }
            }
        }
        for name in names {
            if let Some(Ok(value)) = closure.scope.get(&name) {
                self.terms_of(value, store, found, seen);
            }
        }
    }

    fn terms_of(&self, value: &Value<'a>, store: &Store<'a>, found: &mut SortedSet<Term>, seen: &mut SortedSet<usize>) {
        let mut all = |parts: &[Value<'a>]| parts.iter().for_each(|part| self.terms_of(part, store, found, seen));
        match value {
            Value::Term(t) | Value::Nested(t, _) => drop(found.insert(*t)),
            Value::List(parts) | Value::Matrix(parts) | Value::Tuple(parts) | Value::Struct(_, parts) => all(parts),
            Value::Enum(sum) => {
                sum.payloads.iter().flatten().for_each(|parts| all(parts));
                found.insert(sum.tag);
            }
            Value::Option(value, exists) => {
                self.terms_of(value, store, found, seen);
                found.insert(*exists);
            }
            Value::DynamicPart(part) => {
                found.insert(part.all);
                found.extend(part.lens.iter().flatten());
            }
            Value::GrowableVec(list) => {
                found.extend(&list.all);
                found.insert(list.len);
            }
            Value::Cell(cell) => {
                if let Some(CellValue::Value(value)) = store.held(*cell) {
                    self.terms_of(value, store, found, seen);
                }
            }
            Value::Closure(closure) if closure.source.is_some() && seen.insert(Rc::as_ptr(closure) as usize) => {
                self.terms_of_closure(closure, found, seen);
            }
            // All other captures of a closure are computed outside of the region.
            _ => {}
        }
    }
}
