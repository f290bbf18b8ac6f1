//! Mutable variables as values: a name bound with `let mut` refers to a cell, and a store maps each
//! cell to its current value.
//!
//! The store is persistent: a branch, an exit or a `move` closure keeps a copy at no cost. Two
//! stores are merged by a conditional for each cell that differs (a phi). So the translation is in
//! static single assignment form by construction, and terms are immutable.
//!
//! Invariant: a cell is never read on a path that has not assigned it.

use std::rc::Rc;

use super::arith::Selection;
use super::lower::Lower;
use super::value::{Captured, Closure, Lowered, Value};
use crate::translation::cells::{Cell, CellValue, Store};
use ad_ir::catalogue;
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Node, Term};

impl<'a> Lower<'a> {
    /// Binds a name to a new cell.
    pub(super) fn bind_cell(&mut self, name: String, held: CellValue<'a>, mutable: bool) {
        if let CellValue::Value(value) = &held {
            self.hint(value, &name);
        }
        let cell = self.state.cells.add(&name, mutable, held);
        self.state.names.bind(name, Some(Value::Cell(cell)));
    }

    /// Records the name of a variable for printing the term. The first name is kept.
    pub(super) fn hint(&mut self, value: &Value<'a>, name: &str) {
        if let Value::Term(t) | Value::Nested(t, _) = value
            && !matches!(self.g.node(*t), Node::Lit(_) | Node::Var(_))
        {
            self.state.source.hint(*t, name);
        }
    }

    /// The value that a name is bound to. `None` if the name is unknown.
    pub(super) fn lookup(&mut self, name: &str, range: SrcRange) -> Option<Lowered<Value<'a>>> {
        let Some(bound) = self.state.names.get(name) else { return self.defined(name) };
        match bound {
            Ok(Value::Cell(cell)) => {
                let cell = *cell;
                Some(self.read(cell, range))
            }
            Ok(Value::Place(place)) => {
                let place = Rc::clone(place);
                Some(self.read_place(&place))
            }
            other => Some(other.cloned()),
        }
    }

    /// The value of a cell.
    pub(super) fn read(&mut self, cell: Cell, range: SrcRange) -> Lowered<Value<'a>> {
        match self.state.cells.held(cell) {
            Some(CellValue::Value(value)) => Ok(value.clone()),
            Some(CellValue::Broken) => Err(Poison),
            // Unreachable code is lowered for its errors only.
            _ if !self.state.jumps.reachable() => Ok(Value::Never),
            _ => {
                let name = self.state.cells.name(cell).to_string();
                // The error is reported once.
                self.state.cells.put(cell, CellValue::Broken);
                Err(self.error(range, catalogue::used_before_assigned(&name)))
            }
        }
    }

    /// Assigns a whole variable.
    pub(super) fn write(&mut self, cell: Cell, value: Value<'a>, range: SrcRange) -> Lowered<()> {
        self.may_write(cell, range)?;
        let name = self.state.cells.name(cell).to_string();
        self.hint(&value, &name);
        self.state.cells.put(cell, CellValue::Value(value));
        Ok(())
    }

    /// Lowers the body of a function in its own scope, and with its own `return`s.
    pub(super) fn inside(
        &mut self,
        closure: &Closure<'a>,
        range: SrcRange,
        f: impl FnOnce(&mut Self) -> Lowered<Value<'a>>,
    ) -> Lowered<Value<'a>> {
        let around = self.at_items_of(closure.definition);
        let outer = self.state.names.enter_body(closure.scope.clone(), closure.items.clone(), closure.definition);
        let result = match &closure.captured {
            Captured::References(_) => self.returning(range, f),
            Captured::Copies(copies) => {
                let calls = self.enter_uncounted(None);
                let cells = self.state.cells.enter_function(copies.clone());
                self.count_inside();
                let result = self.returning(range, f);
                let made_calls = self.made_calls();
                self.state.cells.leave_function(cells);
                self.leave_uncounted(&calls, made_calls);
                result
            }
        };
        self.state.names.leave(outer);
        self.state.items.leave(around);
        result
    }

    /// Runs `f`, which must not change a variable that exists now, since no loop would carry the
    /// change. If it is run for each value of an index, this is the index.
    pub(super) fn unchanging<R>(&mut self, index: Option<Term>, f: impl FnOnce(&mut Self) -> R) -> R {
        let calls = self.enter_uncounted(index);
        let outer = self.state.cells.enter_body();
        self.count_inside();
        let result = f(self);
        let made_calls = self.made_calls();
        self.state.cells.leave_body(outer);
        self.leave_uncounted(&calls, made_calls);
        result
    }

    /// Checks that a variable may be assigned here.
    pub(super) fn may_write(&mut self, cell: Cell, range: SrcRange) -> Lowered<()> {
        if self.state.cells.held(cell).is_none() {
            return Err(Poison);
        }
        let (name, fixed) = (self.state.cells.name(cell).to_string(), self.state.cells.is_fixed(cell));
        if !self.state.cells.is_own(cell) {
            return Err(self.error(range, catalogue::captured_assignment(&name)));
        }
        if fixed && self.state.jumps.reachable() {
            return Err(self.error(range, catalogue::assignment_to_fixed(&name)));
        }
        Ok(())
    }

    /// Merges the stores of two branches.
    pub(super) fn merge(&mut self, cond: Term, then: &Store<'a>, other: &Store<'a>, range: SrcRange) -> Store<'a> {
        if then.is(other) {
            return then.clone();
        }
        let mut merged = then.clone();
        for k in 0..then.len().min(other.len()) {
            let (Some(a), Some(b)) = (then.held(Cell(k)), other.held(Cell(k))) else { continue };
            let held = match (a, b) {
                (CellValue::Value(a), CellValue::Value(b)) if same(a, b) => continue,
                // A value of an unreachable branch is never read.
                (CellValue::Value(Value::Never), CellValue::Value(value))
                | (CellValue::Value(value), CellValue::Value(Value::Never)) => CellValue::Value(value.clone()),
                (CellValue::Value(a), CellValue::Value(b)) => {
                    let name = then.name(Cell(k)).to_string();
                    match self.join(Selection { cond, strict: false }, a, b, range) {
                        Ok(value) => {
                            self.hint(&value, &name);
                            CellValue::Value(value)
                        }
                        Err(Poison) => CellValue::Broken,
                    }
                }
                (CellValue::Broken, _) | (_, CellValue::Broken) => CellValue::Broken,
                (CellValue::Unset, _) | (_, CellValue::Unset) => CellValue::Unset,
            };
            merged.put(Cell(k), held);
        }
        merged.truncate(other.len());
        merged
    }
}

