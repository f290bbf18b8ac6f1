//! How often each term is read. Must never change a term.

use std::collections::HashMap;

use crate::ir::{Graph, Term};

/// How often each of these terms is a child of one of them, or a root.
pub(crate) fn uses(g: &Graph, roots: &[Term], reachable: &[Term]) -> HashMap<Term, usize> {
    let mut uses: HashMap<Term, usize> = HashMap::new();
    for &r in roots {
        *uses.entry(r).or_default() += 1;
    }
    for &t in reachable {
        g.node(t).for_each_child(|c| *uses.entry(c).or_default() += 1);
    }
    uses
}
