//! Passes: functions from a graph with roots to the same graph with other roots, each of which
//! keeps what the program means.
//!
//! `pipeline` says in which order they run. A pass must never read `syn` or write tokens, and never
//! know what a whole function computes.

pub(crate) mod element;
pub(crate) mod loops;
pub(crate) mod lowering;
pub(crate) mod manager;
pub(crate) mod rewrite;
pub(crate) mod roots;
pub(crate) mod trace;
pub(crate) mod trip_counts;

pub mod associate;
pub mod bulk;
pub mod hoist;
pub mod pairs;
pub mod push;
pub mod share;
pub mod simplify;
pub mod unroll;

pub use manager::{Context, Log, Pass};
pub use roots::{CheckRoots, Roots};
