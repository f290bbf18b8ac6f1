//! Functions that are called, as private functions beside the statements of a routine. A half of a
//! derivative leaves what its caller and the other half read in a record (`ad_runtime::Calls`).
//!
//! This module must never decide what a half keeps, and never name a term.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use ad_ir::ir::{Graph, Node, Term};
use ad_ir::prim::Prim;
use ad_ir::prim::structural::Half;
use ad_ir::program::{Container, Declared, Output, OutputTree, Param, Program, Routine, Staged, Tree};
use ad_ir::rust_types::{argument_type, static_type};
use ad_middle::calls::{Called, CalledFunction};
use ad_middle::pipeline::Prepared;

/// How a function gets the records of the calls that it makes.
pub(super) enum Frame<'a> {
    /// It makes no calls.
    Alone,
    /// They are its own. These are the functions that it calls.
    Own(&'a TokenStream),
    /// Its caller passes them.
    Passed,
}

impl Frame<'_> {
    /// The frame of a routine beside which these functions are written.
    pub(super) fn of(called: &TokenStream) -> Frame<'_> {
        if called.is_empty() { Frame::Alone } else { Frame::Own(called) }
    }

    /// The first parameter.
    pub(super) fn parameter(&self, krate: &TokenStream) -> TokenStream {
        match self {
            Frame::Passed => quote!(calls_: &#krate::runtime::Calls,),
            _ => TokenStream::new(),
        }
    }

    /// The statements before the body.
    pub(super) fn head(&self, krate: &TokenStream) -> TokenStream {
        match self {
            Frame::Alone => TokenStream::new(),
            Frame::Own(called) => quote!(#called let calls_ = &#krate::runtime::Calls::new(); let _ = calls_;),
            Frame::Passed => quote!(let _ = calls_;),
        }
    }
}

/// The name of a function that a call calls.
pub(super) fn name_of(function: u32, half: Half, active: &[u32]) -> Ident {
    let half = match half {
        Half::Value => "value",
        Half::Forward => "forward",
        Half::Reverse => "reverse",
        Half::Tangent => "tangent",
    };
    let active: String = active.iter().map(|k| format!("{k}_")).collect();
    format_ident!("called_{function}_{half}_{active}")
}

/// The functions that are called, as items.
///
/// # Errors
/// As [`super::emit_routine`].
pub fn emit_called(functions: &mut [Prepared], called: &[CalledFunction]) -> Result<TokenStream, String> {
    let mut items = TokenStream::new();
    for CalledFunction { function, called } in called {
        let Some(prepared) = functions.get_mut(*function as usize) else { return Err("a call of nothing".into()) };
        let program = &mut prepared.program;
        let mut graph = std::mem::take(&mut program.graph);
        let written = match called {
            Called::Value(routine) => value(&mut graph, program, routine, *function),
            Called::Halves { half, active, staged } => halves(&mut graph, program, staged, (*function, *half, active)),
        };
        program.graph = graph;
        items.extend(written?);
    }
    Ok(items)
}

/// A routine under another name.
fn renamed(routine: &Routine, name: &Ident) -> Routine {
    Routine {
        name: name.clone(),
        docs: Vec::new(),
        declared: routine.declared.clone(),
        params: routine.params.clone(),
        result_ty: routine.result_ty.clone(),
        result: routine.result.clone(),
        checks: routine.checks.clone(),
        destinations: Vec::new(),
        workspace: false,
        exact: routine.exact.clone(),
    }
}

fn value(graph: &mut Graph, program: &Program, routine: &Routine, function: u32) -> Result<TokenStream, String> {
    let name = name_of(function, Half::Value, &[]);
    if is_number(&routine.result) {
        return super::function(graph, program, &renamed(routine, &name), &Frame::Passed);
    }
    let inner = format_ident!("{name}results_");
    let whole = super::function(graph, program, &renamed(routine, &inner), &Frame::Passed)?;
    let (names, pattern) = named(&routine.result);
    let parameters = super::signature::declarations(&routine.declared);
    let arguments = routine.declared.iter().map(|p| &p.name);
    let turbofish = &program.turbofish;
    let call = quote!(#inner #turbofish (calls_, #(#arguments),*));
    let record = record(program, &names);
    let wrapper = wrapper(program, &name, &parameters, &quote!(usize), &quote!(let #pattern = #call; #record));
    Ok(quote!(#whole #wrapper))
}

fn halves(
    graph: &mut Graph,
    program: &Program,
    staged: &Staged,
    (function, half, active): (u32, Half, &[u32]),
) -> Result<TokenStream, String> {
    let Staged { first, second, .. } = staged;
    let turbofish = &program.turbofish;
    let forward = name_of(function, Half::Forward, active);
    let other = name_of(function, half, active);
    let (inner, closure) = (format_ident!("{forward}results_"), format_ident!("{other}results_"));
    let whole = super::function(graph, program, &renamed(first, &inner), &Frame::Passed)?;
    let pulled = super::function(graph, program, &renamed(second, &closure), &Frame::Passed)?;

    let (names, pattern) = named(&first.result);
    let parameters = super::signature::declarations(&first.declared);
    let arguments = first.declared.iter().map(|p| &p.name);
    let written = record(program, &names);
    let code = quote!(let #pattern = #inner #turbofish (calls_, #(#arguments),*); #written);
    let forward = wrapper(program, &forward, &parameters, &quote!(usize), &code);

    // What the forward half has kept stands behind the results.
    let results = program.result.leaves().len();
    let kept = first.result.leaves().len() - results;
    let reads = read(program, &second.params[..kept], results);
    let passed = second.params[..kept].iter().map(|Param { name, passing, .. }| match passing.references {
        0 => quote!(#name),
        _ => quote!(&#name),
    });
    let mut arguments: Vec<TokenStream> = passed.collect();
    let mut parameters = quote!(record_: usize);
    for declared in &second.declared[kept..] {
        arguments.push(given(program, declared, &second.params, &mut parameters));
    }
    let call = quote!(#closure #turbofish (calls_, #(#arguments),*));
    let other = match is_number(&second.result) {
        true => wrapper(program, &other, &parameters, &second.result_ty, &quote!(#reads #call)),
        false => {
            let (names, pattern) = named(&second.result);
            let written = record(program, &names);
            wrapper(program, &other, &parameters, &quote!(usize), &quote!(#reads let #pattern = #call; #written))
        }
    };
    Ok(quote!(#whole #pulled #forward #other))
}

fn wrapper(
    program: &Program,
    name: &Ident,
    parameters: &TokenStream,
    result: &TokenStream,
    code: &TokenStream,
) -> TokenStream {
    let Program { generics, where_clause, krate, .. } = program;
    quote! {
        fn #name #generics (calls_: &#krate::runtime::Calls, #parameters) -> #result #where_clause { #code }
    }
}

fn is_number(result: &OutputTree) -> bool {
    matches!(result, Tree::Leaf(out) if out.container == Container::Scalar)
}

/// A name for each leaf of a result, and the pattern of all.
fn named(result: &OutputTree) -> (Vec<(Ident, Output)>, TokenStream) {
    fn pattern(tree: &OutputTree, names: &mut Vec<(Ident, Output)>) -> TokenStream {
        match tree {
            Tree::Leaf(out) => {
                let name = format_ident!("result{}_", names.len());
                names.push((name.clone(), out.clone()));
                quote!(#name)
            }
            Tree::Tuple(parts) => {
                let parts = parts.iter().map(|part| pattern(part, names));
                let parts: Vec<TokenStream> = parts.collect();
                quote!((#(#parts,)*))
            }
            Tree::List(inner) | Tree::Defined(_, inner) => pattern(inner, names),
        }
    }
    let mut names = Vec::new();
    let pattern = pattern(result, &mut names);
    (names, pattern)
}

/// Code that makes a record of these values. Its value is the number of the record.
fn record(program: &Program, values: &[(Ident, Output)]) -> TokenStream {
    let krate = &program.krate;
    let words = values.iter().map(|(name, out)| match out.container {
        Container::Scalar | Container::ScalarRef => quote!(#krate::runtime::Word::to_word(#name)),
        Container::Static if out.lens.len() > 1 => {
            let flat = (1..out.lens.len()).map(|_| quote!(.as_flattened()));
            quote!(calls_.keep(#name #(#flat)*))
        }
        _ => quote!(calls_.keep(&#name)),
    });
    quote!(calls_.record([#(#words),*]))
}

/// Code that reads what was kept, from word `first` of a record on.
fn read(program: &Program, params: &[Param], first: usize) -> TokenStream {
    let krate = &program.krate;
    let words: Vec<Ident> = (0..params.len()).map(|k| format_ident!("word{k}_")).collect();
    let reads = params.iter().zip(&words).map(|(param, word)| {
        let Param { name, container, elem, rank, lens, .. } = param;
        let ty = argument_type(program, Container::Scalar, *elem, 0, &[]);
        match container {
            Container::Static => {
                let of = argument_type(program, Container::Static, *elem, usize::from(*rank), lens);
                let zeros = static_type(quote!(<#ty as #krate::runtime::Word>::of_word(0)), lens);
                let flat = (1..lens.len()).map(|_| quote!(.as_flattened_mut()));
                let place = if lens.len() < 2 { quote!(&mut #name) } else { quote!(#name #(#flat)*) };
                quote!(let mut #name: #of = #zeros; calls_.fill(#place, #word);)
            }
            Container::Scalar | Container::ScalarRef => {
                quote!(let #name = <#ty as #krate::runtime::Word>::of_word(#word);)
            }
            _ => quote!(let #name = calls_.array::<#ty>(#word);),
        }
    });
    let reads: Vec<TokenStream> = reads.collect();
    if reads.is_empty() {
        return quote!(let _ = record_;);
    }
    quote!(let [#(#words),*] = calls_.words(record_, #first); #(#reads)*)
}

/// The argument for a cotangent or a direction, of which each real leaf is a parameter.
fn given(program: &Program, declared: &Declared, params: &[Param], parameters: &mut TokenStream) -> TokenStream {
    fn argument(program: &Program, tree: &Tree<usize>, params: &[Param], parameters: &mut TokenStream) -> TokenStream {
        match tree {
            Tree::Leaf(k) => {
                let Param { name, elem, container, rank, lens, .. } = &params[*k];
                if !elem.is_real() {
                    return quote!(::core::default::Default::default());
                }
                let ty = argument_type(program, *container, *elem, usize::from(*rank), lens);
                parameters.extend(quote!(, #name: #ty));
                quote!(#name)
            }
            Tree::Tuple(parts) => {
                let parts = parts.iter().map(|part| argument(program, part, params, parameters));
                let parts: Vec<TokenStream> = parts.collect();
                quote!((#(#parts,)*))
            }
            Tree::List(inner) | Tree::Defined(_, inner) => argument(program, inner, params, parameters),
        }
    }
    argument(program, &declared.parts.tree(), params, parameters)
}

/// Whether a term is a call or a result of one.
pub(super) fn is_call(g: &Graph, t: Term) -> bool {
    matches!(g.node(t), Node::Prim(Prim::Call(_) | Prim::Returned(..), _))
}
