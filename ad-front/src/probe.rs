//! The check of a marked function at its place: it lowers a call whose arguments have known types
//! and unknown values. Its errors are reported there, and the assumptions about its names are
//! proved there.
//!
//! This module must never decide the meaning of the function at a call.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Expr, FnArg, Generics, ItemFn, ItemImpl, ReturnType, Type};

use super::attr;
use super::blocks::Method;
use super::definitions::Definitions;
use super::opaque;
use super::travel::{DefId, Marked, OuterDefinitions};
use ad_ir::catalogue;
use ad_ir::diag::{Diags, SrcRange};
use ad_ir::program::Program;

/// The outcome of checking a marked function.
#[derive(Debug)]
pub enum Probed {
    /// It has no errors. The program has the assumptions about its names.
    Right(Box<Program>),
    /// It has errors.
    Wrong(Diags),
    /// A definition that the function needs has errors.
    OfBroken,
    /// It calls functions of types that have still to be asked for.
    Open,
}

/// Calls a marked function with unknown arguments.
pub fn probe(item: &ItemFn, id: DefId, outside: &OuterDefinitions, krate: &TokenStream) -> Probed {
    if let Some(receiver) = item.sig.receiver() {
        let mut diags = Diags::new();
        diags.push(SrcRange::of(receiver), catalogue::method());
        return Probed::Wrong(diags);
    }
    let name = Ident::new("__ad_marked", item.sig.ident.span());
    let mut all = outside.clone();
    let names = std::mem::replace(&mut all.names, vec![(name.to_string(), id)]);
    let itself = syn::Item::Fn(item.clone());
    all.list.insert(0, Marked { id, item: itself, names, broken: false, certain: true, home: quote!(crate) });
    all.here = Some(id);
    probed(item, &name.to_token_stream(), &all, krate)
}

/// Calls a function of an `impl` block with unknown arguments.
pub fn probe_method(
    method: &Method,
    id: DefId,
    block: &ItemImpl,
    outside: &OuterDefinitions,
    krate: &TokenStream,
) -> Probed {
    let mut all = outside.clone();
    let (names, itself) = (all.names.clone(), syn::Item::Impl(block.clone()));
    all.list.insert(0, Marked { id, item: itself, names, broken: false, certain: true, home: quote!(crate) });
    all.here = Some(id);
    let name = &method.item.sig.ident;
    let Some(of) = super::associated::name_of(&block.self_ty) else { return Probed::OfBroken };
    let of = Ident::new(&of, name.span());
    probed(&method.item, &quote!(#of::#name), &all, krate)
}

/// Calls a function with unknown arguments by this path.
fn probed(item: &ItemFn, path: &TokenStream, all: &OuterDefinitions, krate: &TokenStream) -> Probed {
    let mut diags = Diags::new();
    let (mut params, mut arguments) = (Vec::new(), Vec::new());
    for (k, arg) in item.sig.inputs.iter().enumerate() {
        if let FnArg::Typed(typed) = arg {
            arguments.push(argument(&typed.ty, &item.sig.generics, &format!("a{k}"), &mut params));
        }
    }
    let generics = &opaque::others(&item.sig.generics);
    let where_clause = &generics.where_clause;
    let name = Ident::new("__ad_marked", item.sig.ident.span());
    let of_call: syn::Result<ItemFn> = syn::parse2(quote! {
        fn #name #generics (#(#params,)* __ad_unused: f64) -> f64 #where_clause {
            let _ = #path(#(#arguments),*);
            0.0
        }
    });
    let Ok(mut of_call) = of_call else {
        diags.push(SrcRange::of(&item.sig), catalogue::internal("the front end", "a call could not be written"));
        return Probed::Wrong(diags);
    };
    of_call.sig.ident = item.sig.ident.clone();
    let attr = attr::parse(quote!(grad, crate = "ad"), &mut Diags::new());
    let attr = attr::Attr { krate: krate.clone(), ..attr };
    let all = all.prepared();
    if !all.are_complete() {
        return Probed::OfBroken;
    }
    // The signature of the call has the types of the function's, and so its errors.
    let Ok(sig) = super::sig::parse(&of_call, &attr, &Definitions::outside(&all), &mut diags) else {
        return Probed::Wrong(diags);
    };
    let mut body = (*item.block).clone();
    let macros = super::macros::rewrite(&mut body, &mut diags);
    let imports = super::items::replace(&mut body);
    if !diags.is_empty() {
        return Probed::Wrong(diags);
    }
    let definitions = Definitions::of_body(&body, &all);
    match super::shapes::lower(&sig, &of_call, &definitions, &all, &mut diags) {
        Ok(mut program) if diags.is_empty() => {
            program.assumed.extend(macros);
            program.imports = imports;
            Probed::Right(Box::new(program))
        }
        _ if diags.is_empty() && !all.wanted.is_empty() => Probed::Open,
        _ => Probed::Wrong(diags),
    }
}

/// An argument of this type, made of new parameters. If the type is a function, the argument is a
/// closure whose result is made of new parameters.
fn argument(ty: &Type, generics: &Generics, name: &str, params: &mut Vec<TokenStream>) -> Expr {
    let ident = format_ident!("__ad_{name}", span = Span::call_site());
    if let Some(function) = opaque::function(ty, generics) {
        let given = function.inputs.iter().map(|_| quote!(_));
        let result: Expr = match &function.output {
            ReturnType::Default => syn::parse_quote!(()),
            ReturnType::Type(_, ty) => argument(ty, generics, &format!("{name}_r"), params),
        };
        return syn::parse_quote!(|#(#given),*| #result);
    }
    match ty {
        Type::Paren(p) => argument(&p.elem, generics, name, params),
        Type::Group(g) => argument(&g.elem, generics, name, params),
        Type::Tuple(t) => {
            let parts =
                t.elems.iter().enumerate().map(|(k, ty)| argument(ty, generics, &format!("{name}_{k}"), params));
            let parts: Vec<Expr> = parts.collect();
            syn::parse_quote!((#(#parts,)*))
        }
        Type::Reference(r) if opaque::function(&r.elem, generics).is_some() => {
            let inner = argument(&r.elem, generics, name, params);
            syn::parse_quote!(&#inner)
        }
        Type::Reference(r) if r.mutability.is_some() => {
            let ty = match &*r.elem {
                Type::Slice(s) => {
                    let elem = &s.elem;
                    quote!(Vec<#elem>)
                }
                ty => ty.to_token_stream(),
            };
            params.push(quote!(mut #ident: #ty));
            syn::parse_quote!(&mut #ident)
        }
        Type::Reference(r) if matches!(&*r.elem, Type::Tuple(_)) => {
            let inner = argument(&r.elem, generics, name, params);
            syn::parse_quote!(&#inner)
        }
        _ => {
            params.push(quote!(#ident: #ty));
            syn::parse_quote!(#ident)
        }
    }
}
