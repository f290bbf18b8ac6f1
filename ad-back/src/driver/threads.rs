//! The code of a tile whose blocks are shared by threads (feature `rayon`). The items are divided
//! into chunks; each chunk has blocks, memory for one block, its own rows of the arrays over items,
//! and sums of its own, which the runtime adds up.
//!
//! Sizes determine the chunks (`ad-runtime/src/kernel/threads/chunks.rs`). The code must never ask
//! for the number of threads. Without the feature nothing of this is written.

use ad_ir::sorted::SortedMap;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::super::kernel::{Kernel, Op};
use super::super::plan::{TiledStatements, Work};
use super::super::rust::Expr;
use super::super::tiling::row_of;
use super::memory::Storage;
use super::state::{Driver, TileLoop};
use ad_ir::choice;
use ad_ir::ir::Term;

/// The operations of a number that is moved from one place in memory to another that is computed.
const MOVED: u32 = 4;

/// The parts of a tile that threads share.
pub(super) struct SharedTile {
    /// The name of the first item of a block, counted from the first one of the chunk.
    pub(super) at: Ident,
    /// Arrays with a row for each item that are read after the tile, or returned.
    pub(super) rows: Vec<Term>,
    /// Sums over items: arrays, then numbers. A scatter onto another one is not listed.
    sums: Vec<Term>,
    numbers: Vec<Term>,
    /// Where these arrays are stored outside of the tile.
    stored: Vec<(Term, Option<Storage>)>,
    /// The operations for each item, by the sizes of the loops that repeat them.
    work: SortedMap<Vec<Term>, u32>,
}

/// The pieces of the loop over blocks.
pub(super) struct BlockCode {
    /// The number of items, and the same in brackets where a term of a sum or difference needs it.
    pub(super) n: [TokenStream; 2],
    /// The kernel that gives the number of items of a block.
    pub(super) block: TokenStream,
    pub(super) width: TokenStream,
    pub(super) memory: TokenStream,
    pub(super) packing: TokenStream,
    pub(super) steps: TokenStream,
}

impl TileLoop {
    /// Adds the operations of a nest for each item, given its loops over the elements of an item.
    pub(super) fn works(&mut self, loops: &[Term], operations: u32) {
        let Some(shared) = &mut self.shared else { return };
        *shared.work.entry(loops.to_vec()).or_default() += operations.max(1);
    }

    /// The name of the first item of a block, for the code of the block.
    pub(super) fn first_item(&self) -> &Ident {
        self.first_is_read.set(true);
        &self.first
    }

    /// The name of the first item of a block in this array, which may be the part of a chunk.
    pub(super) fn first_of(&self, t: Term) -> &Ident {
        match &self.shared {
            Some(shared) if shared.rows.contains(&t) => &shared.at,
            _ => self.first_item(),
        }
    }
}

/// The operations of one iteration of a nest.
pub(super) fn operations(kernel: &Kernel<'_>) -> u32 {
    let one = |op: &Op| match op {
        Op::Prim(prim, _) => prim.cost().unwrap_or(1),
        Op::Load { .. } | Op::If(..) => 1,
        Op::Lit(_) | Op::Scalar(_) | Op::Var(_) => 0,
    };
    kernel.nodes.iter().map(|node| one(&node.op)).sum()
}

/// The operations of one iteration of a scatter.
pub(super) fn scattered_operations(kernel: &Kernel<'_>) -> u32 {
    MOVED + operations(kernel)
}

