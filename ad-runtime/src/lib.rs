//! Runtime support for code that `ad` generates.
//!
//! Users do not name this crate; the facade `ad` re-exports it.
//!
//! - [`dsl`]: the array DSL as ordinary functions. They define the *values* that a differentiated
//!   function and its gradient must agree on, so every convention (ties, empty arrays, NaN,
//!   infinities) is written down there.
//! - [`kernel`]: the loops that generated code calls. It is not a public API: it is stable for
//!   generated code only.
//! - [`linalg`]: linear algebra as ordinary functions; [`implicit`]: solutions of equations.
//! - `reached`: the panics of a derivative where its function panics inside of a loop.
//! - `lists`: lists of arrays of one shape; `ragged`: lists of arrays of several shapes.
//! - `place`: constants of the place of a definition.
//! - `calls`: the records of calls of recursive functions.
//! - `check`: the functions that `check_grad!` calls.
//! - `dual_numbers`: numbers that know their derivatives, for functions whose body is not read.
//! - `parallel` (feature `rayon`): threads inside of such functions.
//! - `watch`: which expression first made a NaN or an infinity.
//! - [`Csr`]: a sparse Jacobian.
//! - [`Workspace`]: memory that calls of a derivative share.
//! - [`Real`], [`Differentiable`]: the two traits a user may write in a bound.
//!   `#[derive(Differentiable)]` implements [`Leaves`].
//!
//! This crate does not depend on the compiler (`ad-core`). It uses `unsafe` for instructions only:
//! one call in `kernel/isa.rs` enters a function that is compiled for CPU features detected at run
//! time, and without std one expression in `float.rs` is a fused multiply-add of the build. (With
//! the feature `nalgebra`, two functions of a trait are declared unsafe, and do nothing that is.)
//! The crate gives the same bits for the same values in every memory layout, and it reads no clock,
//! thread count or environment variable: on one machine the same inputs give the same bits every
//! time. With the feature `rayon`, large kernels run on the threads of rayon's pool, however many
//! there are.
//!
//! The crate works without std ([`alloc`] is enough). The feature `std` adds dual numbers,
//! [`watch`], the memory that derivatives of a thread share, and the choice of instructions at run
//! time. So code here names `core` and `alloc`, and methods of numbers that only std has by the
//! traits of `float`.

#![no_std]
#![deny(unsafe_code)]

#[doc(hidden)]
pub extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(not(any(feature = "std", feature = "libm")))]
compile_error!(
    "without its feature `std`, `ad` needs the feature `libm` for `exp`, `sin` and so on: \
     `ad = { version = \"..\", default-features = false, features = [\"linalg\", \"libm\"] }`"
);

#[doc(hidden)]
pub mod assumed;
mod calls;
#[doc(hidden)]
pub mod check;
mod differentiable;
pub mod dsl;
#[doc(hidden)]
pub mod dual_numbers;
#[cfg(feature = "fft")]
pub mod fft;
mod float;
pub mod implicit;
pub mod kernel;
pub mod linalg;
mod lists;
mod place;
mod ragged;
#[doc(hidden)]
pub mod reached;
mod real;
#[doc(hidden)]
pub mod sparse;
#[cfg(feature = "std")]
#[doc(hidden)]
pub mod watch;
mod workspace;

#[doc(hidden)]
pub use calls::{Calls, NO_ARRAY, Word, require_shape};
pub use differentiable::{Differentiable, Leaves};
#[doc(hidden)]
pub use differentiable::{different_variants, no_elements};
#[cfg(feature = "rayon")]
pub use dual_numbers::parallel;
pub use float::Float;
#[doc(hidden)]
pub use lists::{Element, Stack, elements};
#[doc(hidden)]
pub use place::{At, Constant, Function, Reverse, Ruled, Takes, Tangent, of_types, same};
#[doc(hidden)]
pub use ragged::{Either, Flat, OfShape, Shapes, arrays_of_shapes};
pub use real::Real;
pub use sparse::Csr;
pub use workspace::{Lent, Workspace};
