//! The conditions without which a derivative panics, or has no result.
//!
//! This module must never know what a condition means.

use crate::ir::{Loc, Term};

/// When a check is made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// On entry, before anything is computed. Such a check is unconditional and reads sizes only.
    Entry,
    /// Before the results are returned, if the function itself would fail.
    Reached,
    /// After all others. It does not panic: without the condition, the function returns `None` or
    /// an `Err`, and so does the derivative.
    Absent,
}

/// A condition without which the derivative panics, as the function does. Terms are total (a read
/// out of range gives an unspecified value, an overflow gives the nearest value), so no pass has to
/// preserve the position of a panic. Possible failures are represented here instead, guarded by
/// their path conditions.
#[derive(Clone, Debug)]
pub struct Check {
    /// A closed boolean scalar.
    pub ok: Term,
    /// The message. It has no source location, since the panic itself has one.
    pub message: String,
    /// The user's format string, if there is one. It replaces the whole message, and the expression
    /// is not shown after it. The entries of `shown` without a name fill its placeholders.
    pub format: Option<String>,
    /// Sizes that are shown after the message: a description for the user and a `usize` scalar.
    pub shown: Vec<(String, Term)>,
    /// The source location of the expression that fails.
    pub loc: Loc,
    /// When the check is made.
    pub phase: Phase,
    /// Whether it is made only with debug assertions, as `debug_assert!`.
    pub debug: bool,
    /// Whether the message needs values of a loop, which the check does not have. If the check
    /// fails, the function itself is called, which panics with them.
    pub incomplete: bool,
}
