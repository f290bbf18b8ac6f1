//! `ad::check_grad!(f(args))` becomes a call of the hidden function beside `f` (`emit::check`),
//! which knows what can be checked.
//!
//! This module must never find out anything about the function but its name.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::token::Paren;
use syn::{Expr, ExprTuple, Token};

use ad_ir::catalogue;
use ad_ir::descriptor;
use ad_ir::diag::{Diagnostic, Diags, SrcRange, suggest, text_of};
use ad_ir::rust_types::{check_name, check_name_of_method};

/// The option that is not the name of a derivative.
const TOLERANCE: &str = "tolerance";

struct Options {
    checked: Vec<String>,
    tolerance: Option<Expr>,
}

/// The expansion of `check_grad!(tokens)`, and its errors.
#[must_use]
pub fn expand(tokens: TokenStream) -> (TokenStream, Vec<Diagnostic>) {
    let mut diags = Diags::new();
    let read = read(tokens, &mut diags);
    match read {
        Some((call, options)) if diags.is_empty() => (write(call, &options), Vec::new()),
        _ => {
            let errors = diags.list().to_vec();
            let messages = diags.into_tokens();
            (quote!({ #messages }), errors)
        }
    }
}

fn read(tokens: TokenStream, diags: &mut Diags) -> Option<(Expr, Options)> {
    let range = SrcRange::of_stream(tokens.clone());
    let Ok(parts) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens) else {
        diags.push(range, catalogue::check_grad_of_no_call());
        return None;
    };
    let mut parts = parts.into_iter();
    let called = match parts.next() {
        Some(Expr::Call(call)) if matches!(&*call.func, Expr::Path(_)) => Some(Expr::Call(call)),
        Some(Expr::MethodCall(call)) => Some(Expr::MethodCall(call)),
        _ => None,
    };
    let Some(call) = called else {
        diags.push(range, catalogue::check_grad_of_no_call());
        return None;
    };
    let mut options = Options { checked: Vec::new(), tolerance: None };
    for part in parts {
        let text = part.to_token_stream().to_string().replace(' ', "");
        let known = match &part {
            _ if descriptor::named(&text).is_some() => {
                options.checked.push(text);
                true
            }
            Expr::Assign(a) if a.left.to_token_stream().to_string() == TOLERANCE => {
                options.tolerance = Some((*a.right).clone());
                true
            }
            _ => false,
        };
        if !known {
            let text = text_of(&part, 40);
            let name = text.split(['(', ' ', '=']).next().unwrap_or_default();
            let near = suggest(name, descriptor::options().chain([TOLERANCE]));
            diags.push(SrcRange::of(&part), catalogue::check_grad_option(&text, near, &descriptor::quoted_options()));
        }
    }
    Some((call, options))
}

fn write(mut call: Expr, options: &Options) -> TokenStream {
    let text = text_of(&call, 80);
    let checked = &options.checked;
    let tolerance = options.tolerance.as_ref().map_or_else(
        || quote!(::core::option::Option::None),
        |tolerance| quote!(::core::option::Option::Some(#tolerance)),
    );
    let how: Expr = syn::parse_quote!((#text, &[#(#checked),*], #tolerance));
    match &mut call {
        Expr::Call(call) => {
            if let Expr::Path(path) = &mut *call.func
                && let Some(last) = path.path.segments.last_mut()
            {
                last.ident = check_name(&last.ident);
            }
            call.args = with_tuple(how, &call.args, call.paren_token);
        }
        Expr::MethodCall(call) => {
            call.method = check_name_of_method(&call.method);
            call.args = with_tuple(how, &call.args, call.paren_token);
        }
        _ => {}
    }
    call.to_token_stream()
}

/// The arguments of the hidden function. Those of the user are one tuple, at their own place.
fn with_tuple(how: Expr, arguments: &Punctuated<Expr, Token![,]>, place: Paren) -> Punctuated<Expr, Token![,]> {
    let mut elems = arguments.clone();
    if !elems.empty_or_trailing() {
        // One element alone would be an expression in parentheses.
        elems.push_punct(<Token![,]>::default());
    }
    let tuple = Expr::Tuple(ExprTuple { attrs: Vec::new(), paren_token: place, elems });
    [how, tuple].into_iter().collect()
}
