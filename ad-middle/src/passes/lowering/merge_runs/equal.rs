//! Terms that are known to be equal because they are results of two loops that were merged, and
//! rows that are read from the same array. This module does not compare the bodies of loops;
//! `matching` does.

use ad_ir::sorted::SortedMap;
use std::cell::{RefCell, RefMut};
use std::collections::HashMap;

use ad_ir::ir::rewrite::{Memoised, Needs, OnDemand, on_demand};
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::prim::Prim;

/// The term without `stop_gradient`.
pub(super) fn plain(g: &Graph, mut t: Term) -> Term {
    while let Node::Prim(Prim::StopGradient, args) = g.node(t) {
        t = args[0];
    }
    t
}

/// For a loop that was merged into another loop: the term of the other loop, and the map from
/// results of the merged loop to results of the other one.
pub(super) type RunResult = (Term, SortedMap<usize, usize>);

/// Equalities between results of merged loops.
#[derive(Default)]
pub(super) struct EqualResults {
    pub(super) parts: RefCell<HashMap<Term, RunResult>>,
    known: RefCell<HashMap<Term, Term>>,
}

impl EqualResults {
    pub(super) fn is_one_run(&self, other: Term, first: Term, carries: usize, parts: &SortedMap<usize, usize>) {
        let left = parts.iter().filter(|p| *p.1 < carries).map(|(&k, &n)| (k, n)).collect();
        self.parts.borrow_mut().insert(other, (first, left));
        self.known.borrow_mut().clear();
    }

    /// The representative of all equal terms, without `stop_gradient`. Bodies of loops are not
    /// rewritten.
    pub(super) fn one(&self, g: &mut Graph, t: Term) -> Term {
        let parts = self.parts.borrow();
        if parts.is_empty() {
            return plain(g, t);
        }
        let mut r = Representatives { g, parts: &parts, known: self.known.borrow_mut() };
        on_demand(&mut r, [t]);
        r.known[&t]
    }

    /// Whether one of these terms reads a result of a loop that was merged into another one.
    pub(super) fn reads_merged(&self, g: &Graph, terms: &[Term]) -> bool {
        let parts = self.parts.borrow();
        !parts.is_empty() && g.reachable(terms).iter().any(|t| parts.contains_key(t))
    }
}

struct Representatives<'a> {
    g: &'a mut Graph,
    parts: &'a HashMap<Term, RunResult>,
    known: RefMut<'a, HashMap<Term, Term>>,
}

impl Memoised for Representatives<'_> {
    type Key = Term;
    type New = Term;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<Term, Term>) {
        (self.g, &mut self.known)
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        Some(*t)
    }

    fn made(&mut self, &t: &Term) -> Term {
        match &*self.g.node_rc(t) {
            Node::Prim(Prim::StopGradient, args) => self.known[&args[0]],
            node => self.g.try_mk(node.map_children(|c| self.known[&c])).unwrap_or(t),
        }
    }
}

impl OnDemand for Representatives<'_> {
    fn enter(&mut self, &t: &Term, needs: &mut Needs<'_, Term>) -> Option<Term> {
        match *self.g.node(t) {
            Node::Scan(_) => Some(t),
            Node::Proj(of, k) => Some(match self.parts.get(&of) {
                Some((first, left)) => left.get(&(k as usize)).map_or(t, |&n| self.g.proj(*first, n)),
                None => t,
            }),
            ref node => {
                node.for_each_child(|c| needs.push(c));
                None
            }
        }
    }
}

/// The array whose leading part this one is.
pub(super) fn whole(g: &Graph, t: Term) -> Term {
    let t = plain(g, t);
    let Node::Prim(Prim::Slice(steps), args) = g.node(t) else { return t };
    let rank = steps.len();
    let first = steps.iter().all(|&s| s == 1) && args[1..=rank].iter().all(|&s| g.int_value(s) == Some(0));
    if first && g.shape(t)[1..] == g.shape(args[0])[1..] { plain(g, args[0]) } else { t }
}

/// Whether both arrays give an iteration the same row.
pub(super) fn same_rows(g: &Graph, a: Term, b: Term) -> bool {
    let (a, b) = (whole(g, a), whole(g, b));
    let steps = |t: Term| matches!(g.node(t), Node::Prim(Prim::Iota, _));
    a == b || (steps(a) && steps(b))
}
