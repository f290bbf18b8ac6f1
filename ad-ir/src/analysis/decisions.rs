//! The terms that decisions depend on: every term whose last bits can change a branch, an index, a
//! comparison, the position of an extremum, a cast to integers or a rounding. Loose rules do not
//! rewrite these terms, so that the derivative takes the same path as the function
//! (docs/internals/src/exact-decisions.md). This module never changes a term.

use std::collections::HashSet;

use super::{Analyses, Analysis};
use crate::ir::{Graph, Node, Term};
use crate::prim::structural::Half;
use crate::prim::{Binary, Prim, Reduce};

/// All terms that a branch, an index, a comparison, the position of an extremum, a cast to integers
/// or a rounding depends on. Dependence goes through loops: from a result to the terms that compute
/// it, and from a parameter of a body to its argument.
#[derive(Debug)]
pub struct Decisions;

impl Analysis for Decisions {
    type Result = HashSet<Term>;

    fn of(g: &Graph, roots: &[Term], _: &mut Analyses) -> HashSet<Term> {
        decisions_and(g, roots, Vec::new())
    }
}

/// Like [`Decisions`], with the terms of `stack` and all that they depend on in addition.
pub fn decisions_and(g: &Graph, roots: &[Term], stack: Vec<Term>) -> HashSet<Term> {
    collect(g, roots, stack, true)
}

/// The terms that decisions in bodies of loops depend on, the terms of `stack`, and all that these
/// depend on.
pub fn decisions_in_loops(g: &Graph, roots: &[Term], stack: Vec<Term>) -> HashSet<Term> {
    collect(g, roots, stack, false)
}

/// Pushes the operands that the decision of a term depends on. A loop has no decision of its own.
pub fn decided_by(g: &Graph, t: Term, stack: &mut Vec<Term>) {
    match g.node(t) {
        Node::Cond { cond, .. } => stack.push(*cond),
        Node::Gather { index, .. } | Node::Scatter { index, .. } => stack.extend(index.iter().copied()),
        Node::Prim(prim, args) => match prim {
            Prim::Compare(_) if is_insensitive(g, args) => {}
            Prim::Compare(_) | Prim::TotalOrder => stack.extend(args.iter().copied()),
            Prim::Select => stack.push(args[0]),
            Prim::Reduce(Reduce::ArgMax | Reduce::ArgMin | Reduce::All | Reduce::Any, _) => stack.push(args[0]),
            Prim::Cast(to) if !to.is_real() && g.elem(args[0]).is_real() => stack.push(args[0]),
            Prim::Unary(f) if f.row().step => stack.push(args[0]),
            // The decisions of a function that is compiled on its own are not known here.
            Prim::Call(callee) if matches!(callee.half, Half::Value | Half::Forward) => {
                stack.extend(args.iter().copied());
            }
            _ => {}
        },
        _ => {}
    }
}

/// Whether a comparison does not depend on the last bits of its operands: a test whether a maximum
/// is infinite, as in `softmax` and `logsumexp`, or whether a matrix has a factorisation. The
/// latter depends on the last bits only if the matrix is singular up to rounding.
fn is_insensitive(g: &Graph, args: &[Term]) -> bool {
    let mut t = args[0];
    if !g.real_value(g.splat(args[1])).is_some_and(f64::is_infinite) {
        return false;
    }
    while let Node::Prim(Prim::StopGradient | Prim::Recast | Prim::Reshape, args) = g.node(t) {
        t = args[0];
    }
    let extremum =
        |t: Term| matches!(g.node(t), Node::Prim(Prim::Reduce(Reduce::Max, _) | Prim::Binary(Binary::Max), _));
    extremum(t) || is_of_factorisation(g, t)
}

/// Whether these are elements of a factorisation.
fn is_of_factorisation(g: &Graph, mut t: Term) -> bool {
    loop {
        t = match g.node(t) {
            Node::Prim(Prim::Factor(_), _) => return true,
            Node::Gather { src, .. } => *src,
            Node::Prim(
                Prim::Slice(_)
                | Prim::Recast
                | Prim::Reshape
                | Prim::Transpose(_)
                | Prim::Replicate(_)
                | Prim::RelaxedExact,
                args,
            ) => args[0],
            _ => return false,
        };
    }
}

fn collect(g: &Graph, roots: &[Term], mut stack: Vec<Term>, outer: bool) -> HashSet<Term> {
    let mut exact = HashSet::new();
    let mut bodies: Vec<(Vec<Term>, bool)> = vec![(roots.to_vec(), outer)];
    // For each parameter that occurs in the body of a loop: its argument before the loop and, if it
    // is carried, its result.
    let mut params: Vec<(Term, Vec<Term>)> = Vec::new();
    let mut met = HashSet::new();
    while let Some((roots, counts)) = bodies.pop() {
        for t in g.reachable(&roots) {
            match g.node(t) {
                Node::Scan(scan) if met.insert(t) => {
                    bodies.push((scan.body.results.to_vec(), true));
                    stack.push(scan.count);
                    if let Some(k) = scan.stop {
                        stack.extend([scan.init[k], scan.body.results[k]]);
                    }
                    let outer: Vec<Term> = scan.init.iter().chain(&scan.captures).chain(&scan.xs).copied().collect();
                    for p in g.reachable(&scan.body.results) {
                        let Node::Param(k, _) = g.node(p) else { continue };
                        let k = *k as usize;
                        let mut behind: Vec<Term> = outer.get(k).copied().into_iter().collect();
                        behind.extend(scan.body.results.get(k).filter(|_| k < scan.init.len()));
                        params.push((p, behind));
                    }
                }
                _ if counts => decided_by(g, t, &mut stack),
                _ => {}
            }
        }
    }
    loop {
        follow(g, &mut exact, stack);
        stack = Vec::new();
        for (p, behind) in &params {
            if exact.contains(p) {
                stack.extend(behind.iter().filter(|t| !exact.contains(t)));
            }
        }
        if stack.is_empty() {
            return exact;
        }
    }
}

/// Adds these terms and all that they depend on.
pub fn follow(g: &Graph, exact: &mut HashSet<Term>, mut stack: Vec<Term>) {
    while let Some(t) = stack.pop() {
        if !exact.insert(t) {
            continue;
        }
        match g.node(t) {
            Node::Proj(tuple, k) => match g.node(*tuple) {
                // The other results of the loop are not needed.
                Node::Scan(scan) => {
                    let k = *k as usize;
                    stack.extend(scan.body.results.get(k));
                    stack.extend(scan.init.get(k));
                    stack.push(scan.count);
                }
                _ => stack.push(*tuple),
            },
            Node::Prim(Prim::Compare(_), args) if is_insensitive(g, args) => {}
            // The exact half of the pair is what the decision reads.
            Node::Prim(Prim::RelaxedExact, args) => stack.push(args[1]),
            Node::Scan(scan) => {
                stack.extend(&scan.body.results);
                g.node(t).for_each_child(|c| stack.push(c));
            }
            node => node.for_each_child(|c| stack.push(c)),
        }
    }
}
