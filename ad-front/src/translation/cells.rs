//! Mutable variables: a name bound with `let mut` refers to a cell, and a store maps each cell to
//! its current value.
//!
//! The store is persistent: a branch, an exit or a `move` closure keeps a copy at no cost.
//!
//! Invariants: the cells of inner blocks come last, so a block ends by truncation. A cell keeps its
//! name and its declared type. Cells below the first own one belong to a function or a body that
//! encloses the current one, and are not changed.
//!
//! This module must never make a term: two stores are merged by `variables`.

use std::rc::Rc;

use super::restored::restored;
use crate::value::Value;
use crate::variables::same;

/// A mutable variable, or one that is assigned after its `let`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Cell(pub usize);

/// The content of a cell.
#[derive(Clone, Debug)]
pub(crate) enum CellValue<'a> {
    /// The cell is not assigned yet, or not on every path.
    Unset,
    Value(Value<'a>),
    /// The value of the cell had an error.
    Broken,
}

/// A cell with its fixed properties.
#[derive(Clone)]
struct Slot<'a> {
    name: Rc<str>,
    /// Whether it may be assigned more than once.
    mutable: bool,
    /// The type of `let x: T;`.
    declared: Option<&'a syn::Type>,
    held: CellValue<'a>,
}

impl std::fmt::Debug for Slot<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {:?}", self.name, self.held)
    }
}

/// The content of every cell. The cells of inner blocks come last.
#[derive(Clone, Default, Debug)]
pub(crate) struct Store<'a>(Rc<Vec<Slot<'a>>>);

impl<'a> Store<'a> {
    /// The number of cells.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Removes the cells of blocks that have ended.
    pub(crate) fn truncate(&mut self, len: usize) {
        if self.0.len() > len {
            Rc::make_mut(&mut self.0).truncate(len);
        }
    }

    /// The content of a cell.
    pub(crate) fn held(&self, cell: Cell) -> Option<&CellValue<'a>> {
        self.0.get(cell.0).map(|slot| &slot.held)
    }

    /// The variable's name.
    pub(crate) fn name(&self, cell: Cell) -> &str {
        self.0.get(cell.0).map_or("", |slot| &slot.name)
    }

    /// Replaces the content of a cell.
    pub(crate) fn put(&mut self, cell: Cell, held: CellValue<'a>) {
        if let Some(slot) = Rc::make_mut(&mut self.0).get_mut(cell.0) {
            slot.held = held;
        }
    }

    /// Whether both are the same store.
    pub(crate) fn is(&self, other: &Store<'a>) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// The first cell below `cells` whose content has changed, other than the cells in `may`.
    pub(crate) fn changed(&self, before: &Store<'a>, cells: usize, may: &[Cell]) -> Option<Cell> {
        (0..cells.min(self.len()).min(before.len())).map(Cell).find(|cell| {
            let same = match (&self.0[cell.0].held, &before.0[cell.0].held) {
                (CellValue::Value(a), CellValue::Value(b)) => same(a, b),
                (CellValue::Unset, CellValue::Unset) | (CellValue::Broken, _) | (_, CellValue::Broken) => true,
                _ => false,
            };
            !same && !may.contains(cell)
        })
    }
}

restored! {
    /// The variables at a point of the function.
    pub(crate) struct Cells<'a> {
        store: Store<'a>,
        /// Cells below this one belong to the function that encloses the current closure.
        first_own: usize,
    }
}

/// The variables of an enclosing function.
pub(crate) struct OuterCells<'a> {
    store: Store<'a>,
    first_own: usize,
}

/// The first own cell of an enclosing body.
pub(crate) struct OuterOwn(usize);

impl<'a> Cells<'a> {
    /// The current store.
    pub(crate) fn store(&self) -> &Store<'a> {
        &self.store
    }

    /// Goes to another store of the same function, as after a jump.
    pub(crate) fn go_to(&mut self, store: Store<'a>) {
        self.store = store;
    }

    /// The number of cells.
    pub(crate) fn len(&self) -> usize {
        self.store.len()
    }

    /// The content of a cell.
    pub(crate) fn held(&self, cell: Cell) -> Option<&CellValue<'a>> {
        self.store.held(cell)
    }

    /// The variable's name.
    pub(crate) fn name(&self, cell: Cell) -> &str {
        self.store.name(cell)
    }

    /// The declared type of a cell.
    pub(crate) fn declared(&self, cell: Cell) -> Option<&'a syn::Type> {
        self.store.0.get(cell.0).and_then(|slot| slot.declared)
    }

    /// Whether a cell has a value or an error already, and may be assigned only once.
    pub(crate) fn is_fixed(&self, cell: Cell) -> bool {
        self.store.0.get(cell.0).is_some_and(|slot| !slot.mutable && !matches!(slot.held, CellValue::Unset))
    }

    /// Whether a cell belongs to the current body.
    pub(crate) fn is_own(&self, cell: Cell) -> bool {
        cell.0 >= self.first_own
    }

    /// Adds a cell.
    pub(crate) fn add(&mut self, name: &str, mutable: bool, held: CellValue<'a>) -> Cell {
        let slot = Slot { name: name.into(), mutable, declared: None, held };
        Rc::make_mut(&mut self.store.0).push(slot);
        Cell(self.store.len() - 1)
    }

    /// A cell without a name, such as one for the value of a jump out of a loop.
    pub(crate) fn add_hidden(&mut self, held: CellValue<'a>) -> Cell {
        self.add("", true, held)
    }

    /// Sets the declared type of the newest cell.
    pub(crate) fn declare(&mut self, ty: Option<&'a syn::Type>) {
        if let Some(slot) = Rc::make_mut(&mut self.store.0).last_mut() {
            slot.declared = ty;
        }
    }

    /// Replaces the content of a cell.
    pub(crate) fn put(&mut self, cell: Cell, held: CellValue<'a>) {
        self.store.put(cell, held);
    }

    /// Removes the cells of blocks that have ended.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.store.truncate(len);
    }

    /// Enters a body that must not change the variables that exist now.
    pub(crate) fn enter_body(&mut self) -> OuterOwn {
        OuterOwn(std::mem::replace(&mut self.first_own, self.store.len()))
    }

    /// Leaves such a body.
    pub(crate) fn leave_body(&mut self, outer: OuterOwn) {
        self.first_own = outer.0;
    }

    /// Enters a function with copies of variables, which it must not change.
    pub(crate) fn enter_function(&mut self, copies: Store<'a>) -> OuterCells<'a> {
        let first_own = std::mem::replace(&mut self.first_own, copies.len());
        OuterCells { store: std::mem::replace(&mut self.store, copies), first_own }
    }

    /// Leaves such a function.
    pub(crate) fn leave_function(&mut self, outer: OuterCells<'a>) {
        let OuterCells { store, first_own } = outer;
        *self = Cells { store, first_own };
    }
}
