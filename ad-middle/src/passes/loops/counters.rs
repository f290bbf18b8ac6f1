//! Counters: integers that a loop carries, and to which each step, or each step before a limit,
//! adds the same amount. The length of a `Vec` that a ragged loop pushes to is one, and so is `at`
//! in `p[at]` with `at += 1`. Before step `r` it is `initial value + amount * min(r, limit)`, which
//! needs no step before. So what is read or written there can leave the loop.
//!
//! This module must never accept an integer whose amount or limit may differ between steps.

use std::collections::HashMap;

use ad_ir::ir::{Body, Elem, Graph, Node, Scan, Term, Type};
use ad_ir::prim::{Cmp, IntOp, Prim};

use crate::passes::rewrite::Rewriter;
use crate::passes::trace;

/// How a counter changes in a step.
struct Counter {
    /// The index of the carried value.
    k: usize,
    /// What a step adds.
    amount: Term,
    /// The condition under which a step adds it, and the first step that does not.
    limit: Option<(Term, Term)>,
}

/// Writes the counters of a loop without the steps before. Returns the values after the loop, each
/// with the index of the carried value. No result of the loop reads these carried values any more.
pub(super) fn closed(g: &mut Graph, scan: &mut Scan) -> Vec<(usize, Term)> {
    if scan.reverse || scan.stop.is_some() || g.has_checkpoints(scan) || counted_by_other_loop(g, scan) {
        return Vec::new();
    }
    let found = counters(g, scan);
    if found.is_empty() {
        return Vec::new();
    }
    let begin: Vec<Term> = first_values(g, scan, &found.iter().map(|c| c.k).collect::<Vec<_>>());
    let step = step_params(g, scan).first().copied().unwrap_or_else(|| with_step(g, scan));
    // The new captures have changed the numbers of the parameters.
    let found = counters(g, scan);
    let mut last = Vec::new();
    for (c, begin) in found.iter().zip(begin) {
        replace(g, scan, c, step, begin);
        last.push((c.k, after(g, scan, c)));
    }
    last
}

/// Whether another loop finds the number of steps. Both are merged if they are alike, so both carry
/// the same.
fn counted_by_other_loop(g: &Graph, scan: &Scan) -> bool {
    g.reachable(&[scan.count]).into_iter().any(|t| matches!(g.node(t), Node::Scan(_)))
}

/// The parameters that are the number of the step.
fn step_params(g: &mut Graph, scan: &Scan) -> Vec<Term> {
    let first = scan.init.len() + scan.captures.len();
    let counts = |&k: &usize| matches!(g.node(scan.xs[k]), Node::Prim(Prim::Iota, _));
    let found: Vec<usize> = (0..scan.xs.len()).filter(counts).collect();
    found.into_iter().map(|k| g.param(first + k, Type::scalar(Elem::USIZE))).collect()
}

/// Adds the number of the step to what the loop consumes.
fn with_step(g: &mut Graph, scan: &mut Scan) -> Term {
    let (row, ty) = (g.iota(scan.count), Type::scalar(Elem::USIZE));
    scan.xs = scan.xs.iter().copied().chain([row]).collect();
    let step = g.param(scan.body.params.len(), ty.clone());
    scan.body.params = scan.body.params.iter().cloned().chain([ty]).collect();
    step
}

/// Whether a term of the body is the same in all steps.
pub(super) fn is_fixed(g: &Graph, scan: &Scan, t: Term) -> bool {
    let (carries, captures) = (scan.init.len(), scan.captures.len());
    g.reachable(&[t]).into_iter().all(|t| match *g.node(t) {
        Node::Param(k, _) => (carries..carries + captures).contains(&(k as usize)),
        _ => true,
    })
}

/// The counters among the carried values.
fn counters(g: &mut Graph, scan: &Scan) -> Vec<Counter> {
    let steps = step_params(g, scan);
    (0..scan.init.len()).filter_map(|k| counter(g, scan, k, &steps)).collect()
}

