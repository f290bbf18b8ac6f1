//! The end of an iteration: it saves rows, and passes carried values to the next iteration.
//!
//! A carried value must be overwritten only after all reads of its earlier state.

use ad_ir::sorted::SortedSet;

use proc_macro2::TokenStream;
use quote::quote;

use super::super::store::alias_of;
use super::state::Driver;
use ad_ir::ir::Term;
use ad_middle::passes::lowering::opened::{Loop, RowGrowth};

impl Driver<'_> {
    /// The array in memory that this one is another name of, if nothing else reads either of them.
    fn under_aliases(&self, mut t: Term) -> Term {
        let once = |t: Term| self.plan.uses.get(&t) == Some(&1);
        while let Some(of) = alias_of(self.g, &self.plan.class, t)
            && once(t)
            && once(of)
            && self.as_many(self.g.shape(t), self.g.shape(of))
        {
            t = of;
        }
        t
    }

    /// The code at the end of an iteration: it writes rows, then the carried values. Also the terms
    /// that the code names.
    pub(super) fn end(
        &mut self,
        l: &Loop,
        names: &mut Vec<Term>,
        used: &mut SortedSet<Term>,
    ) -> (TokenStream, Vec<Term>) {
        let g = self.g;
        let mut code = TokenStream::new();
        let mut needed = Vec::new();
        for r in &l.rows {
            if r.how == RowGrowth::Inner {
                // The inner loop writes these rows into its own memory, which both loops use.
                needed.push(r.row);
                self.same_memory(r.all, r.row);
                continue;
            }
            if g.rank(r.row) == 0 {
                let value = self.argument(r.row, &mut needed);
                if matches!(r.how, RowGrowth::Steps(_)) {
                    let all = &self.names[&r.all];
                    code.extend(quote!(#all.push(#value);));
                    continue;
                }
                let place = self.place(l, r, names, used);
                code.extend(quote!(#place = #value;));
                continue;
            }
            if let Some(&t) = self.places.get(&r.all) {
                needed.push(t);
                continue;
            }
            needed.push(r.row);
            if !l.carries.iter().any(|c| c.now == r.row) {
                code.extend(self.written_row(l, r, &mut needed, used));
            }
        }
        let (mut to, mut from) = (Vec::new(), Vec::new());
        let (mut copies, mut swaps) = (TokenStream::new(), TokenStream::new());
        for c in &l.carries {
            let name = self.names[&c.now].clone();
            if g.rank(c.now) == 0 {
                needed.push(c.next);
                from.push(self.argument(c.next, &mut needed));
                to.push(name);
            } else if self.plan.in_place.get(&c.next) != Some(&c.now) && self.names.get(&c.next) != Some(&name) {
                let next = self.under_aliases(c.next);
                let own = self.memory.hold.get(&next) == self.memory.hold.get(&c.now)
                    && self.memory.storage.get(&next) == self.memory.storage.get(&c.now)
                    && self.memory.outside.contains(&next)
                    && self.plan.loops.role(next).is_none()
                    && !self.plan.in_place.contains_key(&next)
                    && self.memory.hoisted.iter().any(|h| h.0 == next)
                    && l.carries.iter().filter(|other| other.next == c.next).count() == 1;
                let spare = if own {
                    needed.push(next);
                    self.names[&next].clone()
                } else {
                    needed.push(c.next);
                    let spare = self.taken.fresh(&format!("{name}_next"));
                    self.hoist_spare(c.last, &spare);
                    let value = self.borrow(c.next, &mut needed);
                    let to = self.slice_mut(c.last, &spare);
                    copies.extend(quote!(#to.copy_from_slice(#value);));
                    spare
                };
                swaps.extend(quote!(::core::mem::swap(&mut #name, &mut #spare);));
            } else {
                needed.push(c.next);
            }
        }
        // If a carried value becomes the next state of another one, all are assigned at once, so
        // that none is read after it has changed.
        let crossed = l.carries.iter().any(|c| l.carries.iter().any(|d| c.next == d.now && c.now != d.now));
        if crossed && to.len() > 1 {
            code.extend(quote!((#(#to),*) = (#(#from),*);));
        } else {
            code.extend(quote!(#(#to = #from;)*));
        }
        code.extend(quote!(#copies #swaps));
        (code, needed)
    }
}
