//! Full unrolling: a loop of few steps, whose number is a literal, becomes straight-line code, if
//! that is less work, or if it is little code that computes scalars only. It is less work if the
//! number of a step decides its effect: which element of an array it changes, which arm it takes,
//! whether an inner loop has a step. The steps are unrolled on trial and simplified, with exact
//! rules only. The operations that are left are compared with those of the loop.
//!
//! This pass must never make code that grows faster than the program: [`MAX_OPERATIONS`] bounds the
//! code that replaces a loop.

use std::collections::HashSet;

use crate::passes::rewrite::{Rewriter, with_rewritten_children};
use crate::passes::simplify::simplify_exactly;
use crate::passes::unroll::{in_steps, small_sizes};
use crate::passes::{Context, Pass};
use ad_ir::analysis::sizes::Fixed;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type, Var};
use ad_ir::prim::Prim;

/// The maximum number of steps of a loop that is unrolled.
const MAX_STEPS: usize = 4;
/// The maximum number of operations in the code of all steps, before it is simplified.
const MAX_OPERATIONS: usize = 2048;
/// The number of steps assumed for a loop, and the size assumed for an axis, if it is not a small
/// literal.
const ASSUMED_STEPS: usize = 16;
/// A loop is unrolled if at most one in [`MIN_REDUCTION`] operations is left.
const MIN_REDUCTION: usize = 2;
/// A loop over scalars is unrolled if its steps have at most this many operations.
const MAX_SCALAR_OPERATIONS: usize = 256;

/// The pass. The rule *table* is applied where builds are eliminated: `i + 1` is a slice, and
/// `i + table[k]` is not.
///
/// | rule | before | after |
/// | --- | --- | --- |
/// | known capture | a capture that is a literal | the literal, in the body |
/// | no step | a loop that has stopped before its first step | the initial values |
/// | one step | a loop that always stops after its first step | the step |
/// | full unrolling | a loop of a literal number of steps | its steps, one after the other |
/// | table | a loop or a build over a list of integer literals, such as the distances of neighbours | its steps, one after the other |
pub(crate) const PASS: Pass = Pass {
    name: "full_unrolling",
    rules: || vec!["full_unrolling"],
    run: |g, roots, cx| roots.map(|all| pass(g, all, &cx.get::<Fixed>(g, all), cx)),
    simplified: true,
};

/// The roots with loops replaced, outer loops first.
fn pass(g: &mut Graph, roots: &[Term], fixed: &HashSet<Term>, cx: &mut Context) -> Vec<Term> {
    Rewriter::new(fixed).run(g, roots, |g, t, done| {
        let Node::Scan(scan) = with_rewritten_children(g, t, done) else { return None };
        let mut scan = *scan;
        known_captures(g, &mut scan);
        if let Some(results) = at_most_one_step(g, &scan).or_else(|| unrolled(g, t, &scan, cx)) {
            return Some(g.tuple(&results));
        }
        scan.body.results = pass(g, &scan.body.results, fixed, cx).into();
        Some(g.scan(scan))
    })
}

/// Puts captures that are literals into the body.
fn known_captures(g: &mut Graph, scan: &mut Scan) {
    let carries = scan.init.len();
    let known = |g: &Graph, k: usize| {
        let captured = k.checked_sub(carries).and_then(|k| scan.captures.get(k))?;
        matches!(g.node(*captured), Node::Lit(_)).then_some(*captured)
    };
    let of: Vec<Option<Term>> = (0..scan.body.params.len()).map(|k| known(g, k)).collect();
    if of.iter().all(Option::is_none) {
        return;
    }
    let (mut args, mut params) = (Vec::new(), Vec::new());
    for (known, ty) in of.iter().zip(&scan.body.params) {
        args.push(known.unwrap_or_else(|| g.param(params.len(), ty.clone())));
        if known.is_none() {
            params.push(ty.clone());
        }
    }
    let results = g.instantiate(&scan.body, &args);
    let results = simplify_exactly(g, &results).into();
    scan.captures = scan.captures.iter().copied().filter(|&t| !matches!(g.node(t), Node::Lit(_))).collect();
    scan.body = Body { params: params.into(), results };
}

