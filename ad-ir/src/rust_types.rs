//! Rust types and names: the type of an element, of an array in each container, and of a whole
//! result; and the name of the hidden function that `check_grad!` calls. Tangents and cotangents
//! are passed, and gradients returned, in the types that the chapter "Derivatives" of `docs/guide`
//! lists.
//!
//! The front end, the derivatives and the emitter use this module. It depends on none of them and
//! examines no values.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};

use crate::ir::{Elem, RealTy};
use crate::program::{Container, OutputTree, Parts, Program, Tree};

/// The type parameter for a real number; a name that nothing has, if there is none.
pub fn real_param(program: &Program) -> Ident {
    program.real_param.clone().unwrap_or_else(|| Ident::new("T", Span::call_site()))
}

/// The type of an element; `param` is the function's real type parameter.
pub fn elem_type(elem: Elem, param: &Ident) -> TokenStream {
    match elem {
        Elem::Real(RealTy::F64) => quote!(f64),
        Elem::Real(RealTy::F32) => quote!(f32),
        Elem::Real(RealTy::Param) => quote!(#param),
        Elem::Int(ty) => {
            let name = format_ident!("{}", ty.name());
            quote!(#name)
        }
        Elem::Bool => quote!(bool),
    }
}

/// The type of an owned result of this kind.
fn owned_type(program: &Program, container: Container, elem: Elem, rank: usize, lens: &[TokenStream]) -> TokenStream {
    let krate = &program.krate;
    let elem = elem_type(elem, &real_param(program));
    match container {
        Container::Scalar | Container::ScalarRef => elem,
        Container::NdArray => {
            let array = format_ident!("Array{rank}");
            quote!(#krate::ndarray::#array<#elem>)
        }
        Container::Slice => {
            let elem = static_type(elem, lens);
            quote!(::std::vec::Vec<#elem>)
        }
        Container::Static => static_type(elem, lens),
    }
}

/// The type by which a tangent, cotangent or direction of this kind is passed.
pub fn argument_type(
    program: &Program,
    container: Container,
    elem: Elem,
    rank: usize,
    lens: &[TokenStream],
) -> TokenStream {
    let krate = &program.krate;
    let elem = elem_type(elem, &real_param(program));
    match container {
        Container::Scalar | Container::ScalarRef => elem,
        Container::NdArray => {
            let array = format_ident!("ArrayRef{rank}");
            quote!(&#krate::ndarray::#array<#elem>)
        }
        Container::Slice => {
            let elem = static_type(elem, lens);
            quote!(&[#elem])
        }
        Container::Static => static_type(elem, lens),
    }
}

/// The type by which the place for a gradient of this kind is passed.
pub fn destination_type(
    program: &Program,
    container: Container,
    elem: Elem,
    rank: usize,
    lens: &[TokenStream],
) -> TokenStream {
    match container {
        Container::Slice => {
            let elem = static_type(elem_type(elem, &real_param(program)), lens);
            quote!(&mut [#elem])
        }
        _ => {
            let owned = owned_type(program, container, elem, rank, lens);
            quote!(&mut #owned)
        }
    }
}

/// A view of an array of this rank.
#[must_use]
pub fn view_type(program: &Program, lifetime: &TokenStream, elem: Elem, rank: u8) -> TokenStream {
    let krate = &program.krate;
    let (elem, view) = (elem_type(elem, &real_param(program)), format_ident!("ArrayView{rank}"));
    quote!(#krate::ndarray::#view<#lifetime, #elem>)
}

/// `[[elem; N]; M]` for the sizes M, N.
pub fn static_type(elem: TokenStream, lens: &[impl ToTokens]) -> TokenStream {
    lens.iter().rev().fold(elem, |inner, len| quote!([#inner; #len]))
}

/// The type of a whole result: a leaf's owned type, tuples of these.
pub fn tree_type(program: &Program, tree: &OutputTree) -> TokenStream {
    let g = &program.graph;
    written_lists(tree, &owned_list, &mut |out, element| {
        let out = if element { &out.element() } else { out };
        owned_type(program, out.container, g.elem(out.term), g.rank(out.term), &out.lens)
    })
}

/// The type of the destination of a whole result.
pub fn written_tree_type(program: &Program, tree: &OutputTree) -> TokenStream {
    mutable(&tree_type(program, tree))
}

/// A mutable reference to a type.
pub fn mutable(ty: &TokenStream) -> TokenStream {
    quote!(&mut #ty)
}

/// A list that owns its elements.
#[must_use]
pub fn owned_list(element: TokenStream) -> TokenStream {
    quote!(::std::vec::Vec<#element>)
}

/// A list as tangents and cotangents are passed.
#[must_use]
pub fn passed_list(element: TokenStream) -> TokenStream {
    quote!(&[#element])
}

/// A type. A leaf inside of a list is written as an element of its array.
pub fn written_lists<L>(
    tree: &Tree<L>,
    list: &dyn Fn(TokenStream) -> TokenStream,
    leaf: &mut dyn FnMut(&L, bool) -> TokenStream,
) -> TokenStream {
    match tree {
        Tree::Leaf(own) => leaf(own, false),
        Tree::Tuple(parts) => {
            let parts: Vec<TokenStream> = parts.iter().map(|part| written_lists(part, list, leaf)).collect();
            tuple(&parts)
        }
        Tree::List(element) => list(written(element, &mut |own| leaf(own, true))),
    }
}

/// A `Vec` of tuples, given a `Vec` for each leaf.
#[must_use]
pub fn zipped(element: &Tree<TokenStream>) -> TokenStream {
    let leaves = element.leaves();
    let name = |k: usize| format_ident!("item{k}_", span = Span::mixed_site());
    let Some((first, rest)) = leaves.split_first() else { return quote!(::std::vec::Vec::new()) };
    let first_name = name(0);
    let (mut all, mut pattern) = (quote!(::core::iter::IntoIterator::into_iter(#first)), quote!(#first_name));
    for (k, list) in rest.iter().enumerate() {
        let name = name(k + 1);
        all = quote!(::core::iter::Iterator::zip(#all, #list));
        pattern = quote!((#pattern, #name));
    }
    let mut k = 0..;
    let item = written(element, &mut |_| {
        let name = name(k.next().unwrap_or(0));
        quote!(#name)
    });
    quote!(::core::iter::Iterator::collect::<::std::vec::Vec<_>>(::core::iter::Iterator::map(#all, |#pattern| #item)))
}

/// A structure as Rust writes it, in a type, a pattern or an expression. It has no lists.
pub fn written<L>(tree: &Tree<L>, leaf: &mut impl FnMut(&L) -> TokenStream) -> TokenStream {
    match tree {
        Tree::Leaf(own) => leaf(own),
        Tree::Tuple(parts) => {
            let parts: Vec<TokenStream> = parts.iter().map(|part| written(part, leaf)).collect();
            tuple(&parts)
        }
        Tree::List(element) => written(element, leaf),
    }
}

/// A tuple in a type, a pattern or an expression.
#[must_use]
pub fn tuple(parts: &[TokenStream]) -> TokenStream {
    match parts {
        [one] => quote!((#one,)),
        _ => quote!((#(#parts),*)),
    }
}

/// The leaves of a parameter of this name with their places in it: `p`, or `p.0` and `p.1.0`.
#[must_use]
pub fn places(name: &Ident, parts: &Parts) -> Vec<(usize, TokenStream)> {
    let mut all = Vec::new();
    add_places(parts, &quote!(#name), &mut all);
    all
}

fn add_places(parts: &Parts, place: &TokenStream, all: &mut Vec<(usize, TokenStream)>) {
    match parts {
        Parts::Leaf(k) => all.push((*k, place.clone())),
        Parts::Tuple { parts, .. } => {
            for (n, part) in parts.iter().enumerate() {
                let n = Literal::usize_unsuffixed(n);
                add_places(part, &quote!(#place.#n), all);
            }
        }
        Parts::List { element, .. } => {
            let item = Ident::new("item_", Span::mixed_site());
            let mut parts = Vec::new();
            add_places(element, &quote!(#item), &mut parts);
            for (k, part) in parts {
                all.push((k, quote!(#place.iter().map(|#item| #part).collect::<::std::vec::Vec<_>>())));
            }
        }
    }
}

/// The name of the hidden function that accompanies `of` and that `check_grad!` calls.
pub fn check_name(of: &Ident) -> Ident {
    format_ident!("__ad_check_{}", of.to_string().trim_start_matches("r#"), span = of.span())
}
