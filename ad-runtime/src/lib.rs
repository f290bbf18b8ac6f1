//! What runs when a program written with `ad` runs.
//!
//! Users do not name this crate; the facade `ad` re-exports it.
//!
//! - [`dsl`]: the array DSL as ordinary functions. They define the *values* that a differentiated
//!   function and its gradient must agree on, so every convention (ties, empty arrays, NaN,
//!   infinities) is written down there.
//! - [`kernel`]: the loops that generated code calls. Stable for generated code only; not for
//!   people.
//! - `check`: what `check_grad!` calls.
//! - [`Real`], [`Differentiable`]: the two traits a user may write in a bound.
//!
//! This crate must never depend on the compiler (`ad-core`), never use `unsafe` but to enter code
//! for instructions that the processor was found to have (one call, in `kernel/isa.rs`), never give
//! different bits for the same values in another memory layout, and never read a clock, a thread
//! count or an environment variable: on one machine the same inputs give the same bits every time.

#![deny(unsafe_code)]

#[doc(hidden)]
pub mod assumed;
#[doc(hidden)]
pub mod check;
pub mod dsl;
pub mod kernel;
mod real;

pub use real::{Differentiable, Real};
