//! Values of types that contain themselves. Such a value is the number of a row of tables
//! (`definitions::layout`), which are inputs. Its fields are read from the row where they are
//! needed, and a field of the type is the number of another row.
//!
//! Invariant: a row is read only where the value exists, so its number is in range.

use std::rc::Rc;

use syn::GenericArgument;

use super::carry::CarriedForm;
use super::definitions::Definition;
use super::definitions::layout::{Layout, Slot};
use super::lower::Lower;
use super::stack::GrowableVec;
use super::value::{EnumValue, Lowered, Value};
use ad_ir::diag::Poison;
use ad_ir::ir::{Node, Term};
use ad_ir::prim::IntOp;

/// A value of a type that contains itself.
#[derive(Clone)]
pub(super) struct NodeValue<'a> {
    pub of: &'a Definition,
    pub tables: Rc<TableTerms<'a>>,
    /// The number of its row.
    pub at: Term,
}

/// The tables that the rows are in.
pub(super) struct TableTerms<'a> {
    layout: Layout<'a>,
    /// The columns of each table.
    columns: Vec<Vec<Term>>,
}

impl<'a> NodeValue<'a> {
    /// Whether both are rows of the same table.
    pub(super) fn is_like(&self, other: &NodeValue<'a>) -> bool {
        std::ptr::eq(self.of, other.of) && self.tables.columns == other.tables.columns
    }

    /// Another row of the same table.
    pub(super) fn at(&self, at: Term) -> Value<'a> {
        Value::Node(Rc::new(NodeValue { at, ..self.clone() }))
    }

    /// Its row and all columns, in the order of the leaves of a parameter of the type.
    pub(super) fn leaves(&self) -> impl Iterator<Item = Term> + '_ {
        std::iter::once(self.at).chain(self.tables.columns.iter().flatten().copied())
    }
}

