//! Whether a part of a loop can be computed outside of it, and whether it is. Must never let
//! anything out that a carried value may change.

use std::collections::HashSet;

use super::{LoopParts, Update};
use crate::choice::{Kind, choose, choose_if};
use crate::ir::{Node, Put, Term};

impl LoopParts<'_> {
    /// Whether all pieces can be computed outside, of what is saved for sums: of so many axes at
    /// most, given those of a summand.
    pub(super) fn all_leave(
        &self,
        all: &[Update],
        limit: impl Fn(usize) -> Option<usize>,
        saved: &mut Vec<Term>,
    ) -> bool {
        all.iter().all(|p| {
            let limit = match p {
                Update::Add(e) => limit(self.g.rank(*e)),
                Update::Scatter { put: Put::Add, src, .. } => limit(self.g.rank(*src)),
                _ => None,
            };
            self.leaves(&p.terms(), limit, saved)
        })
    }

    /// Whether what the carried value k becomes is taken behind the loop, of rows that are saved
    /// for it.
    pub(super) fn after_loop(&self, k: usize, all: &[Update], saved: &mut Vec<Term>) -> bool {
        let smaller = self.all_leave(all, Some, saved);
        if smaller && saved.is_empty() {
            return self.in_bulk(k);
        }
        let mut any = Vec::new();
        // By chance also of rows that are as large as what is added up.
        let possible = smaller || self.all_leave(all, |rank| Some(rank + 1), &mut any);
        let why = || match smaller {
            true => format!("({} saved rows of fewer axes)", saved.len()),
            false => String::new(),
        };
        let behind = possible && choose_if(true, Kind::DeferredSum, self.about(k), smaller, why);
        if behind && !smaller {
            *saved = any;
        }
        behind
    }

    /// What a choice about part k is known by.
    pub(super) fn about(&self, k: usize) -> (usize, usize) {
        (self.scan.body.results[k].index(), k + (self.scan.count.index() << 16))
    }

    /// Whether part k, which depends on nothing carried, leaves the loop: that costs nothing.
    pub(super) fn in_bulk(&self, k: usize) -> bool {
        choose(Kind::LoopDistribution, self.about(k), true, || "(it depends on no carried value)".into())
    }

    /// Whether terms can be computed outside: of nothing carried, or (given a number of axes) of
    /// what has fewer and is then saved.
    pub(super) fn leaves(&self, roots: &[Term], limit: Option<usize>, saved: &mut Vec<Term>) -> bool {
        let varies = self.with_any(roots, |me, t| me.carried(t).is_some_and(|k| me.changes(k)));
        let mut seen = HashSet::new();
        let mut stack = roots.to_vec();
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            if varies[&t] {
                let Some(limit) = limit else { return false };
                if saved.contains(&t) || self.saved.contains(&t) {
                    continue;
                }
                let array = self.g.ty(t).as_array().is_some();
                if array && self.g.free(t).is_empty() && self.g.rank(t) < limit {
                    saved.push(t);
                    continue;
                }
                if self.carried(t).is_some() {
                    return false;
                }
            }
            if matches!(self.g.node(t), Node::Scan(_)) {
                return false;
            }
            self.g.node(t).for_each_child(|c| stack.push(c));
        }
        true
    }
}
