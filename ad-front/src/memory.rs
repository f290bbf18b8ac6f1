//! The front end's side of [`ad_ir::memory_order`]. It translates values and closures to the terms
//! and memory orders that that module knows.
//!
//! It does not decide an order itself. It does not change the relaxed value, which no decision
//! reads.

mod carried;
mod parts;

use super::arith::Arith;
use super::functions;
use super::lower::Lower;
use super::table::Call;
use super::value::{Lowered, Value};
use ad_ir::analysis::decisions::Decisions;
use ad_ir::analysis::once;
use ad_ir::diag::SrcRange;
use ad_ir::ir::{Node, Term};
use ad_ir::memory_order::{self, Arithmetic, HasLayouts, Layouts, ReductionOrder};
use ad_ir::prim::{Prim, Reduce};

pub(super) use carried::Ordered;

impl HasLayouts for Lower<'_> {
    fn layouts(&mut self) -> Layouts<'_> {
        Layouts { g: &mut self.g, known: &mut self.memory }
    }
}

impl<'a> Lower<'a> {
    /// The source location of a decision that reads a sum of unknown order, if there is one.
    pub(super) fn decides_in_unknown_order(&self, results: &[Term]) -> Option<SrcRange> {
        if !self.memory.any_unknown() {
            return None;
        }
        let roots: Vec<Term> =
            results.iter().copied().chain(self.state.requirements.checks().iter().map(|c| c.ok)).collect();
        let mut found: Vec<Term> = once::<Decisions>(&self.g, &roots)
            .into_iter()
            .filter(|&t| matches!(self.g.node(t), Node::Prim(Prim::UnknownOrder, _)))
            .collect();
        found.sort_unstable();
        self.state.source.range(self.g.loc(*found.first()?))
    }

    /// An array computed elementwise from another array. In ndarray the result has the memory order
    /// of a copy of its operand, and the elements are computed in that order.
    pub(super) fn in_memory_order(
        &mut self,
        x: Term,
        f: impl FnOnce(&mut Self, Term) -> Lowered<Value<'a>>,
    ) -> Lowered<Value<'a>> {
        let Some(how) = self.layouts().elementwise(x) else { return f(self, x) };
        let made = match &how.axes {
            Some(axes) => {
                let x = self.layouts().in_axis_order(x, axes);
                f(self, x)?
            }
            None => f(self, x)?,
        };
        Ok(match made {
            Value::Term(t) if self.g.rank(t) >= self.g.rank(x) => {
                let t = how.axes.map_or(t, |axes| self.layouts().out_of_axis_order(t, &axes));
                let same = self.g.rank(t) == self.g.rank(x);
                Value::Term(if same { self.layouts().with_order(t, how.order) } else { t })
            }
            made => made,
        })
    }

    /// Arithmetic of two values, at least one of which is an array, in ndarray's memory order.
    pub(super) fn arith_in_memory_order(
        &mut self,
        op: Arith,
        (x, y): (Term, Term),
        by_reference: [bool; 2],
        words: [String; 2],
        range: SrcRange,
    ) -> Lowered<Term> {
        let orders = [x, y].map(|t| self.layouts().not_standard(t));
        if orders == [None, None] {
            return self.arith(op, x, y, words, range);
        }
        if orders.iter().flatten().any(memory_order::MemoryOrder::is_unknown) {
            let made = self.arith(op, x, y, words, range)?;
            return Ok(self.layouts().with_unknown_order(made));
        }
        let (a, b) = self.broadcast_both(x, y, words, range)?;
        let shape = self.g.shape(a).to_vec();
        let how = self.layouts().arithmetic(Arithmetic { of: [x, y], by_reference }, &shape);
        let made = match how.axes {
            None => self.arith(op, a, b, Default::default(), range)?,
            Some(axes) => {
                let mut layouts = self.layouts();
                let (a, b) = (layouts.in_axis_order(a, &axes), layouts.in_axis_order(b, &axes));
                let made = self.arith(op, a, b, Default::default(), range)?;
                self.layouts().out_of_axis_order(made, &axes)
            }
        };
        Ok(self.layouts().with_order(made, how.order))
    }

    /// The array that `Zip` collects from these arrays. `f` gets a shape, and whether its axes are
    /// in reverse order.
    pub(super) fn collected_by_zip(
        &mut self,
        of: &[Term],
        shape: &[Term],
        f: impl FnOnce(&mut Self, &[Term], bool) -> Lowered<Value<'a>>,
    ) -> Lowered<Value<'a>> {
        let (order, axes) = self.layouts().collected(of, shape);
        let mut sizes = shape.to_vec();
        if axes.is_some() {
            sizes.reverse();
        }
        Ok(match f(self, &sizes, axes.is_some())? {
            Value::Term(t) => {
                let t = axes.map_or(t, |axes| self.layouts().out_of_axis_order(t, &axes));
                let same = self.g.rank(t) == shape.len();
                Value::Term(if same { self.layouts().with_order(t, order) } else { t })
            }
            other => other,
        })
    }

    /// Pairs a relaxed reduction with the exact one, over the elements in the order of ndarray's
    /// `fold`.
    pub(super) fn exact_fold(&mut self, op: Reduce, relaxed: Term, t: Term) -> Term {
        let met = self.layouts().folded(t);
        functions::with_exact(self, relaxed, op, self.g.rank(met), met)
    }

    /// Pairs a relaxed sum of all elements or over an axis with ndarray's exact sum, in the order
    /// that the table row declares.
    pub(super) fn summed(&mut self, call: &Call<'a, '_>, relaxed: Term, x: Term, axis: Option<usize>) -> Term {
        match (call.row.order.map(|order| order.reduction), axis) {
            (Some(ReductionOrder::SumAxis), Some(k)) => self.layouts().sum_axis(relaxed, x, k),
            (Some(ReductionOrder::Sum | ReductionOrder::SumAxis), _) => self.layouts().sum(relaxed, x),
            _ => relaxed,
        }
    }

    /// Pairs a relaxed product of all elements with ndarray's exact one. `in_order` multiplies in
    /// the same way as `relaxed` is multiplied.
    pub(super) fn exact_product(
        &mut self,
        (relaxed, t): (Term, Term),
        range: SrcRange,
        in_order: impl Fn(&mut Self, Term) -> Lowered<Value<'a>>,
    ) -> Lowered<Term> {
        let rank = self.g.rank(t);
        let rows_in_order = |me: &mut Self| {
            let outer = me.g.shape(t)[..rank - 1].to_vec();
            me.build_all(&outer, range, &mut |me, ix| {
                let lane = me.g.index(t, ix);
                in_order(me, lane)
            })
        };
        let exact = memory_order::product(self, (relaxed, t), rows_in_order, |me, each| {
            let all = in_order(me, each)?;
            me.term(&all, range)
        })?;
        Ok(match exact {
            Some(exact) => self.g.relaxed_exact(relaxed, exact),
            None => functions::with_exact(self, relaxed, Reduce::Factors, rank, t),
        })
    }

    /// Pairs a relaxed matrix-vector product with ndarray's exact one. `rows` is the axis of `a`
    /// that is summed over.
    pub(super) fn exact_dot(&mut self, relaxed: Term, (a, rows): (Term, usize), b: Term) -> Term {
        let repeated = self.state.enclosing.in_loop();
        self.layouts().dot(relaxed, (a, rows), b, repeated)
    }
}
