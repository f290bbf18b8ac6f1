//! Watched terms: real terms whose numbers are tested when the generated code runs, so that it can
//! say which of the user's expressions first made a NaN or an infinity (`AD_DEBUG_NAN`).
//!
//! This module has the name of a watched term, and whether terms are watched. It must never decide
//! which terms are watched, nor what a message says.

use std::cell::Cell;

/// The variable of the environment that asks for it.
pub const VARIABLE: &str = "AD_DEBUG_NAN";

/// What is known of a watched term before the generated code runs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Watch {
    /// Its number in the routine.
    pub number: u32,
    /// The numbers of the watched terms that it is computed from, in ascending order. Terms that
    /// are not watched may be between them. In a loop, a number can be above that of the term.
    pub reads: Box<[u32]>,
    /// Its place in the source: an index into the front end's table.
    pub place: usize,
    /// Whether it is of a derivative of the expression there.
    pub of_derivative: bool,
    /// Its operation, as printed terms have it.
    pub operation: String,
    /// The number of real operands, which follow the value. The indices of the element follow them.
    pub operands: usize,
    /// What it is computed by.
    pub kind: WatchKind,
}

/// The kinds of watched terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum WatchKind {
    /// An operation, which may make a NaN or an infinity.
    Operation,
    /// An operation that passes on one of its operands.
    Choice,
    /// An operand of an operation on whole arrays, which shows no operands.
    Operand,
    /// A call of a function that is compiled on its own, and whose routine watches its own terms.
    Call,
    /// A result of the routine, in words.
    Result(String),
}

thread_local! {
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

/// Sets whether the code that this thread generates from now on watches its terms. Returns what was
/// set before.
pub fn set(on: bool) -> bool {
    WATCHED.replace(on)
}

/// Whether the code that this thread generates watches its terms.
#[must_use]
pub fn is_on() -> bool {
    WATCHED.get()
}
