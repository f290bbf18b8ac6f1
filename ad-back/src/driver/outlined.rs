//! Outlined dispatch: a loop as one function that is dispatched on the instruction set once, with
//! the small nests of its iterations inside. A dispatch of a nest with many arguments costs about
//! as much as a row of sixteen scalars. Nests that are too small for a separate dispatch use the
//! instruction set too if they are in an outlined loop. Values that the loop changes are moved in
//! and returned; values that it reads are borrowed.
//!
//! An outlined loop must not change values that code outside of it still refers to. The order of
//! computation stays the same.

use ad_ir::sorted::{SortedMap, SortedSet};
use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::block::Statement;
use super::super::plan::Work;
use super::literal_sizes::LiteralSizes;
use super::memory::StaticLen;
use super::memory::Storage;
use super::state::Driver;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Elem, Node, RealTy, Term};
use ad_ir::rust_types::static_type;
use ad_middle::passes::lowering::opened::{Carry, Loop, RowGrowth};

/// A nest with at most this number of loops becomes a part of the outlined function. A nest with
/// more loops is worth a separate function.
const MAX_AXES: usize = 1;

/// The memory of arrays before a function borrowed them.
pub(super) type Before = Vec<(Term, Storage, Option<Vec<StaticLen>>)>;

/// The parameters of an outlined loop, those of the dispatched function in it, and their arguments.
#[derive(Default)]
struct OutlinedParameters {
    params: Vec<TokenStream>,
    inner: Vec<TokenStream>,
    /// The same with the lifetime of the arguments.
    borrowed: Vec<TokenStream>,
    args: Vec<TokenStream>,
}

impl OutlinedParameters {
    fn add(&mut self, [param, inner, borrowed]: [TokenStream; 3], arg: TokenStream) {
        self.params.push(param);
        self.inner.push(inner);
        self.borrowed.push(borrowed);
        self.args.push(arg);
    }
}

