//! A nest in two parts: its interior without index tests, and both ends with them (`split`). No
//! element is skipped, even if the interior is empty.

use std::collections::HashMap;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::super::code::Code;
use super::super::items::Item;
use super::super::kernel::{Id, Kernel, Op};
use super::super::nest::{Arg, Nest, NestRange};
use super::super::notes::{NestSummary, Note};
use super::super::plan::Guard;
use super::super::rust::{Expr, prec};
use super::super::split::{Interior, Prefix, prefix};
use super::state::Driver;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Lit, Term};
use ad_ir::prim::{IntOp, Prim};

/// A scatter along the rows of its result.
pub(super) struct RowScatter {
    pub(super) items: Vec<Item>,
    /// The number of elements of a row that are in range, and the terms that this number mentions.
    /// `None` if all elements are in range.
    pub(super) within: Option<(TokenStream, Vec<Term>)>,
}

impl Driver<'_> {
    /// Writes a scatter along the last axis without a test in the innermost loop: only the part of
    /// a row that is in range is added to or written. If the nest is a prefix, its number of
    /// elements is given, and a bound of that number.
    pub(super) fn along_rows(
        &self,
        kernel: &Kernel<'_>,
        items: &[Item],
        prefix: Option<(&TokenStream, Option<Term>)>,
    ) -> Option<RowScatter> {
        let [Item::Scatter { out, put, ix, value, .. }] = items else { return None };
        let inner = kernel.loops.len().checked_sub(1)?;
        let op = |id: Id| &kernel.node(id).op;
        let is_inner = |id: Id| matches!(op(id), Op::Var(v) if usize::from(*v) == inner);
        let closed = |id: Id| match op(id) {
            Op::Scalar(t) => Some(*t),
            Op::Lit(Lit::Int(_, n)) => self.g.find_usize(usize::try_from(*n).ok()?),
            _ => None,
        };
        let (&last, outer) = ix.split_last()?;
        let start = match op(last) {
            _ if is_inner(last) => None,
            Op::Prim(Prim::Int(IntOp::Add), args) => match **args {
                [a, b] if is_inner(a) => Some(closed(b)?),
                [a, b] if is_inner(b) => Some(closed(a)?),
                _ => return None,
            },
            _ => return None,
        };
        let sizes = self.g.shape(*out);
        let (mut named, mut inside) = (Vec::new(), None::<TokenStream>);
        // Whether each iteration of the outer loops has a separate row, which may be out of range.
        let mut tested = false;
        for (&i, &size) in outer.iter().zip(sizes) {
            match op(i) {
                Op::Var(v) if self.known.fits(None, Some(kernel.loops[usize::from(*v)]), size) && !is_inner(i) => {}
                _ if (1..=inner).contains(&usize::from(kernel.node(i).level)) => tested = true,
                _ => {
                    let i = closed(i)?;
                    if self.known.below(i, size) {
                        continue;
                    }
                    let ((i, more), (size, most)) = (self.scalar_expr(i), self.scalar_expr(size));
                    named.extend(more.into_iter().chain(most));
                    let (i, size) = (i.at(prec::COMPARE + 1), size.tokens);
                    inside = Some(inside.map_or(quote!(#i < #size), |before| quote!(#before && #i < #size)));
                }
            }
        }
        let items =
            vec![Item::Block { out: *out, put: *put, ix: ix.clone(), value: *value, tested, onto_zeros: false }];
        let (&size, len) = (sizes.last()?, kernel.loops[inner]);
        let lens = [Some(len), prefix.and_then(|p| p.1)];
        if inside.is_none() && lens.into_iter().flatten().any(|len| self.known.fits(start, Some(len), size)) {
            return Some(RowScatter { items, within: None });
        }
        let (len, more) = match prefix {
            Some((prefix, _)) => (Expr::atom(prefix.clone()), Vec::new()),
            None => self.scalar_expr(len),
        };
        let (size, most) = self.scalar_expr(size);
        named.extend(more.into_iter().chain(most));
        let size = match start {
            Some(start) if self.g.int_value(start) != Some(0) => {
                let (start, more) = self.scalar_expr(start);
                named.extend(more);
                let (size, start) = (size.receiver(), start.tokens);
                quote!(#size.saturating_sub(#start))
            }
            _ => size.tokens,
        };
        let len = len.receiver();
        let length = quote!(#len.min(#size));
        let length = inside.map_or(length.clone(), |c| quote!(if #c { #length } else { 0 }));
        Some(RowScatter { items, within: Some((length, named)) })
    }

    /// A prefix of a nest. Outside of the prefix the nest only stores zeros. `None` if the memory
    /// there is not zero and cannot be filled with zeros.
    pub(super) fn prefix<'k>(&self, kernel: &Kernel<'k>, items: &[Item]) -> Option<Prefix<'k>> {
        let blank = |t: Term| self.g.rank(t) == 1 || self.memory.fresh.contains(&t);
        let about = kernel.loops.last().map_or(0, |n| n.index());
        let why = || "to the range in which an index test holds".into();
        let found = prefix(kernel, items, false)?;
        let fits = items.iter().all(|item| match item {
            Item::Store { out: Some(t), read_under, .. } => blank(*t) || read_under.contains(&found.test),
            _ => true,
        });
        (fits && choose(Kind::LoopBounds, (about, 2 + kernel.nodes.len()), true, why)).then_some(found)
    }

    /// A prefix of each row of a nest. Outside of it the nest only stores zeros. `None` if the
    /// memory there is not zero already, unless nothing reads it.
    pub(super) fn ragged<'k>(&self, kernel: &Kernel<'k>, items: &[Item]) -> Option<Prefix<'k>> {
        let about = kernel.loops.last().map_or(0, |n| n.index());
        let why = || "of each row to the range in which an index test holds".into();
        let found = prefix(kernel, items, true)?;
        let fits = items.iter().all(|item| match item {
            Item::Store { out: Some(t), read_under, .. } => {
                self.memory.fresh.contains(t) || read_under.contains(&found.test)
            }
            _ => true,
        });
        (fits && choose(Kind::LoopBounds, (about, 3 + kernel.nodes.len()), true, why)).then_some(found)
    }

    /// The number of elements of the prefix.
    pub(super) fn prefix_length(
        &mut self,
        prefix: &Prefix<'_>,
        names: &mut Vec<Term>,
        code: &mut Code,
    ) -> Result<TokenStream, String> {
        let (size, named) = self.scalar_expr(*prefix.kernel.loops.last().ok_or("a nest without loops")?);
        names.extend(named);
        let (end, named) = self.scalar_expr(prefix.end().ok_or("a bound that is not a scalar")?);
        names.extend(named);
        let (size, end) = (size.receiver(), end.tokens);
        let inside = self.taken.fresh("inside");
        code.push(quote!(let #inside = #size.min(#end);));
        Ok(quote!(#inside))
    }

    /// Fills the elements after the prefix with zeros, where they are read.
    pub(super) fn zeros_after(&self, prefix: &Prefix<'_>, inside: &TokenStream) -> Vec<TokenStream> {
        let stored = prefix.items.iter().filter_map(|item| match *item {
            Item::Store { out: Some(t), .. } if !self.memory.fresh.contains(&t) && !prefix.is_read_within(t) => Some(t),
            _ => None,
        });
        stored
            .map(|t| {
                let (all, zero) = (self.slice_mut(t, &self.names[&t]), self.style.zero(self.g.elem(t)));
                quote!(#all[#inside..].fill(#zero);)
            })
            .collect()
    }

    /// The number of elements of the interior: the minimum of the bounds, minus its start.
    fn interior_length(
        &mut self,
        kernel: &Kernel<'_>,
        interior: &Interior<'_>,
        names: &mut Vec<Term>,
    ) -> Result<TokenStream, String> {
        let size = *kernel.loops.last().ok_or("a nest without loops")?;
        let (size, named) = self.scalar_expr(size);
        names.extend(named);
        let mut length = size.receiver();
        for (high, offset) in &interior.highs {
            let high = match high {
                Op::Scalar(t) => {
                    let (e, named) = self.scalar_expr(*t);
                    names.extend(named);
                    e
                }
                Op::Lit(lit) => self.style.lit(*lit),
                _ => return Err("a bound that is not a scalar".into()),
            };
            let bound = high.receiver();
            let distance = Literal::i128_unsuffixed(offset.abs());
            let bound = match *offset {
                0 => bound,
                ..0 => quote!(#bound.saturating_sub(#distance)),
                _ => quote!(#bound.saturating_add(#distance)),
            };
            length = quote!(#length.min(#bound));
        }
        if interior.low > 0 {
            let low = Literal::i128_unsuffixed(interior.low);
            length = quote!(#length.saturating_sub(#low));
        }
        Ok(length)
    }

    /// The calls of the functions for the interior and for both ends, and the sums of what they
    /// return: `own` from the interior, `all` from the ends. The interior does not contribute to
    /// every sum.
    fn sums_of_both(&mut self, inside: &Ident, calls: &[TokenStream], [own, all]: [&[Term]; 2]) -> TokenStream {
        let lacks = |t: &Term| !own.contains(t);
        let only: Vec<Ident> = all.iter().filter(|t| lacks(t)).map(|&t| self.name(t)).collect();
        let returns: Vec<Ident> = own.iter().map(|&t| self.name(t)).collect();
        let zeros: Vec<TokenStream> = own.iter().map(|&t| self.style.zero(self.g.elem(t))).collect();
        let names_of: Vec<Ident> = all.iter().map(|&t| self.name(t)).collect();
        let more: Vec<Ident> = returns.iter().map(|name| self.taken.fresh(&format!("{name}_ends"))).collect();
        let (interior, ends) = (&calls[0], &calls[1]);
        let tuple = |parts: &[TokenStream]| if let [one] = parts { one.clone() } else { quote!((#(#parts),*)) };
        let tokens = |names: &[Ident]| names.iter().map(|name| quote!(#name)).collect::<Vec<_>>();
        let (all_names, more_names) = (tuple(&tokens(&names_of)), tuple(&tokens(&more)));
        let no_more = tuple(&zeros);
        match &*returns {
            [] if only.is_empty() => quote!(if #inside > 0 { #interior; } #ends;),
            [] => {
                quote!(let #all_names = #ends; if #inside > 0 { #interior; })
            }
            _ if !only.is_empty() => quote! {
                let #all_names = #ends;
                let #more_names = if #inside > 0 { #interior } else { #no_more };
                #(let #returns = #returns + #more;)*
            },
            [one] => {
                let more = &more[0];
                quote! {
                    let #more = #ends;
                    let #one = if #inside > 0 { #more + #interior } else { #more };
                }
            }
            _ => quote! {
                let (#(#returns),*) = if #inside > 0 { #interior } else { (#(#zeros),*) };
                let (#(#more),*) = #ends;
                let (#(#returns),*) = (#(#returns + #more),*);
            },
        }
    }

    /// Writes a nest as two functions: one for the interior, and one for the elements before and
    /// after it.
    pub(super) fn split(
        &mut self,
        kernel: &Kernel<'_>,
        items: &[Item],
        interior: &Interior<'_>,
        outs: &[Term],
        guard: &[Guard],
    ) -> Result<(), String> {
        let g = self.g;
        let mut names = Vec::new();
        let mut code = Code::default();
        for &t in outs {
            self.name(t);
            if g.rank(t) > 0 {
                code.push(self.allocate(t, &mut names, false));
            }
        }
        let length = self.interior_length(kernel, interior, &mut names)?;
        let inside = self.taken.fresh("inside");
        code.push(quote!(let #inside = #length;));

        let none = HashMap::new();
        let title = self.function_name("compute", outs);
        let ends = self.function_names.fresh(&format!("{title}_ends"));
        let (middle, both) = (NestRange::Interior(interior.low), NestRange::Ends(interior.low));
        let within = self.within(kernel.loops.len());
        let functions = [
            Nest::new(
                g,
                self.style,
                &self.names,
                &self.known,
                &interior.kernel,
                &interior.items,
                (&none, &middle, None),
            )
            .within(within)
            .function(&title, "The interior, where no test is needed.")?,
            Nest::new(g, self.style, &self.names, &self.known, kernel, items, (&none, &both, None))
                .within(within)
                .function(&ends, "The elements before and after the interior.")?,
        ];
        self.generic_within |= within && functions.iter().any(|f| f.generic);
        let mut calls = Vec::new();
        for (function, title) in functions.iter().zip([&title, &ends]) {
            let mut args = Vec::new();
            for arg in &function.args {
                args.push(match arg {
                    Arg::Out(t) => self.out(*t),
                    Arg::Buffer(t) => self.borrow(*t, &mut names),
                    Arg::Scalar(t) => self.argument(*t, &mut names),
                    Arg::Length => quote!(#inside),
                });
            }
            let turbofish = &function.turbofish;
            calls.push(quote!(#title #turbofish(#(#args),*)));
        }
        let all = functions[1].returns.clone();
        code.push(self.sums_of_both(&inside, &calls, [&functions[0].returns, &all]));
        let mut defines = outs.to_vec();
        defines.extend(all.iter().filter(|t| !outs.contains(t)));
        for function in functions {
            self.note(Note::Nest(Box::new(NestSummary { verb: "compute", ..function.summary })));
            self.add_function(function.item, &defines);
        }
        names.retain(|t| !defines.contains(t));
        self.plain(guard, code, defines, names);
        Ok(())
    }
}
