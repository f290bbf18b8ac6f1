//! The extremum along the axis directly around sums that are held in registers
//! (`register_blocking`). The best sum so far and its index are in registers as well, so the array
//! of the sums is not stored, and nothing is read again. Of equal sums the first wins. NaN is
//! ignored, and if all sums are NaN the index is 0.
//!
//! A sum must never be compared before all of its terms have been added.

use proc_macro2::TokenStream;
use quote::quote;

use super::super::items::Item;
use super::super::rust::{Expr, prec};
use super::loops::lanes;
use super::phases::NestPhase;
use super::state::{Arg, Extremum, Nest};
use ad_ir::ir::{Elem, Lit};

impl Nest<'_, '_> {
    /// Whether the nest computes only this sum in registers, over all the loops between the
    /// extremum's axis and the items.
    pub(in super::super) fn can_take(&self, extremum: &Extremum) -> bool {
        let Some(inner) = self.depth.checked_sub(1) else { return false };
        let fits = |item: &Item| match item {
            Item::Store { out, .. } => out.is_none(),
            Item::Fold { out, reduced, added: false, at: None, .. } => {
                let first = reduced.iter().take_while(|r| !**r).count();
                *out == extremum.sum && first > 0 && reduced[first..inner].iter().all(|r| *r)
            }
            _ => false,
        };
        self.mask.is_none() && self.items.iter().all(fits) && self.register_blocked().is_some()
    }

    /// The nest with the extrema of a sum as results instead of that sum.
    pub(in super::super) fn taking(mut self, extremum: Option<Extremum>) -> Self {
        let Some(extremum) = extremum else { return self };
        self.args.retain(|arg| *arg != Arg::Out(extremum.sum));
        for (k, t) in extremum.results().enumerate() {
            let name = self.names.fresh(&self.driver[&t].to_string());
            self.arg_names.insert(t, name);
            self.args.insert(k, Arg::Out(t));
        }
        self.extremum = Some(extremum);
        self
    }