impl<'a> Lower<'a> {
    /// A value from the leaves of a parameter: the number of its row and the columns.
    pub(super) fn node_of(
        &mut self,
        of: &'a Definition,
        given: &[GenericArgument],
        leaves: &mut std::slice::Iter<'_, Term>,
    ) -> Lowered<NodeValue<'a>> {
        let layout = self.input.definitions().layout(of, given, &self.input.sig().generics()).ok_or(Poison)?;
        let at = leaves.next().copied().ok_or(Poison)?;
        let mut columns = Vec::new();
        for table in &layout.tables {
            let own: Vec<Term> = leaves.by_ref().take(table.columns.len()).copied().collect();
            if own.len() != table.columns.len() {
                return Err(Poison);
            }
            columns.push(own);
        }
        Ok(NodeValue { of, tables: Rc::new(TableTerms { layout, columns }), at })
    }

    /// The value as a struct or an enum, whose fields are read from its row. Any other value as it
    /// is.
    pub(super) fn opened(&mut self, value: &Value<'a>) -> Lowered<Value<'a>> {
        let Value::Node(node) = value else { return Ok(value.clone()) };
        let (tables, of) = (Rc::clone(&node.tables), node.of);
        let is_own = |table: &super::definitions::layout::Table<'a>| table.of.is_some_and(|o| std::ptr::eq(o, of));
        let number = tables.layout.tables.iter().position(is_own).ok_or(Poison)?;
        let table = &tables.layout.tables[number];
        let mut variants = Vec::new();
        for fields in &table.variants {
            let fields = fields.iter().map(|slot| self.slot_value(&tables, (number, node.at), slot));
            variants.push(fields.collect::<Lowered<Rc<[Value<'a>]>>>()?);
        }
        if !of.is_enum {
            return variants.pop().map(|fields| Value::Struct(of, fields)).ok_or(Poison);
        }
        let tag = *tables.columns[number].first().ok_or(Poison)?;
        let tag = self.g.index(tag, &[node.at]);
        Ok(Value::Enum(Rc::new(EnumValue { of, tag, payloads: variants.into_iter().map(Some).collect() })))
    }

    /// A part of a row.
    fn slot_value(
        &mut self,
        tables: &Rc<TableTerms<'a>>,
        (table, at): (usize, Term),
        slot: &Slot<'a>,
    ) -> Lowered<Value<'a>> {
        let read = |me: &mut Self, k: usize| me.g.index(tables.columns[table][k], &[at]);
        let all = |me: &mut Self, slots: &[Slot<'a>]| {
            slots.iter().map(|slot| me.slot_value(tables, (table, at), slot)).collect::<Lowered<Rc<[Value<'a>]>>>()
        };
        Ok(match slot {
            Slot::Leaf(k) => {
                let t = read(self, *k);
                Value::nested(&self.g, t, u8::MAX)
            }
            Slot::Link { of, column, .. } => {
                let at = read(self, *column);
                Value::Node(Rc::new(NodeValue { of, tables: Rc::clone(tables), at }))
            }
            Slot::Tuple(parts) => Value::Tuple(all(self, parts)?),
            Slot::Struct(of, parts) => Value::Struct(of, all(self, parts)?),
            Slot::Enum(of, tag, variants) => {
                let tag = read(self, *tag);
                let payloads = variants.iter().map(|fields| all(self, fields).map(Some)).collect::<Lowered<_>>()?;
                Value::Enum(Rc::new(EnumValue { of, tag, payloads }))
            }
            Slot::Option(inner, flag) => {
                let inner = self.slot_value(tables, (table, at), inner)?;
                Value::Option(inner.into(), read(self, *flag))
            }
            Slot::Fixed(parts) => Value::List(all(self, parts)?),
            Slot::List { table, start, len } => {
                let (start, len) = (read(self, *start), read(self, *len));
                self.rows_between(tables, *table, (start, len))?
            }
            Slot::Array { table, start, sizes } => {
                let (start, column) = (read(self, *start), tables.columns[*table].first().copied().ok_or(Poison)?);
                let sizes: Vec<Term> = sizes.iter().map(|&k| read(self, k)).collect();
                let vars: Vec<_> = sizes.iter().map(|_| self.g.fresh()).collect();
                let mut at = self.g.lit_usize(0);
                for (&size, &var) in sizes.iter().zip(&vars) {
                    let i = self.g.mk(Node::Var(var));
                    at = self.g.int(IntOp::Mul, at, size);
                    at = self.g.int(IntOp::Add, at, i);
                }
                let at = self.g.int(IntOp::Add, start, at);
                Value::Term(self.g.gather(column, sizes.into(), &vars, &[at]))
            }
        })
    }

    /// The rows of a list: this many from `start` on.
    fn rows_between(
        &mut self,
        tables: &Rc<TableTerms<'a>>,
        table: usize,
        (start, len): (Term, Term),
    ) -> Lowered<Value<'a>> {
        let slot = tables.layout.tables[table].variants.first().and_then(|v| v.first()).ok_or(Poison)?;
        let mut used = Vec::new();
        let form = Self::slot_form((tables, table), slot, &mut used)?;
        let closed = self.closed(len);
        let mut all = Vec::new();
        for k in used {
            let column = tables.columns[table][k];
            let (size, var) = (closed.unwrap_or(self.g.shape(column)[0]), self.g.fresh());
            let i = self.g.mk(Node::Var(var));
            let at = self.g.int(IntOp::Add, start, i);
            let mut sizes = self.g.shape(column).to_vec();
            sizes[0] = size;
            let further: Vec<_> = sizes[1..].iter().map(|_| self.g.fresh()).collect();
            let mut index = vec![at];
            index.extend(further.iter().map(|&v| self.g.mk(Node::Var(v))));
            let vars: Vec<_> = std::iter::once(var).chain(further).collect();
            all.push(self.g.gather(column, sizes.into(), &vars, &index));
        }
        let (len, more) = (closed.unwrap_or(len), self.no_growth());
        let rows = GrowableVec { all, form, ..GrowableVec::without_arrays(len, more) };
        match (rows.as_single_array(), closed) {
            (Some((all, levels)), Some(_)) => Ok(Value::nested(&self.g, all, levels.saturating_add(1))),
            (Some((all, 0)), None) => Ok(self.dynamic_part(all, &[Some(len)])),
            _ => Ok(Value::GrowableVec(Rc::new(rows))),
        }
    }

    /// The form of a part of a row of a list, and its columns in the order of its leaves.
    fn slot_form(
        (tables, table): (&Rc<TableTerms<'a>>, usize),
        slot: &Slot<'a>,
        used: &mut Vec<usize>,
    ) -> Lowered<CarriedForm<'a>> {
        let all = |slots: &[Slot<'a>], used: &mut Vec<usize>| {
            slots.iter().map(|slot| Self::slot_form((tables, table), slot, used)).collect::<Lowered<Vec<_>>>()
        };
        Ok(match slot {
            Slot::Leaf(k) => {
                used.push(*k);
                // The elements of an array of one axis are scalars.
                let axes = tables.layout.tables[table].columns[*k].lens.len();
                CarriedForm::Leaf { levels: ad_ir::ir::axis(axes.saturating_sub(1)) }
            }
            Slot::Link { of, column, .. } => {
                used.push(*column);
                CarriedForm::Node(of, Rc::clone(tables))
            }
            Slot::Tuple(parts) => CarriedForm::Tuple(all(parts, used)?),
            Slot::Struct(of, parts) => CarriedForm::Struct(of, all(parts, used)?),
            Slot::Fixed(parts) => CarriedForm::List(all(parts, used)?),
            Slot::Enum(of, tag, variants) => {
                used.push(*tag);
                let forms = variants.iter().map(|fields| all(fields, used).map(Some)).collect::<Lowered<_>>()?;
                CarriedForm::Enum(of, forms)
            }
            Slot::Option(inner, flag) => {
                let inner = Self::slot_form((tables, table), inner, used)?;
                used.push(*flag);
                CarriedForm::Option(inner.into())
            }
            Slot::List { .. } | Slot::Array { .. } => return Err(Poison),
        })
    }
}
