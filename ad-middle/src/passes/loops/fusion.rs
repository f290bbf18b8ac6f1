//! Loop fusion. This pass fuses loops with the same trip count that only accumulate and that run
//! the same inner loop. Typically these are the function's loop and the derivative's, which repeats
//! the inner loop, or a part of it, and saves rows of it. The fused loop runs the inner loop once.
//! One loop may save a number in each iteration that the same iteration of the other one reads: the
//! fused loop saves nothing. Loops that only make rows are fused in the same way, and with loops
//! that accumulate: these are loops of checks, each of which repeats a search.
//!
//! This pass must never fuse loops that depend on each other or that have different guards, and
//! never change the order of a sum that a decision depends on.

mod inner_loops;

use std::collections::HashSet;

use super::exact_parts;
use super::inner_sums::accumulates;
use crate::passes::rewrite::Rewriter;
use crate::passes::trace;
use crate::passes::{Context, Pass};
use ad_ir::analysis::guards::{Guard, Guards, states_size};
use ad_ir::analysis::sizes::Fixed;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type};
use inner_loops::{Inputs, merge_inner_loops};

/// The pass.
///
/// ```text
/// for i { a += f(inner(i)) }  for i { b += g(inner(i), rows of inner(i)) }
///     becomes
/// for i { s, rows = inner(i); a += f(s); b += g(s, rows) }
/// ```
///
/// The second loop may read numbers that the first one saves, at the same iteration.
pub(crate) const PASS: Pass = Pass {
    name: "loop_fusion",
    rules: || vec!["loop_fusion"],
    run: |g, roots, cx| roots.map(|all| pass(g, all, cx)),
    simplified: true,
};

/// A loop that may be fused.
#[derive(Clone)]
struct Candidate {
    t: Term,
    scan: Scan,
}

/// The fused loop, and for each result of each loop its index in the results. `None` if nothing
/// reads it any more.
struct Fused {
    scan: Scan,
    parts: Vec<Vec<Option<usize>>>,
}

/// Loops with the same trip count and the same guards.
#[derive(Default)]
struct Group {
    accumulate: Vec<Candidate>,
    make_rows: Vec<Candidate>,
}

/// Fuses the loops, and returns the new roots.
fn pass(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let mut all = Vec::new();
    for group in groups(g, roots, cx) {
        all.extend(fused_loops(g, group, roots, cx));
    }
    let (mut new, mut any) = (Rewriter::new(&*cx.get::<Fixed>(g, roots)), false);
    for (group, Fused { scan, parts }) in all {
        let loc = g.loc(group[0].t);
        let old = g.at(loc);
        let why = || format!("({} loops with the same inner loop)", group.len());
        if choose(Kind::LoopFusion, (group[0].t.index(), group.len()), true, why) {
            let one = g.scan(scan);
            for (candidate, parts) in group.iter().zip(parts) {
                let parts: Vec<Term> = (0..).zip(parts).map(|(k, part)| result(g, candidate, (one, part), k)).collect();
                let parts = g.tuple(&parts);
                trace::fired("loop_fusion", candidate.t, &[parts]);
                new.set(candidate.t, parts);
                any = true;
            }
        }
        g.at(old);
    }
    if any { new.substitute(g, roots) } else { roots.to_vec() }
}

/// The fused loops of a group. Loops that make rows are fused with those that accumulate if that
/// leaves fewer inner loops: a check repeats the search of the function.
fn fused_loops(g: &mut Graph, group: Group, roots: &[Term], cx: &mut Context) -> Vec<(Vec<Candidate>, Fused)> {
    let Group { accumulate, make_rows } = group;
    let mut separate = 0;
    let mut alone = Vec::new();
    for part in [&accumulate, &make_rows] {
        let one = if part.len() > 1 { fused(g, part, roots, cx) } else { None };
        separate += match &one {
            Some(one) => inner_loops(g, &one.scan.body.results),
            None => part.iter().map(|candidate| inner_loops(g, &candidate.scan.body.results)).sum(),
        };
        alone.push(one);
    }
    if !accumulate.is_empty() && !make_rows.is_empty() {
        let whole: Vec<Candidate> = accumulate.iter().chain(&make_rows).cloned().collect();
        if let Some(one) = fused(g, &whole, roots, cx)
            && inner_loops(g, &one.scan.body.results) < separate
        {
            return vec![(whole, one)];
        }
    }
    let parts = [accumulate, make_rows].into_iter().zip(alone);
    parts.filter_map(|(part, one)| Some((part, one?))).collect()
}

