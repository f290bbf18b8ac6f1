//! From build-free core terms to Rust: one function item for each routine.
//!
//! `lower` rewrites what no statement is for, `store` decides what is in memory, `schedule` what is computed when and under which
//! guard, `kernel` what one element is ([BOT] Fig. 10 read as index functions), `nest` writes loops, `driver` the statements
//! around them, `block` their nesting, `rust` scalar tokens. The output is a function of the terms alone, byte for byte.
//! Nothing here may panic on a user's program: what cannot be emitted is an `Err` that says so.

mod block;
mod contract;
mod driver;
mod kernel;
mod lower;
mod nest;
mod rust;
mod schedule;
mod signature;
mod store;

pub use signature::emit_grad;
pub(crate) use signature::{argument_type, tree_type};

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::quote;

use crate::ir::{Graph, Term};
use crate::program::{Check, Phase, Program, Routine};
use rust::Style;
use schedule::{CheckTerms, Plan, Work};

/// Lints of rustc and clippy that generated code would not pass, and why it may.
const LINTS: &[(&str, &str)] = &[
    ("dead_code", "not every derivative that is written is called"),
    ("clippy::cast_lossless", "casts are the function's own"),
    ("clippy::cast_possible_truncation", "casts are the function's own"),
    ("clippy::cast_possible_wrap", "casts are the function's own"),
    ("clippy::cast_precision_loss", "casts are the function's own"),
    ("clippy::cast_sign_loss", "casts are the function's own"),
    ("clippy::excessive_precision", "constants are written in full"),
    ("clippy::unreadable_literal", "constants are written in full"),
    ("clippy::approx_constant", "constants are the function's own"),
    ("clippy::float_cmp", "comparisons are the function's own"),
    ("clippy::neg_cmp_op_on_partial_ord", "comparisons are the function's own"),
    ("clippy::nonminimal_bool", "conditions are the function's own"),
    ("clippy::eq_op", "a comparison with itself tests for NaN"),
    ("clippy::suspicious_arithmetic_impl", "a derivative uses other operations than its function"),
    ("clippy::imprecise_flops", "operations are the function's own"),
    ("clippy::many_single_char_names", "names are the function's own"),
    ("clippy::similar_names", "names are the function's own"),
    ("clippy::just_underscores_and_digits", "names are the function's own"),
    ("clippy::too_many_arguments", "a loop takes all that it reads as parameters"),
    ("clippy::too_many_lines", "a derivative is as long as its function asks for"),
    ("clippy::type_complexity", "the type is the derivative's"),
    ("clippy::needless_range_loop", "several slices are walked by one index"),
    ("clippy::manual_memcpy", "the loop does other things too"),
    ("clippy::must_use_candidate", "the caller may only want the panic"),
    ("clippy::needless_pass_by_value", "parameters are the function's own"),
    ("clippy::trivially_copy_pass_by_ref", "parameters are the function's own"),
    ("clippy::ptr_arg", "parameters are the function's own"),
    ("clippy::needless_lifetimes", "lifetimes are the function's own"),
    ("clippy::elidable_lifetime_names", "lifetimes are the function's own"),
    ("clippy::extra_unused_lifetimes", "lifetimes are the function's own"),
    ("clippy::let_and_return", "results keep their names"),
    ("clippy::missing_panics_doc", "it panics where its function does"),
];

/// What a routine is made from: lowered terms and their plan.
struct Prepared {
    checks: Vec<Check>,
    result: crate::program::OutputTree,
    hints: HashMap<Term, String>,
    plan: Plan,
}

fn prepare(g: &mut Graph, program: &Program, routine: &Routine) -> Result<Prepared, String> {
    let mut roots = routine.result.terms();
    for check in &routine.checks {
        roots.push(check.ok);
        roots.extend(check.shown.iter().map(|s| s.1));
    }
    let new = lower::lower(g, &roots)?;
    let result = routine.result.with_terms(&mut routine.result.terms().iter().map(|t| new[t]));
    let mut checks = routine.checks.clone();
    checks.sort_by_key(|c| c.phase != Phase::Entry);
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
        entry: c.phase == Phase::Entry,
    };
    let check_terms: Vec<CheckTerms> = checks.iter().map(reads).collect();
    let plan = schedule::plan(g, &result.terms(), &check_terms)?;
    Ok(Prepared { checks, result, hints, plan })
}

