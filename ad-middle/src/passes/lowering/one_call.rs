//! One call where a routine has two. The derivative calls the forward half of a function, which
//! leaves a record. Sizes and counting runs still call the function itself with the same arguments,
//! since passes do not rewrite terms in sizes. If the function calls itself, the two calls of each
//! level add up to as many times the function's own calls as there are levels.
//!
//! Here the results of the forward half replace those of the function: they have the same bits,
//! because the program has decided on either. Terms in sizes are replaced too, and the types that
//! have these sizes.
//!
//! This module must never let a routine call a forward half that it does not call anyway.

use std::collections::HashMap;

use super::merge_runs::deep;
use crate::passes::rewrite::Rewriter;
use crate::passes::simplify::simplify_exactly;
use crate::passes::typed_replacement;
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::prim::Prim;
use ad_ir::prim::structural::{Callee, Half};

/// The roots of a routine that makes each call once.
pub(crate) fn roots(g: &mut Graph, roots: &[Term]) -> Vec<Term> {
    let replaced = replaced(g, roots);
    roots.iter().map(|t| replaced.get(t).copied().unwrap_or(*t)).collect()
}

/// The terms that the roots reach, with their replacements; empty if no call is made twice. Calls
/// in the bodies of loops stay as they are.
pub(super) fn replaced(g: &mut Graph, roots: &[Term]) -> HashMap<Term, Term> {
    let is_forward = |g: &Graph, t: Term| match g.node(t) {
        Node::Prim(Prim::Call(callee), _) => callee.half == Half::Forward && !g.is_open(t) && g.free(t).is_empty(),
        _ => false,
    };
    if !g.reachable(roots).iter().any(|&t| is_forward(g, t)) {
        return HashMap::new();
    }
    let all = deep(g, roots);
    let halves: Vec<Term> = all.iter().copied().filter(|&t| is_forward(g, t)).collect();
    // The calls of the function itself that have the arguments of a forward half. Those may depend
    // on the results of other forward halves.
    let mut values = Rewriter::default();
    let mut same = HashMap::new();
    for half in halves {
        let Node::Prim(Prim::Call(callee), args) = g.node(half).clone() else { continue };
        let args = values.substitute(g, &args);
        let number = match &*callee.results {
            [only] if only.sizes.is_empty() => Some(only.elem),
            _ => None,
        };
        for direct in [None, number] {
            let value = Callee { half: Half::Value, active: Box::default(), direct, ..(*callee).clone() };
            let call = g.prim(Prim::Call(value.into()), &args);
            if all.binary_search(&call).is_err() {
                continue;
            }
            let results = match direct {
                None => half,
                Some(elem) => g.prim(Prim::Returned(0, elem), &[half]),
            };
            same.insert(call, results);
            values.set(results, call);
        }
    }
    if same.is_empty() {
        return HashMap::new();
    }
    // No pass has simplified the loops that compute sizes. Now they are the loops of the
    // derivative.
    typed_replacement::replaced(g, roots, HashMap::new(), &same, |g, results| simplify_exactly(g, &results))
}
