//! A generic function of a marked module at one choice of types. What it names at its place is the
//! same for all choices, so this one shows which constants of the module it reads.
//!
//! This module must never decide what a call means.

use syn::visit_mut::VisitMut;
use syn::{GenericParam, Ident, Item, ItemFn, Path, Type, TypeParamBound, WherePredicate};

use crate::opaque::{Bounds, bounds, is_parameter};

use super::{Module, PathTarget, name, path_of};
use crate::walk::{Change, Changing};

impl Module {
    /// A function of the module at this path, in which types of the module replace the type
    /// parameters: the first type that has a trait of the bounds. Other parameters stay.
    #[must_use]
    pub fn instance(&self, path: &[String], function: &ItemFn) -> ItemFn {
        let mut instance = function.clone();
        let Some(scope) = self.scopes.iter().position(|s| s.path == path) else { return instance };
        let generics = &function.sig.generics;
        let given = generics.type_params().filter_map(|parameter| {
            let ty = bounds(parameter, generics).find_map(|b| self.type_with(scope, b))?;
            Some((parameter.ident.clone(), ty))
        });
        let given: Vec<(Ident, Path)> = given.collect();
        let generics = &mut instance.sig.generics;
        let is_given = |parameter: &GenericParam| matches!(parameter, GenericParam::Type(t) if given.iter().any(|(own, _)| *own == t.ident));
        generics.params = generics.params.iter().filter(|p| !is_given(p)).cloned().collect();
        if let Some(clause) = &mut generics.where_clause {
            let of_given = |p: &WherePredicate| matches!(p, WherePredicate::Type(p) if given.iter().any(|(own, _)| is_parameter(&p.bounded_ty, own)));
            clause.predicates = clause.predicates.iter().filter(|p| !of_given(p)).cloned().collect();
        }
        Changing(&mut Given { module: self, scope, given: &given }).visit_item_fn_mut(&mut instance);
        instance
    }

    /// The path in a scope of the first type of the module that has one of these traits.
    fn type_with(&self, scope: usize, bounds: &Bounds) -> Option<Path> {
        let traits = bounds.iter().filter_map(|b| match b {
            TypeParamBound::Trait(t) => Some(self.find(scope, &t.path)),
            _ => None,
        });
        let wanted: Vec<usize> =
            traits.filter_map(|place| if let PathTarget::Here(k) = place { Some(k) } else { None }).collect();
        self.entries.iter().find_map(|entry| {
            let Item::Impl(block) = &entry.item else { return None };
            let (own, Type::Path(of)) = (&block.trait_.as_ref()?.0, &*block.self_ty) else { return None };
            let has = matches!(self.find(entry.scope, own), PathTarget::Here(k) if wanted.contains(&k));
            match self.find(entry.scope, &of.path) {
                PathTarget::Here(ty) if has => self.path_from(scope, ty),
                _ => None,
            }
        })
    }

    /// The path of an item from a scope.
    fn path_from(&self, scope: usize, k: usize) -> Option<Path> {
        let (from, entry) = (&self.scopes[scope].path, &self.entries[k]);
        let to = &self.scopes[entry.scope].path;
        let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        let up = std::iter::repeat_n("super".to_string(), from.len() - common);
        let names = up.chain(to[common..].iter().cloned()).chain([name(&entry.item)?.to_string()]);
        path_of(&names.collect::<Vec<_>>())
    }
}

/// Writes types where type parameters and `impl Trait` stand.
struct Given<'m> {
    module: &'m Module,
    scope: usize,
    given: &'m [(Ident, Path)],
}

impl Change for Given<'_> {
    fn path(&mut self, path: &mut Path) -> bool {
        let first = path.segments.first().filter(|_| path.leading_colon.is_none());
        if let Some((_, ty)) = self.given.iter().find(|(own, _)| first.is_some_and(|s| s.ident == *own)) {
            path.segments = ty.segments.iter().chain(path.segments.iter().skip(1)).cloned().collect();
        }
        true
    }

    fn ty(&mut self, ty: &mut Type) -> bool {
        if let Type::ImplTrait(of) = ty
            && let Some(path) = self.module.type_with(self.scope, &of.bounds)
        {
            *ty = syn::parse_quote!(#path);
        }
        true
    }
}
