//! The pipeline: which passes run, in which order. It must never hold a rewrite rule.
//!
//! ```text
//! source ──FUNCTION──▶ primal ──differentiation──▶ derivative ──GRADIENT, DERIVATIVE──▶ routine
//! ```
//!
//! If a pass asks for it, the simplifier runs after the pass. `AD_DUMP` writes the program after
//! each pass.

use ad_ir::sorted::SortedMap;
use std::collections::HashSet;

use crate::derivative::inner::{self as inner_derivatives, InnerPipeline};
use crate::derivative::{self, check_roots, set_checks};
use crate::modes::{self, Refusal};
use crate::passes::flatten::ListRows;
use crate::passes::loops::{
    self, accumulated, carried_scalars, final_reads, fusion, inner, rematerialise, ring_buffers, strip_mine, unrolled,
};
use crate::passes::lowering::LoweredGraph;
use crate::passes::manager::Manager;
use crate::passes::{Pass, Roots};
use crate::passes::{
    associate, bulk, checkpoints, filled, flatten, hoist, implied, pairs, push, searches, share, short_axes, simplify,
    trip_counts, unroll,
};
use ad_ir::analysis::decisions::Decisions;
use ad_ir::analysis::once;
use ad_ir::analysis::sizes::Sizes;
use ad_ir::descriptor::{Descriptor, Further, JVP, VJP};
use ad_ir::ir::{Graph, Loc, Term, valid};
use ad_ir::mode::Saving;
use ad_ir::prim::structural::Callee;
use ad_ir::prim::watch;
use ad_ir::program::{Compressed, Declared, Param, ParamTree, Program, RaggedPart, Routine, Staged};
use ad_ir::stage;

pub use crate::derivative::Prepared;
pub use crate::passes::{Log, explained};

/// The passes over the function itself.
const FUNCTION: &[Pass] = &[
    bulk::PASS,
    simplify::PASS,
    unrolled::PASS,
    inner::PASS,
    loops::PASS,
    flatten::PASS,
    short_axes::PASS,
    push::PASS,
    carried_scalars::PASS,
    unroll::PASS,
    ring_buffers::PASS,
    trip_counts::PASS,
    checkpoints::PASS,
];

/// The passes over a derivative that may be differentiated again.
const GRADIENT: &[Pass] = &[
    simplify::PASS,
    final_reads::PASS,
    loops::PASS,
    fusion::PASS,
    strip_mine::PASS,
    rematerialise::PASS,
    short_axes::PASS,
    carried_scalars::PASS,
    unroll::PASS,
];

/// The passes after those, over a derivative for which code is written.
const DERIVATIVE: &[Pass] = &[
    implied::PASS,
    filled::PASS,
    accumulated::PASS,
    share::PASS,
    associate::PASS,
    hoist::PASS,
    pairs::PASS,
    searches::PASS,
];

/// The lists of passes, by their names in ARCHITECTURE.md.
pub const LISTS: &[(&str, &[Pass])] = &[("FUNCTION", FUNCTION), ("GRADIENT", GRADIENT), ("DERIVATIVE", DERIVATIVE)];

/// The names of the stages that are not passes.
const SOURCE: &str = "source";
const INNER_DERIVATIVES: &str = "derivatives inside";
const DIFFERENTIATION: &str = "differentiation";
const RESULT: &str = "result";
const SAVED: &str = "what loops save";
const FIRED: &str = "rules that fired";
/// The names of programs in the log: the function itself, and a function that is differentiated
/// inside of it.
const FUNCTION_ITSELF: &str = "function";
const FUNCTION_INSIDE: &str = "function inside";
/// The two halves of a split routine.
const HALVES: [&str; 2] = ["split, first stage", "split, second stage"];

