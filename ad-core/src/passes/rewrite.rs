//! The rewriting driver that passes over the whole graph share: terms are built anew from the leaves up. A pass says what it makes of a term; must never
//! touch a size that is part of a type, since with another one terms of one type would be of two.

use std::collections::HashMap;

use crate::ir::{Graph, Term};

/// The roots, each term of which is what `new` makes of it, given what its children have become, or the same of these. What is new stands where
/// the term stood in the source.
pub(crate) fn rebuild(
    g: &mut Graph,
    roots: &[Term],
    reachable: &[Term],
    mut new: impl FnMut(&mut Graph, Term, &HashMap<Term, Term>) -> Option<Term>,
) -> Vec<Term> {
    let mut done: HashMap<Term, Term> = crate::analysis::sizes::fixed(g, roots).into_iter().map(|n| (n, n)).collect();
    for &t in reachable {
        if done.contains_key(&t) {
            continue;
        }
        let loc = g.loc(t);
        let before = g.at(loc);
        let made = new(g, t, &done).unwrap_or_else(|| {
            let node = g.node_rc(t).map_children(|c| done[&c]);
            g.mk(node)
        });
        g.at(before);
        done.insert(t, made);
    }
    roots.iter().map(|t| done[t]).collect()
}
