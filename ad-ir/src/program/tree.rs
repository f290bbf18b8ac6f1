//! The structures of values at the boundary of a routine. A declared parameter and a result are
//! trees whose leaves are numbers and arrays; the core language knows the leaves only.
//!
//! This module interprets no type and writes no code: `rust_types` does.

use std::rc::Rc;

use proc_macro2::{Ident, TokenStream};

use super::{Container, Owner, Passing};
use crate::ir::{Elem, Term};

/// The structure of a value: one number or array, or a tuple or list of structures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tree<L> {
    /// One value.
    Leaf(L),
    /// A tuple.
    Tuple(Vec<Tree<L>>),
    /// A list of structures: one array for each leaf of an element, with one more axis in front. A
    /// list in a list has one leaf, an array of all rows.
    List(ListType, Box<Tree<L>>),
    /// In an element of a list: an array whose shape differs from element to element. Its parts
    /// are those of [`RaggedPart`], in that order.
    Ragged(RaggedArray, Vec<Tree<L>>),
    /// A value of a user-defined type. Hidden functions beside the definition turn it into this
    /// structure and back, so its fields may be private. The structure has no such type inside.
    Defined(DefinedType, Box<Tree<L>>),
}

/// The type of the arrays of a list whose shapes may differ.
#[derive(Clone, Debug)]
pub struct RaggedArray {
    /// Whether an array is a `Vec`. Otherwise it is an array of ndarray.
    pub is_vec: bool,
    /// The path of the crate `ad`.
    pub krate: TokenStream,
    /// The rank of an array.
    pub rank: u8,
}

impl PartialEq for RaggedArray {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank && self.is_vec == other.is_vec
    }
}

impl Eq for RaggedArray {}

/// A part of the arrays of a list whose shapes may differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RaggedPart {
    /// The elements of all arrays in one vector, array after array, each row by row.
    Elements,
    /// For each array, the index of its first element in that vector.
    Starts,
    /// For each array, its size along this axis.
    Sizes(u8),
    /// The greatest size along this axis, 0 if there is no array.
    Most(u8),
}

impl RaggedArray {
    /// The parts, in order.
    pub fn parts(&self) -> impl Iterator<Item = RaggedPart> + use<> {
        let rank = self.rank;
        [RaggedPart::Elements, RaggedPart::Starts]
            .into_iter()
            .chain((0..rank).map(RaggedPart::Sizes))
            .chain((0..rank).map(RaggedPart::Most))
    }
}

/// The type of a list.
#[derive(Clone, Debug)]
pub enum ListType {
    /// `Vec<S>`, `&[S]`.
    Vector,
    /// `[S; N]`, with its length.
    Static(TokenStream),
}

impl PartialEq for ListType {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (ListType::Vector, ListType::Vector) => true,
            (ListType::Static(a), ListType::Static(b)) => a.to_string() == b.to_string(),
            _ => false,
        }
    }
}

impl Eq for ListType {}

impl ListType {
    /// How a tangent or cotangent of this type is passed.
    #[must_use]
    pub fn passing(&self) -> Passing {
        match self {
            ListType::Vector => Passing::reference(Owner::Slice),
            ListType::Static(_) => Passing::value(Owner::Static),
        }
    }
}

/// A user-defined type, or an `Option`, as the signature names it.
#[derive(Clone, Debug)]
pub struct DefinedType {
    /// The type without references.
    pub ty: TokenStream,
    /// Whether it is an enum or an `Option`, or has one in a field: then its parts have no places
    /// of their own.
    pub has_sums: bool,
    /// Of an `Option`, the structure of its content, in which user-defined types are not taken
    /// apart. Its own structure is a pair of the content, taken apart, and whether it is `Some`.
    pub content: Option<Rc<Tree<FieldLeaf>>>,
    /// Whether it has fields that are not made of numbers. They are copied from another value of
    /// the type when one is made.
    pub is_opaque: bool,
    /// The place of the argument that they are copied from.
    pub like: Option<TokenStream>,
}

