//! The guard of each term: the conditions common to all its uses. No term gets a guard that one of
//! its uses lacks.

use std::collections::HashMap;

use super::super::plan::Guard;
use ad_ir::analysis::guards::{decided, parts};
use ad_ir::ir::{Graph, Node, Term, TermTable, Type};
use ad_ir::prim::Prim;
use ad_middle::passes::lowering::opened::{LeafRole, LoopScopes, Loops, RowGrowth};

/// The maximum number of conditions of a guard. Deeper ones are dropped; the term is then also
/// computed where it is not needed.
const MAX_CONDITIONS: usize = 16;
/// The maximum depth of conditions inside of conditions that are examined.
const MAX_NESTING: usize = 8;

#[derive(Default)]
pub(super) struct GuardSets {
    pub(super) sets: Vec<Vec<Guard>>,
    ids: HashMap<Vec<Guard>, u32>,
    /// The simpler conditions that the value of a condition implies, outermost first, at most
    /// [`MAX_CONDITIONS`].
    implied: HashMap<Guard, Vec<Guard>>,
}

impl GuardSets {
    fn id(&mut self, set: Vec<Guard>) -> u32 {
        if let Some(&id) = self.ids.get(&set) {
            return id;
        }
        let id = u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
        self.sets.push(set.clone());
        self.ids.insert(set, id);
        id
    }

    /// A guard with one more condition. A condition that contradicts the guard is left out: nothing
    /// needs the term then, and a guard that cannot hold has no place among the statements.
    fn with(&mut self, g: &Graph, id: u32, literal: Guard) -> u32 {
        self.imply(g, literal);
        let mut set = self.sets[id as usize].clone();
        for &l in &self.implied[&literal] {
            let contradicts = set.contains(&(l.0, !l.1));
            if set.len() < MAX_CONDITIONS && !set.contains(&l) && !contradicts {
                set.push(l);
            }
        }
        set.sort_unstable();
        self.id(set)
    }

    /// A conjunction implies each of its parts (`modes` builds conjunctions from left to right). So
    /// the terms that a derivative computes under it and those that the function computes under its
    /// parts have one guard. Chains are as deep as the program.
    fn imply(&mut self, g: &Graph, literal: Guard) {
        let mut stack = vec![literal];
        while let Some(&l) = stack.last() {
            if self.implied.contains_key(&l) {
                stack.pop();
                continue;
            }
            let parts = parts(g, l);
            let before = stack.len();
            stack.extend(parts.iter().filter(|p| !self.implied.contains_key(p)));
            if stack.len() > before {
                continue;
            }
            let mut all: Vec<Guard> = if parts.is_empty() { vec![l] } else { Vec::new() };
            all.extend(parts.iter().flat_map(|p| self.implied[p].iter().copied()));
            all.truncate(MAX_CONDITIONS);
            self.implied.insert(l, all);
            stack.pop();
        }
    }

    /// A guard of `t` without the conditions that a size of its loop is not 0, since the loop has
    /// no iterations if it is 0. So terms with and without such a condition share a loop.
    fn without_filled(&mut self, g: &Graph, t: Term, id: u32) -> u32 {
        let filled = |&(cond, holds): &Guard| g.not_empty(cond).filter(|_| holds);
        if !self.sets[id as usize].iter().any(|l| filled(l).is_some()) {
            return id;
        }
        let mut sizes: Vec<Term> = Vec::new();
        let mut of = |t: Term| {
            if let Type::Array(_, shape) = g.ty(t) {
                sizes.extend(shape.iter().copied());
            }
        };
        of(t);
        match g.node(t) {
            Node::Prim(Prim::Sum(_) | Prim::Reduce(..) | Prim::Contract(_), args) => args.iter().for_each(|&c| of(c)),
            Node::Scatter { src, .. } => of(*src),
            _ => {}
        }
        let kept = |l: &&Guard| filled(l).is_none_or(|n| !sizes.contains(&n));
        let kept: Vec<Guard> = self.sets[id as usize].iter().filter(kept).copied().collect();
        self.id(kept)
    }

    fn meet(&mut self, a: u32, b: u32) -> u32 {
        if a == b {
            return a;
        }
        let (a, b) = (&self.sets[a as usize], &self.sets[b as usize]);
        let common = a.iter().copied().filter(|l| b.contains(l)).collect();
        self.id(common)
    }

