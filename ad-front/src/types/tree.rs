//! The types of parameters and results as trees: tuples of numbers, arrays and tuples. The Rust
//! types that follow from such a tree (of gradients, tangents, destinations and blocks) are made
//! here leaf by leaf.
//!
//! This module must never decide what a leaf is: `types` does that.

use proc_macro2::{Ident, TokenStream};
use syn::{Lifetime, Type};

use super::{Generics, Leaf, leaf};
use crate::value::Lowered;
use ad_ir::diag::{Diags, Poison};
use ad_ir::program::Tree;
use ad_ir::rust_types::{mutable, tuple, written};

/// The type of a parameter or result.
#[derive(Clone, Debug)]
pub(crate) enum TypeTree {
    /// A number or array.
    Leaf(Leaf),
    /// A tuple behind references.
    Tuple { references: usize, is_static: bool, parts: Vec<TypeTree> },
}

impl TypeTree {
    /// The tree without references.
    pub(crate) fn tree(&self) -> Tree<Leaf> {
        match self {
            TypeTree::Leaf(leaf) => Tree::Leaf(leaf.clone()),
            TypeTree::Tuple { parts, .. } => Tree::Tuple(parts.iter().map(TypeTree::tree).collect()),
        }
    }

    /// Whether a value of the type owns all that it consists of, so that it can be returned.
    pub(crate) fn is_owned(&self) -> bool {
        match self {
            TypeTree::Leaf(leaf) => leaf.owned,
            TypeTree::Tuple { references, parts, .. } => *references == 0 && parts.iter().all(TypeTree::is_owned),
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
        _ => leaf(ty, generics, diags).map(TypeTree::Leaf),
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
    written(tree, &mut |leaf| super::owned_tokens(leaf, real_param, krate))
}

/// The type of a tangent or cotangent, and how it is passed.
pub(crate) fn passed(tree: &Tree<Leaf>, real_param: Option<&Ident>, krate: &TokenStream) -> TokenStream {
    written(tree, &mut |leaf| super::passed_tokens(leaf, real_param, krate))
}

/// The type of the destination of a gradient.
pub(crate) fn destination(tree: &Tree<Leaf>, real_param: Option<&Ident>, krate: &TokenStream) -> TokenStream {
    match tree {
        Tree::Leaf(leaf) => super::destination_tokens(leaf, real_param, krate),
        Tree::Tuple(_) => mutable(&owned(tree, real_param, krate)),
    }
}

/// The types of several values: a tuple, or the type itself if there is one.
pub(crate) fn of_several(types: &[TokenStream]) -> TokenStream {
    if let [one] = types { one.clone() } else { tuple(types) }
}
