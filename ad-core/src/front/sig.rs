//! The function's signature: parameters, result, what is active and what is to be written; and, where something is wrong,
//! stand-ins for the derivative functions, so that one mistake gives one error.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{FnArg, GenericParam, ItemFn, Pat, ReturnType, Safety, Type, TypeParamBound, WherePredicate};

use super::attr::{Attr, Row};
use super::types::{self, Generics, Leaf};
use super::value::Lowered;
use crate::catalogue;
use crate::diag::{Diags, Poison, SrcRange, suggest, text_of};
use crate::program::{Container, Options, pair};
use crate::rust_types::check_name;

/// A signature that is understood.
pub(super) struct Sig {
    pub name: Ident,
    pub vis: TokenStream,
    pub cfgs: TokenStream,
    pub generics: TokenStream,
    pub where_clause: TokenStream,
    /// `::<T, N>`: the generic arguments by which one derivative calls another.
    pub turbofish: TokenStream,
    pub params: Vec<SigParam>,
    pub result: Leaf,
    pub result_ty: TokenStream,
    /// The type parameter with `T: Real`.
    pub real_param: Option<Ident>,
    /// Const parameters of type `usize`.
    pub const_params: Vec<Ident>,
    /// Which parameters are active.
    pub active: Vec<usize>,
    pub options: Options,
}

/// A parameter as the user wrote it.
pub(super) struct SigParam {
    pub name: Ident,
    /// Whether it is a variable of the body: `mut x: f64`.
    pub mutable: bool,
    pub ty: TokenStream,
    pub leaf: Leaf,
}

/// Reads the signature. All that is wrong with it is reported before it is given up.
pub(super) fn parse(item: &ItemFn, attr: &Attr, diags: &mut Diags) -> Lowered<Sig> {
    let qualifiers = qualifiers(item, diags);
    let (parameters, generics_read) = generics(item, diags);
    let params = params(item, &parameters, diags);
    let result = result(item, &parameters, diags);
    qualifiers?;
    generics_read?;
    let (params, result) = (params?, result?);
    let active = active(item, &params, attr, diags);
    let scalar = result.container == Container::Scalar;
    let leaves: Vec<&SigParam> = active.iter().map(|&k| &params[k]).collect();
    let fits: Vec<Row> = attr
        .rows
        .iter()
        .zip(&attr.ranges)
        .filter(|(row, at)| fits(**row, **at, &result, &leaves, diags))
        .map(|r| *r.0)
        .collect();
    let named = |row: Row| fits.contains(&row);
    let default = attr.rows.is_empty();
    let options = Options {
        grad: named(Row::Grad) || default && scalar,
        vjp: named(Row::Vjp) || default && !scalar,
        jvp: named(Row::Jvp),
        jacobian: named(Row::Jacobian),
        hvp: named(Row::Hvp),
        hessian: named(Row::Hessian),
        pullback: named(Row::Pullback),
        into: named(Row::Into),
        krate: attr.krate.clone(),
    };
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
        // `Generics` writes its parameters with bounds, and no where clause.
        generics: generics.to_token_stream(),
        where_clause: generics.where_clause.to_token_stream(),
        turbofish: turbofish(generics),
        params,
        result,
        result_ty,
        real_param: parameters.real,
        const_params: parameters.consts,
        active,
        options,
    })
}

/// The largest rank of ndarray's arrays with a name.
const RANKS: u8 = 6;

