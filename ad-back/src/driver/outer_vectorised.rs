//! Outer-loop vectorisation: a loop as one function that runs all iterations for one chunk of the
//! elements that it carries (`outer_vectorisation`). The chunks of the arrays have static size and
//! stay in registers over all iterations. The remaining elements are a chunk too, padded with
//! elements that nothing reads. This module does not decide which loops are vectorised in this way.

use ad_ir::sorted::SortedSet;
use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::block::{Statement, nested};
use super::super::items::{items, members};
use super::super::kernel::Kernel;
use super::super::nest::{Arg, Nest, NestRange};
use super::super::notes::{NestSummary, Note};
use super::super::plan::{Guard, LANES, Work};
use super::super::rust::{Expr, prec};
use super::state::Driver;
use ad_ir::ir::{Elem, RealTy, Term};
use ad_middle::passes::lowering::opened::{Loop, Rows};

/// The state of a vectorised loop that is being written.
struct Lanes {
    axis: Term,
    /// The chunk of each array.
    of: HashMap<Term, Ident>,
    /// Arrays from outside, in order of appearance.
    read: Vec<Term>,
    /// The first element, and the number of elements.
    first: Ident,
    width: Ident,
    functions: Vec<TokenStream>,
    generic: bool,
}

/// An iteration of a vectorised loop.
struct Iteration {
    /// The loop over all iterations, for one chunk.
    code: TokenStream,
    /// The terms that it reads.
    used: Vec<Term>,
}

/// A parameter of the function of a loop.
struct Parameter {
    name: Ident,
    declared: TokenStream,
    /// The same with the lifetime of the arguments.
    borrowed: TokenStream,
}

/// The parameters of the function of a loop, and their arguments.
#[derive(Default)]
struct Parameters {
    declared: Vec<TokenStream>,
    borrowed: Vec<TokenStream>,
    args: Vec<TokenStream>,
    /// The parameters and the arguments of the function for one chunk.
    of_chunk: Vec<TokenStream>,
    passed: Vec<Ident>,
}

impl Parameters {
    /// Adds a parameter with its argument. `used`: the function for one chunk has it too.
    fn add(&mut self, Parameter { name, declared, borrowed }: Parameter, arg: TokenStream, used: bool) {
        if used {
            self.of_chunk.push(declared.clone());
            self.passed.push(name);
        }
        self.declared.push(declared);
        self.borrowed.push(borrowed);
        self.args.push(arg);
    }
}

