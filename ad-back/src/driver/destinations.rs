//! Results that are written into the caller's memory. A result that would be a new array is
//! computed in the caller's memory; any other result is copied at the end. No destination is
//! written before the checks of entry have passed.

use std::collections::HashMap;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::plan::Guard;
use super::memory::{Storage, flat};
use super::state::Driver;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::Term;
use ad_ir::program::{Container, Declared, Output, OutputTree};

impl Driver<'_> {
    /// A new array outside of loops. It is in the caller's memory if it is a result with a
    /// destination. That memory is filled, unless the whole array is `replaced` anyway.
    pub(super) fn new_array(
        &mut self,
        t: Term,
        (fill, replaced): (TokenStream, bool),
        names: &mut Vec<Term>,
    ) -> TokenStream {
        let Some((name, out)) = self.destinations.memory.remove(&t) else {
            return self.fresh_array(t, fill, names);
        };
        self.memory.hold.insert(t, Storage::Lent);
        self.destinations.lent.insert(t, name.clone());
        let kernel = self.kernel(match (replaced, out.container == Container::Slice) {
            (false, false) => "destination",
            (false, true) => "destination_slice",
            (true, false) => "replaced",
            (true, true) => "replaced_slice",
        });
        let place = numbers(&name, &out);
        quote!(#kernel(#place, #fill))
    }

    /// The destinations of results that are copies of these arrays. A kernel makes the copies while
    /// it reads the arrays, so that one pass over memory suffices. This happens only outside of
    /// conditions and loops, where the statements of results are.
    pub(super) fn copies_beside(&mut self, t: Term, operands: [Term; 2], guard: &[Guard]) -> Vec<TokenStream> {
        let mut copies = Vec::new();
        if !guard.is_empty() || self.inside > 0 {
            return copies;
        }
        for k in 0..self.destinations.leaves.len() {
            let (out, name) = &self.destinations.leaves[k];
            let there = self.destinations.lent.get(&out.term) == Some(name) || self.destinations.copied.contains(name);
            let array = matches!(out.container, Container::NdArray | Container::Slice);
            if there || !array || !operands.contains(&out.term) {
                continue;
            }
            let (from, slice, name) = (out.term, out.container == Container::Slice, name.clone());
            let place = numbers(&name, out);
            let why = || format!("%{} (which reads what is copied)", t.index());
            if !choose(Kind::NestFusion, (from.index(), k), true, why) {
                continue;
            }
            let kernel = self.kernel(if slice { "copied_slice" } else { "copied" });
            let array = self.borrow(from, &mut Vec::new());
            copies.push(quote!(#kernel(#place, #array)));
            self.destinations.copied.insert(name);
        }
        copies
    }

    /// Copies the remaining results to their destinations.
    pub(super) fn write_out(&mut self) -> Result<TokenStream, String> {
        let leaves = std::mem::take(&mut self.destinations.leaves);
        let mut code = TokenStream::new();
        // Lent arrays are finished last, since other results are copied from them.
        let mut last = TokenStream::new();
        for (out, name) in leaves {
            if let Some(k) = self.params.iter().position(|p| p.name == name) {
                self.used_params.insert(k);
            }
            let t = out.term;
            if self.destinations.copied.contains(&name) {
                continue;
            }
            if self.destinations.lent.get(&t) == Some(&name) {
                let own = &self.names[&t];
                last.extend(quote!(#own.finish();));
                continue;
            }
            if out.container == Container::Static {
                let value = self.static_leaf(&out)?;
                code.extend(quote!(*#name = #value;));
                continue;
            }
            if self.g.rank(t) == 0 {
                let value = self.scalar_expr(t).0.tokens;
                code.extend(match out.container {
                    Container::NdArray | Container::Slice => quote!(#name.fill(#value);),
                    _ => quote!(*#name = #value;),
                });
                continue;
            }
            if !self.names.contains_key(&t) {
                return Err("a result that is not computed".into());
            }
            let from = self.borrow(t, &mut Vec::new());
            code.extend(if out.container == Container::Slice {
                let place = numbers(&name, &out);
                quote!(#place.copy_from_slice(#from);)
            } else {
                let overwrite = self.kernel("overwrite");
                quote!(#overwrite(#name, #from);)
            });
        }
        code.extend(last);
        Ok(code)
    }
}

impl Driver<'_> {
    /// Whether a destination is a part of a value that is assigned as a whole: not all of its parts
    /// have places of their own.
    pub(super) fn is_replaced(&self, name: &Ident) -> bool {
        self.declared.iter().any(|p| !p.parts.tree().has_places() && self.is_leaf_of(p, name))
    }

    /// Assigns the values that are replaced as a whole.
    pub(super) fn replaced(
        &mut self,
        gradient: &OutputTree,
        destinations: &[Ident],
        left: &mut HashMap<Term, u32>,
    ) -> Result<TokenStream, String> {
        let of_destination = |p: &&Declared| destinations.iter().any(|name| self.is_leaf_of(p, name));
        let declared: Vec<&Declared> = self.declared.iter().filter(of_destination).collect();
        let values = match gradient {
            OutputTree::Tuple(parts) if declared.len() > 1 => parts.iter().collect(),
            one => vec![one],
        };
        let mut code = TokenStream::new();
        for (p, value) in declared.into_iter().zip(values).filter(|(p, _)| !p.parts.tree().has_places()) {
            let (name, value) = (&p.name, self.output(value, left)?);
            code.extend(quote!(*#name = #value;));
        }
        Ok(code)
    }
}

/// A destination in the form that kernels take: a slice of arrays becomes a slice of numbers.
fn numbers(name: &Ident, out: &Output) -> TokenStream {
    match out.container {
        Container::Slice => flat(&quote!(#name), 1 + out.container.nested(out.lens.len()), true),
        _ => quote!(#name),
    }
}
