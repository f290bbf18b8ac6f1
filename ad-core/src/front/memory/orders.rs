//! Where ndarray puts what it makes: the results of elementwise methods, of arithmetic, of `Zip`, of products, and of what is joined.
//! Must never refuse anything: it only says where something is.

use super::{Along, Laid, Order, Strides};
use crate::diag::SrcRange;
use crate::front::arith::Arith;
use crate::front::lower::Lower;
use crate::front::value::{Lowered, Value};
use crate::ir::{Term, axis};
use crate::prim::{Cmp, IntOp};

/// What ndarray says of an array's layout, which `Zip` asks for: by rows, by columns, and whether it only begins so. (`zip::array_layout`.)
struct Layout {
    rows: Term,
    columns: Term,
    near_rows: Term,
    near_columns: Term,
}

impl<'a> Lower<'a> {
    /// The order in which an array is in one piece of memory: if it is known.
    fn order(&mut self, t: Term, laid: &Laid) -> Option<Order> {
        let [(_, axes)] = &laid[..] else { return None };
        let view = self.view(t, axes);
        (self.g.bool_value(view.contiguous) == Some(true)).then_some(view.order)
    }

    /// Where a copy of an array is: in the order of that one where it is in one piece, and otherwise in standard layout.
    pub(super) fn copy_of(&mut self, shape: &[Term], laid: &Laid) -> Laid {
        let standard = self.by_rows(shape);
        let mut all = Laid::new();
        for (c, axes) in laid {
            let contiguous = self.is_contiguous(shape, axes);
            let whole = self.g.and(*c, contiguous);
            if self.g.bool_value(whole) != Some(false) {
                all.push((whole, self.ordered(shape, &super::order_of(axes))));
            }
            if self.g.bool_value(contiguous) != Some(true) {
                all.push((*c, standard.clone()));
            }
        }
        tidied(all)
    }

