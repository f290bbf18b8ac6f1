//! The parts of the state of translation. Each has one job and private fields. Only its own module
//! changes them, so its invariants can be read in one file. `Lower` holds the parts that a trial
//! lowering keeps, and `State` (`rollback`) those that it restores.
//!
//! No part may lower an expression, and none knows [`Lower`](crate::lower::Lower). What needs
//! several parts is a method of `Lower` in the module of its construct.

pub(crate) mod assumptions;
pub(crate) mod cells;
pub(crate) mod enclosing;
pub(crate) mod graph_inputs;
pub(crate) mod growable;
pub(crate) mod inference;
pub(crate) mod items;
pub(crate) mod jumps;
pub(crate) mod names;
pub(crate) mod nesting;
pub(crate) mod requirements;
pub(crate) mod restored;
pub(crate) mod rule_calls;
pub(crate) mod run_input;
pub(crate) mod source;
