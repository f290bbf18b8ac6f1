//! The extremum along the axis directly around sums that are held in registers
//! (`register_blocking`). The best sum so far and its index are in registers as well, so the array
//! of the sums is not stored, and nothing is read again. Of equal sums the first wins. NaN is
//! ignored, and if all sums are NaN the index is 0.
//!
//! A sum must never be compared before all of its terms have been added.

use proc_macro2::{Ident, TokenStream};
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
        let loops: Vec<usize> = (0..axis).chain([inner]).collect();
        let rows = [extremum.place, extremum.best].map(|t| {
            let row = self.out_row(t?, &loops);
            Some((self.row_list[row].name.clone(), self.row_list[row].chunks.clone()))
        });
        let parts = self.extremum_parts(extremum, (axis, inner))?;
        let ExtremumParts { chunk, start, whole, best, lane, item, sum, elem, zero, worst, .. } = &parts;
        self.used_vars[axis] |= rows[0].is_some();
        let size = self.extent(axis).at(prec::COMPARE + 1);
        let [compare, compare_one] = parts.comparisons(extremum.greatest, rows[0].is_some());

        let lanes = lanes();
        let picks = self.chunks_of_rows(axis, start);
        let index = quote!(let #item = #start + #lane;);
        let phases: TokenStream = phases.iter().map(|phase| phase.written(lane, &lanes, &index)).collect();
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
        let ExtremumEnds { cuts, begin, end, begin_one, end_one, no_winner } = parts.ends(rows, &size);
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
                if #item >= #whole || #no_winner {
                    #begin_one
                    #one
                    #end_one
                }
            }
        })
    }

    /// The names and numbers in the loops of an extremum over loop `axis`.
    fn extremum_parts(&mut self, extremum: &Extremum, (axis, inner): (usize, usize)) -> Result<ExtremumParts, String> {
        let Elem::Real(ty) = self.g.elem(extremum.sum) else { return Err("an extremum of what is not real".into()) };
        let [chunk, start, whole] = ["c", "start", "whole"].map(|name| self.names.fresh(name));
        let [best, place, wins] = ["best", "place", "wins"].map(|name| self.names.fresh(name));
        let lit = |x: f64| self.style.lit(Lit::Real(ty, x.to_bits())).tokens;
        let infinity = if extremum.greatest { f64::NEG_INFINITY } else { f64::INFINITY };
        Ok(ExtremumParts {
            chunk,
            start,
            whole,
            best,
            place,
            wins,
            lane: self.lane.clone(),
            item: self.vars[inner].clone(),
            at: self.vars[axis].clone(),
            sum: self.arg_names[&extremum.sum].clone(),
            elem: self.style.ty(self.g.elem(extremum.sum)),
            zero: self.zero_of(extremum.sum),
            worst: lit(infinity),
            nan: lit(f64::NAN),
        })
    }
}

/// The names and numbers in the loops of an extremum.
struct ExtremumParts {
    /// The chunk of items, its first item, and the number of items in whole chunks.
    chunk: Ident,
    start: Ident,
    whole: Ident,
    /// The extremum so far, its place, and whether a sum is better.
    best: Ident,
    place: Ident,
    wins: Ident,
    lane: Ident,
    item: Ident,
    /// The position along the extremum's axis.
    at: Ident,
    sum: Ident,
    /// The type of a sum, and numbers of this type.
    elem: TokenStream,
    zero: TokenStream,
    worst: TokenStream,
    nan: TokenStream,
}

/// The code around the loops of an extremum: the rows as chunks, and what is done before and after
/// a chunk and one item.
#[derive(Default)]
struct ExtremumEnds {
    cuts: TokenStream,
    begin: TokenStream,
    end: TokenStream,
    begin_one: TokenStream,
    end_one: TokenStream,
    /// Whether no sum of an item is better than the worst value. This test reads memory, since
    /// lanes that are tested would not stay in registers.
    no_winner: TokenStream,
}

impl ExtremumParts {
    /// The code that uses the sums of a chunk, and that for the sum of one item.
    fn comparisons(&self, greatest: bool, has_place: bool) -> [TokenStream; 2] {
        let ExtremumParts { best, place, wins, lane, at, sum, .. } = self;
        let (lanes, beats) = (lanes(), if greatest { quote!(>) } else { quote!(<) });
        let (mut compare, mut compare_one) = (TokenStream::new(), quote!(#best = #sum;));
        if has_place {
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
        [compare, quote!(if #sum #beats #best || (#best.is_nan() && !#sum.is_nan()) { #compare_one })]
    }

    /// The code that writes the places and the extrema to these rows. `size` is the size of the
    /// extremum's axis.
    fn ends(&self, [of_place, of_best]: [Option<(Ident, Ident)>; 2], size: &TokenStream) -> ExtremumEnds {
        let ExtremumParts { chunk, best, place, item, worst, nan, .. } = self;
        let lanes = lanes();
        let begin_one = quote!(let mut #best = if 0 < #size { #nan } else { #worst };);
        let mut ends = ExtremumEnds { begin_one, ..ExtremumEnds::default() };
        if let Some((row, chunks)) = of_best {
            ends.cuts.extend(quote!(let (#chunks, _) = #row.as_chunks_mut::<#lanes>();));
            ends.end.extend(quote!(#chunks[#chunk] = #best;));
            ends.end_one.extend(quote!(#row[#item] = #best;));
            ends.no_winner = quote!(#row[#item] == #worst);
        }
        if let Some((row, chunks)) = of_place {
            ends.cuts.extend(quote!(let (#chunks, _) = #row.as_chunks_mut::<#lanes>();));
            ends.begin.extend(quote!(let mut #place = [usize::MAX; #lanes];));
            ends.end.extend(quote!(#chunks[#chunk] = #place;));
            ends.begin_one.extend(quote!(let mut #place = 0;));
            ends.end_one.extend(quote!(#row[#item] = #place;));
            ends.no_winner = quote!(#row[#item] == usize::MAX);
        }
        ends
    }
}
