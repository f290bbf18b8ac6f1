//! Parts of arrays with a dynamic length: their memory orders, and reductions of them in ndarray's
//! order, layout by layout. A part of an array is where that is; what is computed of parts is
//! contiguous, of as many elements as are there. Must never let an element that is not there into
//! one that is.

use std::rc::Rc;

use super::layouts::Layouts;
use super::{AxisOrder, MemoryOrder, Strides, by_distance};
use crate::ir::{Elem, Graph, Lit, Node, Term, Var, axis};
use crate::prim::{Cmp, IntOp, Reduce};

/// An array of which the first so many elements along each axis are there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DynamicPart {
    /// The array, with the capacity for all that can be there.
    pub all: Term,
    /// Of each axis the length, where that depends on the loops around; `None`: all of it.
    pub lens: Rc<[Option<Term>]>,
}

impl DynamicPart {
    /// How many elements there are along each axis.
    #[must_use]
    pub fn sizes(&self, g: &Graph) -> Vec<Term> {
        g.shape(self.all).iter().zip(&*self.lens).map(|(&capacity, len)| len.unwrap_or(capacity)).collect()
    }
}

impl Layouts<'_> {
    /// How many elements of a part there are along each axis, and their memory order.
    pub fn of_part(&mut self, x: &DynamicPart) -> (Vec<Term>, MemoryOrder) {
        let order = self.of(x.all);
        (x.sizes(self.g), order)
    }

    /// The memory order of what is computed of parts, of these sizes: row-major.
    pub fn new_part(&mut self, sizes: &[Term]) -> MemoryOrder {
        let yes = self.g.lit_bool(true);
        MemoryOrder(vec![(yes, self.row_major(sizes))])
    }

    /// The memory order of what is computed of the elements of a part: as that of a copy.
    pub fn part_like(&mut self, x: &DynamicPart) -> MemoryOrder {
        let (sizes, order) = self.of_part(x);
        self.copy_order(&sizes, &order)
    }

    /// A part in a term of its own, since all of it may be an array in its own right.
    pub fn part_with_order(&mut self, t: Term, order: MemoryOrder) -> Term {
        let t = self.renewed(t);
        self.with_order(t, order)
    }

    /// Whether there is an element at an index; `None`: there is one at each.
    pub fn is_valid(&mut self, lens: &[Option<Term>], ix: &[Term]) -> Option<Term> {
        let mut there = None;
        for (&i, len) in ix.iter().zip(lens) {
            let Some(len) = *len else { continue };
            let below = self.g.compare(Cmp::Lt, i, len);
            there = Some(there.map_or(below, |before| self.g.and(before, below)));
        }
        there
    }

    /// A whole array with something in the place of what is not there.
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

    fn zero(&mut self, elem: Elem) -> Term {
        match elem {
            Elem::Real(ty) => self.g.lit_real(ty, 0.0),
            Elem::Int(ty) => self.g.lit(Lit::Int(ty, 0)),
            Elem::Bool => self.g.lit_bool(false),
        }
    }

    /// The elements of a part in an order, one after the other, behind which nothing is said.
    fn in_a_row(&mut self, x: &DynamicPart, order: &AxisOrder) -> DynamicPart {
        if order.is_standard() && x.lens.len() == 1 {
            return x.clone();
        }
        let (capacities, sizes) = (self.g.shape(x.all).to_vec(), x.sizes(self.g));
        let (capacity, len) = (self.product_of(&capacities), self.product_of(&sizes));
        let (nothing, one) = (self.zero(self.g.elem(x.all)), self.g.lit_usize(1));
        let var = self.g.fresh();
        let i = self.g.mk(Node::Var(var));
        let there = self.g.compare(Cmp::Lt, i, len);
        let mut at = i;
        let mut index = vec![i; sizes.len()];
        for (n, &k) in order.outwards.iter().enumerate().rev() {
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

    /// A reduction in an exact order over the last axes of what is there.
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

    /// From the first to the last along the last axes, beginning with 0.
    fn one_by_one(&mut self, x: &DynamicPart, rank: usize) -> Term {
        let outer = x.lens.len() - rank;
        let lens: Vec<Option<Term>> = (0..outer).map(|_| None).chain(x.lens[outer..].iter().copied()).collect();
        // Adding this changes nothing, not even a sign.
        let nothing = match self.g.elem(x.all) {
            Elem::Real(ty) => self.g.lit_real(ty, -0.0),
            elem => self.zero(elem),
        };
        let filled = self.padded_with(&DynamicPart { all: x.all, lens: lens.into() }, nothing);
        self.in_order(filled, rank)
    }

    /// A sum of all that is there, as [`Layouts::sum`] has it.
    pub fn sum_of_part(&mut self, free: Term, x: &DynamicPart) -> Term {
        let rank = x.lens.len();
        if rank == 0 || !self.g.elem(x.all).is_real() {
            return free;
        }
        let (sizes, order) = self.of_part(x);
        let own = self.of_layouts((&sizes, &order), &mut |me, axes| {
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
        self.g.relaxed_exact(free, own)
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

    /// A sum over one axis as [`Layouts::sum_axis`] has it, and its memory order if it has two axes
    /// or more.
    pub fn sum_axis_of_part(&mut self, free: Term, x: &DynamicPart, k: usize) -> (Term, Option<MemoryOrder>) {
        let (sizes, order) = self.of_part(x);
        let mut sum = free;
        if self.g.elem(x.all).is_real() {
            let own = self.of_layouts((&sizes, &order), &mut |me, axes| {
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
            sum = self.g.relaxed_exact(free, own);
        }
        let order = (x.lens.len() > 2).then(|| self.lanes_order((&sizes, &order), k, true));
        (sum, order)
    }

    /// What is there of each lane of the last axis, from its end.
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
        let nothing = self.zero(self.g.elem(x.all));
        let element = self.g.index(x.all, &index);
        let element = self.g.cond(there, element, nothing);
        let all = capacities.iter().zip(vars).rev().fold(element, |t, (&size, var)| self.g.build(size, var, t));
        DynamicPart { all, lens: Rc::clone(&x.lens) }
    }

    /// What is there in the order in which ndarray's `fold` meets it, as [`Layouts::folded`] has
    /// it.
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
            let mut met = me.met_of_part(x, &sizes, axes);
            if met != flat.all {
                met = me.choice(contiguous, flat.all, met);
            }
            met
        });
        if rank == 1 { DynamicPart { all, lens: Rc::clone(&x.lens) } } else { DynamicPart { all, lens: [len].into() } }
    }

    /// The axis whose elements are the nearest to each other changes its place with the last one.
    fn met_of_part(&mut self, x: &DynamicPart, sizes: &[Term], axes: &Strides) -> Term {
        let rank = axes.len();
        let swapped = |me: &mut Self, k: usize| {
            let mut order = AxisOrder::row_major(rank);
            order.outwards.swap(k, rank - 1);
            me.in_a_row(x, &order).all
        };
        let by_distance = by_distance(axes);
        if rank == 2 {
            return swapped(self, by_distance[1]);
        }
        let one = self.g.lit_usize(1);
        let mut met = swapped(self, rank - 1);
        for &k in &by_distance {
            let (several, of_k) = (self.g.compare(Cmp::Gt, sizes[k], one), swapped(self, k));
            met = self.choice(several, of_k, met);
        }
        met
    }

    /// A product of all that is there, as [`super::product`] has it. `rows`: the product of the
    /// products of rows, each of which is eight lanes or one after the other.
    pub fn product_of_part(&mut self, free: Term, x: &DynamicPart, rows: [Term; 2]) -> Term {
        let rank = x.lens.len();
        let (sizes, order) = self.of_part(x);
        let own = self.of_layouts((&sizes, &order), &mut |me, axes| {
            let contiguous = me.is_contiguous(&sizes, axes);
            let flat = me.in_a_row(x, &AxisOrder::of(axes));
            let whole = me.reduce_part(Reduce::Factors, 1, &flat);
            let slices = me.is_slice(axes, rank - 1);
            let lanes = me.choice(slices, rows[0], rows[1]);
            me.choice(contiguous, whole, lanes)
        });
        self.g.relaxed_exact(free, own)
    }
}
