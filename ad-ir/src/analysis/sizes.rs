//! The sizes that types mention. A pass does not rewrite these terms: with another size, terms of
//! one type would have two types. This module must never examine values.

use std::collections::HashSet;

use super::{Analyses, Analysis};
use crate::ir::{Graph, Node, Term};

/// The sizes in the types of all terms that the roots depend on, bodies of loops included.
pub struct Sizes;

impl Analysis for Sizes {
    type Result = HashSet<Term>;

    fn of(g: &Graph, roots: &[Term], _: &mut Analyses) -> HashSet<Term> {
        let mut sizes = HashSet::new();
        let mut bodies: Vec<Vec<Term>> = vec![roots.to_vec()];
        while let Some(roots) = bodies.pop() {
            for t in g.reachable(&roots) {
                g.ty(t).for_each_size(&mut |n| _ = sizes.insert(n));
                if let Node::Scan(scan) = g.node(t) {
                    bodies.push(scan.body.results.to_vec());
                }
            }
        }
        sizes
    }
}

/// The terms that a pass does not rewrite: sizes, and the loops that have a size as a result. If
/// such a loop were rewritten, its other results would come from a second loop.
pub struct Fixed;

impl Analysis for Fixed {
    type Result = HashSet<Term>;

    fn of(g: &Graph, roots: &[Term], others: &mut Analyses) -> HashSet<Term> {
        let mut all = (*others.get::<Sizes>(g, roots)).clone();
        let loops: Vec<Term> =
            all.iter().filter_map(|&n| if let Node::Proj(t, _) = *g.node(n) { Some(t) } else { None }).collect();
        all.extend(loops);
        all
    }
}
