//! Dispatch of nests on the instruction set of the machine (`ad-runtime`'s `Isa`): which nests are
//! dispatched, which products are fused with the addition that reads them, and which functions are
//! vectorised. A node that a decision depends on (`analysis::decisions`) is computed with exactly
//! the operations of the function.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::super::items::{Fold, Item};
use super::super::kernel::{Id, Op, operands};
use super::super::plan::LANES;
use super::super::rust::{Expr, prec, typed};
use super::state::{Fused, FusibleProduct, LoopVariant, MAX_UNNAMED_SIZE, Nest, NestRange};
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::Put;
use ad_ir::prim::{Binary, Emit, Prim};

/// A nest with fewer iterations than this is not dispatched if all its sizes are literals: it takes
/// less time than a dispatch.
const MIN_ITERATIONS: i128 = 64;
/// A loop without sums and functions that has at least this many real operations per iteration is
/// limited by arithmetic and not by memory.
const MIN_OPERATIONS: usize = 3;

/// The name of the function, if `Isa` has it.
fn vectorised(prim: &Prim) -> Option<&'static str> {
    let (emit, vectorised) = match prim {
        Prim::Unary(f) => (f.row().emit, f.row().vectorised),
        Prim::Binary(f) => (f.row().emit, f.row().vectorised),
        _ => return None,
    };
    match emit {
        Emit::Method(name) | Emit::Kernel(name) if vectorised => Some(name),
        _ => None,
    }
}

/// Whether the function rounds to an integer.
fn rounds(prim: &Prim) -> bool {
    matches!(prim, Prim::Unary(f) if f.row().rounds)
}

impl Nest<'_, '_> {
    /// Whether a dispatch of the nest pays (it costs about two nanoseconds, and code for two
    /// instruction sets).
    pub(super) fn pays(&self) -> bool {
        let mut count = Some(1_i128);
        for &n in &self.k.loops {
            count = count.and_then(|c| Some(c.saturating_mul(self.g.int_value(n)?)));
        }
        if self.depth == 0 || matches!(self.part, NestRange::Ends(_)) || count.is_some_and(|c| c < MIN_ITERATIONS) {
            return false;
        }
        let sums = self.items.iter().any(|item| {
            matches!(item, Item::Fold { out, fold: Fold::Sum, .. } if self.g.elem(*out).is_real() && !self.exact(*out))
                // A sum in order that does not run over the innermost loop: each lane has its own
                // sum.
                || matches!(item, Item::Fold { fold: Fold::InOrder, reduced, .. } if reduced.last() == Some(&false))
        });
        // Tests of indices: the baseline has no vector comparison of integers of 64 bits.
        let tests = self.items.iter().any(|item| matches!(item, Item::Fold { fold: Fold::All, .. }));
        let (mut operations, mut functions) = (0, false);
        for (id, node) in self.k.nodes.iter().enumerate() {
            let Op::Prim(prim, _) = &node.op else { continue };
            if self.uses[id] > 0 && node.elem.is_real() {
                operations += usize::from(usize::from(node.level) >= self.depth);
                functions |= rounds(prim) || self.is_vectorised(u32::try_from(id).unwrap_or(0));
            }
        }
        let by_cost = functions || sums || tests || operations >= MIN_OPERATIONS;
        let why = || {
            let count = format!("{operations} operations on reals per element, from {MIN_OPERATIONS} on");
            let or = |has: bool, what| if has { format!("{what}, ") } else { String::new() };
            let sums = or(sums, "sums") + &or(tests, "tests of all elements");
            format!("({sums}{}{count})", or(functions, "vectorised or rounding functions"))
        };
        choose(Kind::Dispatch, self.key(self.k.nodes.len()), by_cost, why)
    }

    /// The key under which a choice about a node is recorded.
    pub(super) fn key(&self, id: usize) -> (usize, usize) {
        let first = self.items.iter().find_map(|item| match item {
            Item::Store { out, .. } => *out,
            Item::Fold { out, .. } | Item::Scatter { out, .. } | Item::Block { out, .. } => Some(*out),
        });
        (first.map_or(0, |t| t.index()), id)
    }

    /// Whether the innermost loop computes functions that are vectorised.
    pub(super) fn has_functions(&self) -> bool {
        self.k.nodes.iter().enumerate().any(|(id, node)| {
            let inner = usize::from(node.level) >= self.depth && self.uses[id] > 0;
            inner && self.is_vectorised(u32::try_from(id).unwrap_or(0))
        })
    }

    /// Whether a node is such a function.
    pub(super) fn is_vectorised(&self, id: Id) -> bool {
        let node = self.k.node(id);
        let function = matches!(&node.op, Op::Prim(prim, _) if vectorised(prim).is_some());
        (function && !node.exact) || self.is_power(id)
    }

