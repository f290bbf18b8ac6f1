//! Forms of a function that algorithms treat as loops: a build with a loop in it becomes a loop
//! over its index, so that each array has one sum of cotangents that all elements add to; a loop
//! over tuples becomes a loop over their components. This module must never differentiate.

use std::collections::{HashMap, HashSet};

use ad_ir::ir::{Graph, Node, Scan, Term, Type, Var, flatten};

use crate::passes::bulk;

/// The terms that are computed as other ones.
#[derive(Default)]
pub(crate) struct AsLoops {
    known: HashMap<Term, Term>,
}

/// Whether a loop carries or captures tuples.
pub(crate) fn has_tuples(scan: &Scan) -> bool {
    scan.body.params.iter().any(|ty| matches!(ty, Type::Tuple(_)))
}

impl AsLoops {
    /// The term that is computed in place of this one.
    pub(crate) fn of(&self, t: Term) -> Term {
        self.known[&t]
    }

    /// A loop over tuples as a loop over their components.
    pub(crate) fn over_components(&mut self, g: &mut Graph, t: Term, scan: Scan) -> Term {
        if let Some(&flat) = self.known.get(&t) {
            return flat;
        }
        let flat = flatten::scan(g, scan, &mut |g, scan, _| g.scan(scan));
        self.known.insert(t, flat);
        flat
    }

    /// The rows of a loop over the index, for a build of this index, size and element with a loop
    /// in it.
    pub(crate) fn of_build(&mut self, g: &mut Graph, t: Term, var: Var, [size, element]: [Term; 2]) -> Option<Term> {
        if let Some(&rows) = self.known.get(&t) {
            return (rows != t).then_some(rows);
        }
        let mut found = false;
        let (mut stack, mut seen) = (vec![element], HashSet::new());
        while let Some(t) = stack.pop() {
            if !g.mentions(t, var) || !seen.insert(t) {
                continue;
            }
            match g.node(t) {
                Node::Scan(_) if g.ty(t).has_real() => found = true,
                node => node.for_each_child(|c| stack.push(c)),
            }
        }
        let rows = if found { bulk::loop_of(g, var, size, element) } else { t };
        self.known.insert(t, rows);
        found.then_some(rows)
    }
}
