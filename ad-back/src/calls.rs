//! Functions that are called, as private functions inside of a routine. A half of a derivative
//! saves in a record (`ad_runtime::Calls`) the values that its caller and the other half read.
//!
//! This module must never decide which values a half saves, and never name a term.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use ad_ir::ir::{Graph, Node, Term};
use ad_ir::prim::Prim;
use ad_ir::prim::structural::{Callee, Half};
use ad_ir::program::{Container, Declared, OutputTree, Param, Program, Routine, Staged, Tree};
use ad_ir::rust_types::{argument_type, static_type};
use ad_middle::calls::{Called, CalledFunction};
use ad_middle::pipeline::Prepared;

/// How a function gets the records of the calls that it makes.
pub(super) enum RecordAccess<'a> {
    /// It makes no calls.
    Alone,
    /// The function creates the records itself. The tokens are the functions that it calls.
    Own(&'a TokenStream),
    /// The caller passes the records.
    Passed,
    /// The caller passes the records, and the function's result is a record of this kind.
    Recording(RecordKind),
}

/// The kinds of records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RecordKind {
    /// Records of forward halves: the values that the other half reads.
    Kept,
    /// The results of any other call.
    Results,
}

impl RecordKind {
    /// The records of this kind.
    pub(super) fn records(self) -> TokenStream {
        match self {
            RecordKind::Kept => quote!(calls_.kept()),
            RecordKind::Results => quote!(calls_.results()),
        }
    }
}

impl RecordAccess<'_> {
    /// How a routine accesses records; `called` are the functions that are written inside of it, if
    /// it calls any.
    pub(super) fn of(called: Option<&TokenStream>) -> RecordAccess<'_> {
        called.map_or(RecordAccess::Alone, RecordAccess::Own)
    }

    /// The first parameter.
    pub(super) fn parameter(&self, krate: &TokenStream) -> TokenStream {
        match self {
            RecordAccess::Passed | RecordAccess::Recording(_) => quote!(calls_: &#krate::runtime::Calls,),
            _ => TokenStream::new(),
        }
    }

    /// The kind of record that holds its results, if one does.
    pub(super) fn records(&self) -> Option<RecordKind> {
        if let RecordAccess::Recording(kind) = self { Some(*kind) } else { None }
    }

    /// The statements before the body.
    pub(super) fn head(&self, krate: &TokenStream) -> TokenStream {
        match self {
            RecordAccess::Alone => TokenStream::new(),
            RecordAccess::Own(called) => quote!(#called let calls_ = &#krate::runtime::Calls::new(); let _ = calls_;),
            RecordAccess::Passed | RecordAccess::Recording(_) => quote!(let _ = calls_;),
        }
    }
}

/// The name of the function that a call calls.
pub(super) fn name_of_callee(callee: &Callee) -> Ident {
    let name = name_of(callee.function, callee.half, &callee.active);
    match callee.rule {
        Some(rule) => format_ident!("rule_{name}_{}", rule.keys),
        None => name,
    }
}

/// The name of a half of a function.
fn name_of(function: u32, half: Half, active: &[u32]) -> Ident {
    let half = match half {
        Half::Value => "value",
        Half::Forward => "forward",
        Half::Reverse => "reverse",
        Half::Tangent => "tangent",
    };
    let active: String = active.iter().map(|k| format!("{k}_")).collect();
    format_ident!("called_{function}_{half}_{active}")
}

/// The functions that are called, as items. `None` if there are none.
///
/// # Errors
/// As [`super::emit_routine`].
pub fn emit_called(
    caller: &Program,
    functions: &mut [Prepared],
    called: &[CalledFunction],
) -> Result<Option<TokenStream>, String> {
    if called.is_empty() {
        return Ok(None);
    }
    let mut items = TokenStream::new();
    // While a half reads a record in place, no forward half may run, since records move when their
    // list grows.
    let copied = called.iter().any(|c| c.runs_forward_later(functions));
    for CalledFunction { function, called } in called {
        if let Called::Rule(callee) = called {
            items.extend(super::ruled::called(caller, callee, &name_of_callee(callee))?);
            continue;
        }
        let Some(prepared) = functions.get_mut(*function as usize) else {
            return Err("a call of an unknown function".into());
        };
        let program = &mut prepared.program;
        let mut graph = std::mem::take(&mut program.graph);
        let written = match called {
            Called::Value(routine) => value(&mut graph, program, routine, *function),
            Called::Halves { half, active, passed, staged } => {
                halves(&mut graph, program, staged, (*function, *half, active), (passed.len(), copied))
            }
            Called::Rule(_) => Ok(TokenStream::new()),
        };
        program.graph = graph;
        items.extend(written?);
    }
    Ok(Some(items))
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
        fallible: routine.fallible.clone(),
        checks: routine.checks.clone(),
        destinations: Vec::new(),
        workspace: false,
        exact: routine.exact.clone(),
        onto: routine.onto.clone(),
        of_function: routine.of_function.clone(),
    }
}

