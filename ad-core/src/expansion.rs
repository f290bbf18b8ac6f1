//! The expansion of an annotated function: runs the stages one after the other for each requested
//! derivative, and turns failures into errors and stand-ins. This module must never panic, and
//! holds no stage itself.

use ad_ir::sorted::SortedSet;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;

use ad_back as emit;
use ad_front::{self as front, Annotated, OuterDefinitions};
use ad_ir::descriptor::{Alone, Descriptor, Structure};
use ad_ir::diag::{Diagnostic, Diags, SrcRange};
use ad_ir::mode::Mode;
use ad_ir::positions::SourceTokens;
use ad_ir::prim::structural::Callee;
use ad_ir::prim::watch;
use ad_ir::program::{Constant, Program};
use ad_ir::{catalogue, choice, positions, stage};
use ad_middle::pipeline::explained::Explained;
use ad_middle::pipeline::{self, Log, Prepared};
use ad_middle::{calls, derivative};

use super::{dual_numbers, explain};

/// The result of an expansion.
#[derive(Debug, Default)]
pub struct Expansion {
    /// The function itself, and its derivatives, or compile errors and stand-ins for the
    /// derivatives.
    pub tokens: TokenStream,
    /// The errors, which the tokens contain too.
    pub errors: Vec<Diagnostic>,
    /// Whether one of the errors is an internal failure of the compiler.
    pub internal: bool,
}

/// The expansion of `#[differentiate(attr)] item`: the item itself, and its derivatives or compile
/// errors.
///
/// If the environment names a folder as `AD_DUMP`, the record of all stages is written to
/// `<folder>/<function>.txt`; if it names one as `AD_EXPLAIN`, a page is written there.
#[must_use]
pub fn expand(attr: TokenStream, item: TokenStream) -> TokenStream {
    expansion(attr, item).tokens
}

/// [`expand`], and its errors.
#[must_use]
pub fn expansion(attr: TokenStream, item: TokenStream) -> Expansion {
    recorded(attr, item, &Records::wanted())
}

/// [`expansion`], with an explicit folder for the record of the stages.
#[must_use]
pub fn expand_and_dump(attr: TokenStream, item: TokenStream, folder: Option<&Path>) -> Expansion {
    recorded(attr, item, &Records { dump: folder.map(Path::to_path_buf), ..Records::default() })
}

/// [`expansion`], with code that says which expression first made a NaN or an infinity, as
/// `AD_DEBUG_NAN` asks for it. `dump` is a folder for the record of the stages.
#[must_use]
pub fn expand_watched(attr: TokenStream, item: TokenStream, dump: Option<&Path>) -> Expansion {
    recorded(attr, item, &Records { dump: dump.map(Path::to_path_buf), pages: None, watched: true })
}

fn recorded(attr: TokenStream, item: TokenStream, records: &Records) -> Expansion {
    let written = written(attr, &item, &OuterDefinitions::default(), records);
    with_item(item, written)
}

/// What is wanted of a compilation besides the code.
#[derive(Default)]
pub(crate) struct Records {
    /// For the text of all stages.
    dump: Option<PathBuf>,
    /// For a page of each function.
    pages: Option<PathBuf>,
    /// Whether the code tests its numbers.
    watched: bool,
}

thread_local! {
    static PAGES: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
    static WRITTEN: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
}

/// Sets the folder into which this thread writes a page of each function from now on, whatever the
/// environment names. Returns the pages that this thread has written since it was set last.
pub fn set_pages(folder: Option<&Path>) -> Vec<PathBuf> {
    PAGES.set(folder.map(Path::to_path_buf));
    WRITTEN.take()
}

impl Records {
    /// The records that the environment asks for.
    pub(crate) fn wanted() -> Self {
        let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let asked = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
        Records {
            dump: named("AD_DUMP"),
            pages: PAGES.with_borrow(Clone::clone).or_else(|| named("AD_EXPLAIN")),
            watched: asked(watch::VARIABLE),
        }
    }

    /// Prepares this thread for reading a function.
    fn begin(&self) {
        positions::keep_all(self.pages.is_some() || self.watched);
        watch::set(self.watched);
        if self.watched {
            // What is recorded belongs to the thread.
            choice::set_threads(false);
        }
    }

    /// A log for them, if there is to be one.
    fn log(&self) -> Option<Log> {
        let log = (self.dump.is_some() || self.pages.is_some()).then(Log::default)?;
        Some(Log { explained: self.pages.as_ref().map(|_| Explained::default()), ..log })
    }

