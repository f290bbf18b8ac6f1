//! Carried arrays that are changed back. If a loop updates elements of an array, the derivative can
//! carry the final array backwards, and each step puts back the elements that the original step has
//! overwritten. So a loop saves as much as it overwrites, however much its steps read. The other
//! way to supply the array to a derived body is to save the parts that are read (`residuals`). This
//! one is chosen if the elements that a step overwrites have fewer axes than the parts that would
//! be saved.
//!
//! This module must never read a state under other conditions than those under which the step has
//! computed it.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use ad_ir::analysis::guards::{Guard, Guards, decided};
use ad_ir::analysis::{Analyses, once};
use ad_ir::ir::rewrite::{Memoised, Needs, OnDemand, on_demand};
use ad_ir::ir::{Graph, Node, Scan, Term, Type, Var};
use ad_ir::prim::{Binary, Prim};

use super::delta::{Delta, Dual, ScanDelta};
use super::saved::Undo;

/// The maximum number of conditions under which an update is saved.
const MAX_CONDITIONS: usize = 8;
/// The maximum number of arms of a derived body in which states are read under their conditions.
const MAX_ARMS: usize = 64;
/// The maximum number of paths from one state back to another.
const MAX_PATHS: usize = 64;

/// The carried arrays of a loop that can be changed back. Rows are terms of the body, and `last` is
/// the array after a step, as a term of the body. The result of an inner loop is changed back by
/// the derivative of that loop, or by a separate loop. An arm that replaces a whole array saves it.
pub(super) fn undos(
    g: &mut Graph,
    body: &Dual,
    s: &Scan,
    (bound, analyses): (Option<Guard>, &mut Analyses),
) -> Vec<Undo> {
    let mut found = Vec::new();
    for carry in 0..s.init.len() {
        let own = g.param(carry, s.body.params[carry].clone());
        let next = body.primal[carry];
        if next == own || g.rank(own) == 0 {
            continue;
        }
        let Some((states, inner)) = states(g, body, own, next) else { continue };
        let under = analyses.get::<Guards>(g, &body.primal);
        let mut rank = inner;
        let (mut overwritten, mut replaced) = (Vec::new(), Vec::new());
        for &t in &states {
            let node = g.node_rc(t);
            let old = match &*node {
                Node::Scatter { dst, src, .. } => {
                    let (vars, index) = g.open_binder(&node);
                    let sizes: Box<[Term]> = g.shape(*src)[..vars.len()].into();
                    g.gather(*dst, sizes, &vars, &index)
                }
                _ if t != own && replaces(g, body, t) => {
                    let before = state_before(g, body, own, t);
                    replaced.push((t, before));
                    before
                }
                _ => continue,
            };
            rank = rank.max(g.rank(old));
            let guard = under.get(&t).cloned().unwrap_or_default();
            if guard.len() > MAX_CONDITIONS {
                overwritten.clear();
                break;
            }
            let zeros = g.zeros_of_any(old);
            let row = guard
                .iter()
                .chain(bound.iter().filter(|_| guard.is_empty()))
                .fold(old, |row, &(c, value)| if value { g.cond(c, row, zeros) } else { g.cond(c, zeros, row) });
            overwritten.push((t, row));
        }
        let updates = states.iter().filter(|&&t| is_update(g, t) || t != own && replaces(g, body, t)).count();
        if overwritten.len() == updates {
            found.push(Undo { carry, last: next, states, overwritten, replaced, rank, bound });
        }
    }
    found
}

fn is_update(g: &Graph, t: Term) -> bool {
    matches!(g.node(t), Node::Scatter { .. })
}

/// Whether a state is a new array, which is computed from no earlier state by updates.
fn replaces(g: &Graph, body: &Dual, t: Term) -> bool {
    match g.node(t) {
        Node::Scatter { .. } | Node::Cond { .. } => false,
        Node::Proj(..) => inner(body, t).is_none(),
        _ => true,
    }
}

/// The newest state from which a new array is computed. A step may update elements first and then
/// replace the array: the array is put back as it was between the two.
fn state_before(g: &Graph, body: &Dual, own: Term, t: Term) -> Term {
    let mut of: Vec<Term> = g.reachable(&[t]);
    of.retain(|&x| x != t && g.ty(x) == g.ty(own));
    of.into_iter().rev().find(|&x| is_updated(g, body, own, x)).unwrap_or(own)
}

/// Whether an array is a carried array with some elements updated.
fn is_updated(g: &Graph, body: &Dual, own: Term, mut t: Term) -> bool {
    while t != own {
        t = match *g.node(t) {
            Node::Scatter { dst, .. } => dst,
            Node::Proj(..) => match inner(body, t) {
                Some((s, undo)) => s.scan.init[undo.carry],
                None => return false,
            },
            _ => return false,
        };
    }
    true
}