fn value(graph: &mut Graph, program: &Program, routine: &Routine, function: u32) -> Result<TokenStream, String> {
    let name = name_of(function, Half::Value, &[]);
    let frame =
        if is_number(&routine.result) { RecordAccess::Passed } else { RecordAccess::Recording(RecordKind::Results) };
    super::function(graph, program, &renamed(routine, &name), &frame)
}

fn halves(
    graph: &mut Graph,
    program: &Program,
    staged: &Staged,
    (function, half, active): (u32, Half, &[u32]),
    (shared, copied): (usize, bool),
) -> Result<TokenStream, String> {
    let Staged { first, second, .. } = staged;
    let turbofish = &program.turbofish;
    let forward = name_of(function, Half::Forward, active);
    let other = name_of(function, half, active);
    let closure = format_ident!("{other}results_");
    let forward =
        super::function(graph, program, &renamed(first, &forward), &RecordAccess::Recording(RecordKind::Kept))?;
    let onto = second.onto.len();
    let adds = onto > 0 || half == Half::Reverse && active.len() > 1;
    let number = if adds { second.result.leaves().len() > onto } else { is_number(&second.result) };
    let direct = number || adds;
    let frame = if direct { RecordAccess::Passed } else { RecordAccess::Recording(RecordKind::Results) };
    let pulled = super::function(graph, program, &renamed(second, &closure), &frame)?;

    // The residuals of the forward half follow its results.
    let results = program.result.leaves().len();
    let kept = first.result.leaves().len() - results;
    let reads = read(program, &second.params[shared..shared + kept], results, copied);
    let own = second.params[..shared].iter().map(|p| &p.name);
    let passed =
        second.params[shared..shared + kept].iter().map(|Param { name, passing, .. }| match passing.references {
            0 => quote!(#name),
            _ => quote!(&#name),
        });
    let mut arguments: Vec<TokenStream> = own.map(|name| quote!(#name)).chain(passed).collect();
    let declared = second.declared[..shared].iter().map(|Declared { name, ty, .. }| quote!(, #name: #ty));
    let mut parameters: TokenStream = std::iter::once(quote!(record_: usize)).chain(declared).collect();
    let kept = shared + kept;
    let (later, onto) = second.declared[kept..].split_at(second.declared.len() - kept - onto);
    for declared in later {
        arguments.push(given(program, declared, &second.params, &mut parameters));
    }
    for Declared { name, ty, .. } in onto {
        parameters.extend(quote!(, #name: #ty));
        arguments.push(quote!(#name));
    }
    let call = quote!(#closure #turbofish (calls_, #(#arguments),*));
    let result = match (number, direct) {
        (true, _) => super::returns(&second.result_ty),
        (false, true) => TokenStream::new(),
        (false, false) => super::returns(&quote!(usize)),
    };
    let end = if direct && !number { quote!(;) } else { TokenStream::new() };
    let other = wrapper(program, &other, &parameters, &result, &quote!(#reads #call #end));
    Ok(quote!(#forward #pulled #other))
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
        fn #name #generics (calls_: &#krate::runtime::Calls, #parameters) #result #where_clause { #code }
    }
}

fn is_number(result: &OutputTree) -> bool {
    matches!(result, Tree::Leaf(out) if out.container == Container::Scalar)
}

/// Code that reads the saved values, from word `first` of a record on. Arrays are read in place, or
/// copied.
fn read(program: &Program, params: &[Param], first: usize, copied: bool) -> TokenStream {
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
            _ if copied => quote!(let #name = calls_.array::<#ty>(#word).to_vec();),
            _ => quote!(let #name = calls_.array::<#ty>(#word);),
        }
    });
    let reads: Vec<TokenStream> = reads.collect();
    if reads.is_empty() {
        return quote!(let _ = record_;);
    }
    quote!(let [#(#words),*] = calls_.words(record_, #first); #(#reads)*)
}

/// The argument for a cotangent or a direction, each real leaf of which is a parameter.
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
            Tree::Ragged(..) => TokenStream::new(),
            Tree::List(_, inner) | Tree::Defined(_, inner) => argument(program, inner, params, parameters),
        }
    }
    argument(program, &declared.parts.tree(), params, parameters)
}

/// Whether a term is a call or a result of one.
pub(super) fn is_call(g: &Graph, t: Term) -> bool {
    matches!(g.node(t), Node::Prim(Prim::Call(_) | Prim::Onto(..) | Prim::Returned(..), _))
}
