//! Functions as parameters of a marked function: `impl Fn(f64) -> f64`, references to it, and type
//! parameters with such a bound. A marked function with such parameters is a value of one type only
//! if the types of these parameters are given.
//!
//! This module must never read the body of a function.

use proc_macro2::Ident;
use syn::WherePredicate;
use syn::punctuated::Punctuated;
use syn::{
    GenericParam, Generics, ParenthesizedGenericArguments, PathArguments, Token, Type, TypeParam, TypeParamBound,
};

pub(super) type Bounds = Punctuated<TypeParamBound, Token![+]>;

/// The parameters and the result of a function type. `None` for any other type.
pub(super) fn function<'t>(ty: &'t Type, generics: &'t Generics) -> Option<&'t ParenthesizedGenericArguments> {
    match ty {
        Type::Paren(p) => function(&p.elem, generics),
        Type::Group(g) => function(&g.elem, generics),
        Type::ImplTrait(t) => bound(&t.bounds),
        Type::TraitObject(t) => bound(&t.bounds),
        Type::Path(p) => named(p.path.get_ident()?, generics),
        _ => None,
    }
}

/// The parameters and the result of a function type that a type parameter has as its bound.
pub(super) fn named<'t>(name: &Ident, generics: &'t Generics) -> Option<&'t ParenthesizedGenericArguments> {
    let own = generics.type_params().find(|t| t.ident == *name)?;
    bounds(own, generics).find_map(bound)
}

/// The bounds of a type parameter, at its declaration and in the `where` clause.
pub(super) fn bounds<'t>(own: &'t TypeParam, generics: &'t Generics) -> impl Iterator<Item = &'t Bounds> {
    let stated = generics.where_clause.iter().flat_map(|w| &w.predicates).filter_map(|p| match p {
        WherePredicate::Type(p) if is_parameter(&p.bounded_ty, &own.ident) => Some(&p.bounds),
        _ => None,
    });
    std::iter::once(&own.bounds).chain(stated)
}

/// Whether a type is a type parameter.
pub(super) fn is_parameter(ty: &Type, parameter: &Ident) -> bool {
    matches!(ty, Type::Path(of) if of.path.is_ident(parameter))
}

fn bound(bounds: &Bounds) -> Option<&ParenthesizedGenericArguments> {
    bounds.iter().find_map(|b| {
        let TypeParamBound::Trait(t) = b else { return None };
        let last = t.path.segments.last().filter(|s| ["Fn", "FnMut", "FnOnce"].iter().any(|f| s.ident == f))?;
        if let PathArguments::Parenthesized(given) = &last.arguments { Some(given) } else { None }
    })
}

/// The generic parameters without those whose bounds are function types.
pub(super) fn others(generics: &Generics) -> Generics {
    let mut others = generics.clone();
    others.params = generics
        .params
        .iter()
        .filter(|p| !matches!(p, GenericParam::Type(t) if named(&t.ident, generics).is_some()))
        .cloned()
        .collect();
    if let Some(clause) = &mut others.where_clause {
        let predicates = clause.predicates.iter().filter(|p| match p {
            WherePredicate::Type(p) => function(&p.bounded_ty, generics).is_none(),
            _ => true,
        });
        clause.predicates = predicates.cloned().collect();
    }
    others
}
