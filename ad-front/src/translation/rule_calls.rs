//! The count of the calls of functions with rules of their own. Such a function is opaque, so each
//! call has keys: the number of calls before it in the enclosing body, and, for each enclosing body
//! that is lowered once for each index, the index and the number of calls before that body. The
//! number of calls is a hidden variable of the function, which loops and branches treat like any
//! other one.
//!
//! Invariants: there is a counter exactly if the function may make such a call. The keys are those
//! of the enclosing bodies, the outermost first.
//!
//! This module must never make a term or change the variable that counts (`rules`).

use super::cells::Cell;
use ad_ir::ir::Term;

/// The calls of functions with rules at a point of the function.
#[derive(Clone, Default, Debug)]
pub(crate) struct RuleCalls {
    counter: Option<Cell>,
    keys: Vec<Term>,
}

/// The calls around a body that is lowered once for each index.
pub(crate) struct OuterCalls {
    counter: Option<Cell>,
    keys: usize,
}

impl RuleCalls {
    /// The variable that counts the calls, if there may be any.
    pub(crate) fn counter(&self) -> Option<Cell> {
        self.counter
    }

    /// The keys of a call that come from the enclosing bodies.
    pub(crate) fn keys(&self) -> &[Term] {
        &self.keys
    }

    /// Counts the calls in this variable from here on.
    pub(crate) fn count_in(&mut self, counter: Cell) {
        self.counter = Some(counter);
    }

    /// Enters a body that is lowered once for each index. `counted` is the number of calls so far.
    pub(crate) fn enter(&mut self, counted: Option<Term>, index: Option<Term>) -> OuterCalls {
        let outer = OuterCalls { counter: self.counter, keys: self.keys.len() };
        self.keys.extend(counted);
        self.keys.extend(index.filter(|_| outer.counter.is_some()));
        outer
    }

    /// Leaves such a body.
    pub(crate) fn leave(&mut self, outer: &OuterCalls) {
        self.keys.truncate(outer.keys);
        self.counter = outer.counter;
    }
}
