//! The tree of the leaves of a type. A leaf is one array or scalar; a product has its fields, and a
//! sum has a tag and the fields of each variant.
//!
//! The order of the leaves is that of declaration. The flag of an `Option` follows its payload, and
//! the tag of an enum comes before its payloads. A list of a product has one array for each leaf of
//! an element, with one more leading axis.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::VisitMut;
use syn::{Expr, GenericArgument, PathArguments, Type};

use super::{Definition, Definitions, Parameter};
use crate::types::{self, Generics, Leaf, Len};
use crate::walk::{Change, Changing};
use ad_ir::diag::Diags;
use ad_ir::ir::Elem;

/// The maximum nesting of types.
const DEPTH: usize = 16;

/// The tree of a type.
#[derive(Clone)]
pub(crate) enum TypeTree<'d> {
    Leaf(Leaf),
    /// A tuple. `()` has no parts.
    Tuple(Vec<TypeTree<'d>>),
    Struct(&'d Definition, Vec<TypeTree<'d>>),
    /// An enum: the fields of each variant.
    Enum(&'d Definition, Vec<Vec<TypeTree<'d>>>),
    Option(Box<TypeTree<'d>>),
    /// A list of products, with its length if the type says it.
    List(Option<Len>, Box<TypeTree<'d>>),
    /// A type that contains itself, with its arguments. It has tables instead of leaves
    /// ([`Definitions::layout`]).
    Node(&'d Definition, Vec<GenericArgument>),
}

/// The arguments of a generic type: each name with its argument.
struct Arguments<'t>(Vec<(&'t Ident, GenericArgument)>);

impl Change for Arguments<'_> {
    fn ty(&mut self, ty: &mut Type) -> bool {
        if let Type::Path(p) = ty
            && p.qself.is_none()
            && let Some(name) = p.path.get_ident()
            && let Some((_, GenericArgument::Type(of))) = self.0.iter().find(|(param, _)| *param == name)
        {
            *ty = of.clone();
            return false;
        }
        true
    }

    fn expr(&mut self, e: &mut Expr) -> bool {
        if let Expr::Path(p) = e
            && let Some(name) = p.path.get_ident()
            && let Some((_, of)) = self.0.iter().find(|(param, _)| *param == name)
            && let Ok(size) = syn::parse2(of.to_token_stream())
        {
            *e = size;
            return false;
        }
        true
    }
}

/// Whether a type is `PhantomData`, which has no values.
pub(crate) fn is_phantom(ty: &Type) -> bool {
    matches!(ty, Type::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == "PhantomData"))
}

/// The types and sizes in `<..>`.
pub(crate) fn arguments(arguments: &PathArguments) -> Vec<GenericArgument> {
    match arguments {
        PathArguments::AngleBracketed(args) => {
            args.args.iter().filter(|a| !matches!(a, GenericArgument::Lifetime(_))).cloned().collect()
        }
        _ => Vec::new(),
    }
}

impl Definition {
    /// Whether a type names one of the generic parameters.
    pub(crate) fn mentions_parameter(&self, ty: &Type) -> bool {
        fn mentions(tokens: TokenStream, names: &[String]) -> bool {
            tokens.into_iter().any(|token| match token {
                TokenTree::Group(g) => mentions(g.stream(), names),
                TokenTree::Ident(i) => names.contains(&i.to_string()),
                _ => false,
            })
        }
        let names: Vec<String> = self.params.iter().map(|p| p.name().to_string()).collect();
        !names.is_empty() && mentions(ty.to_token_stream(), &names)
    }

    /// The definition's own names for the parameters for which a use of the type, such as
    /// `Grid<N, M>`, has the argument `name`. None if it is the use of another type.
    pub(crate) fn parameters_given_as(&self, ty: &syn::TypePath, name: &str) -> Vec<String> {
        let Some(last) = ty.path.segments.last().filter(|last| last.ident == self.name) else { return Vec::new() };
        let given = arguments(&last.arguments);
        let pairs = given.iter().zip(&self.params);
        let named = pairs.filter(|(given, _)| given.to_token_stream().to_string() == name);
        named.map(|(_, param)| param.name().to_string()).collect()
    }

