//! Loop fission for iteration-private updates: each iteration reads and writes its own part of an
//! array. No iteration reads a part that another iteration has written, so all of them read the
//! initial value, and all writes become one update over all iterations (the rule *fission* in the
//! table of `loops`). An array whose parts may overlap is not rewritten.

use ad_ir::sorted::SortedMap;
use std::collections::HashSet;

use super::{Distribution, MAX_OPERATIONS, Placement, Update};
use ad_ir::ir::{Node, Put, Term};

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
    /// iteration reads and writes the array at one index only, which differs from those of other
    /// iterations.
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
        let axis =
            (0..index.len()).find(|&p| self.moves(index[p], &vars) && self.only_at(k, own, &states, p, index[p]));
        axis.map(|_| updates)
    }

    /// Whether the array and its states in an iteration are accessed at this index only.
    fn only_at(&self, k: usize, own: Term, states: &[Term], axis: usize, at: Term) -> bool {
        let results = &self.scan.body.results;
        let state: HashSet<Term> = states.iter().copied().chain([own]).collect();
        let here = |index: &[Term]| index.get(axis) == Some(&at);
        results.iter().enumerate().all(|(n, r)| n == k || !state.contains(r))
            && self.g.reachable(results).into_iter().all(|t| match self.g.node(t) {
                Node::Gather { src, sizes, index, .. } if *src == own => {
                    here(index) && !sizes.iter().chain(index).any(|c| state.contains(c))
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
