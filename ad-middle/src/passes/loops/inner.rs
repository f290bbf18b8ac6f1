//! Inner loops that do not need the loop around them. A loop that is the same in each iteration of
//! an outer loop is computed once. A recurrence of scalars is moved out of an outer loop that also
//! computes arrays. The pass `loops` may then turn the rest of the outer loop into a bulk
//! operation.
//!
//! This pass must never move a loop out of an arm of a conditional, which may not be taken.

use ad_ir::sorted::{SortedMap, SortedSet};
use std::collections::{HashMap, HashSet};

use super::inner_sums::from_zero;
use crate::passes::rewrite::{Rewriter, with_rewritten_children};
use crate::passes::{Context, Pass};
use ad_ir::analysis::sizes::Fixed;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type};
use ad_ir::prim::{Cmp, Prim};

/// The pass.
///
/// | rule | before | after |
/// | --- | --- | --- |
/// | fixed | a loop in the body that reads nothing of the iteration | a capture, under the condition that there is an iteration |
/// | fixed inside | in an inner loop a loop that reads captures and rows which are the same in each outer iteration | rows that the inner loop consumes, which are fixed then |
/// | fixed functions | the same of a term with an expensive function in it | the same |
/// | functions of rows | in a recurrence, a number with an expensive function in it that reads rows and captures only | rows that the loop consumes |
/// | sums | an inner recurrence that also adds to a number that the outer loop carries | it adds up from zero, and the outer loop adds the result |
/// | beside arrays | an inner recurrence of scalars that reads no carried value of the outer loop, whose iterations also compute arrays with more axes | rows of a loop of its own |
pub(crate) const PASS: Pass = Pass {
    name: "inner_loops",
    rules: || vec!["inner_loops"],
    run: |g, roots, cx| {
        let exact = cx.exact(g);
        roots.map(|all| {
            let all = pass(g, all, (0, &exact), cx);
            recurrences(g, &all, false, cx)
        })
    },
    simplified: true,
};

/// The roots with rewritten loops. They are results of a body whose first `carries` parameters are
/// carried.
fn pass(g: &mut Graph, roots: &[Term], (carries, exact): (usize, &HashSet<Term>), cx: &mut Context) -> Vec<Term> {
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run(g, roots, |g, t, done| {
        let Node::Scan(mut scan) = with_rewritten_children(g, t, done) else { return None };
        let own = scan.init.len();
        scan.body.results = pass(g, &scan.body.results, (own, exact), cx).into();
        if is_plain(&scan) && !g.has_checkpoints(&scan) {
            fixed_inside(g, &mut scan);
            fixed(g, &mut scan);
            beside_arrays(g, &mut scan);
        }
        from_zero(g, &scan, (t, carries), exact).or_else(|| Some(g.scan(*scan)))
    })
}

/// Whether the loop never stops early, and all its parameters are arrays or scalars.
fn is_plain(scan: &Scan) -> bool {
    scan.stop.is_none() && !scan.body.params.iter().any(|ty| matches!(ty, Type::Tuple(_)))
}

/// The loops of a body outside of arms, each with its results that are read. A loop that is read as
/// a whole is left out.
fn inner(g: &Graph, results: &[Term]) -> SortedMap<Term, SortedSet<Term>> {
    let (mut seen, mut stack) = (HashSet::new(), results.to_vec());
    let mut found: SortedMap<Term, SortedSet<Term>> = SortedMap::new();
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        match g.node(t) {
            Node::Cond { cond, .. } => stack.push(*cond),
            Node::Scan(scan) if is_plain(scan) && g.free(t).is_empty() => {
                found.entry(t).or_default();
                g.node(t).for_each_child(|c| stack.push(c));
            }
            node => node.for_each_child(|c| stack.push(c)),
        }
    }
    // Parts that are read in arms count too.
    let mut whole = HashSet::new();
    for t in g.reachable(results) {
        match *g.node(t) {
            Node::Proj(of, _) => {
                if let Some(parts) = found.get_mut(&of) {
                    parts.insert(t);
                }
            }
            ref node => node.for_each_child(|c| {
                whole.insert(c);
            }),
        }
    }
    found.retain(|t, parts| !whole.contains(t) && !parts.is_empty());
    found
}

