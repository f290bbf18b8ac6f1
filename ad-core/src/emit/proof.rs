//! Proof that names are ours: the front end took a bare `relu` to be the DSL's, and only rustc knows what it resolves to. A function item's
//! type is its own, so a function that wants two values of one type, given the name and the DSL's function, compiles only if they are one.
//! Type arguments are left to inference, which a call with arguments of the simplest kind pins down. Nothing of it runs.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::visit::{self, Visit};

use crate::ir::RealTy;
use crate::program::{AssumedConst, Program};

/// A function that is never called, if any name was assumed.
pub(super) fn names(program: &Program) -> TokenStream {
    let proofs: Vec<TokenStream> = program.dsl.iter().filter_map(|name| proof(program, name)).collect();
    let consts = program.consts.iter().map(constant).chain(types(program)).chain(program.bound.iter().map(bound));
    if proofs.is_empty() {
        return quote!(#(#consts)*);
    }
    let krate = &program.options.krate;
    quote! {
        #(#consts)*
        /// The functions that this derivative took for those of `ad::prelude` are: another of the name would not compile here.
        fn assumed_functions(x: &#krate::ndarray::Array1<f64>) {
            #(#proofs)*
        }
    }
}

/// That a name in a pattern is bound there: where it is a constant, the parameter of this closure is one value of many.
fn bound(name: &Ident) -> TokenStream {
    let span = name.span();
    if name.to_string().starts_with('_') {
        quote_spanned!(span=> const _: fn(u8) = |#name| ();)
    } else {
        quote_spanned!(span=> const _: fn(u8) -> u8 = |#name| #name;)
    }
}

/// That the signature's arrays are ndarray's, of the rank that their names say.
fn types(program: &Program) -> Vec<TokenStream> {
    let mut arrays = Arrays::default();
    let params = program.params.iter().map(|p| &p.ty);
    for ty in params.chain(std::iter::once(&program.result_ty)) {
        if let Ok(ty) = syn::parse2::<syn::Type>(ty.clone()) {
            arrays.visit_type(&ty);
        }
    }
    let krate = &program.options.krate;
    let proof = |path: &TokenStream| {
        let name = path.clone().into_iter().last()?;
        array(krate, path, &name.to_string()).map(|proof| quote!(const #proof))
    };
    arrays.paths.iter().filter_map(proof).collect()
}

/// The paths of a type that may be arrays, without their arguments.
#[derive(Default)]
struct Arrays {
    seen: BTreeSet<String>,
    paths: Vec<TokenStream>,
}

impl Visit<'_> for Arrays {
    fn visit_path(&mut self, path: &syn::Path) {
        let mut plain = path.clone();
        plain.segments.iter_mut().for_each(|s| s.arguments = syn::PathArguments::None);
        let tokens = plain.to_token_stream();
        if self.seen.insert(tokens.to_string()) {
            self.paths.push(tokens);
        }
        visit::visit_path(self, path);
    }
}

/// `_: fn(P) -> Q = |x| x;` for a path that is taken for one of ndarray's arrays, or for `Vec`.
fn array(krate: &TokenStream, path: &TokenStream, name: &str) -> Option<TokenStream> {
    let span = path.clone().into_iter().next().map_or_else(Span::call_site, |t| t.span());
    if name == "Vec" {
        return Some(quote_spanned!(span=> _: fn(#path<()>) -> ::std::vec::Vec<()> = |x| x;));
    }
    let rank = |kind: &str| name.strip_prefix(kind).is_some_and(|rank| matches!(rank.as_bytes(), [b'0'..=b'6']));
    let ty = || format_ident!("{name}");
    if rank("Array") {
        let ty = ty();
        return Some(quote_spanned!(span=> _: fn(#path<()>) -> #krate::ndarray::#ty<()> = |x| x;));
    }
    if rank("ArrayView") {
        let ty = ty();
        return Some(quote_spanned!(span=> _: fn(#path<'_, ()>) -> #krate::ndarray::#ty<'_, ()> = |x| x;));
    }
    if rank("ArrayRef") {
        let ty = ty();
        return Some(quote_spanned!(span=> _: fn(&#path<()>) -> &#krate::ndarray::#ty<()> = |x| x;));
    }
    None
}

/// That a bare `PI` is std's, of this type: found out when it is compiled.
fn constant(c: &AssumedConst) -> TokenStream {
    let path = &c.path;
    let span = path.clone().into_iter().next().map_or_else(Span::call_site, |t| t.span());
    #[allow(clippy::cast_possible_truncation, reason = "the constant is of this type")]
    let (ty, bits) = match c.ty {
        RealTy::F32 => (quote!(f32), Literal::u32_suffixed((c.value as f32).to_bits())),
        _ => (quote!(f64), Literal::u64_suffixed(c.value.to_bits())),
    };
    quote_spanned!(span=> const _: () = ::core::assert!(<#ty>::to_bits(#path) == #bits);)
}

fn proof(program: &Program, name: &Ident) -> Option<TokenStream> {
    let krate = &program.options.krate;
    // The name is resolved where the user wrote it, and underlined there if it is another function.
    let span = name.span();
    // ndarray's types are the ones meant if a value of the one is a value of the other.
    match name.to_string().as_str() {
        "Zip" => {
            return Some(quote_spanned! {span=>
                let _: fn(#name<(), #krate::ndarray::Ix1>) -> #krate::ndarray::Zip<(), #krate::ndarray::Ix1> = |zip| zip;
            });
        }
        "Slice" => {
            return Some(quote_spanned! {span=> let _: fn(#name) -> #krate::ndarray::Slice = |slice| slice; });
        }
        text => {
            if let Some(proof) = array(krate, &name.to_token_stream(), text) {
                return Some(quote_spanned!(span=> let #proof));
            }
        }
    }
    // Arguments on which every function of the DSL and of ndarray that the front end knows can be called.
    let arguments = match name.to_string().as_str() {
        "build1" => quote!(0, |_| 0.0_f64),
        "build" => quote!([0], |_: [usize; 1]| 0.0_f64),
        "gather" | "scatter" => quote!([0], x, |i: [usize; 1]| i),
        "iota" => quote!(0),
        "replicate" => quote!(0, 0.0_f64),
        "one_hot" => quote!(0, 0),
        "select" => quote!(true, 0.0_f64, 0.0_f64),
        "sum" | "sum_outer" | "maximum" | "minimum" | "argmax" | "argmin" | "logsumexp" | "norm" | "softmax" => {
            quote!(x)
        }
        "map2" => quote!(x, x, |a: f64, _: f64| a),
        "stack" | "concatenate" => quote!(#krate::ndarray::Axis(0), &[x.view()]),
        "arr0" => quote!(0.0_f64),
        "aview0" => quote!(&0.0_f64),
        "arr1" | "aview1" => quote!(&[0.0_f64]),
        "arr2" | "aview2" => quote!(&[[0.0_f64]]),
        "arr3" => quote!(&[[[0.0_f64]]]),
        "kron" => {
            quote!(&#krate::ndarray::Array2::<f64>::zeros((0, 0)), &#krate::ndarray::Array2::<f64>::zeros((0, 0)))
        }
        "sigmoid" | "relu" | "softplus" | "erf" | "erfc" | "ln_gamma" | "digamma" => quote!(0.0_f64),
        _ => return None,
    };
    let ours = match name.to_string().as_str() {
        "kron" => quote!(#krate::ndarray::linalg::kron),
        "stack" | "concatenate" | "arr0" | "aview0" | "arr1" | "aview1" | "arr2" | "aview2" | "arr3" => {
            quote!(#krate::ndarray::#name)
        }
        _ => quote!(#krate::prelude::#name),
    };
    let result = if *name == "one_hot" { quote!(_: #krate::ndarray::Array1<f64>) } else { quote!(_) };
    Some(quote_spanned! {span=>
        let f = #name;
        #krate::runtime::kernel::same(f, #ours);
        let #result = f(#arguments);
    })
}
