//! The front end: it turns the tokens of an annotated function into a [`Program`] of core terms, or
//! into errors. Only this part of the compiler reads `syn`. Its steps are the attribute (`attr`),
//! the signature (`sig`, `types`), the rewriting of macros to ordinary expressions (`macros`), and
//! lowering (`lower` and the other modules), which is repeated until no new equation between sizes
//! is found (`shapes`). Every accepted function, method and macro has a row in the table of
//! `table`; unsupported constructs are refused (`refuse`).
//!
//! The front end must never panic, whatever the tokens are, and never lower a construct that it
//! does not know.

mod arith;
mod arms;
mod ascribe;
mod associated;
mod assume;
mod attr;
mod bits;
mod blocks;
mod boundary;
mod called;
mod calls;
mod carried_types;
mod carry;
mod changes;
mod checkpoint;
mod checks;
mod closure_conversion;
mod collected;
mod compiled_sig;
mod consts;
mod definitions;
mod depth;
mod distinct;
mod dual_numbers;
mod examples;
mod expr;
mod fft;
mod flow;
mod functions;
mod growth;
mod implicit;
mod in_order;
mod index;
mod inner_derivatives;
mod integers;
mod items;
mod iter;
mod linalg;
mod lists;
mod loop_effects;
mod loops;
mod lower;
mod macros;
mod memory;
mod methods;
mod modules;
mod monotone;
mod nodes;
mod opaque;
mod open;
mod operators;
mod options;
mod order;
mod outcomes;
mod panic_messages;
mod panics;
mod pattern;
mod place;
mod probe;
mod products;
mod proved;
mod queues;
mod ragged;
mod reads;
mod recur;
mod recursion;
mod recursive_methods;
mod refs;
mod refuse;
mod requests;
mod resize;
mod result;
mod rollback;
mod row;
mod rules;
mod search_and_split;
mod shapes;
mod sig;
mod slice;
mod sorting;
mod spare;
mod stack;
mod stand_in;

mod enums;
mod stmt;
mod table;
mod tables;
mod terms;
mod translation;
mod travel;
mod type_params;
mod types;
mod unnamed;
mod value;
mod variables;
mod walk;
mod zero_step_guards;

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::ItemFn;

use ad_ir::analysis::varying::{Varying, varying};
use ad_ir::catalogue;
use ad_ir::descriptor::Descriptor;
use ad_ir::diag::{Diags, SrcRange};
use ad_ir::ir::Term;
use ad_ir::positions::SourceTokens;
use ad_ir::program::{Program, Within};
use definitions::Definitions;
use value::Lowered;

pub use blocks::{Method, is_number, is_readable, methods, options as options_of, parts, type_of_block, without_marks};
pub use boundary::fields;
pub use dual_numbers::{Form, Unread, UnreadParam, is_unread, read_unread, turbofish_with};
pub use inner_derivatives::{is_derivative, items as derivative_items};
pub use macros::names as macros_understood;
pub use modules::{ItemNeeds, Module, stand_in_for};
pub use probe::{Probed, probe, probe_method};
pub use ragged::is_written as is_written_for_several_shapes;
pub use requests::{requests, requests_of_method, requests_of_type};
pub use rules::{Rules, check_marks, is_rule, read_marks, read_rule, refuse_rules, without_its_body};
pub use sig::is_real;
pub use table::{Described, On, Proof, rows};
pub use tables::{TablePart, Tables, tables};
pub use travel::{DefId, Marked, Member, OuterDefinitions, Wanted, constant_id, named, value, written};
pub use unnamed::{Unnamed, unnamed};

/// The output for a function with errors.
#[derive(Debug)]
#[must_use = "the errors have to reach the user"]
pub struct Failure {
    /// The errors.
    pub diags: Diags,
    /// Stand-ins for the derivative functions. Empty if the item is not a free function.
    pub stubs: TokenStream,
}