    /// Whether a node is an integer power that can be computed for a whole block. Its bits are
    /// those of the function, so a decision may depend on it. Powers with a literal exponent are
    /// products, which LLVM vectorises by itself.
    pub(super) fn is_power(&self, id: Id) -> bool {
        match &self.k.node(id).op {
            Op::Prim(Prim::PowI, args) => !matches!(self.k.node(args[1]).op, Op::Lit(_)),
            _ => false,
        }
    }

    /// Whether a decision depends on the term.
    pub(super) fn exact(&self, t: ad_ir::ir::Term) -> bool {
        self.k.plan().exact.contains(&t)
    }

    /// The factors of a product with a single reader at the same level. `None` for any other node.
    fn product(&self, id: Id, level: usize) -> Option<FusibleProduct> {
        let node = self.k.node(id);
        match &node.op {
            Op::Prim(Prim::Binary(op @ (Binary::Mul | Binary::MulZero)), args)
                if self.isa
                    && !node.exact
                    && node.elem.is_real()
                    && self.uses[id as usize] == 1
                    && self.level(id) == level =>
            {
                Some(FusibleProduct { factors: [args[0], args[1]], absorbing: *op == Binary::MulZero })
            }
            _ => None,
        }
    }

    /// Chooses the products that become part of a sum.
    pub(super) fn fuse(&mut self) {
        self.fused = vec![None; self.k.nodes.len()];
        self.absorbed = vec![false; self.k.nodes.len()];
        if !self.isa {
            return;
        }
        for id in 0..self.k.nodes.len() {
            let this = u32::try_from(id).unwrap_or(0);
            let node = &self.k.nodes[id];
            let Op::Prim(Prim::Binary(op @ (Binary::Add | Binary::Sub)), args) = &node.op else { continue };
            if self.uses[id] == 0 || node.exact || !node.elem.is_real() {
                continue;
            }
            if !choose(Kind::FusedMultiplyAdd, self.key(id), true, String::new) {
                continue;
            }
            let (level, [a, b]) = (self.level(this), [args[0], args[1]]);
            let minus = *op == Binary::Sub;
            // In a difference of two products, one is fused and the other is the addend.
            let (taken, fused) = if let Some(product) = self.product(b, level) {
                (b, Fused { product, negative: minus, addend: a, subtracted: false })
            } else if let Some(product) = self.product(a, level) {
                (a, Fused { product, negative: false, addend: b, subtracted: minus })
            } else {
                continue;
            };
            self.fused[id] = Some(fused);
            self.absorbed[taken as usize] = true;
        }
        for item in self.items {
            let (Item::Fold { out, fold: Fold::Sum, value, .. }
            | Item::Block { out, put: Put::Add, value, onto_zeros: false, .. }) = item
            else {
                continue;
            };
            if !self.exact(*out) && self.product(*value, self.depth).is_some() {
                self.absorbed[*value as usize] = true;
            }
        }
    }

