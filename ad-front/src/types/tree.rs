//! The types of parameters and results as trees: tuples of numbers, arrays and tuples. The Rust
//! types that follow from such a tree (of gradients, tangents, destinations and blocks) are made
//! here leaf by leaf.
//!
//! This module must never decide what a leaf is: `types` does that.

use proc_macro2::{Ident, TokenStream};
use syn::{GenericArgument, Lifetime, PathArguments, Type};

use super::{Generics, Leaf, MAX_RANK, leaf};
use crate::value::Lowered;
use ad_ir::catalogue::refused::{self, TypeForm};
use ad_ir::diag::{Diags, Poison, SrcRange, text_of};
use ad_ir::program::{Container, KnownType, Owner, Passing, Tree, element_of};
use ad_ir::rust_types::{mutable, owned_list, passed_list, tuple, written_lists};

/// The type of a parameter or result.
#[derive(Clone, Debug)]
pub(crate) enum TypeTree {
    /// A number or array.
    Leaf(Leaf),
    /// A tuple behind references.
    Tuple { references: usize, is_static: bool, parts: Vec<TypeTree> },
    /// A list of tuples of numbers and arrays of static size. A leaf is the array of all elements.
    List { passing: Passing, element: Box<TypeTree> },
}

impl TypeTree {
    /// The tree without references.
    pub(crate) fn tree(&self) -> Tree<Leaf> {
        match self {
            TypeTree::Leaf(leaf) => Tree::Leaf(leaf.clone()),
            TypeTree::Tuple { parts, .. } => Tree::Tuple(parts.iter().map(TypeTree::tree).collect()),
            TypeTree::List { element, .. } => Tree::List(element.tree().into()),
        }
    }

    /// Whether a value of the type owns all that it consists of, so that it can be returned.
    pub(crate) fn is_owned(&self) -> bool {
        match self {
            TypeTree::Leaf(leaf) => leaf.owned,
            TypeTree::Tuple { references, parts, .. } => *references == 0 && parts.iter().all(TypeTree::is_owned),
            TypeTree::List { passing, .. } => passing.references == 0,
        }
    }

    /// The tree of a list of these elements. `None` if an element borrows or has arrays whose sizes
    /// its type does not say.
    fn listed(self) -> Option<TypeTree> {
        match self {
            TypeTree::Leaf(leaf) => {
                let fits = leaf.owned && matches!(leaf.container, Container::Scalar | Container::Static);
                let passing = Passing::value(Owner::Vector);
                let rank = leaf.rank + 1;
                (fits && leaf.passing.references == 0 && rank <= MAX_RANK)
                    .then(|| TypeTree::Leaf(Leaf { container: Container::Slice, rank, passing, ..leaf }))
            }
            TypeTree::Tuple { references: 0, is_static, parts } => {
                let parts = parts.into_iter().map(TypeTree::listed).collect::<Option<_>>()?;
                Some(TypeTree::Tuple { references: 0, is_static, parts })
            }
            _ => None,
        }
    }
}

/// Parses the type of a parameter or of a result. All its errors are reported.
pub(crate) fn tree(ty: &Type, generics: &Generics, diags: &mut Diags) -> Lowered<TypeTree> {
    match ty {
        Type::Paren(p) => tree(&p.elem, generics, diags),
        Type::Group(p) => tree(&p.elem, generics, diags),
        Type::Reference(r) if r.mutability.is_none() && is_tuple(&r.elem) => {
            let inner = tree(&r.elem, generics, diags)?;
            let TypeTree::Tuple { references, is_static, parts } = inner else { return Ok(inner) };
            let named = |l: &Lifetime| l.ident == "static";
            let is_static = is_static || r.lifetime.as_ref().is_some_and(named);
            Ok(TypeTree::Tuple { references: references + 1, is_static, parts })
        }
        Type::Tuple(t) if !t.elems.is_empty() => {
            let (mut parts, mut failed) = (Vec::new(), false);
            for elem in &t.elems {
                match tree(elem, generics, diags) {
                    Ok(part) => parts.push(part),
                    Err(Poison) => failed = true,
                }
            }
            if failed { Err(Poison) } else { Ok(TypeTree::Tuple { references: 0, is_static: false, parts }) }
        }
        _ => match list(ty) {
            Some((passing, of)) if is_tuple(of) => {
                let element = tree(of, generics, diags)?.listed();
                let Some(element) = element else {
                    return Err(diags.push(SrcRange::of(of), refused::kind_of_type(TypeForm::Tuple, &text_of(of, 40))));
                };
                Ok(TypeTree::List { passing, element: element.into() })
            }
            _ => leaf(ty, generics, diags).map(TypeTree::Leaf),
        },
    }
}

