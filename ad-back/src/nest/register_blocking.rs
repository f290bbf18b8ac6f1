//! Register blocking, for sums that do not run over the innermost loop (`out[l] += ..` in a loop
//! over `j` around one over `l`). Sixteen of them are done at a time, so that they stay in
//! registers until the loops around them end, and memory is read and written once.
//!
//! Each sum must add its terms in the same order as without blocking. This is used in tiles only:
//! elsewhere rows may be longer than the cache, and a chunk of each row would be a strided access
//! down the columns.

use std::collections::HashMap;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::items::{Fold, Item};
use super::super::rust::{Expr, prec};
use super::loops::lanes;
use super::phases::NestPhase;
use super::state::{Nest, NestRange, SlicedRow};
use ad_ir::choice::{Kind, choose_if};
use ad_ir::ir::Term;

/// The maximum number of sums that are blocked together: with more of them the lanes do not fit
/// into registers.
const MAX_SUMS: usize = 2;

impl Nest<'_, '_> {
    /// The first of the loops during which the sums stay in registers, if they do. All sums run
    /// over each loop from this one to the one directly around the innermost loop.
    pub(super) fn register_blocked(&self) -> Option<usize> {
        let inner = self.depth.checked_sub(1)?;
        if !self.in_block
            || self.flat
            || *self.part != NestRange::Whole
            || !self.reused.is_empty()
            || self.reads_points()
        {
            return None;
        }
        let mut first = 0;
        let mut sums: Vec<Term> = Vec::new();
        for item in self.items {
            match item {
                Item::Store { .. } => {}
                Item::Fold { out, fold: Fold::Sum | Fold::InOrder, reduced, .. }
                    if self.g.elem(*out).is_real() && !reduced[inner] =>
                {
                    let kept = reduced[..inner].iter().rposition(|r| !r).map_or(0, |k| k + 1);
                    first = first.max(kept);
                    sums.push(*out);
                }
                _ => return None,
            }
        }
        let about = *sums.first()?;
        if first == inner || self.literal_extent().is_some_and(|n| n < 32) {
            return None;
        }
        // Terms that these loops compute are recomputed for each chunk.
        let repeated = (0..self.k.nodes.len()).any(|id| {
            let this = u32::try_from(id).unwrap_or(0);
            let level = self.level(this);
            self.uses[id] > 0 && (first + 1..=inner).contains(&level) && self.is_function(this)
        });
        let why = || {
            format!(
                "({} sums, at most {MAX_SUMS}{})",
                sums.len(),
                if repeated { "; functions would be recomputed" } else { "" }
            )
        };
        let by_cost = sums.len() <= MAX_SUMS && !repeated;
        choose_if(true, Kind::RegisterBlocking, (about.index(), inner), by_cost, why).then_some(first)
    }

    /// The sums that start in these loops: their memory need not be filled before.
    pub(super) fn sums_started_in(&self, first: usize) -> Vec<Term> {
        let begun = |item: &Item| match item {
            Item::Fold { out, reduced, added: false, .. } if !reduced[..first].contains(&true) => Some(*out),
            _ => None,
        };
        self.items.iter().filter_map(begun).collect()
    }

    /// For each level, the code that slices a chunk of each row. Sums that continue are copied
    /// instead, and written back at the end.
    pub(super) fn chunks_of_rows(&self, first: usize, start: &Ident) -> Vec<TokenStream> {
        let (mut picks, lanes) = (vec![TokenStream::new(); self.depth], lanes());
        for row in &self.row_list {
            if row.out && row.level > first {
                picks[row.level].extend(row.block(start, &lanes));
            } else if !row.out {
                picks[first.max(row.level)].extend(row.block(start, &lanes));
            }
        }
        picks
    }

    /// The loops from `first` inwards, once for chunks and once for the remaining elements.
    ///
    /// ```text
    /// for j { for l in 0..n { out[l] += e(j, l) } }
    ///     becomes
    /// for chunk { sums = out[chunk];
    ///     for j { for l in 0..16 { sums[l] += e(j, l) } } out[chunk] = sums }
    /// ```
    pub(super) fn register_blocked_loops(
        &mut self,
        first: usize,
        n: &Expr,
        phases: &[NestPhase],
        (body, used): (TokenStream, bool),
        (rest, rest_used): (TokenStream, bool),
    ) -> Result<TokenStream, String> {
        let inner = self.depth - 1;
        let (chunk, start) = (self.names.fresh("c"), self.names.fresh("start"));
        let (lane, var, lanes) = (self.lane.clone(), self.vars[inner].clone(), lanes());
        let picks = self.chunks_of_rows(first, &start);
        let (mut cuts, mut begin, mut end, mut fills) =
            <(TokenStream, TokenStream, TokenStream, TokenStream)>::default();
        let anew: HashMap<usize, TokenStream> = self
            .sums_started_in(first)
            .into_iter()
            .filter_map(|t| Some((*self.out_rows.get(&t)?, self.zero_of(t))))
            .collect();
        let (left, end_of_row) = (n.at(prec::MUL), n.at(prec::ADD));
        for (row, SlicedRow { name, chunks, .. }) in
            self.row_list.iter().enumerate().filter(|(_, r)| r.out && r.level <= first)
        {
            cuts.extend(quote!(let (#chunks, _) = #name.as_chunks_mut::<#lanes>();));
            begin.extend(match anew.get(&row) {
                Some(zero) => quote!(let mut #name = [#zero; #lanes];),
                None => quote!(let mut #name = #chunks[#chunk];),
            });
            end.extend(quote!(#chunks[#chunk] = #name;));
            if let Some(zero) = anew.get(&row) {
                fills.extend(quote!(#name[#left / #lanes * #lanes..].fill(#zero);));
            }
        }
        let index = quote!(let #var = #start + #lane;);
        let any_used = used || phases.iter().any(NestPhase::used);
        let phases: TokenStream = phases.iter().map(|phase| phase.written(&lane, &lanes, &index)).collect();
        let index = if used { index } else { quote!() };
        let mut whole = quote!(#phases for #lane in 0..#lanes { #index #body });
        let rest_var = self.loop_var(inner, rest_used);
        let mut parts = quote!(for #rest_var in #left / #lanes * #lanes..#end_of_row { #rest });
        for level in (first + 1..=inner).rev() {
            let pre = self.code.remove(&(level, 0)).unwrap_or_default();
            let picks = &picks[level];
            whole = self.around(level, &quote!(#pre #picks), &whole)?;
            parts = self.around(level, &pre, &parts)?;
        }
        let picks = &picks[first];
        let reads = self.row_list.iter().any(|r| !r.out || r.level > first);
        let begins = if any_used || reads { quote!(let #start = #lanes * #chunk;) } else { quote!() };
        Ok(quote! {
            #cuts
            for #chunk in 0..#left / #lanes {
                #begins
                #picks
                #begin
                #whole
                #end
            }
            #fills
            #parts
        })
    }
}
