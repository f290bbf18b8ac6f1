//! The types of parameters and results as trees of numbers and arrays, tuples, lists, and
//! user-defined types. The Rust types that follow from such a tree (of gradients, tangents,
//! destinations and blocks) are made here leaf by leaf.
//!
//! This module must never decide what a leaf is: `types` does that.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Fields, GenericArgument, Item, Lifetime, PathArguments, Type};

use super::travel::OuterDefinitions;
use super::types::{self, Generics, Leaf, leaf};
use crate::definitions::tree::arguments;
use crate::definitions::{Definition, Definitions, is_of_one_number};
use crate::value::Lowered;
use ad_ir::catalogue::{
    self,
    refused::{self, TypeForm},
};
use ad_ir::diag::{Diags, Poison, SrcRange, text_of};
use ad_ir::ir::{Elem, axis};
use ad_ir::program::{Container, DefinedType, KnownType, ListType, Owner, Passing, Role, Tree, element_of};
use ad_ir::rust_types::{Passed, mutable, tuple, type_of};

/// A type that contains itself has no finite structure.
const DEPTH: usize = 16;

/// The type of a parameter or result.
#[derive(Clone, Debug)]
pub(crate) enum TypeTree {
    /// A number or array.
    Leaf(Leaf),
    /// A tuple behind references.
    Tuple { references: usize, is_static: bool, parts: Vec<TypeTree> },
    /// A list of tuples or of arrays. A leaf is the array of all elements.
    List { passing: Passing, of: ListType, element: Box<TypeTree> },
    /// A user-defined type behind references, with the structure into which it is taken apart.
    /// `fields` are the paths of the leaves.
    Defined { references: usize, is_static: bool, of: DefinedType, fields: Vec<String>, inner: Box<TypeTree> },
}

impl TypeTree {
    /// The tree without references.
    pub(crate) fn tree(&self) -> Tree<Leaf> {
        match self {
            TypeTree::Leaf(leaf) => Tree::Leaf(leaf.clone()),
            TypeTree::Tuple { parts, .. } => Tree::Tuple(parts.iter().map(TypeTree::tree).collect()),
            TypeTree::List { of, element, .. } => Tree::List(of.clone(), element.tree().into()),
            TypeTree::Defined { of, inner, .. } => Tree::Defined(of.clone(), inner.tree().into()),
        }
    }

    /// Whether a value of the type owns all its parts, so that it can be returned.
    pub(crate) fn is_owned(&self) -> bool {
        match self {
            TypeTree::Leaf(leaf) => leaf.owned,
            TypeTree::Tuple { references, parts, .. } => *references == 0 && parts.iter().all(TypeTree::is_owned),
            TypeTree::List { passing, .. } => passing.references == 0,
            TypeTree::Defined { references, .. } => *references == 0,
        }
    }

    /// Takes no derivative with respect to any leaf.
    fn make_constant(&mut self) {
        match self {
            TypeTree::Leaf(leaf) if leaf.role == Role::Tag => {}
            TypeTree::Leaf(leaf) => leaf.role = Role::Constant,
            TypeTree::Tuple { parts, .. } => parts.iter_mut().for_each(TypeTree::make_constant),
            TypeTree::List { element: inner, .. } | TypeTree::Defined { inner, .. } => inner.make_constant(),
        }
    }

    /// The tree of a list of these elements. `None` if an element borrows, or if the parts of all
    /// elements do not form one array.
    fn listed(self, list: &ListType) -> Option<TypeTree> {
        match self {
            TypeTree::Leaf(leaf) if leaf.is_rows() && *list == ListType::Vector => {
                let of = ListType::Vector;
                let element = TypeTree::Leaf(leaf.listed(list)?).into();
                Some(TypeTree::List { passing: Passing::value(Owner::Vector), of, element })
            }
            TypeTree::Leaf(leaf) => leaf.listed(list).map(TypeTree::Leaf),
            TypeTree::Tuple { references: 0, is_static, parts } => {
                // The fields of an enum's other variants are arrays without elements, so no sizes
                // can be read from them.
                let is_enum = matches!(&parts[..], [TypeTree::Leaf(tag), ..] if tag.role == Role::Tag);
                let parts: Vec<TypeTree> = parts.into_iter().map(|p| p.listed(list)).collect::<Option<_>>()?;
                let tuple = TypeTree::Tuple { references: 0, is_static, parts };
                let arrays = tuple.tree().leaves().iter().any(|leaf| leaf.container == Container::NdArray);
                (!is_enum || !arrays).then_some(tuple)
            }
            TypeTree::Defined { references: 0, is_static, of, fields, inner } => {
                let inner = inner.listed(list)?.into();
                Some(TypeTree::Defined { references: 0, is_static, of, fields, inner })
            }
            _ => None,
        }
    }
}

