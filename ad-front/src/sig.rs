//! The function's signature: parameters, result, active parameters and requested derivatives. This
//! module does not read the body.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{FnArg, GenericParam, ItemFn, Pat, ReturnType, Safety, Type, TypeParamBound, WherePredicate};

use super::attr::Attr;
use super::examples;
use super::types::{self, Generics, Leaf, MAX_RANK};
use super::value::Lowered;
use ad_ir::catalogue;
use ad_ir::descriptor::{self, Descriptor, Structure};
use ad_ir::diag::{Diags, Poison, SrcRange, suggest, text_of};
use ad_ir::mode::Mode;
use ad_ir::program::Container;

/// A valid signature.
#[derive(Clone)]
pub(super) struct Sig {
    pub name: Ident,
    pub vis: TokenStream,
    pub cfgs: TokenStream,
    pub generics: TokenStream,
    pub where_clause: TokenStream,
    /// `::<T, N>`: the generic arguments with which one derivative calls another.
    pub turbofish: TokenStream,
    pub params: Vec<SigParam>,
    pub result: Leaf,
    pub result_ty: TokenStream,
    /// The type parameter with `T: Real`.
    pub real_param: Option<Ident>,
    /// Const parameters of type `usize`.
    pub const_params: Vec<Ident>,
    /// The indices of the active parameters.
    pub active: Vec<usize>,
    /// The indices of the parameters of an example, ascending.
    pub examples: Vec<usize>,
    /// Whether the memory of a derivative is a parameter.
    pub workspace: bool,
    /// The algorithm of differentiation.
    pub mode: Mode,
    /// The requested derivatives.
    pub derivatives: Vec<&'static Descriptor>,
    /// The path of the crate `ad`.
    pub krate: TokenStream,
}

/// A parameter as the user wrote it.
#[derive(Clone)]
pub(super) struct SigParam {
    pub name: Ident,
    /// Whether it is a variable of the body: `mut x: f64`.
    pub mutable: bool,
    pub ty: TokenStream,
    pub leaf: Leaf,
    /// For an array of examples: the type of one example. In the body the parameter's name means
    /// one example.
    pub example: Option<Leaf>,
}

/// Parses the signature. All its errors are reported.
pub(super) fn parse(item: &ItemFn, attr: &Attr, diags: &mut Diags) -> Lowered<Sig> {
    let qualifiers = qualifiers(item, diags);
    let (parameters, generics_read) = generics(item, diags);
    let params = params(item, &parameters, diags);
    let result = result(item, &parameters, diags);
    qualifiers?;
    generics_read?;
    let (params, result) = (params?, result?);
    let active = active(item, &params, attr, diags);
    let examples = examples::named(&params, &active, attr, diags);
    let scalar = result.container == Container::Scalar;
    let leaves: Vec<&SigParam> = active.iter().map(|&k| &params[k]).collect();
    let named = attr.derivatives.iter().filter(|(d, at)| fits(d, *at, &result, &leaves, diags)).map(|d| d.0);
    let mut derivatives: Vec<&'static Descriptor> = named.collect();
    if attr.derivatives.is_empty() {
        derivatives.extend(descriptor::by_default(scalar));
    }
    // The order in the attribute does not matter.
    derivatives.sort_by_key(|d| descriptor::DERIVATIVES.iter().position(|other| other == d));
    let cfgs = item.attrs.iter().filter(|a| a.path().is_ident("cfg")).map(ToTokens::to_token_stream).collect();
    let generics = &item.sig.generics;
    let result_ty = match &item.sig.output {
        ReturnType::Type(_, ty) => ty.to_token_stream(),
        ReturnType::Default => quote!(()),
    };
    Ok(Sig {
        name: item.sig.ident.clone(),
        vis: item.vis.to_token_stream(),
        cfgs,
        // `Generics` prints its parameters with bounds, and no where clause.
        generics: generics.to_token_stream(),
        where_clause: generics.where_clause.to_token_stream(),
        turbofish: turbofish(generics),
        params,
        result,
        result_ty,
        real_param: parameters.real,
        const_params: parameters.consts,
        active,
        examples,
        derivatives,
        workspace: attr.workspace.is_some(),
        mode: attr.mode,
        krate: attr.krate.clone(),
    })
}

