//! Loop fusion. This pass fuses loops with the same trip count that only accumulate and that run
//! the same inner loop. Typically these are the function's loop and the derivative's, which repeats
//! the inner loop and saves rows of it. The fused loop runs the inner loop once. Loops that only
//! make rows are fused in the same way: these are loops of checks, each of which repeats a search.
//!
//! This pass must never fuse loops that depend on each other or that have different guards, and
//! never change the order of a sum that a decision depends on.

use std::collections::HashSet;

use super::{Distribution, exact_parts};
use crate::passes::rewrite::Rewriter;
use crate::passes::trace;
use crate::passes::{Context, Pass};
use ad_ir::analysis::guards::Guards;
use ad_ir::analysis::sizes::Fixed;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type};

/// The pass.
///
/// ```text
/// for i { a += f(inner(i)) }  for i { b += g(inner(i), rows of inner(i)) }
///     becomes
/// for i { s, rows = inner(i); a += f(s); b += g(s, rows) }
/// ```
pub(crate) const PASS: Pass = Pass {
    name: "loop_fusion",
    rules: || vec!["loop_fusion"],
    run: |g, roots, cx| roots.map(|all| pass(g, all, cx)),
    simplified: true,
};

/// Fuses the loops, and returns the new roots.
fn pass(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let exact = cx.exact(g);
    let mut all: Vec<(Term, Scan)> = Vec::new();
    for t in g.reachable(roots) {
        if let Node::Scan(scan) = g.node(t) {
            let scan = (**scan).clone();
            if !g.is_open(t)
                && g.free(t).is_empty()
                && !g.has_checkpoints(&scan)
                && (only_makes_rows(g, &scan) || only_accumulates(g, t, &scan, &exact))
            {
                all.push((t, scan));
            }
        }
    }
    keep_independent(g, &mut all);
    if all.len() < 2 {
        return roots.to_vec();
    }
    let guards = cx.get::<Guards>(g, roots);
    let mut groups: Vec<Vec<(Term, Scan)>> = Vec::new();
    for (t, scan) in all {
        let same_loop = |of: &&mut Vec<(Term, Scan)>| {
            let (first, other) = &of[0];
            let alike = other.count == scan.count && other.init.is_empty() == scan.init.is_empty();
            alike && guards.get(first) == guards.get(&t)
        };
        match groups.iter_mut().find(same_loop) {
            Some(group) => group.push((t, scan)),
            None => groups.push(vec![(t, scan)]),
        }
    }
    let (mut new, mut any) = (Rewriter::new(&*cx.get::<Fixed>(g, roots)), false);
    for group in groups.into_iter().filter(|group| group.len() > 1) {
        let loc = g.loc(group[0].0);
        let old = g.at(loc);
        let why = || format!("({} loops with the same inner loop)", group.len());
        if let Some(scan) = fused(g, &group, cx)
            && choose(Kind::LoopFusion, (group[0].0.index(), group.len()), true, why)
        {
            let one = g.scan(scan);
            let mut next = 0;
            for (t, scan) in &group {
                let parts: Vec<Term> = (next..next + scan.body.results.len()).map(|k| g.proj(one, k)).collect();
                next += parts.len();
                let parts = g.tuple(&parts);
                trace::fired("loop_fusion", *t, &[parts]);
                new.set(*t, parts);
                any = true;
            }
        }
        g.at(old);
    }
    if any { new.substitute(g, roots) } else { roots.to_vec() }
}

/// Whether an iteration only accumulates into carried values, and computes the summands with inner
/// loops over scalars.
fn only_accumulates(g: &mut Graph, t: Term, scan: &Scan, exact: &HashSet<Term>) -> bool {
    let flags = exact_parts(g, exact, t);
    let tuples = scan.body.params.iter().any(|ty| matches!(ty, Type::Tuple(_)));
    if tuples || flags.is_empty() || flags.contains(&true) {
        return false;
    }
    let wanted = vec![true; flags.len()];
    let mut parts = Distribution::new(g, scan.clone(), (flags, wanted), &[]);
    parts.added().is_some_and(|added| parts.has_scalar_loops(&added.concat()))
}

/// Whether a loop carries nothing, and its iterations run inner loops.
fn only_makes_rows(g: &Graph, scan: &Scan) -> bool {
    scan.init.is_empty() && inner_loops(g, &scan.body.results) > 0
}

fn inner_loops(g: &Graph, results: &[Term]) -> usize {
    g.reachable(results).iter().filter(|t| matches!(g.node(**t), Node::Scan(_))).count()
}

/// Keeps the loops that do not depend on another loop of the list.
fn keep_independent(g: &Graph, all: &mut Vec<(Term, Scan)>) {
    let terms: HashSet<Term> = all.iter().map(|(t, _)| *t).collect();
    all.retain(|(_, scan)| {
        let inputs: Vec<Term> =
            scan.init.iter().chain(&*scan.captures).chain(&*scan.xs).chain([&scan.count]).copied().collect();
        !g.reachable(&inputs).iter().any(|u| terms.contains(u))
    });
}