/// A number or array in a field.
#[derive(Clone, Debug)]
pub struct FieldLeaf {
    /// The container of its type.
    pub container: Container,
    /// The type of its elements.
    pub elem: Elem,
    /// Its rank.
    pub rank: u8,
    /// The sizes in its type, the outermost first.
    pub lens: Vec<TokenStream>,
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
            Tree::Tuple(parts) | Tree::Ragged(_, parts) => parts.iter().flat_map(Tree::leaves).collect(),
            Tree::List(_, inner) | Tree::Defined(_, inner) => inner.leaves(),
        }
    }

    /// The same structure with other leaves, made in order.
    #[must_use]
    pub fn map<M>(&self, f: &mut impl FnMut(&L) -> M) -> Tree<M> {
        match self {
            Tree::Leaf(leaf) => Tree::Leaf(f(leaf)),
            Tree::Tuple(parts) => Tree::Tuple(parts.iter().map(|part| part.map(f)).collect()),
            Tree::Ragged(of, parts) => Tree::Ragged(of.clone(), parts.iter().map(|part| part.map(f)).collect()),
            Tree::List(of, element) => Tree::List(of.clone(), element.map(f).into()),
            Tree::Defined(of, inner) => Tree::Defined(of.clone(), inner.map(f).into()),
        }
    }

    /// The same structure with a structure in place of each leaf, made in order.
    #[must_use]
    pub fn grafted<M>(&self, f: &mut impl FnMut(&L) -> Tree<M>) -> Tree<M> {
        match self {
            Tree::Leaf(leaf) => f(leaf),
            Tree::Tuple(parts) => Tree::Tuple(parts.iter().map(|part| part.grafted(f)).collect()),
            Tree::Ragged(of, parts) => Tree::Ragged(of.clone(), parts.iter().map(|part| part.grafted(f)).collect()),
            Tree::List(of, element) => Tree::List(of.clone(), element.grafted(f).into()),
            Tree::Defined(of, inner) => Tree::Defined(of.clone(), inner.grafted(f).into()),
        }
    }

    /// The structure of blocks: a list has the structure of its element, since each block has the
    /// list's axis. A block is of another type than its leaf, so a user-defined type has the
    /// structure of its fields.
    #[must_use]
    pub fn of_blocks(self) -> Tree<L> {
        match self {
            // Arrays of several shapes have no blocks.
            Tree::Leaf(_) | Tree::Ragged(..) => self,
            Tree::Tuple(parts) => Tree::Tuple(parts.into_iter().map(Tree::of_blocks).collect()),
            Tree::List(_, inner) | Tree::Defined(_, inner) => inner.of_blocks(),
        }
    }

    /// Whether each leaf can be written in place. That is not so for the leaves of a list, of an
    /// enum and of a user-defined type inside of a tuple.
    #[must_use]
    pub fn has_places(&self) -> bool {
        fn plain<L>(tree: &Tree<L>) -> bool {
            match tree {
                Tree::Leaf(_) => true,
                Tree::Tuple(parts) => parts.iter().all(plain),
                Tree::List(..) | Tree::Ragged(..) | Tree::Defined(..) => false,
            }
        }
        match self {
            Tree::Defined(of, inner) => !of.has_sums && plain(inner),
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
    /// The role of the output.
    pub role: Role,
}

/// The role of a number or array of a structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Role {
    /// A value. If it is real, it has a derivative.
    #[default]
    Data,
    /// It is in a field with `#[constant]`, so no derivative is taken with respect to it.
    Constant,
    /// It says which variant a value of an enum is. A tangent and a cotangent are of the same one.
    Tag,
    /// It has the sizes of the arrays of a list. Those of a tangent and a cotangent are the same.
    Sizes,
}