/// The stages of the function itself.
pub fn prepare(mut program: Program, mut log: Option<&mut Log>) -> Prepared {
    let g = &mut program.graph;
    let source = Roots { values: program.result.terms(), checks: check_roots(&program.checks), ..Roots::default() };
    Manager::new(FUNCTION_ITSELF, log.as_deref_mut(), &program.hints).record(g, SOURCE, &source);
    let mut passes = Inner { log: log.as_deref_mut(), hints: &program.hints };
    let lists = lists_of(g, &program.declared, &program.params);
    let (roots, taken) = inner_derivatives::replaced(g, program.mode, &source, &mut passes);
    let mut manager = Manager::new(FUNCTION_ITSELF, log, &program.hints);
    manager.cx.active = program.active.iter().filter_map(|&k| program.params[k].input).collect();
    manager.cx.lists = lists;
    manager.cx.square_root = program.saving == Saving::SquareRoot;
    if roots != source {
        manager.record(g, INNER_DERIVATIVES, &roots);
    }
    let with_builds = roots.clone();
    let roots = manager.run(g, FUNCTION, roots);
    manager.record(g, RESULT, &roots);
    let own = Roots { counting_runs: Vec::new(), ..roots.clone() };
    let exact = (*manager.cx.get::<Decisions>(g, &own.all())).clone();
    if modes::takes_builds(program.mode) {
        match prepared_with_builds(program, &with_builds, &roots, &exact) {
            Ok(mut prepared) => {
                prepared.refused = prepared.refused.or_else(|| inside(taken));
                log_own_form(&prepared, &mut manager);
                return prepared;
            }
            Err(given) => program = *given,
        }
    }
    program.result = program.result.with_terms(&mut roots.values.iter().copied());
    set_checks(&mut program.checks, &roots.checks);
    // A check that always holds is dropped.
    let g = &program.graph;
    program.checks.retain(|c| g.bool_value(c.ok) != Some(true));
    let plain = if roots.counting_runs.is_empty() { roots.values } else { roots.counting_runs };
    let refused = refused(&mut program).or_else(|| inside(taken));
    let prepared = Prepared { program, plain, exact, builds: false, refused };
    log_own_form(&prepared, &mut manager);
    prepared
}

/// The refusal of a derivative inside of the function, unless the mode takes all of them.
fn inside(taken: bool) -> Option<(Loc, Refusal)> {
    (!taken).then_some((Loc(0), Refusal::Derived))
}

/// The construct of a function that the mode does not support, and its place.
fn refused(program: &mut Program) -> Option<(Loc, Refusal)> {
    let roots = program.differentiated().terms();
    let wrt = wrt(program);
    let all = modes::refused(program.mode, &mut program.graph, &roots, &wrt);
    all.first().map(|&(t, why)| (program.graph.loc(t), why))
}

/// The inputs that derivatives are taken with respect to.
fn wrt(program: &Program) -> Vec<u32> {
    program.active.iter().filter_map(|&k| program.params[k].input).collect()
}

/// A function for an algorithm that works on terms with builds. Its derivatives get the passes over
/// the function; here these have only found which terms are exact, and which checks always hold.
///
/// If loops stop early, their steps have to be counted first. If a size is computed with a build,
/// the passes would change the size, and with it the type of a cotangent that the caller passes. In
/// both cases the program is returned as it was, and the algorithm works on what the passes make of
/// the function.
fn prepared_with_builds(
    mut program: Program,
    source: &Roots,
    after: &Roots,
    exact: &HashSet<Term>,
) -> Result<Prepared, Box<Program>> {
    let sizes = once::<Sizes>(&program.graph, &source.values);
    if sizes.iter().any(|&size| valid::normal_form(&program.graph, &[size]).is_err()) {
        return Err(Box::new(program));
    }
    let result = program.result.with_terms(&mut source.values.iter().copied());
    let before = std::mem::replace(&mut program.result, result);
    let refused = refused(&mut program);
    if matches!(refused, Some((_, Refusal::Stops))) {
        program.result = before;
        return Err(Box::new(program));
    }
    set_checks(&mut program.checks, &source.checks);
    let g = &program.graph;
    let mut holds = after.checks.iter().map(|c| g.bool_value(c.ok) == Some(true));
    program.checks.retain(|_| !holds.next().unwrap_or(false));
    Ok(Prepared { plain: program.result.terms(), program, exact: exact.clone(), builds: true, refused })
}

/// Logs the form that the mode gives the function.
fn log_own_form(prepared: &Prepared, manager: &mut Manager<'_>) {
    let program = &prepared.program;
    let roots = program.differentiated().terms();
    if manager.is_logged()
        // A log changes nothing, so the terms are made in another graph.
        && let Some((stage, text)) = modes::own_form(program.mode, &mut program.graph.clone(), &roots, &wrt(program))
    {
        manager.log_text(stage, &text);
    }
}

/// The passes over the function, for a derivative that still has builds. No loop of it stops early
/// and is differentiated, so none is counted.
fn without_builds(manager: &mut Manager<'_>, g: &mut Graph, roots: Roots, exact: &HashSet<Term>) -> Roots {
    let passes: Vec<Pass> = FUNCTION.iter().filter(|pass| pass.name != trip_counts::PASS.name).copied().collect();
    let roots = manager.run(g, &passes, roots);
    manager.cx.set_roots(&roots);
    manager.cx.set_extra_exact(exact);
    roots
}

