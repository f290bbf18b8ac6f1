//! The loops around the bodies, from the innermost one outwards, and sums in lanes: sixteen
//! independent accumulators over chunks of the rows (LLVM does not reassociate a sum by itself),
//! then the remaining elements, in an order that depends on lengths alone.

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::super::items::{Fold, Item};
use super::super::kernel::{Id, Op};
use super::super::rust::{Expr, prec, stem};
use super::phases::NestPhase;
use super::state::{LoopVariant, Nest, NestRange, SlicedRow};
use ad_ir::ir::{Put, Term};
use ad_ir::prim::{Cmp, Prim};

/// The number of elements in a block of a loop with vectorised functions: whole vectors of either
/// precision.
const BLOCK: i128 = 8;

/// Independent accumulators of a sum.
pub(super) fn lanes() -> TokenStream {
    quote!(16)
}

/// The name of the accumulator of the remaining elements, for the name of the lanes.
pub(super) fn rest_of(lanes: &Ident) -> Ident {
    format_ident!("{}_rest_", stem(&lanes.to_string(), "_lanes"), span = Span::mixed_site())
}

impl Nest<'_, '_> {
    /// Writes the loops, from the innermost one outwards.
    pub(super) fn body(&mut self, lanes: bool, accumulators: &HashMap<Term, Ident>) -> Result<TokenStream, String> {
        let d = self.depth;
        let variant = |nest: &mut Self, variant: LoopVariant| -> Result<(Vec<NestPhase>, TokenStream, bool), String> {
            nest.variant = variant;
            nest.lane_used = false;
            let names = nest.names.clone();
            if d > 0 {
                nest.used_vars[d - 1] = false;
            }
            let phases = nest.phases()?;
            if phases.is_empty() {
                nest.write_nodes(d..=d)?;
            } else {
                let read = nest.read_after_phases();
                nest.write_some_nodes(d..=d, &|id| read.contains(&id))?;
            }
            nest.write_items(accumulators)?;
            nest.names = names;
            let used = d > 0 && nest.used_vars[d - 1];
            Ok((phases, nest.code.remove(&(d, 0)).unwrap_or_default(), used))
        };
        if d == 0 {
            return Ok(variant(self, LoopVariant::Plain)?.1);
        }
        let inner = d - 1;
        let n = self.extent(inner);
        let columns = if lanes { None } else { self.register_blocked() };
        let loops = if let Some(first) = columns {
            let minus_one = self.balance();
            let (phases, body, used) = variant(self, LoopVariant::Lane)?;
            let (_, rest, rest_used) = variant(self, LoopVariant::Plain)?;
            let (body, rest) = ((body, used), (rest, rest_used));
            let loops = match self.extremum.clone() {
                Some(extremum) => self.extremum_loops(&extremum, first, &n, &phases, body, rest.0)?,
                None => self.register_blocked_loops(first, &n, &phases, body, rest)?,
            };
            quote!(#minus_one #loops)
        } else if lanes {
            let (phases, body, used) = variant(self, LoopVariant::Lane)?;
            let (_, rest, rest_used) = variant(self, LoopVariant::Rest)?;
            self.lane_loops(&n, &phases, (body, used), (rest, rest_used))
        } else {
            let blocks = if self.overlaps() { Some(variant(self, LoopVariant::Lane)?) } else { None };
            let (_, body, used) = variant(self, LoopVariant::Plain)?;
            let var = self.loop_var(inner, used);
            let blocks = blocks.map(|(phases, body, used)| self.overlapping(&n, &phases, &body, used));
            let (receiver, n) = (n.receiver(), n.at(prec::ADD));
            match self.part {
                NestRange::Ends(low) => {
                    let inside = &self.length;
                    if *low == 0 {
                        quote!(for #var in #inside.min(#receiver)..#n { #body })
                    } else {
                        // The interior, possibly empty, is between the ends.
                        let low = proc_macro2::Literal::i128_unsuffixed(*low);
                        let after = quote!((#inside + #low).min(#receiver)..#n);
                        quote!(for #var in (0..#receiver.min(#low)).chain(#after) { #body })
                    }
                }
                _ => match blocks {
                    Some((Some(enough), blocks)) => quote!(if #enough { #blocks } else { for #var in 0..#n { #body } }),
                    Some((None, blocks)) => blocks,
                    None => quote!(for #var in 0..#n { #body }),
                },
            }
        };
        let mut code = loops;
        let written = columns.map(|first| first - usize::from(self.extremum.is_some()));
        for level in (0..=written.unwrap_or(inner)).rev() {
            let pre = self.code.remove(&(level, 0)).unwrap_or_default();
            code = self.around(level, &pre, &code)?;
        }
        Ok(code)
    }

    /// Writes the loop of this level. Its body is `pre`, then `code` (the inner loops), then the
    /// code after them.
    pub(super) fn around(
        &mut self,
        level: usize,
        pre: &TokenStream,
        code: &TokenStream,
    ) -> Result<TokenStream, String> {
        let post = std::mem::take(&mut self.post[level]);
        let mut code = quote!(#code #post);
        if level + 1 == self.depth {
            let mask = self.mask.filter(|_| self.shortened.is_none());
            let mask = mask.map(|c| self.value(c)).transpose()?;
            let rows = std::mem::take(&mut self.under_test);
            code = match (mask, self.row_test()?) {
                (Some(mask), Some(test)) => {
                    let mask = mask.at(prec::AND);
                    quote!(if #mask && #test { #rows #code })
                }
                (Some(mask), None) => {
                    let mask = mask.tokens;
                    quote!(if #mask { #rows #code })
                }
                (None, Some(test)) => quote!(if #test { #rows #code }),
                (None, None) => quote!(#rows #code),
            };
        }
        let code = quote!(#pre #code);
        let Some(v) = level.checked_sub(1) else { return Ok(code) };
        let n = self.extent(v);
        let end = match self.shortened {
            Some((shortened, end)) if shortened == v => {
                let (n, end) = (n.receiver(), self.value(end)?.tokens);
                quote!(#n.min(#end))
            }
            _ => n.at(prec::ADD),
        };
        let var = self.loop_var(v, self.used_vars[v]);
        Ok(quote!(for #var in 0..#end { #code }))
    }

    /// Turns the condition over the innermost loop into the end of an outer loop, if it is `index <
    /// end` and that loop does nothing else.
    pub(super) fn shorten(&mut self) {
        let Some(c) = self.mask.filter(|&c| self.uses[c as usize] == 1) else { return };
        let Op::Prim(Prim::Compare(Cmp::Lt), args) = &self.k.node(c).op else { return };
        let (Op::Var(v), end) = (&self.k.node(args[0]).op, args[1]) else { return };
        let v = usize::from(*v);
        // If a sum does not run over all loops, the code that initialises and stores it is between
        // the loops.
        let between = self.items.iter().any(|item| match item {
            Item::Fold { reduced, .. } => {
                let begins = self.depth - reduced.iter().rev().take_while(|r| **r).count();
                (v + 1..self.depth - 1).contains(&begins)
            }
            Item::Scatter { .. } | Item::Block { .. } | Item::Store { .. } => false,
        });
        if self.flat || v + 1 >= self.depth || self.level(end) > v || between {
            return;
        }
        self.shortened = Some((v, end));
        self.uses[c as usize] = 0;
    }

    /// Whether the innermost loop is done in blocks of [`BLOCK`] elements. The last block begins so
    /// early that it is complete. A vectorised function costs as much for the remaining elements,
    /// one by one, as for several complete blocks. Some elements are computed twice, so the loop
    /// must not accumulate, nor overwrite an array that it reads.
    pub(super) fn overlaps(&self) -> bool {
        self.isa && self.may_overlap() && self.has_functions() && self.place.iter().all(|&arm| arm == 0)
    }

    /// Whether nothing that is stored or read prevents such blocks.
    fn may_overlap(&self) -> bool {
        let stores = |item: &Item| matches!(item, Item::Store { .. } | Item::Block { put: Put::Set, .. });
        self.depth > 0
            && (self.mask.is_none() || self.shortened.is_some())
            && !matches!(self.part, NestRange::Ends(_))
            && self.reused.is_empty()
            && self.literal_extent().is_none_or(|n| n >= BLOCK)
            && self.items.iter().all(stores)
            && !self.reads_points()
    }

    /// Whether the innermost loop can be done in blocks, of either kind. It is asked before nodes
    /// are placed into branches.
    pub(super) fn may_be_blocked(&self) -> bool {
        self.in_lanes() || self.may_overlap()
    }

    /// The loop over such blocks, and the condition under which there is at least one.
    fn overlapping(
        &mut self,
        n: &Expr,
        phases: &[NestPhase],
        body: &TokenStream,
        used: bool,
    ) -> (Option<TokenStream>, TokenStream) {
        let (block, start) = (self.names.fresh("c"), self.names.fresh("start"));
        let (lane, var) = (&self.lane, &self.vars[self.depth - 1]);
        let number = proc_macro2::Literal::i128_unsuffixed;
        let width = number(BLOCK);
        let mut picks = TokenStream::new();
        let count = quote!(#width);
        for row in &self.row_list {
            picks.extend(row.block(&start, &count));
        }
        let (enough, count, last) = match self.literal_extent() {
            Some(n) => {
                let (count, last) = (number((n + BLOCK - 1) / BLOCK), number(n - BLOCK));
                (None, quote!(#count), quote!(#last))
            }
            None => {
                let (receiver, n) = (n.receiver(), n.at(prec::ADD));
                (Some(quote!(#n >= #width)), quote!(#receiver.div_ceil(#width)), quote!(#n - #width))
            }
        };
        let index = quote!(let #var = #start + #lane;);
        let phases = phases.iter().map(|phase| phase.written(lane, &quote!(#width), &index));
        let phases: TokenStream = phases.collect();
        let index = if used { index } else { quote!() };
        let blocks = quote! {
            for #block in 0..#count {
                let #start = (#width * #block).min(#last);
                #picks
                #phases
                for #lane in 0..#width { #index #body }
            }
        };
        (enough, blocks)
    }

    /// Whether the innermost loop reads elements that are in no row.
    pub(super) fn reads_points(&self) -> bool {
        self.points().next().is_some()
    }

    /// The elements that the innermost loop reads and that are in no row.
    pub(super) fn points(&self) -> impl Iterator<Item = Id> {
        let ids = 0..u32::try_from(self.k.nodes.len()).unwrap_or(0);
        ids.filter(|&id| {
            self.uses[id as usize] > 0
                && matches!(self.k.node(id).op, Op::Load { .. })
                && self.level(id) == self.depth
                && self.row_load(id).is_none()
        })
    }

    /// Whether one of these elements cannot be loaded by a phase.
    fn reads_ungathered_points(&self) -> bool {
        self.points().any(|id| self.gathered(id).is_none())
    }

    pub(super) fn loop_var(&self, v: usize, used: bool) -> TokenStream {
        let name = &self.vars[v];
        if used { quote!(#name) } else { quote!(_) }
    }

    /// Sixteen independent accumulators over chunks of the rows, then the remaining elements. The
    /// order is the same in each execution.
    pub(super) fn lane_loops(
        &mut self,
        n: &Expr,
        phases: &[NestPhase],
        (body, used): (TokenStream, bool),
        (rest, rest_used): (TokenStream, bool),
    ) -> TokenStream {
        let chunk = self.names.fresh("c");
        let lanes = lanes();
        let constant = self.literal_extent();
        let (lane, var) = (&self.lane, &self.vars[self.depth - 1]);
        let (mut cuts, mut picks) = (TokenStream::new(), TokenStream::new());
        let whole_chunks = constant.is_some_and(|n| n % 16 == 0);
        for row in &self.row_list {
            let SlicedRow { name, chunks, rest, out, reversed, .. } = row;
            let rest = if whole_chunks { quote!(_) } else { quote!(#rest) };
            let at = if *reversed { quote!(#chunks.len() - 1 - #chunk) } else { quote!(#chunk) };
            let parts = if *reversed { quote!((#rest, #chunks)) } else { quote!((#chunks, #rest)) };
            let (cut, borrow) = match (out, reversed) {
                (false, false) => (quote!(as_chunks), quote!(&)),
                (false, true) => (quote!(as_rchunks), quote!(&)),
                (true, false) => (quote!(as_chunks_mut), quote!(&mut)),
                (true, true) => (quote!(as_rchunks_mut), quote!(&mut)),
            };
            cuts.extend(quote!(let #parts = #name.#cut::<#lanes>();));
            picks.extend(quote!(let #name = #borrow #chunks[#at];));
        }
        let number = |n: i128| {
            let n = proc_macro2::Literal::i128_unsuffixed(n);
            quote!(#n)
        };
        let n = n.at(prec::MUL);
        let (count, left, start) = match constant {
            Some(n) => (number(n / 16), number(n % 16), number(n / 16 * 16)),
            None => (quote!(#n / #lanes), quote!(#n % #lanes), quote!(#n / #lanes * #lanes)),
        };
        let index = quote!(let #var = #lanes * #chunk + #lane;);
        let any_used = used || phases.iter().any(NestPhase::used);
        let phases: TokenStream = phases.iter().map(|phase| phase.written(lane, &lanes, &index)).collect();
        let index = if used { index } else { quote!() };
        let rest_index = if rest_used { quote!(let #var = #start + #lane;) } else { quote!() };
        let chunk_var = if any_used || !self.row_list.is_empty() { quote!(#chunk) } else { quote!(_) };
        let left_var = if self.lane_used { quote!(#lane) } else { quote!(_) };
        let tail = if whole_chunks { quote!() } else { quote!(for #left_var in 0..#left { #rest_index #rest }) };
        let mut closing = TokenStream::new();
        for (acc, rest) in &self.closing {
            let (sum, mutable) = (self.style.kernel("lanes"), if whole_chunks { quote!() } else { quote!(mut) });
            closing.extend(quote!(let #mutable #rest = #sum(#acc);));
        }
        quote! {
            #cuts
            for #chunk_var in 0..#count {
                #picks
                #phases
                for #lane in 0..#lanes { #index #body }
            }
            #closing
            #tail
        }
    }

    /// Whether the innermost loop is written in lanes: it has a real sum, and nothing in it
    /// prevents vectorisation.
    pub(super) fn in_lanes(&self) -> bool {
        let sums = self.items.iter().any(|item| match item {
            Item::Fold { out, fold: Fold::Sum, reduced, .. } => {
                self.g.elem(*out).is_real() && (self.flat || reduced.last() == Some(&true))
            }
            _ => false,
        });
        // A short row of known length is a plain loop.
        let short = self.depth > 0 && !self.inlined && self.literal_extent().is_some_and(|n| n < 32);
        let ends = matches!(self.part, NestRange::Ends(_));
        self.depth > 0
            && !short
            && !ends
            && sums
            && !self.reads_ungathered_points()
            && !self.items.iter().any(|i| matches!(i, Item::Scatter { .. }))
    }
}