/// The states from the end of a step back to its start, newest first, and the number of axes of the
/// elements that inner loops overwrite in a step. An arm may replace the array.
fn states(g: &Graph, body: &Dual, own: Term, next: Term) -> Option<(Vec<Term>, usize)> {
    let (mut found, mut stack, mut rank) = (HashSet::new(), vec![(next, false)], 0);
    while let Some((t, in_arm)) = stack.pop() {
        if !found.insert(t) || t == own {
            continue;
        }
        match *g.node(t) {
            Node::Scatter { dst, .. } => stack.push((dst, in_arm)),
            Node::Cond { then, other, .. } => stack.extend([(then, true), (other, true)]),
            Node::Proj(..) if let Some((s, undo)) = inner(body, t) => {
                rank = rank.max(undo.rank + 1);
                stack.push((s.scan.init[undo.carry], false));
            }
            _ if in_arm => stack.push((state_before(g, body, own, t), true)),
            _ => return None,
        }
    }
    // The last state is the one at the start of a step. If no arm updates elements, the array is
    // saved as a whole, or not at all.
    if !found.contains(&own) || !found.iter().any(|&t| is_update(g, t) || inner(body, t).is_some()) {
        return None;
    }
    let mut found: Vec<Term> = found.into_iter().collect();
    found.sort_unstable_by_key(|&t| (t == own, Reverse(t)));
    Some((found, rank))
}

/// The inner loop that this array is a result of, and how the loop changes the array.
pub(super) fn inner(body: &Dual, t: Term) -> Option<(&ScanDelta, &Undo)> {
    body.deltas.iter().find_map(|delta| match delta {
        Delta::Scan(s) => s.undo.iter().find(|u| u.last == t).map(|u| (&**s, u)),
        _ => None,
    })
}

/// An array in the derived body. Leaves represent its states until the terms of the states are
/// known.
pub(super) struct Undoing<'u> {
    undo: &'u Undo,
    /// The array after the step. The derived loop carries it.
    pub(super) carried: Term,
    /// The rows of overwritten elements, in the order of `undo.overwritten`.
    rows: Vec<Term>,
    /// The leaf of each state.
    leaves: HashMap<Term, Term>,
    /// The step back from each state, in the order of the states.
    back: Vec<StepBack>,
}

/// The step from a state back to the one before it.
enum StepBack {
    /// Elements are put back: their row, the variables, and the range of their indices in the list
    /// of terms.
    Put(Term, Vec<Var>, std::ops::Range<usize>),
    /// The array is put back: its row, and the state that the row has.
    Whole(Term, Term),
    /// A condition selects one of two states; it has this position in the list of terms.
    Choice(usize),
    /// The state before an inner loop has this position in the list of terms.
    Inner(usize),
    /// The state is the one at the start of the step.
    Begin,
}

