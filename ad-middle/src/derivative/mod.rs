//! Composes each derivative from runs of differentiation. The composition is its *recipe*, which a
//! [`Descriptor`] names. This module has the parts that all derivatives share: roots, structure of
//! the result, the routine.
//!
//! This module must never hold a rule of differentiation or of simplification, and never run a
//! pass.

use std::collections::HashSet;
use std::vec::IntoIter;

use proc_macro2::Ident;

mod computed_again;
pub(crate) mod examples;
pub(crate) mod inner;
pub(crate) mod jacobian;
pub(crate) mod making;
pub(crate) mod pullback;
mod recipes;
mod reverse;
mod seeds;
pub mod sparsity;
pub mod split;

use self::jacobian::Block;
pub(crate) use self::making::{DerivativeBuilder, InnerPasses};
use crate::modes::Refusal;
use crate::passes::watch::Named as NamedResults;
use crate::passes::{CheckRoots, Roots};
use ad_ir::descriptor::{Descriptor, Further, Recipe, Structure};
use ad_ir::ir::{Loc, Term};
use ad_ir::program::{Check, Declared, Output, OutputTree, Param, Program, Routine, Tree};

/// The user's function in bulk operations, and its exact terms.
#[derive(Debug)]
pub struct Prepared {
    /// The front end's program; `result` and `checks` are build-free now.
    pub program: Program,
    /// The results that are not differentiated. If loops stop early, these are the results of the
    /// counting runs.
    pub(crate) plain: Vec<Term>,
    pub(crate) exact: HashSet<Term>,
    /// Whether the results and checks still have builds, so that the passes over the function run
    /// on each derivative.
    pub(crate) builds: bool,
    /// The place of a term that the mode does not support, and the reason. Then there is no
    /// derivative.
    pub refused: Option<(Loc, Refusal)>,
}

/// The result of a recipe: a derivative in terms, before any pass.
pub(crate) struct Terms {
    /// The function's results, as the routine returns them.
    pub(crate) values: Vec<Term>,
    /// The results as the derivative computes them, if these are other terms.
    pub(crate) differentiated: Vec<Term>,
    /// The leaves of the derivative.
    pub(crate) blocks: Vec<Block>,
}

/// A derivative after differentiation, before the passes.
pub(crate) struct DerivativeTerms {
    /// All roots: the function's results and checks, and the terms of the leaves.
    pub(crate) roots: Roots,
    blocks: Vec<Block>,
    declared: Vec<Declared>,
    params: Vec<Param>,
    checks: Vec<Check>,
    /// The destinations of the leaves, if they are not returned.
    destinations: Vec<Ident>,
}

/// The terms of one derivative. `between` runs the passes over a gradient that is differentiated
/// once more.
pub(crate) fn made(prepared: &mut Prepared, derivative: &Descriptor, between: &mut InnerPasses<'_>) -> DerivativeTerms {
    let mut making = DerivativeBuilder::new(prepared, derivative.further, between);
    let Terms { values, differentiated, blocks } = recipes::terms(derivative.recipe, &mut making);
    let (declared, params, checks, destinations) = making.finish();
    let derivatives = blocks.iter().flat_map(|b| &b.terms).copied().collect();
    let roots = Roots { values, differentiated, derivatives, checks: check_roots(&checks), ..Roots::default() };
    DerivativeTerms { roots, blocks, declared, params, checks, destinations }
}

/// The routine of a derivative, given its roots after the passes and its exact terms.
pub(crate) fn routine(
    prepared: &mut Prepared,
    derivative: &Descriptor,
    made: DerivativeTerms,
    roots: &Roots,
    exact: HashSet<Term>,
) -> Routine {
    let DerivativeTerms { blocks, declared, params, mut checks, destinations, .. } = made;
    let program = &mut prepared.program;
    set_checks(&mut checks, &roots.checks);
    let of_function = Roots { differentiated: Vec::new(), counting_runs: Vec::new(), ..roots.clone() }.function();
    let value = program.result.with_terms(&mut roots.values.iter().copied());
    let mut terms = roots.derivatives.iter().copied();
    let mut leaves = Vec::new();
    for block in blocks {
        let parts: Vec<Term> = (&mut terms).take(block.terms.len()).collect();
        leaves.push(block.assemble(&mut program.graph, &parts));
    }
    let derived = structure(program, derivative.returns, &value, leaves);
    let result = if derivative.with_value { OutputTree::Tuple(vec![value, derived]) } else { derived };
    Routine {
        result_ty: ad_ir::rust_types::tree_type(
            program,
            if destinations.is_empty() { &result } else { &program.result },
        ),
        name: name(program, derivative),
        docs: docs(program, derivative),
        result,
        fallible: program.fallible.clone(),
        declared,
        params,
        checks,
        workspace: program.workspace && !destinations.is_empty(),
        destinations,
        exact: Some(exact),
        onto: Vec::new(),
        of_function,
    }
}

