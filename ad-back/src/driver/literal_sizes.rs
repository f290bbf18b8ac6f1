//! Loops over small matrices: an outlined loop whose steps call kernels on square matrices of one
//! size is also compiled for a few literal sizes, and the program chooses when it runs. Then calls
//! and nests are code without loops in the function of the loop, where a step on matrices of four
//! rows would otherwise spend most of its time on calls.
//!
//! The code of the loop is written once: the number of rows is a const parameter, which is 0 for
//! all other sizes. This module does not decide which loops are outlined.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::super::plan::Work;
use super::state::Driver;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Node, Term};
use ad_ir::prim::{Cmp, Prim};
use ad_ir::sorted::{SortedMap, SortedSet};
use ad_middle::passes::lowering::matrix::as_product;

/// Kernels that have a form for a number of rows: those of contractions, and those that primitives
/// name.
const PRODUCTS: [&str; 4] = ["gemm", "gemv", "gemv_t", "absorbed"];
const KERNELS: [&str; 3] = ["lu", "lu_solve", "lu_solve_t"];
/// The work of a call: a product of matrices or a factorisation, and a product with a vector.
const MATRIX: usize = 2;
const VECTOR: usize = 1;
/// The least work in a step for which the loop is compiled for literal sizes: each of them takes as
/// long to compile as the loop.
const LEAST_WORK: usize = 4;

/// What the function of a loop has because it is also compiled for literal sizes.
pub(super) struct LiteralSizes {
    /// The const parameter: the number of rows, or 0 for any number.
    pub(super) param: TokenStream,
    /// The statement by which sizes become numbers.
    pub(super) as_numbers: TokenStream,
    /// The parameters that have to be equal to the number.
    pub(super) sizes: Vec<Ident>,
}

