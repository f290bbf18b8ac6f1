//! The types of parameters and results as trees of numbers and arrays, tuples, lists, and
//! user-defined types. The Rust types that follow from such a tree (of gradients, tangents,
//! destinations and blocks) are made here leaf by leaf.
//!
//! This module must never decide what a leaf is: `types` does that.

use std::rc::Rc;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::visit::Visit;
use syn::{Fields, GenericArgument, Item, Lifetime, PathArguments, Type};

use super::result;
use super::travel::OuterDefinitions;
use super::types::{self, Generics, Leaf, leaf};
use crate::definitions::layout::Layout;
use crate::definitions::tree::{arguments, is_phantom};
use crate::definitions::{Definition, Definitions, is_of_one_number};
use crate::value::Lowered;
use crate::walk::{Part, Walk};
use ad_ir::catalogue::{
    self,
    refused::{self, TypeForm},
};
use ad_ir::diag::{Diags, Poison, SrcRange, text_of};
use ad_ir::ir::{Elem, axis};
use ad_ir::program::{
    Container, DefinedType, FallibleKind, FieldLeaf, KnownType, ListType, Owner, Passing, Role, Tree, element_of,
};
use ad_ir::rust_types::{Passed, mutable, tuple, type_of};

/// The maximum nesting of types.
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
                let parts: Vec<TypeTree> = parts.into_iter().map(|p| p.listed(list)).collect::<Option<_>>()?;
                Some(TypeTree::Tuple { references: 0, is_static, parts })
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
    if let Some(content) = optional(ty, known) {
        if !tree(content, names, diags)?.is_owned() {
            return Err(diags.push(SrcRange::of(content), catalogue::borrowed_option(&text_of(ty, 40))));
        }
        return defined(ty, names, diags);
    }
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
                    Ok(TypeTree::Defined { of, .. }) if of.is_opaque => {
                        diags.push(SrcRange::of(elem), catalogue::copied_inside(&text_of(elem, 40)));
                        failed = true;
                    }
                    Ok(part) => parts.push(part),
                    Err(Poison) => failed = true,
                }
            }
            if failed { Err(Poison) } else { Ok(TypeTree::Tuple { references: 0, is_static: false, parts }) }
        }
        _ => match list(ty) {
            Some((passing, of, elem)) if is_listed(&of, elem, known) => {
                let element = tree(elem, names, diags)?;
                if let TypeTree::Defined { of, .. } = &element
                    && of.is_opaque
                {
                    return Err(diags.push(SrcRange::of(elem), catalogue::copied_inside(&text_of(elem, 40))));
                }
                let element = element.listed(&of);
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
        Type::Path(p) => known.is_open(&p.path) || definition(ty, known).is_some() || optional(ty, known).is_some(),
        _ => false,
    }
}

/// The type of the content of an `Option`.
fn optional<'t>(ty: &'t Type, known: &Definitions) -> Option<&'t Type> {
    let (of, content) = result::fallible(ty)?;
    (of.kind == FallibleKind::Option && known.ty("Option").is_none()).then_some(content)
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
    let mut found = false;
    let mut walk = |part: Part<'_>| {
        let Part::TypePath(p) = part else { return };
        let ty = Type::Path(p.clone());
        if let Some((of, _)) = definition(&ty, known) {
            let fields = || of.variants.iter().flat_map(|v| &v.fields);
            // A type that contains itself counts as an enum.
            found |= of.is_enum || known.contains_itself(of);
            let inside = || depth < DEPTH && fields().any(|f| has_sums(&f.ty, known, depth + 1));
            found = found || inside();
        }
        found |= optional(&ty, known).is_some();
    };
    Walk(&mut walk).visit_type(ty);
    found
}

