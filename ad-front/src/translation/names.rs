//! The values of names at a point of the function: the bindings in scope, the items that nested
//! functions see, and the definition whose body is being lowered.
//!
//! Invariants: an inner binding hides an outer one. Whoever enters a scope leaves it again. An item
//! that is bound in the items is in scope, too.
//!
//! This module must never lower an expression, and never change the value of a variable (`cells`).

use super::restored::restored;
use crate::value::{Lowered, Scope, Value};

restored! {
    /// The names at a point of the function.
    #[derive(Clone)]
    pub(crate) struct Bindings<'a> {
        /// The bindings in scope.
        scope: Scope<'a>,
        /// The items that are declared in the body. Nested functions see only these.
        items: Scope<'a>,
        /// The definition whose body is being lowered. `None` for the annotated function.
        definition: Option<usize>,
    }
}

impl<'a> Bindings<'a> {
    /// The value of a name. `None` if the name is unknown, and an error if its definition had one.
    pub(crate) fn get(&self, name: &str) -> Option<Lowered<&Value<'a>>> {
        self.scope.get(name)
    }

    /// The value of an item, as [`Bindings::get`].
    pub(crate) fn item(&self, name: &str) -> Option<Lowered<&Value<'a>>> {
        self.items.get(name)
    }

    /// Every name in scope, the innermost first.
    pub(crate) fn all(&self) -> Vec<&str> {
        self.scope.names()
    }

    /// Binds a name. Without a value, its definition had an error.
    pub(crate) fn bind(&mut self, name: String, value: Option<Value<'a>>) {
        self.scope.bind(name, value);
    }

    /// Binds the name of an item.
    pub(crate) fn bind_item(&mut self, name: String, value: Option<Value<'a>>) {
        self.items.bind(name.clone(), value.clone());
        self.scope.bind(name, value);
    }

    /// Marks a point in the list of items, for [`Bindings::items_from`].
    pub(crate) fn mark_items(&mut self, marker: String) {
        self.items.bind(marker, Some(Value::Unit));
    }

    /// The items before and at a marked point.
    pub(crate) fn items_from(&self, marker: &str) -> Option<Scope<'a>> {
        self.items.outwards_from(marker)
    }

    /// The bindings in scope, which a closure keeps.
    pub(crate) fn scope(&self) -> Scope<'a> {
        self.scope.clone()
    }

    /// The items in scope, which a function keeps.
    pub(crate) fn items(&self) -> Scope<'a> {
        self.items.clone()
    }

    /// The definition whose body is being lowered. `None` for the annotated function.
    pub(crate) fn definition(&self) -> Option<usize> {
        self.definition
    }

    /// Enters a scope. Returns the bindings before it, for [`Bindings::back_to`].
    pub(crate) fn enter(&mut self, scope: Scope<'a>) -> Scope<'a> {
        std::mem::replace(&mut self.scope, scope)
    }

    /// Enters the expression of an item, which sees only items. Returns the bindings before it.
    pub(crate) fn enter_item(&mut self) -> Scope<'a> {
        self.enter(self.items())
    }

    /// Goes back to the bindings of an enclosing scope.
    pub(crate) fn back_to(&mut self, outer: Scope<'a>) {
        self.scope = outer;
    }

    /// Hides all items. Returns them, for [`Bindings::show_items`].
    pub(crate) fn hide_items(&mut self) -> Scope<'a> {
        std::mem::take(&mut self.items)
    }

    /// Shows hidden items again.
    pub(crate) fn show_items(&mut self, items: Scope<'a>) {
        self.items = items;
    }

    /// Moves to the place of a definition, with the same bindings. Returns the place before it.
    pub(crate) fn enter_definition(&mut self, definition: Option<usize>) -> Option<usize> {
        std::mem::replace(&mut self.definition, definition)
    }

    /// Moves back to the place of a definition.
    pub(crate) fn leave_definition(&mut self, outer: Option<usize>) {
        self.definition = outer;
    }

    /// Enters the body of a function: it sees these bindings and items of this definition. Returns
    /// the names before it, for [`Bindings::leave`].
    pub(crate) fn enter_body(&mut self, scope: Scope<'a>, items: Scope<'a>, definition: Option<usize>) -> Self {
        std::mem::replace(self, Bindings { scope, items, definition })
    }

    /// Leaves a body or a block, before which there were these names.
    pub(crate) fn leave(&mut self, outer: Self) {
        *self = outer;
    }
}
