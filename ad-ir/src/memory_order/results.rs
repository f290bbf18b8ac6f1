//! The memory orders of arrays that ndarray creates: copies, results of elementwise methods and of
//! arithmetic, products, and joined arrays. This module must never refuse an array: it only
//! determines orders.

use super::layouts::Layouts;
use super::{AxisOrder, DynamicPart, MemoryOrder, Stride, Strides};
use crate::ir::{Term, axis};
use crate::prim::Cmp;

/// The computation of an elementwise result: its memory order, and the order of axes in which its
/// elements are computed. The latter is given if it is known and not row-major, so that the
/// computed array is contiguous.
#[derive(Clone, Debug)]
pub struct Elementwise {
    /// The memory order of the result.
    pub order: MemoryOrder,
    /// The order of axes in which it is computed.
    pub axes: Option<AxisOrder>,
}

/// The operands of an arithmetic operation.
#[derive(Clone, Copy, Debug)]
pub struct Arithmetic {
    /// The operands before broadcasting.
    pub of: [Term; 2],
    /// Whether each of them is a reference, so that the operation cannot overwrite it.
    pub by_reference: [bool; 2],
}

impl Layouts<'_> {
    /// The order of axes of a contiguous array, if it is known.
    fn known_axes(&mut self, t: Term, order: &MemoryOrder) -> Option<AxisOrder> {
        let [(_, axes)] = order.cases() else { return None };
        let view = self.view(t, axes);
        (self.g.bool_value(view.contiguous) == Some(true)).then(|| AxisOrder::of(axes))
    }

    /// The memory order of a copy: the order of the array if the array is contiguous, and standard
    /// layout otherwise.
    pub fn copy_order(&mut self, shape: &[Term], order: &MemoryOrder) -> MemoryOrder {
        let standard = self.row_major(shape);
        let mut all = Vec::new();
        for (c, axes) in order.cases() {
            let contiguous = self.is_contiguous(shape, axes);
            let whole = self.g.and(*c, contiguous);
            if self.g.bool_value(whole) != Some(false) {
                all.push((whole, self.contiguous(shape, &AxisOrder::of(axes))));
            }
            if self.g.bool_value(contiguous) != Some(true) {
                all.push((*c, standard.clone()));
            }
        }
        MemoryOrder(all).tidied()
    }

    /// A copy of a view.
    pub fn copied(&mut self, t: Term) -> Term {
        let Some(order) = self.not_standard(t) else { return t };
        if self.known_axes(t, &order).is_some() {
            return t;
        }
        let shape = self.g.shape(t).to_vec();
        let copy = self.copy_order(&shape, &order);
        self.with_order(t, copy)
    }

    /// A new array that a function creates. It is in standard layout, even if the term is a view of
    /// another array.
    pub fn new_array(&mut self, t: Term) -> Term {
        if self.not_standard(t).is_none() {
            return t;
        }
        let order = self.standard(t);
        self.with_order(t, order)
    }

    /// An array whose elements are overwritten keeps its memory order.
    pub fn written_over(&mut self, old: Term, new: Term) -> Term {
        if self.g.rank(new) == 0 || self.g.rank(old) != self.g.rank(new) {
            return new;
        }
        let order = self.of(old);
        if self.of(new) == order {
            return new;
        }
        // Other values may be the same term in its own memory order, so a new term is made.
        let new = self.renewed(new);
        self.with_order(new, order)
    }

    /// The elementwise computation of an array from `x`, in the memory order of a copy of `x`.
    /// `None` if the result is in standard layout.
    pub fn elementwise(&mut self, x: Term) -> Option<Elementwise> {
        let order = self.not_standard(x)?;
        let shape = self.g.shape(x).to_vec();
        let copy = self.copy_order(&shape, &order);
        let axes = self.known_axes(x, &order).filter(|axes| !axes.is_standard());
        Some(Elementwise { order: copy, axes })
    }

    /// The computation of an arithmetic operation with a result of this shape. An operand by value
    /// is overwritten, a number changes no order, and two references are zipped.
    pub fn arithmetic(&mut self, Arithmetic { of: [x, y], by_reference }: Arithmetic, shape: &[Term]) -> Elementwise {
        let ranks = [self.g.rank(x), self.g.rank(y)];
        let whole = [x, y].map(|t| {
            self.g.rank(t) == shape.len() && (0..shape.len()).all(|k| self.fills(self.g.shape(t)[k], shape[k]))
        });
        // A reference to an operand without axes is a reference to an array of rank 0.
        let of = match (ranks, by_reference, whole) {
            ([_, 0], [copied, false], _) => Some((x, copied)),
            ([0, _], [false, copied], _) => Some((y, copied)),
            (_, [false, _], [true, _]) => Some((x, false)),
            (_, [true, false], [_, true]) => Some((y, false)),
            _ => None,
        };
        let (order, axes) = match of {
            Some((t, copied)) => {
                let mut order = self.of(t);
                let axes = self.known_axes(t, &order);
                if copied {
                    let shape = self.g.shape(t).to_vec();
                    order = self.copy_order(&shape, &order);
                }
                (order, axes)
            }
            None => {
                let columns = self.zip_prefers_columns(&[x, y], shape);
                self.zipped(shape, columns)
            }
        };
        Elementwise { order, axes: axes.filter(|axes| !axes.is_standard()) }
    }

    /// Like [`Layouts::arithmetic`], for two parts and a result of these sizes.
    pub fn arithmetic_of_parts(
        &mut self,
        of: [&DynamicPart; 2],
        by_reference: [bool; 2],
        sizes: &[Term],
    ) -> MemoryOrder {
        let whole = of.map(|x| {
            let own = x.sizes(self.g);
            own.len() == sizes.len() && own.iter().zip(sizes).all(|(&n, &m)| self.g.int_value(n) != Some(1) || n == m)
        });
        let numbers = of.map(|x| x.lens.is_empty());
        let of = of.map(|x| self.of_part(x));
        match (numbers, by_reference, whole) {
            _ if of.iter().zip(numbers).any(|((_, order), number)| order.is_unknown() && !number) => {
                MemoryOrder::unknown()
            }
            ([_, true], [false, _], _) | (_, [false, _], [true, _]) => of[0].1.clone(),
            ([true, _], [_, false], _) | (_, [true, false], [_, true]) => of[1].1.clone(),
            ([_, true], [true, _], _) => self.copy_order(sizes, &of[0].1),
            ([true, _], _, _) => self.copy_order(sizes, &of[1].1),
            _ => {
                let columns = self.prefer_columns(&of, sizes);
                self.zipped(sizes, columns).0
            }
        }
    }

    /// A product of two matrices: column-major if both have neighbours along their first axis.
    /// (`mat_mul_impl`.)
    pub fn matrix_product(&mut self, product: Term, [a, b]: [Term; 2]) -> Term {
        if self.not_standard(b).is_none() {
            // In this case the product has one column.
            return product;
        }
        if self.is_unknown(a) || self.is_unknown(b) {
            return self.with_unknown_order(product);
        }
        let [a, b] = [a, b].map(|t| {
            let order = self.of(t);
            self.has_columns(self.g.shape(t)[0], &order)
        });
        let columns = self.g.and(a, b);
        let shape = self.g.shape(product).to_vec();
        let (order, _) = self.zipped(&shape, columns);
        self.with_order(product, order)
    }

    /// The memory order of a product of two parts that are matrices, of these sizes.
    pub fn product_of_parts(&mut self, of: [&DynamicPart; 2], sizes: &[Term]) -> MemoryOrder {
        let [a, b] = of.map(|x| {
            let (sizes, order) = self.of_part(x);
            self.has_columns(sizes[0], &order)
        });
        let columns = self.g.and(a, b);
        self.zipped(sizes, columns).0
    }

    /// Whether a matrix with this number of rows has stride 1 along its first axis.
    fn has_columns(&mut self, rows: Term, order: &MemoryOrder) -> Term {
        let one = self.g.lit_usize(1);
        let mut found = self.g.lit_bool(false);
        for (c, axes) in order.cases().iter().rev() {
            let mut near = self.is_slice(axes, 0);
            if axes[0].sliced {
                let several = self.g.compare(Cmp::Gt, rows, one);
                near = self.g.and(several, near);
            }
            found = self.choice(*c, near, found);
        }
        found
    }

    /// The array that `Zip` collects from the lanes of an array along an axis (`map_axis`). With
    /// `nearest` (`sum_axis`) the result is row-major, unless that axis has the smallest stride.
    pub fn lanes(&mut self, x: Term, k: usize, made: Term, nearest: bool) -> Term {
        let shape = self.g.shape(made).to_vec();
        if shape.len() < 2 || shape.len() + 1 != self.g.rank(x) || self.not_standard(x).is_none() {
            return made;
        }
        let sizes = self.g.shape(x).to_vec();
        let order = self.of(x);
        let all = self.lanes_order((&sizes, &order), k, nearest);
        self.with_order(made, all)
    }

    /// The memory order in [`Layouts::lanes`], for an array of these sizes and this memory order.
    pub fn lanes_order(&mut self, (sizes, order): (&[Term], &MemoryOrder), k: usize, nearest: bool) -> MemoryOrder {
        let without = |all: &[Term]| -> Vec<Term> {
            all.iter().enumerate().filter(|&(n, _)| n != k).map(|(_, &size)| size).collect()
        };
        let (shape, yes) = (without(sizes), self.g.lit_bool(true));
        let mut all = Vec::new();
        for (c, axes) in order.cases() {
            let lanes: Strides = axes.iter().enumerate().filter(|&(n, _)| n != k).map(|(_, a)| *a).collect();
            let mut columns = self.prefer_columns(&[(shape.clone(), MemoryOrder(vec![(yes, lanes)]))], &shape);
            if nearest {
                let nearest = self.is_nearest(sizes, axes, k);
                columns = self.g.and(columns, nearest);
            }
            let columns = self.g.and(*c, columns);
            if self.g.bool_value(columns) != Some(false) {
                all.push((columns, self.contiguous(&shape, &AxisOrder::zipped_columns(shape.len()))));
            }
            all.push((*c, self.row_major(&shape)));
        }
        MemoryOrder(all).tidied()
    }

    /// Arrays that are joined along an axis. That axis is the outermost one of the result; if it is
    /// the last axis, the result is column-major. (`ArrayBase::append`.)
    pub fn joined(&mut self, t: Term, along: usize) -> Term {
        let (rank, shape) = (self.g.rank(t), self.g.shape(t).to_vec());
        if along == 0 && shape.len() < 2 {
            return t;
        }
        let order = if along + 1 == rank { AxisOrder::column_major(rank) } else { AxisOrder::outermost(rank, along) };
        let axes = self.contiguous(&shape, &order);
        let order = self.always(axes);
        self.with_order(t, order)
    }

    /// An array that is repeated along new axes, or along axes with one element. It has stride 0
    /// along these axes.
    pub fn broadcast(&mut self, x: Term, wider: Term) -> Term {
        let (own, shape) = (self.g.shape(x).to_vec(), self.g.shape(wider).to_vec());
        let (lead, unit) = (shape.len() - own.len(), self.g.lit_usize(1));
        let repeated = Stride { position: 0, step: 0, unit, sliced: false, zipped: false };
        let order = self.of(x);
        let cases = order.cases().iter().map(|(c, axes)| {
            let of = |k: usize| match k.checked_sub(lead) {
                Some(k) if own[k] == shape[lead + k] => Stride { position: axes[k].position + lead, ..axes[k] },
                _ => repeated,
            };
            (*c, (0..shape.len()).map(of).collect())
        });
        let order = MemoryOrder(cases.collect());
        let wider = self.renewed(wider);
        self.with_order(wider, order)
    }

    /// An array with new axes of one element, which have this step.
    pub fn inserted_axes(&mut self, x: Term, wider: Term, new: &[u8], step: i64) -> Term {
        let (rank, unit) = (self.g.rank(wider), self.g.lit_usize(1));
        let one = Stride { position: rank, step, unit, sliced: false, zipped: false };
        let order = if self.g.rank(x) == 0 { self.always([].into()) } else { self.of(x) };
        let cases = order.0.into_iter().map(|(c, axes)| {
            let mut axes = axes.iter().copied();
            (c, (0..rank).map(|k| if new.contains(&axis(k)) { one } else { axes.next().unwrap_or(one) }).collect())
        });
        let order = MemoryOrder(cases.collect());
        self.with_order(wider, order)
    }

    /// Whether two arrays of one rank may have different memory orders.
    pub fn may_differ(&mut self, a: Term, b: Term) -> bool {
        self.g.rank(a) > 0
            && (self.not_standard(a).is_some() || self.not_standard(b).is_some())
            && self.of(a) != self.of(b)
    }

    /// The orders of axes that an array may have, each with its condition. `None` if the array
    /// might not be contiguous, or if its memory order is unknown.
    pub fn axis_orders(&mut self, t: Term) -> Option<Vec<(Term, AxisOrder)>> {
        let shape = self.g.shape(t).to_vec();
        let order = Some(self.of(t)).filter(|order| !order.is_unknown())?;
        order
            .0
            .into_iter()
            .map(|(c, axes)| {
                let order = AxisOrder::of(&axes);
                let whole = self.contiguous(&shape, &order);
                let same = axes.iter().zip(&*whole).all(|(a, b)| a.step == b.step && a.unit == b.unit);
                same.then_some((c, order))
            })
            .collect()
    }

    /// The memory order of a contiguous array whose order of axes is the one of `orders` with this
    /// number. Any other number means the first one.
    pub fn numbered(&mut self, t: Term, number: Term, orders: &[AxisOrder]) -> MemoryOrder {
        let shape = self.g.shape(t).to_vec();
        let mut cases = Vec::new();
        for (k, order) in orders.iter().enumerate().skip(1) {
            let k = self.g.lit_usize(k);
            let this = self.g.compare(Cmp::Eq, number, k);
            cases.push((this, self.contiguous(&shape, order)));
        }
        if let Some(first) = orders.first() {
            cases.push((self.g.lit_bool(true), self.contiguous(&shape, first)));
        }
        MemoryOrder(cases)
    }

    /// The one of two arrays that a condition selects.
    pub fn chosen(&mut self, chosen: Term, cond: Term, [a, b]: [Term; 2]) -> Term {
        if chosen == a || chosen == b || self.not_standard(a).is_none() && self.not_standard(b).is_none() {
            return chosen;
        }
        let (of_a, of_b) = (self.of(a), self.of(b));
        if of_a.is_unknown() || of_b.is_unknown() {
            return self.with_unknown_order(chosen);
        }
        let order = if of_a == of_b { of_a } else { self.either(cond, of_a, of_b).tidied() };
        self.with_order(chosen, order)
    }

    /// The memory order of one of two parts, by a condition.
    pub fn chosen_part(&mut self, cond: Term, [a, b]: [Term; 2]) -> MemoryOrder {
        let (of_a, of_b) = (self.of(a), self.of(b));
        if of_a.is_unknown() || of_b.is_unknown() {
            MemoryOrder::unknown()
        } else if of_a == of_b {
            of_a
        } else {
            self.either(cond, of_a, of_b)
        }
    }

    fn either(&mut self, cond: Term, mut a: MemoryOrder, b: MemoryOrder) -> MemoryOrder {
        for (c, _) in &mut a.0 {
            *c = self.g.and(cond, *c);
        }
        a.0.extend(b.0);
        a
    }
}
