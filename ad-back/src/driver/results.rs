//! The returned value of a routine, assembled from its outputs. This module writes no computation.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use quote::quote;

use super::memory::{Storage, flat};
use super::state::Driver;
use ad_ir::analysis::zeros::is_blank;
use ad_ir::ir::{Node, Term};
use ad_ir::program::{Container, Output, OutputTree};
use ad_ir::rust_types::{made, present, zipped};

impl Driver<'_> {
    /// A result that is present.
    pub(super) fn present(&self, value: TokenStream) -> TokenStream {
        match self.fallible {
            Some(fallible) => present(fallible, &value),
            None => value,
        }
    }

    pub(super) fn output(&mut self, tree: &OutputTree, left: &mut HashMap<Term, u32>) -> Result<TokenStream, String> {
        match tree {
            OutputTree::Leaf(out) => self.leaf(out, left),
            OutputTree::List(of, element) => {
                let krate = self.style.krate.clone();
                let leaves = element.leaves().into_iter().map(|out| {
                    let all = self.leaf(out, left)?;
                    let arrays = out.container == Container::NdArray;
                    Ok::<_, String>(if arrays { quote!(#krate::runtime::elements(#all)) } else { all })
                });
                let mut leaves = leaves.collect::<Result<Vec<_>, _>>()?.into_iter();
                Ok(zipped(&self.style.krate, of, &element.map(&mut |_| leaves.next().unwrap_or_default())))
            }
            // Only a list has such arrays.
            OutputTree::Ragged(..) => Err("arrays of several shapes outside of a list".into()),
            OutputTree::Defined(of, inner) => Ok(made(of, &self.output(inner, left)?)),
            OutputTree::Tuple(parts) => {
                let parts: Vec<TokenStream> = parts.iter().map(|p| self.output(p, left)).collect::<Result<_, _>>()?;
                Ok(match &*parts {
                    [one] => quote!((#one,)),
                    _ => quote!((#(#parts),*)),
                })
            }
        }
    }

    /// Leaves the results that are arrays in the memory of the inputs that they were added to, and
    /// returns the numbers.
    pub(super) fn left_in_callers_arrays(
        &mut self,
        result: &OutputTree,
        left: &mut HashMap<Term, u32>,
    ) -> Result<TokenStream, String> {
        let (arrays, numbers): (Vec<&Output>, Vec<&Output>) =
            result.leaves().into_iter().partition(|out| self.g.rank(out.term) > 0);
        let mut code = TokenStream::new();
        for (&k, out) in self.onto.iter().zip(arrays) {
            let (Some(now), t) = (self.g.input(k), out.term) else {
                return Err("a result without an array of the caller".into());
            };
            if t != now && self.plan.in_place.get(&t) != Some(&now) {
                let (to, from) = (&self.names[&now], self.borrow(t, &mut Vec::new()));
                // The result may be the caller's array itself, in one of its cases.
                code.extend(match self.memory.hold.get(&t) {
                    Some(Storage::Borrowed) => quote!(let left_ = #from.to_vec(); #to.copy_from_slice(&left_);),
                    _ => quote!(#to.copy_from_slice(#from);),
                });
            }
        }
        if !numbers.is_empty() {
            let all = OutputTree::of_several(numbers.into_iter().cloned().map(OutputTree::Leaf).collect());
            code.extend(self.output(&all, left)?);
        }
        Ok(code)
    }

    /// The results as a record among these records.
    pub(super) fn recorded(&mut self, tree: &OutputTree, records: &TokenStream) -> Result<TokenStream, String> {
        let mut words = Vec::new();
        for out in tree.leaves() {
            let t = out.term;
            let (krate, ty) = (self.style.krate.clone(), self.style.ty(self.g.elem(t)));
            words.push(if self.g.rank(t) == 0 {
                let value = self.scalar_expr(t).0.tokens;
                quote!(<#ty as #krate::runtime::Word>::to_word(#value))
            } else if out.container == Container::Static {
                let array = self.static_leaf(out)?;
                let flat = (1..out.lens.len()).map(|_| quote!(.as_flattened()));
                let array = if out.lens.len() < 2 { quote!(&#array) } else { quote!(#array #(#flat)*) };
                quote!(#records.keep::<#ty>(#array))
            } else {
                self.kept(t, records)
            });
        }
        Ok(quote!(#records.record([#(#words),*])))
    }

    /// An array that a record saves. An array that is zeros in an arm is not allocated there: the
    /// innermost calls of a function that calls itself, which are most of them, have nothing to
    /// save.
    fn kept(&mut self, t: Term, records: &TokenStream) -> TokenStream {
        let ty = self.style.ty(self.g.elem(t));
        let Some((cond, holds, arm)) = self.zeros_unless(t) else {
            let array = self.borrow(t, &mut Vec::new());
            return quote!(#records.keep::<#ty>(#array));
        };
        let inner = self.kept(arm, records);
        let (cond, n) = (self.scalar_expr(cond).0.tokens, self.product(self.g.shape(t), &mut Vec::new()).tokens);
        let zeros = quote!(#records.keep_zeros::<#ty>(#n));
        if holds { quote!(if #cond { #inner } else { #zeros }) } else { quote!(if #cond { #zeros } else { #inner }) }
    }

    /// For an array that is zeros unless a condition has a value: these, and the array then.
    fn zeros_unless(&self, t: Term) -> Option<(Term, bool, Term)> {
        let Node::Cond { cond, then, other } = *self.g.node(t) else { return None };
        let (holds, zeros, arm) = if is_blank(self.g, other) { (true, other, then) } else { (false, then, other) };
        (is_blank(self.g, zeros) && self.names.contains_key(&arm)).then_some((cond, holds, arm))
    }

    /// The terms that a result is assembled from, if it is not one stored array.
    pub(super) fn result_parts(&self, out: &Output) -> Option<Vec<Term>> {
        if self.style.records.is_none() || out.container == Container::Static || self.g.rank(out.term) == 0 {
            return self.literal(out);
        }
        let (mut parts, mut t) = (Vec::new(), out.term);
        while let Some((cond, _, arm)) = self.zeros_unless(t) {
            parts.push(cond);
            t = arm;
        }
        parts.push(t);
        Some(parts)
    }

    pub(super) fn leaf(&mut self, out: &Output, left: &mut HashMap<Term, u32>) -> Result<TokenStream, String> {
        let (g, t) = (self.g, out.term);
        let krate = &self.style.krate;
        if g.rank(t) == 0 {
            let value = self.scalar_expr(t).0.tokens;
            return Ok(match out.container {
                Container::NdArray => quote!(#krate::ndarray::arr0(#value)),
                Container::Slice => quote!(#krate::runtime::alloc::vec![#value]),
                _ => value,
            });
        }
        if out.container == Container::Static {
            return self.static_leaf(out);
        }
        let again = left.get_mut(&t).is_some_and(|n| {
            *n -= 1;
            *n > 0
        });
        let name = self.names.get(&t).ok_or("a result that is not computed")?;
        let stored = match self.memory.hold.get(&t) {
            Some(Storage::Stack(depth)) => flat(&quote!(#name), *depth, false),
            _ => quote!(#name),
        };
        let grouped = out.container.nested(out.lens.len());
        if out.container == Container::Slice && grouped > 0 {
            // The sizes are those of the type that is returned.
            let steps = (0..grouped).map(|_| quote!(.as_chunks().0));
            return Ok(quote!(#stored #(#steps)* .to_vec()));
        }
        let data = match self.memory.hold.get(&t) {
            Some(Storage::Owned) if again || self.memory.lent.contains(&t) => quote!(#name.clone()),
            Some(Storage::Owned) => quote!(#name),
            _ => quote!(#stored.to_vec()),
        };
        if out.container == Container::Slice {
            return Ok(data);
        }
        let assemble = self.kernel("assemble");
        let sizes: Vec<TokenStream> = g.shape(t).iter().map(|&n| self.scalar_expr(n).0.tokens).collect();
        Ok(quote!(#assemble([#(#sizes),*], #data)))
    }
}