/// Parses the type of a parameter or of a result. All its errors are reported.
pub(crate) fn tree(ty: &Type, names: (&Generics, &Definitions), diags: &mut Diags) -> Lowered<TypeTree> {
    let (generics, known) = names;
    match ty {
        Type::Paren(p) => tree(&p.elem, names, diags),
        Type::Group(p) => tree(&p.elem, names, diags),
        Type::Reference(r) if r.mutability.is_none() && is_product(&r.elem, known) => {
            let mut inner = tree(&r.elem, names, diags)?;
            if let TypeTree::Tuple { references, is_static, .. } | TypeTree::Defined { references, is_static, .. } =
                &mut inner
            {
                *references += 1;
                *is_static |= r.lifetime.as_ref().is_some_and(|l: &Lifetime| l.ident == "static");
            }
            Ok(inner)
        }
        Type::Path(p) if known.is_open(&p.path) => Err(Poison),
        Type::Path(_) if definition(ty, known).is_some() => defined(ty, names, diags),
        Type::Tuple(t) if !t.elems.is_empty() => {
            let (mut parts, mut failed) = (Vec::new(), false);
            for elem in &t.elems {
                match tree(elem, names, diags) {
                    Ok(part) => parts.push(part),
                    Err(Poison) => failed = true,
                }
            }
            if failed { Err(Poison) } else { Ok(TypeTree::Tuple { references: 0, is_static: false, parts }) }
        }
        _ => match list(ty) {
            Some((passing, of, elem)) if is_listed(&of, elem, known) => {
                let element = tree(elem, names, diags)?.listed(&of);
                let Some(element) = element else {
                    let message = refused::kind_of_type(TypeForm::Tuple, &text_of(elem, 40));
                    return Err(diags.push(SrcRange::of(elem), message));
                };
                Ok(TypeTree::List { passing, of, element: element.into() })
            }
            _ => leaf(ty, generics, diags).map(TypeTree::Leaf),
        },
    }
}

