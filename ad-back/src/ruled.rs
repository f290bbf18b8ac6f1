//! Calls of functions with rules of their own: a routine calls a private function inside of it,
//! which passes the arguments as a record to the bridge of the definition (see [`super::rules`]).
//!
//! This module must never know what a function computes.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use ad_ir::ir::Elem;
use ad_ir::prim::structural::{Callee, Half};
use ad_ir::program::Program;
use ad_ir::rust_types::{elem_type, real_param};

/// The parameters of the function, as tokens, without the parameter for the records.
struct Params<'a> {
    caller: &'a Program,
    tokens: TokenStream,
}

impl Params<'_> {
    /// One more parameter, and its word in a record.
    fn word(&mut self, what: &str, k: usize, (elem, rank): (Elem, u8)) -> TokenStream {
        let krate = &self.caller.krate;
        let (name, ty) = (format_ident!("{what}{k}_"), elem_type(elem, &real_param(self.caller)));
        if rank == 0 {
            self.tokens.extend(quote!(, #name: #ty));
            quote!(<#ty as #krate::runtime::Word>::to_word(#name))
        } else {
            self.tokens.extend(quote!(, #name: &[#ty]));
            quote!(calls_.results().keep::<#ty>(#name))
        }
    }

    /// The parameter for the record that the forward half has made.
    fn record(&mut self) {
        self.tokens.extend(quote!(, record_: usize));
    }
}

/// The function of this name that a routine calls for a half of a function with a rule.
///
/// # Errors
/// If the caller has no such function.
pub(super) fn called(caller: &Program, callee: &Callee, name: &Ident) -> Result<TokenStream, String> {
    let function = caller.rules.get(callee.function as usize).ok_or("a call of an unknown function")?;
    let Program { krate, generics, where_clause, .. } = caller;
    let at = Literal::u128_unsuffixed(function.id);
    let real = elem_type(function.real, &real_param(caller));
    let mut params = Params { caller, tokens: TokenStream::new() };
    let body = match callee.half {
        Half::Value | Half::Forward => {
            let keys = callee.rule.map_or(0, |rule| rule.keys as usize);
            (0..keys).for_each(|k| drop(params.word("key", k, (Elem::USIZE, 0))));
            let mut words: Vec<TokenStream> =
                function.params.iter().enumerate().map(|(k, &leaf)| params.word("leaf", k, leaf)).collect();
            let sizes: usize = function.params.iter().map(|(_, rank)| usize::from(*rank)).sum();
            words.extend((0..sizes).map(|k| params.word("size", k, (Elem::USIZE, 0))));
            let (keys, number) = ((0..keys).map(|k| format_ident!("key{k}_")), callee.function as usize);
            quote! {
                calls_.once(&[#number, #(#keys),*], || {
                    let given_ = calls_.results().record([#(#words),*]);
                    <#krate::runtime::At<#at> as #krate::runtime::Ruled<_>>::value::<#real>(calls_, given_, key0_ + 1)
                })
            }
        }
        Half::Reverse => {
            params.record();
            let words = function.results.iter().enumerate().map(|(k, &leaf)| match leaf.0.is_real() {
                true => params.word("leaf", k, leaf),
                false => quote!(0),
            });
            let words: Vec<TokenStream> = words.collect();
            quote! {
                let given_ = calls_.results().record([#(#words),*]);
                <#krate::runtime::At<#at> as #krate::runtime::Reverse<_>>::reverse::<#real>(calls_, record_, given_)
            }
        }
        Half::Tangent => {
            params.record();
            let words = (0..).zip(&function.params).map(|(k, &leaf)| match (callee.active.contains(&k), leaf.1) {
                (true, _) => params.word("leaf", k as usize, leaf),
                (false, 0) => quote!(0),
                (false, _) => quote!(#krate::runtime::NO_ARRAY),
            });
            let words: Vec<TokenStream> = words.collect();
            quote! {
                let given_ = calls_.results().record([#(#words),*]);
                <#krate::runtime::At<#at> as #krate::runtime::Tangent<_>>::tangent::<#real>(calls_, record_, given_)
            }
        }
    };
    let params = params.tokens;
    Ok(quote! {
        fn #name #generics (calls_: &#krate::runtime::Calls #params) -> usize #where_clause { #body }
    })
}