    /// The type of a field with the type's arguments.
    pub(crate) fn field_type(&self, variant: usize, field: usize, given: &[GenericArgument]) -> Option<Type> {
        let mut ty = self.variants.get(variant)?.fields.get(field)?.ty.clone();
        let mut arguments = Arguments(self.params.iter().map(Parameter::name).zip(given.iter().cloned()).collect());
        Changing(&mut arguments).visit_type_mut(&mut ty);
        Some(ty)
    }
}

impl Definitions {
    /// The tree of a type. `None` if the type is not known.
    pub(crate) fn tree(&self, ty: &Type, generics: &Generics) -> Option<TypeTree<'_>> {
        self.part(ty, generics, 0)
    }

    fn part(&self, ty: &Type, generics: &Generics, depth: usize) -> Option<TypeTree<'_>> {
        if depth > DEPTH {
            return None;
        }
        let deeper = |ty: &Type| self.part(ty, generics, depth + 1);
        match ty {
            Type::Paren(p) => return deeper(&p.elem),
            Type::Group(g) => return deeper(&g.elem),
            Type::Reference(r) if !matches!(&*r.elem, Type::Slice(_)) => {
                // The references of a leaf are part of it.
                if let Ok(leaf) = types::leaf(ty, generics, &mut Diags::new()) {
                    return Some(TypeTree::Leaf(leaf));
                }
                return deeper(&r.elem);
            }
            Type::Path(_) if let Some(inner) = types::boxed(ty) => return deeper(inner),
            Type::Tuple(t) => return Some(TypeTree::Tuple(t.elems.iter().map(deeper).collect::<Option<_>>()?)),
            _ => {}
        }
        if let Type::Path(p) = ty
            && p.qself.is_none()
            && let Some(last) = p.path.segments.last()
        {
            let (name, given) = (last.ident.to_string(), arguments(&last.arguments));
            if let Some(definition) = self.ty(&name) {
                if self.contains_itself(definition) {
                    return Some(TypeTree::Node(definition, given));
                }
                let variant = |v: usize| -> Option<Vec<TypeTree<'_>>> {
                    let fields = 0..definition.variants[v].fields.len();
                    fields
                        .map(|k| {
                            let ty = definition.field_type(v, k, &given)?;
                            // A field that is not made of numbers has no leaves.
                            let copied = definition.variants[v].fields[k].constant || is_phantom(&ty);
                            deeper(&ty).or_else(|| copied.then(|| TypeTree::Tuple(Vec::new())))
                        })
                        .collect()
                };
                if definition.is_enum {
                    let variants = (0..definition.variants.len()).map(variant).collect::<Option<_>>()?;
                    return Some(TypeTree::Enum(definition, variants));
                }
                return Some(TypeTree::Struct(definition, variant(0)?));
            }
            if name == "Option"
                && let [GenericArgument::Type(inner)] = &given[..]
            {
                return Some(TypeTree::Option(deeper(inner)?.into()));
            }
        }
        if let Ok(leaf) = types::leaf(ty, generics, &mut Diags::new()) {
            return Some(TypeTree::Leaf(leaf));
        }
        let (len, elem) = types::list(ty)?;
        Some(TypeTree::List(len, deeper(elem)?.into()))
    }
}

impl TypeTree<'_> {
    /// The element types of the leaves, in their order.
    pub(crate) fn elems(&self, out: &mut Vec<Elem>) {
        match self {
            TypeTree::Leaf(leaf) => out.push(leaf.elem),
            TypeTree::Tuple(parts) | TypeTree::Struct(_, parts) => parts.iter().for_each(|p| p.elems(out)),
            TypeTree::Enum(_, variants) => {
                out.push(Elem::USIZE);
                variants.iter().flatten().for_each(|p| p.elems(out));
            }
            TypeTree::Option(inner) => {
                inner.elems(out);
                out.push(Elem::Bool);
            }
            TypeTree::List(_, element) => element.elems(out),
            // Elements of lists are numbers of rows.
            TypeTree::Node(..) => out.push(Elem::USIZE),
        }
    }
}
