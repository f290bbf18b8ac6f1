//! What `AD_DUMP` and `AD_EXPLAIN` show of a routine: its plan in words, the choices by cost, the
//! notes of the driver, and for a page the generated code with the terms that its parts compute.
//!
//! All of it is written from a copy of the terms: new terms would change the order of those that
//! the routine gets when it is written. This module must never change the routine.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::quote;

use ad_ir::choice;
use ad_ir::ir::marked::{MarkedText, marked_all};
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::program::{Program, Routine};
use ad_middle::pipeline::Log;
use ad_middle::pipeline::explained::{RoutineFacts, Statement};

use super::calls::RecordAccess;
use super::facts::{self, Facts};
use super::marks;
use super::notes::Note;
use super::plan::{Plan, Work};
use super::rust::Style;
use super::store::Class;
use super::{PlannedRoutine, driver, numbered, parameters, prepare, returned, shown, style_of};

/// What `AD_DUMP` writes about a routine, except for its terms.
pub struct Description {
    /// The steps of the plan in words, one on each line.
    pub steps: String,
    /// The choices by cost.
    pub choices: String,
    /// What was decided while the statements were written that the results need, in their order.
    pub notes: Vec<Note>,
    /// What a page shows in addition, if one is asked for.
    page: Option<Page>,
}

/// What only a page shows.
struct Page {
    /// The steps, with the terms that each of them computes.
    steps: MarkedText,
    /// The code, with the terms that its statements compute.
    code: MarkedText,
    /// What each statement reads, computes and stores.
    statements: Vec<Statement>,
}

/// Records a routine for `AD_DUMP` and `AD_EXPLAIN`: its lowered terms, its plan in words, and all
/// choices by cost since `choice::record`, including those made while tokens are written.
pub fn describe(g: &Graph, program: &Program, routine: &Routine, log: &mut Log) {
    let (mut g, name) = (g.clone(), routine.name.to_string());
    match describe_routine(&mut g, program, routine, Some(log)) {
        Ok(Description { steps, choices, notes, page }) => {
            let notes = notes.iter().map(|note| format!("{note}\n")).collect();
            let (steps, page) = match page {
                Some(Page { steps, code, statements }) => (steps, Some((code, statements))),
                None => (MarkedText::plain(steps), None),
            };
            log.marked(&name, "schedule", steps, Some(&g));
            log.push(&name, "code", notes);
            log.push(&name, "choices by cost", choices);
            if let Some((code, statements)) = page {
                log.on_page(&name, "Rust", code, &g);
                let subject = log.subject.clone();
                let routine = RoutineFacts { subject, name, statements };
                if let Some(page) = &mut log.explained {
                    page.routines.push(routine);
                }
            }
        }
        Err(what) => {
            for (stage, text) in [("schedule", what), ("code", String::new()), ("choices by cost", String::new())] {
                log.push(&name, stage, text);
            }
        }
    }
}

/// The description of a routine.
///
/// # Errors
/// As [`super::emit_routine`].
pub fn describe_routine(
    g: &mut Graph,
    program: &Program,
    routine: &Routine,
    mut log: Option<&mut Log>,
) -> Result<Description, String> {
    let PlannedRoutine { checks, result, hints, plan, of_function } = prepare(g, program, routine, log.as_deref_mut())?;
    let on_page = log.is_some_and(|log| log.explained.is_some());
    let style = Style { marks: on_page, ..style_of(program, routine) };
    let (written, notes) = driver::Driver::new(g, program, routine, &checks, &plan, &style, &hints)
        .body(&result, &routine.destinations)?;
    let name = |k: usize| numbered(g, |t| hints.get(&t), k);
    let choices = choice::recorded(name);
    let marked = steps(g, &plan, &|t| shown(g, hints.get(&t), t), &|k| {
        format!("check %{} ({})", checks[k].ok.index(), checks[k].message)
    });
    let marked = MarkedText::of(&marked);
    let steps = marked.text.clone();
    let page = on_page.then(|| {
        let known = (!of_function.is_empty()).then(|| facts::reached(g, &plan, &of_function));
        let (params, results) = (&routine.params, result.terms());
        let constants = &program.constants;
        let facts = Facts { g, plan: &plan, hints: &hints, params, constants, of_function: known, results };
        let statements = facts.statements();
        Page { steps: marked, code: code(g, program, routine, (&plan, written)), statements }
    });
    Ok(Description { steps, choices, notes, page })
}

