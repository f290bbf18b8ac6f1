//! Loops over the indices after that of the enclosing loop, as `for j in i + 1..n`. Such a loop
//! takes its steps from the end: `j = n - 1 - r` instead of `j = i + 1 + r`. Then the element of a
//! step does not depend on `i`, only the number of steps does. So what all pairs add to an element
//! is a sum over `i`, and not a scatter of a value for each pair. The rule applies only if the
//! whole loop is then distributed.
//!
//! This module must never change which elements a loop visits. It must never change the order of
//! steps that read what other steps have written, that look for an extremum, or whose sums a
//! decision depends on.

use std::collections::{HashMap, HashSet};

use super::bulk;
use ad_ir::analysis::Analyses;
use ad_ir::analysis::bounds::bound;
use ad_ir::analysis::range::Facts;
use ad_ir::ir::{Elem, Graph, Node, Put, Scan, Term, Type};
use ad_ir::prim::{Binary, IntOp, Prim};

/// The distributed loop with its steps from the end. `around` is the number of values that the loop
/// around it carries.
///
/// ```text
/// scan (n - 1) .. (\.. r -> if r < n - (i + 1) { acc + f (i + 1 + r) } else { acc })
///     becomes
/// scan (n - 1) .. (\.. r -> if r < n - (i + 1) { acc + f (n - 1 - r) } else { acc })
/// ```
pub(crate) fn distributed(g: &mut Graph, scan: &Scan, around: usize, wanted: &[bool]) -> Option<Term> {
    let turned = turned(g, scan, around)?;
    let before: Vec<Term> = scan.init.iter().chain(&scan.captures).copied().collect();
    let before: HashSet<Term> = g.reachable(&before).into_iter().collect();
    let free = vec![false; scan.body.results.len()];
    let made = bulk(g, turned, &free, wanted, &[]);
    let remains = |t: &Term| matches!(g.node(*t), Node::Scan(_)) && !before.contains(t);
    (!g.reachable(&[made]).iter().any(remains)).then_some(made)
}

/// The loop with its steps from the end. The loop must run up to the end (`n` in the example), so
/// its count must be at least the number of steps that have an effect. A loop that reads what the
/// enclosing loop carries stays as it is, since the enclosing loop then remains, and its steps read
/// parts of rows.
fn turned(g: &mut Graph, scan: &Scan, around: usize) -> Option<Scan> {
    let carries = scan.init.len();
    let [steps] = *scan.xs else { return None };
    let counts = matches!(g.node(steps), Node::Prim(Prim::Iota, _));
    if !counts || scan.stop.is_some() || !only_adds(g, scan) {
        return None;
    }
    let captured = |g: &Graph, t: Term| match g.node(t) {
        Node::Param(k, _) => (*k as usize).checked_sub(carries).and_then(|k| scan.captures.get(k)).copied(),
        _ => None,
    };
    let first = |t: &Term| matches!(g.node(*t), Node::Param(k, _) if (*k as usize) < around);
    if g.reachable(&scan.captures).iter().any(first) {
        return None;
    }
    let step = g.param(carries + scan.captures.len(), Type::scalar(Elem::USIZE));
    let bound = bound(g, scan, &mut Analyses::default())?;
    let (condition, limit) = (bound.literal.0, bound.limit(g));
    let len = captured(g, limit)?;
    // All other uses of the number of the step are the index `start + r`.
    let mut index: Option<(Term, Term)> = None;
    for t in g.reachable(&scan.body.results) {
        let mut uses = false;
        g.node(t).for_each_child(|c| uses |= c == step);
        if !uses || t == condition {
            continue;
        }
        let Node::Prim(Prim::Int(IntOp::Add), args) = g.node(t) else { return None };
        let start = captured(g, if args[0] == step { args[1] } else { args[0] })?;
        if index.replace((t, start)).is_some_and(|before| before != (t, start)) {
            return None;
        }
    }
    let (index, start) = index?;
    let Node::Prim(Prim::Int(IntOp::Sub), args) = g.node(len) else { return None };
    let (end, closed) = (args[0], |t: &Term| !matches!(g.node(*t), Node::Param(..) | Node::Var(_)));
    if args[1] != start || !g.reachable(&[end]).iter().all(closed) || g.is_open(end) {
        return None;
    }
    let least = least(g, start);
    let most = g.int(IntOp::Sub, end, least);
    if !Facts::new().prove_le(g, most, scan.count) {
        return None;
    }
    let one = g.lit_usize(1);
    let last = g.int(IntOp::Sub, end, one);
    let from_end = g.int(IntOp::Sub, last, step);
    let mut turned = scan.clone();
    turned.body.results = g.replaced(&scan.body.results, HashMap::from([(index, from_end)])).into();
    Some(turned)
}

/// A number that is not greater than an index: the literal that is added in it, or else 0.
fn least(g: &mut Graph, index: Term) -> Term {
    let literal = match g.node(index) {
        Node::Prim(Prim::Int(IntOp::Add), args) => args.iter().copied().find(|&t| g.int_value(t).is_some()),
        _ => None,
    };
    literal.unwrap_or_else(|| g.lit_usize(0))
}

/// Whether all that the steps do is add to what they carry. Then their order is free.
fn only_adds(g: &Graph, scan: &Scan) -> bool {
    let carries = scan.init.len();
    // The carried values, and these with something added.
    let mut sums: HashSet<Term> = HashSet::new();
    for t in g.reachable(&scan.body.results) {
        let is_sum = |t: &Term| sums.contains(t);
        let node = g.node(t);
        let mut reads = false;
        node.for_each_child(|c| reads |= is_sum(&c));
        let sum = match node {
            Node::Param(k, _) => (*k as usize) < carries,
            _ if !reads => false,
            Node::Prim(Prim::Binary(Binary::Add), args) => is_sum(&args[0]) != is_sum(&args[1]),
            Node::Prim(Prim::Binary(Binary::Sub), args) => is_sum(&args[0]) && !is_sum(&args[1]),
            Node::Cond { cond, then, other } => !is_sum(cond) && is_sum(then) && is_sum(other),
            Node::Scatter { put: Put::Add, dst, src, index, .. } => {
                is_sum(dst) && !is_sum(src) && !index.iter().any(is_sum)
            }
            _ => return false,
        };
        if reads && !sum {
            return false;
        }
        if sum {
            sums.insert(t);
        }
    }
    scan.body.results.len() == carries && scan.body.results.iter().all(|t| sums.contains(t))
}
