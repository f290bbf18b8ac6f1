//! Reductions with ndarray's own order of their operands, layout by layout.
//! Must never change the number that is not read by a decision.

use super::{Strides, View};
use crate::diag::SrcRange;
use crate::front::checks::Frame;
use crate::front::functions;
use crate::front::lower::Lower;
use crate::front::methods::layout::move_axis;
use crate::front::value::{Lowered, Value};
use crate::ir::{Term, axis};
use crate::prim::{Cmp, Reduce};

impl<'a> Lower<'a> {
    /// Something of an array, as each of its layouts has it; nothing of an array in standard layout.
    fn by_layout(&mut self, t: Term, mut f: impl FnMut(&mut Self, View) -> Lowered<Term>) -> Lowered<Option<Term>> {
        let Some(laid) = self.not_standard(t) else { return Ok(None) };
        if laid.is_empty() {
            let axes = self.standard(t);
            let view = self.view(t, &axes);
            let of_rows = f(self, view)?;
            return Ok(Some(self.unordered(of_rows)));
        }
        let mut found = None;
        for (c, axes) in laid.into_iter().rev() {
            let view = self.view(t, &axes);
            let of_this = f(self, view)?;
            found = Some(found.map_or(of_this, |others| self.one_order(c, of_this, others)));
        }
        Ok(found)
    }

    /// 0 and the elements over the last `rank` axes, one after the other.
    pub(super) fn in_order(&mut self, t: Term, rank: usize) -> Term {
        let sum = self.g.reduce(Reduce::InOrder, rank, t);
        let zero = self.g.zeros_like(sum);
        self.g.add(zero, sum)
    }

    /// Whether the elements of an array of one axis are next to each other; of one that is nowhere, as if it were by rows: what is computed of
    /// it by this answer is to be marked (`of_known`).
    pub(in crate::front) fn near(&mut self, t: Term) -> Lowered<Term> {
        if self.is_nowhere(t) {
            return Ok(self.g.lit_bool(true));
        }
        let near = self.by_layout(t, |me, view| Ok(me.is_slice(&view.axes, 0)))?;
        Ok(near.unwrap_or_else(|| self.g.lit_bool(true)))
    }

    /// Whether an axis is the one that ndarray takes for the nearest: of the smallest stride, the last of several.
    pub(super) fn is_nearest(&mut self, shape: &[Term], axes: &Strides, k: usize) -> Term {
        let (zero, one) = (self.g.lit_usize(0), self.g.lit_usize(1));
        let strides: Vec<Term> = (0..shape.len())
            .map(|n| {
                let mut a = axes[n];
                if let ([x, y], true) = (shape, a.zipped) {
                    let (several, also) = (self.g.compare(Cmp::Gt, *x, one), self.g.compare(Cmp::Gt, *y, one));
                    let by_rows = if a.place == 1 { shape[1 - n] } else { one };
                    let several = self.g.and(several, also);
                    a.unit = self.choice(several, a.unit, by_rows);
                }
                let by = self.g.lit_usize(usize::try_from(a.step.unsigned_abs()).unwrap_or(usize::MAX));
                let stride = self.times(a.unit, by);
                if !a.sliced {
                    return stride;
                }
                let few = self.g.compare(Cmp::Le, shape[n], one);
                self.choice(few, zero, stride)
            })
            .collect();
        let mut nearest = self.g.lit_bool(true);
        for (n, &other) in strides.iter().enumerate().filter(|&(n, _)| n != k) {
            let op = if n < k { Cmp::Le } else { Cmp::Lt };
            let nearer = self.g.compare(op, strides[k], other);
            nearest = self.g.and(nearest, nearer);
        }
        nearest
    }

    /// A sum over all axes with ndarray's own. (Of what is in standard layout a plain sum is.)
    pub(in crate::front) fn own_sum(&mut self, free: Term, t: Term) -> Lowered<Term> {
        let rank = self.g.rank(t);
        if rank == 0 || !self.g.elem(t).is_real() {
            return Ok(free);
        }
        let own = self.by_layout(t, |me, view| {
            let whole = me.g.reduce(Reduce::Unrolled, rank, view.in_memory);
            if me.g.bool_value(view.contiguous) == Some(true) {
                return Ok(whole);
            }
            let slices = me.is_slice(&view.axes, rank - 1);
            let (fast, slow) = (me.g.reduce(Reduce::Unrolled, 1, t), me.in_order(t, 1));
            let mut rows = me.choice(slices, fast, slow);
            if rank > 1 {
                rows = me.in_order(rows, rank - 1);
            }
            Ok(me.choice(view.contiguous, whole, rows))
        })?;
        Ok(own.map_or(free, |own| self.g.own(free, own)))
    }

