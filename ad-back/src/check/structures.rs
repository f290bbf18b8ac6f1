//! Structures of values as the hidden function writes them: patterns that take a value apart, and
//! expressions that put one together. This module must never depend on the use of the values.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};

use ad_ir::program::{Container, ListType, Param, Tree};
use ad_ir::rust_types::{Apart, Lists, made, owned_value, places, stack, tuple, zipped};

/// The leaf of a structure that is not bound by a pattern.
pub(in super::super) fn unbound() -> TokenStream {
    quote!(_)
}

/// A leaf of a structure that a pattern takes apart.
#[derive(Clone)]
pub(in super::super) struct BoundLeaf {
    /// The name that it gets, if it gets one.
    pub(in super::super) name: Option<(Ident, Container)>,
    /// Whether it says which variant a value is.
    pub(in super::super) is_tag: bool,
}

/// A pattern, and the statements that take the lists of tuples in it apart.
pub(in super::super) struct BoundPattern {
    pub(in super::super) pattern: TokenStream,
    pub(in super::super) taken: TokenStream,
}

impl BoundPattern {
    /// The pattern that binds the leaves that have a name.
    pub(in super::super) fn of(tree: &Tree<BoundLeaf>, apart: &Apart<'_>) -> BoundPattern {
        match tree {
            Tree::Leaf(leaf) => {
                let pattern = leaf.name.as_ref().map_or_else(unbound, |(name, _)| name.to_token_stream());
                BoundPattern { pattern, taken: TokenStream::new() }
            }
            // Only a list has such arrays.
            Tree::Ragged(..) => BoundPattern { pattern: unbound(), taken: TokenStream::new() },
            Tree::Tuple(parts) => {
                let (patterns, taken): (Vec<_>, Vec<_>) = parts
                    .iter()
                    .map(|part| BoundPattern::of(part, apart))
                    .map(|bound| (bound.pattern, bound.taken))
                    .unzip();
                BoundPattern { pattern: tuple(&patterns), taken: taken.into_iter().collect() }
            }
            Tree::List(of, element) => {
                let leaves = element.leaves();
                let Some((first, _)) = leaves.iter().find_map(|leaf| leaf.name.as_ref()) else {
                    return BoundPattern { pattern: unbound(), taken: TokenStream::new() };
                };
                let list = format_ident!("{first}list_");
                let mut taken = TokenStream::new();
                let stack = |leaf: &BoundLeaf| {
                    leaf.name.as_ref().and_then(|(name, container)| stack(apart.krate, &name.to_string(), *container))
                };
                // A leaf that is bound is real.
                let krate = apart.krate;
                let zero = |_: &BoundLeaf| quote!(#krate::runtime::Real::lit(0.0));
                let lists = Lists { stack: &stack, zero: &zero, is_tag: &|leaf: &BoundLeaf| leaf.is_tag };
                for (leaf, place) in places(&quote!(#list), tree, (apart, &lists)) {
                    let Some((name, container)) = leaf.name else { continue };
                    let vec = *of == ListType::Vector && container != Container::NdArray;
                    let ty = vec.then(|| quote!(: #krate::runtime::alloc::vec::Vec<_>));
                    taken.extend(quote!(let #name #ty = #place;));
                }
                BoundPattern { pattern: list.to_token_stream(), taken }
            }
            Tree::Defined(of, inner) => {
                let names: Vec<&Ident> =
                    inner.leaves().into_iter().filter_map(|leaf| leaf.name.as_ref()).map(|(name, _)| name).collect();
                let Some(first) = names.first() else {
                    return BoundPattern { pattern: unbound(), taken: TokenStream::new() };
                };
                let whole = format_ident!("{first}whole_");
                let (BoundPattern { pattern, taken }, parts) =
                    (BoundPattern::of(inner, apart), apart.parts_of(of, &quote!(#whole)));
                let all = quote!(#(#names),*);
                let krate = apart.krate;
                let taken = quote! {
                    let (#all,) = {
                        #[allow(unused_imports, reason = "it is in the prelude of std, and not in that of core")]
                        use #krate::runtime::alloc::borrow::ToOwned as _;
                        let #pattern = #parts;
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
pub(in super::super) fn bound_result(
    result: &Tree<(Ident, Container, bool)>,
    discrete: bool,
    apart: &Apart<'_>,
) -> BoundPattern {
    // No result is a list of values that have arrays in some variants only.
    let named = |(name, container, real): &(Ident, Container, bool)| BoundLeaf {
        name: (*real || discrete).then(|| (name.clone(), *container)),
        is_tag: false,
    };
    BoundPattern::of(&result.map(&mut |leaf| named(leaf)), apart)
}

/// The position of a leaf in a structure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum LeafPosition {
    Nothing,
    Type,
    List,
}

/// A value of a structure, given its leaves. Inside of lists and of user-defined types, leaves are
/// owned; those of lists are lists of all elements.
pub(in super::super) fn value_of<L>(
    krate: &TokenStream,
    tree: &Tree<L>,
    leaf: &mut dyn FnMut(&L, LeafPosition) -> TokenStream,
) -> TokenStream {
    match tree {
        Tree::Leaf(own) => leaf(own, LeafPosition::Nothing),
        Tree::Ragged(..) => TokenStream::new(),
        Tree::Tuple(parts) => {
            let parts: Vec<TokenStream> = parts.iter().map(|part| value_of(krate, part, leaf)).collect();
            tuple(&parts)
        }
        Tree::List(of, element) => {
            let list = zipped(krate, of, &element.map(&mut |own| leaf(own, LeafPosition::List)));
            if *of == ListType::Vector { quote!(&#list) } else { list }
        }
        Tree::Defined(of, inner) => {
            let value = made(of, &owned_value(krate, &inside_of_type(inner, leaf)));
            quote!(&#value)
        }
    }
}

/// The structure inside of a user-defined type, with the tokens of its leaves.
pub(in super::super) fn inside_of_type<L>(
    tree: &Tree<L>,
    leaf: &mut dyn FnMut(&L, LeafPosition) -> TokenStream,
) -> Tree<TokenStream> {
    match tree {
        Tree::Leaf(own) => Tree::Leaf(leaf(own, LeafPosition::Type)),
        Tree::Ragged(of, parts) => {
            Tree::Ragged(of.clone(), parts.iter().map(|part| inside_of_type(part, leaf)).collect())
        }
        Tree::Tuple(parts) => Tree::Tuple(parts.iter().map(|part| inside_of_type(part, leaf)).collect()),
        Tree::List(of, element) => Tree::List(of.clone(), element.map(&mut |own| leaf(own, LeafPosition::List)).into()),
        Tree::Defined(of, inner) => Tree::Defined(of.clone(), inside_of_type(inner, leaf).into()),
    }
}

/// An owned value as an array of two equal examples.
pub(super) fn twice(param: &Param, value: &TokenStream, krate: &TokenStream) -> TokenStream {
    let arrays = quote!(#krate::ndarray);
    let array = match param.container {
        Container::Scalar | Container::ScalarRef => quote!(#arrays::arr0(#value)),
        Container::NdArray => value.clone(),
        Container::Slice | Container::Static => {
            let (lens, own) = (&param.lens, Ident::new("example_", Span::mixed_site()));
            let flat = (0..param.container.nested(lens.len())).map(|_| quote!(.as_flattened()));
            let first = if param.container == Container::Slice { quote!(#own.len(),) } else { quote!() };
            quote!({
                let #own = #value;
                #krate::runtime::check::shaped(#own[..] #(#flat)*.iter().copied().collect(), [#first #(#lens),*])
            })
        }
    };
    quote!(&#krate::runtime::check::twice(&#array))
}
