//! The order of a scope's statements, and the carried arrays that are updated in place. No
//! unordered collection is iterated.

use ad_ir::sorted::{SortedMap, SortedSet};
use std::collections::{BTreeSet, HashMap};

use super::super::calls::is_call;
use super::super::plan::{Guard, Plan};
use super::super::store::{Class, alias_of};
use super::statements::{Shared, Target, reads};
use ad_ir::analysis::guards::{decided, parts};
use ad_ir::choice::{Kind, choose_if};
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::prim::Prim;
use ad_ir::program::Phase;
use ad_middle::passes::lowering::opened::{Carry, chain_of_updates};

/// The maximum number of parts of a condition that are examined.
const MAX_PARTS: usize = 64;

/// A carried array of a loop that can be updated in place.
pub(super) struct InPlace {
    pub(super) now: Term,
    /// The chain of updates from one iteration to the next: all its terms use one memory.
    pub(super) chain: Vec<Term>,
    /// The pairs of statements (earlier, later) whose order this requires.
    pub(super) before: Vec<(usize, usize)>,
}

impl InPlace {
    /// Each term of the chain, and the array whose memory it uses.
    pub(super) fn terms(&self) -> impl Iterator<Item = (Term, Term)> + '_ {
        self.chain.iter().map(|&t| (t, self.now))
    }
}

/// The carried arrays of loop `n` that can be updated in place. Each array is decided separately.
pub(super) fn in_place_updates(all: &Shared<'_>, own: &[usize], plan: &Plan, n: usize) -> Vec<InPlace> {
    let mut found: Vec<InPlace> = Vec::new();
    for c in plan.loops.all[n].carries.iter().filter(|c| all.g.rank(c.now) > 0) {
        let Some(chain) = chain_of_updates(all.g, &plan.loops, c.now, c.next) else { continue };
        let taken = |t: &Term| found.iter().any(|other| other.chain.contains(t));
        if chain.iter().any(taken) {
            continue;
        }
        let made = in_place_update(all, own, plan, n, c, chain);
        let why = || match &made {
            Some(made) => format!("({} readers of its earlier states come first)", made.before.len()),
            None => "(the update reads the array itself, or a later term reads an earlier state)".into(),
        };
        if choose_if(made.is_some(), Kind::InPlace, (c.last.index(), 0), made.is_some(), why) {
            found.extend(made);
        }
    }
    found
}

/// The chains of updates from arrays of the caller to the results that replace them, for those
/// arrays whose states can all share the caller's memory.
pub(super) fn in_place_updates_of_caller(
    all: &Shared<'_>,
    own: &[usize],
    plan: &Plan,
    onto: &[(Term, Term)],
) -> Vec<InPlace> {
    let mut found: Vec<InPlace> = Vec::new();
    for &(now, result) in onto {
        let Some(chain) = chain_of_updates(all.g, &plan.loops, now, result) else { continue };
        let taken = |t: &Term| found.iter().any(|other| other.chain.contains(t));
        if chain.iter().all(|&t| plan.scopes.of(t) == 0) && !chain.iter().any(taken) {
            found.extend(in_one_memory(all, own, plan, (now, chain), &|_| false));
        }
    }
    found
}

/// The chain of updates of this carried array, if all its states can share one memory.
fn in_place_update(
    all: &Shared<'_>,
    own: &[usize],
    plan: &Plan,
    n: usize,
    c: &Carry,
    chain: Vec<Term>,
) -> Option<InPlace> {
    let l = &plan.loops.all[n];
    let ends = || l.carries.iter().map(|c| c.next).chain(l.rows.iter().map(|r| r.row));
    // No update in place if some carried value becomes the state at the start of the iteration. The
    // results of the iteration may read only the last state of the chain, and only one carried
    // value may be it.
    let wanted = l.carries.iter().any(|d| d.next == c.now)
        || ends().filter(|&t| t == c.next).count() > l.rows.iter().filter(|r| r.row == c.next).count() + 1
        || ends().any(|t| t != c.next && chain.contains(&t));
    if wanted || !chain.iter().all(|&t| plan.scopes.of(t) == n + 1) {
        return None;
    }
    let early = |same: &SortedSet<Term>| ends().any(|t| t != c.next && same.contains(&t) && t != c.now);
    in_one_memory(all, own, plan, (c.now, chain), &early)
}