impl Driver<'_> {
    /// Whether a nest over this number of axes is a part of the loop that is being written. All
    /// nests are if their sizes may be literals.
    pub(super) fn within(&self, axes: usize) -> bool {
        self.outlined && (axes <= MAX_AXES || !self.matrix_sizes.is_empty())
    }

    /// Whether the loop `n` is outlined, and if so, the sizes for which it is also compiled as
    /// numbers.
    pub(super) fn outlining(&self, n: usize) -> Option<Vec<Term>> {
        let plan = self.plan;
        let l = &plan.loops.all[n];
        // If a size is a const parameter of the user's function, the loop is not outlined, since a
        // function inside of it does not see the parameter.
        let named = self.program.constants.iter().any(|c| matches!(c.elem, Elem::Int(_)));
        let heap = |t: Term| self.g.rank(t) == 0 || self.stack_lens(t).is_none();
        let begun = |c: &Carry| heap(c.last) && !self.memory.storage.contains_key(&c.init);
        let own = l.carries.iter().all(begun) && l.rows.iter().all(|r| heap(r.all));
        if self.inside > 0 || self.outlined || self.tile.is_some() || named || !own || self.makes_calls(n) {
            return None;
        }
        let nests = self.nests_within(n);
        let about = l.carries.first().map(|c| c.last).or(l.rows.first().map(|r| r.all));
        let chosen = nests > 0
            && about.is_some_and(|t| {
                choose(Kind::OutlinedDispatch, (t.index(), n), true, || {
                    format!("({nests} nests over {MAX_AXES} axis in an iteration)")
                })
            });
        chosen.then(|| self.matrix_sizes(n))
    }

    /// The number of nests in an iteration that would be parts of the function, with those of inner
    /// loops.
    fn nests_within(&self, n: usize) -> usize {
        let (g, plan) = (self.g, self.plan);
        let steps = plan.bodies[n].iter().map(|&k| &plan.steps[k].work);
        steps
            .map(|work| match work {
                Work::Nest { domain, .. } => usize::from((1..=MAX_AXES).contains(&domain.len())),
                Work::Whole(t) => match g.node(*t) {
                    Node::Scatter { src, .. } => usize::from((1..=MAX_AXES).contains(&g.rank(*src))),
                    _ => 0,
                },
                Work::Loop(m) => self.nests_within(*m),
                _ => 0,
            })
            .sum()
    }

    /// The values that the loop changes, each once: first those that it takes as arguments, then
    /// all that it returns.
    fn changed(&self, l: &Loop) -> (Vec<Term>, Vec<Term>) {
        let mut seen = HashSet::new();
        let mut new = |t: &Term| seen.insert(self.names[t].clone());
        let given: Vec<Term> = l
            .carries
            .iter()
            .map(|c| c.last)
            .chain(l.rows.iter().filter(|r| r.how != RowGrowth::Inner).map(|r| r.all))
            .filter(&mut new)
            .collect();
        let made: Vec<Term> =
            l.rows.iter().filter(|r| r.how == RowGrowth::Inner).map(|r| r.all).filter(&mut new).collect();
        (given.clone(), [given, made].concat())
    }

    /// Enters the function of this loop: all arrays except those that it changes are borrowed from
    /// now on.
    pub(super) fn enter_outlined(&mut self, l: &Loop, sizes: Vec<Term>) -> Before {
        let own = self.changed_names(l);
        let others = |t: &Term| self.names.get(t).is_none_or(|name| !own.contains(name));
        let mut before: Before = Vec::new();
        for (&t, &hold) in self.memory.hold.iter().filter(|h| others(h.0)) {
            before.push((t, hold, self.memory.storage.get(&t).cloned()));
        }
        for (t, ..) in &before {
            self.memory.hold.insert(*t, Storage::Borrowed);
            self.memory.storage.remove(t);
        }
        self.outlined = true;
        self.matrix_sizes = sizes;
        self.generic_within = false;
        before
    }

    fn changed_names(&self, l: &Loop) -> SortedSet<Ident> {
        let of = l.carries.iter().map(|c| c.last).chain(l.rows.iter().map(|r| r.all));
        of.filter_map(|t| self.names.get(&t)).cloned().collect()
    }

    /// Puts this code, which names these terms, into a function, and returns the call of that
    /// function.
    pub(super) fn leave_outlined(
        &mut self,
        l: &Loop,
        before: Before,
        code: &TokenStream,
        names: &mut Vec<Term>,
    ) -> TokenStream {
        let (given, all) = self.changed(l);
        let own = self.changed_names(l);
        let types: Vec<TokenStream> = all.iter().map(|&t| self.owned_type(t)).collect();
        for (t, hold, lens) in before {
            self.memory.hold.insert(t, hold);
            if let Some(lens) = lens {
                self.memory.storage.insert(t, lens);
            }
        }
        self.outlined = false;
        let read = self.read_by_outlined(names, &own);
        let of_parameter = |t: &Term| self.g.elem(*t) == Elem::Real(RealTy::Param);
        let generic = self.generic_within || all.iter().chain(&read).any(of_parameter);
        let unread = self.style.workspace.then(|| quote!(let _ = workspace_;));
        let OutlinedParameters { params, inner, borrowed, args } =
            self.outlined_parameters(l, given.iter().zip(&types), &read);
        let back: Vec<&Ident> = all.iter().map(|t| &self.names[t]).collect();
        let (result, value, to) = match (&*types, &*back) {
            ([ty], [name]) => (quote!(#ty), quote!(#name), quote!(let #name)),
            _ => (quote!((#(#types),*)), quote!((#(#back),*)), quote!(let (#(#back),*))),
        };
        let (krate, real, isa, trait_) =
            (&self.style.krate, self.style.param.clone(), self.style.isa_name(), self.kernel("Isa"));
        let bound: Vec<TokenStream> = generic.then(|| quote!(#real: #krate::runtime::Real)).into_iter().collect();
        let turbofish = generic.then(|| quote!(::<#real>));
        let one = generic.then_some(&real);
        let title = self.function_name("steps_of", &all);
        let call = quote!(loops(#(#borrowed),*) -> #result);
        let (rows, as_numbers, dispatched) = match self.leave_literal_sizes(&read) {
            Some(LiteralSizes { param, as_numbers, sizes }) => {
                (Some(param), Some(as_numbers), quote!(dispatched_by_rows!('a, #one; [#(#sizes),*]; #call)))
            }
            None => (None, None, quote!(dispatched!('a, #one; #call))),
        };
        let rows = rows.iter();
        self.functions.push(quote! {
            /// Runs all iterations of a loop, with the instructions that the machine has.
            fn #title #(<#bound>)* (#(#params),*) -> #result {
                #[inline(always)]
                fn loops<#isa: #trait_ #(, #bound)* #(, #rows)*>(#(#inner),*) -> #result {
                    #unread
                    #as_numbers
                    #code
                    #value
                }
                #krate::runtime::#dispatched
            }
        });
        names.extend(read);
        quote!(#to = #title #turbofish (#(#args),*);)
    }

    /// The values that an outlined loop reads, each name once. `own` are those that it changes.
    fn read_by_outlined(&self, names: &[Term], own: &SortedSet<Ident>) -> Vec<Term> {
        let mut read: SortedMap<Ident, Term> = SortedMap::new();
        for &t in names {
            if let Some(name) = self.names.get(&t)
                && !own.contains(name)
            {
                read.entry(name.clone()).or_insert(t);
            }
        }
        let mut read: Vec<Term> = read.into_values().collect();
        read.sort_unstable();
        read
    }

    /// The parameters of an outlined loop: the values that it changes, each with its type, and
    /// those that it reads.
    fn outlined_parameters<'t>(
        &self,
        l: &Loop,
        given: impl Iterator<Item = (&'t Term, &'t TokenStream)>,
        read: &[Term],
    ) -> OutlinedParameters {
        let mut all = OutlinedParameters::default();
        if self.style.workspace {
            let krate = &self.style.krate;
            let param = quote!(workspace_: &#krate::runtime::Workspace);
            let borrowed = quote!(workspace_: &'a #krate::runtime::Workspace);
            all.add([param.clone(), param, borrowed], quote!(workspace_));
        }
        for (t, ty) in given {
            let name = &self.names[t];
            let kept = l.carries.iter().any(|c| c.last == *t && c.next == c.now);
            let inner = if kept { quote!(#name: #ty) } else { quote!(mut #name: #ty) };
            all.add([quote!(#name: #ty), inner, quote!(#name: #ty)], quote!(#name));
        }
        for &t in read {
            let (name, ty) = (&self.names[&t], self.style.ty(self.g.elem(t)));
            let (param, borrowed, arg) = match self.g.rank(t) {
                0 => (quote!(#name: #ty), quote!(#name: #ty), quote!(#name)),
                _ => (quote!(#name: &[#ty]), quote!(#name: &'a [#ty]), self.borrow(t, &mut Vec::new())),
            };
            all.add([param.clone(), param, borrowed], arg);
        }
        all
    }

    /// Adds `let _ = name;` for returned values that nothing reads, so that rustc does not warn.
    pub(super) fn leave_unread(&self, statements: &mut [Statement], needed: &[Term]) {
        if !statements.iter().any(|s| s.handed) {
            return;
        }
        // By name, since several terms may share memory.
        let named: Vec<SortedSet<Ident>> = statements.iter().map(|s| self.names_in(s.names_all())).collect();
        let needed = self.names_in(needed.iter().copied());
        let mut readers: SortedMap<Ident, usize> = SortedMap::new();
        for name in named.iter().flatten() {
            *readers.entry(name.clone()).or_default() += 1;
        }
        for (s, own) in statements.iter_mut().zip(&named).filter(|(s, _)| s.handed) {
            let mut seen = SortedSet::new();
            for name in s.defines.iter().filter_map(|t| self.names.get(t)) {
                let elsewhere = readers.get(name).copied().unwrap_or_default() > usize::from(own.contains(name));
                if !elsewhere && !needed.contains(name) && seen.insert(name) {
                    s.code.push(quote!(let _ = #name;));
                }
            }
        }
    }

    /// The names of these terms in code. A scalar that is inlined contributes the names in its
    /// expression.
    fn names_in(&self, terms: impl Iterator<Item = Term>) -> SortedSet<Ident> {
        let spelled = terms.flat_map(|t| self.inlined.get(&t).map_or_else(|| vec![t], |(_, named)| named.clone()));
        spelled.filter_map(|t| self.names.get(&t)).cloned().collect()
    }

    /// The type of an owned value.
    fn owned_type(&self, t: Term) -> TokenStream {
        let ty = self.style.ty(self.g.elem(t));
        match self.memory.storage.get(&t) {
            _ if self.g.rank(t) == 0 => ty,
            Some(lens) => static_type(ty, lens),
            None => self.heap_type(&ty),
        }
    }
}
