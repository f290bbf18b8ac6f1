//! The hidden function as an item: beside a function, or in an `impl` block for a method. A method
//! has a second one, whose first parameter is the receiver.
//!
//! This module must never know what is checked.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use ad_ir::program::{Program, Within};
use ad_ir::rust_types::{check_name, check_name_of_method};

/// The hidden function with this body. Its first parameter selects the derivatives to check. The
/// second one is a tuple of the parameters of the user's function, under these names: so rustc
/// counts the user's own arguments when their number is wrong.
pub(super) fn written(
    program: &Program,
    (how, how_ty): (&Ident, &TokenStream),
    arguments: &[Ident],
    body: &TokenStream,
) -> TokenStream {
    let Program { stem, vis, cfgs, generics, where_clause, .. } = program;
    let (hidden, attributes) = (check_name(stem), attributes());
    let types: Vec<&TokenStream> = program.declared.iter().map(|p| &p.ty).collect();
    let params = quote!(#how: #how_ty, (#(#arguments,)*): (#(#types,)*));
    let Some(within) = &program.within else {
        return quote! {
            #cfgs
            #attributes
            #vis fn #hidden #generics (#params) #where_clause { #body }
        };
    };
    let Within { cfgs: outer_cfgs, generics: outer, where_clause: outer_where, self_ty, receiver, .. } = within;
    let Within { own_generics, own_where, own_turbofish, .. } = within;
    let by_value = receiver.as_ref().map(|receiver| {
        let by_value = check_name_of_method(stem);
        let (others, other_types) = (arguments.get(1..).unwrap_or_default(), types.get(1..).unwrap_or_default());
        quote! {
            #attributes
            #vis fn #by_value #own_generics (#receiver, #how: #how_ty, (#(#others,)*): (#(#other_types,)*)) #own_where {
                <#self_ty>::#hidden #own_turbofish (#how, (self, #(#others,)*));
            }
        }
    });
    quote! {
        #outer_cfgs
        #cfgs
        impl #outer #self_ty #outer_where {
            #attributes
            #vis fn #hidden #own_generics (#params) #own_where { #body }
            #by_value
        }
    }
}

/// The attributes of the function.
fn attributes() -> TokenStream {
    quote! {
        #[doc(hidden)]
        #[allow(dead_code, reason = "not every function is checked")]
        #[allow(
            clippy::elidable_lifetime_names,
            clippy::extra_unused_lifetimes,
            clippy::large_types_passed_by_value,
            clippy::needless_lifetimes,
            clippy::needless_pass_by_value,
            clippy::ptr_arg,
            clippy::redundant_closure_for_method_calls,
            clippy::similar_names,
            clippy::too_many_arguments,
            clippy::too_many_lines,
            clippy::trivially_copy_pass_by_ref,
            clippy::type_complexity,
            non_snake_case,
            reason = "parameters and name are the function's own"
        )]
        #[inline]
    }
}