/// The fused loop, with the carried values of all loops; `None` if it would not share an inner
/// loop.
fn fused(g: &mut Graph, group: &[(Term, Scan)], cx: &mut Context) -> Option<Scan> {
    let (mut init, mut captures, mut xs): (Vec<Term>, Vec<Term>, Vec<Term>) = Default::default();
    let add = |list: &mut Vec<Term>, t: Term| {
        if !list.contains(&t) {
            list.push(t);
        }
    };
    for (_, scan) in group {
        init.extend(&*scan.init);
        scan.captures.iter().for_each(|&t| add(&mut captures, t));
        scan.xs.iter().for_each(|&t| add(&mut xs, t));
    }
    let mut params: Vec<Type> = Vec::new();
    for (_, scan) in group {
        params.extend_from_slice(&scan.body.params[..scan.init.len()]);
    }
    let type_of = |list: &[Term], own: fn(&Scan) -> &[Term], first: fn(&Scan) -> usize| -> Option<Vec<Type>> {
        let of = |t: &Term| {
            group.iter().find_map(|(_, s)| {
                let k = own(s).iter().position(|u| u == t)?;
                Some(s.body.params[first(s) + k].clone())
            })
        };
        list.iter().map(of).collect()
    };
    params.extend(type_of(&captures, |s| &s.captures, |s| s.init.len())?);
    params.extend(type_of(&xs, |s| &s.xs, |s| s.init.len() + s.captures.len())?);
    let (mut results, mut next) = (Vec::new(), 0);
    for (_, scan) in group {
        let place = |list: &[Term], t: &Term| list.iter().position(|u| u == t);
        let mut args: Vec<usize> = (next..next + scan.init.len()).collect();
        for t in &*scan.captures {
            args.push(init.len() + place(&captures, t)?);
        }
        for t in &*scan.xs {
            args.push(init.len() + captures.len() + place(&xs, t)?);
        }
        let args: Vec<Term> = args.into_iter().map(|k| g.param(k, params[k].clone())).collect();
        results.extend(g.instantiate(&scan.body, &args));
        next += scan.init.len();
    }
    // Equal inner loops are one term now.
    let separate: usize = group.iter().map(|(_, scan)| inner_loops(g, &scan.body.results)).sum();
    let shared = inner_loops(g, &results) < separate;
    let results = merge_inner_loops(g, &results, cx).or_else(|| shared.then_some(results))?;
    // The order of iterations does not matter here, since no sum is exact.
    let body = Body { params: params.into(), results: results.into() };
    let (init, captures, xs) = (init.into(), captures.into(), xs.into());
    Some(Scan { count: group[0].1.count, reverse: false, stop: None, init, captures, xs, body })
}

/// Merges inner loops with the same trip count that differ only in the rows that they save; `None`
/// if there are none.
fn merge_inner_loops(g: &mut Graph, results: &[Term], cx: &mut Context) -> Option<Vec<Term>> {
    let mut all: Vec<(Term, Scan)> = Vec::new();
    for t in g.reachable(results) {
        if let Node::Scan(scan) = g.node(t) {
            all.push((t, (**scan).clone()));
        }
    }
    keep_independent(g, &mut all);
    let steps = |s: &Scan| {
        let carried: Vec<Term> = s.body.results[..s.init.len()].to_vec();
        (s.count, s.reverse, s.stop, s.init.clone(), s.captures.clone(), s.xs.clone(), s.body.params.clone(), carried)
    };
    let mut groups: Vec<Vec<(Term, Scan)>> = Vec::new();
    for (t, scan) in all {
        match groups.iter_mut().find(|of| steps(&of[0].1) == steps(&scan)) {
            Some(group) => group.push((t, scan)),
            None => groups.push(vec![(t, scan)]),
        }
    }
    groups.retain(|group| group.len() > 1);
    if groups.is_empty() {
        return None;
    }
    let mut new = Rewriter::new(&*cx.get::<Fixed>(g, results));
    for group in groups {
        let mut one = group[0].1.clone();
        let mut saved: Vec<Term> = one.body.results.to_vec();
        let carries = one.init.len();
        for (_, scan) in &group[1..] {
            for &row in &scan.body.results[carries..] {
                if !saved[carries..].contains(&row) {
                    saved.push(row);
                }
            }
        }
        one.body.results = saved.clone().into();
        let one = g.scan(one);
        for (t, scan) in &group {
            let mut parts: Vec<Term> = (0..carries).map(|k| g.proj(one, k)).collect();
            for row in &scan.body.results[carries..] {
                let k = saved[carries..].iter().position(|r| r == row)?;
                parts.push(g.proj(one, carries + k));
            }
            let parts = g.tuple(&parts);
            new.set(*t, parts);
        }
    }
    Some(new.substitute(g, results))
}