impl Driver<'_> {
    /// The sizes, equal to each other, of the square matrices that the steps of the loop `n` work
    /// on, if these are worth it.
    pub(super) fn matrix_sizes(&self, n: usize) -> Vec<Term> {
        let equal = self.equal_sizes();
        let mut work: SortedMap<Term, (usize, SortedSet<Term>)> = SortedMap::new();
        let mut loops = vec![n];
        while let Some(n) = loops.pop() {
            for &k in &self.plan.bodies[n] {
                let t = match self.plan.steps[k].work {
                    Work::Loop(inner) => {
                        loops.push(inner);
                        continue;
                    }
                    Work::Whole(t) => t,
                    _ => continue,
                };
                let Some((amount, sizes)) = self.square_call(t) else { continue };
                let of = root(&equal, sizes[0]);
                if sizes.iter().all(|&s| root(&equal, s) == of) {
                    let (sum, members) = work.entry(of).or_default();
                    *sum += amount;
                    members.extend(sizes);
                }
            }
        }
        // The first one of those with the most work.
        let Some((of, (amount, mut sizes))) = work.into_iter().reduce(|a, b| if b.1.0 > a.1.0 { b } else { a }) else {
            return Vec::new();
        };
        // Vectors may have other sizes that are equal to these.
        sizes.extend(equal.keys().copied().filter(|&s| root(&equal, s) == of && self.g.int_value(s).is_none()));
        let by_cost = amount >= LEAST_WORK;
        let sizes: Vec<Term> = sizes.into_iter().collect();
        let chosen = choose(Kind::LiteralSizes, (sizes[0].index(), n), by_cost, || {
            format!("(calls on square matrices weigh {amount}, at least {LEAST_WORK})")
        });
        if chosen { sizes } else { Vec::new() }
    }

    /// The work of a kernel's call on matrices that may be square, and their sizes.
    fn square_call(&self, t: Term) -> Option<(usize, Vec<Term>)> {
        let g = self.g;
        let (work, sizes) = match g.node(t) {
            Node::Prim(Prim::Contract(spec), args)
                if !self.plan.exact.contains(&t) && !self.plan.windows.contains_key(&t) =>
            {
                let p = as_product(g, spec, [args[0], args[1]], false)?;
                if !p.batch.is_empty() || p.k.len() != 1 || p.m.len() > 1 || p.n.len() > 1 {
                    return None;
                }
                let work = if p.m.len() + p.n.len() == 2 { MATRIX } else { VECTOR };
                let sizes = [p.m, p.k, p.n].concat();
                (work, if sizes.len() > 1 { sizes } else { return None })
            }
            Node::Prim(prim, args) => {
                let kernel = prim.structural(|s| s.kernel()).flatten()?;
                let last = *args[..prim.data_args(args.len())].last()?;
                (MATRIX, vec![*g.shape(last).last().filter(|_| KERNELS.contains(&kernel))?])
            }
            _ => return None,
        };
        let literal = |s: &Term| g.int_value(*s).is_some();
        (!sizes.iter().any(literal)).then_some((work, sizes))
    }

    /// For a size that a check compares with another one: the other one. An alternative of a check
    /// counts, since the program compares the sizes again.
    fn equal_sizes(&self) -> SortedMap<Term, Term> {
        let mut equal = SortedMap::new();
        let mut seen = SortedSet::new();
        let mut stack: Vec<Term> = self.checks.iter().map(|c| c.ok).collect();
        while let Some(t) = stack.pop() {
            match self.g.node(t) {
                Node::Prim(Prim::And | Prim::Or, args) if seen.insert(t) => stack.extend(args.iter().copied()),
                Node::Prim(Prim::Compare(Cmp::Eq), args) => {
                    let (a, b) = (root(&equal, args[0]), root(&equal, args[1]));
                    if a != b {
                        equal.insert(a.max(b), a.min(b));
                    }
                }
                _ => {}
            }
        }
        equal
    }

    /// The name of the const parameter.
    pub(super) fn rows_name(&self) -> Ident {
        Ident::new(if self.style.param == "N" { "Rows" } else { "N" }, Span::mixed_site())
    }

    /// A kernel that works on matrices of these sizes, as the callee of a call: the one for the
    /// number of rows of the loop, if they have so many.
    pub(super) fn kernel_of_sizes(&self, name: &str, sizes: &[Term]) -> TokenStream {
        let general = self.style.kernel(name);
        let has_form = PRODUCTS.contains(&name) || KERNELS.contains(&name);
        if self.matrix_sizes.is_empty() || !has_form || !sizes.iter().all(|s| self.matrix_sizes.contains(s)) {
            return general;
        }
        let (kernel, isa, rows) = (self.style.kernel(&format!("{name}_n")), self.style.isa_name(), self.rows_name());
        quote!(#kernel::<#isa, _, #rows>)
    }

    /// Ends the loop that is also compiled for literal sizes, if it is one; its function has these
    /// values as parameters.
    pub(super) fn leave_literal_sizes(&mut self, read: &[Term]) -> Option<LiteralSizes> {
        let all = std::mem::take(&mut self.matrix_sizes);
        if all.is_empty() {
            return None;
        }
        let rows = self.rows_name();
        let sizes: Vec<Ident> = read.iter().filter(|t| all.contains(t)).map(|t| self.names[t].clone()).collect();
        let numbers = vec![&rows; sizes.len()];
        let as_numbers = match &*sizes {
            [] => quote!(),
            [size] => quote!(let #size = if #rows == 0 { #size } else { #rows };),
            _ => quote!(let (#(#sizes),*) = if #rows == 0 { (#(#sizes),*) } else { (#(#numbers),*) };),
        };
        Some(LiteralSizes { param: quote!(const #rows: usize), as_numbers, sizes })
    }
}

fn root(equal: &SortedMap<Term, Term>, t: Term) -> Term {
    let mut t = t;
    while let Some(&other) = equal.get(&t) {
        t = other;
    }
    t
}
