//! Parts with dynamic length (`front::open`), in ndarray's memory order.
//!
//! Invariant: the padding does not reach a valid element.

use std::rc::Rc;

use crate::lower::Lower;
use crate::open::DynamicPart;
use crate::value::{Lowered, Value, Want};
use ad_ir::diag::SrcRange;
use ad_ir::ir::Term;
use ad_ir::memory_order::{HasLayouts, MemoryOrder};
use ad_ir::prim::Reduce;

impl<'a> Lower<'a> {
    /// A newly computed part. It is row-major.
    pub(crate) fn new_part(&mut self, t: Term, lens: &[Option<Term>]) -> Value<'a> {
        let sizes = DynamicPart { all: t, lens: lens.into() }.sizes(&self.g);
        let order = self.layouts().new_part(&sizes);
        self.part_in(t, lens, order)
    }

    /// A part computed elementwise from another part `x`. In ndarray it has the memory order of a
    /// copy of `x`.
    pub(crate) fn part_like(&mut self, t: Term, x: &DynamicPart) -> Value<'a> {
        let order = self.layouts().part_like(x);
        self.part_in(t, &x.lens, order)
    }

    fn part_in(&mut self, t: Term, lens: &[Option<Term>], order: MemoryOrder) -> Value<'a> {
        if lens.iter().all(Option::is_none) {
            return self.dynamic_part(t, lens);
        }
        let t = self.layouts().part_with_order(t, order);
        self.dynamic_part(t, lens)
    }

    /// Arithmetic of two parts or arrays.
    pub(crate) fn part_of_two(
        &mut self,
        t: Term,
        lens: &[Option<Term>],
        of: [&DynamicPart; 2],
        by_reference: [bool; 2],
    ) -> Value<'a> {
        let sizes = DynamicPart { all: t, lens: lens.into() }.sizes(&self.g);
        let order = self.layouts().arithmetic_of_parts(of, by_reference, &sizes);
        self.part_in(t, lens, order)
    }

    /// A whole array, as a part whose elements are all valid.
    pub(crate) fn fully_valid(&self, t: Term) -> DynamicPart {
        DynamicPart { all: t, lens: vec![None; self.g.rank(t)].into() }
    }

    /// The part that `Zip` collects from parts.
    pub(crate) fn zipped_part(&mut self, made: Value<'a>, of: &[DynamicPart], range: SrcRange) -> Lowered<Value<'a>> {
        let made = self.value_as_part(&made, Want::Any, range)?;
        let sizes = made.sizes(&self.g);
        if sizes.len() < 2 {
            return Ok(self.dynamic_part(made.all, &made.lens));
        }
        let mut layouts = self.layouts();
        let mut order = MemoryOrder::unknown();
        if !of.iter().any(|x| layouts.is_unknown(x.all)) {
            let columns = layouts.zip_of_parts_prefers_columns(of, &sizes);
            order = layouts.zipped(&sizes, columns).0;
        }
        Ok(self.part_in(made.all, &made.lens, order))
    }

    /// A product of two matrices, or of a matrix and a vector.
    pub(crate) fn part_of_product(&mut self, t: Term, lens: &[Option<Term>], of: [&DynamicPart; 2]) -> Value<'a> {
        if lens.len() < 2 {
            return self.dynamic_part(t, lens);
        }
        let sizes = DynamicPart { all: t, lens: lens.into() }.sizes(&self.g);
        let order = self.layouts().product_of_parts(of, &sizes);
        self.part_in(t, lens, order)
    }

    /// Runs `f` on the array of a part. Exact reductions in `f` are restricted to the valid
    /// elements.
    pub(crate) fn with_valid_lengths<R>(&mut self, x: &DynamicPart, f: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.state.enclosing.replace_valid_lengths(Some(Rc::clone(&x.lens)));
        let result = f(self);
        self.state.enclosing.replace_valid_lengths(before);
        result
    }

    /// Selects one of two parts of the same capacity by a condition.
    pub(crate) fn part_chosen(&mut self, t: Term, lens: &[Option<Term>], cond: Term, of: [Term; 2]) -> Value<'a> {
        let order = self.layouts().chosen_part(cond, of);
        self.part_in(t, lens, order)
    }

    /// Pairs a relaxed sum over one axis with ndarray's exact one. The axis is dropped.
    pub(crate) fn exact_sum_axis_of_part(&mut self, relaxed: Term, x: &DynamicPart, k: usize) -> Value<'a> {
        let mut lens = x.lens.to_vec();
        lens.remove(k);
        match self.layouts().sum_axis_of_part(relaxed, x, k) {
            (sum, Some(order)) => self.part_in(sum, &lens, order),
            (sum, None) => self.dynamic_part(sum, &lens),
        }
    }

    /// Pairs a relaxed product of all valid elements with ndarray's exact one, as
    /// [`Lower::exact_product`] does.
    pub(crate) fn exact_product_of_part(
        &mut self,
        relaxed: Term,
        x: &DynamicPart,
        range: SrcRange,
        in_order: &dyn Fn(&mut Self, Term) -> Lowered<Value<'a>>,
    ) -> Lowered<Term> {
        let rank = x.lens.len();
        if rank == 0 || !self.g.elem(x.all).is_real() {
            return Ok(relaxed);
        }
        let one = crate::methods::construct::constant(self, self.g.elem(x.all), 1);
        let mut rows = [relaxed; 2];
        if rank > 1 {
            let outer = self.g.shape(x.all)[..rank - 1].to_vec();
            let filled = self.padded_with(x, one);
            let slow = self.build_all(&outer, range, &mut |me, ix| {
                let lane = me.g.index(filled, ix);
                in_order(me, lane)
            })?;
            let fast = self.layouts().reduce_part(Reduce::Factors, 1, x);
            for (rows, each) in rows.iter_mut().zip([fast, slow]) {
                let each = self.padded_with(&DynamicPart { all: each, lens: x.lens[..rank - 1].into() }, one);
                let all = in_order(self, each)?;
                *rows = self.term(&all, range)?;
            }
        }
        Ok(self.layouts().product_of_part(relaxed, x, rows))
    }
}
