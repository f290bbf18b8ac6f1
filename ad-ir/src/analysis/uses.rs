//! The reads of each term. This module must never change a term.

use std::collections::HashMap;

use super::{Analyses, Analysis, Reachable};
use crate::ir::{Graph, Term};

/// The number of times that each term is a child of another term, or a root.
pub struct Uses;

impl Analysis for Uses {
    type Result = HashMap<Term, usize>;

    fn of(g: &Graph, roots: &[Term], others: &mut Analyses) -> Self::Result {
        let mut uses: HashMap<Term, usize> = HashMap::new();
        for &r in roots {
            *uses.entry(r).or_default() += 1;
        }
        for &t in &*others.get::<Reachable>(g, roots) {
            g.node(t).for_each_child(|c| *uses.entry(c).or_default() += 1);
        }
        uses
    }
}

/// For each term: the terms that have it as a child, each as often as it has it.
pub struct Readers;

impl Analysis for Readers {
    type Result = HashMap<Term, Vec<Term>>;

    fn of(g: &Graph, roots: &[Term], others: &mut Analyses) -> Self::Result {
        let mut readers: HashMap<Term, Vec<Term>> = HashMap::new();
        for &t in &*others.get::<Reachable>(g, roots) {
            g.node(t).for_each_child(|c| readers.entry(c).or_default().push(t));
        }
        readers
    }
}
