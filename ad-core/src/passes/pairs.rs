//! Sums of numbers with products in them, as differences of two products first: `x - a b + c d` is
//! `x + (c d - a b)`. So a cotangent of a cross product is added up as a cross product is written:
//! fewer steps that wait for each other, and neighbours of one form, which are done two at a time
//! in a register (rotation by a quaternion: a quarter of the time).
//!
//! Only of numbers that a derivative computes outside of all loops. In a loop over elements a chain
//! is as good, and one fused multiply-add a product; and what the function itself adds stays in its
//! order.

use std::collections::HashSet;

use super::rewrite::Rewriter;
use super::{Context, Pass};
use crate::analysis::Reachable;
use crate::analysis::sizes::Fixed;
use crate::analysis::uses::Uses;
use crate::ir::{Graph, Node, Term};
use crate::prim::{Binary, Prim};

/// The pass.
pub const PASS: Pass =
    Pass { name: "pairs", run: |g, roots, cx| roots.map(|all| pairs(g, all, cx)), simplified: false };

/// The roots with such sums. Exact terms, and those of the function itself, are left alone.
pub fn pairs(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let (exact, reachable) = (cx.exact(g), cx.get::<Reachable>(g, roots));
    let own: HashSet<Term> = cx.function(g).iter().copied().collect();
    let uses = cx.get::<Uses>(g, roots);
    let free = |g: &Graph, t: Term| !exact.contains(&t) && !own.contains(&t) && operands(g, t).is_some();
    // A sum that only another one reads is a part of that.
    let mut inner: HashSet<Term> = HashSet::new();
    for &t in reachable.iter().filter(|&&t| free(g, t)) {
        let parts = operands(g, t).into_iter().flat_map(|(a, b, _)| [a, b]);
        inner.extend(parts.filter(|&c| uses.get(&c) == Some(&1) && free(g, c)));
    }
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run(g, roots, |g, t, done| {
        let terms = if free(g, t) && !inner.contains(&t) { summands(g, t, &inner) } else { Vec::new() };
        let new = || terms.iter().map(|s| Summand { term: done[&s.term], ..*s }).collect::<Vec<_>>();
        (terms.len() > 2).then(|| added(g, &new()))
    })
}

/// A part of a sum.
#[derive(Clone, Copy)]
struct Summand {
    term: Term,
    subtracted: bool,
    product: bool,
}

/// Both parts of a sum or difference of numbers outside of all loops, and whether it is a
/// difference.
fn operands(g: &Graph, t: Term) -> Option<(Term, Term, bool)> {
    let Node::Prim(Prim::Binary(op @ (Binary::Add | Binary::Sub)), args) = g.node(t) else { return None };
    let number = g.rank(t) == 0 && g.elem(t).is_real() && g.free(t).is_empty();
    number.then(|| (args[0], args[1], *op == Binary::Sub))
}

/// What a sum consists of, from left to right.
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

/// The sum: a product that is subtracted is subtracted from the nearest product before it that is
/// free, or else from the next one behind it.
fn added(g: &mut Graph, summands: &[Summand]) -> Term {
    // Of each summand, the one that it is a pair with.
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
    // The first summand is not subtracted, so there is a sum before anything is subtracted from it.
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
