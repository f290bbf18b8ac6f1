//! Analyses: facts about terms that passes ask for. An analysis reads a graph and does not change
//! it.
//!
//! An [`Analysis`] is a function of a set of roots. [`Analyses`] caches the results, by the name of
//! the analysis and the roots. Terms never change, so a cached result is never wrong; the pass
//! manager drops the results for roots that a pass has replaced.
//!
//! This module must never depend on a pass, on a mode of differentiation, on the front end or on
//! the emitter.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::rc::Rc;

use crate::ir::{Graph, Term};

pub mod bounds;
pub mod conjunction;
pub mod decisions;
pub mod guards;
pub mod moving;
pub mod powers;
pub mod range;
pub mod sizes;
pub mod uses;
pub mod varying;
pub mod zeros;

/// A fact about roots, or about all terms that they depend on.
pub trait Analysis: 'static {
    /// The fact.
    type Result: 'static;

    /// Computes the fact. It may ask for other analyses.
    fn of(g: &Graph, roots: &[Term], others: &mut Analyses) -> Self::Result;
}

/// The result of an analysis for terms that the caller has just made: no cache has it, and nobody
/// else will ask for it.
pub fn once<A: Analysis>(g: &Graph, roots: &[Term]) -> A::Result {
    A::of(g, roots, &mut Analyses::default())
}

/// The terms that roots depend on, children first.
#[derive(Debug)]
pub struct Reachable;

impl Analysis for Reachable {
    type Result = Vec<Term>;

    fn of(g: &Graph, roots: &[Term], _: &mut Analyses) -> Vec<Term> {
        g.reachable(roots)
    }
}

/// The key of a cached result: an analysis and its roots.
type Key = (TypeId, Box<[Term]>);

/// Results of analyses, by analysis and roots.
#[derive(Debug, Default)]
pub struct Analyses {
    cached: HashMap<Key, Rc<dyn Any>>,
}

impl Analyses {
    /// The result of analysis `A` for these roots.
    pub fn get<A: Analysis>(&mut self, g: &Graph, roots: &[Term]) -> Rc<A::Result> {
        let key = (TypeId::of::<A>(), roots.into());
        if let Some(found) = self.cached.get(&key)
            && let Ok(found) = Rc::clone(found).downcast::<A::Result>()
        {
            return found;
        }
        let new = Rc::new(A::of(g, roots, self));
        self.cached.insert(key, Rc::clone(&new) as Rc<dyn Any>);
        new
    }

    /// Drops all results.
    pub fn clear(&mut self) {
        self.cached.clear();
    }
}