/// For each term: whether it depends on a parameter that satisfies `on`.
pub(super) fn depends(g: &Graph, roots: &[Term], on: impl Fn(usize) -> bool) -> HashMap<Term, bool> {
    let mut found: HashMap<Term, bool> = HashMap::new();
    for t in g.reachable(roots) {
        let mut any = matches!(g.node(t), Node::Param(k, _) if on(*k as usize));
        g.node(t).for_each_child(|c| any |= found[&c]);
        found.insert(t, any);
    }
    found
}

/// Whether a loop carries only numbers, and only their final values are read.
fn is_recurrence(g: &Graph, t: Term, parts: &SortedSet<Term>) -> bool {
    let Node::Scan(scan) = g.node(t) else { return false };
    let carried = |&part: &Term| matches!(g.node(part), Node::Proj(_, k) if (*k as usize) < scan.init.len());
    scan.init.iter().all(|&x| g.rank(x) == 0) && parts.iter().all(carried)
}

/// The argument of a parameter of a loop: a captured term, or the array whose rows the parameter
/// has.
fn argument(scan: &Scan, k: usize) -> Term {
    let (carries, captures) = (scan.init.len(), scan.captures.len());
    if k < carries + captures { scan.captures[k - carries] } else { scan.xs[k - carries - captures] }
}

/// A loop over the same steps that returns these terms of the body as rows. The terms read no
/// carried value.
fn rows(g: &mut Graph, scan: &Scan, terms: &[Term]) -> Vec<Term> {
    let first_row = scan.init.len() + scan.captures.len();
    let params = g.reachable(terms).into_iter();
    let used: SortedSet<usize> =
        params.filter_map(|t| if let Node::Param(k, _) = g.node(t) { Some(*k as usize) } else { None }).collect();
    let types = &scan.body.params;
    let mut args: Vec<Term> = (0..types.len()).map(|k| g.param(k, types[k].clone())).collect();
    for (new, &old) in used.iter().enumerate() {
        args[old] = g.param(new, types[old].clone());
    }
    let body = Body { params: types.clone(), results: terms.into() };
    let results = g.instantiate(&body, &args).into();
    let (xs, captures): (Vec<usize>, Vec<usize>) = used.iter().partition(|&&k| k >= first_row);
    let all = g.scan(Scan {
        count: scan.count,
        reverse: false,
        stop: None,
        init: [].into(),
        captures: captures.iter().map(|&k| argument(scan, k)).collect(),
        xs: xs.iter().map(|&k| argument(scan, k)).collect(),
        body: Body { params: used.iter().map(|&k| types[k].clone()).collect(), results },
    });
    (0..terms.len()).map(|k| g.proj(all, k)).collect()
}

/// Replaces these terms of the body by rows of these arrays.
pub(super) fn consume(g: &mut Graph, scan: &mut Scan, terms: &[Term], arrays: &[Term]) {
    let mut params = scan.body.params.to_vec();
    let mut new = Rewriter::default();
    for &t in terms {
        let ty = g.ty(t).clone();
        let row = g.param(params.len(), ty.clone());
        params.push(ty);
        new.set(t, row);
    }
    let results = new.substitute(g, &scan.body.results);
    scan.xs = scan.xs.iter().chain(arrays).copied().collect();
    scan.body = Body { params: params.into(), results: results.into() };
}

/// Replaces these terms of the body by captures of the terms `outside`.
fn capture(g: &mut Graph, scan: &mut Scan, terms: &[Term], outside: &[Term]) {
    let (first_row, total, more) = (scan.init.len() + scan.captures.len(), scan.body.params.len(), terms.len());
    let types: Vec<Type> = terms.iter().map(|&t| g.ty(t).clone()).collect();
    let mut new = Rewriter::default();
    for (k, &t) in terms.iter().enumerate() {
        let p = g.param(total + k, types[k].clone());
        new.set(t, p);
    }
    let results = new.substitute(g, &scan.body.results);
    let old: Vec<Type> = scan.body.params.iter().chain(&types).cloned().collect();
    let place = |k: usize| {
        if k < first_row {
            k
        } else if k < total {
            k + more
        } else {
            k - total + first_row
        }
    };
    let args: Vec<Term> = old.iter().enumerate().map(|(k, ty)| g.param(place(k), ty.clone())).collect();
    let results = g.instantiate(&Body { params: old.into(), results: results.into() }, &args);
    let (before, behind) = scan.body.params.split_at(first_row);
    let params: Vec<Type> = before.iter().chain(&types).chain(behind).cloned().collect();
    scan.captures = scan.captures.iter().chain(outside).copied().collect();
    scan.body = Body { params: params.into(), results: results.into() };
}

