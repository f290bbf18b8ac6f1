//! The returned value of a routine, assembled from its outputs. This module writes no computation.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use quote::quote;

use super::memory::{Hold, flat};
use super::state::Driver;
use ad_ir::ir::Term;
use ad_ir::program::{Container, Output, OutputTree};
use ad_ir::rust_types::{made, zipped};

impl Driver<'_> {
    pub(super) fn output(&mut self, tree: &OutputTree, left: &mut HashMap<Term, u32>) -> Result<TokenStream, String> {
        match tree {
            OutputTree::Leaf(out) => self.leaf(out, left),
            OutputTree::List(element) => {
                let leaves = element.leaves().into_iter().map(|out| self.leaf(out, left));
                let mut leaves = leaves.collect::<Result<Vec<_>, _>>()?.into_iter();
                Ok(zipped(&element.map(&mut |_| leaves.next().unwrap_or_default())))
            }
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

    pub(super) fn leaf(&mut self, out: &Output, left: &mut HashMap<Term, u32>) -> Result<TokenStream, String> {
        let (g, t) = (self.g, out.term);
        let krate = &self.style.krate;
        if g.rank(t) == 0 {
            let value = self.scalar_expr(t).0.tokens;
            return Ok(match out.container {
                Container::NdArray => quote!(#krate::ndarray::arr0(#value)),
                Container::Slice => quote!(::std::vec![#value]),
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
            Some(Hold::Stack(depth)) => flat(&quote!(#name), *depth, false),
            _ => quote!(#name),
        };
        let grouped = out.container.nested(out.lens.len());
        if out.container == Container::Slice && grouped > 0 {
            // The sizes are those of the type that is returned.
            let steps = (0..grouped).map(|_| quote!(.as_chunks().0));
            return Ok(quote!(#stored #(#steps)* .to_vec()));
        }
        let data = match self.memory.hold.get(&t) {
            Some(Hold::Owned) if again || self.memory.lent.contains(&t) => quote!(#name.clone()),
            Some(Hold::Owned) => quote!(#name),
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
