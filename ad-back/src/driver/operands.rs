//! Arrays as arguments of statements that know them by other size terms than those they were
//! created with. A statement never reads beyond an array: if the check that makes the sizes equal
//! may not have run, the array is cut or extended.

use proc_macro2::TokenStream;
use quote::quote;

use super::super::kernel::{Kernel, Op};
use super::super::rust::prec;
use super::memory::{Storage, flat};
use super::state::Driver;
use ad_ir::ir::Term;
use ad_middle::passes::lowering::matrix::Factor;

impl Driver<'_> {
    /// A stored array as the argument of a loop nest, with the length that the nest's size terms
    /// give.
    pub(super) fn read_by(&self, kernel: &Kernel<'_>, t: Term, names: &mut Vec<Term>) -> TokenStream {
        let mut x = self.borrow(t, names);
        let mut seen: Vec<&[Term]> = Vec::new();
        for node in &kernel.nodes {
            let Op::Load { buf, sizes, .. } = &node.op else { continue };
            if *buf != t || seen.contains(&&**sizes) || self.as_many(sizes, self.g.shape(t)) {
                continue;
            }
            seen.push(sizes);
            let (extended, n) = (self.kernel("extended"), self.product(sizes, names).tokens);
            let zero = self.style.zero(self.g.elem(t));
            x = quote!(&#extended(#x, #n, #zero));
        }
        x
    }

    /// An operand of a matrix product, with exactly the number of elements that its sizes give.
    pub(super) fn operand(&self, x: &Factor, sizes: &[&Vec<Term>; 3], names: &mut Vec<Term>) -> TokenStream {
        let (array, sizes) = (self.borrow(x.array, names), sizes.map(|s| s.clone()).concat());
        let shape = self.g.shape(x.array);
        if x.start.is_none() && self.as_many(&sizes, shape) {
            return array;
        }
        let n = self.product(&sizes, names).tokens;
        let start = x.start.filter(|&t| self.g.int_value(t) != Some(0)).map(|start| {
            let (start, named) = self.scalar_expr(start);
            names.extend(named);
            // The other axes of a part are complete.
            shape[1..].iter().fold(start, |rows, &n| {
                let (n, named) = self.scalar_expr(n);
                names.extend(named);
                rows.times(&n)
            })
        });
        if self.rows_fit(x, &sizes) {
            let from = self.elements(x.array);
            return match start.map(|start| start.at(prec::ADD)) {
                Some(start) => quote!(&#from[#start..][..#n]),
                None => quote!(&#from[..#n]),
            };
        }
        let start = start.map_or(quote!(0), |start| start.tokens);
        let (cut, zero) = (self.kernel("cut"), self.style.zero(self.g.elem(x.array)));
        quote!(&#cut(#array, #start, #n, #zero))
    }

    /// A stored array as an expression that elements can be sliced from.
    pub(super) fn elements(&self, t: Term) -> TokenStream {
        let name = &self.names[&t];
        match self.memory.hold.get(&t) {
            Some(Storage::Stack(depth)) if *depth > 1 => flat(&quote!(#name), *depth, false),
            _ => quote!(#name),
        }
    }

    /// Whether leading rows of an array, of these sizes in some order, are proved to be in range.
    pub(super) fn rows_fit(&self, x: &Factor, sizes: &[Term]) -> bool {
        let mut left = sizes.to_vec();
        let shape = self.g.shape(x.array);
        for n in shape.iter().skip(1) {
            let Some(at) = left.iter().position(|m| m == n) else { return false };
            left.swap_remove(at);
        }
        let [rows] = left[..] else { return false };
        self.known.fits(x.start, Some(rows), shape[0])
    }

    /// Whether arrays of these shapes are proved to have the same number of elements. Sizes that a
    /// check at entry makes equal are one term. If the check is in a loop or a branch that does not
    /// run, the sizes may differ.
    pub(super) fn as_many(&self, a: &[Term], b: &[Term]) -> bool {
        let left = |a: &[Term], b: &[Term]| -> Vec<Term> {
            let mut left = a.to_vec();
            for n in b {
                if let Some(at) = left.iter().position(|m| m == n) {
                    left.swap_remove(at);
                }
            }
            left
        };
        let (a, b) = (left(a, b), left(b, a));
        let same = |m: Term, n: Term| self.known.fits(None, Some(m), n) && self.known.fits(None, Some(n), m);
        a.len() == b.len() && a.iter().zip(&b).all(|(&m, &n)| same(m, n))
    }
}
