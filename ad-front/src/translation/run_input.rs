//! What one run of the front end is given: the signature, the definitions that the body can name,
//! and what is known of them before a term is made.
//!
//! Invariant: it does not change during a run. So there is no method here that takes `&mut self`,
//! and what the methods return outlives the borrow of `Lower`.
//!
//! This module must never hold what a run has found.

use std::rc::Rc;

use syn::ItemFn;

use crate::definitions::Definitions;
use crate::refs::Receivers;
use crate::shapes::{Classes, Size};
use crate::sig::Sig;
use crate::travel::OuterDefinitions;
use ad_ir::ir::Elem;

/// The input of one run of the front end.
pub(crate) struct RunInput<'a> {
    sig: &'a Sig,
    definitions: &'a Definitions,
    outside: &'a OuterDefinitions,
    receivers: Rc<Receivers>,
    classes: Classes,
}

impl<'a> RunInput<'a> {
    /// The input of a first run, in which no sizes are known to be equal and no method receivers
    /// are known.
    pub(crate) fn new(sig: &'a Sig, definitions: &'a Definitions, outside: &'a OuterDefinitions) -> Self {
        RunInput { sig, definitions, outside, receivers: Rc::default(), classes: Classes::default() }
    }

    /// The types of the method receivers in the body of this function.
    pub(crate) fn receivers_in(item: &ItemFn) -> Rc<Receivers> {
        Rc::new(Receivers::of(item))
    }

    /// The same input, with these method receivers and these classes of equal sizes.
    pub(crate) fn knowing(self, receivers: Rc<Receivers>, classes: Classes) -> Self {
        RunInput { receivers, classes, ..self }
    }

    /// The signature of the function.
    pub(crate) fn sig(&self) -> &'a Sig {
        self.sig
    }

    /// The default type of float literals: the type of the function's reals if they all have the
    /// same type, and `f64` otherwise.
    pub(crate) fn default_real(&self) -> Elem {
        let params = self.sig.params.iter().map(|p| p.leaf.elem);
        let results = self.sig.result.leaves().into_iter().map(|leaf| leaf.elem);
        let mut reals = params.chain(results).filter(|e| e.is_real());
        match reals.next() {
            Some(first) if reals.all(|e| e == first) => first,
            _ => Elem::F64,
        }
    }

    /// The structs, enums and `impl` blocks that the body can name.
    pub(crate) fn definitions(&self) -> &'a Definitions {
        self.definitions
    }

    /// The definitions of marked functions.
    pub(crate) fn outside(&self) -> &'a OuterDefinitions {
        self.outside
    }

    /// The type of each method receiver in the body.
    pub(crate) fn receivers(&self) -> &Receivers {
        &self.receivers
    }

    /// The representative of a size among those that earlier runs have found to be equal to it.
    pub(crate) fn representative(&self, size: Size) -> Size {
        self.classes.find(size)
    }
}
