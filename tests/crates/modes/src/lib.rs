//! The attribute `differentiate` with a mode, under the name of the mode. A test that imports one
//! of these as `differentiate` runs the functions of another test in that mode.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// `#[differentiate(mode = "unf", ..)]`.
#[proc_macro_attribute]
pub fn unf(options: TokenStream, item: TokenStream) -> TokenStream {
    in_mode("unf", options, item)
}

/// `#[differentiate(mode = "chad", ..)]`.
#[proc_macro_attribute]
pub fn chad(options: TokenStream, item: TokenStream) -> TokenStream {
    in_mode("chad", options, item)
}

fn in_mode(mode: &str, options: TokenStream, item: TokenStream) -> TokenStream {
    let mut all = TokenStream::from_iter([
        TokenTree::Ident(Ident::new("mode", Span::call_site())),
        TokenTree::Punct(Punct::new('=', Spacing::Alone)),
        TokenTree::Literal(Literal::string(mode)),
        TokenTree::Punct(Punct::new(',', Spacing::Alone)),
    ]);
    all.extend(options);
    let mut attribute: TokenStream = "::ad::differentiate".parse().unwrap_or_default();
    attribute.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, all))]);
    let attribute = Group::new(Delimiter::Bracket, attribute);
    let mut marked =
        TokenStream::from_iter([TokenTree::Punct(Punct::new('#', Spacing::Alone)), TokenTree::Group(attribute)]);
    marked.extend(item);
    marked
}
