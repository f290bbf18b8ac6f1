//! Arrays of static size: arrays that are `[F; N]` locals instead of a `Vec`, and results that are
//! returned as such. An array of sizes that the macro knows is one flat array. An array whose sizes
//! are const parameters, on which Rust has no arithmetic, is an array of arrays. Except for small
//! arrays of literal size, the stack holds only arrays of sizes that the user's own types have.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::super::notes::Note;
use super::memory::{StaticLen, Storage, flat};
use super::state::Driver;
use ad_ir::ir::{Node, Term};
use ad_ir::prim::Prim;
use ad_ir::program::{Container, Output};
use ad_ir::rust_types::static_type;

impl Driver<'_> {
    /// The sizes of the local array that holds `t`; `None` if it is a `Vec`.
    pub(super) fn stack_lens(&self, t: Term) -> Option<Vec<StaticLen>> {
        if self.memory.budget.heap.contains(&t) {
            return None;
        }
        let (mut lens, mut elements, mut named) = (Vec::new(), 1_i128, 0);
        for &n in self.g.shape(t) {
            if let Some(n) = self.g.int_value(n) {
                elements = elements.saturating_mul(n);
                lens.push(StaticLen::Number(n));
                continue;
            }
            let Node::Input(k) = self.g.node(n) else { return None };
            let constant = self.program.constants.iter().find(|c| c.input == *k)?;
            named += 1;
            lens.push(StaticLen::declared(&constant.path));
        }
        if elements > self.memory.budget.elements || named > self.memory.budget.named {
            return None;
        }
        if named == 0 {
            return Some(vec![StaticLen::Number(elements)]);
        }
        Some(lens)
    }

    /// A new array for `t`, filled with a value. It sets the kind of memory of `t`.
    pub(super) fn fresh_array(&mut self, t: Term, fill: TokenStream, names: &mut Vec<Term>) -> TokenStream {
        if self.inside > 0 && self.stack_lens(t).is_none() {
            self.note(Note::MadeInStep);
        }
        self.array_before_loops(t, fill, names)
    }

    /// Like [`Driver::fresh_array`], for an array that is declared before the loops that are being
    /// written.
    pub(super) fn array_before_loops(&mut self, t: Term, fill: TokenStream, names: &mut Vec<Term>) -> TokenStream {
        match self.stack_lens(t) {
            Some(lens) => {
                let array = static_type(fill, &lens);
                self.hold_on_stack(t, lens);
                array
            }
            None => {
                let n = self.product(self.g.shape(t), names).tokens;
                self.memory.hold.insert(t, Storage::Owned);
                self.record_allocation(t);
                self.note(Note::Made);
                self.heap_filled(&fill, &n)
            }
        }
    }

    fn hold_on_stack(&mut self, t: Term, lens: Vec<StaticLen>) {
        self.memory.hold.insert(t, Storage::Stack(lens.len()));
        self.memory.storage.insert(t, lens);
    }

    /// `t` takes over the memory of `of`.
    pub(super) fn take_over(&mut self, t: Term, of: Term) {
        self.memory.reused.insert(of);
        match self.memory.storage.get(&of).cloned() {
            Some(lens) => self.hold_on_stack(t, lens),
            None => {
                self.memory.hold.insert(t, Storage::Owned);
            }
        }
    }

    /// A copy of `of` as `t`. It sets the kind of memory of `t`.
    pub(super) fn copy_as(&mut self, t: Term, of: Term) -> TokenStream {
        self.note(Note::Copied);
        if self.inside > 0 && self.stack_lens(t).is_none() {
            self.note(Note::MadeInStep);
        }
        let name = &self.names[&of];
        let Some(lens) = self.stack_lens(t) else {
            let copy = match self.memory.hold.get(&of) {
                Some(Storage::Owned) if !self.style.workspace => quote!(#name.clone()),
                Some(Storage::Stack(depth)) => self.heap_copied(&flat(&quote!(#name), *depth, false)),
                _ => self.heap_copied(&quote!(#name)),
            };
            self.memory.hold.insert(t, Storage::Owned);
            return copy;
        };
        let copy = self.as_static(of, &lens);
        self.hold_on_stack(t, lens);
        copy
    }

    /// A list of arrays as the rows of `t`, if `t` is on the stack.
    pub(super) fn rows_on_stack(&mut self, t: Term, parts: &[TokenStream]) -> Option<TokenStream> {
        let lens = self.stack_lens(t)?;
        let array = static_type(self.style.zero(self.g.elem(t)), &lens);
        let name = self.name(t);
        let flat = flat(&quote!(#name), lens.len(), true);
        let mut names = Vec::new();
        let n = self.product(&self.g.shape(t)[1..], &mut names).tokens;
        self.hold_on_stack(t, lens);
        let (row, part) = (Ident::new("row_", Span::mixed_site()), Ident::new("part_", Span::mixed_site()));
        Some(quote! {
            let mut #name = #array;
            for (#row, #part) in #flat.chunks_exact_mut(usize::max(#n, 1)).zip([#(#parts),*]) {
                #row.copy_from_slice(#part);
            }
        })
    }

    /// The array of scalars `t`, if that is on the stack.
    pub(super) fn scalars_on_stack(&mut self, t: Term, parts: &[TokenStream]) -> Option<TokenStream> {
        let lens = self.stack_lens(t)?;
        self.hold_on_stack(t, lens);
        Some(quote!([#(#parts),*]))
    }

    /// A stored array as a `&mut [F]` argument.
    pub(super) fn borrow_mut(&self, t: Term) -> TokenStream {
        let name = &self.names[&t];
        match self.memory.hold.get(&t) {
            Some(Storage::Stack(depth)) if *depth > 1 => flat(&quote!(#name), *depth, true),
            _ => quote!(&mut #name),
        }
    }

    /// The scalars of a result in row-major order, if the result is returned as an array literal.
    pub(super) fn literal(&self, out: &Output) -> Option<Vec<Term>> {
        if out.container != Container::Static {
            return None;
        }
        let mut t = out.term;
        if let Node::Prim(Prim::Reshape | Prim::Recast, args) = self.g.node(t) {
            t = args[0];
        }
        match self.g.node(t) {
            Node::Prim(Prim::Stack, args) if self.g.rank(t) == 1 => Some(args.to_vec()),
            _ => None,
        }
    }

    /// A result as an array of the declared type.
    pub(super) fn static_leaf(&self, out: &Output) -> Result<TokenStream, String> {
        if let Some(parts) = self.literal(out) {
            let sizes: Option<Vec<usize>> =
                self.g.shape(out.term).iter().map(|&n| usize::try_from(self.g.int_value(n)?).ok()).collect();
            if let Some(sizes) = sizes {
                let mut parts: Vec<TokenStream> = parts.iter().map(|&c| self.scalar_expr(c).0.tokens).collect();
                for &n in sizes[1..].iter().rev().filter(|&&n| n > 0) {
                    parts = parts.chunks(n).map(|row| quote!([#(#row),*])).collect();
                }
                return Ok(quote!([#(#parts),*]));
            }
        }
        if !self.names.contains_key(&out.term) {
            return Err("a result that is not computed".into());
        }
        let lens: Vec<StaticLen> = out.lens.iter().map(StaticLen::declared).collect();
        Ok(self.as_static(out.term, &lens))
    }

    /// A stored array as an array of these sizes.
    fn as_static(&self, of: Term, lens: &[StaticLen]) -> TokenStream {
        let name = &self.names[&of];
        if self.memory.storage.get(&of).is_some_and(|own| own == lens) {
            return quote!(#name);
        }
        let array = static_type(self.style.zero(self.g.elem(of)), lens);
        let copy = Ident::new("copy_", Span::mixed_site());
        let (to, from) = (flat(&quote!(#copy), lens.len(), true), self.borrow(of, &mut Vec::new()));
        quote!({ let mut #copy = #array; #to.copy_from_slice(#from); #copy })
    }
}
