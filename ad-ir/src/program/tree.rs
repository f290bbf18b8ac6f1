//! The structures of values at the boundary of a routine. A declared parameter and a result are
//! trees whose leaves are numbers and arrays; the core language knows the leaves only.
//!
//! This module interprets no type and writes no code: `rust_types` does.

use proc_macro2::{Ident, TokenStream};

use super::{Container, Passing};
use crate::ir::Term;

/// The structure of a value: one number or array, or a tuple or list of structures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tree<L> {
    /// One value.
    Leaf(L),
    /// A tuple.
    Tuple(Vec<Tree<L>>),
    /// A list of tuples: one array for each leaf of an element, with one more axis in front.
    List(Box<Tree<L>>),
    /// A value of a type with a definition. Hidden functions beside the definition turn it into this
    /// structure and back, so its fields may be private. The structure has no such type inside.
    Defined(DefinedType, Box<Tree<L>>),
}

/// A type with a definition, as the signature names it.
#[derive(Clone, Debug)]
pub struct DefinedType {
    /// The type without references.
    pub ty: TokenStream,
    /// Whether it is an enum.
    pub is_enum: bool,
}

impl PartialEq for DefinedType {
    fn eq(&self, other: &Self) -> bool {
        self.ty.to_string() == other.ty.to_string()
    }
}

impl Eq for DefinedType {}

impl<L> Tree<L> {
    /// The leaves, in order.
    #[must_use]
    pub fn leaves(&self) -> Vec<&L> {
        match self {
            Tree::Leaf(leaf) => vec![leaf],
            Tree::Tuple(parts) => parts.iter().flat_map(Tree::leaves).collect(),
            Tree::List(inner) | Tree::Defined(_, inner) => inner.leaves(),
        }
    }

    /// The same structure with other leaves, made in order.
    #[must_use]
    pub fn map<M>(&self, f: &mut impl FnMut(&L) -> M) -> Tree<M> {
        match self {
            Tree::Leaf(leaf) => Tree::Leaf(f(leaf)),
            Tree::Tuple(parts) => Tree::Tuple(parts.iter().map(|part| part.map(f)).collect()),
            Tree::List(element) => Tree::List(element.map(f).into()),
            Tree::Defined(of, inner) => Tree::Defined(of.clone(), inner.map(f).into()),
        }
    }

    /// The same structure with a structure in place of each leaf, made in order.
    #[must_use]
    pub fn grafted<M>(&self, f: &mut impl FnMut(&L) -> Tree<M>) -> Tree<M> {
        match self {
            Tree::Leaf(leaf) => f(leaf),
            Tree::Tuple(parts) => Tree::Tuple(parts.iter().map(|part| part.grafted(f)).collect()),
            Tree::List(element) => Tree::List(element.grafted(f).into()),
            Tree::Defined(of, inner) => Tree::Defined(of.clone(), inner.grafted(f).into()),
        }
    }

    /// The structure of blocks: a list has the structure of its element, since each block has the
    /// list's axis. A block is of another type than its leaf, so a type with a definition has the
    /// structure of its fields.
    #[must_use]
    pub fn of_blocks(self) -> Tree<L> {
        match self {
            Tree::Leaf(leaf) => Tree::Leaf(leaf),
            Tree::Tuple(parts) => Tree::Tuple(parts.into_iter().map(Tree::of_blocks).collect()),
            Tree::List(inner) | Tree::Defined(_, inner) => inner.of_blocks(),
        }
    }

    /// Whether each leaf has a place of its own that can be written to. Those of a list, of an enum
    /// and of a type with a definition inside of a tuple have not.
    #[must_use]
    pub fn has_places(&self) -> bool {
        fn plain<L>(tree: &Tree<L>) -> bool {
            match tree {
                Tree::Leaf(_) => true,
                Tree::Tuple(parts) => parts.iter().all(plain),
                Tree::List(_) | Tree::Defined(..) => false,
            }
        }
        match self {
            Tree::Defined(of, inner) => !of.is_enum && plain(inner),
            tree => plain(tree),
        }
    }

    /// The structure of several values: a tuple, or the value itself if there is one.
    #[must_use]
    pub fn of_several(mut parts: Vec<Tree<L>>) -> Tree<L> {
        if parts.len() == 1 { parts.remove(0) } else { Tree::Tuple(parts) }
    }
}