impl Failure {
    /// The errors and the stand-ins as code. The caller emits the function itself.
    #[must_use]
    pub fn into_tokens(self) -> TokenStream {
        let mut tokens = self.diags.into_tokens();
        tokens.extend(self.stubs);
        tokens
    }
}

/// A function and its requested derivatives.
#[derive(Debug)]
pub struct Annotated {
    /// The function in core terms.
    pub program: Program,
    /// The function of many examples, if a derivative for each example is requested.
    pub of_examples: Option<Program>,
    /// The function for calls in which the arrays of a list have several shapes, if it has such
    /// lists. If something that it does with them is understood for arrays of one shape only, the
    /// errors that say so.
    pub of_several_shapes: Option<Result<Program, Vec<String>>>,
    /// The requested derivatives, in the order of the list of derivatives.
    pub derivatives: Vec<&'static Descriptor>,
    /// The function as the user wrote it.
    pub source: SourceTokens,
}

/// The function of [`read`].
///
/// # Errors
///
/// All errors of the function, and stand-ins for its derivatives.
pub fn parse(attr: TokenStream, item: TokenStream) -> Result<Program, Failure> {
    read(attr, item, &OuterDefinitions::default()).map(|annotated| annotated.program)
}

/// The error of tokens that nest so deeply that parsing them could overflow the stack. Every macro
/// asks first.
#[must_use]
pub fn refuse_deep(attr: &TokenStream, item: &TokenStream) -> Option<Failure> {
    let span = depth::too_deep(attr).or_else(|| depth::too_deep(item))?;
    let mut diags = Diags::new();
    diags.push(SrcRange { first: span, last: span }, catalogue::too_deep());
    Some(Failure { diags, stubs: TokenStream::new() })
}

/// Reads an annotated function. `outside` has the definitions of the marked functions that it
/// calls. If some definitions are still open and nothing else is wrong, there are no errors in the
/// failure.
///
/// # Errors
///
/// All errors of the function, and stand-ins for its derivatives.
pub fn read(attr: TokenStream, item: TokenStream, outside: &OuterDefinitions) -> Result<Annotated, Failure> {
    if let Some(failure) = refuse_deep(&attr, &item) {
        return Err(failure);
    }
    let mut diags = Diags::new();
    let attr = attr::parse(attr, &mut diags);
    let range = SrcRange::of_stream(item.clone());
    let types = Definitions::outside(outside);
    let item = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(item) => item,
        Err(e) => {
            // An attribute on another kind of item is our error. A function that does not parse is
            // rustc's error; if rustc does not report it, it is refused here.
            let indices = several_indices(item.clone());
            let written = item.clone();
            let no_body = syn::parse2::<syn::TraitItemFn>(item.clone())
                .is_ok_and(|f| f.default.is_none() && f.sig.variadic.is_none());
            let no_body = function_name(&item).filter(|_| no_body);
            let place = syn::parse2::<syn::Item>(item).ok().as_ref().and_then(refuse::item);
            let place = no_body.map(|name| catalogue::no_body(&name)).or(place);
            let (range, message) = match (place, indices) {
                (Some(message), _) => (range, message),
                (None, Some((range, name, index))) if macros::is_indexed(&name) => {
                    (range, catalogue::macro_without_mark(&name, &index))
                }
                (None, Some((range, _, index))) => (range, catalogue::several_indices(&index)),
                (None, None) => {
                    let range = SrcRange { first: e.span(), last: e.span() };
                    let Some((item, attr)) = without_body(written.clone()).map(|item| (item, attr)) else {
                        // A syntax error before the body: it is refused here if rustc does not
                        // report it.
                        let of_function = function_name(&written).is_some();
                        diags.push(range, catalogue::syntax(&e.to_string(), of_function));
                        return Err(Failure { diags, stubs: TokenStream::new() });
                    };
                    // A body that does not parse was reported before the macro was called.
                    let sig = sig::parse(&item, &attr, &types, &mut diags);
                    let certain = sig.is_ok() && diags.is_empty();
                    diags.push(range, catalogue::syntax(&e.to_string(), certain));
                    let stubs =
                        sig.map_or_else(|_| TokenStream::new(), |sig| stand_in::of_signature(&sig, &item, &diags));
                    return Err(Failure { diags, stubs });
                }
            };
            diags.push(range, message);
            return Err(Failure { diags, stubs: TokenStream::new() });
        }
    };
    if let Some(again) = item.attrs.iter().find(|other| attr.writes_names_of(other)) {
        // The other attribute generates the derivatives, so there are no stand-ins here.
        diags.push(SrcRange::of(again), catalogue::attribute_twice());
        return Err(Failure { diags, stubs: TokenStream::new() });
    }
    let generics = &item.sig.generics;
    let generic = item.sig.receiver().is_none() && generics.type_params().any(|p| sig::is_real(generics, p));
    let mut read = function(&attr, item, None, outside, diags);
    if let (true, Err(failure)) = (generic, &mut read) {
        failure.diags.reword(catalogue::dual_numbers::takes);
    }
    read
}

