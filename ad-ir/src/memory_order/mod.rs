//! ndarray's memory orders and orders of summation.
//!
//! ndarray sums elements in the order of memory if they are contiguous, and lane by lane otherwise.
//! A decision of the user's function that reads such a sum needs its bits, so the compiler has to
//! know the memory order of each array: [`Strides`] under conditions on sizes. The order follows
//! from the term (transpositions, slices and indices of another array), or it was noted when the
//! array was created ([`KnownOrders`]). All other arrays are in standard layout. Results are in
//! standard layout, and parameters are assumed to be, so that the same inputs give the same bits.
//!
//! Three properties are not modelled. The strides of empty arrays do not matter: all elements of an
//! array that is computed from one are equal, so each order of summation gives the same result. An
//! array of evenly strided elements keeps its stride if it is flattened. A copy of a contiguous
//! slice keeps the stride 0 of an axis with one element, so that `sum_axis` chooses that axis as
//! the one with the smallest stride.
//!
//! The module must never mention the front end, and never change a computed value: it only
//! determines in which order the user's function computes it.
//!
//! The effect of a method on the memory order is a column of the table of methods
//! ([`MethodOrder`]), and [`Layouts::declared`] applies it; `ad-core/tests/memory_order/rows.rs`
//! runs ndarray's method for each row.
//!
//! Each modelled function of ndarray has a conformance test in `ad-core/tests/memory_order.rs`,
//! which runs ndarray itself:
//!
//! | ndarray | here | test |
//! |---|---|---|
//! | `t`, `slice`, `index_axis`, `diag` | [`Layouts::of`] | `ndarray_views_have_the_strides_of_their_terms` |
//! | `insert_axis` | [`Layouts::inserted_axes`] | `ndarray_insert_axis_keeps_the_other_strides` |
//! | `broadcast` | [`Layouts::broadcast`] | `ndarray_broadcast_has_stride_zero` |
//! | `to_owned`, `mapv`, `&a + 1.0` | [`Layouts::copied`] | `ndarray_to_owned_keeps_a_contiguous_order` |
//! | `as_standard_layout` | [`Layouts::new_array`] | `ndarray_as_standard_layout_is_row_major` |
//! | `assign`, `mapv_inplace`, `mapv_into` | [`Layouts::written_over`] | `ndarray_overwritten_operand_keeps_its_strides` |
//! | `&a + &b` | [`Layouts::arithmetic`] | `ndarray_add_of_two_references_is_zipped` |
//! | `a + b`, `a + &b`, `&a + b` | [`Layouts::arithmetic`] | `ndarray_add_to_a_value_overwrites_it` |
//! | `Zip::map_collect` | [`Layouts::zip_prefers_columns`] | `ndarray_zip_collects_in_the_preferred_layout` |
//! | `dot` of two matrices | [`Layouts::matrix_product`] | `ndarray_dot_of_two_column_major_matrices_is_column_major` |
//! | `sum_axis` | [`Layouts::lanes`] | `ndarray_sum_axis_layout` |
//! | `map_axis` | [`Layouts::lanes`] | `ndarray_map_axis_layout` |
//! | `concatenate`, `stack`, `append` | [`Layouts::joined`] | `ndarray_concatenate_has_its_axis_outermost` |
//! | `sum` | [`Layouts::sum`] | `ndarray_sum_is_eight_lanes_along_memory` |
//! | `sum_axis` | [`Layouts::sum_axis`] | `ndarray_sum_axis_is_eight_lanes_along_the_nearest_axis` |
//! | `dot` with a vector | [`Layouts::dot`] | `ndarray_dot_is_eight_lanes_of_slices` |
//! | `fold` | [`Layouts::folded`] | `ndarray_fold_goes_along_memory` |
//! | `product` | `sums::product` | `ndarray_product_is_eight_lanes_along_memory` |
//! | `iter` | `Reduce::InOrder` | `ndarray_iter_is_in_logical_order` |

mod declared;
mod dynamic;
mod layouts;
mod results;
mod rules;
mod sums;
mod zip;

use std::rc::Rc;

use crate::ir::{Term, axis};

pub use dynamic::DynamicPart;
pub use layouts::{KnownOrders, Layouts};
pub use results::{Arithmetic, Elementwise};
pub use rules::{MethodOrder, ReductionOrder, ResultOrder};
pub use sums::{HasLayouts, product};

