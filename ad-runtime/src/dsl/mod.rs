//! The array DSL, as ordinary functions.
//!
//! A function under `#[differentiate]` stays ordinary Rust, so everything that the DSL offers runs
//! here without the macro. These functions *are* the definition of the values: the compiler's
//! gradient of a program has to return what the program written with them returns.
//!
//! | | |
//! | --- | --- |
//! | make | [`build1`], [`build`], [`iota`], [`replicate`], [`one_hot`], [`gather`], [`scatter`] |
//! | reduce | [`sum`], [`product`], [`maximum`], [`minimum`], [`norm`], [`logsumexp`], [`sum_outer`], [`argmax`], [`argmin`], [`softmax`], [`cumsum`], [`cumprod`] |
//! | in order | [`sort`], [`argsort`], [`searchsorted`], [`interp`] |
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
mod sorting;
mod stackable;

pub(crate) use elements::dim;
pub use elements::{Elements, OuterRank, Rank};
pub use elementwise::{Elementwise, scalar};
pub use functions::*;
pub use seq::{OuterItems, Seq};
pub use stackable::{Stackable, StackableRank};

/// The functions of the DSL and nothing else, for the prelude of the facade.
pub mod functions {
    pub use super::construct::*;
    pub use super::elementwise::scalar::*;
    pub use super::elementwise::{checkpoint, map2, select, stop_gradient};
    pub use super::recurrences::*;
    pub use super::reductions::*;
    pub use super::sorting::*;
}

pub use crate::real::{Integer, Scalar};
