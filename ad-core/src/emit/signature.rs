//! Types at the border of a routine: what tangents and cotangents are passed as, what gradients are returned as (the contract's
//! sections "Passing" and "Types"), and the derivatives that are written without terms: `f_grad`, which is `f_value_and_grad` without the value, and `f_jacobian` likewise.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{format_ident, quote};

use crate::ir::Elem;
use crate::program::{Container, OutputTree, Param, Program, Routine};

/// Lints of rustc and clippy that generated code would not pass, by the reason why it may.
const LINTS: &[(&str, &[&str])] = &[
    ("not every derivative that is written is called", &["dead_code"]),
    (
        "parameters, names, constants, casts and conditions are the function's own",
        &[
            "clippy::approx_constant",
            "clippy::cast_lossless",
            "clippy::cast_possible_truncation",
            "clippy::cast_possible_wrap",
            "clippy::cast_precision_loss",
            "clippy::cast_sign_loss",
            "clippy::double_comparisons",
            "clippy::elidable_lifetime_names",
            "clippy::excessive_precision",
            "clippy::extra_unused_lifetimes",
            "clippy::float_cmp",
            "clippy::fn_params_excessive_bools",
            "clippy::imprecise_flops",
            "clippy::just_underscores_and_digits",
            "clippy::large_types_passed_by_value",
            "clippy::manual_range_contains",
            "clippy::many_single_char_names",
            "clippy::must_use_candidate",
            "clippy::needless_lifetimes",
            "clippy::needless_pass_by_value",
            "clippy::neg_cmp_op_on_partial_ord",
            "clippy::nonminimal_bool",
            "clippy::ptr_arg",
            "clippy::reversed_empty_ranges",
            "clippy::similar_names",
            "clippy::trivially_copy_pass_by_ref",
            "clippy::unnecessary_cast",
            "clippy::unnecessary_min_or_max",
            "clippy::unreadable_literal",
            "clippy::used_underscore_binding",
            "non_snake_case",
        ],
    ),
    (
        "a derivative is as long as its function asks for, and its loops walk several slices by one index",
        &[
            "clippy::assign_op_pattern",
            "clippy::eq_op",
            "clippy::extra_unused_type_parameters",
            "clippy::inline_always",
            "clippy::large_stack_arrays",
            "clippy::let_and_return",
            "clippy::manual_memcpy",
            "clippy::missing_panics_doc",
            "clippy::needless_range_loop",
            "clippy::suspicious_arithmetic_impl",
            "clippy::too_many_arguments",
            "clippy::too_many_lines",
            "clippy::uninlined_format_args",
            "clippy::type_complexity",
        ],
    ),
];

/// The type of an owned result of this kind.
fn owned_type(program: &Program, container: Container, elem: Elem, rank: usize, lens: &[TokenStream]) -> TokenStream {
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
        Container::Static => static_type(elem, lens),
    }
}

/// The type by which a tangent, cotangent or direction of this kind is passed.
pub(crate) fn argument_type(
    program: &Program,
    container: Container,
    elem: Elem,
    rank: usize,
    lens: &[TokenStream],
) -> TokenStream {
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
        Container::Static => static_type(elem, lens),
    }
}

/// The type by which the place for a gradient of this kind is passed.
pub(crate) fn destination_type(
    program: &Program,
    container: Container,
    elem: Elem,
    rank: usize,
    lens: &[TokenStream],
) -> TokenStream {
    match container {
        Container::Slice => {
            let elem = super::style(program).ty(elem);
            quote!(&mut [#elem])
        }
        _ => {
            let owned = owned_type(program, container, elem, rank, lens);
            quote!(&mut #owned)
        }
    }
}

/// How many references stand in front of a type, and what is behind them.
pub(super) fn references(ty: &TokenStream) -> (usize, Vec<TokenTree>) {
    let mut references = 0;
    let mut tokens: Vec<TokenTree> = ty.clone().into_iter().collect();
    loop {
        match &*tokens {
            [TokenTree::Punct(p), rest @ ..] if p.as_char() == '&' => {
                references += 1;
                // A lifetime is a quote and a name.
                let skip = if matches!(rest, [TokenTree::Punct(q), ..] if q.as_char() == '\'') { 2 } else { 0 };
                tokens = rest[skip..].to_vec();
            }
            [TokenTree::Group(g)] if g.delimiter() != Delimiter::Bracket => tokens = g.stream().into_iter().collect(),
            _ => return (references, tokens),
        }
    }
}

/// `[[elem; N]; M]` for the sizes M, N.
pub(super) fn static_type(elem: TokenStream, lens: &[TokenStream]) -> TokenStream {
    lens.iter().rev().fold(elem, |inner, len| quote!([#inner; #len]))
}

/// The type of a whole result: a leaf's owned type, tuples of these.
pub(crate) fn tree_type(program: &Program, tree: &OutputTree) -> TokenStream {
    match tree {
        OutputTree::Leaf(out) => {
            let g = &program.graph;
            owned_type(program, out.container, g.elem(out.term), g.rank(out.term), &out.lens)
        }
        OutputTree::Tuple(parts) => {
            let parts = parts.iter().map(|p| tree_type(program, p));
            quote!((#(#parts),*))
        }
    }
}

/// `#[allow(...)]` for the lints that generated code would not pass.
pub(super) fn allowed_lints() -> TokenStream {
    let attributes = LINTS.iter().map(|(reason, lints)| {
        let lints = lints.iter().map(|lint| lint.parse::<TokenStream>().unwrap_or_default());
        quote!(#[allow(#(#lints),*, reason = #reason)])
    });
    attributes.collect()
}

/// `f_grad`, given the routine `f_value_and_grad`; `f_jacobian` likewise.
#[must_use]
pub fn emit_second(program: &Program, whole: &Routine, suffix: &str, what: &str) -> TokenStream {
    let Program { name, vis, cfgs, generics, where_clause, turbofish, .. } = program;
    let grad = format_ident!("{name}_{suffix}", span = name.span());
    let inner = &whole.name;
    let params = declarations(&whole.params);
    let args = whole.params.iter().map(|p| &p.name);
    let gradient = match &whole.result {
        OutputTree::Tuple(parts) if parts.len() == 2 => tree_type(program, &parts[1]),
        tree => tree_type(program, tree),
    };
    let active: Vec<String> = program.active.iter().map(|&k| format!("`{}`", program.params[k].name)).collect();
    let doc = format!("The {what} of [`{name}`] with respect to {}.", active.join(", "));
    let panics = format!("Where [`{name}`] does, and if the sizes of the arguments do not fit together.");
    let lints = allowed_lints();
    let (function, body) = super::at_name(&grad, quote!(#inner #turbofish(#(#args),*).1));
    quote! {
        #cfgs
        #[doc = #doc]
        #[doc = ""]
        #[doc = "# Panics"]
        #[doc = #panics]
        #lints
        #vis #function #grad #generics (#params) -> #gradient #where_clause #body
    }
}

/// Parameters as declared.
pub(super) fn declarations(params: &[Param]) -> TokenStream {
    let names: Vec<&Ident> = params.iter().map(|p| &p.name).collect();
    let types = params.iter().map(|p| &p.ty);
    quote!(#(#names: #types),*)
}
