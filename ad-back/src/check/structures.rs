//! Structures of values as the hidden function writes them: patterns that take a value apart, and
//! expressions that put one together. This module must never know what the values are for.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

use ad_ir::program::{Container, Tree};
use ad_ir::rust_types::{hidden, made, owned_value, places, tuple, zipped};

/// The leaf of a structure that is not bound by a pattern.
pub(super) fn unbound() -> TokenStream {
    quote!(_)
}

/// A pattern, and the statements that take the lists of tuples in it apart.
pub(super) struct Bound {
    pub(super) pattern: TokenStream,
    pub(super) taken: TokenStream,
}

impl Bound {
    /// The pattern that binds the leaves that have a name.
    pub(super) fn of(tree: &Tree<Option<Ident>>) -> Bound {
        match tree {
            Tree::Leaf(name) => {
                let pattern = name.as_ref().map_or_else(unbound, ToTokens::to_token_stream);
                Bound { pattern, taken: TokenStream::new() }
            }
            Tree::Tuple(parts) => {
                let (patterns, taken): (Vec<_>, Vec<_>) =
                    parts.iter().map(Bound::of).map(|bound| (bound.pattern, bound.taken)).unzip();
                Bound { pattern: tuple(&patterns), taken: taken.into_iter().collect() }
            }
            Tree::List(element) => {
                let leaves = element.leaves();
                let Some(first) = leaves.iter().find_map(|leaf| leaf.as_ref()) else {
                    return Bound { pattern: unbound(), taken: TokenStream::new() };
                };
                let list = format_ident!("{first}list_");
                let mut taken = TokenStream::new();
                for (name, place) in places(&quote!(#list), tree) {
                    let Some(name) = name else { continue };
                    taken.extend(quote!(let #name: ::std::vec::Vec<_> = #place;));
                }
                Bound { pattern: list.to_token_stream(), taken }
            }
            Tree::Defined(_, inner) => {
                let names: Vec<&Ident> = inner.leaves().into_iter().flatten().collect();
                let Some(first) = names.first() else {
                    return Bound { pattern: unbound(), taken: TokenStream::new() };
                };
                let whole = format_ident!("{first}whole_");
                let (Bound { pattern, taken }, function) = (Bound::of(inner), hidden::taken());
                let all = quote!(#(#names),*);
                let taken = quote! {
                    let (#all,) = {
                        let #pattern = #whole.#function();
                        #taken
                        (#(#names.to_owned()),*,)
                    };
                };
                Bound { pattern: whole.to_token_stream(), taken }
            }
        }
    }
}

/// The pattern of a result. `discrete`: with names for parts that are not real.
pub(super) fn bound_result(result: &Tree<(Ident, Container, bool)>, discrete: bool) -> Bound {
    Bound::of(&result.map(&mut |(name, _, real)| (*real || discrete).then(|| name.clone())))
}

/// A value of a structure, given its leaves. Inside of lists and of types with a definition, leaves
/// are owned; those of lists are `Vec`s.
pub(super) fn value_of<L>(tree: &Tree<L>, inside: bool, leaf: &mut dyn FnMut(&L, bool) -> TokenStream) -> TokenStream {
    match tree {
        Tree::Leaf(own) => leaf(own, inside),
        Tree::Tuple(parts) => {
            let parts: Vec<TokenStream> = parts.iter().map(|part| value_of(part, inside, leaf)).collect();
            tuple(&parts)
        }
        Tree::List(element) => {
            let list = zipped(&element.map(&mut |own| leaf(own, true)));
            quote!(&#list)
        }
        Tree::Defined(of, inner) => {
            let value = made(of, &owned_value(&inner.map(&mut |own| leaf(own, true))));
            quote!(&#value)
        }
    }
}
