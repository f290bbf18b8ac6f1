//! Parts of arrays with a dynamic length: their memory orders, and reductions of them in ndarray's
//! order, layout by layout. A part is in the memory of its array. An array that is computed from
//! parts is contiguous and has as many elements as are valid. This module must never let the
//! padding influence a valid element.

use std::rc::Rc;

use super::layouts::Layouts;
use super::{AxisOrder, MemoryOrder, Strides, by_distance};
use crate::ir::{Elem, Graph, Node, Term, Var, axis};
use crate::prim::{Cmp, IntOp, Reduce};

/// An array that is valid only at the first elements along each axis. The others are padding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DynamicPart {
    /// The array. Its sizes are the capacities for all elements that can be valid.
    pub all: Term,
    /// The length along each axis, if it depends on enclosing loops. `None` if all elements along
    /// the axis are valid.
    pub lens: Rc<[Option<Term>]>,
}

impl DynamicPart {
    /// The number of valid elements along each axis.
    #[must_use]
    pub fn sizes(&self, g: &Graph) -> Vec<Term> {
        g.shape(self.all).iter().zip(&*self.lens).map(|(&capacity, len)| len.unwrap_or(capacity)).collect()
    }
}

impl Layouts<'_> {
    /// The number of valid elements of a part along each axis, and its memory order.
    pub fn of_part(&mut self, x: &DynamicPart) -> (Vec<Term>, MemoryOrder) {
        let order = self.of(x.all);
        (x.sizes(self.g), order)
    }

    /// The memory order of a new array of these sizes that is computed from parts: row-major.
    pub fn new_part(&mut self, sizes: &[Term]) -> MemoryOrder {
        let yes = self.g.lit_bool(true);
        MemoryOrder(vec![(yes, self.row_major(sizes))])
    }

    /// The memory order of an array that is computed elementwise from a part: that of a copy of the
    /// part.
    pub fn part_like(&mut self, x: &DynamicPart) -> MemoryOrder {
        let (sizes, order) = self.of_part(x);
        self.copy_order(&sizes, &order)
    }

    /// A part in this memory order, as a new term: the old term may be another array with another
    /// order.
    pub fn part_with_order(&mut self, t: Term, order: MemoryOrder) -> Term {
        let t = self.renewed(t);
        self.with_order(t, order)
    }

    /// Whether the element at an index is valid. `None` if all elements are valid.
    pub fn is_valid(&mut self, lens: &[Option<Term>], ix: &[Term]) -> Option<Term> {
        let mut there = None;
        for (&i, len) in ix.iter().zip(lens) {
            let Some(len) = *len else { continue };
            let below = self.g.compare(Cmp::Lt, i, len);
            there = Some(there.map_or(below, |before| self.g.and(before, below)));
        }
        there
    }

    /// The whole array, with `fill` in place of the padding.
    pub fn padded_with(&mut self, part: &DynamicPart, fill: Term) -> Term {
        let Some(last) = part.lens.iter().rposition(Option::is_some) else { return part.all };
        let sizes = self.g.shape(part.all).to_vec();
        let fill = self.g.broadcast(fill, &sizes[last + 1..]);
        let vars: Vec<Var> = sizes[..=last].iter().map(|_| self.g.fresh()).collect();
        let ix: Vec<Term> = vars.iter().map(|&v| self.g.mk(Node::Var(v))).collect();
        let x = self.g.index(part.all, &ix);
        let x = match self.is_valid(&part.lens, &ix) {
            Some(there) => self.g.cond(there, x, fill),
            None => x,
        };
        sizes.iter().zip(vars).rev().fold(x, |t, (&size, var)| self.g.build(size, var, t))
    }

    /// The valid elements of a part as a vector, in this order. The elements after them are
    /// padding.
    fn in_a_row(&mut self, x: &DynamicPart, order: &AxisOrder) -> DynamicPart {
        if order.is_standard() && x.lens.len() == 1 {
            return x.clone();
        }
        let (capacities, sizes) = (self.g.shape(x.all).to_vec(), x.sizes(self.g));
        let (capacity, len) = (self.product_of(&capacities), self.product_of(&sizes));
        let (nothing, one) = (self.g.zero(self.g.elem(x.all)), self.g.lit_usize(1));
        let var = self.g.fresh();
        let i = self.g.mk(Node::Var(var));
        let there = self.g.compare(Cmp::Lt, i, len);
        let mut at = i;
        let mut index = vec![i; sizes.len()];
        for (n, &k) in order.outermost_first.iter().enumerate().rev() {
            let k = usize::from(k);
            let here = if n == 0 { at } else { self.g.int(IntOp::Rem, at, sizes[k]) };
            index[k] = if order.backwards[n] {
                let last = self.g.int(IntOp::Sub, sizes[k], one);
                self.g.int(IntOp::Sub, last, here)
            } else {
                here
            };
            at = if n == 0 { at } else { self.g.int(IntOp::Div, at, sizes[k]) };
        }
        let element = self.g.index(x.all, &index);
        let element = self.g.cond(there, element, nothing);
        DynamicPart { all: self.g.build(capacity, var, element), lens: [Some(len)].into() }
    }

    /// A reduction of the valid elements in an exact order, over the last `rank` axes.
    pub fn reduce_part(&mut self, op: Reduce, rank: usize, x: &DynamicPart) -> Term {
        let outer = x.lens.len() - rank;
        match x.lens[outer..] {
            ref lens if lens.iter().all(Option::is_none) => self.g.reduce(op, rank, x.all),
            [Some(len)] => {
                let lanes = self.g.shape(x.all)[..outer].to_vec();
                let lens = self.g.broadcast(len, &lanes);
                self.g.reduce_first(op, x.all, lens)
            }
            _ => {
                let flat = self.in_a_row(x, &AxisOrder::row_major(rank));
                self.g.reduce_first(op, flat.all, flat.lens[0].unwrap_or(flat.all))
            }
        }
    }

    /// The sum over the last axes from the first element to the last, starting from 0.
    fn one_by_one(&mut self, x: &DynamicPart, rank: usize) -> Term {
        let outer = x.lens.len() - rank;
        let lens: Vec<Option<Term>> = (0..outer).map(|_| None).chain(x.lens[outer..].iter().copied()).collect();
        // Adding this changes nothing, not even a sign.
        let nothing = match self.g.elem(x.all) {
            Elem::Real(ty) => self.g.lit_real(ty, -0.0),
            elem => self.g.zero(elem),
        };
        let filled = self.padded_with(&DynamicPart { all: x.all, lens: lens.into() }, nothing);
        self.in_order(filled, rank)
    }

    /// The sum of all valid elements, as [`Layouts::sum`] computes it.
    pub fn sum_of_part(&mut self, relaxed: Term, x: &DynamicPart) -> Term {
        let rank = x.lens.len();
        if rank == 0 || !self.g.elem(x.all).is_real() {
            return relaxed;
        }
        let (sizes, order) = self.of_part(x);
        let exact = self.of_layouts((&sizes, &order), &mut |me, axes| {
            let contiguous = me.is_contiguous(&sizes, axes);
            let flat = me.in_a_row(x, &AxisOrder::of(axes));
            let whole = me.reduce_part(Reduce::Unrolled, 1, &flat);
            if me.g.bool_value(contiguous) == Some(true) {
                return whole;
            }
            let slices = me.is_slice(axes, rank - 1);
            let (fast, slow) = (me.reduce_part(Reduce::Unrolled, 1, x), me.one_by_one(x, 1));
            let mut rows = me.choice(slices, fast, slow);
            if rank > 1 {
                rows = me.one_by_one(&DynamicPart { all: rows, lens: x.lens[..rank - 1].into() }, rank - 1);
            }
            me.choice(contiguous, whole, rows)
        });
        self.g.relaxed_exact(relaxed, exact)
    }

    fn of_layouts(
        &mut self,
        (sizes, order): (&[Term], &MemoryOrder),
        f: &mut dyn FnMut(&mut Self, &Strides) -> Term,
    ) -> Term {
        if order.is_unknown() {
            let axes = self.row_major(sizes);
            let of_rows = f(self, &axes);
            return self.mark_unknown(of_rows);
        }
        let mut found = None;
        for (c, axes) in order.cases().iter().rev() {
            let this = f(self, axes);
            found = Some(found.map_or(this, |others| self.choice(*c, this, others)));
        }
        found.unwrap_or_else(|| self.g.lit_bool(false))
    }

    /// The sum over one axis, as [`Layouts::sum_axis`] computes it; and its memory order if it has
    /// two axes or more.
    pub fn sum_axis_of_part(&mut self, relaxed: Term, x: &DynamicPart, k: usize) -> (Term, Option<MemoryOrder>) {
        let (sizes, order) = self.of_part(x);
        let mut sum = relaxed;
        if self.g.elem(x.all).is_real() {
            let exact = self.of_layouts((&sizes, &order), &mut |me, axes| {
                let mut axes_of_lanes: Vec<usize> = (0..sizes.len()).filter(|&n| n != k).collect();
                axes_of_lanes.push(k);
                let perm: Vec<u8> = axes_of_lanes.iter().map(|&n| axis(n)).collect();
                let lanes = DynamicPart {
                    all: me.g.transpose(x.all, &perm),
                    lens: axes_of_lanes.iter().map(|&n| x.lens[n]).collect(),
                };
                let memory = if axes[k].step == -1 { me.lanes_backwards(&lanes) } else { lanes.clone() };
                let near = me.is_near(axes, k);
                let nearest = me.is_nearest(&sizes, axes, k);
                let near = me.g.and(near, nearest);
                let (fast, slow) = (me.reduce_part(Reduce::Unrolled, 1, &memory), me.one_by_one(&lanes, 1));
                me.choice(near, fast, slow)
            });
            sum = self.g.relaxed_exact(relaxed, exact);
        }
        let order = (x.lens.len() > 2).then(|| self.lanes_order((&sizes, &order), k, true));
        (sum, order)
    }

    /// The valid elements of each lane of the last axis in reverse order.
    fn lanes_backwards(&mut self, x: &DynamicPart) -> DynamicPart {
        let capacities = self.g.shape(x.all).to_vec();
        let Some((&capacity, _)) = capacities.split_last() else { return x.clone() };
        let len = x.lens.last().copied().flatten().unwrap_or(capacity);
        let vars: Vec<Var> = capacities.iter().map(|_| self.g.fresh()).collect();
        let mut index: Vec<Term> = vars.iter().map(|&v| self.g.mk(Node::Var(v))).collect();
        let (Some(&i), one) = (index.last(), self.g.lit_usize(1)) else { return x.clone() };
        let there = self.g.compare(Cmp::Lt, i, len);
        let last = self.g.int(IntOp::Sub, len, one);
        if let Some(at) = index.last_mut() {
            *at = self.g.int(IntOp::Sub, last, i);
        }
        let nothing = self.g.zero(self.g.elem(x.all));
        let element = self.g.index(x.all, &index);
        let element = self.g.cond(there, element, nothing);
        let all = capacities.iter().zip(vars).rev().fold(element, |t, (&size, var)| self.g.build(size, var, t));
        DynamicPart { all, lens: Rc::clone(&x.lens) }
    }

    /// The valid elements in the order in which ndarray's `fold` visits them, as in
    /// [`Layouts::folded`].
    pub fn folded_part(&mut self, x: &DynamicPart) -> DynamicPart {
        let rank = x.lens.len();
        let (sizes, order) = self.of_part(x);
        let mut len = None;
        let all = self.of_layouts((&sizes, &order), &mut |me, axes| {
            let contiguous = me.is_contiguous(&sizes, axes);
            let flat = me.in_a_row(x, &AxisOrder::of(axes));
            len = flat.lens[0];
            if rank == 1 && !AxisOrder::of(axes).is_standard() {
                return me.choice(contiguous, flat.all, x.all);
            }
            if rank == 1 || me.g.bool_value(contiguous) == Some(true) {
                return flat.all;
            }
            let mut met = me.visited_of_part(x, &sizes, axes);
            if met != flat.all {
                met = me.choice(contiguous, flat.all, met);
            }
            met
        });
        if rank == 1 { DynamicPart { all, lens: Rc::clone(&x.lens) } } else { DynamicPart { all, lens: [len].into() } }
    }

    /// The elements of a part that is not contiguous, in the order in which `fold` visits them: the
    /// axis with the smallest stride is exchanged with the last one.
    fn visited_of_part(&mut self, x: &DynamicPart, sizes: &[Term], axes: &Strides) -> Term {
        let rank = axes.len();
        let swapped = |me: &mut Self, k: usize| {
            let mut order = AxisOrder::row_major(rank);
            order.outermost_first.swap(k, rank - 1);
            me.in_a_row(x, &order).all
        };
        let by_distance = by_distance(axes);
        if rank == 2 {
            return swapped(self, by_distance[1]);
        }
        let one = self.g.lit_usize(1);
        let mut visited = swapped(self, rank - 1);
        for &k in &by_distance {
            let (several, of_k) = (self.g.compare(Cmp::Gt, sizes[k], one), swapped(self, k));
            visited = self.choice(several, of_k, visited);
        }
        visited
    }

    /// The product of all valid elements, as [`super::product`] computes it. `rows` are two values
    /// of the product over all rows: in the first, each row is multiplied in eight lanes, and in
    /// the second, one element after the other.
    pub fn product_of_part(&mut self, relaxed: Term, x: &DynamicPart, rows: [Term; 2]) -> Term {
        let rank = x.lens.len();
        let (sizes, order) = self.of_part(x);
        let exact = self.of_layouts((&sizes, &order), &mut |me, axes| {
            let contiguous = me.is_contiguous(&sizes, axes);
            let flat = me.in_a_row(x, &AxisOrder::of(axes));
            let whole = me.reduce_part(Reduce::Factors, 1, &flat);
            let slices = me.is_slice(axes, rank - 1);
            let lanes = me.choice(slices, rows[0], rows[1]);
            me.choice(contiguous, whole, lanes)
        });
        self.g.relaxed_exact(relaxed, exact)
    }
}