impl Driver<'_> {
    /// The state of a tile for threads; `None` if its blocks are done one after the other. A
    /// caller's workspace is one for all blocks.
    pub(super) fn shared_tile(&mut self, tile: &TiledStatements) -> Option<SharedTile> {
        if !choice::threads() || self.style.workspace {
            return None;
        }
        let (g, plan) = (self.g, self.plan);
        let mut elems = Vec::new();
        for &k in &plan.order[tile.steps.clone()] {
            let terms = match &plan.steps[k].work {
                Work::Nest { items, .. } => items.clone(),
                Work::Whole(t) => vec![*t],
                _ => return None,
            };
            elems.extend(terms.iter().filter(|t| !tile.rows.contains(t)).map(|t| g.elem(*t)));
        }
        elems.dedup();
        if elems.len() > 1 || !elems.iter().all(|e| e.is_real()) {
            return None;
        }
        let at = self.taken.fresh("at");
        let (rows, sums, numbers, stored) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Some(SharedTile { at, rows, sums, numbers, stored, work: SortedMap::new() })
    }

    /// In a chunk, an array of the whole tile is a slice.
    pub(super) fn share(&mut self, block: &mut TileLoop, t: Term) {
        let over = block.rows.contains(&t);
        let Some(shared) = &mut block.shared else { return };
        if over { &mut shared.rows } else { &mut shared.sums }.push(t);
        shared.stored.push((t, self.memory.hold.insert(t, Storage::Row)));
    }

    /// Whether the tile that is being written consists of this statement.
    pub(super) fn tile_of_one(&self, step: usize) -> bool {
        let place = self.plan.order.iter().position(|&s| s == step);
        self.plan.tiles.iter().any(|tile| tile.steps.len() == 1 && Some(tile.steps.start) == place)
    }

    /// A result of a nest takes the memory of an array that nothing else reads any more.
    pub(super) fn overwrite_shared(&mut self, block: &mut TileLoop, t: Term, of: Term) {
        self.name(t);
        self.take_over(t, of);
        let (name, from) = (&self.names[&t], &self.names[&of]);
        block.before.extend(quote!(let mut #name = #from;));
        block.names.push(of);
        block.defines.push(t);
        self.share(block, t);
    }

    /// A scatter onto another one of the tile.
    pub(super) fn share_like(&mut self, block: &mut TileLoop, t: Term, dst: Term) {
        let Some(shared) = &mut block.shared else { return };
        let outside = shared.stored.iter().find(|(of, _)| *of == dst).and_then(|(_, hold)| *hold);
        shared.stored.push((t, outside));
    }

    /// A number that is summed over the items.
    pub(super) fn share_number(block: &mut TileLoop, t: Term) {
        if let Some(shared) = &mut block.shared {
            shared.numbers.push(t);
        }
    }

    /// After the tile, arrays are what they are outside of it.
    pub(super) fn end_sharing(&mut self, shared: &SharedTile) {
        for &(t, hold) in &shared.stored {
            match hold {
                Some(hold) => drop(self.memory.hold.insert(t, hold)),
                None => drop(self.memory.hold.remove(&t)),
            }
        }
    }

    /// The loop over blocks, by chunks of items.
    pub(super) fn chunks(
        &mut self,
        block: &TileLoop,
        shared: &SharedTile,
        code: &BlockCode,
        names: &mut Vec<Term>,
    ) -> TokenStream {
        let TileLoop { size, first, count, before, .. } = block;
        let BlockCode { n: [n, _], block: kernel, width, memory, packing, steps } = code;
        let SharedTile { at, rows, sums, numbers, .. } = shared;
        let [of_chunk, from, items] = ["chunk", "from", "items"].map(|name| self.taken.fresh(name));
        let mut work: Option<Expr> = None;
        for (sizes, &times) in &shared.work {
            let times = {
                let times = Literal::u32_unsuffixed(times);
                Expr::atom(quote!(#times))
            };
            let of = if sizes.is_empty() { times } else { times.times(&self.product(sizes, names)) };
            work = Some(work.map_or(of.clone(), |w| w.plus(&of)));
        }
        let work = work.map_or(quote!(1), |w| w.tokens);
        // The arrays outside of the closure, and their slices in it, which have the same names.
        let (mut lent, mut taken) = (quote!(()), quote!(()));
        for &t in rows.iter().rev() {
            let (name, slice) = (self.names[&t].clone(), self.whole_slice(t));
            let width = self.product(&row_of(self.g, t, block.n), names).tokens;
            lent = quote!(((#slice, #width), #lent));
            taken = quote!(((#name, _), #taken));
        }
        let (mut added, mut places, mut own, mut ends, mut numbers_of_sums) =
            (Vec::new(), Vec::new(), TokenStream::new(), TokenStream::new(), None::<Expr>);
        for &t in sums {
            let name = self.names[&t].clone();
            added.push(self.whole_slice(t));
            places.push(name);
            let len = self.product(self.g.shape(t), names);
            numbers_of_sums = Some(numbers_of_sums.map_or(len.clone(), |sum| sum.plus(&len)));
        }
        for &t in numbers {
            let (name, zero, ty) =
                (self.names[&t].clone(), self.style.zero(self.g.elem(t)), self.style.ty(self.g.elem(t)));
            let place = self.taken.fresh(&format!("{name}_sum"));
            added.push(quote!(::core::slice::from_mut(&mut #name)));
            own.extend(quote!(let mut #name: #ty = #zero;));
            ends.extend(quote!(#place[0] += #name;));
            places.push(place);
        }
        let sums = numbers_of_sums.map_or(quote!(0), |sum| sum.tokens);
        let added = if added.is_empty() { self.no_sums(block) } else { quote!([#(#added),*]) };
        let (first_item, from) = match block.first_is_read.get() {
            true => (quote!(let #first = #from + #at;), quote!(#from)),
            false => (quote!(), quote!(_)),
        };
        let [chunk, in_chunks] = ["chunk", "in_chunks"].map(|name| self.kernel(name));
        quote! {
            let #of_chunk = #chunk(#n, [#work, #width, #sums]);
            let #size = #kernel(#of_chunk, #width);
            #before
            #in_chunks(#n, #of_chunk, #lent, #added, |#from, #items, #taken, [#(#places),*]| {
                #memory
                #own
                for #at in (0..#items).step_by(#size) {
                    let #count = #size.min(#items - #at);
                    #first_item
                    #packing
                    #steps
                }
                #ends
            });
        }
    }

    /// No sums, of a type that the runtime knows.
    fn no_sums(&self, block: &TileLoop) -> TokenStream {
        let real = block.shared.iter().flat_map(|s| &s.rows).chain(&block.private).map(|&t| self.g.elem(t));
        let ty = real.filter(|e| e.is_real()).min().map_or(quote!(f64), |e| self.style.ty(e));
        quote!([] as [&mut [#ty]; 0])
    }

    /// All elements of an array as a mutable slice.
    fn whole_slice(&self, t: Term) -> TokenStream {
        let name = &self.names[&t];
        match self.memory.hold.get(&t) {
            Some(Storage::Stack(depth)) if *depth > 1 => self.borrow_mut(t),
            _ => quote!(&mut #name[..]),
        }
    }
}
