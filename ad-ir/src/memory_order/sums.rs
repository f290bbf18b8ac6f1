//! ndarray's orders of summation, for each layout. This module must never change a number that no
//! decision reads: each function returns the relaxed number that it was given, paired with
//! ndarray's exact one.

use std::convert::Infallible;

use super::by_distance;
use super::layouts::{Layouts, View};
use crate::ir::{Term, axis};
use crate::prim::{Cmp, IntOp, Reduce};

/// A compiler state that holds a graph and the memory orders of its terms.
pub trait HasLayouts {
    /// The graph with its memory orders.
    fn layouts(&mut self) -> Layouts<'_>;
}

impl HasLayouts for Layouts<'_> {
    fn layouts(&mut self) -> Layouts<'_> {
        Layouts { g: self.g, known: self.known }
    }
}

/// A number that is computed from an array, for each layout that the array may have. `None` if the
/// array is in standard layout.
fn try_by_layout<C: HasLayouts, E>(
    me: &mut C,
    t: Term,
    mut f: impl FnMut(&mut C, View) -> Result<Term, E>,
) -> Result<Option<Term>, E> {
    let Some(order) = me.layouts().not_standard(t) else { return Ok(None) };
    if order.is_unknown() {
        let mut layouts = me.layouts();
        let axes = layouts.standard_strides(t);
        let view = layouts.view(t, &axes);
        let of_rows = f(me, view)?;
        return Ok(Some(me.layouts().mark_unknown(of_rows)));
    }
    let mut found = None;
    for (c, axes) in order.cases().iter().rev() {
        let view = me.layouts().view(t, axes);
        let of_this = f(me, view)?;
        found = Some(found.map_or(of_this, |others| me.layouts().one_order(*c, of_this, others)));
    }
    Ok(found)
}

/// The product of all elements in ndarray's order: eight lanes over contiguous memory, and row by
/// row otherwise. `relaxed` is the product in the order of the indices. `in_order` multiplies the
/// elements of an array in that order, and `rows_in_order` those of each row of `t`. `None` if the
/// array is in standard layout.
///
/// # Errors
///
/// The errors of the closures.
pub fn product<C: HasLayouts, E>(
    me: &mut C,
    (relaxed, t): (Term, Term),
    mut rows_in_order: impl FnMut(&mut C) -> Result<Term, E>,
    mut in_order: impl FnMut(&mut C, Term) -> Result<Term, E>,
) -> Result<Option<Term>, E> {
    try_by_layout(me, t, |me, view| {
        let rank = view.axes.len();
        let lanes = match me.layouts().g.bool_value(view.contiguous) {
            Some(true) => relaxed,
            _ if rank < 2 => relaxed,
            _ => {
                let slow = rows_in_order(me)?;
                let mut layouts = me.layouts();
                let fast = layouts.g.reduce(Reduce::Factors, 1, t);
                let slices = layouts.is_slice(&view.axes, rank - 1);
                let each = layouts.choice(slices, fast, slow);
                in_order(me, each)?
            }
        };
        let mut layouts = me.layouts();
        let whole = layouts.g.reduce(Reduce::Factors, rank, view.in_memory);
        Ok(layouts.choice(view.contiguous, whole, lanes))
    })
}