    /// Writes the text of the stages. A failure to write must not fail the build.
    fn write_text(&self, log: &Log, name: impl std::fmt::Display) {
        if let Some(folder) = &self.dump {
            let _ = std::fs::create_dir_all(folder);
            let _ = std::fs::write(folder.join(format!("{name}.txt")), log.text());
        }
    }

    /// Writes the page of the function. A failure to write must not fail the build.
    fn write_page(&self, log: &Log, program: &Program, (derivatives, source): (&[&Descriptor], &SourceTokens)) {
        if let (Some(folder), Some(explained)) = (&self.pages, &log.explained) {
            let names: Vec<String> =
                derivatives.iter().map(|which| derivative::name(program, which).to_string()).collect();
            let page = explain::write(folder, &explain::page(program, &names, source, explained));
            WRITTEN.with_borrow_mut(|written| written.extend(page));
        }
    }
}

/// The items that are written beside a function.
#[derive(Default)]
pub(crate) struct Written {
    /// The derivatives, or the errors and stand-ins.
    pub tokens: TokenStream,
    /// The errors.
    pub errors: Vec<Diagnostic>,
    /// Whether one of them is an internal failure of the compiler.
    pub internal: bool,
    /// The constants that the function names. `None` if there are no derivatives; if there is no
    /// error either, a definition is missing or has one.
    pub constants: Option<Vec<Constant>>,
}

impl Written {
    /// The errors, and the stand-ins.
    pub(crate) fn refused(failure: front::Failure) -> Self {
        let errors = failure.diags.list().to_vec();
        Written { tokens: failure.into_tokens(), errors, internal: false, constants: None }
    }

    /// The written items alone, without the function.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.tokens
    }
}

/// The error beside an item that nests too deeply to be parsed.
pub(crate) fn refuse_deep(attr: &TokenStream, item: &TokenStream) -> Option<Written> {
    front::refuse_deep(attr, item).map(Written::refused)
}

/// A function with the items that are written beside it.
pub(crate) fn with_item(item: TokenStream, written: Written) -> Expansion {
    let hidden = written.errors.iter().any(|e| e.message.hides_body);
    let item = if hidden { without_body(front::with_valid_signature(item)) } else { item };
    Expansion { tokens: beside(&item, &written.tokens), errors: written.errors, internal: written.internal }
}

/// The items beside a function. The definitions give the meaning of its calls.
pub(crate) fn written(attr: TokenStream, item: &TokenStream, outside: &OuterDefinitions, records: &Records) -> Written {
    // Before `unread` parses the attribute and the item.
    if let Some(refused) = refuse_deep(&attr, item) {
        return refused;
    }
    if let Some((written, _)) = unread(&attr, item) {
        return written;
    }
    written_of(
        || front::read(attr.clone(), item.clone(), outside),
        || front::stubs(attr.clone(), item.clone()),
        records,
    )
}

/// The items beside a function whose body is not read, if the attribute asks for that mode, and the
/// function's signature if it is valid.
pub(crate) fn unread(attr: &TokenStream, item: &TokenStream) -> Option<(Written, Option<front::Unread>)> {
    let item = dual_numbers::function(attr, item)?;
    Some(match guarded(|| dual_numbers::written(attr.clone(), item)) {
        Ok(Ok((of, tokens))) => (Written { tokens, constants: Some(Vec::new()), ..Written::default() }, Some(of)),
        Ok(Err(failure)) => (Written::refused(failure), None),
        Err(diags) => {
            let failure = front::Failure { diags, stubs: TokenStream::new() };
            (Written { internal: true, ..Written::refused(failure) }, None)
        }
    })
}

/// Writes the items beside the function that `read` returns, or the stand-ins if a stage fails.
pub(crate) fn written_of(
    read: impl Fn() -> Result<Annotated, front::Failure>,
    stubs: impl Fn() -> TokenStream,
    records: &Records,
) -> Written {
    records.begin();
    let outcome = guarded(|| {
        read().map(|annotated| {
            let constants = annotated.program.constants.clone();
            derivatives(annotated, records).map(|tokens| (tokens, constants))
        })
    });
    // A construct that the mode does not support is the user's mistake.
    let outcome = outcome.map(|read| match read {
        Ok(Err(NotWritten::Refused(diags))) => {
            Err(front::Failure { diags, stubs: catch_unwind(AssertUnwindSafe(&stubs)).unwrap_or_default() })
        }
        Ok(Err(NotWritten::Internal(what))) => Ok(Err(what)),
        Ok(Ok(written)) => Ok(Ok(written)),
        Err(failure) => Err(failure),
    });
    // A term that the emitter cannot write is an internal failure, too.
    let outcome = outcome.and_then(|read| match read {
        Ok(Ok(written)) => Ok(Ok(written)),
        Ok(Err(what)) => Err(failed(&what)),
        Err(failure) => Ok(Err(failure)),
    });
    let internal = outcome.is_err();
    let failure = match outcome {
        Ok(Ok((tokens, constants))) => {
            return Written { tokens, errors: Vec::new(), internal, constants: Some(constants) };
        }
        Ok(Err(failure)) => failure,
        Err(diags) => {
            let stubs = catch_unwind(AssertUnwindSafe(stubs)).unwrap_or_default();
            front::Failure { diags, stubs }
        }
    };
    let mut written = Written::refused(failure);
    written.internal |= internal || written.errors.iter().any(|e| e.message.entry == "internal");
    written
}