impl<'u> Undoing<'u> {
    /// The array of `undo`, with parameters made by `param`. The terms that have to be read are
    /// appended to `terms`. `before` returns the array before an inner loop, given the array after
    /// it.
    pub(super) fn new(
        g: &mut Graph,
        undo: &'u Undo,
        param: &mut dyn FnMut(&mut Graph, &Type) -> Term,
        before: &dyn Fn(&mut Graph, Term) -> Option<Term>,
        terms: &mut Vec<Term>,
    ) -> Option<Self> {
        let start = terms.len();
        let ty = g.ty(undo.states[0]).clone();
        let carried = param(g, &ty);
        let mut rows = Vec::new();
        for &(_, all) in &undo.overwritten {
            let row = Type::Array(g.elem(all), g.shape(all)[1..].into());
            rows.push(param(g, &row));
        }
        let leaves = undo.states.iter().map(|&t| (t, param(g, &ty))).collect();
        let mut back = Vec::new();
        for (k, &t) in undo.states.iter().enumerate() {
            let node = g.node_rc(t);
            back.push(match &*node {
                _ if k + 1 == undo.states.len() => StepBack::Begin,
                Node::Scatter { .. } => {
                    let (vars, index) = g.open_binder(&node);
                    let first = terms.len() - start;
                    terms.extend(index);
                    let row = rows[undo.overwritten.iter().position(|o| o.0 == t)?];
                    StepBack::Put(row, vars, first..terms.len() - start)
                }
                Node::Cond { cond, .. } => {
                    terms.push(*cond);
                    StepBack::Choice(terms.len() - 1 - start)
                }
                _ if let Some(k) = undo.overwritten.iter().position(|o| o.0 == t) => {
                    StepBack::Whole(rows[k], undo.replaced.iter().find(|r| r.0 == t)?.1)
                }
                _ => {
                    let before = before(g, t)?;
                    terms.push(before);
                    StepBack::Inner(terms.len() - 1 - start)
                }
            });
        }
        terms.extend(undo.bound.map(|b| b.0));
        Some(Undoing { undo, carried, rows, leaves, back })
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = (Term, Term)> {
        self.undo.overwritten.iter().map(|o| o.1).zip(self.rows.iter().copied())
    }

    /// Whether an arm of a step replaces the array.
    pub(super) fn replaces(&self) -> bool {
        self.back.iter().any(|back| matches!(back, StepBack::Whole(..)))
    }

    /// The array after the loop.
    pub(super) fn last(&self) -> Term {
        self.undo.last
    }

    /// The array at the start of the step.
    pub(super) fn begin(&self) -> Term {
        self.undo.states[self.undo.states.len() - 1]
    }

    pub(super) fn leaves(&self) -> &HashMap<Term, Term> {
        &self.leaves
    }

    /// The term of the state of each leaf, which may contain leaves. `None` if a state is read
    /// under conditions under which it is not known. `terms` are the terms of [`Undoing::new`] in
    /// the derived body, and `read` are the terms that the derived body reads.
    pub(super) fn known(
        &self,
        g: &mut Graph,
        body: &Dual,
        terms: &[Term],
        read: &HashSet<Term>,
    ) -> Option<HashMap<Term, Term>> {
        let mut ways: HashMap<Term, Vec<PathBack>> = HashMap::new();
        ways.insert(self.undo.states[0], vec![PathBack { conditions: Vec::new(), state: self.carried }]);
        let mut known = HashMap::new();
        let mut under = None;
        for (&t, back) in self.undo.states.iter().zip(&self.back) {
            let PathBack { conditions, state } = joined(g, &ways.remove(&t)?)?;
            if read.contains(&self.leaves[&t]) && !conditions.is_empty() {
                let under = under.get_or_insert_with(|| once::<Guards>(g, &body.primal));
                let own = under.get(&t)?;
                if !conditions.iter().all(|c| own.contains(&(c.source, c.value))) {
                    return None;
                }
            }
            known.insert(self.leaves[&t], state);
            // The states before this one are expressed by its leaf.
            let from = self.leaves[&t];
            let to =
                |t: Term, way: PathBack, ways: &mut HashMap<Term, Vec<PathBack>>| ways.entry(t).or_default().push(way);
            match (g.node_rc(t).as_ref(), back) {
                (_, StepBack::Begin) => {
                    if let Some((_, value)) = self.undo.bound {
                        let holds = *terms.last()?;
                        let (then, other) = if value { (state, self.carried) } else { (self.carried, state) };
                        let begin = g.cond(holds, then, other);
                        known.insert(from, begin);
                    }
                }
                (Node::Scatter { put: _, dst, .. }, StepBack::Put(row, vars, at)) => {
                    // The variables are fresh, so no other term binds them.
                    let index = terms[at.clone()].to_vec();
                    let state = g.update(from, *row, vars, &index);
                    to(*dst, PathBack { conditions, state }, &mut ways);
                }
                (&Node::Cond { cond, then, other }, StepBack::Choice(at)) => {
                    for (arm, value) in [(then, true), (other, false)] {
                        let mut conditions = conditions.clone();
                        conditions.push(Condition { source: cond, value, own: terms[*at] });
                        to(arm, PathBack { conditions, state: from }, &mut ways);
                    }
                }
                (_, &StepBack::Whole(state, before)) => to(before, PathBack { conditions, state }, &mut ways),
                (_, StepBack::Inner(at)) => {
                    let (s, undo) = inner(body, t)?;
                    to(s.scan.init[undo.carry], PathBack { conditions, state: terms[*at] }, &mut ways);
                }
                _ => return None,
            }
        }
        Some(known)
    }
}

/// A condition of the body, its value, and its term in the derived body.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Condition {
    source: Term,
    value: bool,
    own: Term,
}

/// The term of a state on one path back, with the conditions of that path, outermost first.
#[derive(Clone)]
struct PathBack {
    conditions: Vec<Condition>,
    state: Term,
}

/// The term of a state from all paths back to it.
fn joined(g: &mut Graph, ways: &[PathBack]) -> Option<PathBack> {
    if ways.len() > MAX_PATHS {
        return None;
    }
    let first = ways.first()?;
    let same = |k: usize| ways.iter().all(|w| w.conditions.get(k) == first.conditions.get(k));
    let common = (0..first.conditions.len()).take_while(|&k| same(k)).count();
    let all: Vec<(&[Condition], Term)> = ways.iter().map(|w| (&w.conditions[common..], w.state)).collect();
    let state = chosen(g, &all)?;
    Some(PathBack { conditions: first.conditions[..common].to_vec(), state })
}

