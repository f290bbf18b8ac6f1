//! What stands beside a function for each of its derivatives: a hidden macro with its definition,
//! or, for a derivative that the attribute does not write, an item whose place says so.
//! And the error where none of these may stand.
//!
//! This module must never find out what a derivative computes.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Item, ItemFn, Visibility};

use super::{definition, number};
use crate::expansion::{Expansion, Written, guarded, with_item};
use ad_front::{self as front, DefId, Marked, OuterDefinitions};
use ad_ir::diag::{Diags, SrcRange};
use ad_ir::{catalogue, positions};

/// The hidden macros of the derivatives of a function. Each has the function's definition, too.
pub(super) fn derivatives(
    attr: &TokenStream,
    function: &ItemFn,
    (id, right): (DefId, bool),
    needs: &OuterDefinitions,
    krate: &TokenStream,
) -> TokenStream {
    let all = front::derivative_items(attr, function, needs);
    let mut own = function.clone();
    own.vis = Visibility::Inherited;
    own.attrs.retain(front::is_rule);
    let name = own.sig.ident.to_string();
    let (item, home) = (Item::Fn(own), quote!($crate));
    let of = Marked { id, item, names: needs.names.clone(), broken: !right, certain: true, home };
    let known = needs.list.iter().filter(|d| d.id != id).cloned();
    let list: Vec<Marked> = std::iter::once(of).chain(known).collect();
    let one = |item: ItemFn| {
        let own = number(&format!("{id:032x}"), &item.to_token_stream());
        // What the names of the function mean is stated for the derivative, too.
        let names = needs.names.iter().cloned().chain([(name.clone(), id)]).collect();
        let needs = OuterDefinitions { list: list.clone(), names, ..OuterDefinitions::default() };
        definition(Item::Fn(item), own, right, &needs, krate)
    };
    all.into_iter().map(one).chain([unnamed(attr, function, needs)]).collect()
}

/// Functions with the names of the derivatives that the attribute does not write. They stand in a
/// module of their own and can be reached from nowhere, so they hide nothing. If rustc does not
/// find such a name, its error mentions that one exists in this module, and shows the attribute.
fn unnamed(attr: &TokenStream, function: &ItemFn, needs: &OuterDefinitions) -> TokenStream {
    let cfgs = function.attrs.iter().filter(|a| a.path().is_ident("cfg"));
    let Some(front::Unnamed { stem, names, range }) = front::unnamed(attr, function, needs) else {
        return TokenStream::new();
    };
    let module = format_ident!("__ad_not_named_in_the_attribute_of_{}", stem.to_string().trim_start_matches("r#"));
    let items = names.iter().map(|name| quote_spanned!(range.first=> fn #name() {}));
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(dead_code, non_snake_case, clippy::all, clippy::pedantic, reason = "its names are for errors")]
        mod #module {
            #(#items)*
        }
    }
}

/// The error of a marked function in an `impl` block without a mark. rustc allows none of the items
/// there that stand beside a function, and would report each of them. A function with a receiver
/// has an error already.
pub(super) fn refuse_in_block(mark: &str, attr: &TokenStream, item: &TokenStream) -> Option<Expansion> {
    let function: ItemFn = syn::parse2(item.clone()).ok()?;
    let name = &function.sig.ident;
    if function.sig.receiver().is_some() || !positions::is_in_a_block(name) {
        return None;
    }
    let mut diags = Diags::new();
    let is_rule = mark != "differentiate" && mark != "differentiable";
    let error = if is_rule { catalogue::rule_on_a_method() } else { catalogue::associated_function(mark) };
    diags.push(SrcRange::of(name), error);
    let mut written = Written { errors: diags.list().to_vec(), tokens: diags.into_tokens(), ..Written::default() };
    if mark == "differentiate" {
        written.tokens.extend(guarded(|| front::stubs(attr.clone(), item.clone())).unwrap_or_default());
    }
    Some(with_item(item.clone(), written))
}
