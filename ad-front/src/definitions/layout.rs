//! The tables of a type that contains itself.
//!
//! A value of such a type has no fixed number of leaves. It is taken apart into tables: one has a
//! row for each value of the type, and one for the elements of each list in it. A part that is a
//! value of the type again is the number of a row. Types that contain each other have their tables
//! in one order, so their values have the same tables whichever of the types comes first.
//!
//! This module must never know a value or a term.

use ad_ir::sorted::SortedSet;

use quote::ToTokens;
use syn::visit::Visit;
use syn::{GenericArgument, Type};

use super::tree::TypeTree;
use super::{Definition, Definitions};
use crate::types::{Generics, Len};
use crate::walk::{Part, Walk};
use ad_ir::ir::Elem;
use ad_ir::program::{Container, Role};

/// The greatest length of a list of static size in a row.
const STATIC: usize = 16;

/// The tables of a type that contains itself.
#[derive(Clone, Debug)]
pub(crate) struct Layout<'d> {
    /// The number of the table of the type itself.
    pub root: usize,
    pub tables: Vec<Table<'d>>,
}

/// A table: rows of values of a type, or of elements of a list.
#[derive(Clone, Debug)]
pub(crate) struct Table<'d> {
    /// The type. `None` for elements of a list.
    pub of: Option<&'d Definition>,
    pub columns: Vec<Column>,
    /// The fields of each variant. The tag of an enum is the first column. A list has one variant
    /// with one field.
    pub variants: Vec<Vec<Slot<'d>>>,
}

/// A column: a number, or an array of static size, in each row.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub elem: Elem,
    /// The sizes of an array, the outermost first.
    pub lens: Vec<Len>,
    pub role: Role,
}

impl Column {
    fn is_like(&self, other: &Column) -> bool {
        let sizes = |of: &Column| of.lens.iter().map(|n| n.tokens().to_string()).collect::<Vec<_>>();
        (self.elem, self.role) == (other.elem, other.role) && sizes(self) == sizes(other)
    }
}

/// A part of a row: the numbers of the columns that have it.
#[derive(Clone, Debug)]
pub(crate) enum Slot<'d> {
    /// A number or an array of static size.
    Leaf(usize),
    /// A value of a type with a table: the number of its row.
    Link {
        of: &'d Definition,
        column: usize,
    },
    Tuple(Vec<Slot<'d>>),
    Struct(&'d Definition, Vec<Slot<'d>>),
    /// An enum that does not contain itself: its tag, and the fields of each variant.
    Enum(&'d Definition, usize, Vec<Vec<Slot<'d>>>),
    /// An `Option`: the content, and whether it is `Some`.
    Option(Box<Slot<'d>>, usize),
    /// An array of static size of other values.
    Fixed(Vec<Slot<'d>>),
    /// A list: the first of its rows in a table, and their number.
    List {
        table: usize,
        start: usize,
        len: usize,
    },
    /// An ndarray: the first of its elements in a table of numbers, and its sizes.
    Array {
        table: usize,
        start: usize,
        sizes: Vec<usize>,
    },
}

impl Definitions {
    /// Whether a type contains itself.
    pub(crate) fn contains_itself(&self, of: &Definition) -> bool {
        self.reached(of).contains(&of.name.to_string())
    }

    /// Whether a type is one that contains itself, or has one in a part.
    pub(crate) fn has_one_that_contains_itself(&self, ty: &Type) -> bool {
        let named: Vec<&Definition> = self.named(ty);
        let inside = |of: &Definition| {
            let reached = self.reached(of);
            reached.iter().filter_map(|name| self.ty(name)).any(|of| self.contains_itself(of))
        };
        named.iter().any(|of| self.contains_itself(of) || inside(of))
    }

    /// The definitions that a type names.
    fn named(&self, ty: &Type) -> Vec<&Definition> {
        let mut named = Vec::new();
        let mut walk = |part: Part<'_>| {
            if let Part::PathSegment(s) = part {
                named.extend(self.ty(&s.ident.to_string()).filter(|of| !of.of_std));
            }
        };
        Walk(&mut walk).visit_type(ty);
        named
    }

    /// The names of the types that the fields of a type lead to.
    fn reached(&self, of: &Definition) -> SortedSet<String> {
        let inside = |of: &Definition| -> Vec<&Definition> {
            of.variants.iter().flat_map(|v| &v.fields).flat_map(|f| self.named(&f.ty)).collect()
        };
        let (mut seen, mut open) = (SortedSet::new(), inside(of));
        while let Some(next) = open.pop() {
            if seen.insert(next.name.to_string()) {
                open.extend(inside(next));
            }
        }
        seen
    }

    /// The tables of a type that contains itself. `None` if a part has a type that is not
    /// understood.
    pub(crate) fn layout<'d>(
        &'d self,
        of: &'d Definition,
        given: &[GenericArgument],
        generics: &Generics,
    ) -> Option<Layout<'d>> {
        // The family has each type once, in the order of names.
        let family: Vec<&Definition> = self.reached(of).iter().filter_map(|name| self.ty(name)).collect();
        let family = family.into_iter().filter(|other| self.reached(other).contains(&of.name.to_string()));
        let empty = |of| (of, None, Table { of: Some(of), columns: Vec::new(), variants: Vec::new() });
        let mut making =
            Making { known: self, generics, types: family.map(empty).collect(), lists: Vec::new(), open: Vec::new() };
        let root = making.types.iter().position(|(other, ..)| std::ptr::eq(*other, of))?;
        making.types[root].1 = Some(given.to_vec());
        making.open.push(root);
        while let Some(k) = making.open.pop() {
            making.table(k)?;
        }
        // The arguments of all types are known now, so the order does not depend on the root.
        making.lists.clear();
        for k in 0..making.types.len() {
            making.table(k)?;
        }
        let tables = making.types.into_iter().map(|(_, _, table)| table).chain(making.lists).collect();
        Some(Layout { root, tables })
    }
}

