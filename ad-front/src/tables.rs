//! The tables of a type that contains itself, for the functions next to the type that take a value
//! apart and put one together: which column has which part of which field.
//!
//! This module must never write code.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{Fields, GenericArgument, GenericParam, Item, PathArguments, Type};

use super::definitions::Definitions;
use super::definitions::layout::{Slot, Table};
use super::travel::{Marked, OuterDefinitions};
use super::types::{self, Generics, Len};
use ad_ir::program::{Container, FieldLeaf};

/// The tables of a type that contains itself.
pub struct Tables {
    /// The number of the type's own table.
    pub root: usize,
    /// The columns of each table.
    pub columns: Vec<Vec<FieldLeaf>>,
    /// The fields of each variant of the type.
    pub variants: Vec<Vec<TablePart>>,
}

/// A part of a field, with the numbers of its columns.
pub enum TablePart {
    /// A number or an array of static size.
    Leaf(usize),
    /// A value of this type, by the number of its row.
    Link(TokenStream, usize),
    /// The content of a `Box`.
    Boxed(Box<TablePart>),
    /// A tuple.
    Tuple(Vec<TablePart>),
    /// A value of this type, which does not contain itself: the tuple that its own functions know.
    Defined(TokenStream, Box<TablePart>),
    /// An enum of that kind: its tag, and a tuple for each variant.
    Enum(usize, Vec<TablePart>),
    /// An `Option`, and the column that says whether it is `Some`.
    Option(Box<TablePart>, usize),
    /// An array of static size.
    Fixed(Vec<TablePart>),
    /// A list: its table, and the columns of its first row and of their number.
    List {
        /// The table.
        table: usize,
        /// The column of the first row.
        start: usize,
        /// The column of the number of rows.
        len: usize,
        /// An element. Its columns are those of the table.
        element: Box<TablePart>,
    },
    /// An ndarray: the table of its elements, and the columns of the first one and of the sizes.
    Array {
        /// The table.
        table: usize,
        /// The column of the first element.
        start: usize,
        /// The columns of the sizes.
        sizes: Vec<usize>,
    },
}

/// The outside of a type, with the type itself.
pub(super) fn with_itself(item: &Item, outside: &OuterDefinitions) -> OuterDefinitions {
    let name = |item: &Item| match item {
        Item::Struct(s) => Some(s.ident.to_string()),
        Item::Enum(e) => Some(e.ident.to_string()),
        _ => None,
    };
    let mut outside = outside.clone();
    if !outside.list.iter().any(|d| name(&d.item) == name(item)) {
        let (names, home) = (Vec::new(), TokenStream::new());
        outside.list.push(Marked { id: 0, item: item.clone(), names, broken: false, certain: false, home });
    }
    outside
}

/// The tables of a type. `None` if it does not contain itself, or if a field has a type that is not
/// understood.
#[must_use]
pub fn tables(item: &Item, outside: &OuterDefinitions) -> Option<Tables> {
    let (name, generics, fields): (_, _, Vec<&Fields>) = match item {
        Item::Struct(s) => (&s.ident, &s.generics, vec![&s.fields]),
        Item::Enum(e) => (&e.ident, &e.generics, e.variants.iter().map(|v| &v.fields).collect()),
        _ => return None,
    };
    let known = Definitions::outside(&with_itself(item, outside));
    let of = known.ty(&name.to_string()).filter(|of| !of.is_general && known.contains_itself(of))?;
    let own = Generics {
        real: generics.type_params().next().map(|p| p.ident.clone()),
        further: Vec::new(),
        consts: generics.const_params().map(|c| c.ident.clone()).collect(),
    };
    let own_names = generics.params.iter().filter_map(|p| match p {
        GenericParam::Type(t) => Some(&t.ident),
        GenericParam::Const(c) => Some(&c.ident),
        GenericParam::Lifetime(_) => None,
    });
    let named = |name: &Ident| syn::parse2::<Type>(name.to_token_stream()).map(GenericArgument::Type).ok();
    let given = own_names.map(named).collect::<Option<Vec<_>>>()?;
    let layout = known.layout(of, &given, &own)?;
    let variants = fields.iter().zip(&layout.tables[layout.root].variants).map(|(fields, slots)| {
        fields.iter().zip(slots).map(|(field, slot)| part(&field.ty, slot, &layout.tables)).collect()
    });
    let leaf = |column: &super::definitions::layout::Column| FieldLeaf {
        container: if column.lens.is_empty() { Container::Scalar } else { Container::Static },
        elem: column.elem,
        rank: ad_ir::ir::axis(column.lens.len()),
        lens: column.lens.iter().map(Len::tokens).collect(),
    };
    let variants = variants.collect::<Option<_>>()?;
    let columns = layout.tables.iter().map(|table| table.columns.iter().map(leaf).collect()).collect();
    Some(Tables { root: layout.root, columns, variants })
}