/// The form of a list's type, and the type of its elements.
fn list(ty: &Type) -> Option<(Passing, ListType, &Type)> {
    match ty {
        Type::Paren(p) => list(&p.elem),
        Type::Group(p) => list(&p.elem),
        Type::Reference(r) if r.mutability.is_none() => {
            let is_static = r.lifetime.as_ref().is_some_and(|l| l.ident == "static");
            if let Type::Slice(s) = &*r.elem {
                let passing = Passing { is_static, ..Passing::reference(Owner::Slice) };
                return Some((passing, ListType::Vector, &s.elem));
            }
            let (passing, of, elem) = list(&r.elem)?;
            let is_static = is_static || passing.is_static;
            Some((Passing { references: passing.references + 1, is_static, ..passing }, of, elem))
        }
        Type::Array(a) => {
            let of = ListType::Static(types::len(&a.len).tokens());
            Some((Passing::value(Owner::Static), of, &a.elem))
        }
        Type::Path(p) if p.qself.is_none() => {
            let last = p.path.segments.last()?;
            let vec = KnownType::named(&last.ident.to_string()) == Some(KnownType::Vec);
            let PathArguments::AngleBracketed(args) = &last.arguments else { return None };
            match args.args.first() {
                Some(GenericArgument::Type(of)) if vec => Some((Passing::value(Owner::Vector), ListType::Vector, of)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether the elements are tuples, user-defined types, or arrays whose type does not state their
/// sizes.
fn is_listed(of: &ListType, elem: &Type, known: &Definitions) -> bool {
    is_product(elem, known) || (*of == ListType::Vector && types::is_array(elem))
}

/// Whether a type is a tuple, a user-defined type, or a reference to one of these.
fn is_product(ty: &Type, known: &Definitions) -> bool {
    match ty {
        Type::Paren(p) => is_product(&p.elem, known),
        Type::Group(p) => is_product(&p.elem, known),
        Type::Reference(r) => r.mutability.is_none() && is_product(&r.elem, known),
        Type::Tuple(t) => !t.elems.is_empty(),
        Type::Path(p) => known.is_open(&p.path) || definition(ty, known).is_some(),
        _ => false,
    }
}

/// The definition of a type, and its arguments.
fn definition<'d>(ty: &Type, known: &'d Definitions) -> Option<(&'d Definition, Vec<GenericArgument>)> {
    let Type::Path(p) = ty else { return None };
    let last = p.path.segments.last().filter(|_| p.qself.is_none())?;
    let of = known.ty(&last.ident.to_string()).filter(|of| !of.of_std)?;
    Some((of, arguments(&last.arguments)))
}

/// Whether a type is an enum, or has one in a part.
fn has_sums(ty: &Type, known: &Definitions, depth: usize) -> bool {
    struct HasSums<'d>(&'d Definitions, usize, bool);
    impl Visit<'_> for HasSums<'_> {
        fn visit_type_path(&mut self, p: &syn::TypePath) {
            let ty = Type::Path(p.clone());
            if let Some((of, _)) = definition(&ty, self.0) {
                let fields = || of.variants.iter().flat_map(|v| &v.fields);
                // A type that contains itself has been refused.
                let inside = || self.1 < DEPTH && fields().any(|f| has_sums(&f.ty, self.0, self.1 + 1));
                self.2 |= of.is_enum || inside();
            }
            visit::visit_type_path(self, p);
        }
    }
    let mut parts = HasSums(known, depth, false);
    parts.visit_type(ty);
    parts.2
}

/// A user-defined type.
fn defined(ty: &Type, names: (&Generics, &Definitions), diags: &mut Diags) -> Lowered<TypeTree> {
    if definition(ty, names.1).is_none() {
        return Err(Poison);
    }
    let mut fields = Vec::new();
    match taken_apart(ty, names, ("", 0), &mut fields) {
        Ok(inner) => {
            let has_sums = has_sums(ty, names.1, 0);
            let of = DefinedType { ty: types::ungrouped(ty).to_token_stream(), has_sums };
            Ok(TypeTree::Defined { references: 0, is_static: false, of, fields, inner: inner.into() })
        }
        Err(field) => {
            let message = catalogue::field_of_type(&text_of(ty, 40), &field.path, &field.ty);
            Err(diags.push(SrcRange::of(ty), message))
        }
    }
}

/// A field whose type is not understood.
pub(crate) struct NoLeaf {
    path: String,
    ty: String,
}

/// The structure of a field: tuples and lists of leaves and of user-defined types.
pub(crate) fn field(ty: &Type, names: (&Generics, &Definitions)) -> Result<TypeTree, NoLeaf> {
    let none = || NoLeaf { path: String::new(), ty: text_of(ty, 40) };
    match ty {
        Type::Paren(p) => return field(&p.elem, names),
        Type::Group(p) => return field(&p.elem, names),
        Type::Tuple(t) if !t.elems.is_empty() => {
            let parts = t.elems.iter().map(|ty| field(ty, names)).collect::<Result<_, _>>()?;
            return Ok(TypeTree::Tuple { references: 0, is_static: false, parts });
        }
        _ => {}
    }
    if definition(ty, names.1).is_some() {
        let inner = taken_apart(ty, names, ("", 0), &mut Vec::new())?;
        let has_sums = has_sums(ty, names.1, 0);
        let of = DefinedType { ty: types::ungrouped(ty).to_token_stream(), has_sums };
        let fields = Vec::new();
        return Ok(TypeTree::Defined { references: 0, is_static: false, of, fields, inner: inner.into() });
    }
    match list(ty) {
        Some((passing, of, elem)) if passing.references == 0 && is_listed(&of, elem, names.1) => {
            // The leaves are those of one element.
            taken_apart(elem, names, ("", 0), &mut Vec::new())?.listed(&of).ok_or_else(none)?;
            Ok(TypeTree::List { passing, of, element: field(elem, names)?.into() })
        }
        _ => taken_apart(ty, names, ("", 0), &mut Vec::new()),
    }
}

/// The structure of a value that has been taken apart: nested tuples of numbers and arrays. The tag
/// of an enum comes first. `path` is that of the field; the leaves' paths are added to `fields`.
pub(crate) fn taken_apart(
    ty: &Type,
    names: (&Generics, &Definitions),
    (path, depth): (&str, usize),
    fields: &mut Vec<String>,
) -> Result<TypeTree, NoLeaf> {
    let (generics, known) = names;
    let none = || NoLeaf { path: path.to_string(), ty: text_of(ty, 40) };
    let tuple = |parts: Vec<TypeTree>| TypeTree::Tuple { references: 0, is_static: false, parts };
    let inside = |name: &str| if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
    if depth > DEPTH {
        return Err(none());
    }
    match ty {
        Type::Paren(p) => return taken_apart(&p.elem, names, (path, depth), fields),
        Type::Group(p) => return taken_apart(&p.elem, names, (path, depth), fields),
        Type::Tuple(t) if !t.elems.is_empty() => {
            let parts = t.elems.iter().enumerate();
            let parts = parts.map(|(k, ty)| taken_apart(ty, names, (&inside(&k.to_string()), depth + 1), fields));
            return parts.collect::<Result<_, _>>().map(tuple);
        }
        _ => {}
    }
    if let Some((of, given)) = definition(ty, known) {
        if of.is_general {
            return Err(none());
        }
        let mut variants = Vec::new();
        for (v, variant) in of.variants.iter().enumerate() {
            let mut parts = Vec::new();
            if v == 0 && of.is_enum {
                fields.push(path.to_string());
            }
            for (k, field) in variant.fields.iter().enumerate() {
                let ty = of.field_type(v, k, &given).ok_or_else(none)?;
                let mut part = taken_apart(&ty, names, (&inside(&field.name), depth + 1), fields)?;
                if field.constant {
                    part.make_constant();
                }
                parts.push(part);
            }
            variants.push(tuple(parts));
        }
        if !of.is_enum {
            return variants.pop().ok_or_else(none);
        }
        // If a value is another variant, the arrays of this variant have no elements.
        let numbers = variants.iter().flat_map(|ty| ty.tree().leaves().into_iter().cloned().collect::<Vec<_>>());
        if numbers.into_iter().any(|leaf| leaf.container == Container::NdArray && leaf.rank == 0) {
            return Err(none());
        }
        let tag = Leaf {
            container: Container::Scalar,
            elem: Elem::USIZE,
            rank: 0,
            owned: true,
            passing: Container::Scalar.taken(),
            lens: Vec::new(),
            role: Role::Tag,
        };
        return Ok(tuple(std::iter::once(TypeTree::Leaf(tag)).chain(variants).collect()));
    }
    if let Some((passing, of, elem)) = list(ty)
        && passing.references == 0
        && is_listed(&of, elem, known)
    {
        let element = taken_apart(elem, names, (path, depth + 1), fields)?.listed(&of).ok_or_else(none)?;
        return Ok(TypeTree::List { passing, of, element: element.into() });
    }
    let leaf = leaf(ty, generics, &mut Diags::new()).ok().filter(|leaf| leaf.owned).ok_or_else(none)?;
    fields.push(path.to_string());
    Ok(TypeTree::Leaf(Leaf { passing: leaf.container.taken(), ..leaf }))
}

/// The fields of a user-defined type: a structure for each field of each variant. User-defined
/// types inside are not taken apart further. `None` if parameters cannot have the type.
#[must_use]
pub fn fields(item: &Item, outside: &OuterDefinitions) -> Option<Vec<Vec<Tree<FieldLeaf>>>> {
    let (generics, variants): (_, Vec<&Fields>) = match item {
        Item::Struct(s) => (&s.generics, vec![&s.fields]),
        Item::Enum(e) => (&e.generics, e.variants.iter().map(|v| &v.fields).collect()),
        _ => return None,
    };
    if !is_of_one_number(generics) {
        return None;
    }
    let names = Generics {
        real: generics.type_params().next().map(|p| p.ident.clone()),
        further: Vec::new(),
        consts: generics.const_params().map(|c| c.ident.clone()).collect(),
    };
    let known = Definitions::outside(outside);
    let mut leaf = |leaf: &Leaf| FieldLeaf {
        container: leaf.container,
        elem: leaf.elem,
        rank: leaf.rank,
        lens: leaf.lens.iter().map(types::Len::tokens).collect(),
    };
    let mut field = |f: &syn::Field| Some(field(&f.ty, (&names, &known)).ok()?.tree().map(&mut leaf));
    variants.into_iter().map(|fields| fields.iter().map(&mut field).collect()).collect()
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

/// The owned type of a gradient or a result.
pub(crate) fn owned(tree: &Tree<Leaf>, real_param: Option<&Ident>, krate: &TokenStream) -> TokenStream {
    type_of(tree, Passed::Owned, &mut |leaf, lists| types::owned_tokens(&part(leaf, lists), real_param, krate))
}

/// The type of a tangent or cotangent, and how it is passed.
pub(crate) fn passed(tree: &Tree<Leaf>, real_param: Option<&Ident>, krate: &TokenStream) -> TokenStream {
    type_of(tree, Passed::Borrowed, &mut |leaf, lists| match lists {
        0 => types::passed_tokens(leaf, real_param, krate),
        lists => types::owned_tokens(&part(leaf, lists), real_param, krate),
    })
}

/// A leaf below this many lists, as an element of its array.
fn part(leaf: &Leaf, lists: usize) -> Leaf {
    let (container, rank, lens) = element_of((leaf.container, usize::from(leaf.rank), &leaf.lens), lists);
    Leaf { container, rank: axis(rank), lens, ..leaf.clone() }
}

/// The type of the destination of a gradient.
pub(crate) fn destination(tree: &Tree<Leaf>, real_param: Option<&Ident>, krate: &TokenStream) -> TokenStream {
    match tree {
        Tree::Leaf(leaf) => types::destination_tokens(leaf, real_param, krate),
        Tree::Tuple(_) | Tree::List(..) | Tree::Defined(..) => mutable(&owned(tree, real_param, krate)),
    }
}

/// The types of several values: a tuple, or the type itself if there is one.
pub(crate) fn of_several(types: &[TokenStream]) -> TokenStream {
    if let [one] = types { one.clone() } else { tuple(types) }
}
