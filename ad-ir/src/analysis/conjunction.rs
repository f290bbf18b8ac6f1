//! The parts of a condition, all of which hold where the condition holds. Conditions share their
//! parts, so each part is looked at once.
//!
//! This module must never return a part that may be false where the condition is true.

use std::collections::HashSet;

use crate::ir::{Graph, Node, Term, axis};
use crate::prim::Prim;

/// The number of parts that are looked at. The rest of a longer condition is left out.
const MAX_PARTS: usize = 256;

/// The parts of a conjunction that are neither conjunctions nor repeated or transposed arrays. For
/// each axis of a part: the axis of the condition that it is.
pub fn parts(g: &Graph, condition: Term) -> Vec<(Term, Box<[u8]>)> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let mut stack: Vec<(Term, Box<[u8]>)> = vec![(condition, (0..g.rank(condition)).map(axis).collect())];
    while let Some((t, axes)) = stack.pop() {
        if seen.len() == MAX_PARTS || !seen.insert((t, axes.clone())) {
            continue;
        }
        match g.node(t) {
            Node::Prim(Prim::And, args) => stack.extend(args.iter().map(|&c| (c, axes.clone()))),
            Node::Prim(Prim::Replicate(new), args) => {
                let kept = axes.iter().enumerate().filter(|(k, _)| !new.contains(&axis(*k)));
                stack.push((args[0], kept.map(|(_, &k)| k).collect()));
            }
            Node::Prim(Prim::Transpose(order), args) => {
                let mut inner = axes.clone();
                order.iter().zip(&axes).for_each(|(&k, &own)| inner[usize::from(k)] = own);
                stack.push((args[0], inner));
            }
            _ => found.push((t, axes)),
        }
    }
    found
}