/// One routine as a Rust function item.
///
/// # Errors
/// If a term stands where the emitter does not reach yet (loops with carried state, calls, builds).
pub fn emit_routine(g: &mut Graph, program: &Program, routine: &Routine) -> Result<TokenStream, String> {
    let Prepared { checks, result, hints, plan } = prepare(g, program, routine)?;
    let style = style(program);
    let driver = driver::Driver::new(g, program, &routine.params, &checks, &plan, &style, &hints);
    let body = driver.body(&result)?;
    let Program { vis, cfgs, generics, where_clause, .. } = program;
    let Routine { name, docs, params, result_ty, .. } = routine;
    let params = signature::declarations(params);
    let lints = signature::allowed_lints();
    Ok(quote! {
        #cfgs
        #(#[doc = #docs])*
        #lints
        #vis fn #name #generics (#params) -> #result_ty #where_clause {
            #body
        }
    })
}

/// The plan of a routine in words, for `AD_DUMP`.
///
/// # Errors
/// As [`emit_routine`].
pub fn describe(g: &mut Graph, program: &Program, routine: &Routine) -> Result<String, String> {
    let Prepared { checks, hints, plan, .. } = prepare(g, program, routine)?;
    let show = |t: &Term| {
        let node = match g.node(*t) {
            crate::ir::Node::Prim(prim, _) => prim.name(),
            crate::ir::Node::Gather { .. } => "gather".into(),
            crate::ir::Node::Scatter { .. } => "scatter".into(),
            crate::ir::Node::Cond { .. } => "cond".into(),
            node => format!("{node:?}"),
        };
        match hints.get(t) {
            Some(hint) => format!("%{} {hint}: {node}", t.index()),
            None => format!("%{}: {node}", t.index()),
        }
    };
    let mut text = String::new();
    for (k, step) in plan.steps.iter().enumerate() {
        let guard: Vec<String> =
            step.guard.iter().map(|(c, v)| format!("{}%{}", if *v { "" } else { "!" }, c.index())).collect();
        let guard = if guard.is_empty() { String::new() } else { format!(" if {}", guard.join(" && ")) };
        let what = match &step.work {
            Work::Check(c) => format!("check %{} ({})", checks[*c].ok.index(), checks[*c].message),
            Work::Scalar(t) => format!("let {}", show(t)),
            Work::Whole(t) => format!("store {}", show(t)),
            Work::Nest { domain, items } => {
                let sizes: Vec<String> = domain.iter().map(|n| format!("%{}", n.index())).collect();
                let items: Vec<String> = items.iter().map(show).collect();
                format!("loop over [{}]: {}", sizes.join(", "), items.join("; "))
            }
        };
        text.push_str(&format!("{k}{guard}: {what}\n"));
    }
    Ok(text)
}

/// How this program's tokens are written.
fn style(program: &Program) -> Style {
    Style { krate: program.options.krate.clone(), param: type_parameter(&program.generics) }
}

/// The type parameter among the generics: the first identifier after `<` or `,` that is no lifetime and no `const`.
fn type_parameter(generics: &TokenStream) -> Ident {
    let mut depth = 0_i32;
    let mut start = false;
    let mut lifetime = false;
    for token in generics.clone() {
        match &token {
            TokenTree::Punct(p) => {
                match p.as_char() {
                    '<' => depth += 1,
                    '>' => depth -= 1,
                    _ => {}
                }
                start = depth == 1 && matches!(p.as_char(), '<' | ',');
                lifetime = p.as_char() == '\'';
            }
            TokenTree::Ident(name) => {
                if start && name != "const" {
                    return name.clone();
                }
                start = start && lifetime;
            }
            _ => start = false,
        }
    }
    Ident::new("T", Span::call_site())
}