/// The form of one element below this many lists, given the form of the array of all elements: `F`
/// of `Vec<F>`, `[F; N]` of `Vec<[F; N]>`, `Array2<F>` of `Vec<Array2<F>>`. Its container, rank and
/// sizes.
#[must_use]
pub fn element_of<S: Clone>(
    (container, rank, lens): (Container, usize, &[S]),
    lists: usize,
) -> (Container, usize, Vec<S>) {
    let rank = rank - lists.min(rank);
    let lens = match container {
        Container::Static => lens.get(lists..).unwrap_or_default(),
        _ => lens,
    };
    let container = match container {
        container if lists == 0 => container,
        Container::NdArray if rank > 0 => Container::NdArray,
        _ if lens.is_empty() => Container::Scalar,
        _ => Container::Static,
    };
    (container, rank, lens.to_vec())
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
pub enum ParamTree {
    /// A number or array: its index in the list of leaves.
    Leaf(usize),
    /// A tuple behind this number of references.
    Tuple {
        /// The number of references.
        references: usize,
        /// Whether one of them has the lifetime `'static`.
        is_static: bool,
        /// The parts.
        parts: Vec<ParamTree>,
    },
    /// A list of structures.
    List {
        /// The form of the list's type.
        passing: Passing,
        /// The type without references.
        of: ListType,
        /// The structure of an element.
        element: Box<ParamTree>,
    },
    /// In an element of a list: an array whose shape differs from element to element.
    Ragged(RaggedArray, Vec<ParamTree>),
    /// A value of a user-defined type, behind this number of references.
    Defined {
        /// The number of references.
        references: usize,
        /// Whether one of them has the lifetime `'static`.
        is_static: bool,
        /// The type.
        of: DefinedType,
        /// The structure into which it is taken apart.
        inner: Box<ParamTree>,
    },
}

impl ParamTree {
    /// The structure without references.
    #[must_use]
    pub fn tree(&self) -> Tree<usize> {
        match self {
            ParamTree::Leaf(k) => Tree::Leaf(*k),
            ParamTree::Tuple { parts, .. } => Tree::Tuple(parts.iter().map(ParamTree::tree).collect()),
            ParamTree::Ragged(of, parts) => Tree::Ragged(of.clone(), parts.iter().map(ParamTree::tree).collect()),
            ParamTree::List { of, element, .. } => Tree::List(of.clone(), element.tree().into()),
            ParamTree::Defined { of, inner, .. } => Tree::Defined(of.clone(), inner.tree().into()),
        }
    }

    /// The same structure over leaves that begin at another index.
    #[must_use]
    pub fn moved(&self, to: usize, from: usize) -> ParamTree {
        match self {
            ParamTree::Leaf(k) => ParamTree::Leaf(k - from + to),
            ParamTree::Tuple { references, is_static, parts } => ParamTree::Tuple {
                references: *references,
                is_static: *is_static,
                parts: parts.iter().map(|part| part.moved(to, from)).collect(),
            },
            ParamTree::Ragged(of, parts) => {
                ParamTree::Ragged(of.clone(), parts.iter().map(|part| part.moved(to, from)).collect())
            }
            ParamTree::List { passing, of, element } => {
                ParamTree::List { passing: *passing, of: of.clone(), element: element.moved(to, from).into() }
            }
            ParamTree::Defined { references, is_static, of, inner } => ParamTree::Defined {
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
            ParamTree::Leaf(k) => passing(*k).is_moved(),
            ParamTree::Tuple { references, parts, .. } => *references == 0 && parts.iter().any(|p| p.is_moved(passing)),
            ParamTree::List { passing, .. } => passing.references == 0,
            ParamTree::Ragged(..) => true,
            ParamTree::Defined { references, .. } => *references == 0,
        }
    }
}

/// A parameter as a signature declares it.
#[derive(Clone, Debug)]
pub struct Declared {
    /// The name of the parameter. If a pattern declares it, the compiler makes the name.
    pub name: Ident,
    /// Its pattern as written, for messages and documentation.
    pub label: String,
    /// Its type.
    pub ty: TokenStream,
    /// Its structure over the list of leaves ([`super::Param`]).
    pub parts: ParamTree,
}
