//! Calls of the runtime's kernels: products of matrices and vectors, reductions. This module must
//! never decide which contraction is a call.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::super::block::Statement;
use super::super::notes::Note;
use super::super::plan::Guard;
use super::super::store::{Class, part_of};
use super::memory::Storage;
use super::state::Driver;
use ad_ir::ir::{Contraction, Term};
use ad_ir::prim::Reduce;
use ad_middle::passes::lowering::matrix::{Factor, Product, as_product};

/// A product that a kernel computes, and the code of its operands.
struct ProductCall {
    p: Product,
    a: TokenStream,
    b: TokenStream,
    /// Whether a decision depends on its bits.
    exact: bool,
}

impl Driver<'_> {
    /// A contraction that is a product of matrices or vectors.
    pub(super) fn contraction(
        &mut self,
        t: Term,
        spec: &Contraction,
        args: &[Term],
        guard: &[Guard],
        k: usize,
    ) -> Result<(), String> {
        let g = self.g;
        let mut names = Vec::new();
        let exact = self.plan.exact.contains(&t);
        let Some(p) = as_product(g, spec, [args[0], args[1]], exact) else {
            return self.strided(t, guard);
        };
        let a = self.operand(&p.a, &[&p.batch, &p.m, &p.k], &mut names);
        let b = self.operand(&p.b, &[&p.batch, &p.k, &p.n], &mut names);
        self.name(t);
        let call = ProductCall { p, a, b, exact };
        if g.rank(t) == 0 {
            self.dot(t, spec, call, (guard, names));
            return Ok(());
        }
        let mut code = self.allocate_for_kernel(t, &mut names, guard, k);
        code.push(self.product_of_arrays(t, &call, &mut names));
        if spec.absorbing() {
            let ProductCall { p, a, b, .. } = &call;
            let (out, absorbed) = (self.out(t), self.kernel_of_product("absorbed", p));
            let [batch, m, k, n] = [&p.batch, &p.m, &p.k, &p.n].map(|s| self.product(s, &mut names).tokens);
            let ([ta, tb], [za, zb]) = ([p.a.transposed, p.b.transposed], p.absorbs);
            code.push(quote!(#absorbed(#out, #a, #b, [#ta, #tb], #batch, [#m, #k, #n], [#za, #zb]);));
        }
        self.plain(guard, code, vec![t], names);
        Ok(())
    }

    /// A product of two vectors.
    fn dot(
        &mut self,
        t: Term,
        spec: &Contraction,
        ProductCall { p, a, b, exact }: ProductCall,
        (guard, names): (&[Guard], Vec<Term>),
    ) {
        let name = self.name(t);
        let whole = p.a.start.is_none() && p.b.start.is_none();
        let copies = if exact || !whole || spec.absorbing() {
            Vec::new()
        } else {
            self.copies_beside(t, [p.a.array, p.b.array], guard)
        };
        if !copies.is_empty() {
            let dot = self.kernel("dot_with_copies");
            let code = quote!(let #name = #dot(#a, #b, &mut [#(#copies),*]););
            let defines = vec![t];
            self.add(Statement { code: code.into(), defines, names, effect: true, ..Statement::default() });
            return;
        }
        let dot = self.kernel(if exact { "exact_dot" } else { "dot" });
        let mut found = quote!(#dot(#a, #b));
        if spec.absorbing() {
            let (absorbed, [first, second]) = (self.kernel("absorbed_dot"), p.absorbs);
            found = quote!(#absorbed(#found, #a, #b, [#first, #second]));
        }
        self.plain(guard, quote!(let #name = #found;), vec![t], names);
    }

    /// The kernel of this name for the sizes of a product.
    fn kernel_of_product(&self, name: &str, p: &Product) -> TokenStream {
        self.note(Note::Kernel(name.into()));
        self.kernel_of_sizes(name, &[&p.batch[..], &p.m, &p.k, &p.n].concat())
    }

    /// The call of the kernel for a product of matrices, or of a matrix and a vector.
    fn product_of_arrays(
        &mut self,
        t: Term,
        ProductCall { p, a, b, exact }: &ProductCall,
        names: &mut Vec<Term>,
    ) -> TokenStream {
        let (out, exact) = (self.out(t), *exact);
        let on_stack = matches!(self.memory.hold.get(&t), Some(Storage::Stack(_)));
        let flag = |transposed: bool| format_ident!("{}", if transposed { "Transposed" } else { "Plain" });
        let gemv = |stored_first: bool| self.kernel_of_product(if stored_first { "gemv_t" } else { "gemv" }, p);
        if !p.batch.is_empty() {
            let kernel = self.kernel(if on_stack { "gemm_each_off_heap" } else { "gemm_each" });
            let [batch, m, k, n] = [&p.batch, &p.m, &p.k, &p.n].map(|s| self.product(s, names).tokens);
            let (ta, tb) = (p.a.transposed, p.b.transposed);
            quote!(#kernel(#out, #a, #b, [#ta, #tb], #batch, [#m, #k, #n]);)
        } else if exact && (p.n.is_empty() || p.m.is_empty()) {
            // For a vector times a matrix, ndarray uses the transpose of the matrix, whose rows are
            // the columns.
            let kernel = self.kernel("exact_gemv");
            let (rows, transposed) = if p.n.is_empty() { (&p.m, p.a.transposed) } else { (&p.n, !p.b.transposed) };
            let [rows, inner] = [rows, &p.k].map(|s| self.product(s, names).tokens);
            let (matrix, vector) = if p.n.is_empty() { (a, b) } else { (b, a) };
            let (flag, operand) = (flag(transposed), self.kernel("Operand"));
            quote!(#kernel(#out, #operand::#flag(#matrix), #vector, [#rows, #inner]);)
        } else if p.n.is_empty() {
            let kernel = gemv(p.a.transposed);
            quote!(#kernel(#out, #a, #b, false);)
        } else if p.m.is_empty() {
            let kernel = gemv(!p.b.transposed);
            quote!(#kernel(#out, #b, #a, false);)
        } else {
            let kernel = match (on_stack, exact) {
                (true, _) => "gemm_off_heap",
                (false, true) => "exact_gemm",
                (false, false) => "gemm",
            };
            let (kernel, operand) = (self.kernel_of_product(kernel, p), self.kernel("Operand"));
            let (fa, fb) = (flag(p.a.transposed), flag(p.b.transposed));
            let [m, k, n] = [&p.m, &p.k, &p.n].map(|s| self.product(s, names).tokens);
            let added = if exact && !on_stack { quote!() } else { quote!(, false) };
            quote!(#kernel(#out, #operand::#fa(#a), #operand::#fb(#b), [#m, #k, #n] #added);)
        }
    }

    /// A reduction of rows by a kernel, in the order of that kernel.
    pub(super) fn reduction(&mut self, t: Term, op: Reduce, args: &[Term], guard: &[Guard]) -> Result<(), String> {
        let g = self.g;
        let mut names = Vec::new();
        let real = g.elem(args[0]).is_real();
        let kernel = self.kernel(match (op, real) {
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
            (Reduce::ArgMax, false) => "place_of_largest_whole",
            (Reduce::ArgMin, false) => "place_of_smallest_whole",
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
            let (each, len) = (self.kernel(each), len.map(|len| quote!(#len,)));
            self.plain(guard, quote!(#code #each(#out, #x, #len #kernel);), vec![t], names);
        }
        Ok(())
    }

    /// A stored array, or a part of one, as a `&[F]` argument.
    fn borrow_part(&self, t: Term, names: &mut Vec<Term>) -> TokenStream {
        match part_of(self.g, t).filter(|_| self.plan.class(t) == Class::View) {
            Some((array, start, len)) => {
                let part = Factor { array, transposed: false, start: Some(start) };
                self.operand(&part, &[&vec![len], &Vec::new(), &Vec::new()], names)
            }
            None => self.borrow(t, names),
        }
    }
}
