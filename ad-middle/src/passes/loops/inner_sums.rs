//! Sums that an inner loop continues. A number that an outer loop carries is increased by an inner
//! loop, which carries other values beside it (`loss += e(h)` in a recurrence of `h`). The inner
//! loop adds up from zero, and the outer one adds the result. Then the outer loop only accumulates,
//! and the inner loop reads nothing that the outer one carries.
//!
//! This module must never change the order of a sum that a decision depends on.

use std::collections::{HashMap, HashSet};

use super::exact_parts;
use ad_ir::ir::{Graph, Node, Put, Scan, Term, Type};
use ad_ir::prim::{Binary, Prim};

/// The results of a loop in the body of another one, whose first `carries` parameters are carried:
/// a sum that continues a carried number begins with zero. `None` if there is no such sum. `old` is
/// the loop before its children were rewritten.
pub(super) fn from_zero(
    g: &mut Graph,
    scan: &Scan,
    (old, carries): (Term, usize),
    exact: &HashSet<Term>,
) -> Option<Term> {
    // A loop that only adds to one number is a sum over all iterations of both loops
    // (`nested_sums`).
    if scan.init.len() < 2 {
        return None;
    }
    let exact = exact_parts(g, exact, old);
    let continues = |g: &Graph, k: usize| {
        let init = scan.init[k];
        matches!(g.ty(init), Type::Array(elem, shape) if shape.is_empty() && elem.is_real())
            && exact.get(k) == Some(&false)
            && g.reachable(&[init]).iter().any(|t| matches!(g.node(*t), Node::Param(k, _) if (*k as usize) < carries))
            && accumulates(g, scan, k)
    };
    let sums: Vec<usize> = (0..scan.init.len()).filter(|&k| continues(g, k)).collect();
    if sums.is_empty() {
        return None;
    }
    let mut new = scan.clone();
    for &k in &sums {
        new.init[k] = g.zeros_of_any(scan.init[k]);
    }
    let new = g.scan(new);
    let parts: Vec<Term> = (0..scan.body.results.len())
        .map(|k| {
            let own = g.proj(new, k);
            if sums.contains(&k) { g.add(scan.init[k], own) } else { own }
        })
        .collect();
    Some(g.tuple(&parts))
}

/// Whether a loop only adds to a value that it carries, or to elements of it, and reads it for
/// nothing else.
pub(super) fn accumulates(g: &Graph, scan: &Scan, k: usize) -> bool {
    let results = &scan.body.results;
    let reads = reads(g, results, k);
    if results.iter().enumerate().any(|(n, t)| n != k && reads[t]) {
        return false;
    }
    // Conditions share the sums of their arms, so each term is looked at once.
    let (mut stack, mut seen) = (vec![results[k]], HashSet::new());
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        // The only operand that may read the number.
        let mut only = |of: Term, others: &[Term]| {
            stack.push(of);
            !others.iter().any(|t| reads[t])
        };
        let fits = match g.node(t) {
            Node::Param(p, _) => *p as usize == k,
            Node::Prim(Prim::Binary(Binary::Add), args) if reads[&args[1]] => only(args[1], &args[..1]),
            Node::Prim(Prim::Binary(Binary::Add | Binary::Sub), args) => only(args[0], &args[1..]),
            Node::Cond { cond, then, other } => only(*then, &[*cond]) && only(*other, &[]),
            Node::Scatter { put: Put::Add, dst, src, index, .. } => only(*dst, &[&index[..], &[*src]].concat()),
            Node::Proj(of, n) => match g.node(*of) {
                Node::Scan(inner) if (*n as usize) < inner.init.len() => {
                    let n = *n as usize;
                    let rest = inner.captures.iter().chain(&*inner.xs).chain([&inner.count]);
                    let rest: Vec<Term> =
                        inner.init[..n].iter().chain(&inner.init[n + 1..]).chain(rest).copied().collect();
                    only(inner.init[n], &rest) && accumulates(g, inner, n)
                }
                _ => false,
            },
            _ => false,
        };
        if !fits {
            return false;
        }
    }
    true
}

/// For each term: whether it reads parameter k. A result of an inner loop reads what it is computed
/// from, which may be less than the loop reads.
fn reads(g: &Graph, roots: &[Term], k: usize) -> HashMap<Term, bool> {
    let mut found: HashMap<Term, bool> = HashMap::new();
    for t in g.reachable(roots) {
        let mut any = matches!(g.node(t), Node::Param(p, _) if *p as usize == k);
        match g.node(t) {
            Node::Proj(of, n) if found[of] && matches!(g.node(*of), Node::Scan(_)) => {
                if let Node::Scan(inner) = g.node(*of) {
                    any |= inputs_of(g, inner, *n as usize).iter().any(|t| found[t]);
                }
            }
            node => node.for_each_child(|c| any |= found[&c]),
        }
        found.insert(t, any);
    }
    found
}

/// The arguments of a loop from which a result is computed.
fn inputs_of(g: &Graph, scan: &Scan, result: usize) -> Vec<Term> {
    let carries = scan.init.len();
    let arguments: Vec<Term> = scan.init.iter().chain(&*scan.captures).chain(&*scan.xs).copied().collect();
    let (mut params, mut results) = (HashSet::new(), vec![result]);
    results.extend(scan.stop);
    while let Some(n) = results.pop() {
        for t in g.reachable(&[scan.body.results[n]]) {
            if let Node::Param(p, _) = g.node(t) {
                let p = *p as usize;
                if params.insert(p) && p < carries {
                    results.push(p);
                }
            }
        }
    }
    let initial = (result < carries).then_some(result);
    params.into_iter().chain(initial).map(|p| arguments[p]).chain([scan.count]).collect()
}
