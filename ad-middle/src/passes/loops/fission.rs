//! Loop fission for iteration-private updates: each iteration writes its own part of an array, and
//! reads this part, or one that a later iteration writes. No iteration reads a part that another
//! iteration has written, so all of them read the initial value, and all writes become one update
//! over all iterations (the rule *fission* in the table of `loops`). An array whose parts may
//! overlap is not rewritten.

use ad_ir::sorted::SortedMap;
use std::collections::HashSet;

use super::{Distribution, MAX_OPERATIONS, Placement, Update};
use crate::passes::simplify::index::offset;
use ad_ir::ir::{Node, Put, Term};
use ad_ir::prim::{IntOp, Prim};

impl Distribution<'_> {
    /// Finds these arrays, all at once, since an iteration may update one of them from elements of
    /// another.
    pub(super) fn fission(&mut self) {
        let mut found: SortedMap<usize, Vec<Update>> = SortedMap::new();
        for k in 0..self.carries() {
            if matches!(self.placement[k], Placement::Keep)
                && let Some(updates) = self.parts_of_steps(k)
                && self.in_bulk(k)
            {
                found.insert(k, updates);
            }
        }
        loop {
            self.private = found.keys().copied().collect();
            let leaves = |p: &Update| self.leaves(&p.terms(), None, &mut Vec::new());
            let stays: Vec<usize> = found.iter().filter(|(_, all)| !all.iter().all(leaves)).map(|(&k, _)| k).collect();
            if stays.is_empty() {
                break;
            }
            found.retain(|k, _| !stays.contains(k));
        }
        for (k, updates) in found {
            self.placement[k] = Placement::Updates(updates);
        }
    }

    /// The writes of an iteration to the carried array k, the last one first. `None` unless the
    /// iteration writes the array at one index only, which differs from those of other iterations,
    /// and reads it there or ahead of it.
    fn parts_of_steps(&mut self, k: usize) -> Option<Vec<Update>> {
        let results = self.scan.body.results.clone();
        let own = self.g.param(k, self.scan.body.params[k].clone());
        if self.g.rank(own) == 0 {
            return None;
        }
        let (mut states, mut updates, mut t) = (Vec::new(), Vec::new(), results[k]);
        while t != own {
            if states.len() > MAX_OPERATIONS || !matches!(self.g.node(t), Node::Scatter { .. }) {
                return None;
            }
            let node = self.g.node_rc(t);
            let (vars, index) = self.g.open_binder(&node);
            let Node::Scatter { put, dst, src, .. } = *node else { return None };
            if put == Put::Add && self.exact[k] {
                return None;
            }
            states.push(t);
            updates.push(Update::Scatter { put, src, vars, index });
            t = dst;
        }
        let Some(Update::Scatter { vars, index, .. }) = updates.last() else { return None };
        let (vars, index) = (vars.clone(), index.clone());
        let axis = (0..index.len()).find(|&p| {
            self.moves(index[p], &vars) && {
                let ascends = self.ascends(index[p]);
                self.only_at(k, own, &states, (p, index[p], ascends))
            }
        });
        axis.map(|_| updates)
    }

    /// Whether an index grows from each iteration to the next, given that it moves.
    fn ascends(&mut self, ix: Term) -> bool {
        let steps = self.step_params();
        let falls =
            |t: Term| matches!(self.g.node(t), Node::Prim(Prim::Int(IntOp::Sub), args) if steps.contains(&args[1]));
        self.g.reachable(&[ix]).into_iter().any(falls) == self.scan.reverse
    }

    /// Whether the array and its states in an iteration are accessed at this index only. The array
    /// as it was before the iteration may also be read at indices that later iterations write.
    fn only_at(&self, k: usize, own: Term, states: &[Term], (axis, at, ascends): (usize, Term, bool)) -> bool {
        let results = &self.scan.body.results;
        let state: HashSet<Term> = states.iter().copied().chain([own]).collect();
        let here = |index: &[Term]| index.get(axis) == Some(&at);
        let (base, distance) = offset(self.g, at);
        let ahead = |index: &[Term]| {
            index.get(axis).is_some_and(|&ix| {
                let (other, further) = offset(self.g, ix);
                other == base && if ascends { further > distance } else { further < distance }
            })
        };
        results.iter().enumerate().all(|(n, r)| n == k || !state.contains(r))
            && self.g.reachable(results).into_iter().all(|t| match self.g.node(t) {
                Node::Gather { src, sizes, index, .. } if *src == own => {
                    (here(index) || ahead(index)) && !sizes.iter().chain(index).any(|c| state.contains(c))
                }
                Node::Scatter { dst, src, index, .. } if state.contains(&t) => {
                    state.contains(dst) && here(index) && !state.contains(src)
                }
                node => {
                    let mut used = false;
                    node.for_each_child(|c| used |= state.contains(&c));
                    !used
                }
            })
    }
}