/// The results of a loop that makes no rows, and that has no step or only one.
fn at_most_one_step(g: &mut Graph, scan: &Scan) -> Option<Vec<Term>> {
    let stop = scan.stop?;
    if !scan.xs.is_empty() || scan.body.results.len() > scan.init.len() {
        return None;
    }
    match g.bool_value(scan.init[stop]) {
        Some(true) => return Some(scan.init.to_vec()),
        Some(false) if g.int_value(scan.count).is_some_and(|n| n > 0) => {}
        _ => return None,
    }
    let args: Vec<Term> = scan.init.iter().chain(&scan.captures).copied().collect();
    let ends = Body { params: scan.body.params.clone(), results: [scan.body.results[stop]].into() };
    let ends = g.instantiate(&ends, &args);
    let ends = simplify_exactly(g, &ends);
    (g.bool_value(ends[0]) == Some(true)).then(|| g.instantiate(&scan.body, &args))
}

/// The results of a loop by its steps one after the other, if that is less work.
fn unrolled(g: &mut Graph, t: Term, scan: &Scan, cx: &mut Context) -> Option<Vec<Term>> {
    let count = usize::try_from(g.int_value(scan.count)?).ok().filter(|n| (1..=MAX_STEPS).contains(n))?;
    let has_tuples = scan.body.params.iter().any(|ty| matches!(ty, Type::Tuple(_)));
    let large = count.saturating_mul(work(g, &scan.body.results, 1)) > MAX_OPERATIONS;
    if scan.stop.is_some() || has_tuples || large {
        return None;
    }
    let (all, operands) = steps(g, scan, count);
    let steps = &all.results;
    let sizes = cx.get::<Fixed>(g, steps);
    let steps = pass(g, steps, &sizes, cx);
    let steps = in_steps(g, &steps);
    let results = simplify_exactly(g, &steps);
    let before = count.saturating_mul(work(g, &scan.body.results, ASSUMED_STEPS));
    let after = work(g, &results, ASSUMED_STEPS);
    let why = || format!("({before} operations in its steps, {after} one after the other)");
    let short = after <= MAX_SCALAR_OPERATIONS && of_scalars(g, &results);
    choose(Kind::Unrolling, (t.index(), count), MIN_REDUCTION * after <= before || short, why)
        .then(|| g.instantiate(&Body { results: results.into(), ..all }, &operands))
}

/// The maximum number of steps of a loop over a table of literals, and of operations in all steps.
const MAX_ROWS: usize = 8;
const MAX_TABLE_OPERATIONS: usize = 512;

/// The results of a loop over a list of integer literals, by its steps one after the other.
pub(crate) fn over_table(g: &mut Graph, scan: &Scan) -> Option<Vec<Term>> {
    let count = few_rows(g, scan.count, &scan.body.results)?;
    let has_tuples = scan.body.params.iter().any(|ty| matches!(ty, Type::Tuple(_)));
    if scan.stop.is_some() || has_tuples || !scan.xs.iter().any(|&x| is_table(g, x)) {
        return None;
    }
    let (all, operands) = steps(g, scan, count);
    Some(g.instantiate(&all, &operands))
}

/// The elements of a build whose body reads a list of integer literals at its index.
pub(crate) fn elements_over_table(g: &mut Graph, size: Term, (var, body): (Var, Term)) -> Option<Term> {
    let count = few_rows(g, size, &[body])?;
    let reads = |t: &Term| match g.node(*t) {
        Node::Gather { src, vars, index, .. } => {
            let own = matches!(&**index, &[ix] if matches!(*g.node(ix), Node::Var(v) if v == var));
            vars.is_empty() && own && is_table(g, *src)
        }
        _ => false,
    };
    if !g.reachable(&[body]).iter().any(reads) {
        return None;
    }
    let rows: Vec<Term> = (0..count)
        .map(|k| {
            let k = g.lit_usize(k);
            let row = g.subst_vars(body, &[(var, k)]);
            simplify_exactly(g, &[row])[0]
        })
        .collect();
    Some(g.stack(&rows))
}