/// The rows of the lists of `Vec`s in these parameters.
fn lists_of(g: &Graph, declared: &[Declared], params: &[Param]) -> Vec<ListRows> {
    let mut found = Vec::new();
    let mut stack: Vec<&ParamTree> = declared.iter().map(|p| &p.parts).collect();
    while let Some(tree) = stack.pop() {
        match tree {
            ParamTree::Leaf(_) => {}
            ParamTree::Tuple { parts, .. } => stack.extend(parts),
            ParamTree::List { element: inner, .. } | ParamTree::Defined { inner, .. } => stack.push(inner),
            ParamTree::Ragged(of, parts) => {
                let part = |wanted: RaggedPart| {
                    let at = of.parts().position(|part| part == wanted)?;
                    let ParamTree::Leaf(k) = parts.get(at)? else { return None };
                    g.input(params[*k].input?)
                };
                let all = [RaggedPart::Elements, RaggedPart::Starts, RaggedPart::Sizes(0), RaggedPart::Most(0)];
                if let [Some(elements), Some(starts), Some(lens), Some(most)] = all.map(part)
                    && of.rank == 1
                {
                    found.push(ListRows { elements, starts, lens, most });
                }
            }
        }
    }
    found
}

/// The passes over a function that is differentiated inside of another one.
struct Inner<'l, 'p> {
    log: Option<&'l mut Log>,
    hints: &'p SortedMap<Term, String>,
}

impl InnerPipeline for Inner<'_, '_> {
    fn function(
        &mut self,
        g: &mut Graph,
        results: Vec<Term>,
        (active, in_loop): (&[u32], bool),
    ) -> (Vec<Term>, HashSet<Term>) {
        let mut manager = Manager::new(FUNCTION_INSIDE, self.log.as_deref_mut(), self.hints);
        manager.cx.active = active.to_vec();
        let for_loop = |pass: &Pass| if pass.name == trip_counts::PASS.name { trip_counts::BOUNDED } else { *pass };
        let passes: Vec<Pass> = FUNCTION.iter().map(|pass| if in_loop { for_loop(pass) } else { *pass }).collect();
        let roots = manager.run(g, &passes, Roots::of_values(&results));
        let own = Roots { counting_runs: Vec::new(), ..roots.clone() };
        let exact = (*manager.cx.get::<Decisions>(g, &own.all())).clone();
        (roots.values, exact)
    }

    fn gradient(&mut self, g: &mut Graph, exact: &HashSet<Term>, roots: Roots) -> Roots {
        let mut manager = Manager::new(FUNCTION_INSIDE, self.log.as_deref_mut(), self.hints);
        stage::enter(DIFFERENTIATION);
        manager.validate(g, DIFFERENTIATION, &roots);
        manager.record(g, DIFFERENTIATION, &roots);
        manager.cx.set_extra_exact(exact);
        manager.run(g, GRADIENT, roots)
    }
}

/// The passes over a derivative. If its terms are watched, steps of loops keep their numbers. If it
/// is split into two stages, its loops stay apart: a loop that reads a cotangent cannot compute the
/// value.
fn gradient_passes(is_split: bool) -> Vec<Pass> {
    let kept = |pass: &&Pass| {
        (!watch::is_on() || pass.name != strip_mine::PASS.name) && (!is_split || pass.name != fusion::PASS.name)
    };
    GRADIENT.iter().filter(kept).copied().collect()
}

/// The stages of one derivative.
pub fn derive(prepared: &mut Prepared, which: &Descriptor, log: Option<&mut Log>) -> Routine {
    derived(prepared, (which, false), log)
}

