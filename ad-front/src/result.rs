//! The type of a function's result, which may be in an `Option` or a `Result`.
//!
//! This module must never read the body.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{GenericArgument, ItemFn, PathArguments, ReturnType, Type};

use super::attr::Attr;
use super::boundary;
use super::definitions::Definitions;
use super::sig::is_one_number;
use super::types::{Generics, Leaf};
use super::value::Lowered;
use ad_ir::catalogue;
use ad_ir::descriptor::{Descriptor, Structure};
use ad_ir::diag::{Diags, SrcRange, text_of};
use ad_ir::program::{Fallible, FallibleKind, Role, Tree};

/// The result, and whether only the first part of it is differentiated.
pub(super) fn result(
    item: &ItemFn,
    names: (&Generics, &Definitions),
    attr: &Attr,
    diags: &mut Diags,
) -> Lowered<FunctionResult> {
    let ty = match &item.sig.output {
        ReturnType::Type(_, ty) => ty,
        ReturnType::Default => {
            return Err(diags.push(SrcRange::of(&item.sig.ident), catalogue::no_result(&item.sig.ident.to_string())));
        }
    };
    let (fallible, ty) = fallible(ty).map_or((None, &**ty), |(fallible, ty)| (Some(fallible), ty));
    let found = boundary::tree(ty, names, diags)?;
    if !found.is_owned() {
        return Err(diags.push(SrcRange::of(ty), catalogue::result_not_owned(&text_of(ty, 40))));
    }
    if names.1.has_one_that_contains_itself(ty) {
        return Err(diags.push(SrcRange::of(ty), catalogue::result_contains_itself(&text_of(ty, 40))));
    }
    let found = found.tree();
    if is_opaque(&found) {
        return Err(diags.push(SrcRange::of(ty), catalogue::copied_in_a_result(&text_of(ty, 40))));
    }
    if !found.leaves().iter().any(|leaf| leaf.elem.is_real()) {
        return Err(diags.push(SrcRange::of(ty), catalogue::result_not_real(&text_of(ty, 40))));
    }
    let one_real = |tree: &Tree<Leaf>| is_one_number(tree) && tree.leaves().iter().all(|leaf| leaf.elem.is_real());
    let pair = matches!(&found, Tree::Tuple(parts) if parts.len() == 2 && one_real(&parts[0]));
    if found.leaves().iter().any(|leaf| leaf.role == Role::Constant && leaf.elem.is_real()) {
        return Err(diags.push(SrcRange::of(ty), catalogue::constant_in_a_result(&text_of(ty, 40))));
    }
    if let Some(range) = attr.aux.filter(|_| !pair) {
        diags.push(range, catalogue::aux_of_no_pair(&text_of(ty, 40)));
    }
    Ok(FunctionResult { tree: found, aux: pair && attr.aux.is_some(), fallible, ty: ty.to_token_stream() })
}

/// Whether a result has fields that are not made of numbers.
fn is_opaque(tree: &Tree<Leaf>) -> bool {
    match tree {
        Tree::Leaf(_) | Tree::Ragged(..) => false,
        Tree::Tuple(parts) => parts.iter().any(is_opaque),
        Tree::List(_, inner) => is_opaque(inner),
        Tree::Defined(of, inner) => of.is_opaque || is_opaque(inner),
    }
}

/// The result of a function, as its signature has it.
pub(super) struct FunctionResult {
    /// The structure of a result that is present.
    pub(super) tree: Tree<Leaf>,
    /// Whether it is a pair whose first part alone is differentiated.
    pub(super) aux: bool,
    /// The `Option` or `Result` around it, if there is one.
    pub(super) fallible: Option<Fallible>,
    /// The type of a result that is present.
    pub(super) ty: TokenStream,
}

/// The type of a result that may be absent, and the type of one that is present: the first argument
/// of `Option` or `Result`.
pub(super) fn fallible(ty: &Type) -> Option<(Fallible, &Type)> {
    let of = match ty {
        Type::Paren(p) => return fallible(&p.elem),
        Type::Group(p) => return fallible(&p.elem),
        Type::Path(of) if of.qself.is_none() => &of.path,
        _ => return None,
    };
    let last = of.segments.last()?;
    let kind = match last.ident.to_string().as_str() {
        "Option" => FallibleKind::Option,
        "Result" => FallibleKind::Result,
        _ => return None,
    };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    let mut all = arguments.args.iter();
    let Some(GenericArgument::Type(present)) = all.next() else { return None };
    let mut path = of.clone();
    if let Some(last) = path.segments.last_mut() {
        last.arguments = PathArguments::None;
    }
    let further = all.map(ToTokens::to_token_stream).collect();
    Some((Fallible { kind, path: path.to_token_stream(), further }, present))
}

/// Whether a derivative is written although the result may be absent. `fallible`: the type of that
/// result. If not, the reason is reported.
pub(super) fn always_has_a_result(
    derivative: &Descriptor,
    at: SrcRange,
    fallible: Option<&TokenStream>,
    diags: &mut Diags,
) -> bool {
    let Some(ty) = fallible else { return true };
    let refused = matches!(derivative.returns, Structure::Sparse | Structure::Examples);
    if refused {
        diags.push(at, catalogue::derivative_of_a_fallible(derivative.option, &text_of(ty, 40)));
    }
    !refused
}
