//! Stand-ins for the derivatives of a function whose signature is wrong: whoever calls them is told of that mistake once, and not of
//! every call. Types that are understood give what they would give; any other is taken to be the type of its own gradient.
//!
//! They must add no error to what is said already, and never compute anything.

use quote::{ToTokens, format_ident, quote};
use syn::{FnArg, ItemFn, Pat, ReturnType, Type};

use super::attr::{Attr, Row};
use super::sig::{self, generics};
use super::types;
use crate::diag::Diags;
use crate::rust_types::check_name;

/// A parameter: its name and type, and the type of its gradient, if it has one.
struct Given {
    name: Option<String>,
    ty: Type,
    gradient: Option<proc_macro2::TokenStream>,
}

/// The stand-ins that the options name, as far as their types can be guessed.
pub(super) fn of(item: &ItemFn, attr: &Attr) -> proc_macro2::TokenStream {
    let none = proc_macro2::TokenStream::new();
    let mut unheard = Diags::new();
    let (known, _) = generics(item, &mut unheard);
    let krate = &attr.krate;
    let mut given = Vec::new();
    for (k, arg) in item.sig.inputs.iter().enumerate() {
        // A method has its derivatives nowhere.
        let FnArg::Typed(arg) = arg else { return none };
        let name = match &*arg.pat {
            Pat::Ident(p) => Some(p.ident.to_string()),
            other => sig::param_name(other, k).map(|(name, _)| name.to_string()),
        };
        let leaf = types::leaf(&arg.ty, &known, &mut unheard).ok();
        let mut ty = (*arg.ty).clone();
        types::mend(&mut ty);
        let gradient = match leaf {
            Some(leaf) => leaf.elem.is_real().then(|| types::owned_tokens(&leaf, known.real.as_ref(), krate)),
            None => owned(&ty).map(ToTokens::to_token_stream),
        };
        given.push(Given { name, ty, gradient });
    }
    let mut result = match &item.sig.output {
        ReturnType::Type(_, ty) => (**ty).clone(),
        ReturnType::Default => Type::Tuple(syn::parse_quote!(())),
    };
    types::mend(&mut result);
    // Any type that the caller takes it for, where it cannot be said.
    let any = format_ident!("StandIn");
    let known_result = owned(&result).is_some();
    let scalar_result = result.clone();
    let result = if known_result { result.to_token_stream() } else { any.to_token_stream() };
    let scalar = types::leaf(&scalar_result, &known, &mut unheard)
        .map_or(attr.rows.is_empty(), |leaf| leaf.container == crate::program::Container::Scalar);
    let active: Vec<&proc_macro2::TokenStream> = given
        .iter()
        .filter(|g| match (&attr.wrt, &g.name) {
            (Some(wrt), Some(name)) => wrt.iter().any(|w| w == name),
            _ => true,
        })
        .filter_map(|g| g.gradient.as_ref())
        .collect();
    let gradient = match &active[..] {
        [one] => one.to_token_stream(),
        several => quote!((#(#several),*)),
    };
    let further: Vec<_> = active.iter().map(|_| quote!(_: impl ::core::marker::Sized)).collect();
    let cotangent = [quote!(_: impl ::core::marker::Sized)];
    let named = |row| attr.rows.contains(&row);
    let default = attr.rows.is_empty();
    let both = quote!((#result, #gradient));
    let mut wanted = Vec::new();
    if named(Row::Grad) || default && scalar {
        wanted.push(("grad", &[][..], gradient.clone()));
        wanted.push(("value_and_grad", &[], both.clone()));
    }
    if named(Row::Vjp) || default && !scalar {
        wanted.push(("vjp", &cotangent, both));
    }
    if named(Row::Jvp) {
        wanted.push(("jvp", &further, quote!((#result, #result))));
    }
    if named(Row::Hvp) {
        wanted.push(("hvp", &further, gradient.clone()));
    }
    let jacobian = format_ident!("StandInForJ");
    if named(Row::Jacobian) {
        wanted.push(("jacobian", &[], jacobian.to_token_stream()));
        wanted.push(("value_and_jacobian", &[], quote!((#result, #jacobian))));
    }
    if named(Row::Hessian) {
        wanted.push(("hessian", &[], jacobian.to_token_stream()));
    }
    let argument = format_ident!("StandInForArgument");
    if named(Row::Pullback) {
        wanted.push(("pullback", &[], quote!((#result, fn(#argument) -> #gradient))));
    }
    if named(Row::Into) {
        wanted.push(("value_and_grad_into", &further, result.to_token_stream()));
    }
    let (vis, name, generics) = (&item.vis, &item.sig.ident, &item.sig.generics);
    let where_clause = &generics.where_clause;
    let cfgs = item.attrs.iter().filter(|a| a.path().is_ident("cfg"));
    let cfgs = quote!(#(#cfgs)*);
    let types: Vec<&Type> = given.iter().map(|g| &g.ty).collect();
    let doc = format!("Stands in for a derivative of `{name}`, whose signature has an error.");
    let allowed = quote!(#[allow(dead_code, clippy::all, clippy::pedantic, reason = "stands in for a function that could not be written")]);
    let message = format!("the derivatives of `{name}` were not written: its signature has an error");
    let mut written = none;
    for (suffix, more, result) in wanted {
        let name = format_ident!("{name}_{suffix}");
        let mut generics = generics.clone();
        for any in [&any, &jacobian, &argument] {
            if result.to_string().split(|c: char| !c.is_alphanumeric()).any(|word| any == word) {
                generics.params.push(syn::parse_quote!(#any));
            }
        }
        written.extend(quote! {
            #[doc = #doc]
            #cfgs
            #allowed
            #vis fn #name #generics (#(_: #types,)* #(#more),*) -> #result #where_clause {
                ::core::panic!(#message)
            }
        });
    }
    let check = check_name(name);
    written.extend(quote! {
        #[doc(hidden)]
        #cfgs
        #allowed
        #vis fn #check #generics (_: #krate::runtime::check::How<'_>, #(_: #types),*) #where_clause {
            ::core::panic!(#message)
        }
    });
    written
}

/// A type without references, if a function can result in it.
fn owned(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Reference(r) => owned(&r.elem),
        Type::Paren(p) => owned(&p.elem),
        Type::Group(g) => owned(&g.elem),
        // What may have a lifetime in it has none to name in a result.
        Type::Path(p) if p.path.segments.iter().any(|s| borrows(&s.ident.to_string(), &s.arguments)) => None,
        Type::Path(_) | Type::Array(_) => Some(ty),
        Type::Tuple(t) => t.elems.iter().all(|e| owned(e).is_some()).then_some(ty),
        _ => None,
    }
}

/// Whether a type borrows, as far as that can be read from it.
fn borrows(name: &str, arguments: &syn::PathArguments) -> bool {
    let text = arguments.to_token_stream().to_string();
    let named = |text: &str| ["View", "Cow", "&", "'", "Ref", "dyn", "impl"].iter().any(|word| text.contains(word));
    name == "str" || named(name) || named(&text)
}