/// Reads a method with the attribute, as [`read`] reads a function.
///
/// # Errors
///
/// As [`read`].
pub fn read_method(attr: TokenStream, method: &Method, outside: &OuterDefinitions) -> Result<Annotated, Failure> {
    let mut diags = Diags::new();
    let attr = attr::parse(attr, &mut diags);
    function(&attr, method.item.clone(), Some(&method.within), outside, diags)
}

fn function(
    attr: &attr::Attr,
    mut item: ItemFn,
    within: Option<&Within>,
    outside: &OuterDefinitions,
    mut diags: Diags,
) -> Result<Annotated, Failure> {
    let types = Definitions::outside(outside);
    let range = SrcRange::of(&item.sig);
    if let Some(at) = attr.unread {
        diags.push(at, catalogue::dual_numbers::not_free());
        return Err(Failure { diags, stubs: stand_in::of(&item, (attr, within), &types) });
    }
    let Ok(sig) = sig::parse(&item, attr, &types, &mut diags) else {
        return Err(Failure { diags, stubs: stand_in::of(&item, (attr, within), &types) });
    };
    let sig = sig::Sig { within: within.cloned(), ..sig };
    if diags.is_empty() && outside.open.iter().any(|path| travel::is_of_type(path)) {
        // The properties of a value of this type are unknown.
        return Err(Failure { diags, stubs: TokenStream::new() });
    }
    let (vis, sig_tokens, braces) = (&item.vis, &item.sig, item.block.brace_token.span);
    let source = SourceTokens { head: quote!(#vis #sig_tokens), body: [braces.join(), braces.close()] };
    let macros = macros::rewrite(&mut item.block, &mut diags);
    let outside = outside.prepared();
    distinct::types(&mut item.block, &mut outside.names_of_types());
    let imports = items::replace(&mut item.block);
    let definitions = Definitions::of_body(&item.block, &outside);
    if let Some(name) = definitions.repeated() {
        diags.push(SrcRange::of(name), catalogue::repeated_type(&name.to_string()));
    }
    if let Some(name) = definitions.of_references() {
        diags.push(SrcRange::of(name), catalogue::method_of_references(&name.to_string()));
    }
    if diags.is_empty() {
        match shapes::lower(&sig, &item, &definitions, &outside, &mut diags) {
            Ok(program) if recursion::refuses(&program, &attr.derivatives, &mut diags) => drop(program),
            Ok(program) if rules::refuses(&program, &requested(&sig, attr, range), &mut diags) => drop(program),
            Ok(mut program) if diags.is_empty() => {
                program.assumed.extend(macros);
                program.imports = imports;
                program.identities = outside.identities(&sig.name, &program.krate);
                if let Ok(of_examples) = of_examples(&sig, &item, (&definitions, &outside), attr, &mut diags) {
                    let of_several_shapes = of_several_shapes(&sig, &item, (&definitions, &outside), &program);
                    let derivatives = sig.derivatives;
                    return Ok(Annotated { program, of_examples, of_several_shapes, derivatives, source });
                }
            }
            _ => {}
        }
    }
    if diags.is_empty() && outside.are_complete() {
        // There is no result and no error: this is a bug, and it must not be ignored.
        diags.push(range, catalogue::internal("the front end", "it gave up without a reason"));
    }
    let stubs = stand_in::of_signature(&sig, &item, &diags);
    Err(Failure { diags, stubs })
}

/// The requested derivatives, each with the place where it is named.
fn requested(sig: &sig::Sig, attr: &attr::Attr, range: SrcRange) -> Vec<(&'static Descriptor, SrcRange)> {
    let named =
        |d: &&'static Descriptor| attr.derivatives.iter().find(|(own, _)| own == d).map_or(range, |(_, at)| *at);
    sig.derivatives.iter().map(|d| (*d, named(d))).collect()
}

/// The function for arrays of several shapes, given the function for arrays of one shape. An error
/// means that there is none: then a derivative panics if shapes differ.
fn of_several_shapes(
    sig: &sig::Sig,
    item: &ItemFn,
    (definitions, outside): (&Definitions, &OuterDefinitions),
    program: &Program,
) -> Option<Result<Program, Vec<String>>> {
    let sig = sig.of_several_shapes()?;
    let mut diags = Diags::new();
    // A failure here must not fail the function for arrays of one shape.
    let lowered = || shapes::lower(&sig, item, definitions, outside, &mut diags).ok();
    let lowered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(lowered));
    Some(match lowered {
        Ok(Some(mut several)) if diags.is_empty() => {
            several.assumed.clone_from(&program.assumed);
            several.imports.clone_from(&program.imports);
            several.identities = program.identities.clone();
            Ok(several)
        }
        _ => Err(diags.list().iter().map(|d| d.message.text.clone()).collect()),
    })
}

/// The function of many examples, if the attribute names parameters of an example.
fn of_examples(
    sig: &sig::Sig,
    item: &ItemFn,
    (definitions, outside): (&Definitions, &OuterDefinitions),
    attr: &attr::Attr,
    diags: &mut Diags,
) -> Lowered<Option<Program>> {
    if sig.examples.is_empty() {
        return Ok(None);
    }
    let program = shapes::lower(&sig.of_examples(), item, definitions, outside, diags)?;
    let checks = program.checks.iter().map(|check| check.ok);
    let roots: Vec<Term> = program.result.terms().into_iter().chain(checks).collect();
    let given = |&k: &usize| program.params[k].input.and_then(|n| program.graph.input(n));
    let inputs: Vec<Term> = program.examples.iter().filter_map(given).collect();
    let Some((k, what)) = varying(&program.graph, &roots, &inputs) else { return Ok(Some(program)) };
    let name = program.params[program.examples[k]].name.to_string();
    let range = attr.examples.iter().find(|n| **n == name).map_or_else(SrcRange::call_site, SrcRange::of);
    Err(diags.push(range, catalogue::example_varies(&name, what == Varying::Stop)))
}

/// The name of an item that starts like a function.
fn function_name(item: &TokenStream) -> Option<String> {
    let mut tokens = item.clone().into_iter().skip_while(|t| !matches!(t, TokenTree::Ident(i) if i == "fn"));
    match (tokens.next(), tokens.next()) {
        (Some(_), Some(TokenTree::Ident(name))) => Some(name.to_string()),
        _ => None,
    }
}

/// The function with an empty body, if its signature parses.
fn without_body(item: TokenStream) -> Option<ItemFn> {
    use proc_macro2::{Delimiter, Group};
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    match tokens.last_mut() {
        Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => {
            *body = Group::new(Delimiter::Brace, TokenStream::new());
        }
        _ => return None,
    }
    syn::parse2(tokens.into_iter().collect()).ok()
}

/// Finds `x[i, j]` in tokens that do not parse: the location, the text before the brackets, and the
/// indices.
fn several_indices(tokens: TokenStream) -> Option<(SrcRange, String, String)> {
    use proc_macro2::Delimiter;
    const KEYWORDS: &[&str] = &["in", "return", "break", "else", "match", "if", "mut", "ref", "move", "let"];
    let mut before = None;
    for token in tokens {
        if let TokenTree::Group(g) = &token {
            let commas = || g.stream().into_iter().any(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == ','));
            let indexed = match &before {
                Some(TokenTree::Ident(i)) => !KEYWORDS.contains(&i.to_string().as_str()),
                Some(TokenTree::Group(g)) => g.delimiter() != Delimiter::Brace,
                _ => false,
            };
            if g.delimiter() == Delimiter::Bracket && indexed && commas() {
                let index = ad_ir::diag::text_of(&g.stream(), 40);
                let name = before.map_or_else(String::new, |before| before.to_string());
                return Some((SrcRange { first: g.span_open(), last: g.span_close() }, name, index));
            }
            if let Some(found) = several_indices(g.stream()) {
                return Some(found);
            }
        }
        before = Some(token);
    }
    None
}

