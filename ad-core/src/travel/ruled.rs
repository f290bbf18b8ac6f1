//! Functions with rules of their own: the bridge and the definition beside such a function, and the
//! hidden function that `check_grad!` calls.
//!
//! This module must never read the body of such a function.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{FnArg, Item, ItemFn};

use super::beside::refuse_in_block;
use super::{Chain, Request, Subject, definition, number};
use crate::dual_numbers;
use crate::expansion::{self, Expansion, Written, beside, guarded, refuse_deep, with_item};
use ad_back as emit;
use ad_front::{self as front, DefId, Marked, OuterDefinitions, Rules, Unread, UnreadParam};
use ad_ir::catalogue;
use ad_ir::diag::{Diags, SrcRange};
use ad_ir::rust_types::check_name;

/// The expansion of `#[mark(attr)] item` for `custom_vjp`, `custom_jvp` and `constant`. Further
/// marks of this kind are among the attributes of the item. `place` is a number that is different
/// for each attribute of a program.
#[must_use]
pub fn ruled(mark: &str, attr: &TokenStream, item: TokenStream, place: &str) -> Expansion {
    if let Some(refused) = refuse_deep(attr, &item) {
        return with_item(item, refused);
    }
    if let Some(refused) = refuse_in_block(mark, attr, &item) {
        return refused;
    }
    let mut diags = Diags::new();
    let Ok(function) = syn::parse2::<ItemFn>(item.clone()) else {
        diags.push(SrcRange::of_stream(item.clone()), catalogue::rule_item(mark));
        return failed(&item, diags);
    };
    let rules = front::read_marks((mark, attr), &function, &mut diags);
    let mut plain = function.clone();
    plain.attrs.retain(|attr| !front::is_rule(attr));
    let plain = plain.into_token_stream();
    if !diags.is_empty() {
        return failed(&plain, diags);
    }
    let chain = chain(&function, &rules, number(place, &item), OuterDefinitions::default());
    let Written { tokens, errors, internal, .. } = chain.next();
    Expansion { tokens: beside(&plain, &tokens), errors, internal }
}

/// The expansion beside a function with these marks. It begins with these definitions.
pub(super) fn chain(function: &ItemFn, rules: &Rules, id: DefId, outside: OuterDefinitions) -> Chain {
    let item = front::without_its_body(function, rules).into_token_stream();
    let open = guarded(|| front::requests(&item)).unwrap_or_default();
    let known = |path: &syn::Path| outside.names.iter().any(|(name, _)| *name == front::written(path));
    let open = open.into_iter().filter(|path| !known(path)).map(Request::Path).collect();
    Chain { kind: Subject::Ruled, id, attr: TokenStream::new(), item, open, outside, defined: false }
}

/// The definition of a function with `mode = "dual_numbers"`, for calls in functions of other
/// modes:
/// its derivatives are its rules. Nothing if its types cannot be those of a function with a rule.
pub(super) fn with_rules(mut expansion: Expansion, of: Option<Unread>, id: DefId) -> Expansion {
    expansion.tokens.extend(of.map(|of| definition_and_rules(&of, id)));
    expansion
}

/// The definition, and the rules.
fn definition_and_rules(of: &Unread, id: DefId) -> TokenStream {
    // Parameters that are passed on must have no gradient in the eyes of a caller either.
    let real = |p: &UnreadParam| match (&p.form, p.active) {
        (Some(_), active) => !active,
        (None, _) => has_real(&p.ty.to_token_stream()),
    };
    // The bridge is written for every `T: Real`.
    if of.aux || of.has_further_bounds() || of.params.iter().any(real) {
        return unchecked(of);
    }
    let [vjp, jvp] = dual_numbers::names_of_rules(&of.item.sig.ident);
    let rules = Rules { vjp: Some(vjp.into()), jvp: Some(jvp.into()), constant: false };
    let function = front::without_its_body(&of.item, &rules);
    let outside = OuterDefinitions::default();
    let types_are_known = guarded(|| front::read_rule(&function, &rules, &outside, &of.krate));
    if !matches!(types_are_known, Ok(Ok(_))) {
        return unchecked(of);
    }
    let mut tokens = dual_numbers::rules(of);
    tokens.extend(written(&function, id, &outside, &of.krate).into_tokens());
    tokens
}