impl Layouts<'_> {
    fn by_layout(&mut self, t: Term, mut f: impl FnMut(&mut Self, View) -> Term) -> Option<Term> {
        let Ok(found) = try_by_layout(self, t, |me, view| Ok::<_, Infallible>(f(me, view)));
        found
    }

    /// The sum over the last `rank` axes from 0, one element after the other.
    pub fn in_order(&mut self, t: Term, rank: usize) -> Term {
        let sum = self.g.reduce(Reduce::InOrder, rank, t);
        let zero = self.g.zeros_like(sum);
        self.g.add(zero, sum)
    }

    /// Whether a vector is a slice. A vector of unknown memory order counts as one. A number that
    /// is computed on this assumption has to be marked with [`Layouts::of_known`].
    pub fn vector_is_slice(&mut self, t: Term) -> Term {
        if self.is_unknown(t) {
            return self.g.lit_bool(true);
        }
        let near = self.by_layout(t, |me, view| me.is_slice(&view.axes, 0));
        near.unwrap_or_else(|| self.g.lit_bool(true))
    }

    /// Whether the lanes of one axis of a vector or a matrix are slices, in the sense of
    /// [`Layouts::vector_is_slice`].
    pub fn lanes_are_slices(&mut self, a: Term, k: usize) -> Term {
        let one = self.g.lit_usize(1);
        let known = match self.is_unknown(a) {
            true => None,
            false => self.by_layout(a, |me, view| me.is_slice(&view.axes, k)),
        };
        match known {
            Some(near) => near,
            // Elements along the first axis of a row-major matrix are adjacent only if it has one
            // column.
            None if k + 1 < self.g.rank(a) => self.same_size(self.g.shape(a)[1], one),
            None => self.g.lit_bool(true),
        }
    }

    /// A number that is computed from these arrays. It is marked if the memory order of one of them
    /// is unknown. The number carries the mark and not the result of [`Layouts::vector_is_slice`]:
    /// a marked condition would be a decision even if no decision reads the number.
    pub fn of_known(&mut self, exact: Term, arrays: [Term; 2]) -> Term {
        if arrays.iter().any(|&t| self.is_unknown(t)) { self.mark_unknown(exact) } else { exact }
    }

    /// A sum over all axes. (Of an array in standard layout a plain sum is in ndarray's order.)
    pub fn sum(&mut self, relaxed: Term, t: Term) -> Term {
        let rank = self.g.rank(t);
        if rank == 0 || !self.g.elem(t).is_real() {
            return relaxed;
        }
        let exact = self.by_layout(t, |me, view| {
            let whole = me.g.reduce(Reduce::Unrolled, rank, view.in_memory);
            if me.g.bool_value(view.contiguous) == Some(true) {
                return whole;
            }
            let slices = me.is_slice(&view.axes, rank - 1);
            let (fast, slow) = (me.g.reduce(Reduce::Unrolled, 1, t), me.in_order(t, 1));
            let mut rows = me.choice(slices, fast, slow);
            if rank > 1 {
                rows = me.in_order(rows, rank - 1);
            }
            me.choice(view.contiguous, whole, rows)
        });
        exact.map_or(relaxed, |exact| self.g.relaxed_exact(relaxed, exact))
    }

    /// A sum over one axis: by lanes if that axis has the smallest stride, and one part after the
    /// other otherwise.
    pub fn sum_axis(&mut self, relaxed: Term, t: Term, k: usize) -> Term {
        if !self.g.elem(t).is_real() {
            return relaxed;
        }
        let exact = self.by_layout(t, |me, view| {
            let lanes = me.axis_last(t, k);
            // A lane that goes backwards is summed in the order of memory.
            let memory = if view.axes[k].step == -1 { me.last_backwards(lanes) } else { lanes };
            let near = me.is_near(&view.axes, k);
            let shape = me.g.shape(t).to_vec();
            let nearest = me.is_nearest(&shape, &view.axes, k);
            let near = me.g.and(near, nearest);
            let (fast, slow) = (me.g.reduce(Reduce::Unrolled, 1, memory), me.in_order(lanes, 1));
            me.choice(near, fast, slow)
        });
        let sum = exact.map_or(relaxed, |exact| self.g.relaxed_exact(relaxed, exact));
        self.lanes(t, k, sum, true)
    }

    /// Reverses the last axis.
    fn last_backwards(&mut self, t: Term) -> Term {
        let mut which = vec![false; self.g.rank(t)];
        if let Some(last) = which.last_mut() {
            *last = true;
        }
        self.backwards(t, &which)
    }

    /// Moves one axis after the others.
    fn axis_last(&mut self, t: Term, k: usize) -> Term {
        let others = (0..self.g.rank(t)).filter(|&n| n != k);
        let perm: Vec<u8> = others.chain([k]).map(axis).collect();
        self.g.transpose(t, &perm)
    }

    /// The elements in the order in which ndarray's `fold` visits them. This is the order of memory
    /// if they are contiguous. Otherwise the axis with the smallest stride is exchanged with the
    /// last one.
    pub fn folded(&mut self, t: Term) -> Term {
        self.by_layout(t, |me, view| me.met(t, &view)).unwrap_or(t)
    }

    fn met(&mut self, t: Term, view: &View) -> Term {
        if self.g.bool_value(view.contiguous) == Some(true) {
            return view.in_memory;
        }
        let (rank, shape) = (view.axes.len(), self.g.shape(t).to_vec());
        let by_distance = by_distance(&view.axes);
        let swapped = |me: &mut Self, k: usize| {
            let mut perm: Vec<u8> = (0..rank).map(axis).collect();
            perm.swap(k, rank - 1);
            me.g.transpose(t, &perm)
        };
        let mut met = match rank {
            0 | 1 => t,
            // With one element along one of two axes, all orders are the same.
            2 => swapped(self, by_distance[1]),
            _ => {
                let one = self.g.lit_usize(1);
                let mut met = t;
                for &k in &by_distance {
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

    /// Selects one of two numbers, or of two arrays with the same elements in different orders, by
    /// a condition.
    fn one_order(&mut self, c: Term, a: Term, b: Term) -> Term {
        if a == b || self.g.shape(a) == self.g.shape(b) {
            return self.choice(c, a, b);
        }
        let shape = self.g.shape(a).to_vec();
        let n = self.product_of(&shape);
        let [a, b] = [a, b].map(|t| {
            let sizes = self.g.shape(t).to_vec();
            let size = self.product_of(&sizes);
            let flat = self.g.reshape(t, &[size]);
            self.g.recast(flat, &[n])
        });
        self.choice(c, a, b)
    }

    /// The number of elements of an array of these sizes.
    pub fn product_of(&mut self, sizes: &[Term]) -> Term {
        let one = self.g.lit_usize(1);
        sizes.iter().fold(one, |n, &size| self.g.int(IntOp::Mul, n, size))
    }

    /// A product with a vector, by the dot products of ndarray: eight lanes if both operands are
    /// slices, and one element after the other otherwise. `rows` is the axis of `a` that is summed
    /// over. In a loop (`repeated`), all products of one matrix with vectors may become one product
    /// of two matrices, which has another order.
    pub fn dot(&mut self, relaxed: Term, (a, rows): (Term, usize), b: Term, repeated: bool) -> Term {
        let rank = self.g.rank(a);
        let order = self.not_standard(a);
        // The product is computed from a whole matrix, transposed or not, in ndarray's exact order.
        let mut plain = order.is_none() || rank == 2 && !self.is_noted(a);
        for (_, axes) in order.iter().flat_map(|order| order.cases()) {
            let view = self.view(a, axes);
            plain &= self.g.bool_value(view.contiguous) == Some(true) && axes.iter().all(|x| x.step == 1);
        }
        if plain && !repeated && self.not_standard(b).is_none() {
            return relaxed;
        }
        let slices = self.lanes_are_slices(a, rows);
        let near = self.vector_is_slice(b);
        let slices = self.g.and(slices, near);
        let last = rank - 1;
        let lanes = self.axis_last(a, rows);
        let shape = self.g.shape(lanes).to_vec();
        let axes: Vec<u8> = (0..last).map(axis).collect();
        let b_of = self.g.recast(b, &shape[last..]);
        let spread = self.g.replicate_axes(b_of, &axes, &shape[..last]);
        let products = self.g.mul(lanes, spread);
        let (fast, slow) = (self.g.reduce(Reduce::Unrolled, 1, products), self.in_order(products, 1));
        let exact = self.choice(slices, fast, slow);
        let exact = self.of_known(exact, [a, b_of]);
        if self.g.ty(exact) == self.g.ty(relaxed) { self.g.relaxed_exact(relaxed, exact) } else { relaxed }
    }
}
