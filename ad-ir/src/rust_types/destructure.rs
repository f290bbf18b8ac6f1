//! Values that are taken apart into numbers and views, and put together: the types of the parts and
//! the expressions. Hidden functions do it beside a user-defined type, and generated code does
//! it for an `Option`, which has no place for such functions.
//!
//! This module must never write a computation.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};

use super::{elem_type, hidden, real_param, static_type, tuple};
use crate::ir::{Elem, RealTy};
use crate::program::{Container, DefinedType, FieldLeaf, ListType, Program, Tree};

type Field = Tree<FieldLeaf>;

/// The names that the types of the parts depend on.
pub struct Apart<'n> {
    /// The type parameter for a real number, or a dummy name.
    pub real: Ident,
    /// The path of the crate `ad`.
    pub krate: &'n TokenStream,
}

impl<'n> Apart<'n> {
    /// The names of a function.
    #[must_use]
    pub fn of(program: &'n Program) -> Apart<'n> {
        Apart { real: real_param(program), krate: &program.krate }
    }
}

impl Apart<'_> {
    /// The type of the structure into which a value is taken apart.
    #[must_use]
    pub fn taken(&self, ty: &Field) -> TokenStream {
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
            Tree::List(of, element) => list_of(self.krate, of, &self.taken(element)),
            Tree::Ragged(..) => no_field(),
            Tree::Defined(_, inner) => self.taken(inner),
        }
    }

    /// The type of the parts from which a value is made.
    #[must_use]
    pub fn made(&self, ty: &Field) -> TokenStream {
        match ty {
            Tree::Leaf(leaf) => {
                let elem = elem_type(leaf.elem, &self.real);
                let static_array = static_type(elem.clone(), &leaf.lens);
                let krate = self.krate;
                match leaf.container {
                    Container::NdArray => {
                        let array = format_ident!("Array{}", leaf.rank);
                        quote!(#krate::ndarray::#array<#elem>)
                    }
                    Container::Slice => quote!(#krate::runtime::alloc::vec::Vec<#static_array>),
                    _ => static_array,
                }
            }
            Tree::Tuple(parts) => tuple(&parts.iter().map(|ty| self.made(ty)).collect::<Vec<_>>()),
            Tree::List(of, element) => list_of(self.krate, of, &self.made(element)),
            Tree::Ragged(..) => no_field(),
            Tree::Defined(_, inner) => self.made(inner),
        }
    }

    /// The parts of a variant when the value is another variant: zeros, and arrays without
    /// elements.
    #[must_use]
    pub fn absent(&self, ty: &Field) -> TokenStream {
        let krate = self.krate;
        match ty {
            Tree::Leaf(leaf) => self.absent_leaf(leaf),
            Tree::Tuple(parts) => tuple(&parts.iter().map(|ty| self.absent(ty)).collect::<Vec<_>>()),
            Tree::List(ListType::Vector, _) => quote!(#krate::runtime::alloc::vec::Vec::new()),
            Tree::List(ListType::Static(_), element) => {
                let element = self.absent(element);
                quote!(::core::array::from_fn(|_| #element))
            }
            Tree::Ragged(..) => no_field(),
            Tree::Defined(_, inner) => self.absent(inner),
        }
    }

    fn absent_leaf(&self, leaf: &FieldLeaf) -> TokenStream {
        let krate = self.krate;
        match leaf.container {
            Container::NdArray => quote!(#krate::runtime::no_elements()),
            // The type is inferred, and an array is not a slice.
            Container::Slice => quote!(::core::default::Default::default()),
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

/// In the structure of a field, an array is a leaf, whatever its shape.
fn no_field() -> TokenStream {
    TokenStream::new()
}

/// The type of a list of these elements.
fn list_of(krate: &TokenStream, of: &ListType, element: &TokenStream) -> TokenStream {
    match of {
        ListType::Vector => quote!(#krate::runtime::alloc::vec::Vec<#element>),
        ListType::Static(len) => quote!([#element; #len]),
    }
}

/// Applies `one` to each part of a tuple.
pub fn each_part(
    parts: &[Field],
    of: &TokenStream,
    one: &mut dyn FnMut(&Field, &TokenStream) -> TokenStream,
) -> TokenStream {
    let mut part = |(k, ty): (usize, &Field)| {
        let k = Literal::usize_unsuffixed(k);
        one(ty, &quote!(#of.#k))
    };
    tuple(&parts.iter().enumerate().map(&mut part).collect::<Vec<_>>())
}

impl Apart<'_> {
    /// Takes the value of a place expression apart.
    #[must_use]
    pub fn take_apart(&self, ty: &Field, place: &TokenStream) -> TokenStream {
        match ty {
            Tree::Leaf(leaf) => match leaf.container {
                Container::NdArray => quote!(#place.view()),
                Container::Slice => quote!(&#place[..]),
                _ => place.clone(),
            },
            Tree::Tuple(parts) => each_part(parts, place, &mut |ty, place| self.take_apart(ty, place)),
            Tree::List(of, element) => {
                let item = Ident::new("item", Span::mixed_site());
                let one = self.take_apart(element, &quote!((*#item)));
                match of {
                    ListType::Vector => quote!(#place.iter().map(|#item| #one).collect()),
                    ListType::Static(_) => quote!(#place.each_ref().map(|#item| #one)),
                }
            }
            Tree::Ragged(..) => no_field(),
            Tree::Defined(of, _) => self.parts_of(of, place),
        }
    }

    /// The structure into which the value of a place expression is taken apart.
    #[must_use]
    pub fn parts_of(&self, of: &DefinedType, place: &TokenStream) -> TokenStream {
        let Some(content) = &of.content else {
            let taken = hidden::taken();
            return quote!(#place.#taken());
        };
        let present = Ident::new("present", Span::mixed_site());
        let (some, none) = (self.take_apart(content, &quote!((*#present))), self.absent(content));
        quote! {
            match #place.as_ref() {
                ::core::option::Option::Some(#present) => (#some, true),
                ::core::option::Option::None => (#none, false),
            }
        }
    }
}

/// Puts a value together.
#[must_use]
pub fn put_together(ty: &Field, value: &TokenStream) -> TokenStream {
    match ty {
        Tree::Leaf(_) => value.clone(),
        Tree::Tuple(parts) => each_part(parts, value, &mut put_together),
        Tree::List(of, element) => {
            let item = Ident::new("item", Span::mixed_site());
            let one = put_together(element, &quote!(#item));
            match of {
                ListType::Vector => quote!(#value.into_iter().map(|#item| #one).collect()),
                ListType::Static(_) => quote!(#value.map(|#item| #one)),
            }
        }
        Tree::Ragged(..) => no_field(),
        Tree::Defined(of, _) => made(of, value),
    }
}

/// A value of a user-defined type or of an `Option`, given the tuple into which it is taken
/// apart.
#[must_use]
pub fn made(of: &DefinedType, inner: &TokenStream) -> TokenStream {
    let ty = &of.ty;
    let Some(content) = &of.content else {
        let (made, like) = (hidden::made(), of.like.as_ref().map(|like| quote!(, &#like)));
        return quote!(<#ty>::#made(#inner #like));
    };
    let parts = Ident::new("parts", Span::mixed_site());
    let content = put_together(content, &quote!(#parts.0));
    quote!({
        let #parts = #inner;
        if #parts.1 { ::core::option::Option::Some(#content) } else { ::core::option::Option::None }
    })
}
