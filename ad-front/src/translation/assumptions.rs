//! What the front end assumes of names of which only rustc knows the meaning. The generated code
//! asserts it.
//!
//! Invariant: an assumption is there once.
//!
//! This module must never decide whether something has to be assumed (`assume`, `pattern`).

use ad_ir::sorted::SortedSet;

use proc_macro2::{Ident, TokenStream};

use super::restored::{AppendOnly, restored};
use ad_ir::ir::RealTy;
use ad_ir::program::{Assumed, AssumedConst};

restored! {
    /// The assumptions so far.
    pub(crate) struct Assumptions {
        /// Bare names (such as `PI`) that are assumed to be constants of std, with types and
        /// values.
        consts: AppendOnly<AssumedConst>,
        /// Assumptions about what names refer to.
        assumed: AppendOnly<Assumed>,
        /// Names in patterns of `match` that are assumed to be bindings.
        bound: AppendOnly<Ident>,
        /// Outer constants that patterns were compared with.
        compared: SortedSet<String>,
    }
}

/// The assumptions about a whole function.
pub(crate) struct AllAssumptions {
    pub consts: Vec<AssumedConst>,
    pub assumed: Vec<Assumed>,
    pub bound: Vec<Ident>,
}

impl Assumptions {
    /// Assumes that a path is a constant of this value.
    pub(crate) fn assume_const(&mut self, path: &TokenStream, ty: RealTy, value: f64) {
        if !self.consts.iter().any(|c| c.path.to_string() == path.to_string() && c.ty == ty) {
            self.consts.push(AssumedConst { path: path.clone(), ty, value });
        }
    }

    /// Assumes something about a name.
    pub(crate) fn assume(&mut self, new: Assumed) {
        if !self.assumed.iter().any(|old| old.same(&new)) {
            self.assumed.push(new);
        }
    }

    /// Assumes that a name in a pattern is a binding.
    pub(crate) fn assume_bound(&mut self, name: &Ident) {
        if !self.bound.contains(name) {
            self.bound.push(name.clone());
        }
    }

    /// Notes that a pattern was compared with an outer constant.
    pub(crate) fn note_compared(&mut self, name: String) {
        self.compared.insert(name);
    }

    /// Whether a pattern was compared with an outer constant of this name.
    pub(crate) fn is_compared(&self, name: &str) -> bool {
        self.compared.contains(name)
    }

    /// All assumptions, after the run.
    pub(crate) fn into_all(self) -> AllAssumptions {
        let Assumptions { consts, assumed, bound, compared: _ } = self;
        AllAssumptions { consts: consts.into_vec(), assumed: assumed.into_vec(), bound: bound.into_vec() }
    }
}