/// The chain of updates of the array `now`, if all its states can share one memory. `early` says
/// whether a result of the scope reads an earlier state, given the state's aliases.
fn in_one_memory(
    all: &Shared<'_>,
    own: &[usize],
    plan: &Plan,
    (now, chain): (Term, Vec<Term>),
    early: &dyn Fn(&SortedSet<Term>) -> bool,
) -> Option<InPlace> {
    let g = all.g;
    let of = |s: usize| match all.statements[s].of {
        Target::Term(t) => Some(t),
        _ => None,
    };
    // The statements that change the array: scatters, calls and loops.
    let changes: SortedSet<usize> = chain.iter().filter_map(|t| all.of_term.get(t).copied()).collect();
    let mut before = Vec::new();
    // All earlier states of the array and their aliases: they use the same memory.
    let mut shown: SortedSet<Term> = SortedSet::from([now]);
    for &t in &chain {
        let from = match g.node(t) {
            Node::Cond { cond, then, other } => {
                if !updates_are_guarded(all, plan, now, (*cond, *then, *other)) {
                    return None;
                }
                continue;
            }
            _ => match g.destination(t) {
                Some(dst) => dst,
                None => plan.loops.begun(t)?.1.init,
            },
        };
        // All aliases of this state of the array: itself, the states that branches return
        // unchanged, and other names of the same memory.
        let mut same = with_unchanged_states(g, &chain, from);
        for &s in own {
            let Some(u) = of(s).filter(|u| !chain.contains(u)) else { continue };
            let alias = alias_of(g, &plan.class, u).is_some_and(|a| same.contains(&a));
            let choice = matches!(g.node(u), Node::Cond { then, other, .. }
                if g.rank(u) > 0 && (same.contains(then) || same.contains(other)));
            if alias || choice {
                same.insert(u);
            }
        }
        if early(&same) {
            return None;
        }
        for &s in own.iter().filter(|s| !changes.contains(*s)) {
            if all.statements[s].reads.keys().any(|r| same.contains(r)) {
                before.push((s, all.of_term[&t]));
            }
        }
        shown.extend(same);
        if reads_earlier_state(all, plan, t, &shown) {
            return None;
        }
    }
    Some(InPlace { now, chain, before })
}

/// A state of an array, and the states that branches in this chain return unchanged.
fn with_unchanged_states(g: &Graph, chain: &[Term], from: Term) -> SortedSet<Term> {
    let (mut found, mut stack) = (SortedSet::new(), vec![from]);
    while let Some(t) = stack.pop() {
        if found.insert(t)
            && chain.contains(&t)
            && let Node::Cond { then, other, .. } = g.node(t)
        {
            stack.extend([*then, *other]);
        }
    }
    found
}

/// Whether an update of the array (a scatter or a loop) reads one of these earlier states or their
/// aliases.
fn reads_earlier_state(all: &Shared<'_>, plan: &Plan, t: Term, shown: &SortedSet<Term>) -> bool {
    let g = all.g;
    let read: Option<Vec<Term>> = match g.node(t) {
        Node::Scatter { src, index, .. } => Some(std::iter::once(src).chain(&**index).copied().collect()),
        Node::Prim(Prim::Onto(..), args) => Some(args[..args.len() - 1].to_vec()),
        _ => None,
    };
    if let Some(read) = read {
        let mut inner: SortedMap<Term, bool> = SortedMap::new();
        for u in read {
            match plan.class(u) {
                Class::View => inner.extend(reads(g, &plan.class, (&plan.windows, &plan.exact), u)),
                _ => drop(inner.insert(u, false)),
            }
        }
        return inner.keys().any(|u| shown.contains(u));
    }
    let Some((m, own)) = plan.loops.begun(t) else { return true };
    let l = &plan.loops.all[m];
    // The values that the loop reads, also by the loops in its body.
    let body = all.statements.iter().filter(|s| s.scope == m + 1).flat_map(|s| s.reads.keys());
    let others = l.carries.iter().filter(|c| c.last != own.last).map(|c| &c.init);
    let left = l.carries.iter().map(|c| &c.next).chain(l.rows.iter().map(|r| &r.row));
    body.chain(others).chain(left).any(|u| shown.contains(u))
}

