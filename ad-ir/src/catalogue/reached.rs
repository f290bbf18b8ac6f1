//! The messages with which a derivative panics where the function itself panics. A message that the
//! user has written is kept (`front::panic_messages`).

pub const SUM_OVERFLOWS: &str = "integer overflow in a sum";
pub const ADDITION_OVERFLOWS: &str = "integer overflow in an addition";
pub const SUBTRACTION_OVERFLOWS: &str = "integer overflow in a subtraction";
pub const PRODUCT_OVERFLOWS: &str = "integer overflow in a multiplication";
pub const POWER_OVERFLOWS: &str = "integer overflow in a power";
pub const SHIFT_OVERFLOWS: &str = "integer overflow in a shift";
pub const NEGATION_OVERFLOWS: &str = "integer overflow in a negation";
pub const DIVISION_BY_ZERO: &str = "division by zero";
pub const REMAINDER_BY_ZERO: &str = "remainder of a division by zero";
pub const DIVISION_FAILS: &str = "division by zero, or overflow";
pub const CALL: &str = "a called function panics";
pub const INDEX: &str = "index out of range";
pub const INDEX_OF_SLICE: &str = "index out of range in a slice";
pub const START_AFTER_END: &str = "a slice starts after its end";
pub const START_OF_SLICE: &str = "the start of a slice is out of range";
pub const END_OF_SLICE: &str = "the end of a slice is out of range";
pub const ROTATED: &str = "more elements are rotated than there are";
pub const CLAMP: &str = "clamp: the lower bound is above the upper one";
pub const INSERTED_PAST_END: &str = "an element is inserted past the end";
pub const PRODUCT_OF_LENGTHS: &str = "the two vectors of a product have different lengths";
pub const DIFF: &str = "diff: too few elements along the axis";
pub const NONE: &str = "unwrap of `None`";
pub const NAN_COMPARED: &str = "a comparison has a NaN: use `total_cmp`, which orders NaN too";
pub const ERR: &str = "unwrap of an `Err`";
pub const NO_ELEMENTS: &str = "parts of no elements";
pub const STEP_OF_ZERO: &str = "a step of 0";
pub const CYCLE_OF_NOTHING: &str = "`cycle` of an iterator without items";
pub const RANGE_BACKWARDS: &str = "the step of a range leads away from its end";
pub const SHAPES: &str = "shapes differ";
pub const RESULT_SIZE: &str = "a function that calls itself returns an array that is not as large as its arguments say";
pub const NOT_POSITIVE_DEFINITE: &str = "the matrix is not positive definite";
pub const SINGULAR: &str = "the matrix is singular";
pub const DEPENDENT_COLUMNS: &str = "the columns of the matrix are linearly dependent";
pub const NO_CONVERGENCE: &str = "no convergence within the given number of steps";
pub const WIDE: &str = "the matrix has more columns than rows";
pub const NOT_FINITE: &str = "the matrix has an element that is not finite";
pub const PAST_CAPACITY: &str = "more elements than the capacity given for the `Vec`";

pub fn hidden_function(function: &str, name: &str) -> String {
    format!(
        "{function}: `{name}` is another function here than the marked one that is imported; mark it with \
         `#[differentiable]`, or import the marked one by its name"
    )
}

pub fn other_shapes(given: &str, wanted: &str) -> String {
    format!("the arrays of `{given}` do not have the shapes of those of {wanted}")
}

pub fn of_function(name: &str, why: &str) -> String {
    format!("{name}: {why}")
}

pub fn other_variant(given: &str, wanted: &str) -> String {
    format!("`{given}` is not of the variant of {wanted}")
}