/// The stride of one axis: `step` times `unit`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stride {
    /// The position of the axis in memory, counted from the outermost axis. Elements along the last
    /// one are adjacent.
    pub position: usize,
    /// 0 if the same elements are repeated along the axis; negative if the axis goes backwards.
    pub step: i64,
    /// The distance of neighbouring elements along that axis of memory.
    pub unit: Term,
    /// Whether it is an axis of a slice. ndarray gives such an axis the stride 0 if it has at most
    /// one element.
    pub sliced: bool,
    /// Whether `Zip` has made the array column-major. With one row or one column the array is
    /// row-major, which determines the axis with the smallest stride.
    pub zipped: bool,
}

/// The strides of an array, axis by axis.
pub type Strides = Rc<[Stride]>;

/// The memory order of an array: the strides that it may have, each under a condition on sizes. The
/// array has the first strides whose condition holds; the condition of the last ones always holds.
/// An unknown memory order has no strides.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MemoryOrder(Vec<(Term, Strides)>);

impl MemoryOrder {
    /// An unknown memory order.
    #[must_use]
    pub fn unknown() -> Self {
        Self::default()
    }

    /// Whether the memory order is unknown.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.0.is_empty()
    }

    /// The strides, each with its condition.
    #[must_use]
    pub fn cases(&self) -> &[(Term, Strides)] {
        &self.0
    }

    /// Removes a case with the same strides as the case after it.
    fn tidied(mut self) -> Self {
        while let [.., (_, a), (_, b)] = &self.0[..]
            && a == b
        {
            self.0.remove(self.0.len() - 2);
        }
        self
    }
}

/// The order of all elements of a contiguous array: its axes from the outermost to the innermost.
/// Some of them may go backwards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AxisOrder {
    outermost_first: Vec<u8>,
    /// Whether each of these axes goes backwards.
    backwards: Vec<bool>,
    /// As in [`Stride::zipped`].
    zipped: bool,
}

impl AxisOrder {
    /// The first axis is outermost, as in C.
    #[must_use]
    pub fn row_major(rank: usize) -> Self {
        AxisOrder { outermost_first: (0..rank).map(axis).collect(), backwards: vec![false; rank], zipped: false }
    }

    /// The last axis is outermost, as in Fortran.
    #[must_use]
    pub fn column_major(rank: usize) -> Self {
        AxisOrder { outermost_first: (0..rank).rev().map(axis).collect(), ..Self::row_major(rank) }
    }

    /// The order that `Zip` calls column-major.
    fn zipped_columns(rank: usize) -> Self {
        AxisOrder { zipped: rank == 2, ..Self::column_major(rank) }
    }

    /// One axis is outermost, and the others follow in their order.
    fn outermost(rank: usize, along: usize) -> Self {
        let others = (0..rank).filter(|&k| k != along);
        AxisOrder { outermost_first: std::iter::once(along).chain(others).map(axis).collect(), ..Self::row_major(rank) }
    }

    /// The order of the elements in memory, if they are contiguous.
    fn of(axes: &Strides) -> Self {
        let mut outermost_first: Vec<u8> = (0..axes.len()).map(axis).collect();
        outermost_first.sort_by_key(|&k| axes[usize::from(k)].position);
        let backwards = outermost_first.iter().map(|&k| axes[usize::from(k)].step < 0).collect();
        AxisOrder { outermost_first, backwards, zipped: axes.iter().any(|a| a.zipped) }
    }

    /// Whether it is row-major.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        self.outermost_first.is_sorted() && !self.backwards.contains(&true)
    }
}

/// The axes from the largest stride to the smallest; `fold` makes the last of them the innermost.
/// Repeated axes (stride 0) come last. If there are several of these, `fold` chooses the last one
/// in an array of two axes, and the first one in an array of more.
/// (`dimension::move_min_stride_axis_to_last`.)
fn by_distance(axes: &[Stride]) -> Vec<usize> {
    let mut by_distance: Vec<usize> = (0..axes.len()).collect();
    by_distance.sort_by_key(|&k| (axes[k].step == 0, axes[k].position));
    if axes.len() > 2 {
        let repeated = by_distance.partition_point(|&k| axes[k].step != 0);
        by_distance[repeated..].sort_by_key(|&k| std::cmp::Reverse(k));
    }
    by_distance
}