fn chosen(g: &mut Graph, ways: &[(&[Condition], Term)]) -> Option<Term> {
    let &(conditions, state) = ways.first()?;
    let Some(first) = conditions.first().filter(|_| ways.len() > 1) else { return Some(state) };
    let mut arm = |value: bool| {
        let here: Vec<_> = ways
            .iter()
            .filter_map(|&(conditions, state)| match conditions.first() {
                Some(c) if c.source == first.source => (c.value == value).then(|| (&conditions[1..], state)),
                _ => Some((conditions, state)),
            })
            .collect();
        chosen(g, &here)
    };
    match (arm(true), arm(false)) {
        (Some(then), Some(other)) => Some(g.cond(first.own, then, other)),
        (one, other) => one.or(other),
    }
}

/// [`resolved`], where the arm of a condition reads a state as it is under that condition: the
/// array that an arm has replaced is read from its row, and not after it has been put back.
pub(super) fn in_arms(g: &mut Graph, roots: &[Term], known: &HashMap<Term, Term>) -> Option<Vec<Term>> {
    let mut left = MAX_ARMS;
    roots.iter().map(|&t| in_arm(g, t, known, MAX_CONDITIONS, &mut left)).collect()
}

/// `left` is the number of arms that may still be entered.
fn in_arm(g: &mut Graph, t: Term, known: &HashMap<Term, Term>, depth: usize, left: &mut usize) -> Option<Term> {
    let node = g.node_rc(t);
    match &*node {
        &Node::Cond { cond, then, other } if depth > 0 && *left > 1 => {
            *left -= 2;
            let condition = resolved(g, &[cond], known)?[0];
            let mut arm = |g: &mut Graph, t: Term, value: bool| {
                let under = known.iter().map(|(&leaf, &state)| (leaf, where_holds(g, state, (cond, value))));
                let under: HashMap<Term, Term> = under.collect();
                in_arm(g, t, &under, depth - 1, left)
            };
            let (then, other) = (arm(g, then, true)?, arm(g, other, false)?);
            Some(g.cond(condition, then, other))
        }
        Node::Prim(Prim::Binary(Binary::Add), args) => {
            let [a, b] = [args[0], args[1]].map(|t| in_arm(g, t, known, depth, left));
            Some(g.add(a?, b?))
        }
        _ => Some(resolved(g, &[t], known)?[0]),
    }
}

/// A state where a condition has this value.
fn where_holds(g: &Graph, mut state: Term, fact: Guard) -> Term {
    while let Node::Cond { cond, then, other } = *g.node(state)
        && let Some(holds) = decided(g, cond, &[fact], MAX_CONDITIONS)
    {
        state = if holds { then } else { other };
    }
    state
}

/// These terms with leaves replaced by their terms, until no leaf remains. `None` if a leaf would
/// depend on itself.
pub(super) fn resolved(g: &mut Graph, roots: &[Term], known: &HashMap<Term, Term>) -> Option<Vec<Term>> {
    let mut r = Resolved { g, known, made: HashMap::new(), around: HashSet::new(), cyclic: false };
    on_demand(&mut r, roots.iter().copied());
    (!r.cyclic).then(|| roots.iter().map(|t| r.made[t]).collect())
}

struct Resolved<'a> {
    g: &'a mut Graph,
    known: &'a HashMap<Term, Term>,
    made: HashMap<Term, Term>,
    /// Terms whose replacement is under construction.
    around: HashSet<Term>,
    cyclic: bool,
}

impl Memoised for Resolved<'_> {
    type Key = Term;
    type New = Term;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<Term, Term>) {
        (self.g, &mut self.made)
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        Some(*t)
    }

    fn made(&mut self, &t: &Term) -> Term {
        self.around.remove(&t);
        let made = &self.made;
        match (self.known.get(&t), &*self.g.node_rc(t)) {
            (Some(is), _) => made[is],
            (None, Node::Proj(tuple, k)) => self.g.proj(made[tuple], *k as usize),
            (None, node) => self.g.mk(node.map_children(|c| made[&c])),
        }
    }
}

impl OnDemand for Resolved<'_> {
    fn enter(&mut self, &t: &Term, needs: &mut Needs<'_, Term>) -> Option<Term> {
        // After a cycle the result is dropped, so the remaining terms are not replaced.
        self.cyclic |= !self.around.insert(t);
        if self.cyclic {
            return Some(t);
        }
        match self.known.get(&t) {
            Some(&is) => needs.push(is),
            None => self.g.node(t).for_each_child(|c| needs.push(c)),
        }
        None
    }
}
