//! The region of a checkpoint: terms that become the body of a loop with one step, whose number of
//! steps is marked ([`Prim::Checkpoint`]). A condition that depends on the region is a result of
//! it, so that a check does not compute the region again.
//!
//! This module must never decide what a region may read: its caller names the outer terms.

use super::Condition;
use crate::lower::Lower;
use crate::translation::enclosing::OfSteps;
use crate::value::Lowered;
use ad_ir::ir::{Elem, Node, OpenLoop, Term, Type};
use ad_ir::memory_order::HasLayouts;
use ad_ir::prim::Prim;

impl Lower<'_> {
    /// Lowers a region. It computes what depends on the outer terms `over`. `f` returns the terms
    /// of its result, for which there are new terms that read the region.
    pub(crate) fn in_region<R>(
        &mut self,
        over: &[Term],
        f: impl FnOnce(&mut Self) -> Lowered<(R, Vec<Term>)>,
    ) -> Lowered<(R, Vec<Term>)> {
        let one = self.g.lit_usize(1);
        let (var, step, mark) = self.enter(one);
        let depth = self.state.enclosing.enter_recurrence(over.to_vec(), (var, one, mark));
        let made = self.unchanging(None, |me| me.maybe_unreached(f));
        let OfSteps { flags, spares } = self.state.enclosing.leave_recurrence(depth);
        self.state.facts.forget(mark);
        let (value, terms) = made?;
        let inside: Vec<bool> = terms.iter().map(|&t| !self.is_size(t) && self.g.depends_on(t, over)).collect();
        let (mut init, mut carried, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for (&t, _) in terms.iter().zip(&inside).filter(|(_, inside)| **inside) {
            init.push(self.g.zeros_of_any(t));
            let ty = self.g.ty(t).clone();
            carried.push(self.g.placeholder(ty));
            results.push(t);
        }
        let values = results.len();
        for (ok, _) in &flags {
            init.push(self.g.lit_bool(true));
            carried.push(self.g.placeholder(Type::scalar(Elem::Bool)));
            results.push(*ok);
        }
        if results.is_empty() {
            return Ok((value, terms));
        }
        for spare in spares {
            init.push(spare.init);
            carried.push(spare.carried);
            results.push(spare.next);
        }
        let count = self.g.prim(Prim::Checkpoint, &[one]);
        let region = OpenLoop { count, reverse: false, stop: None, step: var, init, carried, results };
        debug_assert!(!region.results.iter().any(|&t| self.g.depends_on(t, &[step])), "a region has no steps");
        let region = self.g.close_loop_over(&region, over);
        for (k, (_, said)) in flags.into_iter().enumerate() {
            let ok = self.g.proj(region, values + k);
            self.check(Condition::Term(ok, None, None), said);
        }
        let mut next = 0;
        let read = |(&t, inside): (&Term, bool)| {
            if !inside {
                return t;
            }
            next += 1;
            let result = self.g.proj(region, next - 1);
            self.layouts().note_like(result, t);
            self.inference.inherit_literals(&self.g, result, t);
            result
        };
        Ok((value, terms.iter().zip(inside).map(read).collect()))
    }

    /// Whether a term can be a size. A size is the same term in every stage.
    fn is_size(&self, t: Term) -> bool {
        *self.g.ty(t) == Type::scalar(Elem::USIZE)
            && self.g.free(t).is_empty()
            && !self.g.is_open(t)
            && !matches!(self.g.node(t), Node::Lit(_))
    }
}
