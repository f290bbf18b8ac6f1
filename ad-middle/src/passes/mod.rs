//! Passes. A pass rewrites the roots of a graph and preserves the meaning of the program.
//!
//! `pipeline` lists the order in which they run. A pass does not read `syn`, does not write tokens,
//! and does not recognise whole functions.

pub(crate) mod checkpoints;
pub(crate) mod element;
pub mod explained;
pub(crate) mod filled;
pub mod flatten;
pub(crate) mod implied;
mod item_axis;
mod lift;
pub(crate) mod loops;
pub mod lowering;
pub(crate) mod manager;
pub(crate) mod rewrite;
pub(crate) mod roots;
pub(crate) mod saved_rows;
pub(crate) mod searches;
pub(crate) mod trace;
mod transposed;
pub(crate) mod trip_counts;
pub(crate) mod typed_replacement;
pub(crate) mod watch;

pub mod associate;
pub mod bulk;
pub mod hoist;
pub mod pairs;
pub mod push;
pub mod share;
pub(crate) mod short_axes;
pub mod simplify;
pub mod unroll;

pub use manager::{Context, Log, Pass};
pub use roots::{CheckRoots, Roots};
