//! The hidden functions beside a user-defined type, which take a value apart and put one together.
//! Derivatives in any module call them, so the fields of a type may be private.
//!
//! A value has the structure of the signatures: a tuple of its fields, in which fields of
//! user-defined types are taken apart too. This module must never write a computation.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Fields, Index, Item, Member};

use super::tables::number;
use ad_front::{self as front, OuterDefinitions, fields};
use ad_ir::program::{Container, DefinedType, FieldLeaf, Tree};
use ad_ir::rust_types::{Apart, each_part, elem_type, hidden, made, put_together, static_type, tuple};

type Field = Tree<FieldLeaf>;

/// A variant of a type, or the only one of a struct.
struct Variant<'i> {
    path: TokenStream,
    fields: &'i Fields,
    /// The structure of each field. `None` if it is not made of numbers and is copied.
    all: Vec<Option<Field>>,
    /// The structures of the other fields.
    types: Vec<Field>,
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
    let real = generics.type_params().next().map_or_else(|| format_ident!("T"), |p| p.ident.clone());
    let (is_enum, types) = (matches!(item, Item::Enum(_)), Apart { real, krate });
    let functions = match front::tables(item, outside) {
        Some(tables) => super::tables::functions(&tables, &variants, is_enum, &types),
        None => {
            let fields = fields(item, outside)?;
            let variants = variants.into_iter().zip(fields).map(|((path, fields), all)| {
                let types = all.iter().flatten().cloned().collect();
                Variant { path, fields, all, types }
            });
            functions(&variants.collect::<Vec<_>>(), is_enum, &types)
        }
    };
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

fn functions(variants: &[Variant<'_>], is_enum: bool, types: &Apart<'_>) -> TokenStream {
    let (taken, places, made_name) = (hidden::taken(), hidden::places(), hidden::made());
    let of = |one: &dyn Fn(&Field) -> TokenStream| {
        let all: Vec<TokenStream> =
            variants.iter().map(|v| tuple(&v.types.iter().map(one).collect::<Vec<_>>())).collect();
        if is_enum { tuple(&[vec![quote!(usize)], all].concat()) } else { quote!(#(#all)*) }
    };
    let (taken_type, made_type) = (of(&|ty| types.taken(ty)), of(&|ty| types.made(ty)));
    let own = |variant: &Variant<'_>| {
        let parts = variant.types.iter().zip(variant.names());
        tuple(&parts.map(|(ty, name)| types.take_apart(ty, &quote!((*#name)))).collect::<Vec<_>>())
    };
    let made_of = |variant: &Variant<'_>| {
        let part = |(k, ty): (usize, &Option<Field>)| {
            let (name, like) = (name(k), like(k));
            match ty {
                None => quote!(::core::clone::Clone::clone(#like)),
                Some(Tree::Defined(of, _)) if of.is_opaque => {
                    made(&DefinedType { like: Some(quote!((*#like))), ..of.clone() }, &quote!(#name))
                }
                Some(ty) => put_together(ty, &quote!(#name)),
            }
        };
        variant.with(&variant.all.iter().enumerate().map(part).collect::<Vec<_>>())
    };
    let is_opaque = variants.iter().any(Variant::is_opaque);
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
        let made_arms = variants.iter().map(|v| {
            let (parts, value) = (v.tuple(), made_of(v));
            let all: Vec<TokenStream> = (0..v.all.len()).map(|k| like(k).to_token_stream()).collect();
            let like = v.with(&all);
            if is_opaque { quote!((#parts, #like) => #value,) } else { quote!(#parts => #value,) }
        });
        let made_from = if is_opaque { quote!((parts, like)) } else { quote!(parts) };
        (quote!(match self { #(#taken_arms)* }), quote!(match #made_from { #(#made_arms)* }))
    };
    let like = is_opaque.then(|| quote!(, like: &Self));
    let mut code = quote! {
        #[doc(hidden)]
        #[inline]
        pub fn #taken(&self) -> #taken_type {
            #taken_body
        }
        #[doc(hidden)]
        #[inline]
        pub fn #made_name(parts: #made_type #like) -> Self {
            #made_body
        }
    };
    if let ([variant], false) = (variants, is_enum)
        && variant.types.iter().all(has_places)
        && !is_opaque
    {
        let type_of_places = of(&|ty| places_type(ty, types));
        let (names, pattern) = (variant.names(), variant.pattern());
        let own: Vec<TokenStream> =
            variant.types.iter().zip(&names).map(|(ty, name)| places_of(ty, &quote!((*#name)))).collect();
        let value = tuple(&own);
        code.extend(quote! {
            #[doc(hidden)]
            #[inline]
            pub fn #places(&mut self) -> #type_of_places {
                match self { #pattern => #value }
            }
        });
    }
    code
}

/// The name of a field.
fn name(k: usize) -> Ident {
    format_ident!("part{k}", span = Span::mixed_site())
}

/// The name of a field of the value that a new one is like.
fn like(k: usize) -> Ident {
    format_ident!("like{k}", span = Span::mixed_site())
}

impl Variant<'_> {
    /// Whether a field is not made of numbers, or has such a field.
    fn is_opaque(&self) -> bool {
        self.all.iter().any(|ty| match ty {
            None => true,
            Some(Tree::Defined(of, _)) => of.is_opaque,
            Some(_) => false,
        })
    }

    /// The names of the fields that are made of numbers.
    fn names(&self) -> Vec<Ident> {
        self.all.iter().enumerate().filter(|(_, ty)| ty.is_some()).map(|(k, _)| name(k)).collect()
    }

    /// A tuple of the names that are bound to its fields.
    fn tuple(&self) -> TokenStream {
        tuple(&self.names().iter().map(ToTokens::to_token_stream).collect::<Vec<_>>())
    }

    /// The variant with its names for its fields.
    fn pattern(&self) -> TokenStream {
        self.with(&(0..self.all.len()).map(|k| name(k).to_token_stream()).collect::<Vec<_>>())
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
        Tree::List(..) | Tree::Ragged(..) => false,
        Tree::Defined(of, inner) => !of.has_sums && has_places(inner),
    }
}

/// The type of mutable references to the leaves of a value.
fn places_type(ty: &Field, types: &Apart<'_>) -> TokenStream {
    match ty {
        Tree::Leaf(leaf) if leaf.container == Container::Slice => {
            let elem = static_type(elem_type(leaf.elem, &types.real), &leaf.lens);
            quote!(&mut [#elem])
        }
        Tree::Leaf(_) => {
            let owned = types.made(ty);
            quote!(&mut #owned)
        }
        Tree::Tuple(parts) => tuple(&parts.iter().map(|ty| places_type(ty, types)).collect::<Vec<_>>()),
        Tree::List(..) | Tree::Ragged(..) => TokenStream::new(),
        Tree::Defined(_, inner) => places_type(inner, types),
    }
}

/// Mutable references to the leaves of a value.
fn places_of(ty: &Field, place: &TokenStream) -> TokenStream {
    match ty {
        Tree::Leaf(leaf) if leaf.container == Container::Slice => quote!(&mut #place[..]),
        Tree::Leaf(_) => quote!(&mut #place),
        Tree::Tuple(parts) => each_part(parts, place, &mut |ty, place| places_of(ty, place)),
        Tree::List(..) | Tree::Ragged(..) => TokenStream::new(),
        Tree::Defined(..) => {
            let places = hidden::places();
            quote!(#place.#places())
        }
    }
}