    /// A sum over one axis with ndarray's own: by lanes, if they are the nearest in memory, and otherwise one part after the other.
    pub(in crate::front) fn own_sum_axis(&mut self, free: Term, t: Term, k: usize) -> Lowered<Term> {
        if !self.g.elem(t).is_real() {
            return Ok(free);
        }
        let own = self.by_layout(t, |me, view| {
            let lanes = move_axis(me, t, k, me.g.rank(t) - 1);
            // A lane that goes backwards is added up as it comes in memory.
            let memory = if view.axes[k].step == -1 { me.backwards(lanes) } else { lanes };
            let one = me.g.lit_usize(1);
            let mut near = match view.axes[k].step {
                1 | -1 => me.same_size(view.axes[k].unit, one),
                _ => me.g.lit_bool(false),
            };
            let shape = me.g.shape(t).to_vec();
            let nearest = me.is_nearest(&shape, &view.axes, k);
            near = me.g.and(near, nearest);
            let (fast, slow) = (me.g.reduce(Reduce::Unrolled, 1, memory), me.in_order(lanes, 1));
            Ok(me.choice(near, fast, slow))
        })?;
        let sum = own.map_or(free, |own| self.g.own(free, own));
        Ok(self.lay_lanes(t, k, sum, true))
    }

    /// The last axis from its end.
    fn backwards(&mut self, t: Term) -> Term {
        let mut back = vec![false; self.g.rank(t)];
        if let Some(last) = back.last_mut() {
            *last = true;
        }
        self.turned(t, &back)
    }

    /// A reduction with that over the elements in the order in which ndarray's `fold` meets them.
    pub(in crate::front) fn own_fold(&mut self, op: Reduce, free: Term, t: Term) -> Lowered<Term> {
        let met = self.as_folded(t)?;
        Ok(functions::own(self, free, op, self.g.rank(met), met))
    }

    /// The elements in the order in which ndarray's `fold` meets them: as they come in memory if they do so in one piece. Otherwise the axis whose
    /// elements are the nearest to each other changes its place with the last one.
    pub(in crate::front) fn as_folded(&mut self, t: Term) -> Lowered<Term> {
        let met = self.by_layout(t, |me, view| Ok(me.met(t, &view)))?;
        Ok(met.unwrap_or(t))
    }

    fn met(&mut self, t: Term, view: &View) -> Term {
        if self.g.bool_value(view.contiguous) == Some(true) {
            return view.in_memory;
        }
        let (rank, shape) = (view.axes.len(), self.g.shape(t).to_vec());
        let places = super::parts::by_distance(&view.axes);
        let swapped = |me: &mut Self, k: usize| {
            let mut perm: Vec<u8> = (0..rank).map(axis).collect();
            perm.swap(k, rank - 1);
            me.g.transpose(t, &perm)
        };
        let mut met = match rank {
            0 | 1 => t,
            // With one element along an axis all orders of two are one.
            2 => swapped(self, places[1]),
            _ => {
                let one = self.g.lit_usize(1);
                let mut met = t;
                for &k in &places {
                    let (several, of_k) = (self.g.compare(Cmp::Gt, shape[k], one), swapped(self, k));
                    met = self.one_order(several, of_k, met);
                }
                met
            }
        };
        if met != view.in_memory {
            met = self.one_order(view.contiguous, view.in_memory, met);
        }
        met
    }

    /// Arrays of the same elements in different orders, or numbers: one of them, by a condition.
    fn one_order(&mut self, c: Term, a: Term, b: Term) -> Term {
        if a == b || self.g.shape(a) == self.g.shape(b) {
            return self.choice(c, a, b);
        }
        let shape = self.g.shape(a).to_vec();
        let n = self.product_of(&shape);
        let [a, b] = [a, b].map(|t| {
            let own = self.g.shape(t).to_vec();
            let size = self.product_of(&own);
            let flat = self.g.reshape(t, &[size]);
            self.g.recast(flat, &[n])
        });
        self.choice(c, a, b)
    }

