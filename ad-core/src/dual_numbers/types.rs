//! The Rust types of gradients, tangents, destinations and blocks of a function with
//! `mode = "dual_numbers"`, as the guide lists them. This module must never write a call.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Expr, Index};

use super::{referred_form, tuple};
use ad_front::{Form, Unread, UnreadParam};

pub(super) struct Types<'u> {
    of: &'u Unread,
    /// The path of the module of the runtime.
    pub run: TokenStream,
}

/// A number or an array in a result or parameter.
struct Leaf<'f> {
    /// The sizes of its axes, if all of them are static.
    lens: Option<Vec<&'f Expr>>,
    rank: usize,
}

/// The argument of a parameter of this form, from an owned value.
pub(super) fn argument(form: &Form, value: &TokenStream) -> TokenStream {
    match form {
        Form::Reference(of) => {
            let inner = argument(of, value);
            quote!(&#inner)
        }
        Form::Slice(_) => quote!(#value[..]),
        Form::ArrayRef(_) => quote!(*#value),
        Form::View(_) => quote!(#value.view()),
        Form::Tuple(parts) => {
            let parts = parts.iter().enumerate().map(|(k, part)| {
                let k = Index::from(k);
                argument(part, &quote!(#value.#k))
            });
            quote!((#(#parts,)*))
        }
        _ => value.clone(),
    }
}

/// The paths of the numbers and arrays of an owned value.
pub(super) fn leaves(form: &Form, value: &TokenStream) -> Vec<TokenStream> {
    match referred_form(form) {
        Form::Tuple(parts) => {
            let parts = parts.iter().enumerate().flat_map(|(k, part)| {
                let k = Index::from(k);
                leaves(part, &quote!(#value.#k))
            });
            parts.collect()
        }
        _ => vec![value.clone()],
    }
}

impl<'u> Types<'u> {
    pub(super) fn of(of: &'u Unread) -> Self {
        let krate = &of.krate;
        Types { of, run: quote!(#krate::runtime::dual_numbers) }
    }

    /// The form of an active parameter.
    pub(super) fn form(&self, param: &'u UnreadParam) -> &'u Form {
        param.form.as_ref().unwrap_or(&Form::Number)
    }

    /// The form of the part of the result that is differentiated.
    pub(super) fn differentiated(&self) -> &'u Form {
        match &self.of.result {
            Form::Tuple(parts) if self.of.aux => &parts[0],
            whole => whole,
        }
    }

    /// The owned type: of a gradient, of a result.
    pub(super) fn owned(&self, form: &Form) -> TokenStream {
        let (number, krate) = (&self.of.number, &self.of.krate);
        match form {
            Form::Number => number.to_token_stream(),
            Form::Reference(of) => self.owned(of),
            Form::Slice(of) | Form::Vec(of) => {
                let of = self.owned(of);
                quote!(#krate::runtime::alloc::vec::Vec<#of>)
            }
            Form::Static(of, len) => {
                let of = self.owned(of);
                quote!([#of; #len])
            }
            Form::Array(rank) | Form::View(rank) | Form::ArrayRef(rank) => {
                let array = format_ident!("Array{rank}");
                quote!(#krate::ndarray::#array<#number>)
            }
            Form::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.owned(part));
                quote!((#(#parts,)*))
            }
            Form::Other(ty) | Form::Discrete(ty) => ty.to_token_stream(),
        }
    }

    /// The type by which a tangent, cotangent or direction is passed.
    pub(super) fn passed(&self, form: &Form) -> TokenStream {
        let (number, krate) = (&self.of.number, &self.of.krate);
        match form {
            Form::Reference(of) => self.passed(of),
            Form::Slice(of) | Form::Vec(of) => {
                let of = self.owned(of);
                quote!(&[#of])
            }
            Form::Array(rank) | Form::View(rank) | Form::ArrayRef(rank) => {
                let array = format_ident!("ArrayRef{rank}");
                quote!(&#krate::ndarray::#array<#number>)
            }
            Form::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.passed(part));
                quote!((#(#parts,)*))
            }
            Form::Other(ty) => quote!(&#ty),
            Form::Number | Form::Static(..) | Form::Discrete(_) => self.owned(form),
        }
    }

    /// The type by which the place for a gradient is passed.
    pub(super) fn destination(&self, form: &Form) -> TokenStream {
        match referred_form(form) {
            Form::Slice(of) | Form::Vec(of) => {
                let of = self.owned(of);
                quote!(&mut [#of])
            }
            other => {
                let owned = self.owned(other);
                quote!(&mut #owned)
            }
        }
    }

    fn active(&self) -> impl Iterator<Item = &'u Form> {
        self.of.params.iter().filter(|p| p.active).map(|p| self.form(p))
    }

    /// The type of the gradient of all active parameters.
    pub(super) fn gradient(&self) -> TokenStream {
        tuple(&self.active().map(|form| self.owned(form)).collect::<Vec<_>>())
    }

    /// The type of the Jacobian.
    pub(super) fn jacobian(&self) -> TokenStream {
        let result = self.differentiated();
        tuple(&self.active().map(|form| self.block_type(result, form)).collect::<Vec<_>>())
    }

    /// The type of the blocks of a parameter: its structure outside, that of the result inside.
    pub(super) fn block_type(&self, result: &Form, param: &Form) -> TokenStream {
        match (referred_form(param), referred_form(result)) {
            (Form::Tuple(parts), _) => {
                let parts = parts.iter().map(|part| self.block_type(result, part));
                quote!((#(#parts,)*))
            }
            (_, Form::Tuple(parts)) => {
                let parts = parts.iter().map(|part| self.block_type(part, param));
                quote!((#(#parts,)*))
            }
            (param, result) => self.one_block(&leaf(result), &leaf(param)),
        }
    }

    fn one_block(&self, result: &Leaf<'_>, param: &Leaf<'_>) -> TokenStream {
        let (number, krate) = (&self.of.number, &self.of.krate);
        match (&result.lens, &param.lens) {
            (Some(rows), Some(columns)) => {
                let inner = number.to_token_stream();
                rows.iter().chain(columns).rev().fold(inner, |of, len| quote!([#of; #len]))
            }
            _ => {
                let array = format_ident!("Array{}", result.rank + param.rank);
                quote!(#krate::ndarray::#array<#number>)
            }
        }
    }

    /// The blocks of a parameter, whose first leaf has this number among the columns, and the
    /// number of its leaves.
    pub(super) fn blocks_from(&self, param: &Form, result: &Form, first: usize) -> (usize, TokenStream) {
        let (mut column, mut tokens) = (first, TokenStream::new());
        self.of_param(param, result, &mut column, &mut tokens);
        (column - first, tokens)
    }

    fn of_param(&self, param: &Form, result: &Form, column: &mut usize, out: &mut TokenStream) {
        match referred_form(param) {
            Form::Tuple(parts) => {
                let parts = parts.iter().map(|part| {
                    let mut one = TokenStream::new();
                    self.of_param(part, result, column, &mut one);
                    one
                });
                let parts: Vec<TokenStream> = parts.collect();
                out.extend(quote!((#(#parts,)*)));
            }
            _ => {
                out.extend(of_result(result, &mut 0, *column));
                *column += 1;
            }
        }
    }
}

/// The blocks of a leaf of the parameters.
fn of_result(result: &Form, row: &mut usize, column: usize) -> TokenStream {
    match referred_form(result) {
        Form::Tuple(parts) => {
            let parts: Vec<TokenStream> = parts.iter().map(|part| of_result(part, row, column)).collect();
            quote!((#(#parts,)*))
        }
        _ => {
            let (i, j) = (Literal::usize_unsuffixed(*row), Literal::usize_unsuffixed(column));
            *row += 1;
            quote!(matrix_.of_leaves((rows_, #i), (columns_, #j)))
        }
    }
}

/// The axes of a number or an array.
fn leaf(form: &Form) -> Leaf<'_> {
    match form {
        Form::Static(of, len) => {
            let of = leaf(of);
            let lens = of.lens.map(|lens| [vec![len], lens].concat());
            Leaf { lens, rank: of.rank + 1 }
        }
        Form::Slice(of) | Form::Vec(of) => Leaf { lens: None, rank: leaf(of).rank + 1 },
        Form::Array(rank) | Form::View(rank) | Form::ArrayRef(rank) => Leaf { lens: None, rank: *rank },
        _ => Leaf { lens: Some(Vec::new()), rank: 0 },
    }
}