    /// FMA port balancing: chooses a difference that half of the lanes compute by a fused
    /// multiply-add, if sums and differences outnumber products. Processors have ports for
    /// additions and for multiplications, and the addition ports would be the bottleneck. Returns
    /// the code before the loops.
    pub(super) fn balance(&mut self) -> TokenStream {
        let (mut sums, mut products, mut found) = (0_usize, 0_usize, None);
        for (id, node) in self.k.nodes.iter().enumerate() {
            let Op::Prim(Prim::Binary(op @ (Binary::Add | Binary::Sub | Binary::Mul)), _) = &node.op else { continue };
            let inner = usize::from(node.level) >= self.depth && self.uses[id] > 0;
            if !inner || self.absorbed[id] || !node.elem.is_real() {
                continue;
            }
            if *op == Binary::Mul || self.fused[id].is_some() {
                products += 1;
                continue;
            }
            sums += 1;
            if *op == Binary::Sub && self.place[id] == 0 {
                found = found.or(u32::try_from(id).ok());
            }
        }
        for item in self.items {
            let Item::Fold { value, .. } = item else { continue };
            *(if self.absorbed[*value as usize] { &mut products } else { &mut sums }) += 1;
        }
        let Some(id) = found.filter(|_| self.isa) else { return TokenStream::new() };
        let why = || format!("({sums} sums and differences, more than {products} products)");
        if !choose(Kind::PortBalancing, self.key(id as usize), sums > products, why) {
            return TokenStream::new();
        }
        let (name, isa) = (self.names.fresh("minus_one"), &self.isa_name);
        let ty = self.style.ty(self.k.node(id).elem);
        let code = quote!(let #name: #ty = #isa::minus_one(););
        self.balanced = Some((id, name));
        code
    }

    /// The expression of a node that is computed with machine-specific instructions.
    pub(super) fn special(&mut self, id: Id) -> Result<Option<Expr>, String> {
        if let (Some(lanes), LoopVariant::Lane) = (self.laned.get(&id), &self.variant) {
            let lane = &self.lane;
            return Ok(Some(Expr::atom(quote!(#lanes[#lane]))));
        }
        if let (Some((_, minus_one)), LoopVariant::Lane) = (self.balanced.clone().filter(|b| b.0 == id), &self.variant)
        {
            let [x, y] = [0, 1].map(|k| operands(&self.k.node(id).op)[k]);
            let (x, y) = (self.value(x)?, self.value(y)?);
            let (isa, lane, half) = (&self.isa_name, &self.lane, proc_macro2::Literal::usize_unsuffixed(LANES / 2));
            let plain = self.style.prim(&Prim::Binary(Binary::Sub), &[&x, &y], self.k.node(id).elem, None)?.tokens;
            let (x, y, size) = (typed(&[&x, &y]).unwrap_or_else(|| x.tokens.clone()), y.tokens, MAX_UNNAMED_SIZE + 1);
            let by_product = quote!(#isa::difference(#x, #y, #minus_one));
            return Ok(Some(Expr::new(quote!(if #lane < #half { #plain } else { #by_product }), prec::IF, size)));
        }
        if !self.isa || self.k.node(id).exact {
            return Ok(None);
        }
        if let Some(Fused { product: FusibleProduct { factors: [p, q], absorbing }, negative, addend, subtracted }) =
            self.fused[id as usize]
        {
            let (p, q, r) = (self.value(p)?, self.value(q)?, self.value(addend)?);
            let (p, r) = (if negative { negated(&p) } else { p }, if subtracted { negated(&r) } else { r });
            self.summary.fused += 1;
            self.summary.absorbing += usize::from(absorbing);
            return Ok(Some(self.mul_add([&p, &q, &r], absorbing)));
        }
        let k = self.k;
        let Op::Prim(prim, args) = &k.node(id).op else { return Ok(None) };
        let power = self.is_power(id).then_some("powi");
        let Some(name) = power.or_else(|| vectorised(prim)) else { return Ok(None) };
        *self.summary.functions.entry(name).or_default() += 1;
        self.note_lazy(id, name);
        let values: Vec<Expr> = args.iter().map(|&c| self.value(c)).collect::<Result<_, _>>()?;
        let refs: Vec<&Expr> = values.iter().collect();
        let first = typed(&refs).unwrap_or_else(|| values[0].tokens.clone());
        let rest = values[1..].iter().map(|e| &e.tokens);
        let (isa, name) = (&self.isa_name, Ident::new(name, Span::mixed_site()));
        let size = 1 + values.iter().map(|e| e.size).sum::<u32>();
        Ok(Some(Expr::new(quote!(#isa::#name(#first #(, #rest)*)), prec::ATOM, size)))
    }

    fn mul_add(&self, [p, q, r]: [&Expr; 3], absorbing: bool) -> Expr {
        let isa = &self.isa_name;
        let function = Ident::new(if absorbing { "mul_zero_add" } else { "mul_add" }, Span::mixed_site());
        let first = typed(&[p, q, r]).unwrap_or_else(|| p.tokens.clone());
        let (q_tokens, r_tokens) = (&q.tokens, &r.tokens);
        Expr::new(quote!(#isa::#function(#first, #q_tokens, #r_tokens)), prec::ATOM, 1 + p.size + q.size + r.size)
    }

    /// The value of an item, also if it is a product that could have been fused.
    pub(super) fn factors_or_value(&mut self, value: Id) -> Result<TokenStream, String> {
        match self.product(value, self.depth) {
            Some(FusibleProduct { factors: [p, q], absorbing }) if self.absorbed[value as usize] => {
                let (p, q) = (self.value(p)?, self.value(q)?);
                if absorbing {
                    self.summary.absorbing += 1;
                    let (kernel, p, q) = (self.style.kernel("mul_zero"), p.tokens, q.tokens);
                    return Ok(quote!(#kernel(#p, #q)));
                }
                let (p, q) = (typed(&[&p, &q]).unwrap_or_else(|| p.at(prec::MUL)), q.at(prec::MUL + 1));
                Ok(quote!(#p * #q))
            }
            _ => Ok(self.value(value)?.tokens),
        }
    }

    /// `place += value`.
    pub(super) fn add_to(&mut self, place: &TokenStream, value: Id) -> Result<TokenStream, String> {
        if self.absorbed[value as usize]
            && let Some(FusibleProduct { factors: [p, q], absorbing }) = self.product(value, self.depth)
        {
            let (p, q) = (self.value(p)?, self.value(q)?);
            let sum = self.mul_add([&p, &q, &Expr::atom(place.clone())], absorbing).tokens;
            return Ok(quote!(#place = #sum;));
        }
        let value = self.value(value)?.tokens;
        Ok(quote!(#place += #value;))
    }
}

/// `-e`; a negative literal does not get two signs.
fn negated(e: &Expr) -> Expr {
    let x = e.at(prec::PREFIX + u8::from(e.prec == prec::PREFIX));
    let mut out = Expr::new(quote!(-#x), prec::PREFIX, e.size);
    if e.receiver.is_some() {
        let x = e.receiver();
        out.receiver = Some(quote!(-#x));
    }
    out
}
