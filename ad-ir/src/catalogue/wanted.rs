//! The phrases for expected values in messages (`catalogue::expected`), and for found values
//! without a description.

#![allow(missing_docs, reason = "each constant is the words that it is")]

pub const ARRAY: &str = "an array";
pub const BOOL: &str = "`bool`";
pub const BOOL_OR_INTEGER: &str = "`bool` or an integer";
pub const CLOSURE: &str = "a closure without parameters: `checkpoint(|| e)`";
pub const FUNCTION: &str = "a closure or the path of a function";
pub const INTEGERS: &str = "integers";
pub const INTEGERS_OR_BOOLS: &str = "integers or booleans";
pub const INTEGERS_TO_CMP: &str = "integers (`total_cmp` is for reals)";
pub const INTEGERS_TO_MAX: &str = "integers (reals: `max_by(|a, b| a.total_cmp(b))`)";
pub const ITERATOR: &str = "an iterator";
pub const LIST_OF_ARRAYS: &str = "a list of arrays: `&[a.view(), b.view()]`";
pub const LITERAL_TIMES: &str = "a literal number of times, at most 16";
pub const MATRIX: &str = "a matrix: an array of rank 2";
pub const RIGHT_HAND_SIDE: &str = "a right-hand side of the type of the matrix: an array of rank 1 or 2";
pub const MATRICES: &str = "two matrices of one real type";
pub const NUMBER_OR_VECTOR: &str = "a real number or an array of rank 1";
pub const NUMBERS: &str = "an array of numbers";
pub const NUMBERS_OR_VECTOR: &str = "an array of numbers (of rank 1 for `argmax` and `argmin`)";
pub const ONE_NUMBER: &str = "one number";
pub const OPTION: &str = "an `Option`";
pub const RESULT: &str = "a `Result`";
pub const ORDERING: &str = "an `Ordering`: `a.total_cmp(b)`";
pub const PAIRS: &str = "pairs";
pub const RANGE: &str = "a range: `1..3`, `..`";
pub const RANGE_OF_INTEGERS: &str = "a range of integers";
pub const RANK: &str = "the rank: `into_dimensionality::<Ix2>()`";
pub const REAL: &str = "a real number";
pub const REALS: &str = "real numbers";
pub const REALS_TO_CMP: &str = "real numbers (`cmp` is for integers)";
pub const SCALAR: &str = "a scalar";
pub const SIGNED: &str = "a signed number";
pub const SIGNED_INTEGER: &str = "a signed integer";
pub const SOME_ARRAY: &str = "at least one array";
pub const U32: &str = "`u32`";
pub const UNSIGNED_INTEGER: &str = "an unsigned integer";
pub const VALUE: &str = "a value";
pub const VECTOR: &str = "an array of rank 1";
pub const ZIP: &str = "`Zip::from(..)`";

// Found values.

pub const ANOTHER_NUMBER: &str = "another number";
pub const ANOTHER_RANGE: &str = "another range";
pub const ANOTHER_TYPE: &str = "another type";
pub const ARRAY_OF_BOOL: &str = "an array of `bool`";
pub const NONE: &str = "none";
pub const NOTHING: &str = "`None`";
