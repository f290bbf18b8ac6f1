//! Loop nests: the call of a nest's function, the memory that it writes to, and the facts that hold
//! at the call. This module does not decide which terms a nest computes.

use std::collections::HashMap;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::code::{Code, Condition};
use super::super::items::{Fold, Item, items, masked, members};
use super::super::kernel::{Id, Kernel, Op};
use super::super::nest::{Arg, Nest, NestRange};
use super::super::notes::{NestSummary, Note};
use super::super::plan::Guard;
use super::super::rust::prec;
use super::super::split::interior;
use super::splitting::RowScatter;
use super::state::Driver;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Node, Term};
use ad_ir::prim::{Prim, Reduce};

/// Whether an item is a sum whose memory has to have an initial value: the nest adds to it, or
/// leaves out elements that are read.
fn starts_from_memory(kernel: &Kernel<'_>, item: &Item, t: Term) -> bool {
    let Item::Fold { out, reduced, value, added, at, read_under, .. } = item else { return false };
    let kept = reduced.iter().take_while(|r| !**r).count();
    let assigned = kept < reduced.len() && reduced[kept..].iter().all(|r| *r) && !added && at.is_none();
    let left_out = match kernel.node(*value).op {
        Op::If(condition, ..) => !read_under.contains(&condition),
        _ => false,
    };
    *out == t && (!assigned || left_out)
}

