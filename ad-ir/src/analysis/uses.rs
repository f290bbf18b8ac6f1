//! The number of reads of each term. This module must never change a term.

use std::collections::HashMap;

use super::{Analyses, Analysis};
use crate::ir::{Graph, Term};

/// The number of times that each term is a child of another term, or a root.
pub struct Uses;

impl Analysis for Uses {
    type Result = HashMap<Term, usize>;

    fn of(g: &Graph, roots: &[Term], _: &mut Analyses) -> Self::Result {
        let mut uses: HashMap<Term, usize> = HashMap::new();
        for &r in roots {
            *uses.entry(r).or_default() += 1;
        }
        for t in g.reachable(roots) {
            g.node(t).for_each_child(|c| *uses.entry(c).or_default() += 1);
        }
        uses
    }
}
