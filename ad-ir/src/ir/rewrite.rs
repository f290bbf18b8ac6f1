//! The driver of all code that rewrites terms to terms: the worklist, the memo table, and the
//! source location that new terms inherit. A rewriting says which results a term needs first, and
//! computes the result of the term.
//!
//! There are two orders. [`by_age`] visits given terms, each after its children; nearly all passes
//! use it, through the `Rewriter` of `passes::rewrite`. [`on_demand`] visits only the terms that a
//! rewriting asks for. A key is then a term, or a term with a context that determines its result,
//! such as an index.
//!
//! The driver must never recurse over terms, since their depth grows with the program. A rewriting
//! may start another one inside of nested binders and bodies, whose depth does not.

use std::collections::HashMap;
use std::hash::Hash;

use super::{Graph, Term};

/// A rewriting whose results are all in one table. Nearly all rewritings are of this kind.
pub trait Memoised {
    /// The unit that is visited once: a term, or a term with a context.
    type Key: Clone + Eq + Hash;
    /// The result for a key.
    type New;

    /// The graph that new terms are made in, and the memo table.
    fn parts(&mut self) -> (&mut Graph, &mut HashMap<Self::Key, Self::New>);

    /// The term whose source location the new terms inherit. `None` if they get the location of the
    /// term that asked for the rewriting.
    fn origin(&self, _: &Self::Key) -> Option<Term> {
        None
    }

    /// Computes the result for a key. The memo table has all results that it needs.
    fn made(&mut self, key: &Self::Key) -> Self::New;
}

impl<M: Memoised> Rewrite for M {
    type Key = M::Key;
    type New = M::New;

    fn graph(&mut self) -> &mut Graph {
        self.parts().0
    }

    fn origin(&self, key: &M::Key) -> Option<Term> {
        Memoised::origin(self, key)
    }

    fn is_done(&mut self, key: &M::Key) -> bool {
        self.parts().1.contains_key(key)
    }

    fn keep(&mut self, key: M::Key, new: M::New) {
        self.parts().1.insert(key, new);
    }

    fn made(&mut self, key: &M::Key) -> M::New {
        Memoised::made(self, key)
    }
}

/// A rewriting with its memo table, which may be of any form: see [`Memoised`] for the usual one.
pub trait Rewrite {
    /// The unit that is visited once: a term, or a term with a context.
    type Key: Clone;
    /// The result for a key.
    type New;

    /// The graph that new terms are made in.
    fn graph(&mut self) -> &mut Graph;

    /// The term whose source location the new terms inherit. `None` if they get the location of the
    /// term that asked for the rewriting.
    fn origin(&self, key: &Self::Key) -> Option<Term>;

    /// Whether the memo table has the result for a key.
    fn is_done(&mut self, key: &Self::Key) -> bool;

    /// Puts the result for a key into the memo table.
    fn keep(&mut self, key: Self::Key, new: Self::New);

    /// Computes the result for a key. The memo table has all results that it needs.
    fn made(&mut self, key: &Self::Key) -> Self::New;
}

/// A rewriting that asks for the keys that it needs.
pub trait OnDemand: Rewrite {
    /// The result for a key, if it needs no other result. Otherwise the keys that have to be
    /// rewritten first are added to `needs`.
    fn enter(&mut self, key: &Self::Key, needs: &mut Needs<'_, Self::Key>) -> Option<Self::New>;
}

/// The keys that have to be rewritten first.
#[derive(Debug)]
pub struct Needs<'s, K>(&'s mut Vec<(K, bool)>);

impl<K> Needs<'_, K> {
    /// Adds a key. The key that was added last is rewritten first.
    pub fn push(&mut self, key: K) {
        self.0.push((key, false));
    }
}

impl<K> Extend<K> for Needs<'_, K> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        self.0.extend(keys.into_iter().map(|key| (key, false)));
    }
}

/// Rewrites these keys in their order. Each one comes after its children.
pub fn by_age<R: Rewrite>(r: &mut R, keys: impl IntoIterator<Item = R::Key>) {
    for key in keys {
        if !r.is_done(&key) {
            let new = in_place(r, &key, |r| r.made(&key));
            r.keep(key, new);
        }
    }
}

/// Rewrites these keys, the first one first, and the keys that they need.
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

/// Runs a step. Its new terms inherit the source location of the key.
fn in_place<R: Rewrite, T>(r: &mut R, key: &R::Key, step: impl FnOnce(&mut R) -> T) -> T {
    let Some(origin) = r.origin(key) else { return step(r) };
    let here = r.graph().loc(origin);
    let before = r.graph().at(here);
    let result = step(r);
    r.graph().at(before);
    result
}
