//! One loop nest as one small function of slices. This module and its submodules decide in which
//! loop and in which branch each node is computed, and from which row slices. References that are
//! parameters are known not to alias, and slices cut to their length once need no bounds checks
//! inside (measured: a factor of two each). A node is computed in the outermost loop in which its
//! index is known, once in each iteration of that loop. If it is expensive, it is computed only in
//! the branch that uses it.

mod extrema;
mod function;
mod in_bounds;
mod isa;
mod loops;
mod phases;
mod place;
mod register_blocking;
mod rows;
mod state;
mod write;

use ad_ir::sorted::SortedMap;
use std::collections::HashMap;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::items::{Fold, Item, SINGLE_PRECISION};
use super::kernel::Id;
use super::rust::Expr;
use ad_ir::ir::{Node, Put, Term};
use ad_ir::prim::{Prim, Reduce};
use loops::rest_of;
pub(super) use state::{Arg, Extremum, Nest, NestFunction, NestRange};

/// A nest without loops, as the driver inlines it into its own statement.
pub(super) struct Inline {
    /// Statements before the value, if there are any.
    pub(super) before: Option<TokenStream>,
    /// The value of the only item.
    pub(super) value: Expr,
    /// The terms that the statements and the value mention.
    pub(super) named: Vec<Term>,
    /// The number of times that each function occurs in the code.
    pub(super) functions: SortedMap<&'static str, usize>,
}

impl Nest<'_, '_> {
    /// A nest without loops, for the driver.
    pub(super) fn inline(mut self, value: Id) -> Result<Inline, String> {
        self.write_nodes(0..=0)?;
        let value = self.value(value)?;
        let mut named: Vec<Term> = self.named.take().into_iter().collect();
        named.extend(self.args.iter().filter_map(|arg| match arg {
            Arg::Buffer(t) => Some(*t),
            _ => None,
        }));
        let functions = std::mem::take(&mut self.summary.plain_functions);
        Ok(Inline { before: self.code.remove(&(0, 0)), value, named, functions })
    }

    /// The function of the nest.
    pub(super) fn function(mut self, name: &Ident, doc: &str) -> Result<NestFunction, String> {
        let d = self.depth;
        self.isa = self.inlined || self.within || self.pays();
        self.fuse();
        self.shorten();
        let lanes = self.in_lanes();
        let mut returns = Vec::new();
        let mut return_values = Vec::new();
        let mut accumulators: HashMap<Term, Ident> = HashMap::new();
        if d > 0 {
            self.write_nodes(0..=d - 1)?;
        }
        if let NestRange::Ragged(end) = *self.part {
            let (size, end, level) = (self.arg(self.k.loops[d - 1]).receiver(), self.value(end)?, self.level(end));
            let (inside, end) = (&self.length, end.tokens);
            let inside = quote!(let #inside = #size.min(#end););
            self.push(level, 0, &inside);
        }
        for item in self.items {
            let Item::Fold { out, fold, reduced, added, at, .. } = item else { continue };
            let reduced: Vec<bool> = if self.flat { vec![true] } else { reduced.clone() };
            let suffix = reduced.iter().rev().take_while(|r| **r).count();
            if suffix == 0 && self.g.rank(*out) > 0 {
                continue;
            }
            let start = d - suffix;
            let total = self.accumulator((*out, *fold), (start, suffix), lanes, &mut accumulators);
            if self.g.rank(*out) == 0 {
                returns.push(*out);
                if start == 0 {
                    return_values.push(total);
                }
                continue;
            }
            if let Some(at) = at {
                let put = self.put_at(*out, Put::Add, (at, self.g.shape(*out)), &total)?;
                self.post[start].extend(put);
                continue;
            }
            let again = *added || reduced[..start].iter().any(|r| *r);
            let post = self.total_in_memory((*out, *fold), &reduced, again, total);
            self.post[start].extend(post);
        }
        let begun = if lanes { None } else { self.register_blocked() }
            .map_or_else(Vec::new, |first| self.sums_started_in(first));
        self.summary.sums = returns.len();
        self.summary.lanes = lanes;
        self.summary.register_blocked = !lanes && self.register_blocked().is_some();
        self.summary.overlapping = !lanes && !self.summary.register_blocked && self.overlaps();
        let body = self.body(lanes, &accumulators)?;
        Ok(self.finished((name, doc), &body, (returns, &return_values), begun))
    }

    /// Declares the accumulator of a sum before loop `start`: one number, or one for each lane. The
    /// sum is over the last `suffix` loops. Returns its total.
    fn accumulator(
        &mut self,
        (out, fold): (Term, Fold),
        (start, suffix): (usize, usize),
        lanes: bool,
        accumulators: &mut HashMap<Term, Ident>,
    ) -> TokenStream {
        let elem = self.g.elem(out);
        let zero = if fold == Fold::All { quote!(true) } else { self.zero_of(out) };
        let base = self.driver[&out].to_string();
        if lanes && fold == Fold::Sum && elem.is_real() {
            let lane_count = loops::lanes();
            let acc = self.names.fresh(&format!("{base}_lanes"));
            let rest = rest_of(&acc);
            self.names.reserve(&rest.to_string());
            self.push(start, 0, &quote!(let mut #acc = [#zero; #lane_count];));
            accumulators.insert(out, acc.clone());
            if suffix == 1 {
                // The sum is over one row, so it has the order of `kernel::sum`.
                self.closing.push((acc, rest.clone()));
                return quote!(#rest);
            }
            if elem == SINGLE_PRECISION {
                self.wide.insert(out);
                self.push(start, 0, &quote!(let mut #rest: f64 = 0.0;));
                let lanes = self.style.kernel("lanes");
                return quote!((f64::from(#lanes(#acc)) + #rest) as f32);
            }
            self.push(start, 0, &quote!(let mut #rest = #zero;));
            let total = self.style.kernel("total");
            return quote!(#total(#acc, #rest));
        }
        let acc = self.names.fresh(&format!("{base}_sum"));
        accumulators.insert(out, acc.clone());
        if fold == Fold::Sum && elem == SINGLE_PRECISION {
            self.wide.insert(out);
            self.push(start, 0, &quote!(let mut #acc: f64 = 0.0;));
            return quote!(#acc as f32);
        }
        let ty = self.style.ty(elem);
        self.push(start, 0, &quote!(let mut #acc: #ty = #zero;));
        quote!(#acc)
    }

    /// Writes the total of a sum to its element, or adds it to what is there.
    fn total_in_memory(
        &mut self,
        (out, fold): (Term, Fold),
        reduced: &[bool],
        again: bool,
        total: TokenStream,
    ) -> TokenStream {
        let loops: Vec<usize> = (0..self.depth).filter(|&v| !reduced[v]).collect();
        let ix: Vec<Expr> = loops.iter().map(|&v| self.var(v)).collect();
        let sizes: Vec<Term> = loops.iter().map(|&v| self.k.loops[v]).collect();
        let at = self.linear(&ix, &sizes, true).tokens;
        let of = &self.arg_names[&out];
        let place = quote!(#of[#at]);
        if again {
            self.accumulate(fold, self.g.elem(out), &place, &Expr::atom(total))
        } else {
            quote!(#place = #total;)
        }
    }

    /// The initial value of a sum (its neutral element).
    fn zero_of(&self, t: Term) -> TokenStream {
        let zero = self.style.zero(self.g.elem(t));
        let negative = matches!(self.g.node(t), Node::Prim(Prim::Reduce(Reduce::InOrder, _), _));
        if negative { quote!(-#zero) } else { zero }
    }
}
