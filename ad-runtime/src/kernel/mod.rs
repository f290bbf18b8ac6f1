//! The loops that generated code calls. **Not a public API**: it is stable only together with the
//! compiler that emits the calls. Programs use [`crate::dsl`].
//!
//! Conventions of every kernel here:
//!
//! - Arrays are slices in standard (row-major) layout; [`contiguous`] makes a slice of an array of
//!   any layout, and [`assemble`] makes an array of a slice. So an order of summation never depends
//!   on the layout of an input, and the same values give the same bits.
//! - The destination is the first parameter. If a kernel has a parameter `accumulate: bool`,
//!   `false` overwrites the destination (its old contents are never read, so a NaN in it has no
//!   effect) and `true` adds to it.
//! - Lengths are checked once, at entry, by `assert!`: a wrong length is a bug of the compiler and
//!   must never become a wrong number. Every length may be zero.
//! - The order of summation is a function of the lengths alone; with the feature `rayon` too, where
//!   work is divided by lengths (`threads.rs`) and never by threads. The processor decides
//!   whether products are fused with additions ([`dispatch`]; `matrixmultiply` does the same), so
//!   two machines may give different bits.
//! - A loop over several slices is a separate function with the slices as parameters. The compiler
//!   knows that parameters do not alias, and does not know that of locals (which costs a factor of
//!   two).
//!
//! - Kernels whose names end in `_in` are for callers that already run inside [`dispatch`]; those
//!   in `_n` are for callers that are also compiled for a number of rows.
//!
//! No kernel may allocate, with these exceptions: kernels that return a `Vec` or a `Cow`;
//! [`argsort`]; [`destination`] for an array that is not in standard layout; `matrixmultiply`;
//! those of linear algebra; [`reserve`]; [`windows()`] and [`products`], which may copy an operand;
//! and, with the feature `rayon`, kernels that are divided into parts, but never those whose names
//! end in `_off_heap`.

mod absorbing;
mod blocks;
mod fast;
#[cfg(feature = "fft")]
mod fourier;
mod generated;
mod integer_power;
mod isa;
mod lanes;
mod layout;
mod linalg;
mod literal;
mod matrix;
mod memory;
mod operand;
mod product;
mod reduce;
mod small;
mod sort;
pub(crate) mod special;
mod square;
mod strided;
mod threads;
mod vector;
mod windows;

pub use absorbing::{absorbed, absorbed_dot};
pub use blocks::{
    block, block_of_rows, largest_columns, packed, places_of_largest, places_of_smallest, smallest_columns, unpacked,
};
#[cfg(feature = "fft")]
pub use fourier::{fourier, fourier_back};
pub use generated::{
    Whole, cut, each_first, each_row, exact_dot, exact_product, exact_sum, extended, finished, fits, gemm_each,
    gemm_each_off_heap, joined, largest, largest_whole, order, place_of_largest, place_of_largest_whole,
    place_of_smallest, place_of_smallest_whole, power, quotient, remainder, repeated, resized, same, shifted_left,
    shifted_right, smallest, smallest_whole, sum_from_zero, sum_in_fours, sum_in_order, sum_of_squared_distances,
};
pub use isa::{Body, Fused, Isa, Plain, dispatch, force_plain};
pub use lanes::{lanes, total};
pub use layout::{
    Copied, Destination, assemble, contiguous, copied, copied_slice, destination, destination_slice, overwrite,
    replaced, replaced_slice,
};
pub use linalg::{
    cholesky, cholesky_change, cholesky_change_t, eigh, log_det, lu, lu_solve, lu_solve_t, qr, solve_lower,
    solve_lower_t, solve_upper, solve_upper_t,
};
pub use literal::{absorbed_n, common_size, gemm_n, gemv_n, gemv_t_n, lu_n, lu_solve_n, lu_solve_t_n};
pub use matrix::{exact_gemm, exact_gemv, gemm, gemm_off_heap, gemv, gemv_t, ger};
pub use memory::reserve;
pub use operand::Operand;
pub use product::{by_loops, gemv_in, gemv_t_in, ger_in};
pub use reduce::{
    argmax, argmin, dot, dot_in, dot_with_copies, maximum, maximum_in, minimum, minimum_in, product, sum, sum_in,
    sum_of_squares,
};
pub use sort::{argsort, argsort_descending};
pub(crate) use special::scalar_functions;
pub use special::*;
pub use strided::{Indices, absorbing_products, products, products_off_heap, products_within};
#[cfg(feature = "rayon")]
pub use threads::{Rows, chunk, force_parts, in_chunks};
pub use vector::*;
pub use windows::{Axis, absorbing_windows, windows, windows_in_order};