/// Loops and expensive functions in inner loops that are the same in each iteration of the outer
/// one.
fn fixed_inside(g: &mut Graph, scan: &mut Scan) {
    // An inner loop may read the results of another one, so they are rewritten one by one.
    while let Some(results) = one_fixed_inside(g, scan) {
        scan.body.results = results.into();
    }
}

/// The results of the body after one inner loop has been rewritten.
fn one_fixed_inside(g: &mut Graph, scan: &Scan) -> Option<Vec<Term>> {
    let results = scan.body.results.clone();
    let (carries, first_row) = (scan.init.len(), scan.init.len() + scan.captures.len());
    let varies = depends(g, &results, |k| k < carries || k >= first_row);
    for t in inner(g, &results).into_keys().filter(|t| varies[t]) {
        let Node::Scan(middle) = g.node(t).clone() else { continue };
        let mut middle = *middle;
        let own = middle.init.len();
        let found = inner(g, &middle.body.results);
        let open = depends(g, &middle.body.results, |_| true);
        let needs = depends(g, &middle.body.results, |k| k < own || varies[&argument(&middle, k)]);
        let mut parts: Vec<Term> = found
            .into_iter()
            .filter(|(t, parts)| open[t] && !needs[t] && is_recurrence(g, *t, parts))
            .flat_map(|(_, parts)| parts)
            .collect();
        if !varies[&middle.count] {
            parts.extend(fixed_functions(g, &middle.body.results, &open, &needs));
        }
        if parts.is_empty() {
            continue;
        }
        let arrays = rows(g, &middle, &parts);
        consume(g, &mut middle, &parts, &arrays);
        let middle = g.scan(middle);
        let mut new = Rewriter::default();
        new.set(t, middle);
        return Some(new.substitute(g, &results));
    }
    None
}

/// The largest numbers of a body that have expensive scalar functions in them, that need no value
/// which varies, and that are evaluated in each iteration. `open` tells which terms read a
/// parameter.
fn fixed_functions(
    g: &Graph,
    results: &[Term],
    open: &HashMap<Term, bool>,
    needs: &HashMap<Term, bool>,
) -> SortedSet<Term> {
    let mut expensive: HashMap<Term, bool> = HashMap::new();
    for t in g.reachable(results) {
        let mut any = match g.node(t) {
            Node::Prim(Prim::Call(_) | Prim::Onto(..) | Prim::Watched(_), _) => false,
            Node::Prim(prim, _) => g.rank(t) == 0 && prim.is_expensive(),
            _ => false,
        };
        g.node(t).for_each_child(|c| any |= expensive[&c]);
        expensive.insert(t, any);
    }
    let is_number = |t: Term| g.ty(t).as_array().is_some_and(|(elem, shape)| elem.is_real() && shape.is_empty());
    let (mut found, mut seen, mut stack) = (SortedSet::new(), HashSet::new(), results.to_vec());
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        let mut visit = |c: Term| {
            let fixed = !needs[&c] && open[&c] && expensive[&c];
            if fixed && is_number(c) && g.free(c).is_empty() {
                found.insert(c);
            } else if needs[&c] || fixed {
                stack.push(c);
            }
        };
        match g.node(t) {
            Node::Cond { cond, .. } => visit(*cond),
            node => node.for_each_child(visit),
        }
    }
    found
}