/// In place of the hidden function that `check_grad!` calls: a call of it is an error that says
/// why there is none.
fn unchecked(of: &Unread) -> TokenStream {
    let ItemFn { vis, attrs, sig, .. } = &of.item;
    let (hidden, krate) = (check_name(&of.stem), &of.krate);
    let cfgs = attrs.iter().filter(|a| a.path().is_ident("cfg"));
    let types: Vec<Ident> = (0..sig.inputs.len()).map(|k| format_ident!("A{k}")).collect();
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(dead_code, non_snake_case, clippy::needless_pass_by_value, clippy::type_complexity, reason = "it is for an error")]
        #vis fn #hidden<#(#types),*>(_: impl #krate::runtime::check::ChecksUnread, _: (#(#types,)*)) {}
    }
}

/// Whether a type is spelt with `f32` or `f64`.
fn has_real(ty: &TokenStream) -> bool {
    ty.clone().into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "f32" || word == "f64",
        TokenTree::Group(group) => has_real(&group.stream()),
        _ => false,
    })
}

fn failed(item: &TokenStream, diags: Diags) -> Expansion {
    let errors = diags.list().to_vec();
    Expansion { tokens: beside(item, &diags.into_tokens()), errors, internal: false }
}

/// The items beside a function whose body is not read.
pub(super) fn written(function: &ItemFn, id: DefId, outside: &OuterDefinitions, krate: &TokenStream) -> Written {
    let rules = Rules::of(&function.attrs).unwrap_or_default();
    let read = guarded(|| front::read_rule(function, &rules, outside, krate)).and_then(|read| read);
    let program = match read {
        Ok(program) => program,
        Err(diags) => {
            let errors = diags.list().to_vec();
            let mut tokens = diags.into_tokens();
            tokens.extend(definition(Item::Fn(function.clone()), id, false, outside, krate));
            return Written { tokens, errors, ..Written::default() };
        }
    };
    let path = |rule: &Option<syn::Path>| rule.as_ref().map(ToTokens::to_token_stream);
    let (vjp, jvp) = (path(&rules.vjp), path(&rules.jvp));
    let bridge = guarded(|| emit::beside_rule(&program, id, vjp.as_ref(), jvp.as_ref()));
    let mut found = Written::default();
    match bridge {
        Ok(bridge) => found.tokens.extend(bridge),
        Err(diags) => {
            found.errors = diags.list().to_vec();
            found.tokens.extend(diags.into_tokens());
        }
    }
    found.tokens.extend(definition(Item::Fn(function.clone()), id, true, outside, krate));
    if !rules.constant {
        found.tokens.extend(checked(function, &rules, id, outside));
    }
    found
}

/// The hidden function that `check_grad!` calls. It checks the derivatives of a function that does
/// nothing but call this one.
fn checked(function: &ItemFn, rules: &Rules, id: DefId, outside: &OuterDefinitions) -> TokenStream {
    let name = &function.sig.ident;
    let mut all = outside.clone();
    let own = Marked {
        id,
        item: Item::Fn(function.clone()),
        names: outside.names.clone(),
        broken: false,
        certain: true,
        home: quote!(crate),
    };
    all.list.push(own);
    all.names.push((name.to_string(), id));
    let mut caller = function.clone();
    caller.attrs.retain(|attr| !front::is_rule(attr));
    caller.sig.ident = format_ident!("__ad_ruled_{name}", span = name.span());
    let mut arguments = Vec::new();
    for (k, input) in caller.sig.inputs.iter_mut().enumerate() {
        if let FnArg::Typed(typed) = input {
            let argument = format_ident!("argument{k}_");
            *typed.pat = syn::parse_quote!(#argument);
            arguments.push(argument);
        }
    }
    *caller.block = syn::parse_quote!({ #name(#(#arguments),*) });
    let vjp = rules.vjp.is_some().then(|| quote!(vjp,));
    let jvp = rules.jvp.is_some().then(|| quote!(jvp,));
    let caller = caller.into_token_stream();
    let attr = quote!(#vjp #jvp);
    let tokens = written_hidden(attr, &caller, &all);
    let (hidden, of_caller) = (check_name(name), check_name(&format_ident!("__ad_ruled_{name}", span = name.span())));
    let vis = &function.vis;
    let cfgs = function.attrs.iter().filter(|a| a.path().is_ident("cfg"));
    quote! {
        #tokens
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(unused_imports, reason = "not every rule is checked")]
        #vis use #of_caller as #hidden;
    }
}

/// A function that only `check_grad!` calls, with its derivatives.
fn written_hidden(attr: TokenStream, caller: &TokenStream, all: &OuterDefinitions) -> TokenStream {
    let derivatives = expansion::written(attr, caller, all, &expansion::Records::default()).into_tokens();
    quote! {
        #[doc(hidden)]
        #[allow(dead_code, clippy::all, clippy::pedantic, reason = "only `check_grad!` calls it")]
        #caller
        #derivatives
    }
}