/// A layout that is being made. Tables of lists follow those of types.
struct Making<'d, 'n> {
    known: &'d Definitions,
    generics: &'n Generics,
    /// The types of the family, with their arguments if they are known.
    types: Vec<(&'d Definition, Option<Vec<GenericArgument>>, Table<'d>)>,
    lists: Vec<Table<'d>>,
    /// The types whose tables have still to be made.
    open: Vec<usize>,
}

/// The columns of a table. Variants share columns of one type, since a value is one variant.
#[derive(Default)]
struct Columns {
    all: Vec<Column>,
    /// Whether the current variant has the column.
    used: Vec<bool>,
}

impl Columns {
    fn next(&mut self, elem: Elem, lens: &[Len], role: Role) -> usize {
        let column = Column { elem, lens: lens.to_vec(), role };
        let free = (0..self.all.len()).find(|&k| !self.used[k] && self.all[k].is_like(&column));
        let k = free.unwrap_or_else(|| {
            self.all.push(column);
            self.used.push(false);
            self.all.len() - 1
        });
        self.used[k] = true;
        k
    }

    /// A column that says how a value is built.
    fn structure(&mut self, elem: Elem) -> usize {
        self.next(elem, &[], Role::Tag)
    }
}

impl<'d> Making<'d, '_> {
    fn table(&mut self, k: usize) -> Option<()> {
        let (of, given, _) = &self.types[k];
        let (of, given) = (*of, given.clone()?);
        let mut columns = Columns::default();
        let tag = of.is_enum.then(|| columns.structure(Elem::USIZE));
        let mut variants = Vec::new();
        for v in 0..of.variants.len() {
            columns.used.fill(false);
            if let Some(tag) = tag {
                columns.used[tag] = true;
            }
            let mut fields = Vec::new();
            for (k, field) in of.variants[v].fields.iter().enumerate() {
                let ty = of.field_type(v, k, &given)?;
                let tree = self.known.tree(&ty, self.generics)?;
                fields.push(self.slot(&tree, &mut columns, field.constant)?);
            }
            variants.push(fields);
        }
        self.types[k].2 = Table { of: Some(of), columns: columns.all, variants };
        Some(())
    }

    fn slot(&mut self, tree: &TypeTree<'d>, columns: &mut Columns, constant: bool) -> Option<Slot<'d>> {
        let role = if constant { Role::Constant } else { Role::Data };
        let mut fields = |me: &mut Self, of: &'d Definition, v: usize, parts: &[TypeTree<'d>]| {
            let marks = of.variants[v].fields.iter().map(|f| constant || f.constant);
            parts.iter().zip(marks).map(|(p, c)| me.slot(p, columns, c)).collect::<Option<Vec<_>>>()
        };
        Some(match tree {
            TypeTree::Leaf(leaf) if !leaf.owned => return None,
            TypeTree::Leaf(leaf) => match leaf.container {
                Container::Scalar | Container::Static => Slot::Leaf(columns.next(leaf.elem, &leaf.lens, role)),
                Container::Slice if usize::from(leaf.rank) == leaf.lens.len() + 1 => {
                    let column = Column { elem: leaf.elem, lens: leaf.lens.clone(), role };
                    let table = self.list(vec![column], Slot::Leaf(0));
                    let (start, len) = (columns.structure(Elem::USIZE), columns.structure(Elem::USIZE));
                    Slot::List { table, start, len }
                }
                Container::NdArray if leaf.rank > 0 => {
                    let column = Column { elem: leaf.elem, lens: Vec::new(), role };
                    let table = self.list(vec![column], Slot::Leaf(0));
                    let start = columns.structure(Elem::USIZE);
                    let sizes = (0..leaf.rank).map(|_| columns.structure(Elem::USIZE)).collect();
                    Slot::Array { table, start, sizes }
                }
                _ => return None,
            },
            // A field that is not made of numbers.
            TypeTree::Tuple(parts) if parts.is_empty() => return None,
            TypeTree::Tuple(parts) => {
                Slot::Tuple(parts.iter().map(|p| self.slot(p, columns, constant)).collect::<Option<_>>()?)
            }
            TypeTree::Struct(of, parts) => Slot::Struct(of, fields(self, of, 0, parts)?),
            TypeTree::Enum(of, variants) => {
                let all = variants.iter().enumerate().map(|(v, parts)| fields(self, of, v, parts));
                let all = all.collect::<Option<_>>()?;
                Slot::Enum(of, columns.structure(Elem::USIZE), all)
            }
            TypeTree::Option(inner) => {
                let inner = self.slot(inner, columns, constant)?;
                Slot::Option(inner.into(), columns.structure(Elem::Bool))
            }
            TypeTree::List(Some(Len::Number(n)), element) if *n <= STATIC => {
                Slot::Fixed((0..*n).map(|_| self.slot(element, columns, constant)).collect::<Option<_>>()?)
            }
            TypeTree::List(None, element) => {
                let mut own = Columns::default();
                let slot = self.slot(element, &mut own, constant)?;
                // A row of a list has no list of its own: its elements would have to be counted.
                if slot.has_lists() {
                    return None;
                }
                let table = self.list(own.all, slot);
                let (start, len) = (columns.structure(Elem::USIZE), columns.structure(Elem::USIZE));
                Slot::List { table, start, len }
            }
            TypeTree::List(..) => return None,
            TypeTree::Node(of, given) => {
                let table = self.types.iter().position(|(other, ..)| std::ptr::eq(*other, *of))?;
                let text = |given: &[GenericArgument]| -> Vec<String> {
                    given.iter().map(|a| a.to_token_stream().to_string()).collect()
                };
                match &self.types[table].1 {
                    Some(known) if text(known) != text(given) => return None,
                    Some(_) => {}
                    None => {
                        self.types[table].1 = Some(given.clone());
                        self.open.push(table);
                    }
                }
                Slot::Link { of, column: columns.structure(Elem::USIZE) }
            }
        })
    }

    /// A table for the elements of a list.
    fn list(&mut self, columns: Vec<Column>, element: Slot<'d>) -> usize {
        self.lists.push(Table { of: None, columns, variants: vec![vec![element]] });
        self.types.len() + self.lists.len() - 1
    }
}

impl Slot<'_> {
    fn has_lists(&self) -> bool {
        match self {
            Slot::Leaf(_) | Slot::Link { .. } => false,
            Slot::Tuple(parts) | Slot::Struct(_, parts) | Slot::Fixed(parts) => parts.iter().any(Slot::has_lists),
            Slot::Enum(_, _, variants) => variants.iter().flatten().any(Slot::has_lists),
            Slot::Option(inner, _) => inner.has_lists(),
            Slot::List { .. } | Slot::Array { .. } => true,
        }
    }
}
