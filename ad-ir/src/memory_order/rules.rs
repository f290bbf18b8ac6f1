//! The vocabulary in which a table of methods declares what each method does to the memory order.
//! Must never say how a rule is carried out: that is in the modules beside this one.

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
    /// What is lowered has the memory order already: an argument itself (`clone`, `unwrap`), what a
    /// closure gives (`fold`), or one that depends on a number (`diff`).
    Given,
    /// The receiver's elements in another shape: a view of it where the shape stays or the receiver
    /// is in standard layout, and else in standard layout: `flatten`.
    Reshaped,
    /// A view with a new axis of one element: `insert_axis`.
    InsertedAxis,
    /// A view that repeats elements, with stride 0: `broadcast`.
    Broadcast,
    /// A new array in the receiver's order where that is contiguous, and else in standard layout:
    /// `to_owned`, `mapv`.
    LikeReceiver,
    /// The receiver's own memory, written over: `mapv_into`, `assign`, `fill`.
    InPlace,
    /// Arithmetic of two operands, of which values are written over and references are zipped.
    Arithmetic,
    /// The layout that most operands of `Zip` prefer: `map_collect`.
    Zip,
    /// A product of two matrices: column-major if both are.
    Product,
    /// What is collected of the lanes of an axis: `sum_axis`, `map_axis`.
    Lanes,
    /// Arrays joined along an axis, which becomes the outermost one: `concatenate`, `stack`.
    Joined,
    /// Like a column-major receiver with its last two axes exchanged, and else in standard layout:
    /// `triu`.
    Triangle,
}

/// The order in which a method of ndarray combines elements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ReductionOrder {
    /// It combines none, or in a way that no order changes: `mapv`, `len`.
    Elementwise,
    /// The order of the indices, whatever the memory order: `iter`, `indexed_iter`.
    Logical,
    /// Eight lanes over contiguous memory, and else row by row: `sum`, `mean`.
    Sum,
    /// Eight lanes along the axis that is nearest in memory, and else one lane after the other:
    /// `sum_axis`.
    SumAxis,
    /// Eight lanes of products over contiguous vectors, and else one after the other: `product`.
    Product,
    /// Eight lanes of products of two vectors that are slices, and else one after the other: `dot`.
    Dot,
    /// The order in which elements are in memory: `fold`, `var`.
    Memory,
}

/// What a method does to the memory order: a column of the table of methods.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MethodOrder {
    /// The memory order of what it returns.
    pub result: ResultOrder,
    /// The order in which it combines elements.
    pub reduction: ReductionOrder,
}
