//! Loops with carried state: their memory before the loop, the body by the same statements as all
//! other code, and the values that an iteration passes to the next one. Scalars are `let mut`. An
//! array is updated in place if only some of its elements are added to; otherwise the next state is
//! computed into a second array, and the two are swapped. Memory of a body is declared before the
//! outermost loop: no iteration allocates.
//!
//! Invariants: memory of a loop is not moved away by its body, and a carried value is overwritten
//! only after all reads of its earlier state.

use ad_ir::sorted::SortedSet;
use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::block::{Statement, nested};
use super::super::code::Code;
use super::super::notes::Note;
use super::super::outer_vectorisation::axis_of;
use super::super::plan::{Guard, Work};
use super::super::rust::Expr;
use super::super::store::{Class, alias_of, is_broadcast};
use super::memory::{Storage, flat};
use super::state::Driver;
use ad_ir::analysis::guards::decided;
use ad_ir::analysis::zeros::is_blank;
use ad_ir::ir::{Node, Term};
use ad_ir::prim::Prim;
use ad_ir::rust_types::static_type;
use ad_middle::passes::lowering::opened::{Carry, LeafRole, Loop, RowGrowth, Rows};

/// The maximum nesting of conditions that are examined.
const MAX_NESTING: usize = 8;

impl Driver<'_> {
    /// Declares the memory of an array that an iteration computes, before the outermost loop.
    pub(super) fn hoist(&mut self, t: Term) {
        if self.memory.hold.get(&t) == Some(&Storage::Row) {
            return;
        }
        let name = self.name(t);
        self.hoist_as(t, &name, t);
        self.memory.outside.insert(t);
    }

    /// Declares memory of the same kind as that of `like` before the outermost loop, under this
    /// name. The declaration is kept if `t` is needed.
    fn hoist_as(&mut self, t: Term, name: &Ident, like: Term) {
        let mut names = Vec::new();
        let zero = self.style.zero(self.g.elem(like));
        let ty = self.style.ty(self.g.elem(like));
        let array = self.array_before_loops(like, zero, &mut names);
        let ty = match self.memory.storage.get(&like) {
            Some(lens) => static_type(ty, lens),
            None => self.heap_type(&ty),
        };
        self.memory.hoisted.push((t, quote!(let mut #name: #ty = #array;), names));
    }

    /// Declares a second array with the same kind of memory as `t`.
    pub(super) fn hoist_spare(&mut self, t: Term, name: &Ident) {
        let (hold, storage) = (self.memory.hold.get(&t).copied(), self.memory.storage.get(&t).cloned());
        let zero = self.style.zero(self.g.elem(t));
        let ty = self.style.ty(self.g.elem(t));
        let mut names = Vec::new();
        let code = match (hold, storage) {
            (Some(Storage::Stack(_)), Some(lens)) => {
                let (ty, array) = (static_type(ty, &lens), static_type(zero, &lens));
                quote!(let mut #name: #ty = #array;)
            }
            _ => {
                let n = self.product(self.g.shape(t), &mut names).tokens;
                let (ty, array) = (self.heap_type(&ty), self.heap_filled(&zero, &n));
                quote!(let mut #name: #ty = #array;)
            }
        };
        self.memory.hoisted.push((t, code, names));
    }

    /// `t` as an argument of a function that writes to it.
    pub(super) fn out(&self, t: Term) -> TokenStream {
        let name = &self.names[&t];
        match self.memory.hold.get(&t) {
            Some(Storage::Row) => quote!(#name),
            _ => self.borrow_mut(t),
        }
    }

    /// Sets all elements of the existing array `t` to this value.
    pub(super) fn refill(&self, t: Term, name: &Ident, fill: &TokenStream) -> TokenStream {
        let slice = self.slice_mut(t, name);
        quote!(#slice.fill(#fill);)
    }

    /// `t` as the receiver of a method of mutable slices.
    pub(super) fn slice_mut(&self, t: Term, name: &Ident) -> TokenStream {
        match self.memory.hold.get(&t) {
            Some(Storage::Stack(depth)) if *depth > 1 => flat(&quote!(#name), *depth, true),
            _ => quote!(#name),
        }
    }

    /// Records that the memory of `of` now holds `t`.
    pub(super) fn same_memory(&mut self, t: Term, of: Term) {
        let name = self.names[&of].clone();
        self.names.insert(t, name);
        self.hold_like(t, of);
        self.memory.outside.insert(t);
    }

    fn hold_like(&mut self, t: Term, of: Term) {
        if let Some(hold) = self.memory.hold.get(&of).copied() {
            self.memory.hold.insert(t, hold);
        }
        if let Some(lens) = self.memory.storage.get(&of).cloned() {
            self.memory.storage.insert(t, lens);
        }
    }

    /// Fills `t` with the scalar that all elements of `of` are equal to.
    pub(super) fn filled(&mut self, t: Term, of: Term, binding: &str, names: &mut Vec<Term>) -> TokenStream {
        let fill = self.broadcast(of, names);
        let name = self.name(t);
        if self.inside > 0 {
            self.hoist(t);
            return self.refill(t, &name, &fill);
        }
        let array = self.new_array(t, (fill, false), names);
        if binding == "let" { quote!(let #name = #array;) } else { quote!(let mut #name = #array;) }
    }

    /// Arrays or scalars, concatenated in existing memory.
    pub(super) fn stack_in_loop(&mut self, t: Term, args: &[Term], names: &mut Vec<Term>) -> TokenStream {
        let name = self.name(t);
        if self.g.rank(t) == 1 {
            let parts: Vec<TokenStream> = args.iter().map(|&c| self.broadcast(c, names)).collect();
            let slice = self.slice_mut(t, &name);
            return quote!(#slice.copy_from_slice(&[#(#parts),*]););
        }
        let parts: Vec<TokenStream> = args.iter().map(|&c| self.borrow(c, names)).collect();
        let (out, joined) = (self.out(t), self.kernel("joined"));
        quote!(#joined(#out, &[#(#parts),*]);)
    }

    /// The memory of a scatter, after the elements of its destination have been copied there.
    pub(super) fn added_onto(&mut self, t: Term, dst: Term, k: usize, names: &mut Vec<Term>) -> Code {
        if is_broadcast(self.g, dst) && self.plan.class(dst) != Class::Buffer {
            return self.filled(t, dst, "let mut", names).into();
        }
        let alone = self.plan.uses.get(&dst) == Some(&1) && self.plan.readers.get(&dst).is_some_and(|r| r == &[k]);
        if self.inside > 0
            && alone
            && self.memory.hoisted.iter().any(|h| h.0 == dst)
            && self.plan.loops.role(dst).is_none()
        {
            // This iteration has computed the destination, and nothing else reads it.
            names.push(dst);
            self.same_memory(t, dst);
            return Code::default();
        }
        if self.inside > 0 {
            self.hoist(t);
            let name = self.name(t);
            let (to, from) = (self.slice_mut(t, &name), self.borrow(dst, names));
            return quote!(#to.copy_from_slice(#from);).into();
        }
        names.push(dst);
        let name = self.name(t);
        if self.moves(dst, k) {
            self.take_over(t, dst);
            let from = &self.names[&dst];
            return quote!(let mut #name = #from;).into();
        }
        let from = self.copy_as(t, dst);
        quote!(let mut #name = #from;).into()
    }

    /// Writes a loop with carried state.
    pub(super) fn carried_loop(&mut self, n: usize, guard: &[Guard], k: usize) -> Result<(), String> {
        let plan = self.plan;
        if let Some(axis) = axis_of(self.g, plan, self.hints, n) {
            return self.vectorised_loop(n, axis, guard, k);
        }
        let l = &plan.loops.all[n];
        let (mut names, mut before) = (Vec::new(), Vec::new());
        let around = self.outlining(n);
        // An outlined function owns the values that it changes.
        let head = self.begin(l, k, &mut before, around.is_none());
        let around = around.map(|sizes| self.enter_outlined(l, sizes));
        let (count, named) = self.scalar_expr(l.steps);
        names.extend(named);
        let step = self.taken.fresh(["i", "j", "k"].get(self.inside).copied().unwrap_or("i"));
        self.names.insert(l.step, step.clone());

        let stop = l.stop.filter(|&t| self.g.bool_value(t) != Some(false)).map(|t| self.argument(t, &mut names));

        let mut used = SortedSet::new();
        let body = self.body_of_loop(n, &mut names, &mut used)?;

        let uses_step = names.contains(&l.step) || used.contains(&l.step);
        let var = if uses_step { quote!(#step) } else { quote!(_) };
        let count = if count.receiver.is_some() { count.receiver() } else { count.at(super::super::rust::prec::ADD) };
        let range = if l.reverse { quote!((0..#count).rev()) } else { quote!(0..#count) };
        let mut defines: Vec<Term> = l.carries.iter().map(|c| c.last).collect();
        defines.extend(l.rows.iter().map(|r| r.all));
        let memory = self.hoisted_memory(&defines, &mut names);
        let endless = l.steps == l.count && self.g.int_value(l.count) == Some(i128::from(u64::MAX));
        let carried = l.stop.is_some_and(|t| l.carries.iter().any(|c| c.now == t));
        // Without a loop, rustc would warn of the first value of a number that the step does not
        // read.
        let read = |t: &Term| self.g.rank(*t) > 0 || names.contains(t) || used.contains(t);
        let once = !uses_step && self.g.int_value(l.steps) == Some(1) && l.carries.iter().all(|c| read(&c.now));
        let code = match stop {
            Some(stop) if endless && carried && !uses_step => quote!(while !#stop { #body }),
            Some(stop) if endless => quote!(for #var in 0..usize::MAX { if #stop { break; } #body }),
            Some(stop) => quote!(for #var in #range { if #stop { break; } #body }),
            None if once => quote!({ #body }),
            None => quote!(for #var in #range { #body }),
        };
        // Terms of the body are read in the body only.
        let scopes = &plan.scopes;
        let outer = |t: &Term| !scopes.contains(n + 1, scopes.of(*t)) && !defines.contains(t);
        names.retain(outer);
        before.retain(outer);
        let handed = around.is_some();
        let code = match around {
            Some(outside) => {
                self.note(Note::Outlined);
                if !self.matrix_sizes.is_empty() {
                    self.note(Note::LiteralSizes);
                }
                let call = self.leave_outlined(l, outside, &quote!(#memory #code), &mut names);
                quote!(#head #call)
            }
            None => quote!(#memory #head #code),
        };
        names.extend(before);
        names.sort_unstable();
        names.dedup();
        let effect = l.carries.iter().any(|c| plan.in_place.contains_key(&c.last));
        let statement = Statement {
            guard: guard.to_vec(),
            code: code.into(),
            defines,
            names,
            effect,
            handed,
            ..Statement::default()
        };
        self.add(statement);
        Ok(())
    }

    /// The code of a step. `names` gets the terms that it names, and `used` those that the code
    /// around its statements reads.
    fn body_of_loop(
        &mut self,
        n: usize,
        names: &mut Vec<Term>,
        used: &mut SortedSet<Term>,
    ) -> Result<TokenStream, String> {
        let plan = self.plan;
        let l = &plan.loops.all[n];
        let outer = self.begin_body();
        let mark = self.known.enter(&l.inside.map(|c| (c, true)));
        self.inside += 1;
        let first = self.rows_to_write(l, names, used);
        for &k in &plan.bodies[n] {
            self.step(k)?;
        }
        let (last, needed) = self.end(l, names, used);
        self.inside -= 1;
        self.known.leave(mark);
        let statements = self.end_body(outer, Some(&needed));
        for s in &statements {
            names.extend(s.names_all());
            self.kept.extend(&s.defines);
        }
        names.extend(&needed);
        let returned: HashSet<Term> = needed.into_iter().collect();
        let body = nested(&statements, &returned, self);
        Ok(quote!(#first #body #last))
    }

    /// The code before an outermost loop that allocates the memory of arrays of its body. `defines`
    /// are the results of the loop.
    pub(super) fn hoisted_memory(&mut self, defines: &[Term], names: &mut Vec<Term>) -> TokenStream {
        let mut memory = TokenStream::new();
        if self.inside > 0 {
            return memory;
        }
        for (t, code, named) in std::mem::take(&mut self.memory.hoisted) {
            if self.kept.contains(&t) || defines.contains(&t) {
                memory.extend(code);
                names.extend(named);
            }
        }
        self.kept.clear();
        memory
    }

    /// The code before a loop: it declares the carried values and the memory for rows.
    pub(super) fn begin(&mut self, l: &Loop, k: usize, names: &mut Vec<Term>, mutable: bool) -> TokenStream {
        let binding = if mutable { quote!(let mut) } else { quote!(let) };
        let mut head = TokenStream::new();
        for c in &l.carries {
            head.extend(self.begin_carry(c, k, names, &binding));
        }
        for r in &l.rows {
            head.extend(self.begin_rows(l, r, names, &binding));
        }
        head
    }

    /// Declares a carried value.
    fn begin_carry(&mut self, c: &Carry, k: usize, names: &mut Vec<Term>, binding: &TokenStream) -> TokenStream {
        let (g, plan) = (self.g, self.plan);
        let hint = self.hints.get(&c.last).or_else(|| self.hints.get(&c.now)).map_or("acc", String::as_str);
        let name = self.taken.fresh(hint);
        self.names.insert(c.now, name.clone());
        self.names.insert(c.last, name.clone());
        let ty = self.style.ty(g.elem(c.now));
        if g.rank(c.now) == 0 {
            let init = self.argument(c.init, names);
            return quote!(#binding #name: #ty = #init;);
        }
        if let Some(&outer) = plan.in_place.get(&c.last) {
            // An enclosing loop carries the array: both loops use one memory.
            names.push(outer);
            self.same_memory(c.last, outer);
            self.same_memory(c.now, outer);
            return TokenStream::new();
        }
        let broadcast = is_broadcast(g, c.init) && plan.class(c.init) != Class::Buffer;
        let code = if self.inside > 0 {
            self.hoist_as(c.last, &name, c.last);
            self.memory.outside.insert(c.last);
            let to = self.slice_mut(c.last, &name);
            if self.begins_alone(c, k) {
                names.push(c.init);
                let init = &self.names[&c.init];
                self.note(Note::Swapped);
                quote!(::core::mem::swap(&mut #name, &mut #init);)
            } else if broadcast {
                let fill = self.broadcast(c.init, names);
                quote!(#to.fill(#fill);)
            } else {
                let from = self.borrow(c.init, names);
                self.note(Note::CopiedBeginning);
                quote!(#to.copy_from_slice(#from);)
            }
        } else if broadcast {
            let fill = self.broadcast(c.init, names);
            let array = self.fresh_array(c.last, fill, names);
            quote!(#binding #name = #array;)
        } else {
            names.push(c.init);
            let from = if self.moves(c.init, k) {
                self.take_over(c.last, c.init);
                let from = &self.names[&c.init];
                quote!(#from)
            } else {
                self.copy_as(c.last, c.init)
            };
            quote!(#binding #name = #from;)
        };
        self.hold_like(c.now, c.last);
        self.memory.outside.insert(c.now);
        code
    }

    /// Declares the memory for rows.
    fn begin_rows(&mut self, l: &Loop, r: &Rows, names: &mut Vec<Term>, binding: &TokenStream) -> TokenStream {
        let g = self.g;
        if self.memory.hold.get(&r.all) == Some(&Storage::Row) {
            // The enclosing loop has memory for it.
            return self.blank_rest(l, r, names);
        }
        if r.how == RowGrowth::Inner {
            return TokenStream::new();
        }
        let name = self.name(r.all);
        if let RowGrowth::Steps(from) = r.how {
            let mut code = self.begin_growing(r, &name, binding);
            if let Some(from) = from {
                let (from, named) = self.scalar_expr(from);
                names.extend(named);
                let len = if g.rank(r.row) == 0 { from } else { from.times(&self.product(g.shape(r.row), names)) };
                let len = len.tokens;
                code.extend(quote!(#name.truncate(#len);));
            }
            return code;
        }
        if self.inside > 0 {
            self.hoist_as(r.all, &name, r.all);
            self.memory.outside.insert(r.all);
            return self.blank_rest(l, r, names);
        }
        let zero = self.style.zero(g.elem(r.all));
        let array = self.fresh_array(r.all, zero, names);
        self.memory.fresh.insert(r.all);
        quote!(#binding #name = #array;)
    }

    /// Whether the initial value of a carried array is recomputed before every execution of the
    /// loop, and only the loop reads it. Then the loop can take over its memory.
    fn begins_alone(&self, c: &Carry, k: usize) -> bool {
        let plan = self.plan;
        let own = |t: Term| self.memory.hold.get(&t) == Some(&Storage::Owned) && self.memory.outside.contains(&t);
        own(c.last)
            && own(c.init)
            && plan.uses.get(&c.init) == Some(&1)
            && plan.readers.get(&c.init).is_some_and(|r| r == &[k])
            && plan.loops.role(c.init).is_none()
            && !plan.in_place.contains_key(&c.init)
            && !self.memory.lent.contains(&c.init)
            && self.memory.hoisted.iter().filter(|h| h.0 == c.init).count() == 1
            && plan.steps.iter().any(|s| matches!(&s.work, Work::Nest { items, .. } if items.contains(&c.init)))
    }

    /// Begins the memory of rows whose number is not known beforehand.
    fn begin_growing(&mut self, r: &Rows, name: &Ident, binding: &TokenStream) -> TokenStream {
        self.memory.hold.insert(r.all, Storage::Owned);
        let ty = self.style.ty(self.g.elem(r.all));
        let (ty, array) = (self.heap_type(&ty), self.heap_growing());
        let code = |binding: &TokenStream| quote!(#binding #name: #ty = #array;);
        self.memory.fresh.insert(r.all);
        if self.inside == 0 {
            return code(binding);
        }
        let code = code(&quote!(let mut));
        self.memory.hoisted.push((r.all, code, Vec::new()));
        self.memory.outside.insert(r.all);
        TokenStream::new()
    }

    /// Rows of iterations that do not run are zeros, whatever their memory held before, if they are
    /// read.
    fn blank_rest(&self, l: &Loop, r: &Rows, names: &mut Vec<Term>) -> TokenStream {
        if l.steps == l.count || !self.plan.read_whole.contains(&r.all) || self.memory.fresh.contains(&r.all) {
            return TokenStream::new();
        }
        let all = self.slice_mut(r.all, &self.names[&r.all]);
        let (steps, named) = self.scalar_expr(l.steps);
        names.extend(named);
        let start = if self.g.rank(r.row) == 0 {
            steps.tokens
        } else {
            let row = self.product(self.g.shape(r.row), names);
            steps.times(&row).tokens
        };
        let zero = self.style.zero(self.g.elem(r.all));
        quote!(#all[#start..].fill(#zero);)
    }

    /// The slice of the array of all rows that this iteration writes.
    pub(super) fn place(&self, l: &Loop, r: &Rows, names: &mut Vec<Term>, used: &mut SortedSet<Term>) -> TokenStream {
        let (all, step) = (&self.names[&r.all], &self.names[&l.step]);
        if self.g.rank(r.row) == 0 {
            used.insert(l.step);
            return quote!(#all[#step]);
        }
        let all = self.slice_mut(r.all, all);
        let m = self.product(self.g.shape(r.row), names);
        // If rows have no elements, all of them start at 0.
        if !m.is(0) {
            used.insert(l.step);
        }
        let (start, m) = (Expr::atom(quote!(#step)).times(&m).tokens, m.tokens);
        quote!(#all[#start..][..#m])
    }

    /// The statement that copies a row to its memory.
    pub(super) fn written_row(
        &self,
        l: &Loop,
        r: &Rows,
        names: &mut Vec<Term>,
        used: &mut SortedSet<Term>,
    ) -> TokenStream {
        let from = self.borrow(r.row, names);
        if matches!(r.how, RowGrowth::Steps(_)) {
            let all = &self.names[&r.all];
            return quote!(#all.extend_from_slice(#from););
        }
        let place = self.place(l, r, names, used);
        quote!(#place.copy_from_slice(#from);)
    }

    /// The code at the start of an iteration: it writes the rows that are the current carried
    /// values, and makes the slices for rows that the body writes itself.
    fn rows_to_write(&mut self, l: &Loop, names: &mut Vec<Term>, used: &mut SortedSet<Term>) -> TokenStream {
        let (g, mut code) = (self.g, TokenStream::new());
        for r in l.rows.iter().filter(|r| g.rank(r.row) > 0 && r.how != RowGrowth::Inner) {
            if l.carries.iter().any(|c| c.now == r.row) {
                code.extend(self.written_row(l, r, names, used));
            } else if let Some(t) = self.written(l, r) {
                let place = if matches!(r.how, RowGrowth::Steps(_)) {
                    let (all, len, m) =
                        (self.names[&r.all].clone(), self.taken.fresh("len"), self.product(g.shape(r.row), names));
                    let (m, zero) = (m.tokens, self.style.zero(g.elem(r.all)));
                    code.extend(quote!(let #len = #all.len(); #all.resize(#len + #m, #zero);));
                    quote!(#all[#len..])
                } else {
                    self.place(l, r, names, used)
                };
                let name = self.name(t);
                self.memory.hold.insert(t, Storage::Row);
                self.memory.outside.insert(t);
                self.places.insert(r.all, t);
                if self.memory.fresh.contains(&r.all) {
                    self.memory.fresh.insert(t);
                }
                code.extend(quote!(let #name = &mut #place;));
            }
        }
        code
    }

    /// The term that a statement computes directly into the memory of a row. It is the row itself;
    /// or, if the row is a conditional with a zero branch and the memory is zero already, the other
    /// branch. That branch must then be computed under the condition only.
    fn written(&self, l: &Loop, r: &Rows) -> Option<Term> {
        let plan = self.plan;
        let (mut t, mut uses, mut conditions) = (r.row, 0, Vec::new());
        while let (Node::Cond { cond, then, other }, true) = (self.g.node(t), self.memory.fresh.contains(&r.all)) {
            if plan.uses.get(&t) != Some(&1) {
                return None;
            }
            uses = 1;
            let (branch, holds) = match (is_blank(self.g, *then), is_blank(self.g, *other)) {
                (false, true) => (*then, true),
                (true, false) => (*other, false),
                _ => return None,
            };
            conditions.push((*cond, holds));
            t = branch;
        }
        let own = plan.scopes.of(t);
        let here = own > 0 && plan.loops.all[own - 1].step == l.step;
        let rows = l.rows.iter().filter(|other| other.row == t).count();
        let only = rows + uses == 1 && !l.carries.iter().any(|c| c.next == t);
        if !here || !only || self.memory.hold.get(&t) == Some(&Storage::Row) && uses == 1 {
            return None;
        }
        if let Some((n, LeafRole::Rows(_))) = plan.loops.role(t) {
            let alone = conditions.is_empty() || plan.uses.get(&t) == Some(&1);
            return (alone && plan.scopes.parent[n] == own).then_some(t);
        }
        let form = match self.g.node(t) {
            Node::Param(..) | Node::Cond { .. } | Node::Scatter { .. } | Node::Prim(Prim::Onto(..), _) => false,
            _ => alias_of(self.g, &plan.class, t).is_none() && !plan.own_rows.contains_key(&t),
        };
        let computed = plan.bodies[own - 1].iter().any(|&k| {
            let computes = match &plan.steps[k].work {
                Work::Whole(u) => *u == t,
                Work::Nest { items, .. } => items.contains(&t),
                _ => false,
            };
            let guard = &plan.steps[k].guard;
            let given = |&(cond, holds): &Guard| decided(self.g, cond, guard, MAX_NESTING) == Some(holds);
            computes && conditions.iter().all(given)
        });
        (form && computed && plan.class(t) == Class::Buffer).then_some(t)
    }
}
