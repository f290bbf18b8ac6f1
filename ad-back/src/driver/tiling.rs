//! The code of a tile (`ad-back/src/tiling.rs`): memory for one block before the loop over blocks,
//! packed rows, calls on slices of arrays, and sums that continue from block to block. This module
//! does not decide which statements are tiled; `tiling` does.

use std::collections::HashMap;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};

use super::super::block::Statement;
use super::super::nest::Arg;
use super::super::plan::{Guard, ItemAxis, Plan, TiledStatements, Work};
use super::super::rust::{Expr, prec, stem};
use super::super::tiling::{ByItems, ScatteredItems, by_items, extremum, is_over, row_of, scattered, widths};
use super::memory::Storage;
use super::state::{Driver, TileLoop};
use super::threads::{BlockCode, scattered_operations};
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::prim::Prim;
use ad_middle::passes::lowering::matrix::Factor;

impl Driver<'_> {
    /// The statements of a tile, in a loop over blocks.
    pub(super) fn blocks(&mut self, tile: &TiledStatements) -> Result<(), String> {
        let plan = self.plan;
        let guard = plan.steps[plan.order[tile.steps.start]].guard.clone();
        let names = ["block", "first", "count"].map(|name| self.taken.fresh(name));
        let shared = self.shared_tile(tile);
        let block = TileLoop::new(tile, names, shared);
        if let Some(square) = plan.squares.get(&tile.n) {
            self.names.insert(square.count, block.count.clone());
            self.names.insert(square.first, block.first.clone());
        }
        self.tile = Some(block);
        let steps = self.steps_of_block(tile, &guard)?;
        let Some(mut block) = self.tile.take() else { return Err("a block is in no block".into()) };
        let (mut names, mut defines) = (std::mem::take(&mut block.names), std::mem::take(&mut block.defines));
        let TileLoop { size, first, count, before, .. } = &block;
        let n = self.scalar_expr(block.n).0;
        names.extend(self.scalar_expr(block.n).1);
        let width = self.width_of_item(&block, &mut names);
        let mut memory = self.memory_of_block(&block, &mut names);
        let [packing, unpacking] = self.packed_rows(&block, &mut memory, &mut names);
        let kernel = self.kernel(if self.has_only_rows(&block) { "block_of_rows" } else { "block" });
        let mut steps_code = TokenStream::new();
        for s in steps {
            if let Some(value) = &s.value {
                let name = &self.names[&s.defines[0]];
                steps_code.extend(quote!(let #name = #value;));
            }
            steps_code.extend(s.code.into_token_stream());
            names.extend(s.names);
        }
        steps_code.extend(unpacking);
        defines.dedup();
        let (n, least) = (n.at(prec::ADD), n.tokens);
        let code = BlockCode { block: kernel, n: [least, n], width, memory, packing, steps: steps_code };
        let code = match &block.shared {
            Some(shared) => {
                self.end_sharing(shared);
                self.chunks(&block, shared, &code, &mut names)
            }
            None => {
                let BlockCode { n: [least, n], block: kernel, width, memory, packing, steps } = &code;
                quote! {
                    let #size = #kernel(#least, #width);
                    #memory
                    #before
                    for #first in (0..#n).step_by(#size) {
                        let #count = #size.min(#n - #first);
                        #packing
                        #steps
                    }
                }
            }
        };
        names.retain(|t| !defines.contains(t) && !block.memory.contains(t));
        self.add(Statement { guard, code: code.into(), defines, names, ..Statement::default() });
        Ok(())
    }

    /// The statements of one block.
    fn steps_of_block(&mut self, tile: &TiledStatements, guard: &[Guard]) -> Result<Vec<Statement>, String> {
        let plan = self.plan;
        let outside = self.begin_body();
        // In the loop over blocks there is at least one item.
        let mark = self.known.enter(guard);
        let some = self.known.enter_nonempty(&[tile.n]);
        for k in tile.steps.clone() {
            // The nest that computes the sum does the work of such a scatter too.
            let added = |t: &Term| tile.fused_scatters.values().any(|u| u == t);
            if !matches!(&plan.steps[plan.order[k]].work, Work::Whole(t) if added(t)) {
                self.step(plan.order[k])?;
            }
        }
        some.into_iter().for_each(|mark| self.known.leave(mark));
        self.known.leave(mark);
        Ok(self.end_body(outside, None))
    }

    /// The memory for arrays of one block.
    fn memory_of_block(&mut self, block: &TileLoop, names: &mut Vec<Term>) -> TokenStream {
        let mut memory = TokenStream::new();
        for &t in &block.memory {
            let (name, zero) = (self.names[&t].clone(), self.style.zero(self.g.elem(t)));
            let numbers = self.in_block(t, (block.n, &block.size), names);
            let array = self.heap_filled(&zero, &numbers);
            memory.extend(quote!(let mut #name = #array;));
        }
        memory
    }

    /// Whether rows are read in place and every other array has one scalar for each item. Then only
    /// these arrays fill lanes with items, and the size of a block has other limits.
    fn has_only_rows(&self, block: &TileLoop) -> bool {
        let wide = |t: &Term| self.g.rank(*t) > 1;
        let in_place = block.packed.is_empty() && !block.memory.iter().any(wide) && !block.matrices.is_empty();
        in_place || block.axis == ItemAxis::First
    }

    /// The number of scalars that an item has in memory. Overwritten arrays count twice, so that
    /// saving memory does not make blocks larger.
    fn width_of_item(&mut self, block: &TileLoop, names: &mut Vec<Term>) -> TokenStream {
        let mut width: Option<Expr> = None;
        let all = block.memory.iter().chain(&block.reused).chain(block.packed.keys()).chain(&block.matrices);
        for (sizes, times) in widths(self.g, block.n, all.copied()) {
            let factor = proc_macro2::Literal::usize_unsuffixed(times);
            let of = match (times, &*sizes) {
                (_, []) => Expr::atom(quote!(#factor)),
                (1, _) => self.product(&sizes, names),
                _ => Expr::atom(quote!(#factor)).times(&self.product(&sizes, names)),
            };
            width = Some(width.map_or(of.clone(), |w| w.plus(&of)));
        }
        width.map_or(quote!(1), |w| w.tokens)
    }

    /// The statements that pack the rows of a block, and those that unpack them after it. `memory`
    /// gets the arrays of packed rows.
    fn packed_rows(&mut self, block: &TileLoop, memory: &mut TokenStream, names: &mut Vec<Term>) -> [TokenStream; 2] {
        let TileLoop { size, count, .. } = block;
        let (mut packing, mut unpacking) = (TokenStream::new(), TokenStream::new());
        let packed = self.kernel("packed");
        for (&t, name) in &block.packed {
            let zero = self.style.zero(self.g.elem(t));
            let (numbers, part) = (self.in_block(t, (block.n, size), names), self.in_block(t, (block.n, count), names));
            let start = self.in_block(t, (block.n, block.first_of(t)), names);
            let from = self.rows_of(block, t);
            names.push(self.whole_array(block, t));
            let array = self.heap_filled(&zero, &numbers);
            memory.extend(quote!(let mut #name = #array;));
            if block.unpacked.contains(&t) {
                let unpacked = self.kernel("unpacked");
                unpacking.extend(quote!(#unpacked(&mut #from[#start..][..#part], &#name, #count);));
            } else {
                packing.extend(quote!(#packed(&mut #name, &#from[#start..][..#part], #count);));
            }
        }
        [packing, unpacking]
    }

    /// The number of scalars in this number of items of an array.
    fn in_block(&self, t: Term, (n, items): (Term, &Ident), names: &mut Vec<Term>) -> TokenStream {
        let mut numbers = Expr::atom(quote!(#items));
        for n in row_of(self.g, t, n) {
            let (n, named) = self.scalar_expr(n);
            names.extend(named);
            numbers = numbers.times(&n);
        }
        numbers.tokens
    }

    /// The slice of an array that belongs to the block.
    pub(super) fn part(&self, block: &TileLoop, t: Term, out: bool, names: &mut Vec<Term>) -> TokenStream {
        let from_outside = !out && is_over(self.g, t, block.n);
        match block.rows.contains(&t) || from_outside {
            true => self.part_of_items(block, t, out, names),
            false if out => self.out(t),
            false => self.borrow(t, names),
        }
    }

    /// An array with the rows of all items.
    fn rows_of<'a>(&'a self, block: &'a TileLoop, t: Term) -> &'a Ident {
        let rows = (t, None, self.g.shape(t)[1..].to_vec());
        block.completed.get(&rows).unwrap_or(&self.names[&t])
    }

    pub(super) fn part_of_items(&self, block: &TileLoop, t: Term, out: bool, names: &mut Vec<Term>) -> TokenStream {
        names.push(t);
        let and = if out { quote!(&mut) } else { quote!(&) };
        if block.packed.contains_key(&t) || block.private.contains(&t) {
            let name = block.packed.get(&t).unwrap_or_else(|| self.rows_of(block, t));
            let numbers = self.in_block(t, (block.n, &block.count), names);
            quote!(#and #name[..#numbers])
        } else {
            let rows = self.rows_in_place(block, t, names);
            quote!(#and #rows)
        }
    }

    /// Memory for the result of a statement: one for the block, or a slice of the memory for all
    /// items. Sums are initialised again.
    pub(super) fn block_memory(&mut self, block: &mut TileLoop, t: Term, added: bool) -> TokenStream {
        let fill = self.initial_value(t);
        let name = self.name(t);
        if block.private.contains(&t) {
            block.memory.push(t);
            self.memory.hold.insert(t, Storage::Owned);
            if !added {
                return quote!();
            }
            let numbers = self.in_block(t, (block.n, &block.count), &mut block.names);
            return quote!(#name[..#numbers].fill(#fill););
        }
        let mut names = Vec::new();
        let array = self.new_array(t, (fill.clone(), !added), &mut names);
        block.names.extend(names);
        block.before.extend(quote!(let mut #name = #array;));
        block.defines.push(t);
        self.share(block, t);
        if !block.unpacked.contains(&t) {
            return quote!();
        }
        let of_block = self.taken.fresh(&format!("{}_block", stem(&name.to_string(), "_data")));
        let numbers = self.in_block(t, (block.n, &block.count), &mut block.names);
        let filled = quote!(#of_block[..#numbers].fill(#fill););
        block.packed.insert(t, of_block);
        if added { filled } else { quote!() }
    }

    /// The memory of a scatter that is accumulated block by block.
    pub(super) fn begin_scatter_memory(
        &mut self,
        block: &mut TileLoop,
        t: Term,
        step: Option<usize>,
    ) -> Result<(), String> {
        let Node::Scatter { dst, .. } = *self.g.node(t) else { return Err("a sum is added to no scatter".into()) };
        if block.defines.contains(&dst) {
            self.same_memory(t, dst);
            self.share_like(block, t, dst);
            block.defines.push(t);
            return Ok(());
        }
        let mut names = Vec::new();
        let code = self.added_onto(t, dst, step.ok_or("a sum that no scatter reads")?, &mut names);
        block.names.extend(names);
        block.before.extend(code.into_token_stream());
        block.defines.push(t);
        self.share(block, t);
        Ok(())
    }

    /// The name that a block has for the number of its items, or for its first item.
    pub(super) fn item_of_block(&self, block: &TileLoop, t: Term) -> Option<Ident> {
        if t == self.plan.items_of_block(block.n) {
            return Some(block.count.clone());
        }
        let square = self.plan.squares.get(&block.n);
        square.is_some_and(|square| t == square.first).then(|| block.first_item().clone())
    }

    /// The array of which a term stands for the rows of a block's items.
    pub(super) fn whole_array(&self, block: &TileLoop, t: Term) -> Term {
        let square = self.plan.squares.get(&block.n);
        square.and_then(|s| s.rows.iter().find(|(_, part)| **part == t)).map_or(t, |(&array, _)| array)
    }

    /// A scatter of values of the items of a block.
    pub(super) fn scatter_in_block(&mut self, t: Term, guard: &[Guard], step: usize) -> Result<(), String> {
        let all = self.plan.scatters(self.g, step);
        let Some(&first) = all.first() else { return Ok(()) };
        let Some(mut block) = self.tile.take() else { return Err("a scatter outside of a block".into()) };
        let Some(ScatteredItems { kernel, items, leading }) = scattered(self.g, self.plan, self.hints, block.n, &all)
        else {
            return Err("a scatter that no block can have".into());
        };
        for &array in &leading {
            self.leading(&mut block, &Factor { array, transposed: false, start: None }, &self.g.shape(array)[1..]);
        }
        block.leading = leading;
        block.works(&kernel.loops[1..], scattered_operations(&kernel));
        self.begin_scatter_memory(&mut block, first, Some(step + 1 - all.len()))?;
        for &next in &all[1..] {
            self.begin_scatter_memory(&mut block, next, None)?;
        }
        self.tile = Some(block);
        let what = ("scatter", "Adds at computed positions; what falls outside is dropped.");
        let written = self.call(&kernel, &items, what, &[t], guard, (false, &HashMap::new()));
        self.tile.iter_mut().for_each(|block| block.leading.clear());
        written
    }

    /// A product with the rows of the items of a block.
    pub(super) fn product_in_block(&mut self, t: Term, guard: &[Guard]) -> Result<(), String> {
        let Some(mut block) = self.tile.take() else { return Err("a product outside of a block".into()) };
        let Some((_, p)) = by_items(self.g, self.plan, t, Some(block.n)) else {
            return Err("a product that no block can have".into());
        };
        let mut names = Vec::new();
        block.works(&p.row, 1);
        let code = self.block_memory(&mut block, t, p.summed);
        let rows = self.rows(&mut block, &p, &mut names);
        let (vector, kernel) = if p.summed {
            (self.part(&block, p.vector.array, false, &mut names), "gemv_t")
        } else {
            (self.operand(&p.vector, &[&p.row, &Vec::new(), &Vec::new()], &mut names), "gemv")
        };
        let (out, kernel, summed) = (self.part(&block, t, true, &mut names), self.kernel(kernel), p.summed);
        let code = quote!(#code #kernel(#out, #rows, #vector, #summed););
        self.tile = Some(block);
        self.plain(guard, code, Vec::new(), names);
        Ok(())
    }

    /// The rows of a matrix that belong to the block.
    fn rows(&mut self, block: &mut TileLoop, p: &ByItems, names: &mut Vec<Term>) -> TokenStream {
        block.matrices.insert(p.matrix.array);
        self.leading(block, &p.matrix, &p.row);
        let row = self.product(&p.row, names);
        let [mut first, count] = [block.first_item(), &block.count].map(|items| Expr::atom(quote!(#items)));
        let from = match (block.completed.get(&(p.matrix.array, p.matrix.start, p.row.clone())), p.matrix.start) {
            (Some(name), _) => quote!(#name),
            (None, start) => {
                if let Some(start) = start.filter(|&t| self.g.int_value(t) != Some(0)) {
                    let (start, named) = self.scalar_expr(start);
                    names.extend(named);
                    first = start.plus(&first);
                }
                names.push(p.matrix.array);
                self.elements(p.matrix.array)
            }
        };
        let (first, count) = (first.times(&row).at(prec::ADD), count.times(&row).tokens);
        quote!(&#from[#first..][..#count])
    }

    /// Makes sure that an array has a row of these sizes for each item. The check that guarantees
    /// this may not have been executed at this point.
    pub(super) fn leading(&mut self, block: &mut TileLoop, x: &Factor, row: &[Term]) {
        let sizes = [std::slice::from_ref(&block.n), row].concat();
        let key = (x.array, x.start, row.to_vec());
        if self.rows_fit(x, &sizes) || block.completed.contains_key(&key) {
            return;
        }
        let name = self.taken.fresh(&format!("{}_rows", stem(&self.names[&x.array].to_string(), "_data")));
        let part = self.operand(x, &[&sizes, &Vec::new(), &Vec::new()], &mut block.names);
        block.before.extend(quote!(let #name = #part;));
        block.completed.insert(key, name);
    }

    /// The argument of a nest along the items of a block, in place of the array over all items.
    /// Rows of items are read in place.
    pub(super) fn block_argument(&self, arg: Arg, names: &mut Vec<Term>) -> Option<TokenStream> {
        let block = self.tile.as_ref()?;
        match arg {
            Arg::Scalar(t) if t == block.n => {
                let count = &block.count;
                Some(quote!(#count))
            }
            Arg::Buffer(t) => {
                let over = is_over(self.g, t, block.n);
                // Only a scatter has leading rows, and it reads them as they are outside of the
                // block.
                let in_place = over && self.g.rank(t) > 1 && !block.private.contains(&t);
                if in_place || !over && block.leading.contains(&t) {
                    let rows = self.rows_in_place(block, t, names);
                    return Some(quote!(&#rows));
                }
                over.then(|| self.part(block, t, false, names))
            }
            _ => None,
        }
    }

    /// The rows of the items of a block, in the layout that the array has outside of it.
    fn rows_in_place(&self, block: &TileLoop, t: Term, names: &mut Vec<Term>) -> TokenStream {
        let [numbers, start] = [&block.count, block.first_of(t)].map(|items| self.in_block(t, (block.n, items), names));
        names.push(t);
        let name = self.rows_of(block, t);
        quote!(#name[#start..][..#numbers])
    }

    /// Extrema of the items of a block.
    pub(super) fn extrema_in_block(&mut self, t: Term, guard: &[Guard]) -> Result<(), String> {
        let Some(mut block) = self.tile.take() else { return Err("extrema outside of a block".into()) };
        if block.taken.contains(&t) {
            self.tile = Some(block);
            return Ok(());
        }
        let Node::Prim(Prim::Reduce(op, _), args) = self.g.node(t) else { return Err("no extrema".into()) };
        let Some(kernel) = extremum(*op) else { return Err("no extrema".into()) };
        let (kernel, mut names) = (self.kernel(kernel), Vec::new());
        block.works(&row_of(self.g, args[0], block.n), 2);
        let code = self.block_memory(&mut block, t, false);
        let x = if block.private.contains(&args[0]) || self.g.rank(args[0]) == 1 {
            self.part(&block, args[0], false, &mut names)
        } else {
            let name = self.taken.fresh(&format!("{}_block", self.names[&args[0]]));
            block.packed.entry(args[0]).or_insert(name);
            self.part(&block, args[0], false, &mut names)
        };
        let (out, count) = (self.part(&block, t, true, &mut names), &block.count);
        let code = quote!(#code #kernel(#out, #x, #count););
        self.tile = Some(block);
        self.plain(guard, code, Vec::new(), names);
        Ok(())
    }
}

/// The statements of a tile in words.
pub(in super::super) fn describe(g: &Graph, plan: &Plan, tile: &TiledStatements) -> String {
    let steps = tile.steps.clone().filter(|&k| !matches!(plan.steps[k].work, Work::Check(_))).count();
    let arrays = tile.private.iter().filter(|&&t| g.rank(t) > 1).count();
    format!("in blocks of %{}: {steps} steps, {arrays} arrays of one block\n", tile.n.index())
}