impl Driver<'_> {
    /// The initial value of a sum. New arrays of other results are filled with it too.
    pub(super) fn initial_value(&self, t: Term) -> TokenStream {
        let zero = self.style.zero(self.g.elem(t));
        match self.g.node(t) {
            Node::Prim(Prim::Reduce(Reduce::All, _), _) => quote!(true),
            Node::Prim(Prim::Reduce(Reduce::InOrder, _), _) => quote!(-#zero),
            _ => zero,
        }
    }

    /// `let mut name = vec![..]`, filled with the initial value of a sum. In a loop the memory
    /// exists already, and is filled again if the nest adds to it.
    pub(super) fn allocate(&mut self, t: Term, names: &mut Vec<Term>, added: bool) -> Code {
        let fill = self.initial_value(t);
        if self.inside > 0 {
            self.hoist(t);
            let out = self.name(t);
            return if added { self.refill(t, &out, &fill).into() } else { Code::default() };
        }
        let array = self.new_array(t, (fill, !added), names);
        let name = self.name(t);
        quote!(let mut #name = #array;).into()
    }

    /// As [`Driver::allocate`] in a loop, for an array whose elements from `end` on are not read.
    fn refilled_until(&mut self, t: Term, end: &TokenStream) -> Code {
        self.hoist(t);
        let (out, fill) = (self.name(t), self.initial_value(t));
        let all = self.slice_mut(t, &out);
        quote!(#all[..#end].fill(#fill);).into()
    }

    /// The memory of a result that a kernel writes as a whole.
    pub(super) fn allocate_for_kernel(&mut self, t: Term, names: &mut Vec<Term>, guard: &[Guard], k: usize) -> Code {
        if self.stack_lens(t).is_some() {
            return self.allocate(t, names, false);
        }
        let Some(of) = self.dead_memory(t, guard, k) else { return self.allocate(t, names, false) };
        self.take_over(t, of);
        names.push(of);
        let name = self.name(t);
        let from = &self.names[&of];
        quote!(let mut #name = #from;).into()
    }

    pub(super) fn function_name(&mut self, verb: &str, of: &[Term]) -> Ident {
        let parts: Vec<String> = of.iter().take(2).map(|&t| self.name(t).to_string()).collect();
        self.function_names.fresh(&format!("{verb}_{}", parts.join("_and_")))
    }

    /// The call of a nest's function, with the allocations before it.
    pub(super) fn call(
        &mut self,
        kernel: &Kernel<'_>,
        items: &[Item],
        (verb, doc): (&'static str, &str),
        outs: &[Term],
        guard: &[Guard],
        (allocate, reused): (bool, &HashMap<Term, Term>),
    ) -> Result<(), String> {
        let g = self.g;
        let mut names = Vec::new();
        let mut code = Code::default();
        let prefix = if self.inside > 0 && reused.is_empty() { self.prefix(kernel, items) } else { None };
        let ragged = if prefix.is_none() && reused.is_empty() { self.ragged(kernel, items) } else { None };
        let (kernel, items, part) = match (&prefix, &ragged) {
            (Some(prefix), _) => (&prefix.kernel, &*prefix.items, NestRange::Prefix(prefix.end())),
            (None, Some(ragged)) => (&ragged.kernel, &*ragged.items, NestRange::Ragged(ragged.end)),
            (None, None) => (kernel, items, NestRange::Whole),
        };
        let mut inside = match &prefix {
            Some(prefix) => self.prefix_length(prefix, &mut names, &mut code)?,
            None => quote!(),
        };
        for &t in outs {
            self.name(t);
            if let Some((&of, _)) = reused.iter().find(|r| *r.1 == t) {
                self.take_over(t, of);
                names.push(of);
                let (name, from) = (&self.names[&t], &self.names[&of]);
                code.push(quote!(let mut #name = #from;));
            } else if allocate && g.rank(t) > 0 {
                let added = items.iter().any(|i| starts_from_memory(kernel, i, t));
                let ends = g.rank(t) == 1 && prefix.as_ref().is_some_and(|prefix| prefix.is_read_within(t));
                code.push(match added && ends {
                    true => self.refilled_until(t, &inside),
                    false => self.allocate(t, &mut names, added),
                });
            }
        }
        // Facts that assume a nonempty domain hold only inside of the nest.
        let some = match self.does_nothing_if_empty(kernel, items) {
            true => self.known.enter_nonempty(&kernel.loops),
            false => None,
        };
        let (mut within, mut part) = (None, part);
        if let Some(prefix) = &prefix {
            self.zeros_after(prefix, &inside).into_iter().for_each(|zeros| code.push(zeros));
        }
        let rows = match part {
            NestRange::Whole => self.along_rows(kernel, items, None),
            NestRange::Prefix(end) => self.along_rows(kernel, items, Some((&inside, end))),
            _ => None,
        };
        if let Some(RowScatter { within: Some((length, named)), .. }) = &rows {
            let name = self.taken.fresh("inside");
            code.push(quote!(let #name = #length;));
            names.extend(named);
            inside = quote!(#name);
            within = Some(name);
            part = match part {
                NestRange::Prefix(end) => NestRange::Prefix(end),
                _ => NestRange::Prefix(None),
            };
        }
        let items = rows.as_ref().map_or(items, |r| &r.items[..]);
        let title = self.function_name(verb, outs);
        let mut masked_items = items.to_vec();
        let complete = matches!(part, NestRange::Whole | NestRange::Prefix(_) | NestRange::Ragged(_));
        let mask = if complete { masked(g, kernel, &mut masked_items) } else { None };
        let inner = self.within(kernel.loops.len());
        let function = Nest::new(g, self.style, &self.names, &self.known, kernel, &masked_items, (reused, &part, mask))
            .within(inner)
            .function(&title, doc)?;
        self.generic_within |= inner && function.generic;
        let nonempty = some.and_then(|mark| {
            self.known.leave(mark);
            self.nonempty_test(kernel, &mut names)
        });
        let args: Vec<TokenStream> =
            function.args.iter().map(|&arg| self.argument_of_nest(kernel, arg, &inside, &mut names)).collect();
        let returns: Vec<Ident> = function.returns.iter().map(|&t| self.name(t)).collect();
        let turbofish = &function.turbofish;
        let call = quote!(#title #turbofish (#(#args),*));
        let zeros: Vec<TokenStream> = function.returns.iter().map(|&t| self.style.zero(g.elem(t))).collect();
        code.push(call_where_nonempty(&call, &returns, &zeros, (within, nonempty)));
        self.note(Note::Nest(Box::new(NestSummary { verb, ..function.summary })));
        let mut defines = outs.to_vec();
        defines.extend(function.returns.iter().filter(|t| !outs.contains(t)));
        self.add_function(function.item, &defines);
        names.retain(|t| !defines.contains(t));
        self.plain(guard, code, defines, names);
        Ok(())
    }

    /// Whether the nest does nothing if its domain is empty, and so may be left out then.
    fn does_nothing_if_empty(&self, kernel: &Kernel<'_>, items: &[Item]) -> bool {
        let nothing = |i: &Item| match i {
            Item::Store { .. } | Item::Scatter { .. } | Item::Block { .. } => true,
            Item::Fold { out, fold, .. } => *fold == Fold::Sum && self.g.rank(*out) == 0,
        };
        let looked_up = |&i: &Id| kernel.node(i).level > 0 && !matches!(kernel.node(i).op, Op::Var(_));
        let by_rows =
            matches!(items, [Item::Scatter { ix, .. }] if ix[..ix.len().saturating_sub(1)].iter().any(looked_up));
        (self.inside > 0 || by_rows) && items.iter().all(nothing)
    }

    /// The test that the domain of a nest is not empty. `None` if its sizes are literals.
    fn nonempty_test(&mut self, kernel: &Kernel<'_>, names: &mut Vec<Term>) -> Option<TokenStream> {
        let mut test: Option<TokenStream> = None;
        for &n in kernel.loops.iter().filter(|&&n| self.g.int_value(n).is_none()) {
            let (n, named) = self.scalar_expr(n);
            names.extend(named);
            let n = n.at(prec::COMPARE + 1);
            test = Some(test.map_or(quote!(#n > 0), |before| quote!(#before && #n > 0)));
        }
        test
    }

    /// An argument of a nest. `inside` is the number of elements that it computes.
    fn argument_of_nest(
        &mut self,
        kernel: &Kernel<'_>,
        arg: Arg,
        inside: &TokenStream,
        names: &mut Vec<Term>,
    ) -> TokenStream {
        let of_block = self.block_argument(arg, names);
        of_block.unwrap_or_else(|| match arg {
            Arg::Out(t) => self.out(t),
            Arg::Buffer(t) => self.read_by(kernel, t, names),
            Arg::Scalar(t) => self.argument(t, names),
            Arg::Length => quote!(#inside),
        })
    }

    pub(super) fn nest(&mut self, domain: &[Term], terms: &[Term], guard: &[Guard], step: usize) -> Result<(), String> {
        let (g, plan) = (self.g, self.plan);
        if domain.iter().any(|&n| g.int_value(n) == Some(0)) {
            return self.empty_nest(terms, guard);
        }
        if self.tile.is_some() {
            return self.nest_in_block(domain, terms, guard, step);
        }
        let mut kernel = Kernel::new(g, plan, self.hints, domain.to_vec(), members(g, terms));
        let identity = kernel.identity().to_vec();
        let (items, outs) = items(g, plan, &mut kernel, (domain, &identity), terms, step)?;
        let shape = domain.len();
        let doc = format!("A loop nest over {shape} {}.", if shape == 1 { "axis" } else { "axes" });
        if let Some(interior) = interior(&kernel, &items)
            && (terms.iter().any(|t| plan.stencils.contains(t)) || interior.is_nearly_all(&self.known))
            && choose(Kind::LoopBounds, (terms[0].index(), 0), true, || "to its interior, without index tests".into())
        {
            return self.split(&kernel, &items, &interior, &outs, guard);
        }
        let reused = self.reused(&kernel, &items, step);
        self.call(&kernel, &items, ("compute", &doc), &outs, guard, (true, &reused))
    }

    /// A nest that never runs: its arrays are empty, and its sums have no terms.
    fn empty_nest(&mut self, terms: &[Term], guard: &[Guard]) -> Result<(), String> {
        for &t in terms {
            let mut names = Vec::new();
            let name = self.name(t);
            let fill = self.initial_value(t);
            let code = if self.g.rank(t) == 0 {
                quote!(let #name = #fill;)
            } else if self.inside > 0 {
                self.hoist(t);
                self.refill(t, &name, &fill)
            } else {
                let array = self.new_array(t, (fill, false), &mut names);
                quote!(let #name = #array;)
            };
            self.plain(guard, code, vec![t], names);
        }
        Ok(())
    }
}

/// The call of a nest's function that returns these sums. It is made only where the test of the
/// domain holds and where the number of elements `within` the nest is not zero.
fn call_where_nonempty(
    call: &TokenStream,
    returns: &[Ident],
    zeros: &[TokenStream],
    (within, nonempty): (Option<Ident>, Option<TokenStream>),
) -> Code {
    let only_if = |test: TokenStream| Code::plain_if(Condition::opaque(test), quote!(#call;));
    match returns {
        [one] if nonempty.is_some() => quote!(let #one = if #nonempty { #call } else { #(#zeros)* };).into(),
        many if nonempty.is_some() && !many.is_empty() => {
            quote!(let (#(#many),*) = if #nonempty { #call } else { (#(#zeros),*) };).into()
        }
        [] => match (within, nonempty) {
            (Some(inside), None) => only_if(quote!(#inside > 0)),
            // Rows that are sliced before all loops are in range if all of these have
            // iterations.
            (Some(inside), Some(nonempty)) => only_if(quote!(#inside > 0 && #nonempty)),
            (None, Some(nonempty)) => only_if(nonempty),
            (None, None) => quote!(#call;).into(),
        },
        [one] => quote!(let #one = #call;).into(),
        many => quote!(let (#(#many),*) = #call;).into(),
    }
}
