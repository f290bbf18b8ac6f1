//! What a call of the function requires, as far as it has been lowered: checks, and pairs of sizes
//! that have to be equal.
//!
//! Invariants: a check is closed, and is there once. The order is that in which the function makes
//! them.
//!
//! This module must never prove a check or unite two sizes (`checks`, `shapes`).

use super::restored::restored;
use crate::shapes::Equation;
use ad_ir::ir::Term;
use ad_ir::program::Check;

restored! {
    /// The requirements found so far.
    pub(crate) struct Requirements {
        checks: Vec<Check>,
        /// Pairs of sizes that have to be equal.
        equations: Vec<Equation>,
        /// Whether the next check is evaluated only with debug assertions.
        debug_only: bool,
    }
}

/// The numbers of checks and equations at a point of the translation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Count {
    checks: usize,
    equations: usize,
}

impl Requirements {
    /// The checks.
    pub(crate) fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// Whether there is a check of this condition.
    pub(crate) fn has(&self, ok: Term) -> bool {
        self.checks.iter().any(|c| c.ok == ok)
    }

    /// Adds a check.
    pub(crate) fn add(&mut self, check: Check) {
        self.checks.push(check);
    }

    /// Requires two sizes to be equal.
    pub(crate) fn equate(&mut self, equation: Equation) {
        self.equations.push(equation);
    }

    /// The equations, which are taken out after the run.
    pub(crate) fn take_equations(&mut self) -> Vec<Equation> {
        std::mem::take(&mut self.equations)
    }

    /// The checks, which are taken out after the run.
    pub(crate) fn take_checks(&mut self) -> Vec<Check> {
        std::mem::take(&mut self.checks)
    }

    /// The numbers of requirements so far.
    pub(crate) fn count(&self) -> Count {
        Count { checks: self.checks.len(), equations: self.equations.len() }
    }

    /// Drops the requirements that were found since there were these numbers of them.
    pub(crate) fn drop_since(&mut self, count: Count) {
        self.checks.truncate(count.checks);
        self.equations.truncate(count.equations);
    }

    /// Says whether the next check is evaluated only with debug assertions.
    pub(crate) fn set_debug_only(&mut self, debug: bool) {
        self.debug_only = debug;
    }

    /// Whether a check that is added now is evaluated only with debug assertions. It is the next
    /// one.
    pub(crate) fn take_debug_only(&mut self) -> bool {
        std::mem::take(&mut self.debug_only)
    }
}