/// A result leaf of a routine.
#[derive(Clone, Debug)]
pub struct Output {
    /// The value: an array term.
    pub term: Term,
    /// The container in which it is returned. It is never `ScalarRef`.
    pub container: Container,
    /// The sizes in the type of a `Static`, the outermost first. Empty for other containers.
    pub lens: Vec<TokenStream>,
}

impl Output {
    /// An element of it, for types: `F` of `Vec<F>`, `[F; N]` of `Vec<[F; N]>`.
    #[must_use]
    pub fn element(&self) -> Output {
        Output { container: element_of(self.lens.len()), ..self.clone() }
    }
}

/// The container of an element of a list, given the number of sizes in its type.
#[must_use]
pub fn element_of(lens: usize) -> Container {
    if lens == 0 { Container::Scalar } else { Container::Static }
}

/// The structure of a routine's result: values, gradients, and tuples of them.
pub type OutputTree = Tree<Output>;

impl OutputTree {
    /// The terms of the leaves, in order.
    #[must_use]
    pub fn terms(&self) -> Vec<Term> {
        self.leaves().into_iter().map(|out| out.term).collect()
    }

    /// The same structure with other terms, taken in order.
    #[must_use]
    pub fn with_terms(&self, terms: &mut impl Iterator<Item = Term>) -> OutputTree {
        self.map(&mut |out| Output { term: terms.next().unwrap_or(out.term), ..out.clone() })
    }
}

/// The structure of a declared parameter, with references as its type has them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Parts {
    /// A number or array: its index in the list of leaves.
    Leaf(usize),
    /// A tuple behind this number of references.
    Tuple {
        /// The number of references.
        references: usize,
        /// Whether one of them has the lifetime `'static`.
        is_static: bool,
        /// The parts.
        parts: Vec<Parts>,
    },
    /// A list of tuples.
    List {
        /// The form of the list's type.
        passing: Passing,
        /// The structure of an element.
        element: Box<Parts>,
    },
    /// A value of a type with a definition, behind this number of references.
    Defined {
        /// The number of references.
        references: usize,
        /// Whether one of them has the lifetime `'static`.
        is_static: bool,
        /// The type.
        of: DefinedType,
        /// The structure into which it is taken apart.
        inner: Box<Parts>,
    },
}

impl Parts {
    /// The structure without references.
    #[must_use]
    pub fn tree(&self) -> Tree<usize> {
        match self {
            Parts::Leaf(k) => Tree::Leaf(*k),
            Parts::Tuple { parts, .. } => Tree::Tuple(parts.iter().map(Parts::tree).collect()),
            Parts::List { element, .. } => Tree::List(element.tree().into()),
            Parts::Defined { of, inner, .. } => Tree::Defined(of.clone(), inner.tree().into()),
        }
    }

    /// The same structure over leaves that begin at another index.
    #[must_use]
    pub fn moved(&self, to: usize, from: usize) -> Parts {
        match self {
            Parts::Leaf(k) => Parts::Leaf(k - from + to),
            Parts::Tuple { references, is_static, parts } => Parts::Tuple {
                references: *references,
                is_static: *is_static,
                parts: parts.iter().map(|part| part.moved(to, from)).collect(),
            },
            Parts::List { passing, element } => {
                Parts::List { passing: *passing, element: element.moved(to, from).into() }
            }
            Parts::Defined { references, is_static, of, inner } => Parts::Defined {
                references: *references,
                is_static: *is_static,
                of: of.clone(),
                inner: inner.moved(to, from).into(),
            },
        }
    }

    /// Whether a second use of an argument needs a copy, given the form of each leaf's type.
    #[must_use]
    pub fn is_moved(&self, passing: &impl Fn(usize) -> Passing) -> bool {
        match self {
            Parts::Leaf(k) => passing(*k).is_moved(),
            Parts::Tuple { references, parts, .. } => *references == 0 && parts.iter().any(|p| p.is_moved(passing)),
            Parts::List { passing, .. } => passing.is_moved(),
            Parts::Defined { references, .. } => *references == 0,
        }
    }
}

/// A parameter as a signature declares it.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Its name. If a pattern declares it, a name of the compiler's.
    pub name: Ident,
    /// Its pattern as written, for messages and documentation.
    pub label: String,
    /// Its type.
    pub ty: TokenStream,
    /// Its structure over the list of leaves ([`super::Param`]).
    pub parts: Parts,
}
