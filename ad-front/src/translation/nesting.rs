//! How deep the translation is nested: in trial lowerings, in expressions and calls, in functions
//! of `impl` blocks, and in derivatives inside of the function.
//!
//! Invariant: whoever enters leaves again, so each number is that of the enclosing constructs.
//!
//! This module must never report an error: it says only that a limit is reached.

use super::restored::restored;

/// The maximum depth of nested expressions and closure calls. Macros run on the compiler's stack.
const MAX_DEPTH: u32 = 150;

restored! {
    /// The nesting at a point of the translation.
    pub(crate) struct Nesting {
        /// The nesting depth of trial lowerings.
        trials: u32,
        /// The nesting depth of expressions and closure calls.
        depth: u32,
        /// The functions of `impl` blocks whose bodies are being lowered, by their addresses.
        active: Vec<usize>,
        /// The calls whose bodies are being lowered at the call, by the numbers of their locations.
        calls: Vec<usize>,
        /// How often derivatives inside of the function differentiate what is being lowered.
        inner_order: usize,
    }
}

/// The nesting is as deep as it may be.
pub(crate) struct TooDeep;

/// The order of differentiation outside of a derivative.
pub(crate) struct OuterOrder(usize);

impl Nesting {
    /// The nesting depth of trial lowerings.
    pub(crate) fn trials(&self) -> u32 {
        self.trials
    }

    /// Enters a trial lowering. The state is restored after it, so it is not left.
    pub(crate) fn enter_trial(&mut self) {
        self.trials += 1;
    }

    /// Enters an expression or a call, unless the nesting is too deep.
    pub(crate) fn enter(&mut self) -> Result<(), TooDeep> {
        if self.depth >= MAX_DEPTH {
            return Err(TooDeep);
        }
        self.depth += 1;
        Ok(())
    }

    /// Leaves an expression or a call.
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Enters the body of a function of an `impl` block.
    pub(crate) fn enter_function(&mut self, address: usize) {
        self.active.push(address);
    }

    /// Leaves the body of a function of an `impl` block.
    pub(crate) fn leave_function(&mut self) {
        self.active.pop();
    }

    /// Whether the body of a function of an `impl` block is being lowered.
    pub(crate) fn is_active(&self, address: usize) -> bool {
        self.active.contains(&address)
    }

    /// Enters the body of a function that is lowered at this call.
    pub(crate) fn enter_call(&mut self, location: usize) {
        self.calls.push(location);
    }

    /// Leaves the body.
    pub(crate) fn leave_call(&mut self) {
        self.calls.pop();
    }

    /// The calls whose bodies are being lowered.
    pub(crate) fn calls(&self) -> &[usize] {
        &self.calls
    }

    /// How often derivatives inside of the function differentiate what is being lowered.
    pub(crate) fn inner_order(&self) -> usize {
        self.inner_order
    }

    /// Enters something that is differentiated this often.
    pub(crate) fn enter_derivative(&mut self, order: usize) -> OuterOrder {
        let outer = self.inner_order;
        self.inner_order += order;
        OuterOrder(outer)
    }

    /// Leaves it.
    pub(crate) fn leave_derivative(&mut self, outer: OuterOrder) {
        self.inner_order = outer.0;
    }
}
