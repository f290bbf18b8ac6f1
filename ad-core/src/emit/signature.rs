//! Types at the border of a routine: what tangents and cotangents are passed as, what gradients are returned as (the contract's
//! sections "Passing" and "Types"), and the one derivative that is written without terms: `f_grad`, which is `f_value_and_grad` without the value.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::LINTS;
use crate::ir::Elem;
use crate::program::{Container, OutputTree, Param, Program, Routine};

/// The type of an owned result of this kind.
pub(crate) fn owned_type(program: &Program, container: Container, elem: Elem, rank: usize) -> TokenStream {
    let style = super::style(program);
    let krate = &style.krate;
    let elem = style.ty(elem);
    match container {
        Container::Scalar | Container::ScalarRef => elem,
        Container::NdArray => {
            let array = format_ident!("Array{rank}");
            quote!(#krate::ndarray::#array<#elem>)
        }
        Container::Slice => quote!(::std::vec::Vec<#elem>),
    }
}

/// The type by which a tangent, cotangent or direction of this kind is passed.
pub(crate) fn argument_type(program: &Program, container: Container, elem: Elem, rank: usize) -> TokenStream {
    let style = super::style(program);
    let krate = &style.krate;
    let elem = style.ty(elem);
    match container {
        Container::Scalar | Container::ScalarRef => elem,
        Container::NdArray => {
            let array = format_ident!("ArrayRef{rank}");
            quote!(&#krate::ndarray::#array<#elem>)
        }
        Container::Slice => quote!(&[#elem]),
    }
}

/// The type of a whole result: a leaf's owned type, tuples of these.
pub(crate) fn tree_type(program: &Program, tree: &OutputTree) -> TokenStream {
    match tree {
        OutputTree::Leaf(out) => {
            let g = &program.graph;
            owned_type(program, out.container, g.elem(out.term), g.rank(out.term))
        }
        OutputTree::Tuple(parts) => {
            let parts = parts.iter().map(|p| tree_type(program, p));
            quote!((#(#parts),*))
        }
    }
}

/// `#[allow(...)]` for the lints that generated code would not pass, those of one reason together.
pub(super) fn allowed_lints() -> TokenStream {
    let mut reasons: Vec<(&str, Vec<TokenStream>)> = Vec::new();
    for (lint, reason) in LINTS {
        let path: TokenStream = lint.parse().unwrap_or_default();
        match reasons.iter_mut().find(|r| r.0 == *reason) {
            Some(found) => found.1.push(path),
            None => reasons.push((reason, vec![path])),
        }
    }
    reasons.into_iter().map(|(reason, lints)| quote!(#[allow(#(#lints),*, reason = #reason)])).collect()
}

/// `f_grad`, given the routine `f_value_and_grad`.
#[must_use]
pub fn emit_grad(program: &Program, whole: &Routine) -> TokenStream {
    let Program { name, vis, cfgs, generics, where_clause, .. } = program;
    let grad = format_ident!("{name}_grad", span = name.span());
    let inner = &whole.name;
    let params = declarations(&whole.params);
    let args = whole.params.iter().map(|p| &p.name);
    let gradient = match &whole.result {
        OutputTree::Tuple(parts) if parts.len() == 2 => tree_type(program, &parts[1]),
        tree => tree_type(program, tree),
    };
    let active: Vec<String> = program.active.iter().map(|&k| format!("`{}`", program.params[k].name)).collect();
    let doc = format!("The gradient of [`{name}`] with respect to {}.", active.join(", "));
    let panics = format!("Where [`{name}`] does, and if the sizes of the arguments do not fit together.");
    let lints = allowed_lints();
    quote! {
        #cfgs
        #[doc = #doc]
        #[doc = ""]
        #[doc = "# Panics"]
        #[doc = #panics]
        #lints
        #vis fn #grad #generics (#params) -> #gradient #where_clause {
            #inner(#(#args),*).1
        }
    }
}

/// Parameters as declared.
pub(super) fn declarations(params: &[Param]) -> TokenStream {
    let names: Vec<&Ident> = params.iter().map(|p| &p.name).collect();
    let types = params.iter().map(|p| &p.ty);
    quote!(#(#names: #types),*)
}