fn all_same<'a>(a: &Rc<[Value<'a>]>, b: &Rc<[Value<'a>]>) -> bool {
    Rc::ptr_eq(a, b) || (a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b)))
}

/// Whether two values are known to be the same, so that no conditional is needed.
pub(super) fn same<'a>(a: &Value<'a>, b: &Value<'a>) -> bool {
    match (a, b) {
        (Value::Term(a), Value::Term(b)) | (Value::Nested(a, _), Value::Nested(b, _)) => a == b,
        (Value::Number(a), Value::Number(b)) => Rc::ptr_eq(a, b),
        (Value::List(a), Value::List(b))
        | (Value::Matrix(a), Value::Matrix(b))
        | (Value::Tuple(a), Value::Tuple(b)) => all_same(a, b),
        (Value::Struct(of, a), Value::Struct(other, b)) => std::ptr::eq(*of, *other) && all_same(a, b),
        (Value::Enum(a), Value::Enum(b)) => {
            let payloads = || {
                a.payloads.iter().zip(b.payloads.iter()).all(|pair| match pair {
                    (Some(a), Some(b)) => all_same(a, b),
                    (a, b) => a.is_none() && b.is_none(),
                })
            };
            std::ptr::eq(a.of, b.of) && a.tag == b.tag && payloads()
        }
        (Value::Node(a), Value::Node(b)) => a.at == b.at && a.is_like(b),
        (Value::Closure(a), Value::Closure(b)) => Rc::ptr_eq(a, b),
        (Value::Chosen(a), Value::Chosen(b)) => Rc::ptr_eq(a, b),
        (Value::Range(a), Value::Range(b)) => Rc::ptr_eq(a, b),
        (Value::Seq(a), Value::Seq(b)) => Rc::ptr_eq(&a.item, &b.item),
        (Value::Cursor(a), Value::Cursor(b)) => a.at == b.at && Rc::ptr_eq(&a.seq.item, &b.seq.item),
        (Value::Filled(a, n), Value::Filled(b, m)) => Rc::ptr_eq(a, b) && n == m,
        (Value::GrowableVec(a), Value::GrowableVec(b)) => a.is_same(b),
        (Value::DynamicPart(a), Value::DynamicPart(b)) => a == b,
        (Value::Option(a, c), Value::Option(b, d)) => c == d && same(a, b),
        (Value::Axis(a), Value::Axis(b)) => a == b,
        (Value::FromFn(a), Value::FromFn(b)) => Rc::ptr_eq(a, b),
        (Value::Function(a, of), Value::Function(b, to)) => (a.name, a.on, of) == (b.name, b.on, to),
        (Value::Zip(a), Value::Zip(b)) => Rc::ptr_eq(a, b),
        (Value::Place(a), Value::Place(b)) => Rc::ptr_eq(a, b),
        (Value::Cell(a), Value::Cell(b)) => a == b,
        (Value::Ordering(a), Value::Ordering(b)) => a == b,
        (Value::Unit, Value::Unit) | (Value::Never, Value::Never) | (Value::None, Value::None) => true,
        _ => false,
    }
}
