//! One reservation for all the arrays that a routine keeps. Some allocators return the memory of
//! small arrays to the system after each call, and then each page is mapped and cleared again in
//! the next one. They keep memory of the size that was once allocated as a whole. This module must
//! never change where an array is, and reserves nothing that depends on a computed size.

use std::collections::HashSet;

use quote::quote;

use super::super::block::Statement;
use super::super::rust::Expr;
use super::state::Driver;
use ad_ir::ir::{IntTy, Lit, Node, Term};

impl Driver<'_> {
    /// Records that the routine allocates this array.
    pub(super) fn record_allocation(&mut self, t: Term) {
        let outermost = self.inside == 0 && !self.outlined && self.tile.is_none();
        let always = !self.style.workspace && outermost && self.given.is_empty();
        if always && self.g.elem(t).is_real() && self.g.shape(t).iter().all(|&n| self.is_given_size(n)) {
            self.memory.allocated.push(t);
        }
    }

    /// Whether this is a literal, or the size of an argument.
    fn is_given_size(&self, n: Term) -> bool {
        self.g.int_value(n).is_some() || matches!(self.g.node(n), Node::Size(..))
    }

    /// Adds the reservation before the first of the arrays, if there are several.
    pub(super) fn reserve(&mut self) {
        let arrays = std::mem::take(&mut self.memory.allocated);
        let first = self.statements.iter().position(|s| s.defines.iter().any(|t| arrays.contains(t)));
        let Some(before) = first else { return };
        let defined: HashSet<Term> = self.statements[..before].iter().flat_map(|s| s.defines.iter().copied()).collect();
        let known = |n: &Term| self.g.int_value(*n).is_some() || defined.contains(n);
        let elem = self.g.elem(arrays[0]);
        let mut shapes: Vec<(&[Term], usize)> = Vec::new();
        for &t in &arrays {
            let shape = self.g.shape(t);
            if self.g.elem(t) != elem || !shape.iter().all(known) {
                continue;
            }
            match shapes.iter_mut().find(|(of, _)| *of == shape) {
                Some((_, count)) => *count += 1,
                None => shapes.push((shape, 1)),
            }
        }
        if shapes.iter().map(|(_, count)| count).sum::<usize>() < 2 {
            return;
        }
        let mut names = Vec::new();
        let mut all: Option<Expr> = None;
        for (shape, count) in shapes {
            let one = self.product(shape, &mut names);
            let count = i128::try_from(count).unwrap_or(i128::MAX);
            let some = self.style.lit(Lit::Int(IntTy::Usize, count)).times(&one);
            all = Some(match all {
                Some(all) => all.plus(&some),
                None => some,
            });
        }
        let (Some(all), reserve, ty) = (all, self.style.kernel("reserve"), self.style.ty(elem)) else { return };
        let count = all.tokens;
        let code = quote!(#reserve::<#ty>(#count););
        let statement = Statement { code: code.into(), names, effect: true, ..Statement::default() };
        self.statements.insert(before, statement);
    }
}
