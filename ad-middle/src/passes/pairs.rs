//! Rewrites sums of scalars with products in them as sums of differences of two products:
//! `x - a b + c d` becomes `x + (c d - a b)`. So the cotangent of a cross product has the form of a
//! cross product. The dependency chains are shorter, and neighbouring statements have the same
//! form, so LLVM vectorises them in pairs (a rotation by a quaternion takes a quarter of the time).
//!
//! The pass rewrites only scalars that a derivative computes outside of all loops. In a loop over
//! elements a chain is as fast, with one fused multiply-add for each product. Sums of the function
//! itself keep their order.

use std::collections::HashSet;

use super::rewrite::Rewriter;
use super::{Context, Pass};
use ad_ir::analysis::Reachable;
use ad_ir::analysis::sizes::Fixed;
use ad_ir::analysis::uses::Uses;
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::prim::{Binary, Prim};

/// The pass.
pub const PASS: Pass = Pass {
    name: "pairs",
    rules: || vec!["pairs"],
    run: |g, roots, cx| roots.map(|all| pairs(g, all, cx)),
    simplified: false,
};

/// The roots with these sums rewritten. Exact terms, and those of the function itself, are not
/// rewritten.
pub fn pairs(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let (exact, reachable) = (cx.exact(g), cx.get::<Reachable>(g, roots));
    let of_function: HashSet<Term> = cx.function_terms(g).iter().copied().collect();
    let uses = cx.get::<Uses>(g, roots);
    let rewritten = |g: &Graph, t: Term| !exact.contains(&t) && !of_function.contains(&t) && operands(g, t).is_some();
    // A sum that only another sum reads is a part of that sum.
    let mut inner: HashSet<Term> = HashSet::new();
    for &t in reachable.iter().filter(|&&t| rewritten(g, t)) {
        let parts = operands(g, t).into_iter().flat_map(|(a, b, _)| [a, b]);
        inner.extend(parts.filter(|&c| uses.get(&c) == Some(&1) && rewritten(g, c)));
    }
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run(g, roots, |g, t, done| {
        let terms = if rewritten(g, t) && !inner.contains(&t) { summands(g, t, &inner) } else { Vec::new() };
        let new = || terms.iter().map(|s| Summand { term: done[&s.term], ..*s }).collect::<Vec<_>>();
        (terms.len() > 2).then(|| added(g, &new()))
    })
}

/// A term of a sum, with its sign.
#[derive(Clone, Copy)]
struct Summand {
    term: Term,
    subtracted: bool,
    product: bool,
}

/// Both operands of a sum or difference of scalars outside of all loops, and whether it is a
/// difference.
fn operands(g: &Graph, t: Term) -> Option<(Term, Term, bool)> {
    let Node::Prim(Prim::Binary(op @ (Binary::Add | Binary::Sub)), args) = g.node(t) else { return None };
    let number = g.rank(t) == 0 && g.elem(t).is_real() && g.free(t).is_empty();
    number.then(|| (args[0], args[1], *op == Binary::Sub))
}

/// The summands of a sum, from left to right.
fn summands(g: &Graph, t: Term, inner: &HashSet<Term>) -> Vec<Summand> {
    let mut found = Vec::new();
    let mut stack = vec![(t, false)];
    while let Some((c, subtracted)) = stack.pop() {
        match operands(g, c).filter(|_| c == t || inner.contains(&c)) {
            Some((a, b, difference)) => stack.extend([(b, subtracted != difference), (a, subtracted)]),
            None => {
                let product = matches!(g.node(c), Node::Prim(Prim::Binary(Binary::Mul), _));
                found.push(Summand { term: c, subtracted, product });
            }
        }
    }
    found
}

/// Builds the sum: a product with a negative sign is subtracted from the nearest product before it
/// that has no partner, or else from the next one after it.
fn added(g: &mut Graph, summands: &[Summand]) -> Term {
    // For each summand, the summand that it is paired with.
    let mut partner: Vec<Option<usize>> = vec![None; summands.len()];
    let (mut waiting, mut subtracted): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for (k, s) in summands.iter().enumerate().filter(|(_, s)| s.product) {
        let (others, own) =
            if s.subtracted { (&mut waiting, &mut subtracted) } else { (&mut subtracted, &mut waiting) };
        match others.pop() {
            Some(other) => (partner[k], partner[other]) = (Some(other), Some(k)),
            None => own.push(k),
        }
    }
    // The first summand has a positive sign, so the sum is not empty when something is subtracted
    // from it.
    let mut sum = None;
    for (k, s) in summands.iter().enumerate() {
        let (part, minus) = match partner[k] {
            Some(before) if before < k => continue,
            Some(other) => {
                let (plus, minus) = if s.subtracted { (other, k) } else { (k, other) };
                (g.sub(summands[plus].term, summands[minus].term), false)
            }
            None => (s.term, s.subtracted),
        };
        sum = Some(match sum {
            None => part,
            Some(sum) if minus => g.sub(sum, part),
            Some(sum) => g.add(sum, part),
        });
    }
    sum.unwrap_or(summands[0].term)
}
