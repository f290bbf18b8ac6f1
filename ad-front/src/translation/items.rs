//! The items in scope at a point of the function, and those of them that are compiled on their own
//! (`recursion`).
//!
//! Invariants: an item hides an outer one of the same name. Whoever enters a block or a body leaves
//! it again.
//!
//! This module must never lower an item, or bind its name to a value (`stmt`).

use ad_ir::sorted::SortedSet;
use std::rc::Rc;

use syn::Item;

/// The items in scope.
#[derive(Clone, Default)]
pub(crate) struct ItemsInScope<'a> {
    around: Around<'a>,
    /// The names of all nested functions so far, whether they are in scope or not.
    nested: SortedSet<String>,
}

/// The items of the enclosing blocks, the innermost last.
#[derive(Clone, Default)]
pub(crate) struct Around<'a> {
    items: Rc<[&'a Item]>,
    /// The functions among them that are compiled on their own.
    compiled: Rc<SortedSet<String>>,
}

impl std::fmt::Debug for ItemsInScope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.around.items.iter().filter_map(|item| name_of(item));
        f.debug_list().entries(names).entry(&self.around.compiled).entry(&self.nested).finish()
    }
}

impl<'a> ItemsInScope<'a> {
    /// The items in scope, the innermost last.
    pub(crate) fn all(&self) -> &Rc<[&'a Item]> {
        &self.around.items
    }

    /// Whether the function of this name is compiled on its own.
    pub(crate) fn is_compiled(&self, name: &str) -> bool {
        self.around.compiled.contains(name)
    }

    /// The items before a block or a body, for [`ItemsInScope::leave`].
    pub(crate) fn around(&self) -> Around<'a> {
        self.around.clone()
    }

    /// Adds the items of a block. These functions among them are compiled on their own.
    pub(crate) fn add(&mut self, own: &[&'a Item], compiled: impl IntoIterator<Item = String>) {
        let names: Vec<String> = own.iter().filter_map(|item| name_of(item)).collect();
        let mut all = (*self.around.compiled).clone();
        all.retain(|name| !names.contains(name));
        all.extend(compiled);
        let outer = self.around.items.iter().copied();
        let outer = outer.filter(|i| name_of(i).is_none_or(|name| !names.contains(&name)));
        self.around = Around { items: outer.chain(own.iter().copied()).collect(), compiled: all.into() };
    }

    /// Enters a body in which no item of the enclosing blocks is in scope.
    pub(crate) fn hide_all(&mut self) {
        self.around = Around::default();
    }

    /// Says that the annotated function itself is compiled on its own.
    pub(crate) fn add_itself(&mut self, name: String) {
        self.around.compiled = Rc::new([name].into());
    }

    /// Leaves a block or a body.
    pub(crate) fn leave(&mut self, around: Around<'a>) {
        self.around = around;
    }

    /// Notes the names of nested functions.
    pub(crate) fn note_nested(&mut self, names: impl IntoIterator<Item = String>) {
        self.nested.extend(names);
    }

    /// Whether a nested function had this name, wherever it is in scope.
    pub(crate) fn was_nested(&self, name: &str) -> bool {
        self.nested.contains(name)
    }
}

/// The name of a function, a constant or a static variable.
pub(crate) fn name_of(item: &Item) -> Option<String> {
    match item {
        Item::Fn(f) => Some(f.sig.ident.to_string()),
        Item::Const(c) => Some(c.ident.to_string()),
        Item::Static(s) => Some(s.ident.to_string()),
        _ => None,
    }
}
