//! The driver of all code that rewrites terms to terms: the worklist, the memo table, and the place
//! in the source that new terms inherit. A rewriting says what it needs and what it makes of it.
//!
//! There are two orders. [`by_age`] visits given terms, which contain what they consist of. Nearly
//! all passes use it, through the `Rewriter` of `passes::rewrite`. [`on_demand`] visits only what a
//! rewriting asks for: the body of a build under its opened variable, an element instead of an
//! array, the part of a term that a substitution can touch. A key is then a term, or a term in a
//! context that decides what becomes of it, such as an index.
//!
//! The driver must never recurse over terms, since their depth grows with the program. A rewriting
//! may start another one inside of nested binders and bodies, whose depth does not.

use super::{Graph, Term};

/// What is rewritten, with its memo table.
pub trait Rewrite {
    /// What is visited once: a term, or a term in a context.
    type Key: Clone;
    /// What it becomes.
    type New;

    /// The graph that new terms are made in.
    fn graph(&mut self) -> &mut Graph;

    /// The term whose place in the source the new terms inherit. `None`: they have the place of
    /// the term that asked for the rewriting.
    fn origin(&self, key: &Self::Key) -> Option<Term>;

    /// Whether the memo table has it.
    fn is_done(&self, key: &Self::Key) -> bool;

    /// Puts it into the memo table.
    fn keep(&mut self, key: Self::Key, new: Self::New);

    /// What it becomes. The memo table has all that it needs.
    fn made(&mut self, key: &Self::Key) -> Self::New;
}

/// A rewriting that says what it needs.
pub trait OnDemand: Rewrite {
    /// What it becomes if that is known without anything else. Otherwise all that has to be
    /// rewritten before goes into `needs`.
    fn enter(&mut self, key: &Self::Key, needs: &mut Needs<'_, Self::Key>) -> Option<Self::New>;
}

/// What has to be rewritten first.
#[derive(Debug)]
pub struct Needs<'s, K>(&'s mut Vec<(K, bool)>);

impl<K> Needs<'_, K> {
    /// Adds one. The last one comes first.
    pub fn push(&mut self, key: K) {
        self.0.push((key, false));
    }
}

impl<K> Extend<K> for Needs<'_, K> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        self.0.extend(keys.into_iter().map(|key| (key, false)));
    }
}

/// Rewrites these in their order. Each one comes after what it consists of.
pub fn by_age<R: Rewrite>(r: &mut R, keys: impl IntoIterator<Item = R::Key>) {
    for key in keys {
        if !r.is_done(&key) {
            let new = in_place(r, &key, |r| r.made(&key));
            r.keep(key, new);
        }
    }
}

/// Rewrites these and what they need, the first one first.
pub fn on_demand<R: OnDemand>(r: &mut R, roots: impl IntoIterator<Item = R::Key, IntoIter: DoubleEndedIterator>) {
    let mut stack: Vec<(R::Key, bool)> = roots.into_iter().rev().map(|key| (key, false)).collect();
    while let Some((key, entered)) = stack.pop() {
        if r.is_done(&key) {
            continue;
        }
        let new = if entered {
            in_place(r, &key, |r| r.made(&key))
        } else {
            let below = stack.len();
            stack.push((key.clone(), true));
            match in_place(r, &key, |r| r.enter(&key, &mut Needs(&mut stack))) {
                Some(new) => {
                    stack.truncate(below);
                    new
                }
                None => continue,
            }
        };
        r.keep(key, new);
    }
}

/// Runs a step. Its new terms inherit the place in the source.
fn in_place<R: Rewrite, T>(r: &mut R, key: &R::Key, step: impl FnOnce(&mut R) -> T) -> T {
    let Some(origin) = r.origin(key) else { return step(r) };
    let here = r.graph().loc(origin);
    let before = r.graph().at(here);
    let result = step(r);
    r.graph().at(before);
    result
}