/// Runs a part of the compiler. A panic in it is reported as a bug of `ad`.
pub(crate) fn guarded<R>(f: impl FnOnce() -> R) -> Result<R, Diags> {
    stage::enter("the front end");
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        failed(text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message"))
    })
}

/// The error for a failure of the stage that was running.
fn failed(what: &str) -> Diags {
    let mut diags = Diags::new();
    diags.push(SrcRange::call_site(), catalogue::internal(stage::current(), what));
    diags
}

/// A function without its body, so that rustc does not report an error of the body a second time.
fn without_body(item: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let body = tokens.last_mut().filter(|last| match last {
        TokenTree::Group(body) => body.delimiter() == Delimiter::Brace,
        // The function has no body.
        TokenTree::Punct(end) => end.as_char() == ';',
        _ => false,
    });
    if let Some(body) = body {
        let mut new = Group::new(Delimiter::Brace, quote!(::core::panic!("the function has an error")));
        new.set_span(body.span());
        *body = TokenTree::Group(new);
    }
    let allowed = quote!(#[allow(unused_variables, unused_mut, clippy::pedantic, reason = "its body is left out because of an error")]);
    allowed.into_iter().chain(tokens).collect()
}

/// The annotated function with the items that are written next to it.
pub(crate) fn beside(item: &TokenStream, written: &TokenStream) -> TokenStream {
    quote! {
        #[allow(dead_code, reason = "a function may be used through its derivatives only")]
        #item
        #written
    }
}

/// The derivative functions of an annotated function. Writes the records of their stages, also of
/// those before a stage that fails.
fn derivatives(annotated: Annotated, records: &Records) -> Result<TokenStream, NotWritten> {
    let (mut log, name) = (records.log(), annotated.program.name.clone());
    let made = catch_unwind(AssertUnwindSafe(|| recorded_derivatives(annotated, records, log.as_mut())));
    if !matches!(made, Ok(Ok(_)))
        && let Some(log) = &log
    {
        records.write_text(log, &name);
    }
    made.unwrap_or_else(|panic| resume_unwind(panic))
}

/// [`derivatives`], with the log for the records.
fn recorded_derivatives(
    annotated: Annotated,
    records: &Records,
    mut log_ref: Option<&mut Log>,
) -> Result<TokenStream, NotWritten> {
    let Annotated { program, of_examples, of_several_shapes, derivatives, source } = annotated;
    let mut program = program;
    calls::find_moving(&mut program);
    let functions = std::mem::take(&mut program.functions);
    let mut functions: Vec<Prepared> = functions
        .into_iter()
        .map(|f| {
            let subject = calls::subject(&f);
            prepare(f, &subject, log_ref.as_deref_mut())
        })
        .collect();
    let mut prepared = prepare(program, "", log_ref.as_deref_mut());
    if let Some(diags) = refused_by_mode(&prepared) {
        return Err(NotWritten::Refused(diags));
    }
    let mut of_examples = of_examples.map(|program| prepare(program, OF_EXAMPLES, log_ref.as_deref_mut()));
    let mut several = match of_several_shapes {
        Some(Ok(program)) => SecondVersion::prepared(program, log_ref.as_deref_mut()),
        Some(Err(errors)) => {
            if let Some(log) = log_ref.as_deref_mut() {
                log.enter(OF_SEVERAL_SHAPES);
                log.push("", "refused", errors.into_iter().map(|error| error + "\n").collect());
                log.enter("");
            }
            None
        }
        None => None,
    };
    let mut written = TokenStream::new();
    for derivative in &derivatives {
        let (prepared, subject) = match (derivative.returns, &mut of_examples) {
            (Structure::Examples, Some(of_examples)) => (of_examples, OF_EXAMPLES),
            _ => (&mut prepared, ""),
        };
        let second = several.as_mut().and_then(|second| second.of(derivative, log_ref.as_deref_mut()));
        let log = log_ref.as_deref_mut();
        written.extend(one(prepared, &mut functions, derivative, (subject, second.as_ref()), log)?);
    }
    let written_for = |d: &&Descriptor| front::is_written_for_several_shapes(d);
    let second: Vec<&Descriptor> = derivatives.iter().copied().filter(written_for).collect();
    let several = several.as_ref().map(|several| (&several.prepared.program, &second[..]));
    written.extend(emit::check(&prepared.program, &derivatives, several));
    written.extend(emit::proofs(&prepared.program));
    if let Some(log) = log_ref {
        records.write_text(log, &prepared.program.name);
        records.write_page(log, &prepared.program, (&derivatives, &source));
    }
    Ok(written)
}

/// Why a function has no derivatives.
enum NotWritten {
    /// The mode does not support the function.
    Refused(Diags),
    /// A stage fails.
    Internal(String),
}

impl From<String> for NotWritten {
    fn from(what: String) -> Self {
        NotWritten::Internal(what)
    }
}

/// The error if the mode does not support the function.
fn refused_by_mode(prepared: &Prepared) -> Option<Diags> {
    let (loc, why) = prepared.refused?;
    let program = &prepared.program;
    let range = program.places.get(loc).map_or_else(SrcRange::call_site, |place| place.range);
    let usual = format!("mode = \"{}\"", Mode::default().name());
    let mut diags = Diags::new();
    diags.push(range, catalogue::mode_refuses(program.mode.name(), why.what(), &usual));
    Some(diags)
}

/// The function for calls in which the arrays of a list have several shapes.
struct SecondVersion {
    prepared: Prepared,
    functions: Vec<Prepared>,
}

impl SecondVersion {
    /// The function after the passes. A failure means that there is none: a derivative then panics
    /// if shapes differ.
    fn prepared(mut program: Program, mut log: Option<&mut Log>) -> Option<SecondVersion> {
        let made = || {
            calls::find_moving(&mut program);
            let functions = std::mem::take(&mut program.functions).into_iter().map(|f| {
                let subject = format!("{OF_SEVERAL_SHAPES}: {}", calls::subject(&f));
                prepare(f, &subject, log.as_deref_mut())
            });
            let functions = functions.collect();
            SecondVersion { prepared: prepare(program, OF_SEVERAL_SHAPES, log), functions }
        };
        catch_unwind(AssertUnwindSafe(made)).ok()
    }

    /// The version of a derivative, if it has one.
    fn of(&mut self, derivative: &Descriptor, log: Option<&mut Log>) -> Option<emit::SeveralShapes> {
        if !front::is_written_for_several_shapes(derivative) {
            return None;
        }
        catch_unwind(AssertUnwindSafe(|| self.written(derivative, log))).ok()?.ok()
    }

    fn written(&mut self, derivative: &Descriptor, mut log: Option<&mut Log>) -> Result<emit::SeveralShapes, String> {
        let SecondVersion { prepared, functions } = self;
        if let Some(log) = log.as_deref_mut() {
            explain::enter(log, OF_SEVERAL_SHAPES, &prepared.program);
            choice::record();
        }
        if derivative.returns == Structure::Closure {
            let staged = pipeline::pullback(prepared, derivative, log.as_deref_mut());
            let mut graph = std::mem::take(&mut prepared.program.graph);
            let mut callees = calls::callees(&mut graph, &staged.first);
            callees.append(&mut calls::callees(&mut graph, &staged.second));
            let called = called(&prepared.program, functions, callees, log)?;
            let written = emit::several_shapes_staged(&mut graph, &prepared.program, &staged, called.as_ref());
            prepared.program.graph = graph;
            return written;
        }
        let routine = pipeline::derive(prepared, derivative, log.as_deref_mut());
        let mut graph = std::mem::take(&mut prepared.program.graph);
        if let Some(log) = log.as_deref_mut() {
            emit::describe(&graph, &prepared.program, &routine, log);
        }
        let callees = calls::callees(&mut graph, &routine);
        let called = called(&prepared.program, functions, callees, log)?;
        let written = emit::several_shapes(&mut graph, &prepared.program, routine, called.as_ref());
        prepared.program.graph = graph;
        written
    }
}

/// The name in the log of the function for arrays of several shapes.
const OF_SEVERAL_SHAPES: &str = "several shapes";

/// The name in the log of the program that `per_example` differentiates.
const OF_EXAMPLES: &str = "one example";

/// The passes over a function, under this name in the log.
fn prepare(program: Program, subject: &str, mut log: Option<&mut Log>) -> Prepared {
    if let Some(log) = log.as_deref_mut() {
        explain::enter(log, subject, &program);
        choice::record();
    }
    let prepared = pipeline::prepare(program, log.as_deref_mut());
    if let Some(log) = log {
        let choices = emit::chosen(&prepared.program.graph, &prepared.program);
        if !choices.is_empty() {
            log.push("", "choices by cost", choices);
        }
        log.enter("");
    }
    prepared
}

/// The functions that a routine calls, as tokens, and their stages. `None` if it calls none.
fn called(
    program: &Program,
    functions: &mut [Prepared],
    callees: SortedSet<Callee>,
    mut log: Option<&mut Log>,
) -> Result<Option<TokenStream>, String> {
    let called = calls::called(functions, callees, log.as_deref_mut());
    for one in called.iter().filter(|one| !matches!(one.called, calls::Called::Rule(_))) {
        let (Some(log), Some(prepared)) = (log.as_deref_mut(), functions.get(one.function as usize)) else {
            continue;
        };
        let program = &prepared.program;
        explain::enter(log, &one.subject(program), program);
        for routine in one.routines() {
            choice::record();
            emit::describe(&program.graph, program, routine, log);
        }
        log.enter("");
    }
    stage::enter("the emitter");
    emit::emit_called(program, functions, &called)
}

/// The functions of one derivative, whose stages have this name in the log.
fn one(
    prepared: &mut Prepared,
    functions: &mut [Prepared],
    derivative: &Descriptor,
    (subject, several): (&str, Option<&emit::SeveralShapes>),
    mut log: Option<&mut Log>,
) -> Result<TokenStream, String> {
    if let Some(log) = log.as_deref_mut() {
        explain::enter(log, subject, &prepared.program);
        choice::record();
    }
    if derivative.returns == Structure::Closure {
        let staged = pipeline::pullback(prepared, derivative, log.as_deref_mut());
        // The emitter adds a few terms to the graph.
        let mut graph = std::mem::take(&mut prepared.program.graph);
        for routine in [&staged.first, &staged.second] {
            if log.is_some() {
                choice::record();
            }
            if let Some(log) = log.as_deref_mut() {
                emit::describe(&graph, &prepared.program, routine, log);
            }
        }
        stage::enter("the emitter");
        let mut callees = calls::callees(&mut graph, &staged.first);
        callees.append(&mut calls::callees(&mut graph, &staged.second));
        let called = called(&prepared.program, functions, callees, log)?;
        let tokens = emit::emit_staged(&mut graph, &prepared.program, &staged, (called.as_ref(), several), derivative);
        prepared.program.graph = graph;
        return tokens.map_err(|e| format!("{}: {e}", staged.name));
    }
    if derivative.returns == Structure::Sparse {
        return compressed(prepared, derivative, log);
    }
    let routine = pipeline::derive(prepared, derivative, log.as_deref_mut());
    let mut written = TokenStream::new();
    if let Some(Alone { suffix, what }) = derivative.alone {
        written.extend(emit::emit_second(&prepared.program, &routine, suffix, what));
    }
    let mut graph = std::mem::take(&mut prepared.program.graph);
    if let Some(log) = log.as_deref_mut() {
        emit::describe(&graph, &prepared.program, &routine, log);
    }
    let callees = calls::callees(&mut graph, &routine);
    let called = called(&prepared.program, functions, callees, log)?;
    stage::enter("the emitter");
    let versions = (called.as_ref(), several);
    let tokens = emit::emit_versions(&mut graph, &prepared.program, &routine, versions, Some(derivative));
    prepared.program.graph = graph;
    written.extend(tokens.map_err(|e| format!("{}: {e}", routine.name))?);
    Ok(written)
}

/// The functions of a sparse Jacobian.
fn compressed(
    prepared: &mut Prepared,
    derivative: &Descriptor,
    mut log: Option<&mut Log>,
) -> Result<TokenStream, String> {
    let compressed = pipeline::compressed(prepared, derivative, log.as_deref_mut());
    let mut graph = std::mem::take(&mut prepared.program.graph);
    for routine in [&compressed.pattern, &compressed.by_columns, &compressed.by_rows] {
        if let Some(log) = log.as_deref_mut() {
            choice::record();
            emit::describe(&graph, &prepared.program, routine, log);
        }
    }
    stage::enter("the emitter");
    let tokens = emit::emit_compressed(&mut graph, &prepared.program, &compressed, derivative);
    prepared.program.graph = graph;
    tokens.map_err(|e| format!("{}: {e}", compressed.name))
}