/// The item with a valid signature, if rustc would not accept its own signature. So rustc does not
/// report the same error again.
#[must_use]
pub fn with_valid_signature(item: TokenStream) -> TokenStream {
    let Ok(mut function) = syn::parse2::<ItemFn>(item.clone()) else { return item };
    let mut changed = false;
    for arg in &mut function.sig.inputs {
        if let syn::FnArg::Typed(arg) = arg {
            changed |= types::mend(&mut arg.ty);
        }
    }
    if let syn::ReturnType::Type(_, ty) = &mut function.sig.output {
        changed |= types::mend(ty);
    }
    if changed { quote::quote!(#function) } else { item }
}

/// Reads the attribute of a function that is only called. It may state the path of the crate `ad`.
pub fn mark(attr: TokenStream, diags: &mut Diags) {
    let range = SrcRange::of_stream(attr.clone());
    if attr::parse(attr, diags).has_options() {
        diags.push(range, catalogue::options_of_a_mark());
    }
}

/// Reads the attribute of an `impl` block or of a module. It may state the path of the crate `ad`.
pub fn options_of_block(attr: TokenStream, diags: &mut Diags) {
    let range = SrcRange::of_stream(attr.clone());
    if attr::parse(attr, diags).has_options() {
        diags.push(range, catalogue::options_of_a_block());
    }
}

/// Stand-ins for the derivatives of a method with a valid signature.
#[must_use]
pub fn stubs_of_method(attr: TokenStream, method: &Method, outside: &OuterDefinitions) -> TokenStream {
    let mut diags = Diags::new();
    let attr = attr::parse(attr, &mut diags);
    let Ok(sig) = sig::parse(&method.item, &attr, &Definitions::outside(outside), &mut diags) else {
        return TokenStream::new();
    };
    let sig = sig::Sig { within: Some(method.within.clone()), ..sig };
    stand_in::of_signature(&sig, &method.item, &diags)
}

/// The path of the crate `ad` that an attribute states.
#[must_use]
pub fn krate(attr: TokenStream) -> TokenStream {
    attr::parse(attr, &mut Diags::new()).krate
}

/// Stand-ins for the derivatives of a function with a valid signature.
#[must_use]
pub fn stubs(attr: TokenStream, item: TokenStream) -> TokenStream {
    let mut diags = Diags::new();
    let attr = attr::parse(attr, &mut diags);
    let Ok(item) = syn::parse2::<ItemFn>(item) else { return TokenStream::new() };
    sig::parse(&item, &attr, &Definitions::default(), &mut diags)
        .map_or_else(|_| TokenStream::new(), |sig| stand_in::of_signature(&sig, &item, &diags))
}
