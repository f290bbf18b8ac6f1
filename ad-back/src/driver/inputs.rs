//! Parameters and constants as scalars and slices. This module writes no computation on elements.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};

use super::memory::Storage;
use super::state::Driver;
use ad_ir::program::{Container, Declared, Owner, ParamTree, Role, Tree};
use ad_ir::rust_types::{Apart, Lists, hidden, places, stack};

/// Whether a leaf is inside of a list.
pub(crate) fn in_list(parts: &ParamTree, leaf: usize, inside: bool) -> bool {
    match parts {
        ParamTree::Leaf(k) => inside && *k == leaf,
        ParamTree::Tuple { parts, .. } | ParamTree::Ragged(_, parts) => {
            parts.iter().any(|part| in_list(part, leaf, inside))
        }
        ParamTree::List { element, .. } => in_list(element, leaf, true),
        ParamTree::Defined { inner, .. } => in_list(inner, leaf, inside),
    }
}

impl Driver<'_> {
    /// Whether a number or array is a part of a declared parameter.
    fn is_part(&self, k: usize) -> bool {
        !self.declared.iter().any(|p| p.parts == ParamTree::Leaf(k))
    }

    /// Whether a declared parameter has a leaf of this name.
    pub(super) fn is_leaf_of(&self, declared: &Declared, name: &Ident) -> bool {
        declared.parts.tree().leaves().into_iter().any(|&k| self.params[k].name == *name)
    }

    /// Statements that bind the parts of parameters that the body reads. A parameter that it does
    /// not read gets `let _`, so that rustc does not warn.
    pub(super) fn parts_of_parameters(&self, destinations: &[Ident]) -> TokenStream {
        let mut code = TokenStream::new();
        for (n, declared) in self.declared.iter().enumerate() {
            let whole = self.used_whole && n < self.program.declared.len();
            let name = &declared.name;
            let written = destinations.iter().any(|d| self.is_leaf_of(declared, d));
            // A value of a user-defined type is taken apart once.
            let apart = Apart::of(self.program);
            let (base, tree, taken) = match declared.parts.tree() {
                Tree::Defined(of, inner) => {
                    let base = format_ident!("parts{n}_", span = Span::mixed_site());
                    (base, *inner, apart.parts_of(&of, &quote!(#name)))
                }
                tree => (name.clone(), tree, TokenStream::new()),
            };
            let krate = &self.style.krate;
            let stack = |&k: &usize| stack(krate, &self.params[k].label, self.params[k].container);
            let zero = |&k: &usize| self.style.zero(self.params[k].elem);
            let is_tag = |&k: &usize| self.params[k].role == Role::Tag;
            let places =
                places(&quote!(#base), &tree, (&apart, &Lists { stack: &stack, zero: &zero, is_tag: &is_tag }));
            let used: Vec<_> = places.iter().filter(|(k, _)| self.used_params.contains(k)).collect();
            if used.is_empty() && !whole {
                code.extend(quote!(let _ = &#name;));
            }
            if base != *name && !used.is_empty() {
                let places = hidden::places();
                code.extend(if written { quote!(let #base = #name.#places();) } else { quote!(let #base = #taken;) });
            }
            for &&(k, ref place) in used.iter().filter(|(k, _)| declared.parts != ParamTree::Leaf(*k)) {
                let p = &self.params[k];
                let name = &p.name;
                let copied = p.passing.references > 0 || p.passing.owner == Owner::Any;
                if in_list(&declared.parts, k, false) && p.container == Container::Scalar {
                    // A number of the whole list.
                    code.extend(quote!(let #name = #place;));
                    continue;
                }
                if in_list(&declared.parts, k, false) {
                    let slice = (p.container == Container::Slice).then(|| quote!([..]));
                    code.extend(quote!(let #name = &#place #slice;));
                    continue;
                }
                code.extend(match (destinations.contains(name), p.container) {
                    (true, _) if base != declared.name => quote!(let #name = #place;),
                    (true, Container::Slice) => quote!(let #name = &mut #place[..];),
                    (true, _) => quote!(let #name = &mut #place;),
                    (false, _) if copied => quote!(let #name = #place;),
                    (false, _) => quote!(let #name = &#place;),
                });
            }
        }
        code
    }

    /// Parameters as scalars, sizes and slices.
    pub(super) fn inputs(&mut self) {
        let g = self.g;
        for c in &self.program.constants {
            let Some(t) = g.input(c.input) else { continue };
            let (path, ty) = (&c.path, self.style.ty(c.elem));
            let words = path.clone().into_iter().filter_map(|tt| match tt {
                TokenTree::Ident(name) => Some(name.to_string().to_lowercase()),
                _ => None,
            });
            let words: Vec<String> = words.collect();
            let name = match &words[..] {
                [.., of, len] if len == "len" => format!("{of}_len"),
                words => words.last().cloned().unwrap_or_default(),
            };
            let name = self.taken.fresh(&name);
            self.names.insert(t, name.clone());
            if self.g.rank(t) == 0 {
                self.plain(&[], quote!(let #name: #ty = #path;), vec![t], Vec::new());
                continue;
            }
            // The constant may be an array, a slice or a reference to one.
            let whole = self.taken.fresh(&format!("{name}_whole"));
            let slice = match self.g.rank(t) {
                1 => quote!(&#whole[..]),
                rank => {
                    let flat = (1..rank).map(|_| quote!(.as_flattened()));
                    quote!(#whole[..] #(#flat)*)
                }
            };
            self.memory.hold.insert(t, Storage::Borrowed);
            let code = quote!(let #whole = &#path; let #name: &[#ty] = #slice;);
            self.plain(&[], code, vec![t], Vec::new());
        }
        let params = self.params;
        for (k, p) in params.iter().enumerate() {
            let Some(t) = p.input.and_then(|n| g.input(n)) else { continue };
            let param = &p.name;
            let reference = p.passing.references > 0 || self.is_part(k);
            self.size_owner.insert(t, k);
            if p.rank == 0 {
                let value = match p.container {
                    Container::ScalarRef => {
                        let stars = std::iter::repeat_n(quote!(*), p.passing.references);
                        quote!(#(#stars)* #param)
                    }
                    Container::NdArray => quote!(#param[()]),
                    Container::Slice | Container::Static => quote!(#param[0]),
                    Container::Scalar => {
                        self.names.insert(t, param.clone());
                        continue;
                    }
                };
                let name = self.taken.fresh(&format!("{param}_value"));
                self.names.insert(t, name.clone());
                self.plain(&[], quote!(let #name = #value;), vec![t], Vec::new());
                continue;
            }
            let borrowed = if reference { quote!(#param) } else { quote!(&#param) };
            let nested = p.container.nested(p.lens.len());
            if nested > 0 {
                let name = self.taken.fresh(&format!("{param}_data"));
                let flat = (0..nested).map(|_| quote!(.as_flattened()));
                self.names.insert(t, name.clone());
                self.memory.hold.insert(t, Storage::Borrowed);
                self.plain(&[], quote!(let #name = #param #(#flat)*;), vec![t], Vec::new());
                continue;
            }
            if matches!(p.container, Container::Slice | Container::Static) {
                self.names.insert(t, param.clone());
                let hold = if p.input.is_some_and(|k| self.onto.contains(&k)) {
                    Storage::Row
                } else {
                    Storage::Parameter(reference)
                };
                self.memory.hold.insert(t, hold);
                continue;
            }
            let name = self.taken.fresh(&format!("{param}_data"));
            let contiguous = self.kernel("contiguous");
            self.names.insert(t, name.clone());
            self.memory.hold.insert(t, Storage::Contiguous);
            self.plain(&[], quote!(let #name = #contiguous(#borrowed);), vec![t], Vec::new());
        }
    }
}