/// Whether a row of the contract's table makes sense for this result and these parameters; what does not is reported.
fn fits(row: Row, range: SrcRange, result: &Leaf, active: &[&SigParam], diags: &mut Diags) -> bool {
    let before = diags.list().len();
    let scalar = result.container == Container::Scalar;
    if matches!(row, Row::Grad | Row::Hvp | Row::Hessian | Row::Into) && !scalar {
        diags.push(range, catalogue::grad_of_an_array(row.name()));
    } else if row == Row::Hessian && active.len() > 1 {
        let names: Vec<String> = active.iter().map(|p| format!("`{}`", p.name)).collect();
        diags.push(range, catalogue::hessian_of_several(&names, &active[0].name.to_string()));
    } else if matches!(row, Row::Hessian | Row::Jacobian) {
        for p in active {
            let first = if row == Row::Hessian { p.leaf.rank } else { result.rank };
            if first + p.leaf.rank > RANKS {
                diags.push(
                    range,
                    catalogue::derivative_of_high_rank(row.name(), &p.name.to_string(), first, p.leaf.rank),
                );
            }
        }
    }
    diags.list().len() == before
}

/// Type and const parameters; lifetimes are inferred.
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

/// Lifetimes, one type parameter with the bound `Real`, and const parameters of type `usize`.
/// A parameter without the bound counts as one with it from here on, so that its uses are no further errors.
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
    let is_real = |bounds: &syn::punctuated::Punctuated<TypeParamBound, syn::Token![+]>| {
        bounds.iter().any(|b| match b {
            TypeParamBound::Trait(t) => t.path.segments.last().is_some_and(|s| s.ident == "Real"),
            _ => false,
        })
    };
    for param in &item.sig.generics.params {
        match param {
            GenericParam::Lifetime(_) => {}
            GenericParam::Type(t) => {
                let in_where = item.sig.generics.where_clause.iter().flat_map(|w| &w.predicates).any(|p| match p {
                    WherePredicate::Type(p) => {
                        t.ident == p.bounded_ty.to_token_stream().to_string() && is_real(&p.bounds)
                    }
                    _ => false,
                });
                let name = t.ident.to_string();
                if !in_where && !is_real(&t.bounds) {
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
                params.push(SigParam { name, mutable, ty: types::ungrouped(&typed.ty).to_token_stream(), leaf })
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

/// What is wrong with `wrt` is reported; the stand-ins are then written for what is right in it, or for all.
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
    /// What types in the body may name.
    pub(super) fn generics(&self) -> Generics {
        Generics { real: self.real_param.clone(), further: Vec::new(), consts: self.const_params.clone() }
    }

    /// The derivative functions with the right signatures and no body to speak of: what stands in for them beside an error.
    /// They panic when called: where we have left an error to rustc and are wrong about that, nobody gets a number.
    pub(super) fn stubs(&self, diags: &Diags) -> TokenStream {
        let why = match diags.left_to_rustc() {
            Some(error) => {
                format!(
                    "rustc should have refused it ({}): please report this to the authors of `ad`",
                    error.message.text
                )
            }
            None => "it has an error".into(),
        };
        let krate = &self.options.krate;
        let tuple =
            |mut types: Vec<TokenStream>| if types.len() == 1 { types.remove(0) } else { quote!((#(#types),*)) };
        let actives: Vec<&Leaf> = self.active.iter().map(|&k| &self.params[k].leaf).collect();
        let gradient = tuple(actives.iter().map(|l| types::owned_tokens(l, self.real_param.as_ref(), krate)).collect());
        let result = &self.result_ty;
        let cotangent = types::passed_tokens(&self.result, self.real_param.as_ref(), krate);
        let tangents: Vec<TokenStream> = self
            .active
            .iter()
            .map(|&k| {
                let name = format_ident!("{}_tangent", self.params[k].name);
                let ty = types::passed_tokens(&self.params[k].leaf, self.real_param.as_ref(), krate);
                quote!(#name: #ty)
            })
            .collect();
        let mut stubs = TokenStream::new();
        if self.options.grad {
            stubs.extend(self.stub(&why, "grad", &[], &gradient));
            stubs.extend(self.stub(&why, "value_and_grad", &[], &quote!((#result, #gradient))));
        }
        if self.options.vjp {
            stubs.extend(self.stub(&why, "vjp", &[quote!(cotangent: #cotangent)], &quote!((#result, #gradient))));
        }
        if self.options.jvp {
            stubs.extend(self.stub(&why, "jvp", &tangents, &quote!((#result, #result))));
        }
        if self.options.jacobian {
            let jacobian = tuple(actives.iter().map(|l| self.pair(&self.result, l)).collect());
            stubs.extend(self.stub(&why, "jacobian", &[], &jacobian));
            stubs.extend(self.stub(&why, "value_and_jacobian", &[], &quote!((#result, #jacobian))));
        }
        if self.options.hvp {
            stubs.extend(self.stub(&why, "hvp", &tangents, &gradient));
        }
        if let (true, Some(first)) = (self.options.hessian, actives.first()) {
            stubs.extend(self.stub(&why, "hessian", &[], &self.pair(first, first)));
        }
        if self.options.pullback {
            let closure = quote!(::std::boxed::Box<dyn ::core::ops::Fn(#cotangent) -> #gradient>);
            stubs.extend(self.stub(&why, "pullback", &[], &quote!((#result, #closure))));
        }
        if self.options.into {
            let places: Vec<TokenStream> = actives
                .iter()
                .zip(&self.active)
                .map(|(leaf, &k)| {
                    let name = format_ident!("grad_{}", self.params[k].name);
                    let ty = types::destination_tokens(leaf, self.real_param.as_ref(), krate);
                    quote!(#name: #ty)
                })
                .collect();
            stubs.extend(self.stub(&why, "value_and_grad_into", &places, result));
        }
        stubs.extend(self.check_stub(&why));
        stubs
    }

    /// The type of a Jacobian's block.
    fn pair(&self, result: &Leaf, param: &Leaf) -> TokenStream {
        let lens = |leaf: &Leaf| leaf.lens.iter().map(types::Len::tokens).collect::<Vec<_>>();
        let (container, lens) = pair((result.container, &lens(result)), (param.container, &lens(param)));
        let lens = lens.into_iter().map(types::Len::Named).collect();
        let leaf = Leaf { container, rank: result.rank + param.rank, lens, ..param.clone() };
        types::owned_tokens(&leaf, self.real_param.as_ref(), &self.options.krate)
    }

    /// What stands in for the function that `check_grad!` calls.
    fn check_stub(&self, why: &str) -> TokenStream {
        let Sig { vis, cfgs, generics, where_clause, .. } = self;
        let krate = &self.options.krate;
        let name = check_name(&self.name);
        let types = self.params.iter().map(|p| &p.ty);
        let message = format!("the derivatives of `{}` were not written: {why}", self.name);
        let message = message.replace('{', "{{").replace('}', "}}");
        quote! {
            #[doc(hidden)]
            #cfgs
            #[allow(dead_code, clippy::all, clippy::pedantic, reason = "stands in for a function that could not be written")]
            #vis fn #name #generics (_: #krate::runtime::check::How<'_>, #(_: #types),*) #where_clause {
                ::core::panic!(#message)
            }
        }
    }

    fn stub(&self, why: &str, suffix: &str, more: &[TokenStream], result: &TokenStream) -> TokenStream {
        let Sig { vis, cfgs, generics, where_clause, .. } = self;
        let name = format_ident!("{}_{suffix}", self.name);
        let params = self.params.iter().map(|p| {
            let (name, ty) = (&p.name, &p.ty);
            quote!(#name: #ty)
        });
        let doc = format!("Stands in for the derivative of `{}`, which has an error.", self.name);
        let message = format!("`{name}` was not written, because of `{}`: {why}", self.name);
        // `panic!` would read braces as places for arguments.
        let message = message.replace('{', "{{").replace('}', "}}");
        quote! {
            #[doc = #doc]
            #cfgs
            #[allow(unused_variables, dead_code, clippy::all, clippy::pedantic, reason = "stands in for a function that could not be written")]
            #vis fn #name #generics (#(#params,)* #(#more,)*) -> #result #where_clause {
                ::core::panic!(#message)
            }
        }
    }
}
