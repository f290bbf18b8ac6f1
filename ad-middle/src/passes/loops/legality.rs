//! Decides whether a result of a loop can be computed outside of it, and whether that pays.
//!
//! The cost rule of sums: if all carried values that a summand reads have *fewer axes* than the
//! summand, they are saved in each iteration and the sum is taken after the loop. For an outer
//! product these are two vectors instead of a pass over a matrix, and the sum is one contraction
//! (the weight gradient of a recurrent net). A scalar sum never moves in this way, since no saved
//! row is smaller. A sum that needs only values that are saved anyway moves too.
//!
//! This module must never let a term that depends on a changing carried value leave the loop in any
//! other way.

use std::collections::HashSet;

use super::ragged::has_two_ragged_axes;
use super::{Distribution, Update};
use crate::passes::trace;
use ad_ir::analysis::zeros::is_blank;
use ad_ir::choice::{Kind, choose, choose_if};
use ad_ir::ir::{Node, Put, Term};
use ad_ir::prim::Prim;

impl Distribution<'_> {
    /// Whether all updates can be computed outside of the loop, from values that are saved for
    /// sums. `limit` gives the maximum number of axes of these values, from that of a summand.
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

    /// Whether the updates of the carried value k are summed after the loop, from rows that are
    /// saved for it.
    pub(super) fn after_loop(&self, k: usize, all: &[Update], saved: &mut Vec<Term>) -> bool {
        let smaller = self.all_leave(all, Some, saved);
        if smaller && saved.is_empty() {
            return self.in_bulk(k);
        }
        let mut any = Vec::new();
        // In randomised tests also from rows that are as large as the summands.
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

    /// The key of a choice about result k.
    pub(super) fn about(&self, k: usize) -> (usize, usize) {
        (self.scan.body.results[k].index(), k + (self.scan.count.index() << 16))
    }

    /// Whether result k, which depends on no carried value, leaves the loop. It does, unless the
    /// steps compute rectangles of which only the elements of a group exist (`ragged`).
    pub(super) fn in_bulk(&self, k: usize) -> bool {
        let pays = !has_two_ragged_axes(self.g, &self.scan, self.scan.body.results[k]);
        let why = || match pays {
            true => "(it depends on no carried value)".into(),
            false => "(two axes end at an index that the data determine)".into(),
        };
        choose(Kind::LoopDistribution, self.about(k), pays, why)
    }

    /// Whether terms can be computed outside: they depend on no carried value, or (given a number
    /// of axes) on values with fewer axes, which are then saved.
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
            // The terms that stay in the loop may read the same call. In a separate loop the call
            // would be made twice, and so would each call that it makes in turn.
            if matches!(self.g.node(t), Node::Scan(_) | Node::Prim(Prim::Call(_) | Prim::Onto(..), _)) {
                return false;
            }
            self.g.node(t).for_each_child(|c| stack.push(c));
        }
        true
    }

    /// Whether a row is a truth value or an integer that is computed from ordered sums which each
    /// step computes anyway. Such a row stays in the loop: a derivative that reads it takes the
    /// same arm, to the last bit, and the summands of all steps are not in memory at once.
    pub(super) fn summed_in_order(&self, row: Term) -> bool {
        let in_order = |t: &Term| matches!(self.g.node(*t), Node::Prim(Prim::RelaxedExact, _));
        let sums: Vec<Term> = match self.g.ty(row).is_real() {
            true => Vec::new(),
            false => self.g.reachable(&[row]).into_iter().filter(in_order).collect(),
        };
        if sums.is_empty() {
            return false;
        }
        let taken = self.g.reachable(&self.scan.body.results[..self.carries()]);
        sums.iter().all(|t| taken.binary_search(t).is_ok())
    }

    /// Row k as elements that are scattered into zeros, if they have fewer axes than the row. The
    /// elements are saved as rows of the loop, and scattered after it. So a step that finds one
    /// element of an array does not write a row of zeros.
    pub(super) fn placed_row(&mut self, k: usize, row: Term) -> Option<Term> {
        let placed = self.placed(row)?;
        let mut saved = Vec::new();
        if !self.leaves(&[placed], Some(self.g.rank(row)), &mut saved) {
            return None;
        }
        let why = || format!("({} saved rows of fewer axes)", saved.len());
        if !choose(Kind::LoopDistribution, self.about(k), true, why) {
            return None;
        }
        trace::fired("loops.placed_rows", row, &[placed]);
        self.saved.extend(saved);
        Some(placed)
    }

    /// A scatter into zeros whose conditions are those of its elements.
    fn placed(&mut self, row: Term) -> Option<Term> {
        match self.g.node(row).clone() {
            Node::Scatter { put: Put::Add, dst, src, .. }
                if is_blank(self.g, dst) && self.g.rank(src) < self.g.rank(row) =>
            {
                Some(row)
            }
            Node::Cond { cond, then, other } => {
                let (arm, value) = match (is_blank(self.g, then), is_blank(self.g, other)) {
                    (false, true) => (then, true),
                    (true, false) => (other, false),
                    _ => return None,
                };
                let placed = self.placed(arm)?;
                let Node::Scatter { put, dst, src, vars, index } = self.g.node(placed).clone() else { return None };
                let zeros = self.g.zeros_of_any(src);
                let (then, other) = if value { (src, zeros) } else { (zeros, src) };
                let src = self.g.cond(cond, then, other);
                Some(self.g.mk(Node::Scatter { put, dst, src, vars, index }))
            }
            _ => None,
        }
    }
}
