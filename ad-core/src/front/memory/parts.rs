//! Parts whose sizes the loops around decide (`front::open`), in ndarray's order: where they are in memory, and reductions of them layout by layout.
//! A part of an array is where that is; what is computed of parts is in one piece, of as many elements as are there.
//! Must never change the number that is not read by a decision, nor let an element that is not there into one that is.

use std::rc::Rc;

use super::{Along, Laid, Order, Strides};
use crate::diag::SrcRange;
use crate::front::iter::consume::zero;
use crate::front::lower::Lower;
use crate::front::open::Open;
use crate::front::value::{Lowered, Value, Want};
use crate::ir::{Elem, Node, Term, Var, axis};
use crate::prim::{Cmp, IntOp, Reduce};

impl<'a> Lower<'a> {
    /// How many elements of a part there are along each axis, and where they are.
    pub(super) fn placed(&mut self, x: &Open) -> (Vec<Term>, Laid) {
        let laid = self.laid(x.all);
        (self.sizes_there(x), laid)
    }

    /// What is computed of parts: by rows.
    pub(in crate::front) fn new_part(&mut self, t: Term, lens: &[Option<Term>]) -> Value<'a> {
        let sizes = self.sizes_there(&Open { all: t, lens: lens.into() });
        let laid = vec![(self.g.lit_bool(true), self.by_rows(&sizes))];
        self.part_in(t, lens, laid)
    }

    /// What is computed of the elements of a part: ndarray makes it as it would copy that.
    pub(in crate::front) fn part_like(&mut self, t: Term, x: &Open) -> Value<'a> {
        let (sizes, laid) = self.placed(x);
        let laid = self.copy_of(&sizes, &laid);
        self.part_in(t, &x.lens, laid)
    }

    fn part_in(&mut self, t: Term, lens: &[Option<Term>], laid: Laid) -> Value<'a> {
        if lens.iter().all(Option::is_none) {
            return self.opened(t, lens);
        }
        // All of it may be an array in its own right.
        let t = self.renewed(t);
        let t = self.lay(t, laid);
        self.opened(t, lens)
    }

    /// Arithmetic of two parts or arrays, as [`Lower::arith_along_memory`] says; `sizes`: of the result.
    pub(in crate::front) fn part_of_two(
        &mut self,
        t: Term,
        lens: &[Option<Term>],
        of: [&Open; 2],
        by_reference: [bool; 2],
    ) -> Value<'a> {
        let sizes = self.sizes_there(&Open { all: t, lens: lens.into() });
        let whole = of.map(|x| {
            let own = self.sizes_there(x);
            own.len() == sizes.len() && own.iter().zip(&sizes).all(|(&n, &m)| self.g.int_value(n) != Some(1) || n == m)
        });
        let numbers = of.map(|x| x.lens.is_empty());
        let placed = of.map(|x| self.placed(x));
        let laid = match (numbers, by_reference, whole) {
            _ if placed.iter().zip(numbers).any(|((_, laid), number)| laid.is_empty() && !number) => Laid::new(),
            ([_, true], [false, _], _) | (_, [false, _], [true, _]) => placed[0].1.clone(),
            ([true, _], [_, false], _) | (_, [true, false], [_, true]) => placed[1].1.clone(),
            ([_, true], [true, _], _) => self.copy_of(&sizes, &placed[0].1),
            ([true, _], _, _) => self.copy_of(&sizes, &placed[1].1),
            _ => {
                let columns = self.prefer_columns(&placed, &sizes);
                self.zipped(&sizes, columns).0
            }
        };
        self.part_in(t, lens, laid)
    }

    /// An array, all of which is there.
    pub(in crate::front) fn whole_of(&self, t: Term) -> Open {
        Open { all: t, lens: vec![None; self.g.rank(t)].into() }
    }

    /// Whether `Zip` goes over these by columns.
    pub(in crate::front) fn zips_by_columns(&mut self, of: &[Open], sizes: &[Term]) -> Term {
        if of.iter().all(|x| x.lens.iter().all(Option::is_none)) {
            let arrays: Vec<Term> = of.iter().map(|x| x.all).collect();
            return self.by_columns(&arrays, sizes);
        }
        if sizes.len() < 2 {
            return self.g.lit_bool(false);
        }
        let placed: Vec<(Vec<Term>, Laid)> = of.iter().map(|x| self.placed(x)).collect();
        self.prefer_columns(&placed, sizes)
    }

    /// What `Zip` collects of parts.
    pub(in crate::front) fn zipped_part(
        &mut self,
        made: Value<'a>,
        of: &[Open],
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let made = self.as_open(&made, Want::Any, range)?;
        let sizes = self.sizes_there(&made);
        if sizes.len() < 2 {
            return Ok(self.opened(made.all, &made.lens));
        }
        let mut laid = Laid::new();
        if !of.iter().any(|x| self.is_nowhere(x.all)) {
            let columns = self.zips_by_columns(of, &sizes);
            laid = self.zipped(&sizes, columns).0;
        }
        Ok(self.part_in(made.all, &made.lens, laid))
    }

    /// A product of two matrices, as [`Lower::lay_product`] says; of a matrix and a vector.
    pub(in crate::front) fn part_of_product(&mut self, t: Term, lens: &[Option<Term>], of: [&Open; 2]) -> Value<'a> {
        if lens.len() < 2 {
            return self.opened(t, lens);
        }
        let [a, b] = of.map(|x| {
            let (sizes, laid) = self.placed(x);
            self.have_columns(sizes[0], &laid)
        });
        let columns = self.g.and(a, b);
        let sizes = self.sizes_there(&Open { all: t, lens: lens.into() });
        let laid = self.zipped(&sizes, columns).0;
        self.part_in(t, lens, laid)
    }

    /// Does something with an array in the place of a part: reductions in an order of their own are of what is there.
    pub(in crate::front) fn of_there<R>(&mut self, x: &Open, f: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.there.replace(Rc::clone(&x.lens));
        let result = f(self);
        self.there = before;
        result
    }

    /// One of two parts in one room, by a condition.
    pub(in crate::front) fn part_chosen(
        &mut self,
        t: Term,
        lens: &[Option<Term>],
        cond: Term,
        [a, b]: [Term; 2],
    ) -> Value<'a> {
        let (mut laid, others) = (self.laid(a), self.laid(b));
        if laid.is_empty() || others.is_empty() {
            laid = Laid::new();
        } else if laid != others {
            for (c, _) in &mut laid {
                *c = self.g.and(cond, *c);
            }
            laid.extend(others);
        }
        self.part_in(t, lens, laid)
    }

    /// The elements of a part in an order, one after the other, behind which nothing is said.
    fn in_a_row(&mut self, x: &Open, order: &Order) -> Open {
        if order.is_standard() && x.lens.len() == 1 {
            return x.clone();
        }
        let (rooms, sizes) = (self.g.shape(x.all).to_vec(), self.sizes_there(x));
        let (room, len) = (self.product_of(&rooms), self.product_of(&sizes));
        let (nothing, one) = (zero(self, self.g.elem(x.all)), self.g.lit_usize(1));
        let var = self.g.fresh();
        let i = self.g.mk(Node::Var(var));
        let there = self.g.compare(Cmp::Lt, i, len);
        let mut at = i;
        let mut index = vec![i; sizes.len()];
        for (n, &k) in order.outwards.iter().enumerate().rev() {
            let k = usize::from(k);
            let here = if n == 0 { at } else { self.g.int(IntOp::Rem, at, sizes[k]) };
            index[k] = if order.back[n] {
                let last = self.g.int(IntOp::Sub, sizes[k], one);
                self.g.int(IntOp::Sub, last, here)
            } else {
                here
            };
            at = if n == 0 { at } else { self.g.int(IntOp::Div, at, sizes[k]) };
        }
        let element = self.g.index(x.all, &index);
        let element = self.g.cond(there, element, nothing);
        Open { all: self.g.build(room, var, element), lens: [Some(len)].into() }
    }

    /// A reduction in an order of its own over the last axes of what is there.
    pub(in crate::front) fn reduce_there(&mut self, op: Reduce, rank: usize, x: &Open) -> Term {
        let outer = x.lens.len() - rank;
        match x.lens[outer..] {
            ref lens if lens.iter().all(Option::is_none) => self.g.reduce(op, rank, x.all),
            [Some(len)] => {
                let lanes = self.g.shape(x.all)[..outer].to_vec();
                let lens = self.g.broadcast(len, &lanes);
                self.g.reduce_first(op, x.all, lens)
            }
            _ => {
                let outwards = (0..rank).map(axis).collect();
                let flat = self.in_a_row(x, &Order { outwards, back: vec![false; rank], zipped: false });
                self.g.reduce_first(op, flat.all, flat.lens[0].unwrap_or(flat.all))
            }
        }
    }

    /// From the first to the last along the last axes, beginning with 0.
    fn one_by_one(&mut self, x: &Open, rank: usize) -> Term {
        let outer = x.lens.len() - rank;
        let lens: Vec<Option<Term>> = (0..outer).map(|_| None).chain(x.lens[outer..].iter().copied()).collect();
        // Adding this changes nothing, not even a sign.
        let nothing = match self.g.elem(x.all) {
            Elem::Real(ty) => self.g.lit_real(ty, -0.0),
            _ => zero(self, self.g.elem(x.all)),
        };
        let filled = self.filled_up(&Open { all: x.all, lens: lens.into() }, nothing);
        self.in_order(filled, rank)
    }

    /// A sum of all that is there, with ndarray's own.
    pub(in crate::front) fn own_sum_there(&mut self, free: Term, x: &Open) -> Term {
        let rank = x.lens.len();
        if rank == 0 || !self.g.elem(x.all).is_real() {
            return free;
        }
        let (sizes, laid) = self.placed(x);
        let own = self.of_layouts((&sizes, &laid), &mut |me, axes| {
            let contiguous = me.is_contiguous(&sizes, axes);
            let flat = me.in_a_row(x, &super::order_of(axes));
            let whole = me.reduce_there(Reduce::Unrolled, 1, &flat);
            if me.g.bool_value(contiguous) == Some(true) {
                return whole;
            }
            let slices = me.is_slice(axes, rank - 1);
            let (fast, slow) = (me.reduce_there(Reduce::Unrolled, 1, x), me.one_by_one(x, 1));
            let mut rows = me.choice(slices, fast, slow);
            if rank > 1 {
                rows = me.one_by_one(&Open { all: rows, lens: x.lens[..rank - 1].into() }, rank - 1);
            }
            me.choice(contiguous, whole, rows)
        });
        self.g.own(free, own)
    }

    fn of_layouts(&mut self, (sizes, laid): (&[Term], &Laid), f: &mut dyn FnMut(&mut Self, &Strides) -> Term) -> Term {
        if laid.is_empty() {
            let axes = self.by_rows(sizes);
            let of_rows = f(self, &axes);
            return self.unordered(of_rows);
        }
        let mut found = None;
        for (c, axes) in laid.iter().rev() {
            let this = f(self, axes);
            found = Some(found.map_or(this, |others| self.choice(*c, this, others)));
        }
        found.unwrap_or_else(|| self.g.lit_bool(false))
    }

    /// A sum over one axis with ndarray's own: without that axis.
    pub(in crate::front) fn own_sum_axis_there(&mut self, free: Term, x: &Open, k: usize) -> Value<'a> {
        let (sizes, laid) = self.placed(x);
        let mut lens = x.lens.to_vec();
        lens.remove(k);
        let mut sum = free;
        if self.g.elem(x.all).is_real() {
            let own = self.of_layouts((&sizes, &laid), &mut |me, axes| {
                let mut order: Vec<usize> = (0..sizes.len()).filter(|&n| n != k).collect();
                order.push(k);
                let perm: Vec<u8> = order.iter().map(|&n| axis(n)).collect();
                let lanes =
                    Open { all: me.g.transpose(x.all, &perm), lens: order.iter().map(|&n| x.lens[n]).collect() };
                let memory = if axes[k].step == -1 { me.lanes_backwards(&lanes) } else { lanes.clone() };
                let one = me.g.lit_usize(1);
                let near = match axes[k].step {
                    1 | -1 => me.same_size(axes[k].unit, one),
                    _ => me.g.lit_bool(false),
                };
                let nearest = me.is_nearest(&sizes, axes, k);
                let near = me.g.and(near, nearest);
                let (fast, slow) = (me.reduce_there(Reduce::Unrolled, 1, &memory), me.one_by_one(&lanes, 1));
                me.choice(near, fast, slow)
            });
            sum = self.g.own(free, own);
        }
        if lens.len() < 2 {
            return self.opened(sum, &lens);
        }
        let laid = self.lanes_laid((&sizes, &laid), k, true);
        self.part_in(sum, &lens, laid)
    }

    /// What is there of each lane of the last axis, from its end.
    fn lanes_backwards(&mut self, x: &Open) -> Open {
        let rooms = self.g.shape(x.all).to_vec();
        let Some((&room, _)) = rooms.split_last() else { return x.clone() };
        let len = x.lens.last().copied().flatten().unwrap_or(room);
        let vars: Vec<Var> = rooms.iter().map(|_| self.g.fresh()).collect();
        let mut index: Vec<Term> = vars.iter().map(|&v| self.g.mk(Node::Var(v))).collect();
        let (Some(&i), one) = (index.last(), self.g.lit_usize(1)) else { return x.clone() };
        let there = self.g.compare(Cmp::Lt, i, len);
        let last = self.g.int(IntOp::Sub, len, one);
        if let Some(at) = index.last_mut() {
            *at = self.g.int(IntOp::Sub, last, i);
        }
        let nothing = zero(self, self.g.elem(x.all));
        let element = self.g.index(x.all, &index);
        let element = self.g.cond(there, element, nothing);
        let all = rooms.iter().zip(vars).rev().fold(element, |t, (&size, var)| self.g.build(size, var, t));
        Open { all, lens: Rc::clone(&x.lens) }
    }

    /// What is there in the order in which ndarray's `fold` meets it, as [`Lower::as_folded`] says of arrays.
    pub(in crate::front) fn folded_there(&mut self, x: &Open) -> Open {
        let rank = x.lens.len();
        let (sizes, laid) = self.placed(x);
        let mut len = None;
        let all = self.of_layouts((&sizes, &laid), &mut |me, axes| {
            let contiguous = me.is_contiguous(&sizes, axes);
            let flat = me.in_a_row(x, &super::order_of(axes));
            len = flat.lens[0];
            if rank == 1 && !super::order_of(axes).is_standard() {
                return me.choice(contiguous, flat.all, x.all);
            }
            if rank == 1 || me.g.bool_value(contiguous) == Some(true) {
                return flat.all;
            }
            let mut met = me.met_there(x, &sizes, axes);
            if met != flat.all {
                met = me.choice(contiguous, flat.all, met);
            }
            met
        });
        if rank == 1 { Open { all, lens: Rc::clone(&x.lens) } } else { Open { all, lens: [len].into() } }
    }

    /// The axis whose elements are the nearest to each other changes its place with the last one.
    fn met_there(&mut self, x: &Open, sizes: &[Term], axes: &Strides) -> Term {
        let rank = axes.len();
        let swapped = |me: &mut Self, k: usize| {
            let mut outwards: Vec<u8> = (0..rank).map(axis).collect();
            outwards.swap(k, rank - 1);
            me.in_a_row(x, &Order { outwards, back: vec![false; rank], zipped: false }).all
        };
        let places = by_distance(axes);
        if rank == 2 {
            return swapped(self, places[1]);
        }
        let one = self.g.lit_usize(1);
        let mut met = swapped(self, rank - 1);
        for &k in &places {
            let (several, of_k) = (self.g.compare(Cmp::Gt, sizes[k], one), swapped(self, k));
            met = self.choice(several, of_k, met);
        }
        met
    }

    /// A product of all that is there, with ndarray's own, as [`Lower::own_product`] has it.
    pub(in crate::front) fn own_product_there(
        &mut self,
        free: Term,
        x: &Open,
        range: SrcRange,
        in_order: &dyn Fn(&mut Self, Term) -> Lowered<Value<'a>>,
    ) -> Lowered<Term> {
        let rank = x.lens.len();
        if rank == 0 || !self.g.elem(x.all).is_real() {
            return Ok(free);
        }
        let one = crate::front::methods::construct::constant(self, self.g.elem(x.all), 1);
        let mut rows = [free; 2];
        if rank > 1 {
            let outer = self.g.shape(x.all)[..rank - 1].to_vec();
            let filled = self.filled_up(x, one);
            let slow = self.build_all(&outer, range, &mut |me, ix| {
                let lane = me.g.index(filled, ix);
                in_order(me, lane)
            })?;
            let fast = self.reduce_there(Reduce::Factors, 1, x);
            for (rows, each) in rows.iter_mut().zip([fast, slow]) {
                let each = self.filled_up(&Open { all: each, lens: x.lens[..rank - 1].into() }, one);
                let all = in_order(self, each)?;
                *rows = self.term(&all, range)?;
            }
        }
        let (sizes, laid) = self.placed(x);
        let own = self.of_layouts((&sizes, &laid), &mut |me, axes| {
            let contiguous = me.is_contiguous(&sizes, axes);
            let flat = me.in_a_row(x, &super::order_of(axes));
            let whole = me.reduce_there(Reduce::Factors, 1, &flat);
            let slices = me.is_slice(axes, rank - 1);
            let lanes = me.choice(slices, rows[0], rows[1]);
            me.choice(contiguous, whole, lanes)
        });
        Ok(self.g.own(free, own))
    }
}

/// The axes from the farthest to the nearest; what is shown again is the nearest of all.
pub(super) fn by_distance(axes: &[Along]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..axes.len()).collect();
    places.sort_by_key(|&k| (axes[k].step == 0, axes[k].place));
    places
}