    /// A product of all elements with ndarray's own: of lanes that are slices unrolled, otherwise from the first element to the last, as
    /// `in_order` multiplies and as `free` is.
    pub(in crate::front) fn own_product(
        &mut self,
        (free, t): (Term, Term),
        range: SrcRange,
        in_order: impl Fn(&mut Self, Term) -> Lowered<Value<'a>>,
    ) -> Lowered<Term> {
        let rank = self.g.rank(t);
        let own = self.by_layout(t, |me, view| {
            let lanes = match me.g.bool_value(view.contiguous) {
                Some(true) => free,
                _ if rank < 2 => free,
                _ => {
                    let outer = me.g.shape(t)[..rank - 1].to_vec();
                    let slow = me.build_all(&outer, range, &mut |me, ix| {
                        let lane = me.g.index(t, ix);
                        in_order(me, lane)
                    })?;
                    let fast = me.g.reduce(Reduce::Factors, 1, t);
                    let slices = me.is_slice(&view.axes, rank - 1);
                    let each = me.choice(slices, fast, slow);
                    let all = in_order(me, each)?;
                    me.term(&all, range)?
                }
            };
            let whole = me.g.reduce(Reduce::Factors, rank, view.in_memory);
            Ok(me.choice(view.contiguous, whole, lanes))
        })?;
        Ok(match own {
            Some(own) => self.g.own(free, own),
            None => functions::own(self, free, Reduce::Factors, rank, t),
        })
    }

    /// A number of these arrays, in the order in which they lie; the mark is on the number, since an answer of `near` that carried it would be
    /// a decision even where nothing is decided by the number.
    pub(in crate::front) fn of_known(&mut self, own: Term, arrays: [Term; 2]) -> Term {
        if arrays.iter().any(|&t| self.is_nowhere(t)) { self.unordered(own) } else { own }
    }

    /// Whether the lanes of one axis of a vector or a matrix are slices; see `near`.
    pub(in crate::front) fn lanes_near(&mut self, a: Term, k: usize) -> Lowered<Term> {
        let one = self.g.lit_usize(1);
        let known = match self.is_nowhere(a) {
            true => None,
            false => self.by_layout(a, |me, view| Ok(me.is_slice(&view.axes, k)))?,
        };
        Ok(match known {
            Some(near) => near,
            // The lanes of the first axis of a matrix have its columns between them.
            None if k + 1 < self.g.rank(a) => self.same_size(self.g.shape(a)[1], one),
            None => self.g.lit_bool(true),
        })
    }

    /// A product with a vector, by the dot products of ndarray: unrolled where both are slices, and otherwise in order.
    /// `rows`: which axis of `a` is summed over.
    pub(in crate::front) fn own_dot(&mut self, free: Term, (a, rows): (Term, usize), b: Term) -> Lowered<Term> {
        let rank = self.g.rank(a);
        let laid = self.not_standard(a);
        // A whole matrix, transposed or not, is what the product itself is computed of.
        let mut plain = laid.is_none() || rank == 2 && !self.is_noted(a);
        for (_, axes) in laid.iter().flatten() {
            let view = self.view(a, axes);
            plain &= self.g.bool_value(view.contiguous) == Some(true) && axes.iter().all(|x| x.step == 1);
        }
        // In a loop, all products of one matrix with vectors may become one of two matrices, which has another order.
        let looped = self.frames.iter().any(|frame| !matches!(frame, Frame::Guard { .. }));
        if plain && !looped && self.not_standard(b).is_none() {
            return Ok(free);
        }
        let slices = self.lanes_near(a, rows)?;
        let near = self.near(b)?;
        let slices = self.g.and(slices, near);
        let last = rank - 1;
        let lanes = move_axis(self, a, rows, last);
        let shape = self.g.shape(lanes).to_vec();
        let axes: Vec<u8> = (0..last).map(axis).collect();
        let b = self.g.recast(b, &shape[last..]);
        let spread = self.g.replicate_axes(b, &axes, &shape[..last]);
        let products = self.g.mul(lanes, spread);
        let (fast, slow) = (self.g.reduce(Reduce::Unrolled, 1, products), self.in_order(products, 1));
        let own = self.choice(slices, fast, slow);
        let own = self.of_known(own, [a, b]);
        Ok(if self.g.ty(own) == self.g.ty(free) { self.g.own(free, own) } else { free })
    }
}
