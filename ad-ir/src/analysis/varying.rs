//! Inputs that a size or a number of steps of a program depends on. The program cannot be batched
//! over such an input. This module must never examine computed values.

use std::collections::HashSet;

use super::once;
use super::sizes::Sizes;
use crate::ir::{Graph, Node, Scan, Term};

/// The property that depends on an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Varying {
    /// The size of an array, or the number of steps of a loop.
    Size,
    /// The step at which a loop stops.
    Stop,
}

/// The position in `inputs` of the first input on which a size or a number of steps depends. If
/// there is none, the position of the first input on which the end of a loop depends.
#[must_use]
pub fn varying(g: &Graph, roots: &[Term], inputs: &[Term]) -> Option<(usize, Varying)> {
    let of_input = |roots: &[Term]| {
        let met: HashSet<Term> = g.reachable(roots).into_iter().collect();
        inputs.iter().position(|t| met.contains(t))
    };
    let mut fixed: Vec<Term> = once::<Sizes>(g, roots).into_iter().collect();
    let mut stopping = Vec::new();
    for t in g.reachable(roots) {
        let Node::Scan(scan) = g.node(t) else { continue };
        fixed.push(scan.count);
        if stops(g, scan) {
            stopping.extend(scan.init.iter().chain(&scan.captures).chain(&scan.xs).copied());
        }
    }
    let by_size = of_input(&fixed).map(|k| (k, Varying::Size));
    by_size.or_else(|| of_input(&stopping).map(|k| (k, Varying::Stop)))
}

/// Whether a loop, or one inside of it, stops early.
fn stops(g: &Graph, scan: &Scan) -> bool {
    let mut all = vec![scan];
    while let Some(scan) = all.pop() {
        if scan.stop.is_some() {
            return true;
        }
        for t in g.reachable(&scan.body.results) {
            if let Node::Scan(inner) = g.node(t) {
                all.push(inner);
            }
        }
    }
    false
}
