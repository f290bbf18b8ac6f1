//! The array DSL, as ordinary functions.
//!
//! A function under `#[differentiate]` stays ordinary Rust, so everything that the DSL offers runs
//! here without the macro. These functions *are* the definition of the values: the compiler's
//! gradient of a program has to return what the program written with them returns.
//!
//! | | |
//! | --- | --- |
//! | make | [`build1`], [`build`], [`iota`], [`replicate`], [`one_hot`], [`gather`], [`scatter`] |
//! | reduce | [`sum`], [`product`], [`maximum`], [`minimum`], [`norm`], [`logsumexp`], [`sum_outer`], [`argmax`], [`argmin`], [`softmax`], [`cumsum`] |
//! | elementwise | those of [`scalar`] ([`sigmoid`], [`relu`], ..), [`select`], [`map2`] |
//! | in sequence | [`fold`], [`reduce`], [`scan`], [`scanl`], [`scanr`] |
//! | about derivatives | [`stop_gradient`], [`checkpoint`] |
//!
//! The traits let one name serve scalars, arrays, views and slices. They are in effect sealed (they
//! are implemented for the types that the guide lists), and a program does not need to name them.
//!
//! This module must never hold a loop that generated code also needs. Such loops are in
//! [`crate::kernel`], and are called from here.

mod construct;
mod elements;
mod elementwise;
mod recurrences;
mod reductions;
mod seq;
mod stackable;

pub use construct::{build, build1, gather, iota, one_hot, replicate, scatter};
pub(crate) use elements::dim;
pub use elements::{Elements, OuterRank, Rank};
pub use elementwise::scalar::*;
pub use elementwise::{Elementwise, checkpoint, map2, scalar, select, stop_gradient};
pub use recurrences::{fold, reduce, scan, scanl, scanr};
pub use reductions::{argmax, argmin, cumsum, logsumexp, maximum, minimum, norm, product, softmax, sum, sum_outer};
pub use seq::{OuterItems, Seq};
pub use stackable::{Stackable, StackableRank};

pub use crate::real::{Integer, Scalar};