/// A part of this type.
fn part(ty: &Type, slot: &Slot<'_>, tables: &[Table<'_>]) -> Option<TablePart> {
    let each = |slots: &[Slot<'_>], ty: &dyn Fn(usize) -> Option<Type>| {
        slots.iter().enumerate().map(|(k, slot)| part(&ty(k)?, slot, tables)).collect::<Option<Vec<_>>>()
    };
    match ty {
        Type::Paren(p) => return part(&p.elem, slot, tables),
        Type::Group(g) => return part(&g.elem, slot, tables),
        _ => {}
    }
    if let Some(inner) = types::boxed(ty) {
        return Some(TablePart::Boxed(part(inner, slot, tables)?.into()));
    }
    Some(match slot {
        Slot::Leaf(k) => TablePart::Leaf(*k),
        Slot::Link { column, .. } => TablePart::Link(types::ungrouped(ty).to_token_stream(), *column),
        Slot::Tuple(parts) => {
            let Type::Tuple(tuple) = ty else { return None };
            TablePart::Tuple(each(parts, &|k| tuple.elems.iter().nth(k).cloned())?)
        }
        Slot::Struct(..) | Slot::Enum(..) => {
            TablePart::Defined(types::ungrouped(ty).to_token_stream(), inside(slot, tables)?.into())
        }
        Slot::Option(inner, flag) => TablePart::Option(part(&argument(ty)?, inner, tables)?.into(), *flag),
        Slot::Fixed(parts) => {
            let (_, elem) = types::list(ty)?;
            TablePart::Fixed(each(parts, &|_| Some(elem.clone()))?)
        }
        Slot::List { table, start, len } => {
            let (_, elem) = types::list(ty)?;
            let element = part(elem, element(tables, *table)?, tables)?.into();
            TablePart::List { table: *table, start: *start, len: *len, element }
        }
        Slot::Array { table, start, sizes } => TablePart::Array { table: *table, start: *start, sizes: sizes.clone() },
    })
}

/// A part inside of the tuple into which a type with a definition is taken apart. `None` if such a
/// tuple cannot have it.
fn inside(slot: &Slot<'_>, tables: &[Table<'_>]) -> Option<TablePart> {
    let all = |slots: &[Slot<'_>]| slots.iter().map(|slot| inside(slot, tables)).collect::<Option<Vec<_>>>();
    Some(match slot {
        Slot::Leaf(k) => TablePart::Leaf(*k),
        Slot::Tuple(parts) | Slot::Struct(_, parts) => TablePart::Tuple(all(parts)?),
        Slot::Enum(_, tag, variants) => {
            TablePart::Enum(*tag, variants.iter().map(|v| Some(TablePart::Tuple(all(v)?))).collect::<Option<_>>()?)
        }
        Slot::Fixed(parts) => TablePart::Fixed(all(parts)?),
        Slot::List { table, start, len } => {
            let element = inside(element(tables, *table)?, tables)?.into();
            TablePart::List { table: *table, start: *start, len: *len, element }
        }
        Slot::Array { table, start, sizes } => TablePart::Array { table: *table, start: *start, sizes: sizes.clone() },
        // An `Option` in such a tuple is its content, or zeros, and whether it is `Some`.
        Slot::Option(inner, flag) => TablePart::Tuple(vec![inside(inner, tables)?, TablePart::Leaf(*flag)]),
        Slot::Link { .. } => return None,
    })
}

/// The element of a table of a list.
fn element<'t, 'd>(tables: &'t [Table<'d>], table: usize) -> Option<&'t Slot<'d>> {
    tables.get(table)?.variants.first()?.first()
}

/// The argument of `Option<T>`.
fn argument(ty: &Type) -> Option<Type> {
    let Type::Path(p) = ty else { return None };
    let PathArguments::AngleBracketed(given) = &p.path.segments.last()?.arguments else { return None };
    given.args.iter().find_map(|a| match a {
        GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    })
}