/// The number of rows, if they are few, and few operations compute all of them.
fn few_rows(g: &Graph, count: Term, results: &[Term]) -> Option<usize> {
    let count = usize::try_from(g.int_value(count)?).ok().filter(|n| (1..=MAX_ROWS).contains(n))?;
    (count.saturating_mul(work(g, results, 1)) <= MAX_TABLE_OPERATIONS).then_some(count)
}

/// Whether an array is a list of integer literals.
fn is_table(g: &Graph, t: Term) -> bool {
    match g.node(t) {
        Node::Prim(Prim::Stack, rows) => rows.iter().all(|&row| g.int_value(row).is_some()),
        _ => false,
    }
}

/// The results after all steps, simplified, and the operands of the loop. The operands are
/// parameters of the results, so that no term outside of the loop is counted or rewritten.
fn steps(g: &mut Graph, scan: &Scan, count: usize) -> (Body, Vec<Term>) {
    let operands: Vec<Term> = scan.init.iter().chain(&scan.captures).chain(&scan.xs).copied().collect();
    let params: Box<[Type]> = operands.iter().map(|&t| g.ty(t).clone()).collect();
    let own: Vec<Term> = params.iter().enumerate().map(|(k, ty)| g.param(k, ty.clone())).collect();
    let carries = scan.init.len();
    let (mut carried, rest) = (own[..carries].to_vec(), &own[carries..]);
    let (captures, arrays) = rest.split_at(scan.captures.len());
    let mut rows = vec![Vec::new(); scan.body.results.len() - carries];
    for k in 0..count {
        let number = if scan.reverse { count - 1 - k } else { k };
        let step = g.lit_usize(number);
        let mut args: Vec<Term> = carried.iter().chain(captures).copied().collect();
        for (&x, &own) in scan.xs.iter().zip(arrays) {
            let row = match g.node(x) {
                Node::Prim(Prim::Iota, _) => step,
                Node::Prim(Prim::Stack, rows) if is_table(g, x) => rows[number],
                _ => g.index(own, &[step]),
            };
            args.push(row);
        }
        let results = g.instantiate(&scan.body, &args);
        carried = results[..carries].to_vec();
        rows.iter_mut().zip(&results[carries..]).for_each(|(rows, &row)| rows.push(row));
    }
    for mut rows in rows {
        if scan.reverse {
            rows.reverse();
        }
        carried.push(g.stack(&rows));
    }
    let results = simplify_exactly(g, &carried).into();
    (Body { params, results }, operands)
}

/// Whether these terms are computed from scalars and small arrays only. Large arrays are read by
/// element.
fn of_scalars(g: &Graph, roots: &[Term]) -> bool {
    g.reachable(roots).into_iter().all(|t| match g.node(t) {
        Node::Param(..) | Node::Input(_) => true,
        Node::Scan(_) => false,
        _ => small_sizes(g, t).is_some(),
    })
}

/// The number of operations that compute these terms. Each term counts once for each of its
/// elements and for each step of the loops around it. An unknown number counts as `unknown`.
fn work(g: &Graph, roots: &[Term], unknown: usize) -> usize {
    let often = |n: Term| {
        let known = g.int_value(n).and_then(|n| usize::try_from(n).ok());
        known.filter(|&n| n <= MAX_STEPS).unwrap_or(unknown)
    };
    let of = |t: Term| match g.node(t) {
        Node::Scan(scan) => often(scan.count).saturating_mul(work(g, &scan.body.results, unknown)),
        Node::Cond { .. } | Node::Prim(..) | Node::Gather { .. } | Node::Scatter { .. } => {
            let shape = g.ty(t).as_array().map_or(&[][..], |(_, shape)| shape);
            shape.iter().fold(1, |all: usize, &n| all.saturating_mul(often(n)))
        }
        _ => 0,
    };
    g.reachable(roots).into_iter().fold(0, |all, t| all.saturating_add(of(t)))
}
