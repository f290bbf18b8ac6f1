//! Statements of stored terms that are not nests: scatters, blocks, conditionals of arrays,
//! aliases, stacks. This module does not decide which terms are stored; it follows the plan.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use quote::quote;

use super::super::block::{Join, Statement};
use super::super::code::{Code, Condition};
use super::super::items::{Item, scatter_item};
use super::super::kernel::{Kernel, Op};
use super::super::plan::Guard;
use super::super::rust::{prec, typed};
use super::super::store::{Class, adds_rows, alias_of, is_broadcast, padded_parts, repeats};
use super::memory::{Storage, flat};
use super::state::Driver;
use ad_ir::ir::{Node, Put, Term};
use ad_ir::prim::{Binary, Prim};

impl Driver<'_> {
    pub(super) fn whole(&mut self, t: Term, guard: &[Guard], k: usize) -> Result<(), String> {
        let g = self.g;
        if self.tile.is_some() {
            return match g.node(t) {
                Node::Scatter { .. } if self.updates_rows(t) => self.update_in_block(t, guard, k),
                Node::Scatter { .. } => self.scatter_in_block(t, guard, k),
                Node::Prim(Prim::Contract(_), _) => self.product_in_block(t, guard),
                _ => self.extrema_in_block(t, guard),
            };
        }
        if let Some(w) = self.plan.windows.get(&t) {
            self.windows(t, w, guard, k);
            return Ok(());
        }
        if let Some(&(array, step)) = self.plan.own_rows.get(&t) {
            self.own_row(t, array, step, guard);
            return Ok(());
        }
        let mut names = Vec::new();
        match g.node(t) {
            Node::Cond { cond, then, other } => {
                let arm = self.taken_branch(*cond, *then, *other);
                match (self.plan.in_place.get(&t), arm) {
                    (Some(&now), _) => self.same_memory(t, now),
                    (None, Some(arm)) => self.same_as(t, arm, guard, k),
                    (None, None) => self.join(t, *cond, *then, *other, guard, k),
                }
                Ok(())
            }
            Node::Scatter { put, src, .. } => self.scatters(t, *put, *src, guard, k),
            Node::Prim(Prim::Contract(spec), args) => self.contraction(t, spec, args, guard, k),
            Node::Prim(Prim::Sum(_), args) if adds_rows(g, &self.plan.class, &self.plan.exact, t) => {
                let x = self.borrow(args[0], &mut names);
                let code = self.allocate(t, &mut names, false);
                let (out, sums) = (self.out(t), self.kernel("column_sums"));
                self.plain(guard, quote!(#code #sums(#out, #x, false);), vec![t], names);
                Ok(())
            }
            Node::Prim(Prim::Replicate(axes), args) if repeats(g, &self.plan.class, t) => {
                self.repeated(t, args[0], axes.len(), guard, k)
            }
            Node::Prim(Prim::Sum(_), args) => {
                self.exact_sums(t, args[0], guard);
                Ok(())
            }
            Node::Prim(Prim::Reduce(op, _), args) => self.reduction(t, *op, args, guard),
            Node::Prim(Prim::Call(callee), args) => {
                self.call_of(t, callee, args, guard);
                Ok(())
            }
            Node::Prim(Prim::Onto(callee, ..), args) => self.call_onto(t, callee, args, guard, k),
            Node::Prim(Prim::Returned(k, _), args) => {
                self.returned(t, *k, args, guard);
                Ok(())
            }
            Node::Prim(prim, args) if prim.structural(|s| s.kernel()).flatten().is_some() => {
                self.structural(t, prim, args, guard, k);
                Ok(())
            }
            Node::Prim(Prim::Stack, args) => {
                self.stack(t, args, guard);
                Ok(())
            }
            _ if alias_of(g, &self.plan.class, t).is_some() => {
                let of = alias_of(g, &self.plan.class, t).unwrap_or(t);
                self.same_as(t, of, guard, k);
                Ok(())
            }
            _ if padded_parts(g, &self.plan.class, t).is_some() => self.padded(t, guard, k),
            _ if is_broadcast(g, t) => {
                let code = self.filled(t, t, "let", &mut names);
                self.plain(guard, code, vec![t], names);
                Ok(())
            }
            node => Err(format!("nothing computes {node:?}")),
        }
    }

    /// The scatters of a chain, as one loop over their sources.
    fn scatters(&mut self, t: Term, put: Put, src: Term, guard: &[Guard], k: usize) -> Result<(), String> {
        let (g, mut names) = (self.g, Vec::new());
        let all = self.plan.scatters(g, k);
        let Some(&first) = all.first() else { return Ok(()) };
        let Node::Scatter { dst, .. } = g.node(first) else { return Err("no scatter".into()) };
        let in_place = self.plan.in_place.get(&t).copied();
        let code = match in_place {
            Some(now) => {
                self.same_memory(t, now);
                Code::default()
            }
            None => self.added_onto(t, *dst, k + 1 - all.len(), &mut names),
        };
        let domain = g.shape(src).to_vec();
        let mut kernel = Kernel::new(g, self.plan, self.hints, domain, []);
        let mut items = Vec::new();
        for &scatter in &all {
            items.push(scatter_item(g, &mut kernel, (scatter, t))?);
        }
        // The allocation and the loop are one statement.
        let before = self.statements.len();
        let (verb, doc) = match put {
            Put::Add => ("scatter", "Adds at computed positions; what falls outside is dropped."),
            Put::Set => ("update", "Writes at computed positions; what falls outside is dropped."),
        };
        self.call(&kernel, &items, (verb, doc), &[t], guard, (false, &HashMap::new()))?;
        if let Some(s) = self.statements.get_mut(before) {
            let call = std::mem::replace(&mut s.code, code);
            s.code.push(call);
            s.names.extend(names);
            s.effect |= in_place.is_some();
        }
        Ok(())
    }

    /// The elements of an array, repeated.
    fn repeated(&mut self, t: Term, x: Term, axes: usize, guard: &[Guard], k: usize) -> Result<(), String> {
        let (g, mut names) = (self.g, Vec::new());
        if self.inside > 0 || self.stack_lens(t).is_some() {
            return self.nest(g.shape(t), &[t], guard, k);
        }
        self.memory.hold.insert(t, Storage::Owned);
        let times = self.product(&g.shape(t)[..axes], &mut names).tokens;
        let x = self.borrow(x, &mut names);
        let (name, repeated) = (self.name(t), self.kernel("repeated"));
        let array = self.heap_made(quote!(#repeated(#x, #times)));
        self.plain(guard, quote!(let #name = #array;), vec![t], names);
        Ok(())
    }

    /// Sums in ndarray's own order.
    fn exact_sums(&mut self, t: Term, x: Term, guard: &[Guard]) {
        let (g, mut names) = (self.g, Vec::new());
        let sum = self.kernel("exact_sum");
        let x = self.borrow(x, &mut names);
        if g.rank(t) == 0 {
            let name = self.name(t);
            self.plain(guard, quote!(let #name = #sum(#x);), vec![t], names);
        } else {
            let code = self.allocate(t, &mut names, false);
            let (out, each) = (self.out(t), self.kernel("each_row"));
            self.plain(guard, quote!(#code #each(#out, #x, #sum);), vec![t], names);
        }
    }

    /// A structural operation that is one call of a kernel.
    fn structural(&mut self, t: Term, prim: &Prim, args: &[Term], guard: &[Guard], k: usize) {
        let (g, mut names) = (self.g, Vec::new());
        let kernel = prim.structural(|s| s.kernel()).flatten().unwrap_or_default();
        let data = &args[..prim.data_args(args.len())];
        let given: Vec<TokenStream> = data.iter().map(|&x| self.borrow(x, &mut names)).collect();
        let code = self.allocate_for_kernel(t, &mut names, guard, k);
        let last = data.last().map_or(t, |&x| x);
        let sizes = &g.shape(last)[g.rank(last) - 1..];
        let (kernel, size) = (self.kernel_of_sizes(kernel, sizes), self.product(sizes, &mut names).tokens);
        let out = self.out(t);
        self.plain(guard, quote!(#code #kernel(#out, #(#given,)* #size);), vec![t], names);
    }

    /// The array of these parts.
    fn stack(&mut self, t: Term, args: &[Term], guard: &[Guard]) {
        let mut names = Vec::new();
        let code = if self.inside > 0 {
            self.hoist(t);
            self.stack_in_loop(t, args, &mut names)
        } else if self.g.rank(t) == 1 {
            self.stack_of_scalars(t, args, &mut names)
        } else {
            self.stack_of_rows(t, args, &mut names)
        };
        self.plain(guard, code, vec![t], names);
    }

    fn stack_of_scalars(&mut self, t: Term, args: &[Term], names: &mut Vec<Term>) -> TokenStream {
        let name = self.name(t);
        let parts: Vec<TokenStream> = args.iter().map(|&c| self.broadcast(c, names)).collect();
        if let Some(array) = self.scalars_on_stack(t, &parts) {
            return quote!(let #name = #array;);
        }
        self.memory.hold.insert(t, Storage::Owned);
        let array = match self.style.workspace {
            true => self.heap_copied(&quote!([#(#parts),*])),
            false => {
                let krate = &self.style.krate;
                quote!(#krate::runtime::alloc::vec![#(#parts),*])
            }
        };
        quote!(let #name = #array;)
    }

    fn stack_of_rows(&mut self, t: Term, args: &[Term], names: &mut Vec<Term>) -> TokenStream {
        let name = self.name(t);
        let row = |c: &Term| {
            let name = &self.names[c];
            match self.memory.hold.get(c) {
                Some(Storage::Stack(depth)) if *depth > 1 => flat(&quote!(#name), *depth, false),
                _ => quote!(&#name[..]),
            }
        };
        let parts: Vec<TokenStream> = args.iter().map(row).collect();
        names.extend(args);
        if let Some(code) = self.rows_on_stack(t, &parts) {
            names.extend(self.g.shape(t));
            return code;
        }
        self.memory.hold.insert(t, Storage::Owned);
        let array = self.heap_made(quote!([#(#parts),*].concat()));
        quote!(let #name = #array;)
    }

    /// An array that equals another one. The other array is moved if nothing else reads it, and
    /// borrowed or copied otherwise.
    fn same_as(&mut self, t: Term, of: Term, guard: &[Guard], k: usize) {
        let mut names = Vec::new();
        let owned = self.moves(of, k);
        let name = self.name(t);
        let from = self.borrow(of, &mut names);
        let code = if !self.as_many(self.g.shape(t), self.g.shape(of)) {
            let n = self.product(self.g.shape(t), &mut names).tokens;
            let zero = self.style.zero(self.g.elem(t));
            let owned = owned && self.memory.hold.get(&of) == Some(&Storage::Owned);
            self.memory.hold.insert(t, if owned { Storage::Owned } else { Storage::Contiguous });
            let fitted = self.kernel("cut");
            let given = &self.names[&of];
            if owned {
                let array = self.heap_resized(&quote!(#given), &n, &zero);
                quote!(let #name = #array;)
            } else if guard.is_empty() || self.inside > 0 {
                self.memory.lent.insert(of);
                quote!(let #name = #fitted(#from, 0, #n, #zero);)
            } else {
                self.memory.hold.insert(t, Storage::Owned);
                let array = self.heap_made(quote!(#fitted(#from, 0, #n, #zero).into_owned()));
                quote!(let #name = #array;)
            }
        } else if owned {
            self.take_over(t, of);
            let from = &self.names[&of];
            quote!(let #name = #from;)
        } else if guard.is_empty() || self.inside > 0 {
            self.memory.hold.insert(t, Storage::Borrowed);
            self.memory.lent.insert(of);
            let ty = self.style.ty(self.g.elem(t));
            quote!(let #name: &[#ty] = #from;)
        } else {
            let from = self.copy_as(t, of);
            quote!(let #name = #from;)
        };
        self.plain(guard, code, vec![t], names);
    }

    /// The row of an array that has the number of the iteration.
    fn own_row(&mut self, t: Term, array: Term, step: Term, guard: &[Guard]) {
        let mut names = Vec::new();
        let n = self.product(self.g.shape(t), &mut names);
        let (start, named) = self.scalar_expr(step);
        names.extend(named);
        names.push(array);
        let (from, start, n) = (self.elements(array), start.times(&n).at(prec::ADD), n.tokens);
        let (name, ty) = (self.name(t), self.style.ty(self.g.elem(t)));
        self.memory.hold.insert(t, Storage::Borrowed);
        self.plain(guard, quote!(let #name: &[#ty] = &#from[#start..][..#n];), vec![t], names);
    }

    /// A sum with blocks. One nest adds the dense summands, then one pass for each block adds the
    /// elements of that block. One stored summand is moved, or copied as a whole. A block of which
    /// no element has been written before is written, not added: joined arrays are copied.
    pub(super) fn padded(&mut self, t: Term, guard: &[Guard], k: usize) -> Result<(), String> {
        let g = self.g;
        let Some((dense, pads)) = padded_parts(g, &self.plan.class, t) else { return Err("no blocks".into()) };
        let mut names = Vec::new();
        let stored = |&of: &Term| self.plan.class(of) == Class::Buffer && g.shape(of) == g.shape(t);
        let onto = match &*dense {
            [of] if self.inside == 0 && stored(of) => Some(*of),
            _ => None,
        };
        let mut code = match onto {
            Some(of) => self.added_onto(t, of, k, &mut names),
            None => self.allocate(t, &mut names, dense.is_empty()),
        };
        let before = self.statements.len();
        if !dense.is_empty() && onto.is_none() {
            self.dense_sum(t, &dense, guard)?;
        }
        for (n, &pad) in pads.iter().enumerate() {
            let onto_zeros = dense.is_empty() && pads[..n].iter().all(|&before| self.apart(before, pad));
            self.add_block((t, pad), onto_zeros, guard, &mut names)?;
        }
        // One statement: the allocation and all passes.
        for s in self.statements.drain(before..) {
            code.push(s.code);
            self.notes.get_mut().extend(s.notes);
            names.extend(s.names);
        }
        names.retain(|n| *n != t);
        self.plain(guard, code, vec![t], names);
        Ok(())
    }

    /// The sum of the summands that are not blocks, as the result `t`.
    fn dense_sum(&mut self, t: Term, dense: &[Term], guard: &[Guard]) -> Result<(), String> {
        let g = self.g;
        let mut kernel = Kernel::new(g, self.plan, self.hints, g.shape(t).to_vec(), []);
        let identity = kernel.identity().to_vec();
        let mut sum = None;
        for &part in dense {
            let value = kernel.element(part, &identity, &[])?;
            sum = Some(match sum {
                None => value,
                Some(s) => kernel.op(Op::Prim(Prim::Binary(Binary::Add), [s, value].into())),
            });
        }
        let items: Vec<Item> =
            sum.iter().map(|&value| Item::Store { out: Some(t), value, read_under: Box::new([]) }).collect();
        self.call(&kernel, &items, ("compute", "The parts without zeros."), &[t], guard, (false, &HashMap::new()))
    }

    /// Adds the block `pad` to the result `t`, or writes it if it is `onto_zeros`.
    fn add_block(
        &mut self,
        (t, pad): (Term, Term),
        onto_zeros: bool,
        guard: &[Guard],
        names: &mut Vec<Term>,
    ) -> Result<(), String> {
        let g = self.g;
        let Node::Prim(Prim::Pad(steps), args) = g.node(pad) else { return Ok(()) };
        let domain = g.shape(args[0]).to_vec();
        let mut kernel = Kernel::new(g, self.plan, self.hints, domain.clone(), []);
        let identity = kernel.identity().to_vec();
        let value = kernel.element(args[0], &identity, &[])?;
        let mut ix = Vec::new();
        for (k, &step) in steps.iter().enumerate() {
            let start = kernel.element(args[1 + k], &[], &[])?;
            ix.push(kernel.affine(start, step, identity[k]));
        }
        let scatter = Item::Scatter { out: t, put: Put::Add, ix: ix.clone(), sizes: g.shape(t).to_vec(), value };
        let at = self.statements.len();
        let none = HashMap::new();
        if steps.iter().any(|&s| s != 1) {
            return self.call(&kernel, &[scatter], ("add", "Adds at a stride."), &[t], guard, (false, &none));
        }
        let item = Item::Block { out: t, put: Put::Add, ix, value, tested: false, onto_zeros };
        let title = match onto_zeros {
            true => ("write", "Writes a block of the result."),
            false => ("add", "Adds a block of the result."),
        };
        self.call(&kernel, &[item], title, &[t], guard, (false, &none))?;
        let mut fits: Option<TokenStream> = None;
        for k in 0..steps.len() {
            if self.known.fits(Some(args[1 + k]), Some(domain[k]), g.shape(t)[k]) {
                continue;
            }
            let kernel = self.kernel("fits");
            let [start, len, size] = [args[1 + k], domain[k], g.shape(t)[k]].map(|n| self.argument(n, names));
            let fit = quote!(#kernel(#start, #len, #size));
            fits = Some(fits.map_or(fit.clone(), |before| quote!(#before && #fit)));
        }
        let Some(fits) = fits else { return Ok(()) };
        // A masked read may be of a block that is partly out of range: only its part in range
        // contributes.
        let title = ("add", "Adds the part of a block that is inside.");
        self.call(&kernel, &[scatter], title, &[t], guard, (false, &none))?;
        let Some(mut within) = self.statements.pop() else { return Ok(()) };
        if let Some(s) = self.statements.get_mut(at) {
            let (whole, part) = (std::mem::take(&mut s.code), within.code);
            s.code = Code::of_if(Condition::opaque(fits), whole, &part);
            s.names.extend(within.names);
            s.notes.append(&mut within.notes);
        }
        Ok(())
    }

    /// Whether two blocks are known to have no element in common: along some axis, one begins where
    /// the other one has ended.
    fn apart(&self, a: Term, b: Term) -> bool {
        let parts = |t: Term| match self.g.node(t) {
            Node::Prim(Prim::Pad(steps), args) => Some((steps, args)),
            _ => None,
        };
        let (Some((steps, a)), Some((more, b))) = (parts(a), parts(b)) else { return false };
        let ends = |k: usize, before: &[Term], after: &[Term]| {
            self.known.ends_by(Some(before[1 + k]), Some(self.g.shape(before[0])[k]), after[1 + k])
        };
        (0..steps.len()).any(|k| steps[k] == 1 && more[k] == 1 && (ends(k, a, b) || ends(k, b, a)))
    }

    pub(super) fn broadcast(&self, t: Term, names: &mut Vec<Term>) -> TokenStream {
        let mut t = t;
        while let (Node::Prim(_, args), true) = (self.g.node(t), self.g.rank(t) > 0) {
            t = args[0];
        }
        let (e, named) = self.scalar_expr(t);
        names.extend(named);
        typed(&[&e]).unwrap_or(e.tokens)
    }

    /// A conditional of arrays. The array is moved out of its branch if nothing else reads it, and
    /// borrowed otherwise.
    pub(super) fn join(&mut self, t: Term, cond: Term, then: Term, other: Term, guard: &[Guard], k: usize) {
        let same_storage = self.memory.storage.get(&then) == self.memory.storage.get(&other);
        let owned = then != other && same_storage && self.moves(then, k) && self.moves(other, k);
        let name = self.name(t);
        // A reference must not outlive the block that it points into. Arrays outside of a loop are
        // in no block of it.
        if owned || (!guard.is_empty() && self.inside == 0) {
            let (a, b) = if owned {
                self.take_over(t, then);
                let (a, b) = (&self.names[&then], &self.names[&other]);
                (quote!(#a), quote!(#b))
            } else {
                (self.copy_as(t, then), self.copy_as(t, other))
            };
            let join = Join { cond, then: a, other: b, then_names: vec![then], other_names: vec![other] };
            let join = Some(join);
            self.add(Statement { guard: guard.to_vec(), join, defines: vec![t], ..Statement::default() });
            return;
        }
        let mut names = vec![cond];
        let (a, b) = (self.borrow(then, &mut names), self.borrow(other, &mut names));
        let (c, ty) = (self.argument(cond, &mut names), self.style.ty(self.g.elem(t)));
        self.memory.hold.insert(t, Storage::Borrowed);
        self.memory.lent.extend([then, other]);
        self.plain(guard, quote!(let #name: &[#ty] = if #c { #a } else { #b };), vec![t], names);
    }
}