/// A derivative in its structure, given its leaves. Parts that are not real are copied: those of a
/// parameter from the argument, those of the result from the value.
fn structure(program: &Program, returns: Structure, value: &OutputTree, leaves: Vec<Output>) -> OutputTree {
    let g = &program.graph;
    let result = match value {
        OutputTree::Tuple(parts) if program.aux => parts.first().unwrap_or(value),
        whole => whole,
    };
    let mut leaves = leaves.into_iter();
    let copy = |k: usize| {
        let Param { input, container, lens, role, .. } = &program.params[k];
        let term = input.and_then(|k| g.input(k));
        term.map(|term| Output { term, container: container.owned(), lens: lens.clone(), role: *role })
    };
    // For each real part of a parameter, a structure; and a copy of any other part.
    let mut of_parameter = |parts: &Tree<usize>, own: &mut dyn FnMut(&mut IntoIter<Output>) -> Option<OutputTree>| {
        parts.grafted(&mut |&k: &usize| {
            let part = if program.params[k].is_active() { own(&mut leaves) } else { copy(k).map(Tree::Leaf) };
            part.unwrap_or(Tree::Tuple(Vec::new()))
        })
    };
    let of_result = |leaves: &mut IntoIter<Output>| -> OutputTree {
        result.map(&mut |out| match g.elem(out.term).is_real() {
            true => leaves.next().unwrap_or_else(|| out.clone()),
            false => out.clone(),
        })
    };
    let wrt = program.wrt.iter().map(|&k| program.declared[k].parts.tree());
    let blocks = matches!(returns, Structure::Jacobian | Structure::Hessian | Structure::Examples);
    let wrt: Vec<Tree<usize>> = wrt.map(|tree| if blocks { tree.of_blocks() } else { tree }).collect();
    let each = |one: &mut dyn FnMut(&Tree<usize>) -> OutputTree| Tree::of_several(wrt.iter().map(one).collect());
    match returns {
        Structure::Result => of_result(&mut leaves),
        Structure::Gradient | Structure::Closure | Structure::Written | Structure::Examples => {
            each(&mut |parts| of_parameter(parts, &mut |leaves| leaves.next().map(Tree::Leaf)))
        }
        Structure::Sparse => Tree::Tuple(leaves.map(Tree::Leaf).collect()),
        Structure::Jacobian => {
            each(&mut |parts| of_parameter(parts, &mut |leaves| Some(of_result(leaves).of_blocks())))
        }
        Structure::Hessian => each(&mut |parts| {
            of_parameter(parts, &mut |leaves| {
                let inner = parts.grafted(&mut |&k: &usize| {
                    let real = program.params[k].is_active();
                    let part = if real { leaves.next() } else { copy(k) };
                    part.map_or(Tree::Tuple(Vec::new()), Tree::Leaf)
                });
                Some(inner)
            })
        }),
    }
}

/// The words for the results of a routine in messages.
pub(crate) fn named_results(program: &Program, derivative: &Descriptor, derivatives: usize) -> NamedResults {
    let active: Vec<&str> = program.active.iter().map(|&k| &*program.params[k].label).collect();
    let is_gradient = matches!(derivative.returns, Structure::Gradient | Structure::Closure | Structure::Written);
    let function = &program.name;
    let value = format!("the value of `{function}`");
    let words = |k: usize| match (derivative.returns, active.get(k)) {
        _ if derivative.recipe == Recipe::Value => value.clone(),
        (Structure::Gradient, _) if matches!(derivative.further, Further::Directions(_)) => {
            format!("the Hessian of `{function}` times the direction")
        }
        (_, Some(name)) if is_gradient && active.len() == derivatives => {
            format!("the gradient of `{function}` with respect to `{name}`")
        }
        (Structure::Result, _) if matches!(derivative.further, Further::Directions(_)) => {
            format!("the tangent of `{function}`")
        }
        (Structure::Result, _) => format!("the {} of `{function}`", derivative.suffix),
        (Structure::Jacobian | Structure::Sparse, _) => format!("the Jacobian of `{function}`"),
        (Structure::Hessian, _) => format!("the Hessian of `{function}`"),
        _ => format!("the gradient of `{function}`"),
    };
    let derivatives = (0..derivatives).map(words).collect();
    NamedResults { value, derivatives }
}

/// The name of the function that computes a derivative.
#[must_use]
pub fn name(program: &Program, derivative: &Descriptor) -> Ident {
    quote::format_ident!("{}_{}", program.stem, derivative.suffix, span = program.name.span())
}

/// The roots of checks.
pub(crate) fn check_roots(checks: &[Check]) -> Vec<CheckRoots> {
    checks.iter().map(|c| CheckRoots { ok: c.ok, shown: c.shown.iter().map(|s| s.1).collect() }).collect()
}

/// Puts these roots into the checks.
pub(crate) fn set_checks(checks: &mut [Check], roots: &[CheckRoots]) {
    for (check, new) in checks.iter_mut().zip(roots) {
        check.ok = new.ok;
        for (shown, &new) in check.shown.iter_mut().zip(&new.shown) {
            shown.1 = new;
        }
    }
}

/// The documentation of a derivative, one entry for each line.
fn docs(program: &Program, derivative: &Descriptor) -> Vec<String> {
    let link = program.link();
    let names = |of: &mut dyn Iterator<Item = &String>| of.map(|name| format!("`{name}`")).collect::<Vec<String>>();
    let active = names(&mut program.wrt.iter().map(|&k| &program.declared[k].label));
    let examples = names(&mut program.examples.iter().map(|&k| &program.params[k].label));
    let panics = format!("Where {link} does, and if the sizes of the arguments do not fit together.");
    vec![derivative.documentation(&link, &active, &examples), String::new(), "# Panics".into(), panics]
}
