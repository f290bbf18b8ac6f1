//! Applies the declarations in the table of methods: determines the memory order of a method's
//! result. This module must never read the name of a method; it uses the declaration only.

use super::layouts::Layouts;
use super::{AxisOrder, MemoryOrder, MethodOrder, ReductionOrder, ResultOrder};
use crate::ir::{Term, axis};

impl Layouts<'_> {
    /// The result `made` of a method of an array, in the memory order that the method declares. `x`
    /// is the receiver, `other` the second operand, and `axis_of` the axis argument of the method.
    ///
    /// An elementwise method also computes its elements in the order of axes of
    /// [`Layouts::elementwise`], and `Zip` in that of [`Layouts::collected`]. The code that
    /// computes the elements does this.
    pub fn declared(
        &mut self,
        order: MethodOrder,
        (x, other): (Option<Term>, Option<Term>),
        axis_of: Option<usize>,
        made: Term,
    ) -> Term {
        match (order.result, x, axis_of) {
            (ResultOrder::Standard, ..) => self.new_array(made),
            (ResultOrder::LikeReceiver, Some(x), _) => self.like(x, made),
            // A result with another element type is a new array.
            (ResultOrder::InPlace, Some(x), _) if self.g.elem(x) == self.g.elem(made) => self.written_over(x, made),
            (ResultOrder::InPlace, Some(x), _) => self.like(x, made),
            (ResultOrder::Triangle, Some(x), _) => self.triangle(x, made),
            (ResultOrder::InsertedAxis, Some(x), Some(k)) if self.g.rank(made) == self.g.rank(x) + 1 => {
                self.inserted_axes(x, made, &[axis(k)], 1)
            }
            (ResultOrder::Broadcast, Some(x), _) => self.broadcast_to(x, made),
            (ResultOrder::Lanes, Some(x), Some(k)) => {
                self.lanes(x, k, made, order.reduction == ReductionOrder::SumAxis)
            }
            (ResultOrder::Joined, _, Some(k)) => self.joined(made, k),
            (ResultOrder::Product, Some(x), Some(_) | None) => match other {
                Some(y) if self.g.rank(made) == 2 => self.matrix_product(made, [x, y]),
                _ => made,
            },
            _ => made,
        }
    }

    /// A new array: in the order of `x` if that is contiguous, and in standard layout otherwise.
    fn like(&mut self, x: Term, made: Term) -> Term {
        match self.elementwise(x).filter(|_| self.g.rank(made) == self.g.rank(x)) {
            Some(how) => self.with_order(made, how.order),
            None => made,
        }
    }

    /// An array repeated to a shape. Each of its sizes is 1 or that of the shape.
    fn broadcast_to(&mut self, x: Term, wider: Term) -> Term {
        let (mut sizes, shape) = (self.g.shape(x).to_vec(), self.g.shape(wider).to_vec());
        let Some(lead) = shape.len().checked_sub(sizes.len()) else { return wider };
        for (k, size) in sizes.iter_mut().enumerate() {
            if self.g.int_value(*size) != Some(1) {
                *size = shape[lead + k];
            }
        }
        let x = self.g.recast(x, &sizes);
        if x == wider { wider } else { self.broadcast(x, wider) }
    }

    /// One side of a diagonal of an array. (`tri.rs`: a column-major array is transposed first.)
    fn triangle(&mut self, x: Term, made: Term) -> Term {
        let rank = self.g.rank(x);
        if rank < 2 {
            return self.like(x, made);
        }
        let Some(order) = self.not_standard(x) else { return made };
        if order.is_unknown() {
            return self.with_unknown_order(made);
        }
        let shape = self.g.shape(x).to_vec();
        let mut swapped = AxisOrder::row_major(rank);
        swapped.outermost_first.swap(rank - 2, rank - 1);
        let mut cases = Vec::new();
        for (c, axes) in order.cases() {
            if AxisOrder::of(axes) == AxisOrder::column_major(rank) {
                let contiguous = self.is_contiguous(&shape, axes);
                let columns = self.g.and(*c, contiguous);
                cases.push((columns, self.contiguous(&shape, &swapped)));
            }
            cases.push((*c, self.row_major(&shape)));
        }
        self.with_order(made, MemoryOrder(cases).tidied())
    }
}