/// A user-defined type, or an `Option`.
fn defined(ty: &Type, names: (&Generics, &Definitions), diags: &mut Diags) -> Lowered<TypeTree> {
    let mut fields = Vec::new();
    let found = taken_apart(ty, names, ("", 0), &mut fields).and_then(|inner| Ok((defined_type(ty, names)?, inner)));
    match found {
        Ok((of, inner)) => Ok(TypeTree::Defined { references: 0, is_static: false, of, fields, inner: inner.into() }),
        Err(field) => {
            let message = catalogue::field_of_type(&text_of(ty, 40), &field.path, &field.ty);
            Err(diags.push(SrcRange::of(ty), message))
        }
    }
}

/// Whether a field is copied, since it is not made of numbers: `PhantomData`, and a field with the
/// mark `#[constant]` of a type that is not understood.
fn is_copied(ty: &Type, constant: bool, names: (&Generics, &Definitions)) -> bool {
    is_phantom(ty) || (constant && taken_apart(ty, names, ("", 0), &mut Vec::new()).is_err())
}

/// Whether a type is a struct that has fields which are copied.
fn is_opaque(ty: &Type, names: (&Generics, &Definitions), depth: usize) -> bool {
    let Some((of, given)) = definition(ty, names.1).filter(|(of, _)| !of.is_enum && depth < DEPTH) else {
        return false;
    };
    // A type that contains itself has no such fields.
    if names.1.contains_itself(of) {
        return false;
    }
    let mut fields = of.variants.iter().flat_map(|v| v.fields.iter().enumerate());
    fields.any(|(k, field)| {
        let ty = of.field_type(0, k, &given);
        ty.is_some_and(|ty| is_copied(&ty, field.constant, names) || is_opaque(&ty, names, depth + 1))
    })
}

