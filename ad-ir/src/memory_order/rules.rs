//! The vocabulary in which a table of methods declares the effect of each method on the memory
//! order. This module must never apply a rule; its sibling modules do.

/// The memory order of the array that a method of ndarray returns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ResultOrder {
    /// The result is a number, a size, an iterator: it has no memory order.
    NoArray,
    /// A new array in standard layout, whatever the receiver's is: `zeros`, `from_shape_fn`,
    /// `as_standard_layout`.
    Standard,
    /// A view of the receiver: its term says where its elements are (`t`, `slice`, `row`, `diag`).
    View,
    /// The lowered term has its memory order already: it is an argument (`clone`, `unwrap`), the
    /// result of a closure (`fold`), or an array whose order depends on a number (`diff`).
    Given,
    /// The receiver's elements in another shape: a view if the shape does not change or the
    /// receiver is in standard layout, and a new array in standard layout otherwise: `flatten`.
    Reshaped,
    /// A view with a new axis of one element: `insert_axis`.
    InsertedAxis,
    /// A view that repeats elements, with stride 0: `broadcast`.
    Broadcast,
    /// A new array, in the receiver's order if that is contiguous, and in standard layout
    /// otherwise: `to_owned`, `mapv`.
    LikeReceiver,
    /// The receiver's own memory, which is overwritten: `mapv_into`, `assign`, `fill`.
    InPlace,
    /// Arithmetic of two operands: an operand by value is overwritten, and two references are
    /// zipped.
    Arithmetic,
    /// The layout that most operands of `Zip` prefer: `map_collect`.
    Zip,
    /// A product of two matrices: column-major if both are.
    Product,
    /// An array that is collected from the lanes of an axis: `sum_axis`, `map_axis`.
    Lanes,
    /// Arrays joined along an axis, which becomes the outermost one: `concatenate`, `stack`.
    Joined,
    /// Row-major with the last two axes exchanged if the receiver is column-major, and in standard
    /// layout otherwise: `triu`.
    Triangle,
}

/// The order in which a method of ndarray combines elements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ReductionOrder {
    /// It combines no elements, or the result does not depend on the order: `mapv`, `len`.
    Elementwise,
    /// The order of the indices, whatever the memory order: `iter`, `indexed_iter`.
    Logical,
    /// Eight lanes over contiguous memory, and row by row otherwise: `sum`, `mean`.
    Sum,
    /// Eight lanes along the axis if it has the smallest stride, and one part after the other
    /// otherwise: `sum_axis`.
    SumAxis,
    /// Eight lanes of products over contiguous vectors, and one element after the other otherwise:
    /// `product`.
    Product,
    /// Eight lanes of products of two vectors that are slices, and one element after the other
    /// otherwise: `dot`.
    Dot,
    /// The order in which elements are in memory: `fold`, `var`.
    Memory,
}

/// The effect of a method on the memory order: a column of the table of methods.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MethodOrder {
    /// The memory order of its result.
    pub result: ResultOrder,
    /// The order in which it combines elements.
    pub reduction: ReductionOrder,
}
