//! From build-free core terms to Rust: one function item for each routine.
//!
//! The pass `lowering`, the last one of `pipeline`, rewrites the terms for which there is no
//! statement, and opens the loops. In this crate, `store` decides what is in memory, `schedule`
//! decides when and under which guard it is computed, and `in_range` decides which reads need no
//! test. `kernel` turns one element into scalar operations (BOT Fig. 10 read as index functions).
//! `nest` writes loops, `driver` the statements around them, `block` the nesting of statements, and
//! `rust` scalar tokens. The output is a function of the terms alone, byte for byte. This crate
//! must never rewrite a term, and never panic on a user's program: for a term that it cannot emit
//! it returns an `Err` with a message.

mod block;
mod calls;
mod check;
mod code;
mod compressed;
mod cost;
mod demand;
mod described;
mod documented;
mod driver;
mod facts;
mod in_range;
mod items;
mod kernel;
mod marks;
mod nest;
mod notes;
mod outer_vectorisation;
mod plan;
mod proof;
mod ruled;
mod rules;
mod rust;
mod schedule;
mod several;
mod signature;
mod size_names;
mod split;
mod store;
mod tiling;
mod watch;

pub use calls::emit_called;
pub use check::check;
pub use compressed::emit_compressed;
pub use described::{Description, describe, describe_routine};
pub use notes::{NestSummary, Note, PartSummary};
pub use proof::proofs;
pub use rules::beside_rule;
pub use several::{SeveralShapes, several_shapes, several_shapes_staged};
pub use signature::{allowed_lints, emit_second};

use std::collections::HashMap;
use std::rc::Rc;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use ad_ir::choice;
use ad_ir::descriptor::Descriptor;
use ad_ir::ir::{Graph, Term};
use ad_ir::program::{Check, Declared, Program, Routine, Staged};
use ad_ir::rust_types::{fallible_type, present, real_param};
use ad_middle::passes::lowering::LoweredGraph;
use ad_middle::passes::lowering::exact::Decided;
use ad_middle::pipeline::{self, Log};
use calls::RecordAccess;
use plan::Plan;
use rust::Style;
use schedule::CheckTerms;
use signature::PublicFunction;
use watch::WatchedPlaces;

/// The data from which a routine is emitted: lowered terms and their plan.
struct PlannedRoutine {
    checks: Vec<Check>,
    result: ad_ir::program::OutputTree,
    hints: HashMap<Term, String>,
    plan: Plan,
    /// The terms of the function itself, for documents and pages. Empty if they are not known.
    of_function: Vec<Term>,
}

fn prepare(
    g: &mut Graph,
    program: &Program,
    routine: &Routine,
    log: Option<&mut Log>,
) -> Result<PlannedRoutine, String> {
    let LoweredGraph { new, loops, outer } = pipeline::lower(g, program, routine, log)?;
    let of_function = routine.of_function.iter().map(|t| new.get(t).copied()).collect::<Option<_>>();
    let result = routine.result.with_terms(&mut routine.result.terms().iter().map(|t| new[t]));
    let mut checks = routine.checks.clone();
    checks.sort_by_key(|c| c.phase);
    for check in &mut checks {
        check.ok = new[&check.ok];
        for shown in &mut check.shown {
            shown.1 = new[&shown.1];
        }
    }
    checks.retain(|c| g.bool_value(c.ok) != Some(true));
    let mut hints = HashMap::new();
    for (t, hint) in &program.hints {
        hints.entry(new.get(t).copied().unwrap_or(*t)).or_insert_with(|| hint.clone());
    }
    let reads = |c: &Check| CheckTerms {
        reads: std::iter::once(c.ok).chain(c.shown.iter().map(|s| s.1)).collect(),
        phase: c.phase,
    };
    let arrays = result.terms().into_iter().filter(|&t| g.rank(t) > 0);
    let onto: Vec<(Term, Term)> =
        routine.onto.iter().zip(arrays).filter_map(|(&k, t)| Some((g.input(k)?, t))).collect();
    let check_terms: Vec<CheckTerms> = checks.iter().map(reads).collect();
    let exact = routine.exact.iter().flatten().filter_map(|t| new.get(t).copied()).collect();
    let decided = routine.exact.is_some().then_some(Decided { exact, outer });
    let mut plan = schedule::plan(g, &loops, (&result.terms(), &onto), &check_terms, decided.as_ref())?;
    let checked: Vec<Term> = checks.iter().map(|c| c.ok).collect();
    // The index of a watched element is not that in a block.
    if !ad_ir::prim::watch::is_on() {
        tiling::form(g, &mut plan, &hints, &checked);
    }
    Ok(PlannedRoutine { checks, result, hints, plan, of_function: of_function.unwrap_or_default() })
}

