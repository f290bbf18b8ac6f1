//! Loop fission for iteration-private updates: each iteration writes its own part of an array, and
//! reads this part, one that a later iteration writes, or one that no iteration writes. So all
//! iterations read the initial value, and all writes become one update over all iterations (the
//! rule *fission* in the table of `loops`). An array whose parts may overlap is not rewritten.
//!
//! Writes under a condition are rewritten in loops over a triangle only, under the condition of the
//! loop. Where it does not hold, a write keeps the initial value.

use ad_ir::sorted::SortedMap;
use std::collections::{HashMap, HashSet};

use super::triangular::{self, Effective};
use super::{Distribution, MAX_OPERATIONS, Placement, Update};
use crate::passes::simplify::index::offset;
use ad_ir::analysis::range::Facts;
use ad_ir::ir::{Graph, Node, Put, Term, Var};
use ad_ir::prim::{IntOp, Prim};

/// What an iteration writes to a carried array.
struct Writes<'a> {
    /// The array after each write.
    states: Vec<Term>,
    /// The variables and the index of each write.
    indices: Vec<(&'a [Var], &'a [Term])>,
    /// The number of iterations that write.
    count: Term,
}

impl Distribution<'_> {
    /// Finds these arrays, all at once, since an iteration may update one of them from elements of
    /// another.
    pub(super) fn fission(&mut self) {
        let mut found: SortedMap<usize, Vec<Update>> = SortedMap::new();
        self.read_before_writes();
        let triangle = triangular::effective_steps(self.g, &self.scan, &mut self.origins);
        for k in 0..self.carries() {
            if matches!(self.placement[k], Placement::Keep)
                && let Some(updates) = self.parts_of_steps(k, triangle)
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

    /// Reads of an array after a write of the same iteration, at an index that the write certainly
    /// does not change, become reads before it.
    fn read_before_writes(&mut self) {
        let results = self.scan.body.results.clone();
        let mut new = HashMap::new();
        for t in self.g.reachable(&results) {
            let Node::Gather { src, sizes, vars, index } = self.g.node(t).clone() else { continue };
            let mut of = src;
            while let Node::Scatter { dst, index: written, .. } = self.g.node(of).clone()
                && index.iter().zip(&written).any(|(&a, &b)| self.differ(a, b))
            {
                of = dst;
            }
            if of != src {
                let before = self.g.mk(Node::Gather { src: of, sizes, vars, index });
                new.insert(t, before);
            }
        }
        if !new.is_empty() {
            self.scan.body.results = self.g.replaced(&results, new).into();
        }
    }

    /// Whether two indices in an iteration certainly differ.
    fn differ(&mut self, a: Term, b: Term) -> bool {
        let [Some(a), Some(b)] = [a, b].map(|ix| self.origins.of(self.g, ix)) else { return false };
        let one = self.g.lit_usize(1);
        let [after_a, after_b] = [a, b].map(|t| self.g.int(IntOp::Add, t, one));
        Facts::new().prove_le(self.g, after_a, b) || Facts::new().prove_le(self.g, after_b, a)
    }

    /// The writes of an iteration to the carried array k, the last one first. `None` unless every
    /// iteration writes the array at one index only, a different one in each iteration. It may read
    /// the array at that index, at indices that later iterations write, and at indices that no
    /// iteration writes. In a loop over a triangle it may do all this under the loop's condition.
    fn parts_of_steps(&mut self, k: usize, triangle: Option<Effective>) -> Option<Vec<Update>> {
        let results = self.scan.body.results.clone();
        let own = self.g.param(k, self.scan.body.params[k].clone());
        if self.g.rank(own) == 0 {
            return None;
        }
        let (mut states, mut updates, mut t) = (Vec::new(), Vec::new(), results[k]);
        let mut mask = None;
        if let Node::Cond { cond, then, other } = *self.g.node(t)
            && let Some(Effective { condition, value, .. }) = triangle
            && condition == cond
            && own == if value { other } else { then }
        {
            states.push(t);
            mask = Some(if value { cond } else { self.g.not(cond) });
            t = if value { then } else { other };
        }
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
            let src = match (put, mask) {
                (Put::Add, _) => self.masked(mask, src),
                (Put::Set, None) => src,
                // The earlier writes of the iteration have changed what it would keep.
                (Put::Set, Some(_)) if dst != own => return None,
                (Put::Set, Some(mask)) => self.kept_unless(mask, k, src, (&vars, &index)),
            };
            states.push(t);
            updates.push(Update::Scatter { put, src, vars, index });
            t = dst;
        }
        let count = match (triangle, mask) {
            (Some(triangle), Some(_)) => triangle.count,
            _ => self.scan.count,
        };
        let indices: Vec<_> = updates
            .iter()
            .filter_map(|p| if let Update::Scatter { vars, index, .. } = p { Some((&**vars, &**index)) } else { None })
            .collect();
        let &(vars, index) = indices.last()?;
        let writes = Writes { states, indices, count };
        let axis = (0..index.len()).find(|&p| {
            self.moves(index[p], vars) && {
                let ascends = self.ascends(index[p]);
                self.only_at(k, own, &writes, (p, index[p], ascends))
            }
        });
        axis.map(|_| updates)
    }

    /// Whether an index grows from each iteration to the next, given that it differs between
    /// iterations.
    fn ascends(&mut self, ix: Term) -> bool {
        let steps = self.step_params();
        let falls =
            |t: Term| matches!(self.g.node(t), Node::Prim(Prim::Int(IntOp::Sub), args) if steps.contains(&args[1]));
        self.g.reachable(&[ix]).into_iter().any(falls) == self.scan.reverse
    }

    /// Whether the array and its states in an iteration are accessed at this index only. The array
    /// as it was before the iteration may also be read at indices that later iterations write, or
    /// that no iteration writes.
    fn only_at(&mut self, k: usize, own: Term, writes: &Writes<'_>, (axis, at, ascends): (usize, Term, bool)) -> bool {
        let results = self.scan.body.results.clone();
        let state: HashSet<Term> = writes.states.iter().copied().chain([own]).collect();
        let here = |index: &[Term]| index.get(axis) == Some(&at);
        let ahead = |g: &Graph, index: &[Term]| {
            index.get(axis).is_some_and(|&ix| {
                let ((base, distance), (other, further)) = (offset(g, at), offset(g, ix));
                other == base && if ascends { further > distance } else { further < distance }
            })
        };
        if results.iter().enumerate().any(|(n, r)| n != k && state.contains(r)) {
            return false;
        }
        self.g.reachable(&results).into_iter().all(|t| match &*self.g.node_rc(t) {
            Node::Gather { src, sizes, index, .. } if *src == own => {
                !sizes.iter().chain(index).any(|c| state.contains(c))
                    && (here(index) || ahead(self.g, index) || self.is_never_written(index, writes))
            }
            Node::Scatter { dst, src, index, .. } if state.contains(&t) => {
                state.contains(dst) && here(index) && !state.contains(src)
            }
            Node::Cond { cond, .. } if state.contains(&t) => !state.contains(cond),
            node => {
                let mut used = false;
                node.for_each_child(|c| used |= state.contains(&c));
                !used
            }
        })
    }

    /// Whether no iteration writes at an index: on some axis it is less than all indices that are
    /// written, or greater than all of them.
    fn is_never_written(&mut self, index: &[Term], writes: &Writes<'_>) -> bool {
        index.iter().enumerate().any(|(axis, &ix)| {
            let Some(ix) = self.origins.of(self.g, ix) else { return false };
            writes.indices.iter().all(|(vars, at)| {
                let (Some(&at), one, zero) = (at.get(axis), self.g.lit_usize(1), self.g.lit_usize(0)) else {
                    return false;
                };
                let Some(of_step) = self.origins.of(self.g, at) else { return false };
                let last = self.g.int(IntOp::Sub, writes.count, one);
                // An index that grows or falls from step to step is between those of the first and
                // the last step.
                let ends = [zero, last].map(|step| self.origins.at_step(self.g, of_step, step));
                if ends[0] != of_step && !self.moves(at, vars) {
                    return false;
                }
                let [after_ix, after_first, after_last] =
                    [ix, ends[0], ends[1]].map(|t| self.g.int(IntOp::Add, t, one));
                let (g, mut facts) = (&*self.g, Facts::new());
                let less = ends.iter().all(|&end| facts.prove_le(g, after_ix, end));
                less || [after_first, after_last].iter().all(|&end| facts.prove_le(g, end, ix))
            })
        })
    }
}
