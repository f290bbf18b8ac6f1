//! How each derivative is composed of runs of differentiation: its *recipe*, which a [`Descriptor`]
//! names. This module has the parts that all derivatives share: roots, structure of the result, the
//! routine.
//!
//! This module must never hold a rule of differentiation or of simplification, and never run a
//! pass.

use std::collections::HashSet;

use proc_macro2::Ident;

pub(crate) mod examples;
pub(crate) mod jacobian;
pub(crate) mod making;
pub(crate) mod pullback;
mod recipes;
mod seeds;

use self::jacobian::Block;
pub(crate) use self::making::{DerivativeBuilder, InnerPasses};
use crate::passes::{CheckRoots, Roots};
use ad_ir::descriptor::{Descriptor, Structure};
use ad_ir::ir::Term;
use ad_ir::program::{Check, OutputTree, Param, Program, Routine};

/// The user's function in bulk operations, and its exact terms.
#[derive(Debug)]
pub struct Prepared {
    /// The front end's program; `result` and `checks` are build-free now.
    pub program: Program,
    /// The results of which no derivative is taken. If loops stop early, these are the results of
    /// the counting runs.
    pub(crate) plain: Vec<Term>,
    pub(crate) exact: HashSet<Term>,
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
pub(crate) struct Made {
    /// All roots: the function's results and checks, and the terms of the leaves.
    pub(crate) roots: Roots,
    blocks: Vec<Block>,
    params: Vec<Param>,
    checks: Vec<Check>,
    /// The destinations of the leaves, if they are not returned.
    destinations: Vec<Ident>,
}

/// The terms of one derivative. `between` runs the passes over a gradient that is differentiated
/// once more.
pub(crate) fn made(prepared: &mut Prepared, derivative: &Descriptor, between: &mut InnerPasses<'_>) -> Made {
    let mut making = DerivativeBuilder::new(prepared, derivative.further, between);
    let Terms { values, differentiated, blocks } = recipes::terms(derivative.recipe, &mut making);
    let (params, checks, destinations) = making.finish();
    let derivatives = blocks.iter().flat_map(|b| &b.terms).copied().collect();
    let roots = Roots { values, differentiated, derivatives, checks: check_roots(&checks), ..Roots::default() };
    Made { roots, blocks, params, checks, destinations }
}

/// The routine of a derivative, given its roots after the passes and its exact terms.
pub(crate) fn routine(
    prepared: &mut Prepared,
    derivative: &Descriptor,
    made: Made,
    roots: &Roots,
    exact: HashSet<Term>,
) -> Routine {
    let Made { blocks, params, mut checks, destinations, .. } = made;
    let program = &mut prepared.program;
    set_checks(&mut checks, &roots.checks);
    let value = program.result.with_terms(&mut roots.values.iter().copied());
    let mut terms = roots.derivatives.iter().copied();
    let mut leaves = Vec::new();
    for block in blocks {
        let parts: Vec<Term> = (&mut terms).take(block.terms.len()).collect();
        leaves.push(OutputTree::Leaf(block.assemble(&mut program.graph, &parts)));
    }
    let derived = if derivative.returns == Structure::Result {
        let terms: Vec<Term> = leaves.iter().flat_map(OutputTree::terms).collect();
        program.result.with_terms(&mut terms.into_iter())
    } else if leaves.len() == 1 {
        leaves.remove(0)
    } else {
        OutputTree::Tuple(leaves)
    };
    let result = if derivative.with_value { OutputTree::Tuple(vec![value, derived]) } else { derived };
    Routine {
        result_ty: ad_ir::rust_types::tree_type(
            program,
            if destinations.is_empty() { &result } else { &program.result },
        ),
        name: quote::format_ident!("{}_{}", program.name, derivative.suffix, span = program.name.span()),
        docs: docs(program, derivative),
        result,
        params,
        checks,
        workspace: program.workspace && !destinations.is_empty(),
        destinations,
        exact: Some(exact),
    }
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
    let f = program.name.to_string();
    let names = |of: &[usize]| of.iter().map(|&k| format!("`{}`", program.params[k].name)).collect::<Vec<String>>();
    let (active, examples) = (names(&program.active), names(&program.examples));
    let panics = format!("Where [`{f}`] does, and if the sizes of the arguments do not fit together.");
    vec![derivative.documentation(&f, &active, &examples), String::new(), "# Panics".into(), panics]
}
