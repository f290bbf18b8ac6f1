//! The memory order of a term. It has been recorded, or it follows from the views that the term
//! consists of. A term is one array, so two arrays with the same elements in two orders are two
//! terms. This module must never record an order for a term that is also another array.

use crate::sorted::SortedMap;
use std::rc::Rc;

use super::{AxisOrder, MemoryOrder, Stride, Strides};
use crate::ir::{Graph, Node, Term, axis};
use crate::prim::{Cmp, IntOp, Prim};

/// The memory orders of arrays that are neither in standard layout nor views of others.
#[derive(Clone, Debug, Default)]
pub struct KnownOrders {
    orders: SortedMap<Term, MemoryOrder>,
    /// Whether a number was created whose order of summation is unknown.
    any_unknown: bool,
}

impl KnownOrders {
    /// Whether a number was created whose order of summation is unknown.
    #[must_use]
    pub fn any_unknown(&self) -> bool {
        self.any_unknown
    }
}

/// A graph with the memory orders of its terms.
#[derive(Debug)]
pub struct Layouts<'g> {
    /// The graph.
    pub g: &'g mut Graph,
    /// The noted memory orders of its terms.
    pub known: &'g mut KnownOrders,
}

/// A view of an array in memory.
pub(super) struct View {
    pub axes: Strides,
    /// Whether all elements are next to each other.
    pub contiguous: Term,
    /// The elements in the order of memory, if they are contiguous.
    pub in_memory: Term,
}

