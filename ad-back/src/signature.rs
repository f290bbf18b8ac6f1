//! The frame of a routine: its declared parameters and the lints that it allows. This module also
//! writes the derivatives that need no terms: `f_grad` is `f_value_and_grad` without the value, and
//! `f_jacobian` is `f_value_and_jacobian` without the value.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use ad_ir::program::{Declared, OutputTree, Param, ParamTree, Program, Routine, Within};
use ad_ir::rust_types::{fallible_type, path_of, tree_type, view_type};

/// Lints of rustc and clippy that generated code may violate, with the reason why that is allowed.
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
            "clippy::redundant_comparisons",
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

/// `#[allow(...)]` for the lints that generated code would not pass.
#[must_use]
pub fn allowed_lints() -> TokenStream {
    let attributes = LINTS.iter().map(|(reason, lints)| {
        let lints = lints.iter().map(|lint| lint.parse::<TokenStream>().unwrap_or_default());
        quote!(#[allow(#(#lints),*, reason = #reason)])
    });
    attributes.collect()
}

/// An argument for a second call: a moved value is cloned.
pub(super) fn cloned_if_moved(program: &Program, declared: &Declared, argument: &Ident) -> TokenStream {
    if declared.parts.is_moved(&|k| program.params[k].passing) { quote!(#argument.clone()) } else { quote!(#argument) }
}

/// A function of a program that others may call.
pub(super) struct PublicFunction<'p> {
    /// Its attributes and documentation.
    pub attributes: TokenStream,
    pub name: &'p Ident,
    /// Generic parameters, if they are not those of the program.
    pub generics: Option<TokenStream>,
    /// Its first parameters are those of the function.
    pub params: Vec<(Ident, TokenStream)>,
    /// `-> R`.
    pub returns: TokenStream,
    pub body: TokenStream,
}

impl PublicFunction<'_> {
    /// The function as an item. A method is an `impl` block with it: its body is that of a function
    /// inside, for which the receiver is an ordinary parameter.
    pub(super) fn item(self, program: &Program) -> TokenStream {
        let PublicFunction { attributes, name, generics, params, returns, body } = self;
        let Program { vis, cfgs, where_clause, .. } = program;
        let generics = generics.as_ref().unwrap_or(&program.generics);
        let declared = params.iter().map(|(name, ty)| quote!(#name: #ty));
        let (function, body) = super::at_name(name, body);
        let Some(within) = &program.within else {
            return quote! {
                #cfgs
                #attributes
                #vis #function #name #generics (#(#declared),*) #returns #where_clause #body
            };
        };
        let Within { cfgs: outer_cfgs, generics: outer, where_clause: outer_where, self_ty, receiver, .. } = within;
        let Within { own_generics, own_where, .. } = within;
        let turbofish = &program.turbofish;
        let outside = params.iter().enumerate().map(|(k, (name, ty))| match receiver {
            Some(receiver) if k == 0 => receiver.clone(),
            _ => quote!(#name: #ty),
        });
        let given = params.iter().enumerate().map(|(k, (name, _))| match receiver {
            Some(_) if k == 0 => quote!(self),
            _ => quote!(#name),
        });
        quote! {
            #outer_cfgs
            #cfgs
            impl #outer #self_ty #outer_where {
                #attributes
                #vis #function #name #own_generics (#(#outside),*) #returns #own_where {
                    fn inside_ #generics (#(#declared),*) #returns #where_clause #body
                    inside_ #turbofish (#(#given),*)
                }
            }
        }
    }
}

/// Parameters and their types.
pub(super) fn typed(params: &[Declared]) -> Vec<(Ident, TokenStream)> {
    params.iter().map(|p| (p.name.clone(), p.ty.clone())).collect()
}

/// A call of the user's function with the first arguments of a routine, which are those of the
/// function. `None` if a parameter hides the function's name.
pub(super) fn call_of_function(program: &Program, declared: &[Declared]) -> Option<TokenStream> {
    let name = &program.name;
    // With many examples, the arguments are not those of a single call.
    if program.example.is_some() {
        return None;
    }
    let given = declared.get(..program.declared.len())?;
    let hidden = program.within.is_none() && declared.iter().any(|p| p.name == *name);
    if hidden || given.iter().zip(&program.declared).any(|(own, p)| own.name != p.name) {
        return None;
    }
    let arguments = given.iter().map(|p| cloned_if_moved(program, p, &p.name));
    let path = path_of(program, name);
    Some(quote!(#path(#(#arguments),*)))
}

/// `f_grad`, given the routine `f_value_and_grad`, or `f_jacobian`, given `f_value_and_jacobian`.
#[must_use]
pub fn emit_second(program: &Program, whole: &Routine, suffix: &str, what: &str) -> TokenStream {
    let grad = format_ident!("{}_{suffix}", program.stem, span = program.name.span());
    let inner = path_of(program, &whole.name);
    let (generics, params) = public_declarations(program, &whole.declared);
    let args = whole.declared.iter().map(|p| &p.name);
    let gradient = match &whole.result {
        OutputTree::Tuple(parts) if parts.len() == 2 => tree_type(program, &parts[1]),
        tree => tree_type(program, tree),
    };
    let active: Vec<String> = program.wrt.iter().map(|&k| format!("`{}`", program.declared[k].label)).collect();
    let (link, active) = (program.link(), active.join(", "));
    let doc = format!("The {what} of {link} with respect to {active}.");
    let inner_link = match &program.within {
        None => format!("[`{}`]", whole.name),
        Some(_) => format!("[`{0}`](Self::{0})", whole.name),
    };
    let cost = format!("It costs as much as {inner_link}, which says how much that is.");
    let panics = format!("Where {link} does, and if the sizes of the arguments do not fit together.");
    let lints = allowed_lints();
    let attributes = quote! {
        #[doc = #doc]
        #[doc = ""]
        #[doc = #cost]
        #[doc = ""]
        #[doc = "# Panics"]
        #[doc = #panics]
        #lints
    };
    let (gradient, body) = match &whole.fallible {
        Some(fallible) => (fallible_type(fallible, &gradient), quote!(#inner(#(#args),*).map(|(_, derived)| derived))),
        None => (gradient, quote!(#inner(#(#args),*).1)),
    };
    let returns = quote!(-> #gradient);
    PublicFunction { attributes, name: &grad, generics: Some(generics), params, returns, body }.item(program)
}

/// Generic and other parameters as a caller sees them: an array of examples has any type that
/// converts into a view.
pub(super) fn public_declarations(program: &Program, params: &[Declared]) -> (TokenStream, Vec<(Ident, TokenStream)>) {
    let generics = &program.generics;
    if program.example.is_none() {
        return (generics.clone(), typed(params));
    }
    let lifetime = quote!('examples_);
    let declared = params.iter().map(|declared| {
        let Declared { name, ty, .. } = declared;
        match converted_leaf(program, declared) {
            Some(Param { elem, rank, .. }) => {
                let view = view_type(program, &lifetime, *elem, *rank);
                (name.clone(), quote!(impl ::core::convert::Into<#view>))
            }
            None => (name.clone(), ty.clone()),
        }
    });
    let declared = declared.collect();
    // The generics after the first angle bracket, if there are any.
    let own = generics.clone().into_iter().skip(1);
    let own: TokenStream = if generics.is_empty() { quote!(>) } else { own.collect() };
    (quote!(<#lifetime, #own), declared)
}

/// The arguments for a function that takes views of the examples.
pub(super) fn converted(program: &Program, params: &[Declared]) -> TokenStream {
    let given = params.iter().map(|declared| {
        let name = &declared.name;
        match converted_leaf(program, declared) {
            Some(_) => quote!(::core::convert::Into::into(#name)),
            None => quote!(#name),
        }
    });
    quote!(#(#given),*)
}

/// The array of examples, if the parameter is an array of examples.
fn converted_leaf<'p>(program: &'p Program, declared: &Declared) -> Option<&'p Param> {
    match declared.parts {
        ParamTree::Leaf(k) if program.example.is_some() && program.examples.contains(&k) => program.params.get(k),
        _ => None,
    }
}

/// Parameters as declared.
pub(super) fn declarations(params: &[Declared]) -> TokenStream {
    let names: Vec<&Ident> = params.iter().map(|p| &p.name).collect();
    let types = params.iter().map(|p| &p.ty);
    quote!(#(#names: #types),*)
}