/// The carried value k, if it is a counter.
fn counter(g: &mut Graph, scan: &Scan, k: usize, steps: &[Term]) -> Option<Counter> {
    let own = (scan.body.params[k] == Type::scalar(Elem::USIZE)).then(|| g.param(k, Type::scalar(Elem::USIZE)))?;
    let next = scan.body.results[k];
    let (grown, limit) = match *g.node(next) {
        Node::Cond { cond, then, other } if other == own => {
            let Node::Prim(Prim::Compare(Cmp::Lt), sides) = g.node(cond) else { return None };
            if !steps.contains(&sides[0]) || !is_fixed(g, scan, sides[1]) {
                return None;
            }
            (then, Some((cond, sides[1])))
        }
        _ => (next, None),
    };
    let Node::Prim(Prim::Int(IntOp::Add), args) = g.node(grown) else { return None };
    let amount = match **args {
        [a, b] if a == own => b,
        [a, b] if b == own => a,
        _ => return None,
    };
    is_fixed(g, scan, amount).then_some(Counter { k, amount, limit })
}

/// The initial values of these carried values, as terms of the body: literals, or captures that are
/// added.
fn first_values(g: &mut Graph, scan: &mut Scan, of: &[usize]) -> Vec<Term> {
    let at = scan.init.len() + scan.captures.len();
    let is_literal = |g: &Graph, t: Term| matches!(g.node(t), Node::Lit(_));
    let new: Vec<Term> = of.iter().map(|&k| scan.init[k]).filter(|&t| !is_literal(g, t)).collect();
    let mut params = scan.body.params.to_vec();
    params.splice(at..at, new.iter().map(|_| Type::scalar(Elem::USIZE)));
    let args: Vec<Term> = (0..scan.body.params.len())
        .map(|k| g.param(if k < at { k } else { k + new.len() }, scan.body.params[k].clone()))
        .collect();
    if !new.is_empty() {
        let results = g.instantiate(&scan.body, &args).into();
        scan.body = Body { params: params.into(), results };
        scan.captures = scan.captures.iter().copied().chain(new).collect();
    }
    let mut next = at;
    let begins = |&k: &usize| {
        let begin = scan.init[k];
        if is_literal(g, begin) {
            return begin;
        }
        next += 1;
        g.param(next - 1, Type::scalar(Elem::USIZE))
    };
    of.iter().map(begins).collect()
}

/// `first + amount * steps`. Sums and products of `usize` saturate, so a sum of many steps that
/// overflows is the greatest number too.
fn value(g: &mut Graph, first: Term, amount: Term, steps: Term) -> Term {
    let all = if g.int_value(amount) == Some(1) { steps } else { g.int(IntOp::Mul, steps, amount) };
    if g.int_value(first) == Some(0) { all } else { g.int(IntOp::Add, first, all) }
}

/// Replaces a counter in all results of the loop. Its own result becomes the carried value.
fn replace(g: &mut Graph, scan: &mut Scan, c: &Counter, step: Term, first: Term) {
    let own = g.param(c.k, Type::scalar(Elem::USIZE));
    let before = value(g, first, c.amount, step);
    let mut results = scan.body.results.to_vec();
    results[c.k] = own;
    scan.body.results = match c.limit {
        None => g.replaced(&results, HashMap::from([(own, before)])).into(),
        Some((cond, limit)) => {
            let least = g.int(IntOp::Min, step, limit);
            let (any, after) = (value(g, first, c.amount, least), value(g, first, c.amount, limit));
            // Where the condition decides, the minimum is known.
            Rewriter::default()
                .run_named(g, &results, |g, t, _| match *g.node(t) {
                    _ if t == own => Some((None, any)),
                    Node::Cond { cond: of, then, other } if of == cond => {
                        let then = g.replaced(&[then], HashMap::from([(own, before)]))[0];
                        let other = g.replaced(&[other], HashMap::from([(own, after)]))[0];
                        Some((None, g.cond(cond, then, other)))
                    }
                    _ => None,
                })
                .into()
        }
    };
    scan.body.results[c.k] = own;
    trace::fired("loops.counters", own, &[before]);
}

/// The counter after the loop, as a term outside of it.
fn after(g: &mut Graph, scan: &Scan, c: &Counter) -> Term {
    let mut outside: Vec<Term> = scan.init.iter().chain(&scan.captures).copied().collect();
    for ty in &scan.body.params[outside.len()..] {
        outside.push(g.placeholder(ty.clone()));
    }
    let terms: Vec<Term> = [c.amount].into_iter().chain(c.limit.map(|l| l.1)).collect();
    let terms = g.instantiate(&Body { params: scan.body.params.clone(), results: terms.into() }, &outside);
    let steps = terms.get(1).map_or(scan.count, |&limit| g.int(IntOp::Min, scan.count, limit));
    value(g, scan.init[c.k], terms[0], steps)
}
