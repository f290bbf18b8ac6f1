//! Statements of stored terms: loop nests and their calls, kernels, scatters, blocks, conditionals of arrays.
//! Must never decide what is stored; it writes what the plan says.

use std::collections::HashMap;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::super::block::{Join, Statement};
use super::super::code::{Code, Condition};
use super::super::items::{Fold, Item, items, masked, members, scatter_item};
use super::super::kernel::{Id, Kernel, Op};
use super::super::nest::{Arg, Nest, Part};
use super::super::plan::Literal;
use super::super::rust::{prec, typed};
use super::super::split::interior;
use super::super::store::{Class, adds_rows, alias_of, is_splat, padded_parts, part_of, repeats};
use super::ends::Along;
use super::{Driver, Hold};
use crate::choice::{Kind, choose};
use crate::ir::{Node, Put, Term};
use crate::passes::lowering::matrix::{Factor, as_product};
use crate::prim::{Binary, Prim, Reduce};

impl Driver<'_> {
    /// What a sum starts from, and other arrays are filled with.
    pub(super) fn start(&self, t: Term) -> TokenStream {
        let zero = self.style.zero(self.g.elem(t));
        match self.g.node(t) {
            Node::Prim(Prim::Reduce(Reduce::All, _), _) => quote!(true),
            Node::Prim(Prim::Reduce(Reduce::InOrder, _), _) => quote!(-#zero),
            _ => zero,
        }
    }

    /// `let mut name = vec![..]`, filled with what a sum starts from. In a loop the memory is there already, and is filled again
    /// if it is added to.
    pub(super) fn allocate(&mut self, t: Term, names: &mut Vec<Term>, added: bool) -> TokenStream {
        let fill = self.start(t);
        if self.inside > 0 {
            self.hoist(t);
            let out = self.name(t);
            return if added { self.refill(t, &out, &fill) } else { quote!() };
        }
        let array = self.new_array(t, (fill, !added), names);
        let name = self.name(t);
        quote!(let mut #name = #array;)
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
        (verb, doc): (&str, &str),
        outs: &[Term],
        guard: &[Literal],
        (allocate, reused): (bool, &HashMap<Term, Term>),
    ) -> Result<(), String> {
        let g = self.g;
        let mut names = Vec::new();
        let mut code = TokenStream::new();
        let prefix = if self.inside > 0 && reused.is_empty() { self.prefix(kernel, items) } else { None };
        let (kernel, items, part) = match &prefix {
            Some(prefix) => (&prefix.kernel, &*prefix.items, Part::Prefix),
            None => (kernel, items, Part::Whole),
        };
        for &t in outs {
            self.name(t);
            if let Some((&of, _)) = reused.iter().find(|r| *r.1 == t) {
                self.take_over(t, of);
                names.push(of);
                let (name, from) = (&self.names[&t], &self.names[&of]);
                code.extend(quote!(let mut #name = #from;));
            } else if allocate && g.rank(t) > 0 {
                let added = items.iter().any(|i| matches!(i, Item::Fold { out, .. } if *out == t));
                code.extend(self.allocate(t, &mut names, added));
            }
        }
        // What is only known where there is anything to do is known inside.
        let nothing = |i: &Item| match i {
            Item::Store { .. } | Item::Scatter { .. } | Item::Block { .. } => true,
            Item::Fold { out, fold, .. } => *fold == Fold::Sum && g.rank(*out) == 0,
        };
        let looked_up = |&i: &Id| kernel.node(i).level > 0 && !matches!(kernel.node(i).op, Op::Var(_));
        let by_rows =
            matches!(items, [Item::Scatter { ix, .. }] if ix[..ix.len().saturating_sub(1)].iter().any(looked_up));
        let some = if (self.inside > 0 || by_rows) && items.iter().all(nothing) {
            self.known.enter_nonempty(&kernel.loops)
        } else {
            None
        };
        let rows = if prefix.is_none() { self.along_rows(kernel, items) } else { None };
        let (mut inside, mut within, mut part) = (quote!(), None, part);
        if let Some(prefix) = &prefix {
            inside = self.begins(prefix, &mut names, &mut code)?;
        } else if let Some(Along { within: Some((length, named)), .. }) = &rows {
            let name = self.taken.fresh("inside");
            code.extend(quote!(let #name = #length;));
            names.extend(named);
            inside = quote!(#name);
            within = Some(name);
            part = Part::Prefix;
        }
        let items = rows.as_ref().map_or(items, |r| &r.items[..]);
        let title = self.function_name(verb, outs);
        let mut masked_items = items.to_vec();
        let mask = if part == Part::Whole && self.inside == 0 { masked(g, kernel, &mut masked_items) } else { None };
        let inner = self.within(kernel.loops.len());
        let function = Nest::new(g, self.style, &self.names, &self.known, kernel, &masked_items, (reused, &part, mask))
            .within(inner)
            .function(&title, doc)?;
        self.generic_within |= inner && function.generic;
        let mut nonempty: Option<TokenStream> = None;
        if let Some(mark) = some {
            self.known.leave(mark);
            for &n in kernel.loops.iter().filter(|&&n| g.int_value(n).is_none()) {
                let (n, named) = self.scalar_expr(n);
                names.extend(named);
                let n = n.at(prec::COMPARE + 1);
                nonempty = Some(nonempty.map_or(quote!(#n > 0), |before| quote!(#before && #n > 0)));
            }
        }
        let mut args = Vec::new();
        for arg in &function.args {
            let of_block = self.of_block(*arg, &mut names);
            args.push(of_block.unwrap_or_else(|| match arg {
                Arg::Out(t) => self.out(*t),
                Arg::Buffer(t) => self.read_by(kernel, *t, &mut names),
                Arg::Scalar(t) => self.argument(*t, &mut names),
                Arg::Length => quote!(#inside),
            }));
        }
        let returns: Vec<Ident> = function.returns.iter().map(|&t| self.name(t)).collect();
        let turbofish = &function.turbofish;
        let call = quote!(#title #turbofish (#(#args),*));
        let zeros: Vec<TokenStream> = function.returns.iter().map(|&t| self.style.zero(g.elem(t))).collect();
        let only_if = |test: TokenStream| Code::plain_if(Condition::opaque(test), quote!(#call;));
        let mut code = Code::from(code);
        code.push(match &*returns {
            [one] if nonempty.is_some() => quote!(let #one = if #nonempty { #call } else { #(#zeros)* };).into(),
            many if nonempty.is_some() && !many.is_empty() => {
                quote!(let (#(#many),*) = if #nonempty { #call } else { (#(#zeros),*) };).into()
            }
            [] => match (within, nonempty) {
                (Some(inside), None) => only_if(quote!(#inside > 0)),
                // Rows that are cut before all loops are in range where all of them have steps.
                (Some(inside), Some(nonempty)) => only_if(quote!(#inside > 0 && #nonempty)),
                (None, Some(nonempty)) => only_if(nonempty),
                (None, None) => quote!(#call;).into(),
            },
            [one] => quote!(let #one = #call;).into(),
            many => quote!(let (#(#many),*) = #call;).into(),
        });
        self.functions.push(function.item);
        let mut defines = outs.to_vec();
        defines.extend(function.returns.iter().filter(|t| !outs.contains(t)));
        names.retain(|t| !defines.contains(t));
        self.plain(guard, code, defines, names);
        Ok(())
    }

    pub(super) fn nest(
        &mut self,
        domain: &[Term],
        terms: &[Term],
        guard: &[Literal],
        step: usize,
    ) -> Result<(), String> {
        let (g, plan) = (self.g, self.plan);
        if domain.iter().any(|&n| g.int_value(n) == Some(0)) {
            return self.nothing(terms, guard);
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
            && choose(Kind::Bounds, (terms[0].index(), 0), true, || "to its interior, without tests".into())
        {
            return self.split(&kernel, &items, &interior, &outs, guard);
        }
        let reused = self.reused(&kernel, &items, step);
        self.call(&kernel, &items, ("compute", &doc), &outs, guard, (true, &reused))
    }

    pub(super) fn whole(&mut self, t: Term, guard: &[Literal], k: usize) -> Result<(), String> {
        let g = self.g;
        if self.tile.is_some() {
            return match g.node(t) {
                Node::Scatter { .. } => self.scatter_in_block(t, guard, k),
                Node::Prim(Prim::Contract(_), _) => self.product_in_block(t, guard),
                _ => self.extrema_in_block(t, guard),
            };
        }
        if let Some(w) = self.plan.windows.get(&t) {
            self.windows(t, w, guard, k);
            return Ok(());
        }
        let mut names = Vec::new();
        match g.node(t) {
            Node::Cond { cond, then, other } => {
                let arm = self.settled(*cond, *then, *other);
                match (self.plan.in_place.get(&t), arm) {
                    (Some(&now), _) => self.same_memory(t, now),
                    (None, Some(arm)) => self.same_as(t, arm, guard, k),
                    (None, None) => self.join(t, *cond, *then, *other, guard, k),
                }
                Ok(())
            }
            Node::Scatter { put, dst, src, .. } => {
                let in_place = self.plan.in_place.get(&t).copied();
                let code = match in_place {
                    Some(now) => {
                        self.same_memory(t, now);
                        TokenStream::new()
                    }
                    None => self.added_onto(t, *dst, k, &mut names),
                };
                let domain = g.shape(*src).to_vec();
                let mut kernel = Kernel::new(g, self.plan, self.hints, domain, []);
                let items = [scatter_item(g, &mut kernel, t)?];
                // The allocation and the loop are one statement.
                let before = self.statements.len();
                let (verb, doc) = match put {
                    Put::Add => ("scatter", "Adds at computed positions; what falls outside is dropped."),
                    Put::Set => ("update", "Writes at computed positions; what falls outside is dropped."),
                };
                self.call(&kernel, &items, (verb, doc), &[t], guard, (false, &HashMap::new()))?;
                if let Some(s) = self.statements.get_mut(before) {
                    let call = std::mem::replace(&mut s.code, code.into());
                    s.code.push(call);
                    s.names.extend(names);
                    s.effect |= in_place.is_some();
                }
                Ok(())
            }
            Node::Prim(Prim::Contract(spec), args) => {
                let Some(p) = as_product(g, spec, args[0], args[1]) else {
                    return Err("a contraction that is no matrix product".into());
                };
                let a = self.operand(&p.a, &[&p.batch, &p.m, &p.k], &mut names);
                let b = self.operand(&p.b, &[&p.batch, &p.k, &p.n], &mut names);
                let name = self.name(t);
                let exact = self.plan.exact.contains(&t);
                if g.rank(t) == 0 {
                    let whole = p.a.start.is_none() && p.b.start.is_none();
                    let copies =
                        if exact || !whole { Vec::new() } else { self.copies_beside(t, [p.a.array, p.b.array], guard) };
                    if !copies.is_empty() {
                        let dot = self.style.kernel("dot_with_copies");
                        let code = quote!(let #name = #dot(#a, #b, &mut [#(#copies),*]););
                        let defines = vec![t];
                        let code = code.into();
                        self.statements.push(Statement { code, defines, names, effect: true, ..Statement::default() });
                        return Ok(());
                    }
                    let dot = self.style.kernel(if exact { "exact_dot" } else { "dot" });
                    self.plain(guard, quote!(let #name = #dot(#a, #b);), vec![t], names);
                    return Ok(());
                }
                let mut code = self.allocate(t, &mut names, false);
                let out = self.out(t);
                let on_stack = matches!(self.hold.get(&t), Some(Hold::Stack(_)));
                let gemv = |stored_first: bool| self.style.kernel(if stored_first { "gemv_t" } else { "gemv" });
                code.extend(if !p.batch.is_empty() {
                    let kernel = self.style.kernel(if on_stack { "gemm_each_off_heap" } else { "gemm_each" });
                    let sizes = [&p.batch, &p.m, &p.k, &p.n].map(|s| self.product(s, &mut names).tokens);
                    let [batch, m, k, n] = sizes;
                    let (ta, tb) = (p.a.flipped, p.b.flipped);
                    quote!(#kernel(#out, #a, #b, [#ta, #tb], #batch, [#m, #k, #n]);)
                } else if exact && (p.n.is_empty() || p.m.is_empty()) {
                    // Of a matrix with a vector on its left ndarray takes the transpose, whose rows are its columns.
                    let kernel = self.style.kernel("exact_gemv");
                    let (rows, transposed) = if p.n.is_empty() { (&p.m, p.a.flipped) } else { (&p.n, !p.b.flipped) };
                    let [rows, inner] = [rows, &p.k].map(|s| self.product(s, &mut names).tokens);
                    let (matrix, vector) = if p.n.is_empty() { (&a, &b) } else { (&b, &a) };
                    let flag = format_ident!("{}", if transposed { "Transposed" } else { "Plain" });
                    let operand = self.style.kernel("Operand");
                    quote!(#kernel(#out, #operand::#flag(#matrix), #vector, [#rows, #inner]);)
                } else if p.n.is_empty() {
                    let kernel = gemv(p.a.flipped);
                    quote!(#kernel(#out, #a, #b, false);)
                } else if p.m.is_empty() {
                    let kernel = gemv(!p.b.flipped);
                    quote!(#kernel(#out, #b, #a, false);)
                } else {
                    let kernel = match (on_stack, exact) {
                        (true, _) => "gemm_off_heap",
                        (false, true) => "exact_gemm",
                        (false, false) => "gemm",
                    };
                    let (kernel, operand) = (self.style.kernel(kernel), self.style.kernel("Operand"));
                    let flag = |t: bool| format_ident!("{}", if t { "Transposed" } else { "Plain" });
                    let (fa, fb) = (flag(p.a.flipped), flag(p.b.flipped));
                    let [m, k, n] = [&p.m, &p.k, &p.n].map(|s| self.product(s, &mut names).tokens);
                    let added = if exact && !on_stack { quote!() } else { quote!(, false) };
                    quote!(#kernel(#out, #operand::#fa(#a), #operand::#fb(#b), [#m, #k, #n] #added);)
                });
                self.plain(guard, code, vec![t], names);
                Ok(())
            }
            Node::Prim(Prim::Sum(_), args) if adds_rows(g, &self.plan.class, &self.plan.exact, t) => {
                let x = self.borrow(args[0], &mut names);
                let code = self.allocate(t, &mut names, false);
                let (out, sums) = (self.out(t), self.style.kernel("column_sums"));
                self.plain(guard, quote!(#code #sums(#out, #x, false);), vec![t], names);
                Ok(())
            }
            Node::Prim(Prim::Replicate(axes), args) if repeats(g, &self.plan.class, t) => {
                let owned = self.inside == 0 && {
                    let zero = self.style.zero(g.elem(t));
                    self.fresh_array(t, zero, &mut Vec::new());
                    self.hold.get(&t) == Some(&Hold::Owned)
                };
                if !owned {
                    return self.nest(g.shape(t), &[t], guard, k);
                }
                let times = self.product(&g.shape(t)[..axes.len()], &mut names).tokens;
                let x = self.borrow(args[0], &mut names);
                let (name, repeated) = (self.name(t), self.style.kernel("repeated"));
                self.plain(guard, quote!(let #name = #repeated(#x, #times);), vec![t], names);
                Ok(())
            }
            Node::Prim(Prim::Sum(_), args) => {
                let sum = self.style.kernel("exact_sum");
                let x = self.borrow(args[0], &mut names);
                if g.rank(t) == 0 {
                    let name = self.name(t);
                    self.plain(guard, quote!(let #name = #sum(#x);), vec![t], names);
                } else {
                    let code = self.allocate(t, &mut names, false);
                    let (out, each) = (self.out(t), self.style.kernel("each_row"));
                    self.plain(guard, quote!(#code #each(#out, #x, #sum);), vec![t], names);
                }
                Ok(())
            }
            Node::Prim(Prim::Reduce(op, _), args) => {
                let real = g.elem(args[0]).is_real();
                let kernel = self.style.kernel(match (op, real) {
                    (Reduce::InOrder, _) => "sum_in_order",
                    (Reduce::FromZero, _) => "sum_from_zero",
                    (Reduce::Unrolled, _) => "exact_sum",
                    (Reduce::Lanes, _) => "sum",
                    (Reduce::Fours, _) => "sum_in_fours",
                    (Reduce::Squares, _) => "sum_of_squares",
                    (Reduce::Factors, _) => "exact_product",
                    (Reduce::Distances, _) => "sum_of_squared_distances",
                    (Reduce::Max, true) => "largest",
                    (Reduce::Min, true) => "smallest",
                    (Reduce::Max, false) => "largest_whole",
                    (Reduce::Min, false) => "smallest_whole",
                    (Reduce::ArgMax, true) => "place_of_largest",
                    (Reduce::ArgMin, true) => "place_of_smallest",
                    (Reduce::ArgMax, false) => "position_of_largest",
                    (Reduce::ArgMin, false) => "position_of_smallest",
                    _ => return Err("all and any are loops".into()),
                });
                let (x, len) = match args[1..] {
                    [len] if g.rank(t) == 0 => (self.borrow(args[0], &mut names), Some(self.argument(len, &mut names))),
                    [len] => (self.borrow(args[0], &mut names), Some(self.borrow(len, &mut names))),
                    _ => (self.borrow_part(args[0], &mut names), None),
                };
                if g.rank(t) == 0 {
                    let (name, x) = (self.name(t), len.map_or(x.clone(), |len| quote!(&(#x)[..#len])));
                    self.plain(guard, quote!(let #name = #kernel(#x);), vec![t], names);
                } else {
                    let code = self.allocate(t, &mut names, false);
                    let (out, each) = (self.out(t), if len.is_some() { "each_first" } else { "each_row" });
                    let (each, len) = (self.style.kernel(each), len.map(|len| quote!(#len,)));
                    self.plain(guard, quote!(#code #each(#out, #x, #len #kernel);), vec![t], names);
                }
                Ok(())
            }
            Node::Prim(Prim::Stack, args) => {
                let name = self.name(t);
                let code = if self.inside > 0 {
                    self.hoist(t);
                    self.stack_in_loop(t, args, &mut names)
                } else if g.rank(t) == 1 {
                    let parts: Vec<TokenStream> = args.iter().map(|&c| self.splat(c, &mut names)).collect();
                    match self.scalars_on_stack(t, &parts) {
                        Some(array) => quote!(let #name = #array;),
                        None => {
                            self.hold.insert(t, Hold::Owned);
                            quote!(let #name = ::std::vec![#(#parts),*];)
                        }
                    }
                } else {
                    let parts: Vec<TokenStream> = args
                        .iter()
                        .map(|&c| {
                            names.push(c);
                            let name = &self.names[&c];
                            match self.hold.get(&c) {
                                Some(Hold::Stack(depth)) => {
                                    let flat = super::stack::flat(&quote!(#name), *depth, false);
                                    if *depth > 1 { flat } else { quote!(&#name[..]) }
                                }
                                _ => quote!(&#name[..]),
                            }
                        })
                        .collect();
                    if let Some(code) = self.rows_on_stack(t, &parts) {
                        names.extend(g.shape(t));
                        code
                    } else {
                        self.hold.insert(t, Hold::Owned);
                        quote!(let #name = [#(#parts),*].concat();)
                    }
                };
                self.plain(guard, code, vec![t], names);
                Ok(())
            }
            _ if alias_of(g, &self.plan.class, t).is_some() => {
                let of = alias_of(g, &self.plan.class, t).unwrap_or(t);
                self.same_as(t, of, guard, k);
                Ok(())
            }
            _ if padded_parts(g, &self.plan.class, t).is_some() => self.padded(t, guard),
            _ if is_splat(g, t) => {
                let code = self.filled(t, t, "let", &mut names);
                self.plain(guard, code, vec![t], names);
                Ok(())
            }
            node => Err(format!("nothing computes {node:?}")),
        }
    }

    /// A stored array, or a part of one, as a `&[F]` argument.
    fn borrow_part(&self, t: Term, names: &mut Vec<Term>) -> TokenStream {
        match part_of(self.g, t).filter(|_| self.plan.class(t) == Class::View) {
            Some((array, start, len)) => {
                let part = Factor { array, flipped: false, start: Some(start) };
                self.operand(&part, &[&vec![len], &Vec::new(), &Vec::new()], names)
            }
            None => self.borrow(t, names),
        }
    }

    /// An array that is another one: taken over where nothing else reads that, borrowed or copied otherwise.
    fn same_as(&mut self, t: Term, of: Term, guard: &[Literal], k: usize) {
        let mut names = Vec::new();
        let owned = self.moves(of, k);
        let name = self.name(t);
        let from = self.borrow(of, &mut names);
        let code = if !self.as_many(self.g.shape(t), self.g.shape(of)) {
            let n = self.product(self.g.shape(t), &mut names).tokens;
            let zero = self.style.zero(self.g.elem(t));
            let owned = owned && self.hold.get(&of) == Some(&Hold::Owned);
            self.hold.insert(t, if owned { Hold::Owned } else { Hold::Contiguous });
            let fitted = self.style.kernel(if owned { "resized" } else { "cut" });
            let given = &self.names[&of];
            if owned {
                quote!(let #name = #fitted(#given, #n, #zero);)
            } else if guard.is_empty() || self.inside > 0 {
                self.lent.insert(of);
                quote!(let #name = #fitted(#from, 0, #n, #zero);)
            } else {
                self.hold.insert(t, Hold::Owned);
                quote!(let #name = #fitted(#from, 0, #n, #zero).into_owned();)
            }
        } else if owned {
            self.take_over(t, of);
            let from = &self.names[&of];
            quote!(let #name = #from;)
        } else if guard.is_empty() || self.inside > 0 {
            self.hold.insert(t, Hold::Borrowed);
            self.lent.insert(of);
            let ty = self.style.ty(self.g.elem(t));
            quote!(let #name: &[#ty] = #from;)
        } else {
            let from = self.copy_as(t, of);
            quote!(let #name = #from;)
        };
        self.plain(guard, code, vec![t], names);
    }

    /// A sum with blocks: the dense parts in one nest, then each block in a pass over its own elements.
    pub(super) fn padded(&mut self, t: Term, guard: &[Literal]) -> Result<(), String> {
        let g = self.g;
        let Some((dense, pads)) = padded_parts(g, &self.plan.class, t) else { return Err("no blocks".into()) };
        let mut names = Vec::new();
        let code = self.allocate(t, &mut names, dense.is_empty());
        let before = self.statements.len();
        if !dense.is_empty() {
            let mut kernel = Kernel::new(g, self.plan, self.hints, g.shape(t).to_vec(), []);
            let identity = kernel.identity().to_vec();
            let mut sum = None;
            for &part in &dense {
                let value = kernel.element(part, &identity, &[])?;
                sum = Some(match sum {
                    None => value,
                    Some(s) => kernel.op(Op::Prim(Prim::Binary(Binary::Add), [s, value].into())),
                });
            }
            let items: Vec<Item> = sum.iter().map(|&value| Item::Store { out: Some(t), value }).collect();
            self.call(&kernel, &items, ("compute", "The parts without zeros."), &[t], guard, (false, &HashMap::new()))?;
        }
        for &pad in &pads {
            let Node::Prim(Prim::Pad(steps), args) = g.node(pad) else { continue };
            let rank = steps.len();
            let domain = g.shape(args[0]).to_vec();
            let mut kernel = Kernel::new(g, self.plan, self.hints, domain.clone(), []);
            let identity = kernel.identity().to_vec();
            let value = kernel.element(args[0], &identity, &[])?;
            let mut ix = Vec::new();
            for k in 0..rank {
                let start = kernel.element(args[1 + k], &[], &[])?;
                ix.push(kernel.affine(start, steps[k], identity[k]));
            }
            let block = steps.iter().all(|&s| s == 1);
            let scatter = Item::Scatter { out: t, put: Put::Add, ix: ix.clone(), value };
            let at = self.statements.len();
            if !block {
                self.call(&kernel, &[scatter], ("add", "Adds at a stride."), &[t], guard, (false, &HashMap::new()))?;
                continue;
            }
            let item = Item::Block { out: t, put: Put::Add, ix, value, tested: false };
            self.call(&kernel, &[item], ("add", "Adds a block of the result."), &[t], guard, (false, &HashMap::new()))?;
            let mut fits: Option<TokenStream> = None;
            for k in 0..rank {
                if self.known.fits(Some(args[1 + k]), Some(domain[k]), g.shape(t)[k]) {
                    continue;
                }
                let kernel = self.style.kernel("fits");
                let [start, len, size] = [args[1 + k], domain[k], g.shape(t)[k]].map(|n| self.argument(n, &mut names));
                let fit = quote!(#kernel(#start, #len, #size));
                fits = Some(fits.map_or(fit.clone(), |before| quote!(#before && #fit)));
            }
            let Some(fits) = fits else { continue };
            // A masked read may be of a block that sticks out: what is outside was not read, what is inside counts.
            self.call(
                &kernel,
                &[scatter],
                ("add", "Adds the part of a block that is inside."),
                &[t],
                guard,
                (false, &HashMap::new()),
            )?;
            let Some(within) = self.statements.pop() else { continue };
            if let Some(s) = self.statements.get_mut(at) {
                let (whole, part) = (std::mem::take(&mut s.code), within.code);
                s.code = Code::of_if(Condition::opaque(fits), whole, &part);
                s.names.extend(within.names);
            }
        }
        // One statement: the allocation and all passes.
        let mut code = Code::from(code);
        for s in self.statements.drain(before..) {
            code.push(s.code);
            names.extend(s.names);
        }
        names.retain(|n| *n != t);
        self.plain(guard, code, vec![t], names);
        Ok(())
    }

    /// A nest that never runs: empty arrays, and sums of nothing.
    fn nothing(&mut self, terms: &[Term], guard: &[Literal]) -> Result<(), String> {
        for &t in terms {
            let mut names = Vec::new();
            let name = self.name(t);
            let fill = self.start(t);
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

    pub(super) fn splat(&self, t: Term, names: &mut Vec<Term>) -> TokenStream {
        let mut t = t;
        while let (Node::Prim(_, args), true) = (self.g.node(t), self.g.rank(t) > 0) {
            t = args[0];
        }
        let (e, named) = self.scalar_expr(t);
        names.extend(named);
        typed(&[&e]).unwrap_or(e.tokens)
    }

    /// An array by a condition: moved out of its arm where nothing else reads it, otherwise borrowed.
    pub(super) fn join(&mut self, t: Term, cond: Term, then: Term, other: Term, guard: &[Literal], k: usize) {
        let alike = self.storage.get(&then) == self.storage.get(&other);
        let owned = then != other && alike && self.moves(then, k) && self.moves(other, k);
        let name = self.name(t);
        // A reference must not leave the block that it points into; what stands outside of a loop is in no block of it.
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
            self.statements.push(Statement { guard: guard.to_vec(), join, defines: vec![t], ..Statement::default() });
            return;
        }
        let mut names = vec![cond];
        let (a, b) = (self.borrow(then, &mut names), self.borrow(other, &mut names));
        let (c, ty) = (self.argument(cond, &mut names), self.style.ty(self.g.elem(t)));
        self.hold.insert(t, Hold::Borrowed);
        self.lent.extend([then, other]);
        self.plain(guard, quote!(let #name: &[#ty] = if #c { #a } else { #b };), vec![t], names);
    }
}
