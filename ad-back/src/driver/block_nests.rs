//! Nests as steps of a block (`tiling`): the memory of their results, the arrays that they read,
//! and the extrema that they take. This module does not decide which nests are tiled.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::items::{Item, masked};
use super::super::kernel::Kernel;
use super::super::nest::{Arg, Extremum, Nest, NestRange};
use super::super::notes::{NestSummary, Note};
use super::super::plan::{Guard, ItemAxis, Work};
use super::super::rust::stem;
use super::super::tiling::{Blocked, Reads, blocked, buffers, updated};
use super::memory::Storage;
use super::state::{Driver, TileLoop};
use super::threads::operations;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Node, Term};
use ad_ir::prim::{Prim, Reduce};
use ad_middle::passes::lowering::matrix::Factor;

impl Driver<'_> {
    /// A nest as a step of a block.
    pub(super) fn nest_in_block(
        &mut self,
        domain: &[Term],
        terms: &[Term],
        guard: &[Guard],
        step: usize,
    ) -> Result<(), String> {
        let g = self.g;
        let Some(block) = self.tile.as_ref() else { return Err("a nest outside of a block".into()) };
        let to = (block.n, block.axis);
        let made = blocked(g, self.plan, self.hints, to, (domain, terms), (step, &block.fused_scatters));
        let made = made.ok_or("a nest that no block can have")?;
        self.nest_of_block(made, guard, (step, None), "compute")
    }

    /// Whether the scatter adds to an array of the block.
    pub(super) fn updates_rows(&self, t: Term) -> bool {
        self.tile.as_ref().is_some_and(|block| block.rows.contains(&t))
    }

    /// A scatter of values of the items of a block to their own rows of another array of the block.
    pub(super) fn update_in_block(&mut self, t: Term, guard: &[Guard], step: usize) -> Result<(), String> {
        let Some(block) = self.tile.as_ref() else { return Err("a scatter outside of a block".into()) };
        let made = updated(self.g, self.plan, self.hints, block.n, t);
        let made = made.ok_or("an update that no block can have")?;
        let Node::Scatter { dst, .. } = *self.g.node(t) else { return Err("an update is no scatter".into()) };
        self.nest_of_block(made, guard, (step, Some(dst)), "add_to")
    }

    /// A nest as a step of a block. If it updates an array, its result has the memory of that
    /// array.
    fn nest_of_block(
        &mut self,
        made: Blocked<'_>,
        guard: &[Guard],
        (step, updated): (usize, Option<Term>),
        verb: &'static str,
    ) -> Result<(), String> {
        let g = self.g;
        let Some(mut block) = self.tile.take() else { return Err("a nest outside of a block".into()) };
        let Blocked { kernel, mut items, mut outs, reads } = made;
        self.prepare_reads(&mut block, &kernel, &reads);
        let in_lanes = block.axis == ItemAxis::Last;
        // A nest that is a tile for threads overwrites arrays as it does otherwise.
        let alone = block.shared.is_some() && self.tile_of_one(step);
        let reused = match alone {
            true => self.reused(&kernel, &items, step),
            false => self.reused_in_block(&kernel, &items, (&block.private, step)),
        };
        self.overwrite_in_block(&mut block, &reused, alone);
        let (mask, whole) = (masked(g, &kernel, &mut items), NestRange::Whole);
        let mut extremum = self.extremum(&block, &items).filter(|_| mask.is_none() && in_lanes);
        for t in outs.iter().copied().chain(extremum.iter().flat_map(Extremum::results)) {
            self.name(t);
        }
        let how = (&reused, &whole, mask);
        extremum = extremum.filter(|e| {
            let why = || format!("(an array of {} axes is not stored)", g.rank(e.sum));
            let nest = Nest::new(g, self.style, &self.names, &self.known, &kernel, &items, how).in_block();
            nest.can_take(e) && choose(Kind::BlockedExtrema, (e.sum.index(), 0), true, why)
        });
        if let Some(e) = &extremum {
            outs = e.results().collect();
            block.taken.extend(&outs);
        }
        // Memory is listed in the order of the statements.
        block.reused.extend(outs.iter().filter(|t| !alone && reused.values().any(|u| u == *t)));
        let stored = outs.iter().copied().filter(|t| !reused.values().any(|u| u == t));
        let fills = match updated {
            Some(array) => {
                outs.iter().for_each(|&t| self.same_memory(t, array));
                Vec::new()
            }
            None => self.memory_of_results(&mut block, &outs, &stored.collect(), &items)?,
        };
        let title = self.function_name(verb, &outs);
        let doc = match (verb, kernel.loops.len()) {
            ("compute", 1) => "Numbers of the items of a block.",
            ("compute", _) => "Arrays of the items of a block.",
            _ => "Adds to the rows of the items of a block.",
        };
        let nest = Nest::new(g, self.style, &self.names, &self.known, &kernel, &items, how);
        let nest = if in_lanes { nest.in_block().taking(extremum) } else { nest };
        let function = nest.function(&title, doc)?;
        let mut code = TokenStream::new();
        for (_, fill) in fills.into_iter().filter(|(t, _)| !function.begun.contains(t)) {
            code.extend(fill);
        }
        let mut names = Vec::new();
        let args: Vec<TokenStream> = function
            .args
            .iter()
            .map(|arg| self.argument_in_block(&block, (&kernel, &reads.rows), *arg, &mut names))
            .collect();
        names.iter_mut().for_each(|t| *t = self.whole_array(&block, *t));
        let turbofish = &function.turbofish;
        let call = quote!(#title #turbofish (#(#args),*));
        code.extend(self.add_returned(&mut block, &function.returns, &call));
        self.note(Note::Nest(Box::new(NestSummary { verb, tiled: true, ..function.summary })));
        self.add_function(function.item, &[&outs[..], &function.returns].concat());
        self.tile = Some(block);
        self.plain(guard, code, Vec::new(), names);
        Ok(())
    }

    /// Prepares the arrays that a nest reads: their leading rows, the names of their parts, and
    /// packed rows.
    fn prepare_reads(&mut self, block: &mut TileLoop, kernel: &Kernel<'_>, reads: &Reads) {
        let g = self.g;
        for &array in &reads.leading {
            self.leading(block, &Factor { array, transposed: false, start: None }, &g.shape(array)[1..]);
        }
        let of_items = self.plan.items_of_block(block.n);
        let inner: Vec<Term> = kernel.loops.iter().copied().filter(|&size| size != of_items).collect();
        block.works(&inner, operations(kernel));
        for &(part, array) in &reads.parts {
            self.names.insert(part, self.names[&array].clone());
        }
        if block.axis != ItemAxis::Last {
            return;
        }
        for t in buffers(kernel) {
            let outer = reads.rows.contains(&t) && g.rank(t) > 1 && !block.private.contains(&t);
            if outer && !block.packed.contains_key(&t) {
                let name = self.taken.fresh(&format!("{}_block", stem(&self.names[&t].to_string(), "_data")));
                block.packed.insert(t, name);
            }
        }
    }

    /// Lets results take the memory of the arrays that they overwrite. `alone`: the nest is a tile
    /// of its own.
    fn overwrite_in_block(&mut self, block: &mut TileLoop, reused: &HashMap<Term, Term>, alone: bool) {
        let mut overwritten: Vec<(Term, Term)> = reused.iter().map(|(&of, &t)| (of, t)).collect();
        overwritten.sort_unstable();
        for (of, t) in overwritten {
            if alone {
                self.overwrite_shared(block, t, of);
            } else {
                self.names.insert(t, self.names[&of].clone());
                self.memory.hold.insert(t, Storage::Owned);
            }
        }
    }

    /// Memory for the results of a nest. `stored` are those that overwrite no array. Returns the
    /// code that initialises each array again.
    fn memory_of_results(
        &mut self,
        block: &mut TileLoop,
        outs: &[Term],
        stored: &HashSet<Term>,
        items: &[Item],
    ) -> Result<Vec<(Term, TokenStream)>, String> {
        let mut fills = Vec::new();
        for &t in outs {
            if let Some((&src, _)) = block.fused_scatters.iter().find(|(_, u)| **u == t) {
                self.begin_scatter_memory(block, t, self.plan.readers.get(&src).and_then(|r| r.last()).copied())?;
            } else if self.g.rank(t) > 0 && stored.contains(&t) {
                let added = items.iter().any(|i| matches!(i, Item::Fold { out, .. } if *out == t));
                fills.push((t, self.block_memory(block, t, added)));
            }
        }
        Ok(fills)
    }

    /// The argument of a nest of a block. `rows` are the arrays of which items read their own rows.
    fn argument_in_block(
        &mut self,
        block: &TileLoop,
        (kernel, rows): (&Kernel<'_>, &[Term]),
        arg: Arg,
        names: &mut Vec<Term>,
    ) -> TokenStream {
        match arg {
            Arg::Out(t) => self.part(block, t, true, names),
            Arg::Buffer(t) if rows.contains(&t) => self.part_of_items(block, t, false, names),
            Arg::Buffer(t) => self.read_by(kernel, t, names),
            Arg::Scalar(t) => match self.item_of_block(block, t) {
                Some(name) => quote!(#name),
                None => self.argument(t, names),
            },
            Arg::Length => quote!(),
        }
    }

    /// Adds the numbers that a nest returns to their sums over all blocks, which begin with zero.
    fn add_returned(&mut self, block: &mut TileLoop, returns: &[Term], call: &TokenStream) -> TokenStream {
        for &t in returns {
            let (name, elem) = (self.name(t), self.g.elem(t));
            let (zero, ty) = (self.style.zero(elem), self.style.ty(elem));
            block.before.extend(quote!(let mut #name: #ty = #zero;));
            block.defines.push(t);
            Self::share_number(block, t);
        }
        let names: Vec<Ident> = returns.iter().map(|&t| self.name(t)).collect();
        match &*names {
            [] => quote!(#call;),
            [one] => quote!(#one += #call;),
            many => {
                let sums = self.taken.fresh("sums");
                let places = (0..many.len()).map(proc_macro2::Literal::usize_unsuffixed);
                quote!(let #sums = #call; #(#many += #sums.#places;)*)
            }
        }
    }

    /// The extrema of the only sum of a nest, if other statements of the tile take them. They must
    /// be the sum's only readers, and all maxima or all minima.
    fn extremum(&self, block: &TileLoop, items: &[Item]) -> Option<Extremum> {
        let mut sums = items.iter().filter_map(|i| if let Item::Fold { out, .. } = i { Some(*out) } else { None });
        let sum = sums.next().filter(|t| self.g.rank(*t) > 1 && block.private.contains(t))?;
        let mut extremum: Option<Extremum> = None;
        for &k in self.plan.readers.get(&sum)? {
            let Work::Whole(t) = self.plan.steps[k].work else { return None };
            let Node::Prim(Prim::Reduce(op, 1), args) = self.g.node(t) else { return None };
            let (greatest, is_place) = match op {
                Reduce::Max | Reduce::ArgMax => (true, *op == Reduce::ArgMax),
                Reduce::Min | Reduce::ArgMin => (false, *op == Reduce::ArgMin),
                _ => return None,
            };
            let e = extremum.get_or_insert(Extremum { sum, greatest, place: None, best: None });
            if **args != [sum] || e.greatest != greatest {
                return None;
            }
            *(if is_place { &mut e.place } else { &mut e.best }) = Some(t);
        }
        extremum
    }
}