/// Loops in the body that are the same in each iteration.
fn fixed(g: &mut Graph, scan: &mut Scan) {
    let results = scan.body.results.clone();
    let (carries, first_row) = (scan.init.len(), scan.init.len() + scan.captures.len());
    let varies = depends(g, &results, |k| k < carries || k >= first_row);
    // A loop that reads no capture either may be part of a size, and sizes are not rewritten.
    let open = depends(g, &results, |_| true);
    let parts: Vec<Term> =
        inner(g, &results).into_iter().filter(|(t, _)| open[t] && !varies[t]).flat_map(|(_, parts)| parts).collect();
    if parts.is_empty() {
        return;
    }
    let captured = |k: usize| scan.captures.get(k.wrapping_sub(carries)).copied();
    let params = scan.body.params.clone();
    let args: Vec<Term> =
        (0..params.len()).map(|k| captured(k).unwrap_or_else(|| g.param(k, params[k].clone()))).collect();
    let outside = g.instantiate(&Body { params, results: parts.clone().into() }, &args);
    let none = g.lit_usize(0);
    let any = g.compare(Cmp::Lt, none, scan.count);
    let outside: Vec<Term> = outside
        .into_iter()
        .map(|t| {
            let nothing = g.zeros_of_any(t);
            g.cond(any, t, nothing)
        })
        .collect();
    capture(g, scan, &parts, &outside);
}

/// Recurrences of scalars in loops that also compute arrays.
fn beside_arrays(g: &mut Graph, scan: &mut Scan) {
    let results = scan.body.results.clone();
    let (carries, first_row) = (scan.init.len(), scan.init.len() + scan.captures.len());
    let carried = depends(g, &results, |k| k < carries);
    let of_step = depends(g, &results, |k| k >= first_row);
    let most = of_step.iter().filter(|(_, of_step)| **of_step).map(|(&t, _)| axes(g, t)).max().unwrap_or(0);
    let mut parts = Vec::new();
    for (t, own) in inner(g, &results) {
        if carried[&t] || !of_step[&t] || !is_recurrence(g, t, &own) {
            continue;
        }
        let why = || format!("(a recurrence of numbers beside arrays of {most} axes)");
        if choose(Kind::LoopDistribution, (t.index(), scan.count.index()), most > 1, why) {
            parts.extend(own);
        }
    }
    if !parts.is_empty() {
        let arrays = rows(g, scan, &parts);
        consume(g, scan, &parts, &arrays);
    }
}

/// The roots with [`functions_of_rows`] in all loops. This comes after [`pass`], since what is
/// fixed leaves the outer loops too.
fn recurrences(g: &mut Graph, roots: &[Term], inside: bool, cx: &mut Context) -> Vec<Term> {
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run(g, roots, |g, t, done| {
        let Node::Scan(mut scan) = with_rewritten_children(g, t, done) else { return None };
        scan.body.results = recurrences(g, &scan.body.results, true, cx).into();
        if is_plain(&scan) && !g.has_checkpoints(&scan) {
            functions_of_rows(g, &mut scan, inside);
        }
        Some(g.scan(*scan))
    })
}

/// Expensive functions in a recurrence that do not depend on its carried values. Outside of it they
/// are computed in whole vectors, and the reverse pass reads the same rows. An outer loop over
/// items is done in blocks, in which the functions are vectorised anyway. So in an outer loop only
/// functions of products leave, which become a product of matrices.
fn functions_of_rows(g: &mut Graph, scan: &mut Scan, inside: bool) {
    let results = scan.body.results.clone();
    let (carries, first_row) = (scan.init.len(), scan.init.len() + scan.captures.len());
    let carried = depends(g, &results, |k| k < carries);
    let of_step = depends(g, &results, |k| k >= first_row);
    let found = fixed_functions(g, &results, &of_step, &carried);
    let why = || "(a function of rows in a recurrence)".into();
    let moves = |t: &Term| {
        let parts = g.reachable(&[*t]);
        // An inner loop stays with what else reads it.
        let has_loop = parts.iter().any(|u| matches!(g.node(*u), Node::Scan(_)));
        let has_product = parts.iter().any(|u| matches!(g.node(*u), Node::Prim(Prim::Contract(_), _)));
        carries > 0
            && !has_loop
            && (!inside || has_product)
            && choose(Kind::LoopDistribution, (t.index(), first_row), true, why)
    };
    let parts: Vec<Term> = found.into_iter().filter(|t| moves(t)).collect();
    if !parts.is_empty() {
        let arrays = rows(g, scan, &parts);
        consume(g, scan, &parts, &arrays);
    }
}

/// The axes of an array that an iteration computes.
fn axes(g: &Graph, t: Term) -> usize {
    if matches!(g.node(t), Node::Param(..)) { 0 } else { g.ty(t).as_array().map_or(0, |(_, shape)| shape.len()) }
}
