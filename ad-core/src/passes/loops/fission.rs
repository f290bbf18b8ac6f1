//! Arrays of which each step has a part of its own: no step sees what another one has written there, so all of them read what was there
//! before the loop, and what they write is written over all steps (the table of `loops`, *apart*).
//! Must never take an array whose parts may meet.

use std::collections::{BTreeMap, HashSet};

use super::{Fate, MANY, Parts, Piece};
use crate::ir::{Node, Put, Term};

impl Parts<'_> {
    /// Finds these arrays, all at once: what a step puts into one may be read from another one.
    pub(super) fn apart(&mut self) {
        let mut found: BTreeMap<usize, Vec<Piece>> = BTreeMap::new();
        for k in 0..self.carries() {
            if matches!(self.fate[k], Fate::Stays)
                && let Some(pieces) = self.parts_of_steps(k)
                && self.in_bulk(k)
            {
                found.insert(k, pieces);
            }
        }
        loop {
            self.apart = found.keys().copied().collect();
            let leaves = |p: &Piece| self.leaves(&p.terms(), None, &mut Vec::new());
            let stays: Vec<usize> = found.iter().filter(|(_, all)| !all.iter().all(leaves)).map(|(&k, _)| k).collect();
            if stays.is_empty() {
                break;
            }
            found.retain(|k, _| !stays.contains(k));
        }
        for (k, pieces) in found {
            self.fate[k] = Fate::Pieces(pieces);
        }
    }

    /// What each step writes into the carried array k, the last first, if it reads and writes there at one index of its own only.
    fn parts_of_steps(&mut self, k: usize) -> Option<Vec<Piece>> {
        let results = self.scan.body.results.clone();
        let own = self.g.param(k, self.scan.body.params[k].clone());
        if self.g.rank(own) == 0 {
            return None;
        }
        let (mut states, mut pieces, mut t) = (Vec::new(), Vec::new(), results[k]);
        while t != own {
            if states.len() > MANY || !matches!(self.g.node(t), Node::Scatter { .. }) {
                return None;
            }
            let node = self.g.node_rc(t);
            let (vars, index) = self.g.open_binder(&node);
            let Node::Scatter { put, dst, src, .. } = *node else { return None };
            if put == Put::Add && self.exact[k] {
                return None;
            }
            states.push(t);
            pieces.push(Piece::Scatter { put, src, vars, index });
            t = dst;
        }
        let Some(Piece::Scatter { vars, index, .. }) = pieces.last() else { return None };
        let (vars, index) = (vars.clone(), index.clone());
        let axis =
            (0..index.len()).find(|&p| self.moves(index[p], &vars) && self.only_at(k, own, &states, p, index[p]));
        axis.map(|_| pieces)
    }

    /// Whether the array and its states in a step are used in no other way than at this index.
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