/// Whether each update that only one branch makes is guarded by that branch's condition. The other
/// branch must find the array unchanged.
fn updates_are_guarded(all: &Shared<'_>, plan: &Plan, now: Term, (cond, then, other): (Term, Term, Term)) -> bool {
    let members = |arm: Term| -> SortedSet<Term> {
        chain_of_updates(all.g, &plan.loops, now, arm).into_iter().flatten().collect()
    };
    let (yes, no) = (members(then), members(other));
    let under = |t: &Term, value: bool| {
        let guard = all.of_term.get(t).map(|&s| &all.sets.sets[all.statements[s].guard as usize]);
        let unreached = || {
            let reached = plan.loops.begun(*t).and_then(|(n, _)| reached_by(all, plan, n));
            reached.is_some_and(|reached| decided(all.g, reached, &[(cond, !value)], MAX_PARTS) == Some(false))
        };
        guard.is_some_and(|guard| guard_implies(all.g, guard, (cond, value))) || unreached()
    };
    yes.difference(&no).all(|t| under(t, true)) && no.difference(&yes).all(|t| under(t, false))
}

/// The condition under which the only step of a loop makes its only call.
fn reached_by(all: &Shared<'_>, plan: &Plan, n: usize) -> Option<Term> {
    let mut found = None;
    for c in &plan.loops.all[n].carries {
        let Node::Prim(Prim::Onto(..), args) = all.g.node(c.next) else { return None };
        if found.is_some_and(|reached| reached != args[0]) {
            return None;
        }
        found = Some(args[0]);
    }
    found
}

/// Whether these conditions together imply the literal: each part of a conjunction has to be
/// implied.
fn guard_implies(g: &Graph, guard: &[Guard], literal: Guard) -> bool {
    let mut stack = vec![literal];
    for _ in 0..MAX_PARTS {
        let Some(l) = stack.pop() else { return true };
        if guard.contains(&l) {
            continue;
        }
        let parts = parts(g, l);
        if parts.is_empty() {
            return false;
        }
        stack.extend(parts);
    }
    false
}

/// The statements in an order in which as many of these arrays as possible are updated in place,
/// and those arrays. There is no order if the conditions of the program depend on each other.
pub(super) fn list_schedule_with(
    all: &Shared<'_>,
    own: &[usize],
    wanted: Vec<InPlace>,
) -> Option<(Vec<usize>, Vec<InPlace>)> {
    let ordered = |chosen: &[InPlace]| {
        let before: Vec<(usize, usize)> = chosen.iter().flat_map(|c| c.before.iter().copied()).collect();
        list_schedule(all, own, &before)
    };
    if let Some(order) = ordered(&wanted) {
        return Some((order, wanted));
    }
    // An earlier state of some array is read after its update: the loop works on a copy of that
    // array.
    let mut chosen = Vec::new();
    let mut order = ordered(&chosen)?;
    for one in wanted {
        chosen.push(one);
        match ordered(&chosen) {
            Some(found) => order = found,
            None => drop(chosen.pop()),
        }
    }
    Some((order, chosen))
}

/// Kahn's algorithm, for the statements of one scope; `before` are additional pairs (earlier,
/// later). Checks and their operands come first, then scalars before loops, and statements under
/// the current guard before others.
fn list_schedule(all: &Shared<'_>, own: &[usize], before: &[(usize, usize)]) -> Option<Vec<usize>> {
    let Shared { g, statements, of_term, checks, sets } = *all;
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
    let phases = [Phase::Entry, Phase::Reached, Phase::Absent];
    let mut phase = vec![phases.len(); n];
    for (wanted, checked) in phases.into_iter().enumerate() {
        let of_phase = |s: &usize| matches!(statements[own[*s]].of, Target::Check(c) if checks[c].phase == checked);
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
            Target::Term(t) => g.rank(t) > 0 || !is_let(g, t),
            Target::Loop(_) => true,
            Target::Check(_) => false,
        };
        (phase[s], u8::from(looped), statement.guard, s)
    };
    // A queue that loses its first elements: a tree, not a vector.
    let mut ready: BTreeSet<(usize, u8, u32, usize)> = (0..n).filter(|&s| waiting[s] == 0).map(key).collect();
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
    !matches!(g.node(t), Node::Prim(Prim::Sum(_) | Prim::Reduce(..) | Prim::Contract(_), _)) && !is_call(g, t)
}
