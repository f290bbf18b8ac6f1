//! Checks, and statements of closed scalars. This module must never move a scalar over a check.

use std::collections::HashMap;

use proc_macro2::{Ident, Literal as Number, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use super::super::block::{Join, Statement};
use super::super::items::Item;
use super::super::kernel::Kernel;
use super::super::nest::{Inline, Nest, NestRange};
use super::super::notes::Note;
use super::super::plan::{Guard, Work};
use super::super::rust::{Expr, prec, typed};
use super::super::signature::call_of_function;
use super::memory::{Storage, flat};
use super::state::Driver;
use ad_ir::diag::SrcRange;
use ad_ir::ir::{Node, Term};
use ad_ir::prim::Prim;
use ad_ir::program::{Container, FallibleKind, Phase};

/// Expressions are written inline up to this size.
const MAX_INLINE_SIZE: u32 = 6;

/// A token with another span.
fn at(mut token: TokenTree, span: Span) -> TokenTree {
    token.set_span(span);
    token
}

impl Driver<'_> {
    /// Writes a check. If it fails, it panics at the user's expression: the panic reports the span
    /// as its location. Values that exist only in a loop are not kept for the message. If the
    /// message needs them, the user's function is called, which panics with them.
    pub(super) fn check(&mut self, k: usize) {
        let check = &self.checks[k];
        if check.phase == Phase::Absent {
            return self.leave_without_result(check.ok);
        }
        let (ok, mut names) = self.scalar_expr(check.ok);
        let place = self.program.places.get(check.loc);
        let escape = |s: &str| s.replace('{', "{{").replace('}', "}}");
        let said = check.format.clone().unwrap_or_else(|| escape(&check.message));
        let mut message = format!("{}: {said}", self.program.name);
        if let Some(place) = place.filter(|p| !p.text.is_empty() && check.format.is_none()) {
            message.push_str(&format!(": `{}`", escape(&place.text)));
        }
        let mut values = Vec::new();
        // The message itself has placeholders for the values without a name. The others are
        // appended.
        let (within, appended): (Vec<_>, Vec<_>) = check.shown.iter().partition(|(what, _)| what.is_empty());
        for (_, t) in within {
            values.push(self.argument(*t, &mut names));
        }
        for (n, (what, t)) in appended.iter().enumerate() {
            message.push_str(if n == 0 { " (" } else { ", " });
            message.push_str(&format!("{} = {{}}", escape(what)));
            values.push(self.argument(*t, &mut names));
        }
        if !appended.is_empty() {
            message.push(')');
        }
        let range = place.map_or_else(SrcRange::call_site, |place| place.range);
        let function = call_of_function(self.program, self.declared).filter(|_| check.incomplete);
        let code = match function {
            Some(function) => {
                self.used_whole = true;
                let own = check.format.is_some();
                let panic = Ident::new(if own { "panic_of" } else { "panic_because" }, range.first);
                // rustc takes the start of the path as the location of a call.
                let krate: TokenStream = self.program.krate.clone().into_iter().map(|t| at(t, range.first)).collect();
                let call = quote_spanned!(range.first=> #krate::runtime::reached::#panic);
                let ok = ok.at(prec::PREFIX);
                let failed = if check.debug { quote!(::core::cfg!(debug_assertions) && !#ok) } else { quote!(!#ok) };
                let rest = quote_spanned!(range.last=> (&|| { let _value = #function; }, ::core::format_args!(#message #(, #values)*)));
                quote!(if #failed { #call #rest })
            }
            None => {
                let name = Ident::new(if check.debug { "debug_assert" } else { "assert" }, range.first);
                let ok = ok.tokens;
                let assert = quote_spanned!(range.first=> ::core::#name!);
                let rest = quote_spanned!(range.last=> (#ok, #message #(, #values)*););
                quote!(#assert #rest)
            }
        };
        self.add(Statement { code: code.into(), names, effect: true, ..Statement::default() });
    }

    /// Returns without a result unless the condition holds. The error of a `Result` is the
    /// function's own, so the function is called.
    fn leave_without_result(&mut self, present: Term) {
        let Some(fallible) = self.fallible else { return };
        let (present, names) = self.scalar_expr(present);
        let absent = match fallible.kind {
            FallibleKind::Option => quote!(::core::option::Option::None),
            FallibleKind::Result => {
                let (call, krate) = (call_of_function(self.program, self.declared), &self.program.krate);
                self.used_whole = true;
                quote!(::core::result::Result::Err(#krate::runtime::reached::error_of(#call)))
            }
        };
        let present = present.at(prec::PREFIX);
        let code = quote!(if !#present { return #absent; });
        self.add(Statement { code: code.into(), names, effect: true, ..Statement::default() });
    }

    /// Whether the value can be written where it is used. It must be used once, in a scalar with
    /// the same guard or in an arm whose condition is its guard.
    pub(super) fn stays_inline(&self, t: Term, e: &Expr, guard: &[Guard]) -> bool {
        let plan = self.plan;
        if plan.uses.get(&t) != Some(&1)
            || self.hints.contains_key(&t)
            || plan.results.contains(&t)
            || e.size > MAX_INLINE_SIZE
        {
            return false;
        }
        let Some([reader]) = plan.readers.get(&t).map(|r| &**r) else { return false };
        let step = &plan.steps[*reader];
        let Work::Scalar(r) = step.work else { return false };
        match self.g.node(r) {
            Node::Prim(prim, _) if prim.is_elementwise() => step.guard == guard,
            Node::Cond { cond, then, .. } if *cond != t => {
                let mut inside = step.guard.clone();
                inside.push((*cond, *then == t));
                inside.sort_unstable();
                let mut own = guard.to_vec();
                own.sort_unstable();
                inside == own
            }
            _ => false,
        }
    }

    pub(super) fn scalar(&mut self, t: Term, guard: &[Guard]) -> Result<(), String> {
        let g = self.g;
        let mut names = Vec::new();
        // The statements before the value in its block, if there are any.
        let (before, e) = match g.node(t) {
            Node::Input(_) if self.names.contains_key(&t) => return Ok(()),
            Node::Input(_) => return Err("an input without a parameter".into()),
            Node::Size(k, axis) => (None, self.size_of_input(t, *k, *axis)?),
            Node::Cond { cond, then, other } if self.taken_branch(*cond, *then, *other).is_some() => {
                let arm = self.taken_branch(*cond, *then, *other).unwrap_or(t);
                let (e, named) = self.scalar_expr(arm);
                names.extend(named);
                (None, typed(&[&e]).map_or(e, Expr::atom))
            }
            Node::Cond { cond, then, other } => {
                let [(c, cond_names), (a, then_names), (b, other_names)] =
                    [*cond, *then, *other].map(|t| self.scalar_expr(t));
                match self.style.indicator(self.g.elem(t), &c, &a, &b) {
                    Some(e) => {
                        names.extend(cond_names);
                        (None, e)
                    }
                    None => {
                        // A condition is named wherever a guard may mention it.
                        let first = typed(&[&a, &b]).unwrap_or(a.tokens);
                        let join = Join { cond: *cond, then: first, other: b.tokens, then_names, other_names };
                        self.name(t);
                        let join = Some(join);
                        self.add(Statement { guard: guard.to_vec(), join, defines: vec![t], ..Statement::default() });
                        return Ok(());
                    }
                }
            }
            Node::Prim(Prim::Select, args) => {
                let parts: Vec<Expr> = args
                    .iter()
                    .map(|&c| {
                        let (e, n) = self.scalar_expr(c);
                        names.extend(n);
                        e
                    })
                    .collect();
                let e = self.style.indicator(g.elem(t), &parts[0], &parts[1], &parts[2]).unwrap_or_else(|| {
                    let first = typed(&[&parts[1], &parts[2]]).unwrap_or_else(|| parts[1].tokens.clone());
                    let (c, a, b) = (&parts[0].tokens, first, &parts[2].tokens);
                    Expr::new(quote!(if #c { #a } else { #b }), prec::IF, MAX_INLINE_SIZE + 1)
                });
                (None, e)
            }
            Node::Prim(prim, args) if prim.is_elementwise() => {
                let mut values = Vec::new();
                for &c in &**args {
                    let (e, n) = self.scalar_expr(c);
                    names.extend(n);
                    values.push(e);
                }
                let refs: Vec<&Expr> = values.iter().collect();
                let second = args.get(1).and_then(|&c| g.int_value(c));
                self.note(Note::Scalar(prim.name()));
                (None, self.style.prim(prim, &refs, g.elem(args[0]), second)?)
            }
            _ => self.scalar_by_nest(t, &mut names)?,
        };
        if before.is_none() && self.stays_inline(t, &e, guard) {
            self.inlined.insert(t, (e, names));
            return Ok(());
        }
        self.name(t);
        // A literal gets its type here, since nothing else determines the type of a name that is
        // bound to it.
        let e = typed(&[&e]).unwrap_or(e.tokens);
        let value = Some(match before {
            None => quote!(#e),
            Some(before) => quote!({ #before #e }),
        });
        let guard = guard.to_vec();
        let defines = vec![t];
        self.add(Statement { guard, value, defines, names, ..Statement::default() });
        Ok(())
    }

    /// The size of an input, as an expression of its parameter.
    fn size_of_input(&mut self, t: Term, k: u32, axis: u8) -> Result<Expr, String> {
        let owner = self.params.iter().position(|p| p.input == Some(k));
        let Some(owner) = owner else { return Err("a size of an input without a parameter".into()) };
        self.size_owner.insert(t, owner);
        let p = &self.params[owner];
        let name = &p.name;
        let e = match p.container {
            Container::Slice => quote!(#name.len()),
            _ => {
                let axis = Number::u8_unsuffixed(axis);
                quote!(#name.shape()[#axis])
            }
        };
        Ok(Expr::new(e, prec::ATOM, MAX_INLINE_SIZE + 1))
    }

    /// A scalar that a nest without loops computes: statements, if there are any, and the value.
    fn scalar_by_nest(&mut self, t: Term, names: &mut Vec<Term>) -> Result<(Option<TokenStream>, Expr), String> {
        let mut kernel = Kernel::new(self.g, self.plan, self.hints, Vec::new(), []);
        let value = kernel.definition(t, &[])?;
        let items = [Item::Store { out: Some(t), value, read_under: Box::new([]) }];
        self.name(t);
        let Inline { mut before, value, named, functions } = Nest::new(
            self.g,
            self.style,
            &self.names,
            &self.known,
            &kernel,
            &items,
            (&HashMap::new(), &NestRange::Whole, None),
        )
        .inline(value)?;
        // An element is read at its position in the whole array, so the nested array is
        // flattened.
        for t in &named {
            if let Some(Storage::Stack(depth @ 2..)) = self.memory.hold.get(t) {
                let name = &self.names[t];
                let rows = flat(&quote!(#name), *depth, false);
                before = Some(quote!(let #name = #rows; #before));
            }
        }
        names.extend(named);
        for (name, times) in functions {
            (0..times).for_each(|_| self.note(Note::Scalar(name.into())));
        }
        Ok((before, Expr { size: MAX_INLINE_SIZE + 1, ..value }))
    }
}
