//! A Jacobian in compressed sparse rows: a call of the runtime with the pattern that one routine
//! computes and the products of two others. This module must never depend on the pattern.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::calls::RecordAccess;
use super::signature::{PublicFunction, allowed_lints, cloned_if_moved, typed};
use super::{documented, function, planned_function, prepare};
use ad_ir::descriptor::{Alone, Descriptor};
use ad_ir::ir::Graph;
use ad_ir::program::{Compressed, Container, OutputTree, Program, Routine};
use ad_ir::rust_types::{elem_type, path_of};

/// The function of a sparse Jacobian, and the one without the value.
///
/// # Errors
/// As [`super::emit_routine`].
pub fn emit_compressed(
    g: &mut Graph,
    program: &Program,
    compressed: &Compressed,
    derivative: &Descriptor,
) -> Result<TokenStream, String> {
    let Compressed { name, pattern, by_columns, by_rows } = compressed;
    let planned = prepare(g, program, pattern, None)?;
    let of_pattern = planned_function(g, (program, pattern), &planned, &RecordAccess::Alone)?;
    let docs = documented::compressed(g, (program, pattern), &planned, derivative);
    let functions = [by_columns, by_rows].map(|routine| function(g, program, routine, &RecordAccess::Alone));
    let [of_columns, of_rows] = functions;
    let (of_columns, of_rows) = (of_columns?, of_rows?);
    let Program { turbofish, krate, .. } = program;
    let own = |name: &str| Ident::new(name, Span::mixed_site());
    let (value, seed, product) = (own("value_"), own("seed_"), own("product_"));
    let params = &pattern.declared;
    let arguments: Vec<TokenStream> = params.iter().map(|p| cloned_if_moved(program, p, &p.name)).collect();
    let OutputTree::Tuple(parts) = &pattern.result else { return Err("a pattern without a value".into()) };
    let ranges: Vec<Ident> =
        (0..parts.get(1).map_or(0, |p| p.leaves().len())).map(|k| own(&format!("range{k}_"))).collect();
    let pairs = ranges.chunks_exact(2).map(|pair| {
        let (first, end) = (&pair[0], &pair[1]);
        quote!([&*#first, &*#end])
    });
    // The columns belong to the only active parameter.
    let Some(of) = program.active.first().map(|&k| &program.params[k]) else { return Err("no parameter".into()) };
    let Some(columns) = program.wrt.first().map(|&k| &program.declared[k].name) else {
        return Err("no parameter".into());
    };
    let result = program.differentiated().leaves().first().map_or(Container::Slice, |out| out.container);
    let call = |routine: &Routine, returned: Container| {
        let (name, given) = (&routine.name, routine.params.last().map(|p| seed_of(p.container, &seed, krate)));
        let vector = if returned == Container::NdArray { quote!(.into_iter().collect()) } else { quote!() };
        quote!(|#seed: &[_]| {
            let #product = #name #turbofish(#(#arguments,)* #given).1;
            #product #vector
        })
    };
    let (along, back) = (call(by_columns, result), call(by_rows, of.container));
    let pattern_name = &pattern.name;
    let elem = elem_type(of.elem, &ad_ir::rust_types::real_param(program));
    let (value_ty, lints) = (&program.result_ty, allowed_lints());
    let count = own("columns_");
    let body = quote! {
        #of_pattern
        #of_columns
        #of_rows
        let #count = #columns.len();
        let (#value, (#(#ranges),*)) = #pattern_name #turbofish(#(#arguments),*);
        let #product = #krate::runtime::sparse::jacobian(#count, &[#(#pairs),*], #along, #back);
        (#value, #product)
    };
    let attributes = quote!(#(#[doc = #docs])* #lints);
    let returns = quote!(-> (#value_ty, #krate::runtime::Csr<#elem>));
    let mut written =
        PublicFunction { attributes, name, generics: None, params: typed(params), returns, body }.item(program);
    if let Some(Alone { suffix, what }) = derivative.alone {
        let second = format_ident!("{}_{suffix}", program.stem, span = program.name.span());
        let doc = format!("The {what} of {} with respect to `{columns}`.", program.link());
        let names = params.iter().map(|p| &p.name);
        let whole = path_of(program, name);
        let body = quote!(#whole(#(#names),*).1);
        let attributes = quote! {
            #[doc = #doc]
            #[doc = ""]
            #[doc = "# Panics"]
            #[doc = "Where the function does, and if the sizes of the arguments do not fit together."]
            #lints
        };
        let returns = quote!(-> #krate::runtime::Csr<#elem>);
        written.extend(
            PublicFunction { attributes, name: &second, generics: None, params: typed(params), returns, body }
                .item(program),
        );
    }
    Ok(written)
}

/// A slice of numbers as the argument for a tangent or a cotangent.
fn seed_of(container: Container, seed: &Ident, krate: &TokenStream) -> TokenStream {
    match container {
        Container::NdArray => quote!(&#krate::ndarray::Array1::from(#seed.to_vec())),
        _ => quote!(#seed),
    }
}