impl Driver<'_> {
    /// The statements that copy a chunk of each array to lanes, and those that copy the chunks of
    /// carried arrays back.
    fn copies_of_chunks(&self, lanes: &Lanes, l: &Loop) -> [TokenStream; 2] {
        let Lanes { of, read, first, width, .. } = lanes;
        let number = proc_macro2::Literal::usize_unsuffixed(LANES);
        let (mut load, mut save) = (TokenStream::new(), TokenStream::new());
        let carried = l.carries.iter().map(|c| (c.now, true));
        for (t, carried) in carried.chain(read.iter().map(|&t| (t, false))) {
            let (name, lanes, zero) = (&self.names[&t], &of[&t], self.style.zero(self.g.elem(t)));
            // Chunks of carried arrays change; the others are only read.
            let mutable = carried.then(|| quote!(mut));
            load.extend(quote! {
                let #mutable #lanes = {
                    let mut #lanes = [#zero; #number];
                    #lanes[..#width].copy_from_slice(&#name[#first..][..#width]);
                    #lanes
                };
            });
            if carried {
                save.extend(quote!(#name[#first..][..#width].copy_from_slice(&#lanes[..#width]);));
            }
        }
        [load, save]
    }

    /// Writes the loop `n`; its rows have the size `axis`.
    pub(super) fn vectorised_loop(&mut self, n: usize, axis: Term, guard: &[Guard], k: usize) -> Result<(), String> {
        let l = &self.plan.loops.all[n];
        let mut names = Vec::new();
        let mut head = self.begin(l, k, &mut names, true);
        let mut lanes = self.lanes_of(l, axis);
        let iteration = self.vectorised_iteration(n, &mut lanes)?;
        let (size, of_size) = self.scalar_expr(axis);

        // The parameters that are written come first, then those that are only read.
        let mut outs: Vec<Term> = l.carries.iter().map(|c| c.last).collect();
        outs.extend(l.rows.iter().map(|r| r.all));
        let used = self.read_from_outside(n, &lanes, &iteration.used, &outs);
        let read: SortedSet<Term> = used.iter().chain(&of_size).copied().collect();
        let mut parameters = Parameters::default();
        for &t in &outs {
            let arg = self.out(t);
            parameters.add(self.parameter(&mut lanes, t, true), arg, true);
        }
        for &t in &read {
            let name = &self.names[&t];
            let arg = if self.g.rank(t) == 0 { quote!(#name) } else { self.borrow(t, &mut names) };
            parameters.add(self.parameter(&mut lanes, t, false), arg, used.contains(&t));
        }
        names.extend(&read);
        let title = self.function_over_chunks(l, &lanes, &iteration, &parameters, (&size, &outs));
        // Sums start at zero.
        for r in l.rows.iter().filter(|r| self.g.rank(r.row) == 0 && !self.memory.fresh.contains(&r.all)) {
            let zero = self.style.zero(self.g.elem(r.all));
            let name = self.names[&r.all].clone();
            head.extend(self.refill(r.all, &name, &zero));
        }
        let memory = self.hoisted_memory(&outs, &mut names);
        names.retain(|t| !outs.contains(t));
        names.sort_unstable();
        names.dedup();
        let turbofish = lanes.generic.then_some(&self.style.param).map(|real| quote!(::<#real>));
        let args = parameters.args;
        let code = quote!(#memory #head #title #turbofish (#(#args),*););
        self.plain(guard, code, outs, names);
        Ok(())
    }

    /// The names of a loop that is vectorised along `axis`.
    fn lanes_of(&mut self, l: &Loop, axis: Term) -> Lanes {
        let step = self.taken.fresh(["i", "j", "k"].get(self.inside).copied().unwrap_or("i"));
        self.names.insert(l.step, step);
        let [first, width] = ["first", "width"].map(|name| self.taken.fresh(name));
        let (mut of, read, functions) = (HashMap::new(), Vec::new(), Vec::new());
        for c in &l.carries {
            let name = self.taken.fresh(&format!("{}_lanes", self.names[&c.now]));
            of.insert(c.now, name);
        }
        Lanes { axis, of, read, first, width, functions, generic: false }
    }

    /// One iteration, with the names that are visible outside of the function.
    fn vectorised_iteration(&mut self, n: usize, lanes: &mut Lanes) -> Result<Iteration, String> {
        let plan = self.plan;
        let l = &plan.loops.all[n];
        let outer = self.begin_body();
        let mark = self.known.enter(&l.inside.map(|c| (c, true)));
        self.inside += 1;
        for &k in &plan.bodies[n] {
            match &plan.steps[k].work {
                Work::Nest { items, .. } => self.vectorised_nest(lanes, items, k)?,
                _ => self.step(k)?,
            }
        }
        self.inside -= 1;
        self.known.leave(mark);
        let mut used: Vec<Term> = Vec::new();
        let (begin, end, needed) = self.vectorised_ends(l, lanes, &mut used)?;
        let statements = self.end_body(outer, Some(&needed));
        self.note(Note::OuterVectorised);
        used.extend(statements.iter().flat_map(Statement::names_all));
        let body = nested(&statements, &needed.into_iter().collect::<HashSet<Term>>(), self);
        let count = self.argument(l.steps, &mut used);
        let step = &self.names[&l.step];
        let var = if used.contains(&l.step) { quote!(#step) } else { quote!(_) };
        let range = if l.reverse { quote!((0..#count).rev()) } else { quote!(0..#count) };
        Ok(Iteration { code: quote!(for #var in #range { #begin #body #end }), used })
    }

    /// The terms outside of the loop that its iterations read. `outs` are its results.
    fn read_from_outside(&self, n: usize, lanes: &Lanes, used: &[Term], outs: &[Term]) -> Vec<Term> {
        let (plan, l) = (self.plan, &self.plan.loops.all[n]);
        // The number of the iteration belongs to the loop, even if no statement reads it but only
        // the code after all statements.
        let leaf = |t: Term| t == l.step || outs.contains(&t) || l.carries.iter().any(|c| c.now == t);
        let inner = |t: Term| leaf(t) || plan.scopes.contains(n + 1, plan.scopes.of(t));
        used.iter().chain(&lanes.read).copied().filter(|&t| !inner(t)).collect()
    }

    /// The parameter for a term.
    fn parameter(&self, lanes: &mut Lanes, t: Term, out: bool) -> Parameter {
        let (name, ty) = (self.names[&t].clone(), self.style.ty(self.g.elem(t)));
        lanes.generic |= self.g.elem(t) == Elem::Real(RealTy::Param);
        let (declared, borrowed) = match (out, self.g.rank(t)) {
            (true, _) => (quote!(#name: &mut [#ty]), quote!(#name: &'a mut [#ty])),
            (false, 0) => (quote!(#name: #ty), quote!(#name: #ty)),
            (false, _) => (quote!(#name: &[#ty]), quote!(#name: &'a [#ty])),
        };
        Parameter { name, declared, borrowed }
    }

    /// Writes the function that runs the loop for one chunk after the other. `size` is the number
    /// of elements. Returns its name.
    fn function_over_chunks(
        &mut self,
        l: &Loop,
        lanes: &Lanes,
        iteration: &Iteration,
        Parameters { declared, borrowed, of_chunk, passed, .. }: &Parameters,
        (size, outs): (&Expr, &[Term]),
    ) -> Ident {
        let size = size.at(prec::MUL);
        let Lanes { first, width, functions, generic, .. } = lanes;
        let number = proc_macro2::Literal::usize_unsuffixed(LANES);
        let [load, save] = self.copies_of_chunks(lanes, l);
        let (krate, real, isa, trait_) =
            (&self.style.krate, self.style.param.clone(), self.style.isa_name(), self.kernel("Isa"));
        let bound: Vec<TokenStream> = generic.then(|| quote!(#real: #krate::runtime::Real)).into_iter().collect();
        let of_real: Vec<&Ident> = generic.then_some(&real).into_iter().collect();
        let one = generic.then_some(&real);
        let [few, at, left] = ["few", "c", "left"].map(|name| self.taken.fresh(name));
        let title = self.function_name("loop_over", outs);
        let code = &iteration.code;
        self.functions.push(quote! {
            /// Runs all iterations of a loop for one chunk of elements after the other.
            fn #title #(<#bound>)* (#(#declared),*) {
                #(#functions)*
                #[inline(always)]
                fn #few<#isa: #trait_ #(, #bound)*>(#(#of_chunk,)* #first: usize, #width: usize) {
                    #load
                    #code
                    #save
                }
                #[inline(always)]
                fn loops<#isa: #trait_ #(, #bound)*>(#(#declared),*) {
                    // The function is compiled twice: for whole chunks, whose number of elements is
                    // a constant, and for the rest.
                    for #at in 0..#size / #number {
                        #few::<#isa #(, #of_real)*>(#(#passed,)* #number * #at, #number);
                    }
                    let #left = #size % #number;
                    if #left > 0 {
                        #few::<#isa #(, #of_real)*>(#(#passed,)* #size - #left, #left);
                    }
                }
                #krate::runtime::dispatched!('a, #one; loops(#(#borrowed),*) -> ());
            }
        });
        title
    }

    /// A nest of an iteration, over one chunk.
    fn vectorised_nest(&mut self, lanes: &mut Lanes, terms: &[Term], k: usize) -> Result<(), String> {
        let (g, plan, axis) = (self.g, self.plan, lanes.axis);
        let mut kernel = Kernel::new(g, plan, self.hints, vec![axis], members(g, terms));
        let identity = kernel.identity().to_vec();
        let (items, outs) = items(g, plan, &mut kernel, (&[axis], &identity), terms, k)?;
        let (mut names, mut code) = (Vec::new(), TokenStream::new());
        let number = proc_macro2::Literal::usize_unsuffixed(LANES);
        for &t in &outs {
            let name = self.name(t);
            if g.rank(t) > 0 {
                let zero = self.style.zero(g.elem(t));
                code.extend(quote!(let mut #name = [#zero; #number];));
                lanes.of.insert(t, name);
            }
        }
        let title = self.function_name("step", &outs);
        let none = (&HashMap::new(), &NestRange::Whole, None);
        let function = Nest::new(g, self.style, &self.names, &self.known, &kernel, &items, none)
            .inlined()
            .function(&title, "What a step does with a few elements.")?;
        let mut args = Vec::new();
        for arg in &function.args {
            args.push(match arg {
                Arg::Out(t) => {
                    let lanes = &lanes.of[t];
                    quote!(&mut #lanes)
                }
                Arg::Buffer(t) if *g.shape(*t) == [axis] => {
                    let few = self.chunk(lanes, *t);
                    names.push(*t);
                    quote!(&#few)
                }
                Arg::Buffer(t) => {
                    names.push(*t);
                    let name = &self.names[t];
                    quote!(#name)
                }
                Arg::Scalar(t) => self.argument(*t, &mut names),
                // Padding elements are computed like the others, but sums leave them out.
                Arg::Length => {
                    let width = &lanes.width;
                    quote!(#width)
                }
            });
        }
        let turbofish = &function.turbofish;
        let call = quote!(#title #turbofish (#(#args),*));
        let returns: Vec<Ident> = function.returns.iter().map(|&t| self.name(t)).collect();
        code.extend(match &*returns {
            [] => quote!(#call;),
            [one] => quote!(let #one = #call;),
            many => quote!(let (#(#many),*) = #call;),
        });
        self.note(Note::Nest(Box::new(NestSummary { verb: "step", ..function.summary })));
        lanes.functions.push(function.item);
        lanes.generic |= function.generic;
        let mut defines = outs;
        defines.extend(function.returns.iter().filter(|t| g.rank(**t) == 0));
        names.retain(|t| !defines.contains(t));
        self.plain(&[], code, defines, names);
        Ok(())
    }

    /// The chunk of an array.
    fn chunk(&mut self, lanes: &mut Lanes, t: Term) -> Ident {
        if let Some(name) = lanes.of.get(&t) {
            return name.clone();
        }
        let name = self.taken.fresh(&format!("{}_lanes", self.names[&t]));
        lanes.of.insert(t, name.clone());
        lanes.read.push(t);
        name
    }

    /// The code before and after an iteration, for rows, sums and carried values. Also the terms of
    /// the body that it needs.
    fn vectorised_ends(
        &mut self,
        l: &Loop,
        lanes: &mut Lanes,
        used: &mut Vec<Term>,
    ) -> Result<(TokenStream, TokenStream, Vec<Term>), String> {
        let (mut begin, mut end, mut needed) = (TokenStream::new(), TokenStream::new(), Vec::new());
        for r in &l.rows {
            let all = self.names[&r.all].clone();
            used.push(l.step);
            let step = &self.names[&l.step];
            if self.g.rank(r.row) == 0 {
                let row = self.argument(r.row, &mut needed);
                end.extend(quote!(#all[#step] += #row;));
                continue;
            }
            let row = lanes.of.get(&r.row).ok_or("a row that no step computes")?;
            let code = self.row_in_lanes(l, r, lanes, row, used);
            if l.carries.iter().any(|c| c.now == r.row) {
                begin.extend(code);
            } else {
                needed.push(r.row);
                end.extend(code);
            }
        }
        let (mut to, mut from) = (Vec::new(), Vec::new());
        for c in l.carries.iter().filter(|c| c.next != c.now) {
            to.push(lanes.of[&c.now].clone());
            from.push(self.chunk(lanes, c.next));
            needed.push(c.next);
        }
        let crossed = l.carries.iter().any(|c| l.carries.iter().any(|d| c.next == d.now && c.now != d.now));
        end.extend(if crossed && to.len() > 1 { quote!((#(#to),*) = (#(#from),*);) } else { quote!(#(#to = #from;)*) });
        Ok((begin, end, needed))
    }

    /// The chunk of a row, written to its memory.
    fn row_in_lanes(&self, l: &Loop, r: &Rows, lanes: &Lanes, row: &Ident, used: &mut Vec<Term>) -> TokenStream {
        let (all, step) = (&self.names[&r.all], &self.names[&l.step]);
        let (size, named) = self.scalar_expr(lanes.axis);
        used.extend(named);
        let (first, width) = (&lanes.first, &lanes.width);
        let start = Expr::atom(quote!(#step)).times(&size).plus(&Expr::atom(quote!(#first))).tokens;
        quote! {
            {
                let #row = #row;
                #all[#start..][..#width].copy_from_slice(&#row[..#width]);
            }
        }
    }
}