/// The form of a list's type, and the type of its elements.
fn list(ty: &Type) -> Option<(Passing, &Type)> {
    match ty {
        Type::Paren(p) => list(&p.elem),
        Type::Group(p) => list(&p.elem),
        Type::Reference(r) if r.mutability.is_none() => {
            let is_static = r.lifetime.as_ref().is_some_and(|l| l.ident == "static");
            if let Type::Slice(s) = &*r.elem {
                return Some((Passing { is_static, ..Passing::reference(Owner::Slice) }, &s.elem));
            }
            let (passing, of) = list(&r.elem)?;
            let is_static = is_static || passing.is_static;
            Some((Passing { references: passing.references + 1, is_static, ..passing }, of))
        }
        Type::Path(p) if p.qself.is_none() => {
            let last = p.path.segments.last()?;
            let vec = KnownType::named(&last.ident.to_string()) == Some(KnownType::Vec);
            let PathArguments::AngleBracketed(args) = &last.arguments else { return None };
            match args.args.first() {
                Some(GenericArgument::Type(of)) if vec => Some((Passing::value(Owner::Vector), of)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a type is a tuple, or references to one.
fn is_tuple(ty: &Type) -> bool {
    match ty {
        Type::Paren(p) => is_tuple(&p.elem),
        Type::Group(p) => is_tuple(&p.elem),
        Type::Reference(r) => r.mutability.is_none() && is_tuple(&r.elem),
        Type::Tuple(t) => !t.elems.is_empty(),
        _ => false,
    }
}

/// The owned type of a gradient or a result.
pub(crate) fn owned(tree: &Tree<Leaf>, real_param: Option<&Ident>, krate: &TokenStream) -> TokenStream {
    written_lists(tree, &owned_list, &mut |leaf, element| super::owned_tokens(&part(leaf, element), real_param, krate))
}

/// The type of a tangent or cotangent, and how it is passed.
pub(crate) fn passed(tree: &Tree<Leaf>, real_param: Option<&Ident>, krate: &TokenStream) -> TokenStream {
    written_lists(tree, &passed_list, &mut |leaf, element| {
        super::passed_tokens(&part(leaf, element), real_param, krate)
    })
}

/// A leaf, or an element of it.
fn part(leaf: &Leaf, element: bool) -> Leaf {
    let container = if element { element_of(leaf.lens.len()) } else { leaf.container };
    Leaf { container, ..leaf.clone() }
}

/// The type of the destination of a gradient.
pub(crate) fn destination(tree: &Tree<Leaf>, real_param: Option<&Ident>, krate: &TokenStream) -> TokenStream {
    match tree {
        Tree::Leaf(leaf) => super::destination_tokens(leaf, real_param, krate),
        Tree::Tuple(_) | Tree::List(_) => mutable(&owned(tree, real_param, krate)),
    }
}

/// The types of several values: a tuple, or the type itself if there is one.
pub(crate) fn of_several(types: &[TokenStream]) -> TokenStream {
    if let [one] = types { one.clone() } else { tuple(types) }
}