    /// The loops from the extremum's axis inwards. That axis is the loop directly around loop
    /// `first`.
    ///
    /// Lanes start at the worst value, so one comparison suffices. If a lane still holds that value
    /// at the end (it occurs, all sums are NaN, or there are none), its item is recomputed by the
    /// complete scalar rule, which is rare. So are the items that fill no chunk.
    ///
    /// ```text
    /// for chunk { best = worst; for i { sums = 0; for j { for l in 0..16 { sums[l] += e(i, j, l) } }
    /// for l in 0..16 { if sums[l] < best[l] { best[l] = sums[l]; place[l] = i } } } }
    /// ```
    pub(super) fn extremum_loops(
        &mut self,
        extremum: &Extremum,
        first: usize,
        n: &Expr,
        phases: &[NestPhase],
        (body, used): (TokenStream, bool),
        rest: TokenStream,
    ) -> Result<TokenStream, String> {
        let (axis, inner) = (first - 1, self.depth - 1);
        let Elem::Real(ty) = self.g.elem(extremum.sum) else { return Err("an extremum of what is not real".into()) };
        let loops: Vec<usize> = (0..axis).chain([inner]).collect();
        let [of_place, of_best] = [extremum.place, extremum.best].map(|t| {
            let row = self.out_row(t?, &loops);
            Some((self.row_list[row].name.clone(), self.row_list[row].chunks.clone()))
        });
        let [chunk, start, whole] = ["c", "start", "whole"].map(|name| self.names.fresh(name));
        let [best, place, wins] = ["best", "place", "wins"].map(|name| self.names.fresh(name));
        let (lane, item, lanes) = (self.lane.clone(), self.vars[inner].clone(), lanes());
        let elem = self.style.ty(self.g.elem(extremum.sum));
        let (sum, zero) = (self.arg_names[&extremum.sum].clone(), self.zero_of(extremum.sum));
        let lit = |x: f64| self.style.lit(Lit::Real(ty, x.to_bits())).tokens;
        let infinity = if extremum.greatest { f64::NEG_INFINITY } else { f64::INFINITY };
        let (worst, nan) = (lit(infinity), lit(f64::NAN));
        let beats = if extremum.greatest { quote!(>) } else { quote!(<) };
        self.used_vars[axis] |= of_place.is_some();
        let at = self.vars[axis].clone();
        let size = self.extent(axis).at(prec::COMPARE + 1);

        // The code that uses the sums of a chunk, and that for the sum of one item.
        let (mut compare, mut compare_one) = (TokenStream::new(), quote!(#best = #sum;));
        if of_place.is_some() {
            compare.extend(quote!(#place[#lane] = if #wins { #at } else { #place[#lane] };));
            compare_one.extend(quote!(#place = #at;));
        }
        let compare = quote! {
            for #lane in 0..#lanes {
                let #wins = #sum[#lane] #beats #best[#lane];
                #best[#lane] = if #wins { #sum[#lane] } else { #best[#lane] };
                #compare
            }
        };
        let compare_one = quote!(if #sum #beats #best || (#best.is_nan() && !#sum.is_nan()) { #compare_one });

        let picks = self.chunks_of_rows(axis, &start);
        let index = quote!(let #item = #start + #lane;);
        let phases: TokenStream = phases.iter().map(|phase| phase.written(&lane, &lanes, &index)).collect();
        let index = if used { index } else { quote!() };
        let mut code = quote!(#phases for #lane in 0..#lanes { #index #body });
        let mut one = rest;
        for level in (first..=inner).rev() {
            let (pre, picks) = (self.code.remove(&(level, 0)).unwrap_or_default(), &picks[level]);
            let (mut begin, mut begin_one) = (quote!(#pre #picks), pre);
            if level == first {
                begin.extend(quote!(let mut #sum = [#zero; #lanes];));
                begin_one.extend(quote!(let mut #sum: #elem = #zero;));
                self.post[level] = compare.clone();
            }
            code = self.around(level, &begin, &code)?;
            if level == first {
                self.post[level] = compare_one.clone();
            }
            one = self.around(level, &begin_one, &one)?;
        }

        let picks = &picks[axis];
        let (mut cuts, mut begin, mut end) = <(TokenStream, TokenStream, TokenStream)>::default();
        let (mut begin_one, mut end_one) =
            (quote!(let mut #best = if 0 < #size { #nan } else { #worst };), TokenStream::new());
        // The test whether an item has a winner reads memory, since lanes that are tested would not
        // stay in registers.
        let mut open = TokenStream::new();
        if let Some((row, chunks)) = of_best {
            cuts.extend(quote!(let (#chunks, _) = #row.as_chunks_mut::<#lanes>();));
            end.extend(quote!(#chunks[#chunk] = #best;));
            end_one.extend(quote!(#row[#item] = #best;));
            open = quote!(#row[#item] == #worst);
        }
        if let Some((row, chunks)) = of_place {
            cuts.extend(quote!(let (#chunks, _) = #row.as_chunks_mut::<#lanes>();));
            begin.extend(quote!(let mut #place = [usize::MAX; #lanes];));
            end.extend(quote!(#chunks[#chunk] = #place;));
            begin_one.extend(quote!(let mut #place = 0;));
            end_one.extend(quote!(#row[#item] = #place;));
            open = quote!(#row[#item] == usize::MAX);
        }
        let (n, end_of_row) = (n.at(prec::MUL), n.at(prec::ADD));
        Ok(quote! {
            let #whole = #n / #lanes * #lanes;
            #cuts
            for #chunk in 0..#n / #lanes {
                let #start = #lanes * #chunk;
                #picks
                let mut #best = [#worst; #lanes];
                #begin
                #code
                #end
            }
            for #item in 0..#end_of_row {
                if #item >= #whole || #open {
                    #begin_one
                    #one
                    #end_one
                }
            }
        })
    }
}
