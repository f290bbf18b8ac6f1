//! Updates that some of several exclusive arms share. Terms are interned. So if two of three arms
//! write the same element, the update is one term, and it has no condition of its own: it would be
//! made in a copy of the array. This module rewrites the choice between such chains as a sequence
//! of updates. Each has the condition of all arms that make it.
//!
//! This module must never change the order of the updates of an arm.

use ad_ir::sorted::SortedSet;

use ad_ir::ir::{Graph, Node, Term};

/// The maximum number of arms of one choice.
const MAX_ARMS: usize = 64;

/// The path to an arm: conditions and their values, the outermost first.
type Path = Vec<(Term, bool)>;

/// Rewrites a chain of updates of `now`: afterwards, if two arms of a choice share an update, all
/// of its arms do.
pub(super) fn split_by_arm(g: &mut Graph, now: Term, chain: Term) -> Term {
    let mut around = Vec::new();
    let mut t = chain;
    while let (true, Some(dst)) = (t != now, g.destination(t)) {
        around.push(t);
        t = dst;
    }
    let mut made = match *g.node(t) {
        Node::Cond { cond, then, other } if t != now => {
            let all = arms(g, now, t).filter(|_| shared(g, now, then, other));
            match all {
                Some(all) => one_by_one(g, now, all),
                None => {
                    let (then, other) = (split_by_arm(g, now, then), split_by_arm(g, now, other));
                    g.cond(cond, then, other)
                }
            }
        }
        _ => t,
    };
    for t in around.into_iter().rev() {
        made = g.onto(t, made);
    }
    made
}

/// Whether two arms share an update that is not on all paths through them.
fn shared(g: &Graph, now: Term, then: Term, other: Term) -> bool {
    let (a, b) = (states(g, then, None), states(g, other, None));
    let Some(&newest) = a.intersection(&b).max().filter(|&&t| t != now) else { return false };
    [then, other].into_iter().any(|arm| states(g, arm, Some(newest)).contains(&now))
}

/// The states of the array in a chain, down to `end` (excluded).
fn states(g: &Graph, chain: Term, end: Option<Term>) -> SortedSet<Term> {
    let (mut found, mut stack) = (SortedSet::new(), vec![chain]);
    while let Some(t) = stack.pop() {
        if Some(t) == end || !found.insert(t) {
            continue;
        }
        match *g.node(t) {
            Node::Cond { then, other, .. } => stack.extend([then, other]),
            _ => stack.extend(g.destination(t)),
        }
    }
    found
}

/// The arms of a choice between chains of scatters: the path to each, and its scatters, the oldest
/// first.
fn arms(g: &Graph, now: Term, choice: Term) -> Option<Vec<(Path, Vec<Term>)>> {
    let mut all = Vec::new();
    let mut stack = vec![(choice, Path::new(), Vec::new())];
    while let Some((t, path, mut updates)) = stack.pop() {
        if all.len() + stack.len() > MAX_ARMS {
            return None;
        }
        match *g.node(t) {
            _ if t == now => {
                updates.reverse();
                all.push((path, updates));
            }
            Node::Cond { cond, then, other } => match path.iter().find(|l| l.0 == cond) {
                Some(&(_, value)) => stack.push((if value { then } else { other }, path, updates)),
                None => {
                    for (arm, value) in [(other, false), (then, true)] {
                        let mut path = path.clone();
                        path.push((cond, value));
                        stack.push((arm, path, updates.clone()));
                    }
                }
            },
            _ => {
                updates.push(t);
                stack.push((g.destination(t)?, path, updates));
            }
        }
    }
    Some(all)
}

/// The updates of all arms in sequence, from the first of each arm to the last. Each has the
/// condition of the arms that make it at that point.
fn one_by_one(g: &mut Graph, now: Term, mut arms: Vec<(Path, Vec<Term>)>) -> Term {
    let mut made = now;
    while let Some(first) = arms.iter().find_map(|(_, updates)| updates.first().copied()) {
        let what = g.onto(first, now);
        let mut takes = Vec::new();
        for (path, updates) in &mut arms {
            let same = match updates.first() {
                Some(&own) => g.onto(own, now) == what,
                None => false,
            };
            takes.push((path.clone(), same));
            if same {
                updates.remove(0);
            }
        }
        let changed = g.onto(first, made);
        let ways: Vec<_> = takes.iter().map(|(path, mark)| (&**path, *mark)).collect();
        let condition = marked(g, &ways);
        made = match g.bool_value(condition) {
            Some(true) => changed,
            _ => g.cond(condition, changed, made),
        };
    }
    made
}

/// A condition: the path that is taken is marked. All paths begin at one choice.
fn marked(g: &mut Graph, ways: &[(&[(Term, bool)], bool)]) -> Term {
    if let Some(&(_, first)) = ways.first()
        && ways.iter().all(|w| w.1 == first)
    {
        return g.lit_bool(first);
    }
    let Some(&(cond, _)) = ways.iter().find_map(|w| w.0.first()) else { return g.lit_bool(true) };
    let mut arm = |value: bool| {
        let arm: Vec<_> =
            ways.iter().filter(|w| w.0.first() == Some(&(cond, value))).map(|w| (&w.0[1..], w.1)).collect();
        marked(g, &arm)
    };
    let (then, other) = (arm(true), arm(false));
    match (g.bool_value(then), g.bool_value(other)) {
        (Some(true), Some(false)) => cond,
        (Some(false), Some(true)) => g.not(cond),
        _ => g.cond(cond, then, other),
    }
}