/// Result `k` of a loop, which is this part of the fused loop. Zeros if nothing reads it.
fn result(g: &mut Graph, candidate: &Candidate, (one, part): (Term, Option<usize>), k: usize) -> Term {
    match part {
        Some(part) => g.proj(one, part),
        None => {
            let unread = g.proj(candidate.t, k);
            g.zeros_of_any(unread)
        }
    }
}

/// The loops that may be fused, by trip counts and guards.
fn groups(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Group> {
    let exact = cx.exact(g);
    let mut all: Vec<Candidate> = Vec::new();
    for t in g.reachable(roots) {
        if let Node::Scan(scan) = g.node(t) {
            let scan = (**scan).clone();
            if !g.is_open(t)
                && g.free(t).is_empty()
                && !g.has_checkpoints(&scan)
                && (only_makes_rows(g, &scan) || only_accumulates(g, t, &scan, &exact))
            {
                all.push(Candidate { t, scan });
            }
        }
    }
    if all.len() < 2 {
        return Vec::new();
    }
    let terms: HashSet<Term> = all.iter().map(|candidate| candidate.t).collect();
    let guards = cx.get::<Guards>(g, roots);
    let mut groups: Vec<((Term, Term), Group)> = Vec::new();
    // A loop is newer than those that it reads.
    for candidate in all {
        let count = candidate.scan.count;
        // A loop does nothing where it has no iterations, so that is no condition of it.
        let conditions = |t: Term| -> Vec<Guard> {
            let all = guards.get(&t).into_iter().flatten().copied();
            all.filter(|&(cond, holds)| states_size(g, cond) != Some((count, holds))).collect()
        };
        let same = |((first, other), _): &((Term, Term), Group)| {
            *other == count && conditions(*first) == conditions(candidate.t)
        };
        let at = groups.iter().position(same).unwrap_or_else(|| {
            groups.push(((candidate.t, count), Group::default()));
            groups.len() - 1
        });
        let group = &mut groups[at].1;
        let group = if candidate.scan.init.is_empty() { &mut group.make_rows } else { &mut group.accumulate };
        if is_independent(g, &terms, group, &candidate.scan) {
            group.push(candidate);
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Whether an iteration only accumulates into carried values, and runs inner loops. It may save
/// rows that do not depend on the carried values.
fn only_accumulates(g: &mut Graph, t: Term, scan: &Scan, exact: &HashSet<Term>) -> bool {
    let carries = scan.init.len();
    let numeric = exact_parts(g, exact, t).iter().take(carries).all(|exact| !exact);
    let tuples = scan.body.params.iter().any(|ty| matches!(ty, Type::Tuple(_)));
    carries > 0
        && numeric
        && !tuples
        && scan.stop.is_none()
        && inner_loops(g, &scan.body.results) > 0
        && (0..carries).all(|k| accumulates(g, scan, k))
}

/// Whether a loop carries nothing, and its iterations run inner loops.
fn only_makes_rows(g: &Graph, scan: &Scan) -> bool {
    scan.init.is_empty() && inner_loops(g, &scan.body.results) > 0
}

/// The number of loops that these terms contain. Recursion is over nested loops.
fn inner_loops(g: &Graph, results: &[Term]) -> usize {
    let own = |t: &Term| match g.node(*t) {
        Node::Scan(scan) => 1 + inner_loops(g, &scan.body.results),
        _ => 0,
    };
    g.reachable(results).iter().map(own).sum()
}

/// If a term is the numbers that one of these loops saves, one in each iteration: the loop, and the
/// result.
fn saved_numbers(g: &Graph, group: &[Candidate], x: Term) -> Option<(usize, usize)> {
    let Node::Proj(of, k) = *g.node(x) else { return None };
    let at = group.iter().position(|candidate| candidate.t == of)?;
    let k = k as usize;
    (k >= group[at].scan.init.len() && g.ty(x).as_array().is_some_and(|(_, shape)| shape.len() == 1)).then_some((at, k))
}

/// Whether a loop depends on no loop of `terms` in any other way than that an iteration reads
/// numbers that the same iteration of loops of the group saves.
fn is_independent(g: &Graph, terms: &HashSet<Term>, group: &[Candidate], scan: &Scan) -> bool {
    let rows = scan.xs.iter().copied().filter(|&x| saved_numbers(g, group, x).is_none());
    let inputs: Vec<Term> = scan.init.iter().chain(&*scan.captures).chain([&scan.count]).copied().chain(rows).collect();
    !g.reachable(&inputs).iter().any(|u| terms.contains(u))
}

/// The terms that the roots read otherwise than as rows of loops of the group.
fn read_elsewhere(g: &Graph, roots: &[Term], group: &[Candidate]) -> HashSet<Term> {
    let mut read: HashSet<Term> = roots.iter().copied().collect();
    for t in g.reachable(roots) {
        let inside = group.iter().any(|candidate| candidate.t == t);
        if !inside && !matches!(g.node(t), Node::Proj(..)) {
            g.node(t).for_each_child(|c| {
                read.insert(c);
            });
        }
    }
    read
}

/// The fused loop, with the carried values of all loops; `None` if it would not share an inner
/// loop.
fn fused(g: &mut Graph, group: &[Candidate], roots: &[Term], cx: &mut Context) -> Option<Fused> {
    let (mut init, mut types): (Vec<Term>, Vec<Type>) = Default::default();
    let (mut captures, mut xs) = (Inputs::default(), Inputs::default());
    for Candidate { scan, .. } in group {
        let (carries, rows) = (scan.init.len(), scan.init.len() + scan.captures.len());
        init.extend(&*scan.init);
        types.extend_from_slice(&scan.body.params[..carries]);
        captures.add_all(&scan.captures, &scan.body.params[carries..rows]);
        let read = scan.xs.iter().zip(&scan.body.params[rows..]);
        read.filter(|&(&x, _)| saved_numbers(g, group, x).is_none()).for_each(|(&x, ty)| xs.add(x, ty));
    }
    let (mut results, mut next): (Vec<Vec<Term>>, usize) = (Vec::new(), 0);
    for Candidate { scan, .. } in group {
        let own = next..next + scan.init.len();
        next = own.end;
        let mut args: Vec<Term> = own.map(|k| g.param(k, types[k].clone())).collect();
        for &t in &*scan.captures {
            args.push(captures.param(g, t, init.len())?);
        }
        for &x in &*scan.xs {
            args.push(match saved_numbers(g, group, x) {
                Some((of, k)) => *results.get(of)?.get(k)?,
                None => xs.param(g, x, init.len() + captures.terms.len())?,
            });
        }
        results.push(g.instantiate(&scan.body, &args));
    }
    // The carried values come first, and then the rows that are still read.
    let read = read_elsewhere(g, roots, group);
    let (mut carried, mut rows, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for (candidate, results) in group.iter().zip(&results) {
        let carries = candidate.scan.init.len();
        let mut own: Vec<Option<usize>> = (carried.len()..carried.len() + carries).map(Some).collect();
        carried.extend_from_slice(&results[..carries]);
        for (k, &row) in results.iter().enumerate().skip(carries) {
            let is_read = read.contains(&candidate.t) || read.contains(&g.proj(candidate.t, k));
            own.push(is_read.then_some(init.len() + rows.len()));
            rows.extend(is_read.then_some(row));
        }
        parts.push(own);
    }
    let results = [carried, rows].concat();
    // Equal inner loops are one term now.
    let separate: usize = group.iter().map(|candidate| inner_loops(g, &candidate.scan.body.results)).sum();
    let shared = inner_loops(g, &results) < separate;
    let results = merge_inner_loops(g, &results, cx).or_else(|| shared.then_some(results))?;
    // The order of iterations does not matter here, since no sum is exact.
    let params = types.into_iter().chain(captures.types).chain(xs.types).collect();
    let body = Body { params, results: results.into() };
    let (init, captures, xs) = (init.into(), captures.terms.into(), xs.terms.into());
    let scan = Scan { count: group[0].scan.count, reverse: false, stop: None, init, captures, xs, body };
    Some(Fused { scan, parts })
}