/// The code of the routine, without the code of the functions that it calls.
fn code(
    g: &Graph,
    program: &Program,
    routine: &Routine,
    (plan, [functions, body]): (&Plan, [TokenStream; 2]),
) -> MarkedText {
    let (params, returns) =
        (parameters(program, routine, &RecordAccess::Alone), returned(routine, &RecordAccess::Alone));
    let Program { generics, where_clause, .. } = program;
    let name = &routine.name;
    let item = quote!(fn #name #generics (#params) #returns #where_clause { #functions #body });
    let all: Vec<Term> = g.terms().collect();
    marks::formatted(item, &|k| all.get(k).map_or_else(Vec::new, |&t| computed(g, plan, [t])))
}

/// The terms that a statement with these results computes: it does not read them from memory.
pub(super) fn computed(g: &Graph, plan: &Plan, results: impl IntoIterator<Item = Term>) -> Vec<Term> {
    let mut stack: Vec<Term> = results.into_iter().collect();
    let mut seen: HashSet<Term> = stack.iter().copied().collect();
    while let Some(t) = stack.pop() {
        g.node(t).for_each_child(|c| {
            let constant = matches!(g.node(c), Node::Input(_) | Node::Size(..) | Node::Lit(_) | Node::Param(..));
            if !constant && plan.class(c) == Class::View && seen.insert(c) {
                stack.push(c);
            }
        });
    }
    let mut all: Vec<Term> = seen.into_iter().collect();
    all.sort_unstable();
    all
}

/// The steps in words, each between marks of the terms that it computes.
fn steps(g: &Graph, plan: &Plan, show: &dyn Fn(Term) -> String, message: &dyn Fn(usize) -> String) -> String {
    let mut text = String::new();
    // Bodies of loops are written below their loop, further to the right; an explicit stack of
    // (step, depth).
    let mut stack: Vec<(usize, usize)> = plan.order.iter().rev().map(|&k| (k, 0)).collect();
    while let Some((k, depth)) = stack.pop() {
        let step = &plan.steps[k];
        if let Some(tile) = plan.tiles.iter().find(|t| depth == 0 && plan.order.get(t.steps.start) == Some(&k)) {
            text.push_str(&driver::describe_block(g, plan, tile));
        }
        let guard: Vec<String> =
            step.guard.iter().map(|(c, v)| format!("{}%{}", if *v { "" } else { "!" }, c.index())).collect();
        let guard = if guard.is_empty() { String::new() } else { format!(" if {}", guard.join(" && ")) };
        let what = match &step.work {
            Work::Check(c) => message(*c),
            Work::Scalar(t) => format!("let {}", show(*t)),
            Work::Whole(t) => {
                let place = if plan.in_place.contains_key(t) { " in place" } else { "" };
                format!("store {}{place}", show(*t))
            }
            Work::Nest { domain, items } => {
                let sizes: Vec<String> = domain.iter().map(|n| format!("%{}", n.index())).collect();
                let shown: Vec<String> = items.iter().map(|&t| show(t)).collect();
                format!("loop over [{}]: {}", sizes.join(", "), shown.join("; "))
            }
            Work::Loop(n) => {
                let l = &plan.loops.all[*n];
                stack.extend(plan.bodies[*n].iter().rev().map(|&k| (k, depth + 1)));
                let carried: Vec<String> = l
                    .carries
                    .iter()
                    .map(|c| format!("%{} = %{} then %{}", c.last.index(), c.init.index(), c.next.index()))
                    .collect();
                let rows: Vec<String> =
                    l.rows.iter().map(|r| format!("%{} of %{}", r.all.index(), r.row.index())).collect();
                let order = if l.reverse { "from the last step" } else { "from the first step" };
                format!(
                    "%{} steps {order}: carried [{}], rows [{}]",
                    l.count.index(),
                    carried.join(", "),
                    rows.join(", ")
                )
            }
        };
        let line = format!("{k}{guard}: {what}");
        let terms = computed(g, plan, plan.results_of(k));
        let line = if terms.is_empty() { line } else { marked_all(&terms, &line) };
        text.push_str(&format!("{}{line}\n", "    ".repeat(depth)));
    }
    text
}