/// One routine as a Rust function item.
///
/// # Errors
/// If the terms contain a form that the emitter does not accept (builds).
pub fn emit_routine(g: &mut Graph, program: &Program, routine: &Routine) -> Result<TokenStream, String> {
    emit_calling(g, program, routine, None)
}

/// One routine as a Rust function item, with the functions that it calls.
///
/// # Errors
/// As [`emit_routine`].
pub fn emit_calling(
    g: &mut Graph,
    program: &Program,
    routine: &Routine,
    called: Option<&TokenStream>,
) -> Result<TokenStream, String> {
    emit_versions(g, program, routine, (called, None), None)
}

/// One routine as a Rust function item, with the functions that it calls, and with its second
/// version, if it has one. Given the derivative, the item is documented.
///
/// # Errors
/// As [`emit_routine`].
pub fn emit_versions(
    g: &mut Graph,
    program: &Program,
    routine: &Routine,
    (called, several): (Option<&TokenStream>, Option<&SeveralShapes>),
    derivative: Option<&Descriptor>,
) -> Result<TokenStream, String> {
    let frame = RecordAccess::of(called);
    let planned = prepare(g, program, routine, None)?;
    let docs = match derivative {
        Some(derivative) => documented::routine(g, (program, routine), &planned, derivative),
        None => routine.docs.clone(),
    };
    let body = body(g, (program, routine), &planned, &frame)?;
    let head = several.map(|several| several.head(program, routine));
    let body = quote!(#head #body);
    let Program { generics, where_clause, krate, .. } = program;
    let Routine { name, declared, .. } = routine;
    let lints = signature::allowed_lints();
    let attributes = quote!(#(#[doc = #docs])* #lints);
    let returns = returned(routine, &frame);
    if program.example.is_some() {
        // The generic function is only a call of the long one, so that the long one is compiled
        // once.
        let inner = parameters(program, routine, &frame);
        let (public_generics, params) = signature::public_declarations(program, declared);
        let given = signature::converted(program, declared);
        let turbofish = &program.turbofish;
        let body = quote! {
            fn of_views_ #generics (#inner) #returns #where_clause { #body }
            of_views_ #turbofish (#given)
        };
        return Ok(
            PublicFunction { attributes, name, generics: Some(public_generics), params, returns, body }.item(program)
        );
    }
    let mut params = signature::typed(declared);
    if routine.workspace {
        params.push((Ident::new("workspace_", Span::call_site()), quote!(&mut #krate::runtime::Workspace)));
    }
    Ok(PublicFunction { attributes, name, generics: None, params, returns, body }.item(program))
}

/// The part of a signature after the parameters.
fn returns(ty: &TokenStream) -> TokenStream {
    quote!(-> #ty)
}

/// The return type of a routine, as [`returns`] writes it.
fn returned(routine: &Routine, frame: &RecordAccess<'_>) -> TokenStream {
    let onto = routine.onto.len();
    match frame.records() {
        Some(_) => returns(&quote!(usize)),
        None if onto > 0 && routine.result.leaves().len() == onto => TokenStream::new(),
        None => match &routine.fallible {
            Some(fallible) => returns(&fallible_type(fallible, &routine.result_ty)),
            None => returns(&routine.result_ty),
        },
    }
}

/// The parameters of a routine.
fn parameters(program: &Program, routine: &Routine, frame: &RecordAccess<'_>) -> TokenStream {
    let krate = &program.krate;
    let (calls, declared) = (frame.parameter(krate), signature::declarations(&routine.declared));
    let workspace = routine.workspace.then(|| quote!(, workspace_: &mut #krate::runtime::Workspace));
    quote!(#calls #declared #workspace)
}

/// The body of a routine.
fn body(
    g: &Graph,
    (program, routine): (&Program, &Routine),
    PlannedRoutine { checks, result, hints, plan, .. }: &PlannedRoutine,
    frame: &RecordAccess<'_>,
) -> Result<TokenStream, String> {
    let style = Style { records: frame.records(), ..style_of(program, routine) };
    let driver = driver::Driver::new(g, program, routine, checks, plan, &style, hints);
    let ([functions, body], _) = driver.body(result, &routine.destinations)?;
    let Program { identities, krate, .. } = program;
    let head = frame.head(krate);
    let body = watch::framed(program, routine, !returned(routine, frame).is_empty(), body);
    let imported = style.methods_without_std();
    Ok(quote!(#imported #identities #functions #head #body))
}

/// The function itself, without attributes.
fn function(
    g: &mut Graph,
    program: &Program,
    routine: &Routine,
    frame: &RecordAccess<'_>,
) -> Result<TokenStream, String> {
    let planned = prepare(g, program, routine, None)?;
    planned_function(g, (program, routine), &planned, frame)
}

/// [`function`], given its plan.
fn planned_function(
    g: &Graph,
    (program, routine): (&Program, &Routine),
    planned: &PlannedRoutine,
    frame: &RecordAccess<'_>,
) -> Result<TokenStream, String> {
    let body = body(g, (program, routine), planned, frame)?;
    let declared = parameters(program, routine, frame);
    let Program { generics, where_clause, .. } = program;
    let (name, returns) = (&routine.name, returned(routine, frame));
    let (function, body) = at_name(name, body);
    Ok(quote!(#function #name #generics (#declared) #returns #where_clause #body))
}

/// A function that returns a value and a closure, which owns what it keeps and borrows nothing.
///
/// # Errors
/// As [`emit_routine`].
pub fn emit_staged(
    g: &mut Graph,
    program: &Program,
    staged: &Staged,
    (called, several): (Option<&TokenStream>, Option<&SeveralShapes>),
    derivative: &Descriptor,
) -> Result<TokenStream, String> {
    let Staged { name, first, .. } = staged;
    let planned = staged_plans(g, program, staged)?;
    let docs = documented::staged(g, (program, staged), &planned, derivative);
    let (body, both_ty) = staged_body(g, (program, staged), &planned, called)?;
    let body = match several {
        Some(several) => several.either(program, staged, &(body, both_ty.clone()))?,
        None => body,
    };
    let lints = signature::allowed_lints();
    let params = signature::typed(&first.declared);
    let attributes = quote!(#(#[doc = #docs])* #lints);
    let returns = returns(&both_ty);
    Ok(PublicFunction { attributes, name, generics: None, params, returns, body }.item(program))
}

/// The plans of the two stages.
fn staged_plans(g: &mut Graph, program: &Program, staged: &Staged) -> Result<[PlannedRoutine; 2], String> {
    Ok([prepare(g, program, &staged.first, None)?, prepare(g, program, &staged.second, None)?])
}

/// The body of a function that returns a value and a closure, given the plans of its stages, and
/// the type of both.
fn staged_body(
    g: &Graph,
    (program, staged): (&Program, &Staged),
    [now, later]: &[PlannedRoutine; 2],
    called: Option<&TokenStream>,
) -> Result<(TokenStream, TokenStream), String> {
    let Staged { first, second, .. } = staged;
    // The closure owns the records of the calls.
    let krate = &program.krate;
    let (frame, calls, passed_calls) = match called {
        None => (RecordAccess::Alone, TokenStream::new(), TokenStream::new()),
        Some(_) => (RecordAccess::Passed, quote!(let calls_ = #krate::runtime::Calls::new();), quote!(&calls_,)),
    };
    let inner = planned_function(g, (program, first), now, &frame)?;
    let closure = planned_function(g, (program, second), later, &frame)?;
    let Program { turbofish, captured, .. } = program;
    let args = first.declared.iter().map(|p| &p.name);
    let (first_name, second_name) = (&first.name, &second.name);
    let Some((own, kept)) = second.declared.split_last() else { return Err("a closure without a cotangent".into()) };
    let (own_name, own_ty, gradient) = (&own.name, &own.ty, &second.result_ty);
    let value_ty = &program.result_ty;
    let names: Vec<&Ident> = kept.iter().map(|p| &p.name).collect();
    let passed = kept
        .iter()
        .zip(&second.params)
        .map(|(Declared { name, .. }, p)| if p.passing.references > 0 { quote!(&#name) } else { quote!(#name) });
    let value = Ident::new("value_", Span::mixed_site());
    let pattern = if names.is_empty() { quote!(#value) } else { quote!((#value, #(#names),*)) };
    let both =
        quote!((#value, move |#own_name: #own_ty| #second_name #turbofish (#passed_calls #(#passed,)* #own_name)));
    let both_ty = quote!((#value_ty, impl Fn(#own_ty) -> #gradient + use<#(#captured),*>));
    let (otherwise, both, both_ty) = match &first.fallible {
        Some(fallible) => (quote!(?), present(fallible, &both), fallible_type(fallible, &both_ty)),
        None => (TokenStream::new(), both, both_ty),
    };
    let body = quote! {
        #called
        #inner
        #closure
        #calls
        let #pattern = #first_name #turbofish (#passed_calls #(#args),*) #otherwise;
        #both
    };
    Ok((body, both_ty))
}

/// `fn` and a body in braces, with the span of the name. If a function of this name exists already,
/// the error is reported there.
pub(crate) fn at_name(name: &Ident, body: TokenStream) -> (Ident, proc_macro2::Group) {
    let span = Span::call_site().located_at(name.span());
    let mut body = proc_macro2::Group::new(proc_macro2::Delimiter::Brace, body);
    body.set_span(span);
    (Ident::new("fn", span), body)
}

/// The choices since `choice::record`, with the names of the user's function.
pub fn chosen(g: &Graph, program: &Program) -> String {
    choice::recorded(|k| numbered(g, |t| program.hints.get(&t), k))
}

/// The term with this number in a few words; empty if there is no such term.
fn numbered<'a>(g: &Graph, hint: impl Fn(Term) -> Option<&'a String>, k: usize) -> String {
    g.terms().nth(k).map_or(String::new(), |t| shown(g, hint(t), t))
}

/// A term in a word.
fn shown(g: &Graph, hint: Option<&String>, t: Term) -> String {
    let node = match g.node(t) {
        ad_ir::ir::Node::Prim(prim, _) => prim.name(),
        ad_ir::ir::Node::Gather { .. } => "gather".into(),
        ad_ir::ir::Node::Scatter { put: ad_ir::ir::Put::Add, .. } => "scatter".into(),
        ad_ir::ir::Node::Scatter { put: ad_ir::ir::Put::Set, .. } => "update".into(),
        ad_ir::ir::Node::Cond { .. } => "cond".into(),
        ad_ir::ir::Node::Scan(_) => "scan".into(),
        ad_ir::ir::Node::Build { .. } => "build1".into(),
        ad_ir::ir::Node::Param(..) => "of a loop".into(),
        node => format!("{node:?}"),
    };
    match hint {
        Some(hint) => format!("%{} {hint}: {node}", t.index()),
        None => format!("%{}: {node}", t.index()),
    }
}

/// How the tokens of a routine are written.
fn style_of(program: &Program, routine: &Routine) -> Style {
    Style { workspace: routine.workspace, ..style(program) }
}

/// How this program's tokens are written.
fn style(program: &Program) -> Style {
    Style {
        krate: program.krate.clone(),
        param: real_param(program),
        bound: Rc::clone(&program.locals),
        workspace: false,
        marks: false,
        records: None,
        watched: Rc::new(WatchedPlaces::of(program)),
        std_methods: Rc::default(),
    }
}
