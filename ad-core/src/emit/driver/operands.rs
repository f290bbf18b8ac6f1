//! Arrays as arguments of statements that know them by other sizes than they were made with.
//! Must never let a statement read beyond an array: where a check that would have made the sizes equal may not have run, it is cut or extended.

use proc_macro2::TokenStream;
use quote::quote;

use super::super::kernel::{Kernel, Op};
use super::Driver;
use crate::ir::Term;

impl Driver<'_> {
    /// A stored array as the argument of a loop nest, which may know it by other sizes: as long as these say.
    pub(super) fn read_by(&self, kernel: &Kernel<'_>, t: Term, names: &mut Vec<Term>) -> TokenStream {
        let mut x = self.borrow(t, names);
        let mut seen: Vec<&[Term]> = Vec::new();
        for node in &kernel.nodes {
            let Op::Load { buf, sizes, .. } = &node.op else { continue };
            if *buf != t || seen.contains(&&**sizes) || self.as_many(sizes, self.g.shape(t)) {
                continue;
            }
            seen.push(sizes);
            let (extended, n) = (self.style.kernel("extended"), self.product(sizes, names).tokens);
            let zero = self.style.zero(self.g.elem(t));
            x = quote!(&#extended(#x, #n, #zero));
        }
        x
    }

    /// An operand of a matrix product, with exactly the elements that its sizes say.
    pub(super) fn operand(&self, t: Term, sizes: &[&Vec<Term>; 3], names: &mut Vec<Term>) -> TokenStream {
        let (x, sizes) = (self.borrow(t, names), sizes.map(|s| s.clone()).concat());
        if self.as_many(&sizes, self.g.shape(t)) {
            return x;
        }
        let (cut, n) = (self.style.kernel("cut"), self.product(&sizes, names).tokens);
        let zero = self.style.zero(self.g.elem(t));
        quote!(&#cut(#x, 0, #n, #zero))
    }

    /// Whether arrays of these shapes are known to have as many elements. What is made equal by a check at the entry is one size; where
    /// the check is one of a loop or an arm, the sizes may differ if that does not run.
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
