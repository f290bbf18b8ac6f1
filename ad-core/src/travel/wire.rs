//! The form in which definitions pass through macro calls as tokens, and how they are read again.
//!
//! This module must never decide what a name means.

use proc_macro2::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};

use ad_front::{DefId, Marked};

/// A definition as tokens.
pub(super) fn entry(definition: &Marked) -> TokenStream {
    let (id, item) = (Literal::u128_unsuffixed(definition.id), &definition.item);
    let state = match (definition.broken, definition.certain) {
        (true, _) => "broken",
        (false, true) => "certain",
        (false, false) => "right",
    };
    let state = format_ident!("{state}");
    let (names, home) = (names(&definition.names), &definition.home);
    quote!({ #id #state { #item } { #names } { #home } })
}

pub(super) fn entries(tokens: TokenStream) -> Option<Vec<Marked>> {
    let one = |token: TokenTree| {
        let parts: Vec<TokenTree> = group(token)?.into_iter().collect();
        let [id, state, item, names, home] = <[TokenTree; 5]>::try_from(parts).ok()?;
        Some(Marked {
            id: id.to_string().parse().ok()?,
            broken: state.to_string() == "broken",
            certain: state.to_string() == "certain",
            item: syn::parse2(of_caller(group(item)?)).ok()?,
            names: read_names(group(names)?)?,
            home: group(home)?,
        })
    };
    tokens.into_iter().map(one).collect()
}

/// Names as tokens, each with the number of its definition.
pub(super) fn names(names: &[(String, DefId)]) -> TokenStream {
    let one = |(name, id): &(String, DefId)| {
        let (name, id) = (Literal::string(name), Literal::u128_unsuffixed(*id));
        quote!(#name #id)
    };
    names.iter().map(one).collect()
}

pub(super) fn read_names(tokens: TokenStream) -> Option<Vec<(String, DefId)>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let one = |pair: &[TokenTree]| {
        let [name, id] = pair else { return None };
        let name: syn::LitStr = syn::parse2(name.to_token_stream()).ok()?;
        Some((name.value(), id.to_string().parse().ok()?))
    };
    tokens.chunks(2).map(one).collect()
}

pub(super) fn group(token: TokenTree) -> Option<TokenStream> {
    match token {
        TokenTree::Group(g) if g.delimiter() == Delimiter::Brace => Some(g.stream()),
        _ => None,
    }
}

/// The tokens with the hygiene of this macro call. A function and its derivatives must have the
/// same hygiene for their variables, and tokens that have passed through a macro call have another
/// one.
pub(super) fn of_caller(tokens: TokenStream) -> TokenStream {
    let one = |mut token: TokenTree| {
        match &mut token {
            TokenTree::Group(g) => {
                let mut inner = Group::new(g.delimiter(), of_caller(g.stream()));
                inner.set_span(g.span());
                return TokenTree::Group(inner);
            }
            // `$crate` here means the crate of the user's macro.
            TokenTree::Ident(i) if *i == "$crate" => {}
            other => other.set_span(other.span().resolved_at(Span::call_site())),
        }
        token
    };
    tokens.into_iter().map(one).collect()
}