/// A user-defined type, or an `Option`, as a node of the structure.
fn defined_type(ty: &Type, names: (&Generics, &Definitions)) -> Result<DefinedType, NoLeaf> {
    let content = match optional(ty, names.1) {
        Some(content) => Some(Rc::new(field(content, names)?.tree().map(&mut field_leaf))),
        None => None,
    };
    let is_opaque = is_opaque(ty, names, 0);
    // A value that is copied from another one is made as a whole.
    let has_sums = is_opaque || content.is_some() || has_sums(ty, names.1, 0);
    Ok(DefinedType { ty: types::ungrouped(ty).to_token_stream(), has_sums, content, is_opaque, like: None })
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
    if definition(ty, names.1).is_some() || optional(ty, names.1).is_some() {
        taken_apart(ty, names, ("", 0), &mut Vec::new())?;
        let inner = unlisted(ty, names)?;
        let of = defined_type(ty, names)?;
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

/// The structure into which hidden functions take a value of a type apart. A list in it is a list
/// of structures; `taken_apart` has one array for each leaf. The type is one that is understood.
fn unlisted(ty: &Type, names: (&Generics, &Definitions)) -> Result<TypeTree, NoLeaf> {
    let tuple = |parts: Vec<TypeTree>| TypeTree::Tuple { references: 0, is_static: false, parts };
    match ty {
        Type::Paren(p) => return unlisted(&p.elem, names),
        Type::Group(p) => return unlisted(&p.elem, names),
        Type::Tuple(t) if !t.elems.is_empty() => {
            return t.elems.iter().map(|ty| unlisted(ty, names)).collect::<Result<_, _>>().map(tuple);
        }
        _ => {}
    }
    if let Some((of, given)) = definition(ty, names.1) {
        if names.1.contains_itself(of) {
            return Ok(of_elements(taken_apart(ty, names, ("", 0), &mut Vec::new())?, 0));
        }
        let mut variants = Vec::new();
        for (v, variant) in of.variants.iter().enumerate() {
            let mut parts = Vec::new();
            for (k, field) in variant.fields.iter().enumerate() {
                let Some(ty) = of.field_type(v, k, &given) else { continue };
                if of.is_enum || !is_copied(&ty, field.constant, names) {
                    parts.push(unlisted(&ty, names)?);
                }
            }
            variants.push(tuple(parts));
        }
        let tags = of.is_enum.then(|| tag(Elem::USIZE));
        let mut parts: Vec<TypeTree> = tags.into_iter().chain(variants).collect();
        return Ok(if of.is_enum { tuple(parts) } else { parts.remove(0) });
    }
    if let Some(content) = optional(ty, names.1) {
        return Ok(tuple(vec![unlisted(content, names)?, tag(Elem::Bool)]));
    }
    match list(ty) {
        Some((passing, of, elem)) if passing.references == 0 && is_listed(&of, elem, names.1) => {
            Ok(TypeTree::List { passing, of, element: unlisted(elem, names)?.into() })
        }
        _ => taken_apart(ty, names, ("", 0), &mut Vec::new()),
    }
}

/// The same structure, with one element of each list in place of the array of all.
fn of_elements(tree: TypeTree, lists: usize) -> TypeTree {
    match tree {
        TypeTree::Leaf(leaf) => TypeTree::Leaf(part(&leaf, lists)),
        TypeTree::Tuple { references, is_static, parts } => {
            let parts = parts.into_iter().map(|part| of_elements(part, lists)).collect();
            TypeTree::Tuple { references, is_static, parts }
        }
        TypeTree::List { passing, of, element } => {
            TypeTree::List { passing, of, element: of_elements(*element, lists + 1).into() }
        }
        TypeTree::Defined { references, is_static, of, fields, inner } => {
            TypeTree::Defined { references, is_static, of, fields, inner: of_elements(*inner, lists).into() }
        }
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
            if t.elems.iter().any(|ty| is_opaque(ty, names, 0)) {
                return Err(none());
            }
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
        if known.contains_itself(of) {
            return tables(&known.layout(of, &given, generics).ok_or_else(none)?, path, fields).ok_or_else(none);
        }
        let mut variants = Vec::new();
        for (v, variant) in of.variants.iter().enumerate() {
            let mut parts = Vec::new();
            if v == 0 && of.is_enum {
                fields.push(path.to_string());
            }
            for (k, field) in variant.fields.iter().enumerate() {
                let ty = of.field_type(v, k, &given).ok_or_else(none)?;
                if !of.is_enum && is_copied(&ty, field.constant, names) {
                    continue;
                }
                if of.is_enum && is_opaque(&ty, names, 0) {
                    return Err(none());
                }
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
        if variants.iter().any(has_array_of_rank_0) {
            return Err(none());
        }
        return Ok(tuple(std::iter::once(tag(Elem::USIZE)).chain(variants).collect()));
    }
    if let Some(content) = optional(ty, known) {
        if is_opaque(content, names, 0) {
            return Err(none());
        }
        let content = taken_apart(content, names, (path, depth + 1), fields)?;
        if has_array_of_rank_0(&content) {
            return Err(none());
        }
        fields.push(path.to_string());
        return Ok(tuple(vec![content, tag(Elem::Bool)]));
    }
    if let Some((passing, of, elem)) = list(ty)
        && passing.references == 0
        && is_listed(&of, elem, known)
    {
        if is_opaque(elem, names, 0) {
            return Err(none());
        }
        let element = taken_apart(elem, names, (path, depth + 1), fields)?.listed(&of).ok_or_else(none)?;
        return Ok(TypeTree::List { passing, of, element: element.into() });
    }
    let leaf = leaf(ty, generics, &mut Diags::new()).ok().filter(|leaf| leaf.owned).ok_or_else(none)?;
    fields.push(path.to_string());
    Ok(TypeTree::Leaf(Leaf { passing: leaf.container.taken(), ..leaf }))
}

/// Whether there is an array that cannot be absent: if a value is another variant, the arrays of
/// this one have no elements.
fn has_array_of_rank_0(ty: &TypeTree) -> bool {
    ty.tree().leaves().into_iter().any(|leaf| leaf.container == Container::NdArray && leaf.rank == 0)
}

/// Which variant a value is.
fn tag(elem: Elem) -> TypeTree {
    TypeTree::Leaf(number(elem, Role::Tag))
}

/// The structure of a type that contains itself: the number of the first row, and the tables.
fn tables(layout: &Layout<'_>, path: &str, fields: &mut Vec<String>) -> Option<TypeTree> {
    fields.push(path.to_string());
    let mut parts = vec![TypeTree::Leaf(number(Elem::USIZE, Role::Constant))];
    for table in &layout.tables {
        let row = table.columns.iter().map(|column| {
            fields.push(path.to_string());
            let leaf =
                Leaf { lens: column.lens.clone(), rank: axis(column.lens.len()), ..number(column.elem, column.role) };
            let container = if column.lens.is_empty() { Container::Scalar } else { Container::Static };
            TypeTree::Leaf(Leaf { container, ..leaf }).listed(&ListType::Vector)
        });
        let parts_of_row = row.collect::<Option<_>>()?;
        let row = TypeTree::Tuple { references: 0, is_static: false, parts: parts_of_row };
        let passing = Passing::value(Owner::Vector);
        parts.push(TypeTree::List { passing, of: ListType::Vector, element: row.into() });
    }
    Some(TypeTree::Tuple { references: 0, is_static: false, parts })
}

/// A number in a field.
pub(crate) fn number(elem: Elem, role: Role) -> Leaf {
    let (container, passing) = (Container::Scalar, Container::Scalar.taken());
    Leaf { container, elem, rank: 0, owned: true, passing, lens: Vec::new(), role }
}

/// The fields of a user-defined type: a structure for each field of each variant, and `None` for a
/// field that is copied. User-defined types inside are not taken apart further. `None` as a whole
/// if parameters cannot have the type.
#[must_use]
pub fn fields(item: &Item, outside: &OuterDefinitions) -> Option<Vec<Vec<Option<Tree<FieldLeaf>>>>> {
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
    let known = Definitions::outside(&super::tables::with_itself(item, outside));
    let is_struct = matches!(item, Item::Struct(_));
    let mut field = |f: &syn::Field| {
        let constant = f.attrs.iter().any(|a| a.path().is_ident("constant"));
        if is_struct && is_copied(&f.ty, constant, (&names, &known)) {
            return Some(None);
        }
        Some(Some(field(&f.ty, (&names, &known)).ok()?.tree().map(&mut field_leaf)))
    };
    variants.into_iter().map(|fields| fields.iter().map(&mut field).collect()).collect()
}

/// A number or array in a field.
fn field_leaf(leaf: &Leaf) -> FieldLeaf {
    FieldLeaf {
        container: leaf.container,
        elem: leaf.elem,
        rank: leaf.rank,
        lens: leaf.lens.iter().map(types::Len::tokens).collect(),
    }
}

/// The owned type of a gradient or a result.
pub(crate) fn owned(tree: &Tree<Leaf>, real_param: Option<&Ident>, krate: &TokenStream) -> TokenStream {
    type_of(krate, tree, Passed::Owned, &mut |leaf, lists| types::owned_tokens(&part(leaf, lists), real_param, krate))
}

/// The type of a tangent or cotangent, and how it is passed.
pub(crate) fn passed(tree: &Tree<Leaf>, real_param: Option<&Ident>, krate: &TokenStream) -> TokenStream {
    type_of(krate, tree, Passed::Borrowed, &mut |leaf, lists| match lists {
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
        Tree::Tuple(_) | Tree::List(..) | Tree::Ragged(..) | Tree::Defined(..) => {
            mutable(&owned(tree, real_param, krate))
        }
    }
}

/// The types of several values: a tuple, or the type itself if there is one.
pub(crate) fn of_several(types: &[TokenStream]) -> TokenStream {
    if let [one] = types { one.clone() } else { tuple(types) }
}
