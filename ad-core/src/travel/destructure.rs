//! The hidden functions beside a user-defined type, which take a value apart and put one together.
//! Derivatives in any module call them, so the fields of a type may be private.
//!
//! A value has the structure of the signatures: a tuple of its fields, in which fields of
//! user-defined types are taken apart too. This module must never write a computation.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Fields, Index, Item, Member};

use ad_front::{FieldLeaf, OuterDefinitions, fields};
use ad_ir::ir::{Elem, RealTy};
use ad_ir::program::{Container, ListType, Tree};
use ad_ir::rust_types::{elem_type, hidden, made, static_type, tuple};

type Field = Tree<FieldLeaf>;

/// A variant of a type, or the only one of a struct.
struct Variant<'i> {
    path: TokenStream,
    fields: &'i Fields,
    types: Vec<Field>,
}

/// What the types in the hidden functions depend on.
struct Types<'n> {
    real: Ident,
    krate: &'n TokenStream,
}

/// The hidden functions of a type. `None` if a field has a type that is not allowed in parameters.
#[must_use]
pub(super) fn beside_type(item: &Item, outside: &OuterDefinitions, krate: &TokenStream) -> Option<TokenStream> {
    let (name, generics, variants): (_, _, Vec<(TokenStream, &Fields)>) = match item {
        Item::Struct(s) => (&s.ident, &s.generics, vec![(quote!(Self), &s.fields)]),
        Item::Enum(e) => {
            let mut variants = Vec::new();
            for syn::Variant { ident, fields, .. } in &e.variants {
                variants.push((quote!(Self::#ident), fields));
            }
            (&e.ident, &e.generics, variants)
        }
        _ => return None,
    };
    let types = fields(item, outside)?;
    let variants = variants.into_iter().zip(types).map(|((path, fields), types)| Variant { path, fields, types });
    let real = generics.type_params().next().map_or_else(|| format_ident!("T"), |p| p.ident.clone());
    let functions = functions(&variants.collect::<Vec<_>>(), matches!(item, Item::Enum(_)), &Types { real, krate });
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    Some(quote! {
        #[automatically_derived]
        #[allow(
            dead_code,
            unreachable_pub,
            unused_variables,
            clippy::all,
            clippy::pedantic,
            reason = "derivatives may need none of these functions"
        )]
        impl #impl_generics #name #type_generics #where_clause {
            #functions
        }
    })
}

