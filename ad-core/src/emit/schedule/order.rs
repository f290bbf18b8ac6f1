//! The order of a scope's statements, and which carried arrays are added to in place. Must never iterate anything unordered.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::loops::way;
use super::super::store::{Class, alias_of};
use super::{All, Of, Plan, reads};
use crate::ir::{Graph, Node, Term};
use crate::prim::Prim;

/// The carried arrays of a loop that can be added to in place, as the terms on the way from one step to the next,
/// and which statements then have to come before which.
pub(super) fn places(
    all: &All<'_>,
    own: &[usize],
    plan: &Plan,
    n: usize,
) -> (Vec<(usize, usize)>, HashMap<Term, Term>) {
    let (g, l) = (all.g, &plan.loops.all[n]);
    let (mut before, mut in_place) = (Vec::new(), HashMap::new());
    let of = |s: usize| match all.statements[s].of {
        Of::Term(t) => Some(t),
        _ => None,
    };
    for c in l.carries.iter().filter(|c| g.rank(c.now) > 0) {
        let Some(way) = way(g, c.now, c.next) else { continue };
        let here = |t: Term| plan.scopes.of(t) == n + 1 && !in_place.contains_key(&t);
        let ends = || l.carries.iter().map(|c| c.next).chain(l.rows.iter().map(|r| r.row));
        // The former value must not be wanted at the end, and one on the way only by the next.
        let wanted = l.carries.iter().any(|d| d.next == c.now)
            || ends().filter(|&t| t == c.next).count() > l.rows.iter().filter(|r| r.row == c.next).count() + 1
            || ends().any(|t| t != c.next && way.contains(&t));
        if wanted || !way.iter().all(|&t| here(t)) {
            continue;
        }
        let mut edges = Vec::new();
        let mut possible = true;
        // All former states of the array, and what shows them: they are one memory.
        let mut shown: BTreeSet<Term> = BTreeSet::from([c.now]);
        for &t in &way {
            let Node::Scatter { dst, src, index, .. } = g.node(t) else { continue };
            // All that shows this state of the array: it, and what is the same memory under another name.
            let mut same: BTreeSet<Term> = BTreeSet::from([*dst]);
            for &s in own {
                let Some(u) = of(s).filter(|u| !way.contains(u)) else { continue };
                let alias = alias_of(g, &plan.class, u).is_some_and(|a| same.contains(&a));
                let choice = matches!(g.node(u), Node::Cond { then, other, .. }
                    if g.rank(u) > 0 && (same.contains(then) || same.contains(other)));
                if alias || choice {
                    same.insert(u);
                }
            }
            possible &= !ends().any(|t| t != c.next && same.contains(&t) && t != c.now);
            for &s in own {
                let statement = &all.statements[s];
                if of(s).is_some_and(|u| way.contains(&u)) {
                    continue;
                }
                if statement.reads.keys().any(|r| same.contains(r)) {
                    edges.push((s, all.of_term[&t]));
                }
            }
            // What is put there must not be read from the same memory.
            let mut inner: BTreeMap<Term, bool> = BTreeMap::new();
            for &u in std::iter::once(src).chain(&**index) {
                match plan.class(u) {
                    Class::View => inner.extend(reads(g, &plan.class, u)),
                    _ => drop(inner.insert(u, false)),
                }
            }
            shown.extend(same);
            possible &= !inner.keys().any(|u| shown.contains(u));
        }
        if possible {
            before.extend(edges);
            in_place.extend(way.iter().map(|&t| (t, c.now)));
        }
    }
    (before, in_place)
}

/// Kahn's algorithm, for the statements of one scope; `before` are further pairs (earlier, later). Checks and what they need come first;
/// then scalars before loops; the guard at hand before others.
pub(super) fn list_schedule(all: &All<'_>, own: &[usize], before: &[(usize, usize)]) -> Option<Vec<usize>> {
    let All { g, statements, of_term, checks, sets } = *all;
    let n = own.len();
    let place: HashMap<usize, usize> = own.iter().enumerate().map(|(k, &s)| (s, k)).collect();
    let mut needs: Vec<Vec<usize>> = Vec::with_capacity(n);
    for &s in own {
        let statement = &statements[s];
        let conditions = sets.sets[statement.guard as usize].iter().map(|l| &l.0);
        let needed = statement.reads.keys().chain(conditions).filter_map(|t| of_term.get(t));
        let mut needed: Vec<usize> = needed.filter_map(|s| place.get(s).copied()).collect();
        needed.extend(before.iter().filter(|b| b.1 == s).filter_map(|b| place.get(&b.0).copied()));
        needed.sort_unstable();
        needed.dedup();
        needs.push(needed);
    }
    let mut phase = vec![2_u8; n];
    for wanted in [0, 1] {
        let of_phase = |s: &usize| matches!(statements[own[*s]].of, Of::Check(c) if checks[c].entry == (wanted == 0));
        let mut stack: Vec<usize> = (0..n).filter(of_phase).collect();
        while let Some(s) = stack.pop() {
            if phase[s] > wanted {
                phase[s] = wanted;
                stack.extend(&needs[s]);
            }
        }
    }
    let mut waiting: Vec<usize> = needs.iter().map(Vec::len).collect();
    let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (s, needed) in needs.iter().enumerate() {
        for &d in needed {
            dependents[d].push(s);
        }
    }
    let key = |s: usize| {
        let statement = &statements[own[s]];
        let looped = match statement.of {
            Of::Term(t) => g.rank(t) > 0 || !is_let(g, t),
            Of::Loop(_) => true,
            Of::Check(_) => false,
        };
        (phase[s], u8::from(looped), statement.guard, s)
    };
    let mut ready: BTreeSet<(u8, u8, u32, usize)> = (0..n).filter(|&s| waiting[s] == 0).map(key).collect();
    let mut order = Vec::with_capacity(n);
    let mut here = 0;
    while let Some(&(phase, looped, ..)) = ready.first() {
        let same = ready.range((phase, looped, here, 0)..=(phase, looped, here, usize::MAX)).next();
        let Some(&next) = same.or(ready.first()) else { break };
        ready.remove(&next);
        let s = next.3;
        here = next.2;
        order.push(own[s]);
        for &d in &dependents[s] {
            waiting[d] -= 1;
            if waiting[d] == 0 {
                ready.insert(key(d));
            }
        }
    }
    if order.len() < n { None } else { Some(order) }
}

/// Whether a closed scalar is a plain `let`, without a loop.
pub(super) fn is_let(g: &Graph, t: Term) -> bool {
    !matches!(g.node(t), Node::Prim(Prim::Sum(_) | Prim::Reduce(..) | Prim::Contract(_), _))
}
