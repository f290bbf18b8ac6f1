//! Structures of values as the hidden function writes them: patterns that take a value apart, and
//! expressions that put one together. This module must never depend on the use of the values.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

use ad_ir::program::{Container, ListType, Tree};
use ad_ir::rust_types::{hidden, made, owned_value, places, stack, tuple, zipped};

/// The leaf of a structure that is not bound by a pattern.
pub(super) fn unbound() -> TokenStream {
    quote!(_)
}

/// A pattern, and the statements that take the lists of tuples in it apart.
pub(super) struct BoundPattern {
    pub(super) pattern: TokenStream,
    pub(super) taken: TokenStream,
}

impl BoundPattern {
    /// The pattern that binds the leaves that have a name.
    pub(super) fn of(tree: &Tree<Option<(Ident, Container)>>, krate: &TokenStream) -> BoundPattern {
        match tree {
            Tree::Leaf(name) => {
                let pattern = name.as_ref().map_or_else(unbound, |(name, _)| name.to_token_stream());
                BoundPattern { pattern, taken: TokenStream::new() }
            }
            Tree::Tuple(parts) => {
                let (patterns, taken): (Vec<_>, Vec<_>) = parts
                    .iter()
                    .map(|part| BoundPattern::of(part, krate))
                    .map(|bound| (bound.pattern, bound.taken))
                    .unzip();
                BoundPattern { pattern: tuple(&patterns), taken: taken.into_iter().collect() }
            }
            Tree::List(of, element) => {
                let leaves = element.leaves();
                let Some((first, _)) = leaves.iter().find_map(|leaf| leaf.as_ref()) else {
                    return BoundPattern { pattern: unbound(), taken: TokenStream::new() };
                };
                let list = format_ident!("{first}list_");
                let mut taken = TokenStream::new();
                let stacks = |leaf: &Option<(Ident, Container)>| {
                    leaf.as_ref().and_then(|(name, container)| stack(krate, &name.to_string(), *container))
                };
                for (name, place) in places(&quote!(#list), tree, &stacks) {
                    let Some((name, container)) = name else { continue };
                    let vec = *of == ListType::Vector && container != Container::NdArray;
                    let ty = vec.then(|| quote!(: ::std::vec::Vec<_>));
                    taken.extend(quote!(let #name #ty = #place;));
                }
                BoundPattern { pattern: list.to_token_stream(), taken }
            }
            Tree::Defined(_, inner) => {
                let names: Vec<&Ident> = inner.leaves().into_iter().flatten().map(|(name, _)| name).collect();
                let Some(first) = names.first() else {
                    return BoundPattern { pattern: unbound(), taken: TokenStream::new() };
                };
                let whole = format_ident!("{first}whole_");
                let (BoundPattern { pattern, taken }, function) = (BoundPattern::of(inner, krate), hidden::taken());
                let all = quote!(#(#names),*);
                let taken = quote! {
                    let (#all,) = {
                        let #pattern = #whole.#function();
                        #taken
                        (#(#names.to_owned()),*,)
                    };
                };
                BoundPattern { pattern: whole.to_token_stream(), taken }
            }
        }
    }
}

/// The pattern of a result. `discrete`: with names for parts that are not real.
pub(super) fn bound_result(
    result: &Tree<(Ident, Container, bool)>,
    discrete: bool,
    krate: &TokenStream,
) -> BoundPattern {
    let named =
        |(name, container, real): &(Ident, Container, bool)| (*real || discrete).then(|| (name.clone(), *container));
    BoundPattern::of(&result.map(&mut |leaf| named(leaf)), krate)
}

/// The position of a leaf in a structure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    Nothing,
    Type,
    List,
}

/// A value of a structure, given its leaves. Inside of lists and of user-defined types, leaves are
/// owned; those of lists are lists of all elements.
pub(super) fn value_of<L>(tree: &Tree<L>, leaf: &mut dyn FnMut(&L, Inside) -> TokenStream) -> TokenStream {
    match tree {
        Tree::Leaf(own) => leaf(own, Inside::Nothing),
        Tree::Tuple(parts) => {
            let parts: Vec<TokenStream> = parts.iter().map(|part| value_of(part, leaf)).collect();
            tuple(&parts)
        }
        Tree::List(of, element) => {
            let list = zipped(of, &element.map(&mut |own| leaf(own, Inside::List)));
            if *of == ListType::Vector { quote!(&#list) } else { list }
        }
        Tree::Defined(of, inner) => {
            let value = made(of, &owned_value(&inside_of_type(inner, leaf)));
            quote!(&#value)
        }
    }
}

/// The structure inside of a user-defined type, with the tokens of its leaves.
pub(super) fn inside_of_type<L>(tree: &Tree<L>, leaf: &mut dyn FnMut(&L, Inside) -> TokenStream) -> Tree<TokenStream> {
    match tree {
        Tree::Leaf(own) => Tree::Leaf(leaf(own, Inside::Type)),
        Tree::Tuple(parts) => Tree::Tuple(parts.iter().map(|part| inside_of_type(part, leaf)).collect()),
        Tree::List(of, element) => Tree::List(of.clone(), element.map(&mut |own| leaf(own, Inside::List)).into()),
        Tree::Defined(of, inner) => Tree::Defined(of.clone(), inside_of_type(inner, leaf).into()),
    }
}