    /// The conditions common to two guards of an array. A condition of one guard is also common if
    /// the conditions of the other guard imply it: an update that only some arms read can be made
    /// in place only if no other arm reads the array before the update. `of` gives the guard of a
    /// condition so far.
    fn meet_of_array(&mut self, g: &Graph, a: u32, b: u32, of: impl Fn(Term) -> u32) -> u32 {
        let plain = self.meet(a, b);
        let (a, b) = (&self.sets[a as usize], &self.sets[b as usize]);
        let mut common = self.sets[plain as usize].clone();
        for (one, other) in [(a, b), (b, a)] {
            for l in one.iter().filter(|l| !other.contains(l) && decided(g, l.0, other, MAX_NESTING) == Some(l.1)) {
                // A condition is computed only under its own guard, so it can be tested only there.
                let own = self.sets.get(of(l.0) as usize);
                if own.is_some_and(|own| own.iter().all(|l| common.contains(l))) {
                    common.push(*l);
                }
            }
        }
        common.sort_unstable();
        self.id(common)
    }
}

/// The guard of each reachable term: the conditions common to all its uses. In the body of a loop,
/// the loop's own guard is part of it.
pub(super) fn guards(
    g: &Graph,
    reach: &[Term],
    roots: &[Term],
    loops: &Loops,
    scopes: &LoopScopes,
) -> (GuardSets, TermTable<u32>) {
    const UNUSED: u32 = u32::MAX;
    let mut sets = GuardSets::default();
    let none = sets.id(Vec::new());
    let mut guard = TermTable::new(UNUSED);
    // The handles of a loop's results are consecutive: the lowest one is visited last.
    let mut of_loop = vec![UNUSED; loops.all.len()];
    let mut left = vec![0; loops.all.len()];
    let use_under = |guard: &mut TermTable<u32>, c: Term, id: u32, sets: &mut GuardSets| {
        // The conditions of a loop's body do not hold outside of the loop.
        let scope = scopes.of(c);
        let mut id = id;
        if sets.sets[id as usize].iter().any(|l| !scopes.contains(scopes.of(l.0), scope)) {
            let kept =
                sets.sets[id as usize].iter().copied().filter(|l| scopes.contains(scopes.of(l.0), scope)).collect();
            id = sets.id(kept);
        }
        let old = guard[c];
        guard[c] = match old {
            UNUSED => id,
            _ if g.rank(c) > 0 => sets.meet_of_array(g, old, id, |c| guard[c]),
            _ => sets.meet(old, id),
        };
    };
    for &t in roots {
        guard[t] = none;
    }
    let alive = |t: Term| reach.binary_search(&t).is_ok();
    for (n, l) in loops.all.iter().enumerate() {
        left[n] = l.carries.iter().filter(|c| alive(c.last)).count() + l.rows.iter().filter(|r| alive(r.all)).count();
    }
    for &t in reach.iter().rev() {
        let own = guard[t];
        // A leaf of a loop is defined in the body, and so are all its readers.
        let own = if own == UNUSED { none } else { own };
        let own = sets.without_filled(g, t, own);
        guard[t] = if guard[t] == UNUSED { UNUSED } else { own };
        if let Some((n, LeafRole::Last(_) | LeafRole::Rows(_))) = loops.role(t) {
            // A dead result has no uses to take conditions from.
            if guard[t] != UNUSED {
                of_loop[n] = if of_loop[n] == UNUSED { own } else { sets.meet(of_loop[n], own) };
            }
            left[n] -= 1;
            if left[n] == 0 {
                let (l, own) = (&loops.all[n], if of_loop[n] == UNUSED { none } else { of_loop[n] });
                use_under(&mut guard, l.count, own, &mut sets);
                use_under(&mut guard, l.steps, own, &mut sets);
                l.stop.iter().for_each(|&t| use_under(&mut guard, t, own, &mut sets));
                for c in &l.carries {
                    use_under(&mut guard, c.init, own, &mut sets);
                    use_under(&mut guard, c.next, own, &mut sets);
                }
                for r in &l.rows {
                    r.beside().for_each(|t| use_under(&mut guard, t, own, &mut sets));
                    match r.under {
                        Some(under) => {
                            let id = if g.bool_value(under).is_some() { own } else { sets.with(g, own, (under, true)) };
                            use_under(&mut guard, r.row, id, &mut sets);
                        }
                        None if r.how != RowGrowth::Inner => use_under(&mut guard, r.row, own, &mut sets),
                        // An inner loop computes its rows where it runs.
                        None => {}
                    }
                }
            }
            continue;
        }
        match g.node(t) {
            Node::Cond { cond, then, other } if g.free(*cond).is_empty() => {
                use_under(&mut guard, *cond, own, &mut sets);
                let (yes, no) = (sets.with(g, own, (*cond, true)), sets.with(g, own, (*cond, false)));
                use_under(&mut guard, *then, yes, &mut sets);
                use_under(&mut guard, *other, no, &mut sets);
            }
            node => node.for_each_child(|c| use_under(&mut guard, c, own, &mut sets)),
        }
    }
    // One statement computes all results of a loop.
    for &t in reach {
        if let Some((n, LeafRole::Last(_) | LeafRole::Rows(_))) = loops.role(t) {
            guard[t] = if of_loop[n] == UNUSED { none } else { of_loop[n] };
        }
    }
    (sets, guard)
}
