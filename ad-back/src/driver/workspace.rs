//! Arrays on the heap: vectors, or arrays that the caller's workspace lends. This module decides
//! how they are allocated and which type they have. No other module may write the allocation of a
//! vector that a routine keeps.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::state::Driver;

impl Driver<'_> {
    /// The type of an array with elements of this type.
    pub(super) fn heap_type(&self, elem: &TokenStream) -> TokenStream {
        let krate = &self.style.krate;
        match self.style.workspace {
            true => quote!(#krate::runtime::Lent<#elem>),
            false => quote!(#krate::runtime::alloc::vec::Vec<#elem>),
        }
    }

    /// An array of `n` elements.
    pub(super) fn heap_filled(&self, fill: &TokenStream, n: &TokenStream) -> TokenStream {
        match self.next_place() {
            Some(place) => quote!(workspace_.filled(#place, #fill, #n)),
            None => {
                let krate = &self.style.krate;
                quote!(#krate::runtime::alloc::vec![#fill; #n])
            }
        }
    }

    /// A copy of a slice, or of something that dereferences to one.
    pub(super) fn heap_copied(&self, from: &TokenStream) -> TokenStream {
        match self.next_place() {
            Some(place) => quote!(workspace_.copied(#place, &#from[..])),
            None => quote!(#from.to_vec()),
        }
    }

    /// An array that grows.
    pub(super) fn heap_growing(&self) -> TokenStream {
        match self.next_place() {
            Some(place) => quote!(workspace_.empty(#place)),
            None => {
                let krate = &self.style.krate;
                quote!(#krate::runtime::alloc::vec::Vec::new())
            }
        }
    }

    /// A vector that this expression returns.
    pub(super) fn heap_made(&self, vector: TokenStream) -> TokenStream {
        let krate = &self.style.krate;
        match self.style.workspace {
            true => quote!(#krate::runtime::Lent::from(#vector)),
            false => vector,
        }
    }

    /// An array with another number of elements.
    pub(super) fn heap_resized(&self, array: &TokenStream, n: &TokenStream, fill: &TokenStream) -> TokenStream {
        let resized = self.kernel("resized");
        match self.style.workspace {
            true => quote!(#array.resized(#n, #fill)),
            false => quote!(#resized(#array, #n, #fill)),
        }
    }

    /// The index of the statement that takes an array, if the routine uses a workspace.
    fn next_place(&self) -> Option<Literal> {
        self.style.workspace.then(|| {
            let place = self.places_made.get();
            self.places_made.set(place + 1);
            Literal::usize_unsuffixed(place)
        })
    }
}