fn functions(variants: &[Variant<'_>], is_enum: bool, types: &Types<'_>) -> TokenStream {
    let (taken, places, made) = (hidden::taken(), hidden::places(), hidden::made());
    let of = |one: &dyn Fn(&Field) -> TokenStream| {
        let all: Vec<TokenStream> =
            variants.iter().map(|v| tuple(&v.types.iter().map(one).collect::<Vec<_>>())).collect();
        if is_enum { tuple(&[vec![quote!(usize)], all].concat()) } else { quote!(#(#all)*) }
    };
    let (taken_type, made_type) = (of(&|ty| types.taken(ty)), of(&|ty| types.made(ty)));
    let own = |variant: &Variant<'_>| {
        let parts = variant.types.iter().zip(variant.names());
        tuple(&parts.map(|(ty, name)| take_apart(ty, &quote!((*#name)))).collect::<Vec<_>>())
    };
    let made_of = |variant: &Variant<'_>| {
        let parts = variant.types.iter().zip(variant.names());
        variant.with(&parts.map(|(ty, name)| put_together(ty, &quote!(#name))).collect::<Vec<_>>())
    };
    let (taken_body, made_body) = if is_enum {
        // Each arm names its own part only, so that the code is linear in the number of variants.
        let all = (0..variants.len()).map(|k| (Index::from(k), Index::from(k + 1)));
        let absent = variants.iter().map(|v| tuple(&v.types.iter().map(|ty| types.absent(ty)).collect::<Vec<_>>()));
        let absent = tuple(&std::iter::once(number(0)).chain(absent).collect::<Vec<_>>());
        let taken_arms = variants.iter().zip(all.clone()).map(|(variant, (k, at))| {
            let (pattern, own) = (variant.pattern(), own(variant));
            let put = (!variant.types.is_empty()).then(|| quote!(parts.#at = #own;));
            quote!(#pattern => { parts.0 = #k; #put })
        });
        let made_arms = variants.iter().zip(all).map(|(variant, (k, at))| {
            let (parts, value) = (variant.tuple(), made_of(variant));
            let own = (!variant.types.is_empty()).then(|| quote!(let #parts = parts.#at;));
            let tag = if k.index as usize + 1 == variants.len() { quote!(_) } else { quote!(#k) };
            quote!(#tag => { #own #value })
        });
        (
            quote! {
                let mut parts: #taken_type = #absent;
                match self { #(#taken_arms)* }
                parts
            },
            quote!(match parts.0 { #(#made_arms)* }),
        )
    } else {
        let taken_arms = variants.iter().map(|v| (v.pattern(), own(v))).map(|(p, value)| quote!(#p => #value,));
        let made_arms = variants.iter().map(|v| (v.tuple(), made_of(v))).map(|(p, value)| quote!(#p => #value,));
        (quote!(match self { #(#taken_arms)* }), quote!(match parts { #(#made_arms)* }))
    };
    let mut code = quote! {
        #[doc(hidden)]
        #[inline]
        pub fn #taken(&self) -> #taken_type {
            #taken_body
        }
        #[doc(hidden)]
        #[inline]
        pub fn #made(parts: #made_type) -> Self {
            #made_body
        }
    };
    if let ([variant], false) = (variants, is_enum)
        && variant.types.iter().all(has_places)
    {
        let places_type = of(&|ty| types.places(ty));
        let (names, pattern) = (variant.names(), variant.pattern());
        let own: Vec<TokenStream> =
            variant.types.iter().zip(&names).map(|(ty, name)| places_of(ty, &quote!((*#name)))).collect();
        let value = tuple(&own);
        code.extend(quote! {
            #[doc(hidden)]
            #[inline]
            pub fn #places(&mut self) -> #places_type {
                match self { #pattern => #value }
            }
        });
    }
    code
}

fn number(k: usize) -> TokenStream {
    Literal::usize_unsuffixed(k).to_token_stream()
}

impl Variant<'_> {
    fn names(&self) -> Vec<Ident> {
        (0..self.types.len()).map(|k| format_ident!("part{k}", span = Span::mixed_site())).collect()
    }

    /// A tuple of the names that are bound to its fields.
    fn tuple(&self) -> TokenStream {
        tuple(&self.names().iter().map(ToTokens::to_token_stream).collect::<Vec<_>>())
    }

    /// The variant with its names for its fields.
    fn pattern(&self) -> TokenStream {
        self.with(&self.names().iter().map(ToTokens::to_token_stream).collect::<Vec<_>>())
    }

    /// The variant with these values or patterns for its fields.
    fn with(&self, parts: &[TokenStream]) -> TokenStream {
        let path = &self.path;
        let members: Vec<Member> = self.fields.members().collect();
        quote!(#path { #(#members: #parts),* })
    }
}

/// Whether there are mutable references to all leaves of a field, through which they can be written
/// in place.
fn has_places(ty: &Field) -> bool {
    match ty {
        Tree::Leaf(_) => true,
        Tree::Tuple(parts) => parts.iter().all(has_places),
        Tree::List(..) => false,
        Tree::Defined(of, inner) => !of.has_sums && has_places(inner),
    }
}

impl Types<'_> {
    /// The type of the structure into which a value is taken apart.
    fn taken(&self, ty: &Field) -> TokenStream {
        let krate = self.krate;
        match ty {
            Tree::Leaf(leaf) => {
                let elem = elem_type(leaf.elem, &self.real);
                match leaf.container {
                    Container::NdArray => {
                        let view = format_ident!("ArrayView{}", leaf.rank);
                        quote!(#krate::ndarray::#view<'_, #elem>)
                    }
                    Container::Slice => {
                        let elem = static_type(elem, &leaf.lens);
                        quote!(&[#elem])
                    }
                    _ => static_type(elem, &leaf.lens),
                }
            }
            Tree::Tuple(parts) => tuple(&parts.iter().map(|ty| self.taken(ty)).collect::<Vec<_>>()),
            Tree::List(of, element) => list_of(of, &self.taken(element)),
            Tree::Defined(_, inner) => self.taken(inner),
        }
    }

    /// The type of the parts from which a value is made.
    fn made(&self, ty: &Field) -> TokenStream {
        match ty {
            Tree::Leaf(leaf) => {
                let elem = elem_type(leaf.elem, &self.real);
                let static_array = static_type(elem.clone(), &leaf.lens);
                match leaf.container {
                    Container::NdArray => {
                        let (krate, array) = (self.krate, format_ident!("Array{}", leaf.rank));
                        quote!(#krate::ndarray::#array<#elem>)
                    }
                    Container::Slice => quote!(::std::vec::Vec<#static_array>),
                    _ => static_array,
                }
            }
            Tree::Tuple(parts) => tuple(&parts.iter().map(|ty| self.made(ty)).collect::<Vec<_>>()),
            Tree::List(of, element) => list_of(of, &self.made(element)),
            Tree::Defined(_, inner) => self.made(inner),
        }
    }

    /// The type of mutable references to the leaves of a value.
    fn places(&self, ty: &Field) -> TokenStream {
        match ty {
            Tree::Leaf(leaf) if leaf.container == Container::Slice => {
                let elem = static_type(elem_type(leaf.elem, &self.real), &leaf.lens);
                quote!(&mut [#elem])
            }
            Tree::Leaf(_) => {
                let owned = self.made(ty);
                quote!(&mut #owned)
            }
            Tree::Tuple(parts) => tuple(&parts.iter().map(|ty| self.places(ty)).collect::<Vec<_>>()),
            Tree::List(..) => TokenStream::new(),
            Tree::Defined(_, inner) => self.places(inner),
        }
    }

    /// The parts of a variant when the value is another variant: zeros, and arrays without
    /// elements.
    fn absent(&self, ty: &Field) -> TokenStream {
        match ty {
            Tree::Leaf(leaf) => self.absent_leaf(leaf),
            Tree::Tuple(parts) => tuple(&parts.iter().map(|ty| self.absent(ty)).collect::<Vec<_>>()),
            Tree::List(ListType::Vector, _) => quote!(::std::vec::Vec::new()),
            Tree::List(ListType::Static(_), element) => {
                let element = self.absent(element);
                quote!(::core::array::from_fn(|_| #element))
            }
            Tree::Defined(_, inner) => self.absent(inner),
        }
    }

    fn absent_leaf(&self, leaf: &FieldLeaf) -> TokenStream {
        let krate = self.krate;
        match leaf.container {
            Container::NdArray => quote!(#krate::runtime::no_elements()),
            Container::Slice => quote!(&[]),
            _ => {
                let zero = match leaf.elem {
                    Elem::Real(RealTy::Param) => {
                        let real = &self.real;
                        quote!(<#real as #krate::Real>::lit(0.0))
                    }
                    Elem::Real(_) => quote!(0.0),
                    Elem::Int(_) => quote!(0),
                    Elem::Bool => quote!(false),
                };
                static_type(zero, &leaf.lens)
            }
        }
    }
}

/// The type of a list of these elements.
fn list_of(of: &ListType, element: &TokenStream) -> TokenStream {
    match of {
        ListType::Vector => quote!(::std::vec::Vec<#element>),
        ListType::Static(len) => quote!([#element; #len]),
    }
}

/// Applies `one` to each part of a tuple.
fn each_part(parts: &[Field], of: &TokenStream, one: fn(&Field, &TokenStream) -> TokenStream) -> TokenStream {
    let part = |(k, ty): (usize, &Field)| {
        let k = Literal::usize_unsuffixed(k);
        one(ty, &quote!(#of.#k))
    };
    tuple(&parts.iter().enumerate().map(part).collect::<Vec<_>>())
}

/// Takes the value of a place expression apart.
fn take_apart(ty: &Field, place: &TokenStream) -> TokenStream {
    match ty {
        Tree::Leaf(leaf) => match leaf.container {
            Container::NdArray => quote!(#place.view()),
            Container::Slice => quote!(&#place[..]),
            _ => place.clone(),
        },
        Tree::Tuple(parts) => each_part(parts, place, take_apart),
        Tree::List(of, element) => {
            let item = Ident::new("item", Span::mixed_site());
            let one = take_apart(element, &quote!((*#item)));
            match of {
                ListType::Vector => quote!(#place.iter().map(|#item| #one).collect()),
                ListType::Static(_) => quote!(#place.each_ref().map(|#item| #one)),
            }
        }
        Tree::Defined(..) => {
            let taken = hidden::taken();
            quote!(#place.#taken())
        }
    }
}

/// Puts a value together.
fn put_together(ty: &Field, value: &TokenStream) -> TokenStream {
    match ty {
        Tree::Leaf(_) => value.clone(),
        Tree::Tuple(parts) => each_part(parts, value, put_together),
        Tree::List(of, element) => {
            let item = Ident::new("item", Span::mixed_site());
            let one = put_together(element, &quote!(#item));
            match of {
                ListType::Vector => quote!(#value.into_iter().map(|#item| #one).collect()),
                ListType::Static(_) => quote!(#value.map(|#item| #one)),
            }
        }
        Tree::Defined(of, _) => made(of, value),
    }
}

/// Mutable references to the leaves of a value.
fn places_of(ty: &Field, place: &TokenStream) -> TokenStream {
    match ty {
        Tree::Leaf(leaf) if leaf.container == Container::Slice => quote!(&mut #place[..]),
        Tree::Leaf(_) => quote!(&mut #place),
        Tree::Tuple(parts) => each_part(parts, place, places_of),
        Tree::List(..) => TokenStream::new(),
        Tree::Defined(..) => {
            let places = hidden::places();
            quote!(#place.#places())
        }
    }
}
