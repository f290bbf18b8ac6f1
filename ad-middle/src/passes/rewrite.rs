//! Rewriting by a rule, over all terms that roots reach ([`by_age`]). A pass supplies a rule that
//! returns the replacement of a term, or `None`: then the term is rebuilt with its rewritten
//! children. With `AD_TRACE` the driver logs what a rule has rewritten, under the name of the rule
//! or, if the pass has only one, of the running pass.
//!
//! Sizes that occur in types are not rewritten: otherwise two terms of one type would get different
//! types. The driver is therefore constructed with the set of terms that it must not rewrite. It
//! does not enter the body of a loop: a rule for loops does that with a driver for the body.

use std::collections::HashMap;

use super::trace;
use ad_ir::ir::rewrite::{Memoised, by_age};
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::stage;

/// Maps each visited term to its replacement.
pub(crate) type Rewritten = HashMap<Term, Term>;

/// The replacement of a term, and the name of the rule for the log.
pub(crate) type Named = (Option<&'static str>, Term);

/// The driver: a memo table of replacements, and the walks that fill it.
#[derive(Default)]
pub(crate) struct Rewriter {
    done: Rewritten,
}

impl Rewriter {
    /// A driver that does not rewrite these terms.
    pub(crate) fn new<'t>(fixed: impl IntoIterator<Item = &'t Term>) -> Self {
        Rewriter { done: fixed.into_iter().map(|&t| (t, t)).collect() }
    }

    /// Presets the replacement of a term.
    pub(crate) fn set(&mut self, t: Term, new: Term) {
        self.done.insert(t, new);
    }

    /// The replacements of all visited terms.
    pub(crate) fn done(&self) -> &Rewritten {
        &self.done
    }

    /// The roots after the rule has been applied to every term reachable from them.
    pub(crate) fn run(
        &mut self,
        g: &mut Graph,
        roots: &[Term],
        mut rule: impl FnMut(&mut Graph, Term, &Rewritten) -> Option<Term>,
    ) -> Vec<Term> {
        self.run_named(g, roots, |g, t, done| Some((Some(stage::current()), rule(g, t, done)?)))
    }

    /// Like [`Rewriter::run`], for a rule that names itself. A rule without a name logs its
    /// rewrites itself.
    pub(crate) fn run_named(
        &mut self,
        g: &mut Graph,
        roots: &[Term],
        rule: impl FnMut(&mut Graph, Term, &Rewritten) -> Option<Named>,
    ) -> Vec<Term> {
        let terms = g.reachable(roots);
        by_age(&mut ByRule { g, done: &mut self.done, rule }, terms);
        roots.iter().map(|t| self.done[t]).collect()
    }

    /// The roots with the replacements given by [`set`](Self::set) substituted.
    pub(crate) fn substitute(&mut self, g: &mut Graph, roots: &[Term]) -> Vec<Term> {
        self.run(g, roots, |_, _, _| None)
    }

    /// Rewrites one term by a rule that reads only replacements that exist already. The log does
    /// not have it.
    pub(crate) fn step(
        &mut self,
        g: &mut Graph,
        t: Term,
        mut rule: impl FnMut(&mut Graph, Term, &Rewritten) -> Option<Term>,
    ) {
        let rule = |g: &mut Graph, t, done: &Rewritten| Some((None, rule(g, t, done)?));
        by_age(&mut ByRule { g, done: &mut self.done, rule }, [t]);
    }
}

struct ByRule<'a, F> {
    g: &'a mut Graph,
    done: &'a mut Rewritten,
    rule: F,
}

impl<F: FnMut(&mut Graph, Term, &Rewritten) -> Option<Named>> Memoised for ByRule<'_, F> {
    type Key = Term;
    type New = Term;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<Term, Term>) {
        (self.g, &mut self.done)
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        Some(*t)
    }

    fn made(&mut self, &t: &Term) -> Term {
        let g = &mut *self.g;
        match (self.rule)(g, t, self.done) {
            Some((name, new)) => {
                // A rule that only rebuilds the term over its new children has not rewritten it.
                if let Some(name) = name.filter(|_| trace::is_on())
                    && with_rewritten_children(g, t, self.done) != *g.node(new)
                {
                    trace::fired(name, t, &[new]);
                }
                new
            }
            None => match with_rewritten_children(g, t, self.done) {
                // If a loop was replaced by a tuple of its results, a projection of the loop is a
                // component of the tuple.
                Node::Proj(tuple, k) => g.proj(tuple, k as usize),
                node => g.mk(node),
            },
        }
    }
}

/// The node of the term with each child replaced.
pub(crate) fn with_rewritten_children(g: &Graph, t: Term, done: &Rewritten) -> Node {
    g.node(t).map_children(|c| done[&c])
}
