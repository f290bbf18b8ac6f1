//! The layout that `Zip` chooses for the array that it collects: the one that most of its operands
//! prefer. If sizes decide between row-major and column-major, this module must never choose one:
//! it returns the condition.

use super::layouts::Layouts;
use super::{AxisOrder, DynamicPart, MemoryOrder};
use crate::ir::Term;
use crate::prim::{Cmp, IntOp};

/// The properties of an array's layout that `Zip` uses, each as a condition: it is row-major or
/// column-major, or only the innermost axis of such an order is adjacent. (`zip::array_layout`.)
struct ZipLayout {
    rows: Term,
    columns: Term,
    near_rows: Term,
    near_columns: Term,
}

impl Layouts<'_> {
    /// The memory order of an array that `Zip` collects column-major if the condition `columns`
    /// holds, and its order of axes if that is known.
    pub fn zipped(&mut self, shape: &[Term], columns: Term) -> (MemoryOrder, Option<AxisOrder>) {
        let by_rows = AxisOrder::row_major(shape.len());
        let by_columns = AxisOrder::zipped_columns(shape.len());
        let [rows, turned] = [&by_rows, &by_columns].map(|order| self.contiguous(shape, order));
        match self.g.bool_value(columns) {
            Some(true) => (MemoryOrder(vec![(columns, turned)]), Some(by_columns)),
            Some(false) => (self.always(rows), Some(by_rows)),
            None => (MemoryOrder(vec![(columns, turned), (self.g.lit_bool(true), rows)]), None),
        }
    }

    /// The memory order of the array that `Zip` collects from these arrays, and its order of axes
    /// if that is known. The memory order is unknown if that of an operand is unknown.
    pub fn collected(&mut self, of: &[Term], shape: &[Term]) -> (MemoryOrder, Option<AxisOrder>) {
        if of.iter().any(|&t| self.is_unknown(t)) {
            return (MemoryOrder::unknown(), None);
        }
        let columns = self.zip_prefers_columns(of, shape);
        let (order, axes) = self.zipped(shape, columns);
        (order, axes.filter(|axes| !axes.is_standard()))
    }

    /// Whether `Zip` collects in column-major order: if all arrays are column-major, or if more of
    /// them prefer columns than rows. (`Zip::prefer_f`.)
    pub fn zip_prefers_columns(&mut self, of: &[Term], shape: &[Term]) -> Term {
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
        let of: Vec<(Vec<Term>, MemoryOrder)> = of
            .iter()
            .map(|&t| {
                let order = if self.g.rank(t) == 0 { MemoryOrder::unknown() } else { self.of(t) };
                (self.g.shape(t).to_vec(), order)
            })
            .collect();
        self.prefer_columns(&of, shape)
    }

    /// Like [`Layouts::zip_prefers_columns`], for parts.
    pub fn zip_of_parts_prefers_columns(&mut self, of: &[DynamicPart], sizes: &[Term]) -> Term {
        if of.iter().all(|x| x.lens.iter().all(Option::is_none)) {
            let arrays: Vec<Term> = of.iter().map(|x| x.all).collect();
            return self.zip_prefers_columns(&arrays, sizes);
        }
        if sizes.len() < 2 {
            return self.g.lit_bool(false);
        }
        let of: Vec<(Vec<Term>, MemoryOrder)> = of.iter().map(|x| self.of_part(x)).collect();
        self.prefer_columns(&of, sizes)
    }

    /// Like [`Layouts::zip_prefers_columns`], for arrays of these shapes and memory orders.
    pub(super) fn prefer_columns(&mut self, of: &[(Vec<Term>, MemoryOrder)], shape: &[Term]) -> Term {
        let yes = self.g.lit_bool(true);
        let (zero, one, two) = (self.g.lit_usize(0), self.g.lit_usize(1), self.g.lit_usize(2));
        let (mut all_rows, mut all_columns, mut for_rows, mut for_columns) = (yes, yes, zero, zero);
        for (own, order) in of {
            let it = self.zip_layout((own, order), shape);
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

    /// Whether an axis has the size of the axis that it is broadcast to, which may be another term.
    /// It does unless it is known to have one element.
    pub(super) fn fills(&self, own: Term, size: Term) -> bool {
        own == size || self.g.int_value(own) != Some(1)
    }

    /// The layout of an array that is broadcast to a shape of two or more axes. If only one axis
    /// has more than one element, all orders are the same. In a shape of two axes, both are assumed
    /// to have more than one element.
    fn zip_layout(&mut self, (sizes, order): (&[Term], &MemoryOrder), shape: &[Term]) -> ZipLayout {
        let (rank, own) = (shape.len(), sizes.len());
        let one = self.g.lit_usize(1);
        let (yes, no) = (self.g.lit_bool(true), self.g.lit_bool(false));
        let mut found = ZipLayout { rows: no, columns: no, near_rows: no, near_columns: no };
        for (n, (c, axes)) in order.cases().iter().rev().enumerate() {
            // The stride along each axis. `None` if it certainly differs from that of a contiguous
            // array.
            let strides: Vec<Option<Term>> = (0..rank)
                .map(|k| {
                    let at = (k + own).checked_sub(rank).filter(|&at| self.fills(sizes[at], shape[k]))?;
                    Some(axes[at]).filter(|a| a.step == 1).map(|a| a.unit)
                })
                .collect();
            let few: Vec<Term> =
                shape.iter().map(|&n| if rank == 2 { no } else { self.g.compare(Cmp::Le, n, one) }).collect();
            let whole = |me: &mut Self, innermost_first: &mut dyn Iterator<Item = usize>| {
                let (mut all, mut expected) = (yes, one);
                for k in innermost_first {
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
            let it = ZipLayout { rows, columns, near_rows, near_columns };
            found = if n == 0 {
                it
            } else {
                ZipLayout {
                    rows: self.choice(*c, it.rows, found.rows),
                    columns: self.choice(*c, it.columns, found.columns),
                    near_rows: self.choice(*c, it.near_rows, found.near_rows),
                    near_columns: self.choice(*c, it.near_columns, found.near_columns),
                }
            };
        }
        found
    }
}
