//! The rewriting driver of the passes over the whole graph: terms are built anew from the leaves
//! up, each once, at its own source location. A pass is a rule that says what it makes of a term;
//! where it says nothing, the term is the same of what its children have become. With `AD_TRACE`
//! the driver records what a rule has rewritten, under the name of the running pass.
//!
//! Sizes that types mention stay the terms that they are: with another size, terms of one type
//! would be of two types. So the driver is made with the terms that are fixed. It must never enter
//! the body of a loop: a rule for loops does that with a driver for the body.

use std::collections::HashMap;

use super::trace;
use crate::ir::{Graph, Node, Term};
use crate::stage;

/// What terms have become.
pub(crate) type Done = HashMap<Term, Term>;

/// The driver: a memo, and the walks that fill it.
#[derive(Default)]
pub(crate) struct Rewriter {
    done: Done,
}

impl Rewriter {
    /// A driver that leaves these terms as they are.
    pub(crate) fn new<'t>(fixed: impl IntoIterator<Item = &'t Term>) -> Self {
        Rewriter { done: fixed.into_iter().map(|&t| (t, t)).collect() }
    }

    /// Says what a term becomes, before a walk meets it.
    pub(crate) fn set(&mut self, t: Term, new: Term) {
        self.done.insert(t, new);
    }

    /// What terms have become.
    pub(crate) fn done(&self) -> &Done {
        &self.done
    }

    /// The roots after the rule has been applied to all that they consist of.
    pub(crate) fn run(
        &mut self,
        g: &mut Graph,
        roots: &[Term],
        mut rule: impl FnMut(&mut Graph, Term, &Done) -> Option<Term>,
    ) -> Vec<Term> {
        for t in g.reachable(roots) {
            self.step(g, t, &mut rule);
        }
        roots.iter().map(|t| self.done[t]).collect()
    }

    /// The roots over what was [`set`](Self::set).
    pub(crate) fn replace(&mut self, g: &mut Graph, roots: &[Term]) -> Vec<Term> {
        self.run(g, roots, |_, _, _| None)
    }

    /// One term, whose children are done.
    pub(crate) fn step(&mut self, g: &mut Graph, t: Term, rule: impl FnOnce(&mut Graph, Term, &Done) -> Option<Term>) {
        if self.done.contains_key(&t) {
            return;
        }
        let here = g.loc(t);
        let before = g.at(here);
        let new = match rule(g, t, &self.done) {
            Some(new) => {
                // A rule that gives the same form over its new children has not rewritten it.
                if trace::is_on() && over(g, t, &self.done) != *g.node(new) {
                    trace::fired(stage::current(), t, &[new]);
                }
                new
            }
            None => match over(g, t, &self.done) {
                // A part of a loop that has become a tuple of its parts is that part.
                Node::Proj(tuple, k) => g.proj(tuple, k as usize),
                node => g.mk(node),
            },
        };
        g.at(before);
        self.done.insert(t, new);
    }
}

/// The same form of what its children have become.
pub(crate) fn over(g: &Graph, t: Term, done: &Done) -> Node {
    g.node(t).map_children(|c| done[&c])
}