    /// An array of something elementwise of another: ndarray makes it as it would copy that one.
    pub(in crate::front) fn along_memory(
        &mut self,
        x: Term,
        f: impl FnOnce(&mut Self, Term) -> Lowered<Value<'a>>,
    ) -> Lowered<Value<'a>> {
        let Some(laid) = self.not_standard(x) else { return f(self, x) };
        let shape = self.g.shape(x).to_vec();
        let copy = self.copy_of(&shape, &laid);
        let order = self.order(x, &laid).filter(|order| !order.is_standard());
        let made = match &order {
            Some(order) => {
                let x = self.arranged(x, order);
                f(self, x)?
            }
            None => f(self, x)?,
        };
        Ok(match (made, order) {
            (Value::Term(t), order) if self.g.rank(t) >= self.g.rank(x) => {
                let t = order.map_or(t, |order| self.shown(t, &order));
                Value::Term(if self.g.rank(t) == self.g.rank(x) { self.lay(t, copy) } else { t })
            }
            (made, _) => made,
        })
    }

    /// Arithmetic of two values of which at least one is an array, in ndarray's order: what is there by value is written over, a number changes no order,
    /// and of two references `Zip` decides.
    pub(in crate::front) fn arith_along_memory(
        &mut self,
        op: Arith,
        (x, y): (Term, Term),
        by_reference: [bool; 2],
        words: [String; 2],
        range: SrcRange,
    ) -> Lowered<Term> {
        let own = [self.not_standard(x), self.not_standard(y)];
        if own == [None, None] {
            return self.arith(op, x, y, words, range);
        }
        if own.iter().flatten().any(Vec::is_empty) {
            let made = self.arith(op, x, y, words, range)?;
            return Ok(self.nowhere(made));
        }
        let ranks = [self.g.rank(x), self.g.rank(y)];
        let (a, b) = self.broadcast_both(x, y, words, range)?;
        let shape = self.g.shape(a).to_vec();
        let whole = [x, y].map(|t| {
            self.g.rank(t) == shape.len() && (0..shape.len()).all(|k| self.fills(self.g.shape(t)[k], shape[k]))
        });
        // A reference to what has no axis is one to an array without axes.
        let of = match (ranks, by_reference, whole) {
            ([_, 0], [copied, false], _) => Some((x, copied)),
            ([0, _], [false, copied], _) => Some((y, copied)),
            (_, [false, _], [true, _]) => Some((x, false)),
            (_, [true, false], [_, true]) => Some((y, false)),
            _ => None,
        };
        let (laid, order) = match of {
            Some((t, copied)) => {
                let mut laid = self.laid(t);
                let order = self.order(t, &laid);
                if copied {
                    let shape = self.g.shape(t).to_vec();
                    laid = self.copy_of(&shape, &laid);
                }
                (laid, order)
            }
            None => {
                let columns = self.by_columns(&[x, y], &shape);
                self.zipped(&shape, columns)
            }
        };
        let order = order.filter(|order| !order.is_standard());
        let made = match order {
            None => self.arith(op, a, b, Default::default(), range)?,
            Some(order) => {
                let (a, b) = (self.arranged(a, &order), self.arranged(b, &order));
                let made = self.arith(op, a, b, Default::default(), range)?;
                self.shown(made, &order)
            }
        };
        Ok(self.lay(made, laid))
    }

    /// Where something is that `Zip` collects by columns under a condition.
    pub(super) fn zipped(&mut self, shape: &[Term], columns: Term) -> (Laid, Option<Order>) {
        let rank = shape.len();
        let by_rows = Order { outwards: (0..rank).map(axis).collect(), back: vec![false; rank], zipped: false };
        let by_columns = Order { zipped: rank == 2, ..Order::columns(rank) };
        let [rows, turned] = [&by_rows, &by_columns].map(|order| self.ordered(shape, order));
        match self.g.bool_value(columns) {
            Some(true) => (vec![(columns, turned)], Some(by_columns)),
            Some(false) => (vec![(self.g.lit_bool(true), rows)], Some(by_rows)),
            None => (vec![(columns, turned), (self.g.lit_bool(true), rows)], None),
        }
    }

    /// What `Zip` collects of these arrays: `f` of a shape, of which it is said whether its axes come in reverse order.
    pub(in crate::front) fn collected_by_zip(
        &mut self,
        of: &[Term],
        shape: &[Term],
        f: impl FnOnce(&mut Self, &[Term], bool) -> Lowered<Value<'a>>,
    ) -> Lowered<Value<'a>> {
        let (mut laid, mut order) = (Laid::new(), None);
        if !of.iter().any(|&t| self.is_nowhere(t)) {
            let columns = self.by_columns(of, shape);
            (laid, order) = self.zipped(shape, columns);
        }
        let order = order.filter(|order| !order.is_standard());
        let mut sizes = shape.to_vec();
        if order.is_some() {
            sizes.reverse();
        }
        Ok(match f(self, &sizes, order.is_some())? {
            Value::Term(t) => {
                let t = order.map_or(t, |order| self.shown(t, &order));
                Value::Term(if self.g.rank(t) == shape.len() { self.lay(t, laid) } else { t })
            }
            other => other,
        })
    }

    /// Whether `Zip` collects by columns: if all arrays are so, or if more of them tend to it than to rows. (`Zip::prefer_f`.)
    pub(in crate::front) fn by_columns(&mut self, of: &[Term], shape: &[Term]) -> Term {
        let no = self.g.lit_bool(false);
        let standard = |me: &mut Self, t: Term| {
            me.not_standard(t).is_none()
                && me.g.rank(t) == shape.len()
                && (0..shape.len()).all(|k| me.fills(me.g.shape(t)[k], shape[k]))
        };
        if shape.len() < 2
            || of.iter().any(|&t| standard(self, t)) && of.iter().all(|&t| self.not_standard(t).is_none())
        {
            return no;
        }
        let of: Vec<(Vec<Term>, Laid)> = of
            .iter()
            .map(|&t| (self.g.shape(t).to_vec(), if self.g.rank(t) == 0 { Laid::new() } else { self.laid(t) }))
            .collect();
        self.prefer_columns(&of, shape)
    }

    /// The same of arrays of these shapes that lie in memory like this.
    pub(super) fn prefer_columns(&mut self, of: &[(Vec<Term>, Laid)], shape: &[Term]) -> Term {
        let yes = self.g.lit_bool(true);
        let (zero, one, two) = (self.g.lit_usize(0), self.g.lit_usize(1), self.g.lit_usize(2));
        let (mut all_rows, mut all_columns, mut for_rows, mut for_columns) = (yes, yes, zero, zero);
        for (own, laid) in of {
            let it = self.layout((own, laid), shape);
            all_rows = self.g.and(all_rows, it.rows);
            all_columns = self.g.and(all_columns, it.columns);
            for (sum, whole, near) in
                [(&mut for_rows, it.rows, it.near_rows), (&mut for_columns, it.columns, it.near_columns)]
            {
                let near = self.choice(near, one, zero);
                let says = self.choice(whole, two, near);
                *sum = self.g.int(IntOp::Add, *sum, says);
            }
        }
        let more = self.g.compare(Cmp::Lt, for_rows, for_columns);
        let columns = self.g.or(all_columns, more);
        let not_rows = self.g.not(all_rows);
        self.g.and(not_rows, columns)
    }

    /// Whether an axis is as long as that of what it is stretched to, under another name perhaps: it is, unless it is known to have one element.
    fn fills(&self, own: Term, size: Term) -> bool {
        own == size || self.g.int_value(own) != Some(1)
    }

    /// The layout of an array that is stretched to a shape of two axes or more. Where only one of them has more than one element, all orders are one:
    /// of two axes it is taken that both have.
    fn layout(&mut self, (sizes, laid): (&[Term], &Laid), shape: &[Term]) -> Layout {
        let (rank, own) = (shape.len(), sizes.len());
        let one = self.g.lit_usize(1);
        let (yes, no) = (self.g.lit_bool(true), self.g.lit_bool(false));
        let mut found = Layout { rows: no, columns: no, near_rows: no, near_columns: no };
        for (n, (c, axes)) in laid.iter().rev().enumerate() {
            // The stride along each axis, unless it is certainly not that of an array in one piece.
            let strides: Vec<Option<Term>> = (0..rank)
                .map(|k| {
                    let at = (k + own).checked_sub(rank).filter(|&at| self.fills(sizes[at], shape[k]))?;
                    Some(axes[at]).filter(|a| a.step == 1).map(|a| a.unit)
                })
                .collect();
            let few: Vec<Term> =
                shape.iter().map(|&n| if rank == 2 { no } else { self.g.compare(Cmp::Le, n, one) }).collect();
            let whole = |me: &mut Self, inwards: &mut dyn Iterator<Item = usize>| {
                let (mut all, mut expected) = (yes, one);
                for k in inwards {
                    let near = strides[k].map_or(no, |s| me.same_size(s, expected));
                    let fits = me.g.or(near, few[k]);
                    all = me.g.and(all, fits);
                    expected = me.times(expected, shape[k]);
                }
                all
            };
            let rows = whole(self, &mut (0..rank).rev());
            let columns = whole(self, &mut (0..rank));
            let near = |me: &mut Self, k: usize| {
                let near = strides[k].map_or(no, |s| me.same_size(s, one));
                let several = me.g.not(few[k]);
                me.g.and(several, near)
            };
            let (near_columns, near_rows) = (near(self, 0), near(self, rank - 1));
            let (not_rows, not_columns) = (self.g.not(rows), self.g.not(columns));
            let columns = self.g.and(not_rows, columns);
            let neither = self.g.and(not_rows, not_columns);
            let near_columns = self.g.and(neither, near_columns);
            let not_near = self.g.not(near_columns);
            let near_rows = self.g.and(neither, near_rows);
            let near_rows = self.g.and(not_near, near_rows);
            let it = Layout { rows, columns, near_rows, near_columns };
            found = if n == 0 {
                it
            } else {
                Layout {
                    rows: self.choice(*c, it.rows, found.rows),
                    columns: self.choice(*c, it.columns, found.columns),
                    near_rows: self.choice(*c, it.near_rows, found.near_rows),
                    near_columns: self.choice(*c, it.near_columns, found.near_columns),
                }
            };
        }
        found
    }

    /// A product of two matrices: by columns if both are. (`mat_mul_impl`: both have neighbours along their first axis.)
    pub(in crate::front) fn lay_product(&mut self, product: Term, [a, b]: [Term; 2]) -> Term {
        if self.not_standard(b).is_none() {
            // Then it has one column.
            return product;
        }
        if self.is_nowhere(a) || self.is_nowhere(b) {
            return self.nowhere(product);
        }
        let [a, b] = [a, b].map(|t| self.has_columns(t));
        let columns = self.g.and(a, b);
        let shape = self.g.shape(product).to_vec();
        let (laid, _) = self.zipped(&shape, columns);
        self.lay(product, laid)
    }

    /// What `Zip` collects of the lanes of an array along an axis; `nearest`: if that axis is the nearest in memory, and otherwise it is made by rows
    /// (`sum_axis`).
    pub(in crate::front) fn lay_lanes(&mut self, x: Term, k: usize, made: Term, nearest: bool) -> Term {
        let shape = self.g.shape(made).to_vec();
        if shape.len() < 2 || shape.len() + 1 != self.g.rank(x) || self.not_standard(x).is_none() {
            return made;
        }
        let sizes = self.g.shape(x).to_vec();
        let laid = self.laid(x);
        let all = self.lanes_laid((&sizes, &laid), k, nearest);
        self.lay(made, all)
    }

    /// The same of an array of so many elements along each axis that lies in memory like this.
    pub(super) fn lanes_laid(&mut self, (sizes, laid): (&[Term], &Laid), k: usize, nearest: bool) -> Laid {
        let without = |all: &[Term]| -> Vec<Term> {
            all.iter().enumerate().filter(|&(n, _)| n != k).map(|(_, &size)| size).collect()
        };
        let (shape, yes) = (without(sizes), self.g.lit_bool(true));
        let mut all = Laid::new();
        for (c, axes) in laid {
            let lanes: Strides = axes.iter().enumerate().filter(|&(n, _)| n != k).map(|(_, a)| *a).collect();
            let mut columns = self.prefer_columns(&[(shape.clone(), vec![(yes, lanes)])], &shape);
            if nearest {
                let nearest = self.is_nearest(sizes, axes, k);
                columns = self.g.and(columns, nearest);
            }
            let columns = self.g.and(*c, columns);
            if self.g.bool_value(columns) != Some(false) {
                let order = Order { zipped: shape.len() == 2, ..Order::columns(shape.len()) };
                all.push((columns, self.ordered(&shape, &order)));
            }
            all.push((*c, self.by_rows(&shape)));
        }
        tidied(all)
    }

    /// Whether the stride of a matrix along its first axis is 1.
    fn has_columns(&mut self, t: Term) -> Term {
        let laid = self.laid(t);
        self.have_columns(self.g.shape(t)[0], &laid)
    }

    /// The same of a matrix of so many rows that lies in memory like this.
    pub(super) fn have_columns(&mut self, rows: Term, laid: &Laid) -> Term {
        let one = self.g.lit_usize(1);
        let mut found = self.g.lit_bool(false);
        for (c, axes) in laid.iter().rev() {
            let mut near = self.is_slice(axes, 0);
            if axes[0].sliced {
                let several = self.g.compare(Cmp::Gt, rows, one);
                near = self.g.and(several, near);
            }
            found = self.choice(*c, near, found);
        }
        found
    }

    /// What is put together along an axis has that one outermost; along the last one it is by columns. (`ArrayBase::append`.)
    pub(in crate::front) fn lay_joined(&mut self, t: Term, along: usize) -> Term {
        let (rank, shape) = (self.g.rank(t), self.g.shape(t).to_vec());
        if along == 0 && shape.len() < 2 {
            return t;
        }
        let order = if along + 1 == rank {
            Order::columns(rank)
        } else {
            let others = (0..rank).filter(|&k| k != along);
            Order {
                outwards: std::iter::once(along).chain(others).map(axis).collect(),
                back: vec![false; rank],
                zipped: false,
            }
        };
        let axes = self.ordered(&shape, &order);
        let yes = self.g.lit_bool(true);
        self.lay(t, vec![(yes, axes)])
    }

    /// An array that is shown again along new axes, or along those of one element: it has stride 0 there.
    pub(in crate::front) fn lay_spread(&mut self, x: Term, spread: Term) -> Term {
        let (own, shape) = (self.g.shape(x).to_vec(), self.g.shape(spread).to_vec());
        let (lead, unit) = (shape.len() - own.len(), self.g.lit_usize(1));
        let again = Along { place: 0, step: 0, unit, sliced: false, zipped: false };
        let laid = self.laid(x);
        let shown = |(c, axes): &(Term, Strides)| {
            let of = |k: usize| match k.checked_sub(lead) {
                Some(k) if own[k] == shape[lead + k] => Along { place: axes[k].place + lead, ..axes[k] },
                _ => again,
            };
            (*c, (0..shape.len()).map(of).collect())
        };
        let laid = laid.iter().map(shown).collect();
        let spread = self.renewed(spread);
        self.lay(spread, laid)
    }

    /// An array with new axes of one element, and with what step along these.
    pub(in crate::front) fn lay_inserted(&mut self, x: Term, wider: Term, new: &[u8], step: i64) -> Term {
        let (rank, unit) = (self.g.rank(wider), self.g.lit_usize(1));
        let one = Along { place: rank, step, unit, sliced: false, zipped: false };
        let laid = if self.g.rank(x) == 0 { vec![(self.g.lit_bool(true), [].into())] } else { self.laid(x) };
        let shown = |(c, axes): (Term, Strides)| {
            let mut axes = axes.iter().copied();
            (c, (0..rank).map(|k| if new.contains(&axis(k)) { one } else { axes.next().unwrap_or(one) }).collect())
        };
        let laid = laid.into_iter().map(shown).collect();
        self.lay(wider, laid)
    }

    /// Whether two arrays of one rank may lie in memory in different orders.
    pub(in crate::front) fn lie_otherwise(&mut self, a: Term, b: Term) -> bool {
        self.g.rank(a) > 0
            && (self.not_standard(a).is_some() || self.not_standard(b).is_some())
            && self.laid(a) != self.laid(b)
    }

    /// One of two arrays, by a condition.
    pub(in crate::front) fn lay_chosen(&mut self, chosen: Term, cond: Term, [a, b]: [Term; 2]) -> Term {
        if chosen == a || chosen == b || self.not_standard(a).is_none() && self.not_standard(b).is_none() {
            return chosen;
        }
        let (mut of_a, of_b) = (self.laid(a), self.laid(b));
        if of_a.is_empty() || of_b.is_empty() {
            return self.nowhere(chosen);
        }
        if of_a != of_b {
            for (c, _) in &mut of_a {
                *c = self.g.and(cond, *c);
            }
            of_a.extend(of_b);
            of_a = tidied(of_a);
        }
        self.lay(chosen, of_a)
    }

    /// What a function makes is in standard layout, even if it shows other elements.
    pub(in crate::front) fn made(&mut self, t: Term) -> Term {
        if self.not_standard(t).is_none() {
            return t;
        }
        let laid = self.always(t);
        self.lay(t, laid)
    }

    /// A copy of a view.
    pub(in crate::front) fn copied(&mut self, t: Term) -> Term {
        let Some(laid) = self.not_standard(t) else { return t };
        if self.order(t, &laid).is_some() {
            return t;
        }
        let shape = self.g.shape(t).to_vec();
        let copy = self.copy_of(&shape, &laid);
        self.lay(t, copy)
    }
}

/// Without layouts that are that of the next ones anyway.
fn tidied(mut laid: Laid) -> Laid {
    while let [.., (_, a), (_, b)] = &laid[..]
        && a == b
    {
        laid.remove(laid.len() - 2);
    }
    laid
}