/// [`derive`], and whether the derivative will be split into two stages.
fn derived(prepared: &mut Prepared, (which, is_split): (&Descriptor, bool), log: Option<&mut Log>) -> Routine {
    let mut manager = Manager::new(which.suffix, log, &prepared.program.hints);
    stage::enter(DIFFERENTIATION);
    let (given, builds) = (prepared.exact.clone(), prepared.builds);
    if builds {
        manager.cx.lists = lists_of(&prepared.program.graph, &prepared.program.declared, &prepared.program.params);
    }
    let made = derivative::made(prepared, which, &mut |g, mut roots| {
        if builds {
            roots = without_builds(&mut manager, g, roots, &given);
        }
        manager.cx.set_extra_exact(&given);
        manager.run(g, &gradient_passes(is_split), roots)
    });
    let g = &mut prepared.program.graph;
    let mut roots = made.roots.clone();
    manager.record(g, DIFFERENTIATION, &roots);
    if builds {
        roots = without_builds(&mut manager, g, roots, &given);
    } else {
        manager.validate(g, DIFFERENTIATION, &roots);
    }
    manager.cx.set_extra_exact(&given);
    let roots = manager.run(g, &gradient_passes(is_split), roots);
    let mut roots = manager.run(g, DERIVATIVE, roots);
    if watch::is_on() {
        let named = derivative::named_results(&prepared.program, which, roots.derivatives.len());
        roots = manager.watch(&mut prepared.program.graph, &roots, &named);
    }
    let g = &mut prepared.program.graph;
    manager.record(g, RESULT, &roots);
    manager.record_saved_rows(g, SAVED, &roots);
    let exact = (*manager.cx.exact(g)).clone();
    let fired = format!("{:?}", manager.cx.fired);
    manager.log_text(FIRED, &fired);
    derivative::routine(prepared, which, made, &roots, exact)
}

/// The last stage of a routine: brings its terms into the form from which the emitter writes
/// statements.
///
/// # Errors
/// A text that names a term that cannot be emitted (a build).
pub fn lower(
    g: &mut Graph,
    program: &Program,
    routine: &Routine,
    log: Option<&mut Log>,
) -> Result<LoweredGraph, String> {
    stage::enter("lowering");
    let roots = routine.roots();
    let mut lowered =
        Manager::lower(g, &roots, routine.exact.as_ref(), (&routine.name.to_string(), &program.hints), log)?;
    let arrays = routine.result.terms().into_iter().filter(|&t| g.rank(t) > 0);
    let onto: Vec<(Term, Term)> =
        routine.onto.iter().zip(arrays).filter_map(|(&k, t)| Some((g.input(k)?, t))).collect();
    lowered.update_caller(g, &onto);
    stage::enter("the emitter");
    Ok(lowered)
}

/// The sparse Jacobian: its pattern, and the products that its elements are read from.
pub fn compressed(prepared: &mut Prepared, sparse: &Descriptor, mut log: Option<&mut Log>) -> Compressed {
    let mut part = |which, name: &str| {
        let routine = derive(prepared, which, log.as_deref_mut());
        Routine { name: proc_macro2::Ident::new(name, routine.name.span()), ..routine }
    };
    let by_rows = part(&VJP, "by_rows_");
    let by_columns = part(&JVP, "by_columns_");
    let pattern = part(sparse, "pattern_");
    Compressed { name: derivative::name(&prepared.program, sparse), pattern, by_columns, by_rows }
}

/// The pullback: the `vjp`, split at its cotangent.
pub fn pullback(prepared: &mut Prepared, which: &Descriptor, mut log: Option<&mut Log>) -> Staged {
    let whole = derived(prepared, (&VJP, true), log.as_deref_mut());
    stage::enter("splitting");
    let staged = derivative::pullback::pullback(&mut prepared.program, which, whole);
    split(&prepared.program, which.suffix, &staged, log);
    staged
}

/// The halves of a called function: its `vjp` or `jvp`, split at the parameters that it has in
/// addition.
pub(crate) fn halves(
    prepared: &mut Prepared,
    (which, active, passed): (&Descriptor, &[u32], &[u32]),
    mut log: Option<&mut Log>,
) -> Staged {
    let whole = derived(prepared, (which, true), log.as_deref_mut());
    stage::enter("splitting");
    let program = &mut prepared.program;
    let rank = active.first().and_then(|&k| program.params.get(k as usize)).map_or(0, |p| usize::from(p.rank));
    let adds = which.further == Further::Cotangent && Callee::adds(active, rank);
    let staged = derivative::pullback::halves(program, whole, passed, adds);
    split(program, which.suffix, &staged, log);
    staged
}

/// Validates the two halves in debug builds, and logs them.
fn split(program: &Program, subject: &str, staged: &Staged, mut log: Option<&mut Log>) {
    let g = &program.graph;
    for (half, routine) in HALVES.iter().zip([&staged.first, &staged.second]) {
        let roots = routine.roots();
        if cfg!(debug_assertions)
            && let Err(errors) = valid::final_form(g, &roots)
        {
            panic!("{subject}, after {half}: {errors:?}");
        }
        if let Some(log) = log.as_deref_mut() {
            log.terms(subject, half, g, (&roots, &program.hints));
        }
    }
}