impl Layouts<'_> {
    /// An array with these elements in this memory order. Arrays with the same elements in two
    /// orders have to be two terms. The simplifier makes them one again, when no order is asked for
    /// any more.
    pub fn with_order(&mut self, mut t: Term, order: MemoryOrder) -> Term {
        loop {
            let is_view = viewed(self.g, t).is_some();
            let other = match self.known.orders.get(&t) {
                Some(known) => *known != order,
                None => is_view && self.of(t) != order,
            };
            if !other {
                if !is_view {
                    self.known.orders.insert(t, order);
                }
                return t;
            }
            let renewed = self.renewed(t);
            if renewed == t {
                return t;
            }
            t = renewed;
        }
    }

    /// Notes the memory order of a term that has no order yet, such as a placeholder.
    pub fn note(&mut self, t: Term, order: MemoryOrder) {
        self.known.orders.insert(t, order);
    }

    /// Notes that a placeholder has the memory order of another term.
    pub fn note_like(&mut self, t: Term, other: Term) {
        if let Some(order) = self.not_standard(other) {
            self.note(t, order);
        }
    }

    /// The memory order of an array, if it may differ from standard layout.
    pub fn not_standard(&mut self, t: Term) -> Option<MemoryOrder> {
        if self.g.rank(t) == 0 || viewed(self.g, t).is_none() && !self.known.orders.contains_key(&t) {
            return None;
        }
        let (order, standard) = (self.of(t), self.standard_strides(t));
        if order.is_unknown() {
            return Some(order);
        }
        let same = |a: &Stride, b: &Stride| a.step == b.step && a.unit == b.unit;
        let all = order.cases().iter().all(|(_, axes)| {
            axes.is_sorted_by_key(|a| a.position) && axes.iter().zip(&*standard).all(|(a, b)| same(a, b))
        });
        (!all).then_some(order)
    }

    /// Whether the memory order of an array is unknown.
    pub fn is_unknown(&mut self, t: Term) -> bool {
        self.not_standard(t).is_some_and(|order| order.is_unknown())
    }

    /// Marks a number that is computed from an array of unknown memory order. The argument is the
    /// number for a row-major array.
    pub fn mark_unknown(&mut self, of_rows: Term) -> Term {
        self.known.any_unknown = true;
        self.g.prim(Prim::UnknownOrder, &[of_rows])
    }

    /// Marks the memory order of an array as unknown.
    pub fn with_unknown_order(&mut self, t: Term) -> Term {
        let t = self.renewed(t);
        self.with_order(t, MemoryOrder::unknown())
    }

    /// Notes the memory order of an array of arrays, whose rows (or rows of rows) keep their own
    /// memory. It is the common layout of the rows. If the rows have no common layout, and some row
    /// is not in standard layout, it is unknown.
    pub fn note_rows(&mut self, all: Term, rows: &[Term]) {
        let odd = |me: &mut Self, t: Term| me.g.rank(t) > 0 && me.not_standard(t).is_some();
        if self.g.rank(all) > 1 && rows.iter().any(|&t| odd(self, t)) {
            let order = self.common_layout(all, rows).unwrap_or_default();
            self.note(all, order);
        }
    }

    /// The common memory order of these rows. The axis over the rows gets stride 0, since it is no
    /// axis of memory.
    fn common_layout(&mut self, all: Term, rows: &[Term]) -> Option<MemoryOrder> {
        let (&first, others) = rows.split_first()?;
        let order = self.of(first);
        if others.iter().any(|&t| self.of(t) != order) {
            return None;
        }
        let rank = self.g.rank(all);
        let between = Stride { position: rank, step: 0, unit: self.g.lit_usize(1), sliced: false, zipped: false };
        let cases: Option<Vec<(Term, Strides)>> = order
            .0
            .into_iter()
            .map(|(c, axes)| {
                // A condition or stride that depends on the row cannot hold for all rows.
                let closed = self.g.is_closed(c) && axes.iter().all(|a| self.g.is_closed(a.unit));
                let rows = std::iter::repeat_n(between, rank.saturating_sub(axes.len()));
                let axes: Strides = rows.chain(axes.iter().copied()).collect();
                (closed && axes.len() == rank).then_some((c, axes))
            })
            .collect();
        cases.map(MemoryOrder)
    }

    /// Whether the memory order of a term is noted, so that it does not follow from the term alone.
    pub(super) fn is_noted(&self, t: Term) -> bool {
        let mut base = t;
        loop {
            if self.known.orders.contains_key(&base) {
                return true;
            }
            let Some(inner) = viewed(self.g, base) else { return false };
            base = inner;
        }
    }

    /// The memory order of a term.
    pub fn of(&mut self, t: Term) -> MemoryOrder {
        // Go down through the views to the array in memory, and apply the views on the way back.
        let mut chain = Vec::new();
        let mut base = t;
        let known = loop {
            if let Some(order) = self.known.orders.get(&base) {
                break Some(order.clone());
            }
            let Some(inner) = viewed(self.g, base) else { break None };
            chain.push(base);
            base = inner;
        };
        let mut order = known.unwrap_or_else(|| self.standard(base));
        for view in chain.into_iter().rev() {
            let of: Option<Vec<(Term, Strides)>> =
                order.0.iter().map(|(c, axes)| Some((*c, self.through_view(view, axes)?))).collect();
            let Some(of) = of else { return self.standard(t) };
            order = MemoryOrder(of);
        }
        order
    }

    /// Standard layout under all conditions.
    pub(super) fn standard(&mut self, t: Term) -> MemoryOrder {
        let standard = self.standard_strides(t);
        self.always(standard)
    }

    /// These strides under all conditions.
    pub(super) fn always(&mut self, axes: Strides) -> MemoryOrder {
        MemoryOrder(vec![(self.g.lit_bool(true), axes)])
    }

    pub(super) fn standard_strides(&mut self, t: Term) -> Strides {
        let shape = self.g.shape(t).to_vec();
        self.row_major(&shape)
    }

    pub(super) fn row_major(&mut self, shape: &[Term]) -> Strides {
        self.dense(shape, (0..shape.len()).map(|k| (k, 1)))
    }

    /// The strides of a contiguous array of a shape.
    pub(super) fn contiguous(&mut self, shape: &[Term], order: &AxisOrder) -> Strides {
        let step = |back: &bool| if *back { -1 } else { 1 };
        let axes = order.outermost_first.iter().zip(&order.backwards).map(|(&k, back)| (usize::from(k), step(back)));
        let axes = self.dense(shape, axes);
        if order.zipped { axes.iter().map(|a| Stride { zipped: true, ..*a }).collect() } else { axes }
    }

    /// `outermost_first`: the axes from the outermost to the innermost, each with its step.
    fn dense(&mut self, shape: &[Term], outermost_first: impl DoubleEndedIterator<Item = (usize, i64)>) -> Strides {
        let mut unit = self.g.lit_usize(1);
        let mut axes = vec![Stride { position: 0, step: 1, unit, sliced: false, zipped: false }; shape.len()];
        for (n, (k, step)) in outermost_first.rev().enumerate() {
            axes[k] = Stride { position: shape.len() - 1 - n, step, unit, ..axes[k] };
            unit = self.times(unit, shape[k]);
        }
        axes.into()
    }

    /// The strides of a view of an array with these strides. `None` if no view has such strides.
    fn through_view(&mut self, view: Term, axes: &Strides) -> Option<Strides> {
        Some(match self.g.node(view).clone() {
            Node::Prim(Prim::Transpose(perm), _) => perm.iter().map(|&k| axes[usize::from(k)]).collect(),
            Node::Prim(Prim::Slice(steps), _) => axes
                .iter()
                .zip(&steps)
                .map(|(a, s)| Stride { step: a.step.saturating_mul(*s), sliced: true, ..*a })
                .collect(),
            Node::Gather { vars, index, .. } => {
                let mut left = Vec::new();
                for &v in &vars {
                    let v = self.g.mk(Node::Var(v));
                    let mut found: Option<Stride> = None;
                    for (&i, a) in index.iter().zip(&**axes) {
                        let Some(step) = step_of(self.g, i, v)? else { continue };
                        let own = Stride { step: a.step.saturating_mul(step), sliced: true, ..*a };
                        found = Some(match found {
                            None => own,
                            // Two axes have the same index: a diagonal.
                            Some(first) => Stride { unit: self.g.int(IntOp::Add, first.unit, own.unit), ..own },
                        });
                    }
                    left.push(found?);
                }
                left.extend(&axes[index.len()..]);
                left.into()
            }
            // A contiguous array stays contiguous if its sizes are other terms.
            Node::Prim(Prim::Recast, args) => {
                let (own, new) = (self.g.shape(args[0]).to_vec(), self.g.shape(view).to_vec());
                let order = AxisOrder::of(axes);
                if self.contiguous(&own, &order) == *axes { self.contiguous(&new, &order) } else { Rc::clone(axes) }
            }
            _ => Rc::clone(axes),
        })
    }

    /// An array with these strides, as a view of memory.
    pub(super) fn view(&mut self, t: Term, axes: &Strides) -> View {
        let shape = self.g.shape(t).to_vec();
        let contiguous = self.is_contiguous(&shape, axes);
        let in_memory = self.in_axis_order(t, &AxisOrder::of(axes));
        View { axes: Rc::clone(axes), contiguous, in_memory }
    }

    /// Whether the elements of an array of this shape are next to each other.
    pub(super) fn is_contiguous(&mut self, shape: &[Term], axes: &Strides) -> Term {
        let mut innermost_first: Vec<usize> = (0..axes.len()).collect();
        innermost_first.sort_by_key(|&k| std::cmp::Reverse(axes[k].position));
        let one = self.g.lit_usize(1);
        let (mut contiguous, mut expected) = (self.g.lit_bool(true), one);
        for &k in &innermost_first {
            let near = match axes[k].step {
                1 | -1 => self.same_size(axes[k].unit, expected),
                _ => self.g.lit_bool(false),
            };
            if self.g.bool_value(near) != Some(true) {
                let few = self.g.compare(Cmp::Le, shape[k], one);
                let fits = self.g.or(near, few);
                contiguous = self.g.and(contiguous, fits);
            }
            expected = self.times(expected, shape[k]);
        }
        contiguous
    }

    /// The elements of `t` with its axes in this order. Axes that are not in the order follow the
    /// others.
    pub fn in_axis_order(&mut self, t: Term, order: &AxisOrder) -> Term {
        let known = order.outermost_first.len();
        let perm: Vec<u8> = order.outermost_first.iter().copied().chain((known..self.g.rank(t)).map(axis)).collect();
        let t = self.g.transpose(t, &perm);
        self.backwards(t, &order.backwards)
    }

    /// The inverse of [`Layouts::in_axis_order`].
    pub fn out_of_axis_order(&mut self, t: Term, order: &AxisOrder) -> Term {
        let t = self.backwards(t, &order.backwards);
        let mut perm: Vec<u8> = (0..self.g.rank(t)).map(axis).collect();
        for (from, &k) in order.outermost_first.iter().enumerate() {
            perm[usize::from(k)] = axis(from);
        }
        self.g.transpose(t, &perm)
    }

    /// Reverses each of the first axes that `which` marks.
    pub(super) fn backwards(&mut self, t: Term, which: &[bool]) -> Term {
        let sizes = self.g.shape(t).to_vec();
        let (zero, one) = (self.g.lit_usize(0), self.g.lit_usize(1));
        let (mut starts, mut steps) = (vec![zero; sizes.len()], vec![1; sizes.len()]);
        for k in (0..which.len()).filter(|&k| which[k]) {
            (starts[k], steps[k]) = (self.g.int(IntOp::Sub, sizes[k], one), -1);
        }
        self.g.slice(t, &starts, &steps, &sizes)
    }

    /// Whether the elements along an axis are next to each other, and ascend.
    pub(super) fn is_slice(&mut self, axes: &Strides, k: usize) -> Term {
        let one = self.g.lit_usize(1);
        match axes[k].step {
            1 => self.same_size(axes[k].unit, one),
            _ => self.g.lit_bool(false),
        }
    }

    /// Whether the elements along an axis are next to each other, in either direction.
    pub(super) fn is_near(&mut self, axes: &Strides, k: usize) -> Term {
        let one = self.g.lit_usize(1);
        match axes[k].step {
            1 | -1 => self.same_size(axes[k].unit, one),
            _ => self.g.lit_bool(false),
        }
    }

    /// The absolute values of the strides that ndarray has for an array, in elements.
    pub fn distances(&mut self, shape: &[Term], axes: &Strides) -> Vec<Term> {
        let (zero, one) = (self.g.lit_usize(0), self.g.lit_usize(1));
        (0..shape.len())
            .map(|n| {
                let mut a = axes[n];
                if let ([x, y], true) = (shape, a.zipped) {
                    let (several, also) = (self.g.compare(Cmp::Gt, *x, one), self.g.compare(Cmp::Gt, *y, one));
                    let by_rows = if a.position == 1 { shape[1 - n] } else { one };
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
            .collect()
    }

    /// Whether ndarray chooses this axis as the one with the smallest stride. Of several such axes
    /// it chooses the last one.
    pub(super) fn is_nearest(&mut self, shape: &[Term], axes: &Strides, k: usize) -> Term {
        let distances = self.distances(shape, axes);
        let mut nearest = self.g.lit_bool(true);
        for (n, &other) in distances.iter().enumerate().filter(|&(n, _)| n != k) {
            let op = if n < k { Cmp::Le } else { Cmp::Lt };
            let nearer = self.g.compare(op, distances[k], other);
            nearest = self.g.and(nearest, nearer);
        }
        nearest
    }

    pub(super) fn same_size(&mut self, a: Term, b: Term) -> Term {
        if a == b { self.g.lit_bool(true) } else { self.g.compare(Cmp::Eq, a, b) }
    }

    pub(super) fn times(&mut self, a: Term, b: Term) -> Term {
        match (self.g.int_value(a), self.g.int_value(b)) {
            (Some(1), _) => b,
            (_, Some(1)) => a,
            _ => self.g.int(IntOp::Mul, a, b),
        }
    }

    /// The one of two terms that a condition selects.
    pub fn choice(&mut self, c: Term, a: Term, b: Term) -> Term {
        match self.g.bool_value(c) {
            Some(true) => a,
            Some(false) => b,
            None if a == b => a,
            None => self.g.cond(c, a, b),
        }
    }

    /// A new term with the same elements.
    pub(super) fn renewed(&mut self, t: Term) -> Term {
        let args: Vec<Term> = std::iter::once(t).chain(self.g.shape(t).to_vec()).collect();
        self.g.prim(Prim::Recast, &args)
    }
}

/// The array that a term is a view of, or that it shows with other size terms.
fn viewed(g: &Graph, t: Term) -> Option<Term> {
    match g.node(t) {
        // A stack along an inner axis is a new array.
        Node::Prim(Prim::Transpose(_), args) if matches!(g.node(args[0]), Node::Prim(Prim::Stack, _)) => None,
        Node::Prim(Prim::Transpose(_) | Prim::Slice(_), args) => Some(args[0]),
        Node::Prim(Prim::Recast, args) if g.shape(args[0]) != g.shape(t) => Some(args[0]),
        Node::Gather { src, .. } => Some(*src),
        _ => None,
    }
}

/// The amount by which an index changes if the variable grows by one, for `start + v * n` and
/// `start - v * n`. The inner `None` means that the index does not mention the variable. The outer
/// `None` means that the index has another form.
#[allow(clippy::option_option, reason = "see above")]
fn step_of(g: &Graph, i: Term, v: Term) -> Option<Option<i64>> {
    if !g.depends_on(i, &[v]) {
        return Some(None);
    }
    let times = |t: Term| match g.node(t) {
        _ if t == v => Some(1),
        Node::Prim(Prim::Int(IntOp::Mul), args) if args[0] == v => i64::try_from(g.int_value(args[1])?).ok(),
        _ => None,
    };
    if let Some(n) = times(i) {
        return Some(Some(n));
    }
    match g.node(i) {
        Node::Prim(Prim::Int(IntOp::Add), args) if !g.depends_on(args[0], &[v]) => Some(times(args[1])),
        Node::Prim(Prim::Int(IntOp::Add), args) if !g.depends_on(args[1], &[v]) => Some(times(args[0])),
        Node::Prim(Prim::Int(IntOp::Sub), args) if !g.depends_on(args[0], &[v]) => Some(times(args[1]).map(|n| -n)),
        _ => None,
    }
}