/// Whether a function with this result and these active parameters has a derivative. If not, the
/// reason is reported.
fn fits(derivative: &Descriptor, at: SrcRange, result: &Leaf, active: &[&SigParam], diags: &mut Diags) -> bool {
    let before = diags.list().len();
    let (option, requires) = (derivative.option, &derivative.requires);
    if let Some(instead) = requires.one_number.filter(|_| result.container != Container::Scalar) {
        diags.push(at, catalogue::derivative_of_an_array(option, instead));
    } else if let Some(instead) = requires.one_active.filter(|_| active.len() > 1) {
        let names: Vec<String> = active.iter().map(|p| format!("`{}`", p.name)).collect();
        diags.push(at, catalogue::derivative_of_several(option, &names, &active[0].name.to_string(), instead));
    } else if let Some(instead) = requires.few_indices {
        for p in active {
            let first = if derivative.returns == Structure::Hessian { p.leaf.rank } else { result.rank };
            if first + p.leaf.rank > MAX_RANK {
                let name = p.name.to_string();
                diags.push(at, catalogue::derivative_of_high_rank(option, &name, [first, p.leaf.rank], instead));
            }
        }
    }
    diags.list().len() == before
}

/// Type and const parameters. Lifetimes are inferred.
fn turbofish(generics: &syn::Generics) -> TokenStream {
    let names = generics.params.iter().filter_map(|p| match p {
        GenericParam::Lifetime(_) => None,
        GenericParam::Type(t) => Some(&t.ident),
        GenericParam::Const(c) => Some(&c.ident),
    });
    let names: Vec<&Ident> = names.collect();
    if names.is_empty() { TokenStream::new() } else { quote!(::<#(#names),*>) }
}

fn qualifiers(item: &ItemFn, diags: &mut Diags) -> Lowered<()> {
    let sig = &item.sig;
    let mut found = Ok(());
    let mut refuse = |range: SrcRange, what: &str| {
        found = Err(diags.push(range, catalogue::refused::function(what)));
    };
    if let Some(token) = &sig.asyncness {
        refuse(SrcRange::of(token), "async");
    }
    if let Some(token) = &sig.constness {
        refuse(SrcRange::of(token), "const");
    }
    if let Safety::Unsafe(token) = &sig.safety {
        refuse(SrcRange::of(token), "unsafe");
    }
    if let Some(abi) = &sig.abi {
        refuse(SrcRange::of(abi), "extern");
    }
    if let Some(dots) = &sig.variadic {
        refuse(SrcRange::of(dots), "variadic");
    }
    found
}

/// Whether a type parameter has the bound `Real`, beside its name or in the where clause.
#[must_use]
pub fn is_real(generics: &syn::Generics, param: &syn::TypeParam) -> bool {
    let real = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(t) => t.path.segments.last().is_some_and(|s| s.ident == "Real"),
        _ => false,
    };
    let mut predicates = generics.where_clause.iter().flat_map(|w| &w.predicates);
    let in_where = |p: &WherePredicate| match p {
        WherePredicate::Type(p) => {
            param.ident == p.bounded_ty.to_token_stream().to_string() && p.bounds.iter().any(real)
        }
        _ => false,
    };
    param.bounds.iter().any(real) || predicates.any(in_where)
}

/// Parses lifetimes, one type parameter with the bound `Real`, and const parameters of type
/// `usize`. A type parameter without the bound is an error. It then counts as one with the bound,
/// so that its uses cause no further errors.
pub(super) fn generics(item: &ItemFn, diags: &mut Diags) -> (Generics, Lowered<()>) {
    let mut found = Generics::default();
    let mut result = Ok(());
    let bounds = |bounds: &syn::punctuated::Punctuated<TypeParamBound, syn::Token![+]>| -> Vec<String> {
        let names = bounds.iter().filter_map(|b| match b {
            TypeParamBound::Trait(t) => t.path.segments.last().map(|s| s.ident.to_string()),
            _ => None,
        });
        names.collect()
    };
    for param in &item.sig.generics.params {
        match param {
            GenericParam::Lifetime(_) => {}
            GenericParam::Type(t) => {
                let name = t.ident.to_string();
                if !is_real(&item.sig.generics, t) {
                    result =
                        Err(diags
                            .push(SrcRange::of(t), catalogue::type_parameter_without_real(&name, &bounds(&t.bounds))));
                    found.further.push(t.ident.clone());
                } else if found.real.is_some() {
                    result = Err(diags.push(SrcRange::of(t), catalogue::second_type_parameter(&name)));
                    found.further.push(t.ident.clone());
                } else {
                    found.real = Some(t.ident.clone());
                }
            }
            GenericParam::Const(c) => {
                if !matches!(&c.ty, Type::Path(p) if p.path.is_ident("usize")) {
                    result = Err(diags.push(SrcRange::of(c), catalogue::const_parameter(&c.ident.to_string())));
                }
                found.consts.push(c.ident.clone());
            }
        }
    }
    (found, result)
}

fn params(item: &ItemFn, generics: &Generics, diags: &mut Diags) -> Lowered<Vec<SigParam>> {
    let mut params = Vec::new();
    let mut result = Ok(());
    for (k, arg) in item.sig.inputs.iter().enumerate() {
        let typed = match arg {
            FnArg::Typed(typed) => typed,
            FnArg::Receiver(receiver) => {
                result = Err(diags.push(SrcRange::of(receiver), catalogue::method()));
                continue;
            }
        };
        let (name, mutable) = match param_name(&typed.pat, k) {
            Some(found) => found,
            None => {
                result =
                    Err(diags.push(SrcRange::of(&typed.pat), catalogue::parameter_pattern(&text_of(&typed.pat, 40))));
                continue;
            }
        };
        match types::leaf(&typed.ty, generics, diags) {
            Ok(leaf) => {
                params.push(SigParam {
                    name,
                    mutable,
                    ty: types::ungrouped(&typed.ty).to_token_stream(),
                    leaf,
                    example: None,
                });
            }
            Err(Poison) => result = Err(Poison),
        }
    }
    result.map(|()| params)
}

/// The name of a parameter, and whether it is `mut`.
pub(super) fn param_name(pat: &Pat, k: usize) -> Option<(Ident, bool)> {
    match pat {
        Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => Some((p.ident.clone(), p.mutability.is_some())),
        Pat::Reference(p) => param_name(&p.pat, k),
        Pat::Paren(p) => param_name(&p.pat, k),
        Pat::Wild(_) => Some((Ident::new(&format!("unused{k}"), Span::call_site()), false)),
        _ => None,
    }
}

fn result(item: &ItemFn, generics: &Generics, diags: &mut Diags) -> Lowered<Leaf> {
    let ty = match &item.sig.output {
        ReturnType::Type(_, ty) => ty,
        ReturnType::Default => {
            return Err(diags.push(SrcRange::of(&item.sig.ident), catalogue::no_result(&item.sig.ident.to_string())));
        }
    };
    let leaf = types::leaf(ty, generics, diags)?;
    if !leaf.owned {
        return Err(diags.push(SrcRange::of(ty), catalogue::result_not_owned(&text_of(ty, 40))));
    }
    if !leaf.elem.is_real() {
        return Err(diags.push(SrcRange::of(ty), catalogue::result_not_real(&text_of(ty, 40))));
    }
    Ok(leaf)
}

/// The active parameters. Errors in `wrt` are reported. The stand-ins are then for the valid
/// parameters in `wrt`, or for all parameters if there are none.
fn active(item: &ItemFn, params: &[SigParam], attr: &Attr, diags: &mut Diags) -> Vec<usize> {
    let all: Vec<usize> = (0..params.len()).filter(|&k| params[k].leaf.elem.is_real()).collect();
    if all.is_empty() {
        diags.push(SrcRange::of(&item.sig.ident), catalogue::nothing_active(&item.sig.ident.to_string()));
    }
    let Some(names) = &attr.wrt else { return all };
    let mut active = Vec::new();
    for name in names {
        let range = SrcRange::of(name);
        let text = name.to_string();
        match params.iter().position(|p| p.name == text) {
            None => {
                let all: Vec<String> = params.iter().map(|p| p.name.to_string()).collect();
                let near = suggest(&text, all.iter().map(String::as_str));
                diags.push(range, catalogue::wrt_unknown(&text, near, &all));
            }
            Some(k) if !params[k].leaf.elem.is_real() => {
                diags.push(range, catalogue::wrt_discrete(&text, &text_of(&params[k].ty, 40)));
            }
            Some(k) if active.contains(&k) => {
                diags.push(range, catalogue::wrt_twice(&text));
            }
            Some(k) => active.push(k),
        }
    }
    active.sort_unstable();
    if active.is_empty() { all } else { active }
}

impl Sig {
    /// The generic parameters that types in the body may name.
    pub(super) fn generics(&self) -> Generics {
        Generics { real: self.real_param.clone(), further: Vec::new(), consts: self.const_params.clone() }
    }
}
