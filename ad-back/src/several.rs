//! The second version of a derivative, for calls in which the arrays of a list have several shapes.
//! It is a function inside of the derivative, which calls it at its beginning.
//!
//! This module must never decide what the second version computes.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::calls::RecordAccess;
use super::{function, returns, signature};
use ad_ir::ir::Graph;
use ad_ir::program::{Param, Program, Role, Routine, Staged, Tree};
use ad_ir::rust_types::{Apart, Lists, differences, present};

/// The second version of a derivative.
pub struct SeveralShapes {
    /// The function.
    item: TokenStream,
    /// Its name.
    name: Ident,
    /// The condition to call it.
    differ: TokenStream,
}

/// The condition that the arrays of a list have several shapes, given the arguments.
pub(super) fn differ(program: &Program, arguments: &[Ident]) -> TokenStream {
    let apart = Apart::of(program);
    let param = |k: &usize| -> &Param { &program.params[*k] };
    let (stack, zero) = (|_: &usize| None, |_: &usize| TokenStream::new());
    let is_tag = |k: &usize| param(k).role == Role::Tag;
    let lists = Lists { stack: &stack, zero: &zero, is_tag: &is_tag };
    let mut found = TokenStream::new();
    for (n, (declared, argument)) in program.declared.iter().zip(arguments).enumerate() {
        let tree = declared.parts.tree();
        let (base, tree, taken) = match tree {
            Tree::Defined(of, inner) => {
                let base = format_ident!("shapes{n}_", span = Span::mixed_site());
                let parts = apart.parts_of(&of, &quote!(#argument));
                (base.clone(), *inner, quote!(let #base = #parts;))
            }
            tree => (argument.clone(), tree, TokenStream::new()),
        };
        let all = differences(&quote!(#base), &tree, (&apart, &lists));
        if let Some((first, rest)) = all.split_first() {
            let or = (!found.is_empty()).then(|| quote!(||));
            let any = quote!(#first #(|| #rest)*);
            let any = if taken.is_empty() { any } else { quote!({ #taken #any }) };
            found.extend(quote!(#or #any));
        }
    }
    found
}

fn names_of(routine: &Routine) -> Vec<Ident> {
    routine.declared.iter().map(|p| p.name.clone()).collect()
}

/// The second version of a derivative, given its routine. `called`: the functions that it calls.
///
/// # Errors
/// If a term cannot be written.
pub fn several_shapes(
    g: &mut Graph,
    program: &Program,
    routine: Routine,
    called: Option<&TokenStream>,
) -> Result<SeveralShapes, String> {
    let name = Ident::new("of_several_shapes_", Span::call_site());
    let routine = Routine { name: name.clone(), ..routine };
    let item = function(g, program, &routine, &RecordAccess::of(called))?;
    Ok(SeveralShapes { item, name, differ: differ(program, &names_of(&routine)) })
}

/// The second version of a function that returns a closure.
///
/// # Errors
/// If a term cannot be written.
pub fn several_shapes_staged(
    g: &mut Graph,
    program: &Program,
    staged: &Staged,
    called: Option<&TokenStream>,
) -> Result<SeveralShapes, String> {
    let name = Ident::new("of_several_shapes_", Span::call_site());
    let planned = super::staged_plans(g, program, staged)?;
    let body = super::staged_body(g, (program, staged), &planned, called)?;
    let item = staged_item(program, &name, staged, &body);
    Ok(SeveralShapes { item, name, differ: differ(program, &names_of(&staged.first)) })
}

/// A function inside of another one that returns a value and a closure.
fn staged_item(
    program: &Program,
    name: &Ident,
    staged: &Staged,
    (body, both_ty): &(TokenStream, TokenStream),
) -> TokenStream {
    let Program { generics, where_clause, .. } = program;
    let (declared, returns) = (signature::declarations(&staged.first.declared), returns(both_ty));
    quote!(fn #name #generics (#declared) #returns #where_clause { #body })
}

impl SeveralShapes {
    /// The beginning of a derivative that returns a value.
    pub(super) fn head(&self, program: &Program, routine: &Routine) -> TokenStream {
        let SeveralShapes { item, name, differ } = self;
        let turbofish = &program.turbofish;
        let mut arguments = names_of(routine);
        if routine.workspace {
            arguments.push(Ident::new("workspace_", Span::call_site()));
        }
        quote! {
            #item
            if #differ {
                return #name #turbofish (#(#arguments),*);
            }
        }
    }

    /// The body of a derivative that returns a value and a closure, of the first or of the second
    /// version.
    pub(super) fn either(
        &self,
        program: &Program,
        staged: &Staged,
        first: &(TokenStream, TokenStream),
    ) -> Result<TokenStream, String> {
        let SeveralShapes { item, name, differ } = self;
        let own = Ident::new("of_one_shape_", Span::call_site());
        let first = staged_item(program, &own, staged, first);
        let (turbofish, krate, arguments) = (&program.turbofish, &program.krate, names_of(&staged.first));
        let Some(cotangent) = staged.second.declared.last() else { return Err("a closure without a cotangent".into()) };
        let (given, ty) = (&cotangent.name, &cotangent.ty);
        let [value, back] = ["value_", "back_"].map(|name| Ident::new(name, Span::mixed_site()));
        let both = quote!((#value, move |#given: #ty| match &#back {
            #krate::runtime::Either::First(#back) => #back(#given),
            #krate::runtime::Either::Second(#back) => #back(#given),
        }));
        let (otherwise, both) = match &staged.first.fallible {
            Some(fallible) => (quote!(?), present(fallible, &both)),
            None => (TokenStream::new(), both),
        };
        Ok(quote! {
            #item
            #first
            let (#value, #back) = if #differ {
                let (#value, #back) = #name #turbofish (#(#arguments),*) #otherwise;
                (#value, #krate::runtime::Either::Second(#back))
            } else {
                let (#value, #back) = #own #turbofish (#(#arguments),*) #otherwise;
                (#value, #krate::runtime::Either::First(#back))
            };
            #both
        })
    }
}
