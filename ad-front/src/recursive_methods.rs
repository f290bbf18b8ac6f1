//! Functions of `impl` blocks that call themselves. Which function a call means depends on the type
//! of its receiver, so lowering finds out that a function calls itself when it comes to it again.
//! The next run compiles it on its own (`recursion`).
//!
//! This module must never decide what a function computes.

use std::rc::Rc;

use syn::{ItemFn, Visibility};

use super::definitions::{AssociatedFunction, SelfParam};
use super::lower::Lower;
use super::value::{Lowered, Value};
use crate::translation::inference::{InferenceKey, Inferred};
use ad_ir::catalogue;
use ad_ir::diag::{Poison, SrcRange};

impl<'a> Lower<'a> {
    /// The call of a function that calls itself. `None` for another one, which is lowered at the
    /// call.
    pub(super) fn call_recursive(
        &mut self,
        f: &'a AssociatedFunction,
        args: &[Value<'a>],
        range: SrcRange,
    ) -> Option<Lowered<Value<'a>>> {
        let address = std::ptr::from_ref(f) as usize;
        let key = InferenceKey::at_address(address, "calls itself");
        if self.inference.is_known(&key) {
            return Some(self.call_method_compiled(f, args, range));
        }
        if !self.state.nesting.is_active(address) {
            return None;
        }
        let changes = f.receiver == Some(SelfParam::Mutable) || args.iter().any(|a| matches!(a, Value::Place(_)));
        if changes || !self.only_first_derivatives() {
            return Some(Err(self.error(range, catalogue::recursion(&f.name.to_string()))));
        }
        self.inference.note(&key, Inferred::Length);
        Some(Err(Poison))
    }

    fn call_method_compiled(
        &mut self,
        f: &'a AssociatedFunction,
        args: &[Value<'a>],
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        self.count_call(range)?;
        let (attrs, vis, block) = (Vec::new(), Visibility::Inherited, Box::new(f.body.clone()));
        let item = ItemFn { attrs, vis, modifiers: Default::default(), sig: f.sig.clone(), block };
        let definition = f.definition.or(self.state.names.definition());
        let beside =
            if definition == self.state.names.definition() { Rc::clone(self.state.items.all()) } else { Rc::default() };
        let compiled = self.compiled_item(item, &beside, false, definition)?;
        self.call_number(compiled, &f.sig, args, range)
    }
}
