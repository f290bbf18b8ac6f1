//! Opened loops. Lowering opens each loop: its body becomes ordinary terms over leaves of its own
//! (the index of the iteration, the carried values, and, for the terms after the loop, its
//! results). So classes, guards, schedules and loop nests are the same inside and outside of loops,
//! and a term of the body that depends on no leaf is computed outside of the loop.
//!
//! This module knows which leaves belong to which loop, which of them are needed, and in which loop
//! each term has to be computed. It examines no values. The leaves of a loop's results are newer
//! than all terms that the loop computes, since the order of handles is the order of evaluation.

use ad_ir::sorted::SortedSet;
use std::collections::{HashMap, HashSet};

use ad_ir::ir::{Graph, LEAF, Node, Term, TermTable, Type, valid};

/// A carried value.
#[derive(Clone, Copy, Debug)]
pub struct Carry {
    /// The value before the first iteration.
    pub init: Term,
    /// The value in an iteration: a leaf.
    pub now: Term,
    /// The value after an iteration.
    pub next: Term,
    /// The value after the loop: a leaf.
    pub last: Term,
}

/// An array to which each iteration adds a row.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// The row.
    pub row: Term,
    /// All rows, after the loop: a leaf.
    pub all: Term,
    /// How their memory grows.
    pub how: RowGrowth,
    /// For rows of an inner loop: the condition under which they are read.
    pub under: Option<Term>,
}

impl Rows {
    /// The terms that saving the rows needs in addition to the row.
    pub fn beside(&self) -> impl Iterator<Item = Term> {
        let from = if let RowGrowth::Steps(from) = self.how { from } else { None };
        self.under.into_iter().chain(from)
    }
}

/// How the memory of rows grows while the loop runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowGrowth {
    /// It does not grow: the number of rows is known beforehand.
    None,
    /// Each iteration appends its row to a growable array; a result of the loop is the number of
    /// rows. If a number is given, the array is first truncated to that number of rows.
    Steps(Option<Term>),
    /// The row consists of all rows of an inner loop. Each iteration appends them to a growable
    /// array.
    Inner,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The maximum number of iterations, which is the number of rows.
    pub count: Term,
    /// The number of iterations that run: the first ones.
    pub steps: Term,
    /// Whether it runs from the last index to the first.
    pub reverse: bool,
    /// If it holds, the loop ends before the next iteration.
    pub stop: Option<Term>,
    /// The index of the iteration: a leaf.
    pub step: Term,
    /// `step < count` and `step < steps`, which hold in the body.
    pub inside: [Term; 2],
    /// The values that an iteration passes to the next one.
    pub carries: Vec<Carry>,
    /// The rows that each iteration saves.
    pub rows: Vec<Rows>,
    /// The number of loops around it in the program.
    pub(crate) depth: usize,
}

impl Loop {
    /// Whether the terms of the loop are well formed, and the types of each carried value and of
    /// each array of rows agree. Sizes may differ: they are computed in different loops.
    pub(crate) fn validate(&self, g: &Graph, validator: &mut valid::Lowered) -> Result<(), Vec<String>> {
        let mut terms = vec![self.count, self.steps, self.step];
        terms.extend(self.inside.into_iter().chain(self.stop));
        terms.extend(self.carries.iter().flat_map(|c| [c.init, c.now, c.next, c.last]));
        terms.extend(self.rows.iter().flat_map(|r| r.beside().chain([r.row, r.all])));
        validator.check(g, &terms)?;
        let mut errors = Vec::new();
        let form = |t: Term, less: usize| Some((g.elem(t), g.rank(t).checked_sub(less)?));
        for (k, c) in self.carries.iter().enumerate() {
            if [c.init, c.next, c.last].iter().any(|&t| form(t, 0) != form(c.now, 0)) {
                errors.push(format!("the carried value {k} changes its type"));
            }
        }
        // The emitter visits terms in the order of their handles.
        let ends = self.carries.iter().map(|c| c.next).chain(self.rows.iter().flat_map(|r| r.beside().chain([r.row])));
        let results = self.carries.iter().map(|c| c.last).chain(self.rows.iter().map(|r| r.all));
        if let (Some(end), Some(result)) = (ends.max(), results.min())
            && result <= end
        {
            errors.push("a result of the loop is older than its body".into());
        }
        for (k, r) in self.rows.iter().enumerate() {
            let less = usize::from(r.how != RowGrowth::Inner);
            if form(r.all, less) != form(r.row, 0) {
                errors.push(format!("the rows {k} are not rows of their array"));
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

/// The role of a leaf.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeafRole {
    /// The index of the iteration.
    Step,
    /// The carried value of this number, before the iteration.
    Carry(usize),
    /// The carried value of this number, after the loop.
    Last(usize),
    /// The saved rows of this number, after the loop.
    Rows(usize),
}

/// The loops of a routine; inner loops come before the loops around them.
#[derive(Clone, Default, Debug)]
pub struct Loops {
    /// Each loop, at its number.
    pub all: Vec<Loop>,
    roles: HashMap<Term, (usize, LeafRole)>,
}

/// A new leaf, which no term mentions yet. It is newer than all terms created so far.
pub fn leaf(g: &mut Graph, ty: Type) -> Term {
    let number = LEAF as usize + g.len();
    g.param(number, ty)
}

impl Loops {
    pub(crate) fn push(&mut self, l: Loop) {
        let n = self.all.len();
        self.roles.insert(l.step, (n, LeafRole::Step));
        for (k, c) in l.carries.iter().enumerate() {
            self.roles.insert(c.now, (n, LeafRole::Carry(k)));
            self.roles.insert(c.last, (n, LeafRole::Last(k)));
        }
        for (k, r) in l.rows.iter().enumerate() {
            self.roles.insert(r.all, (n, LeafRole::Rows(k)));
        }
        self.all.push(l);
    }

    /// The loop that a leaf belongs to, and its role there.
    pub fn role(&self, t: Term) -> Option<(usize, LeafRole)> {
        self.roles.get(&t).copied()
    }

    /// If the leaf is the value of a carried value after a loop: the index of the loop, and the
    /// carried value.
    pub fn begun(&self, t: Term) -> Option<(usize, &Carry)> {
        match self.role(t)? {
            (n, LeafRole::Last(k)) => Some((n, &self.all[n].carries[k])),
            _ => None,
        }
    }

    /// Calls `f` on the terms that are needed if this leaf is.
    fn each_need(&self, t: Term, mut f: impl FnMut(Term)) {
        let Some((n, role)) = self.role(t) else { return };
        let l = &self.all[n];
        match role {
            LeafRole::Step => {}
            LeafRole::Carry(k) | LeafRole::Last(k) => {
                f(l.count);
                f(l.steps);
                l.stop.into_iter().for_each(&mut f);
                f(l.carries[k].init);
                f(l.carries[k].next);
            }
            LeafRole::Rows(k) => {
                f(l.count);
                f(l.steps);
                l.stop.into_iter().for_each(&mut f);
                f(l.rows[k].row);
                l.rows[k].beside().for_each(f);
            }
        }
    }

    /// The arrays of rows from which rows may be read that no iteration has written. All other
    /// arrays of rows are read only by loops with the same number of iterations, each of which
    /// reads the row of its own number.
    pub fn read_whole(&self, g: &Graph, reach: &[Term], roots: &[Term]) -> HashSet<Term> {
        let steps_of = |t: Term| match self.role(t) {
            Some((n, LeafRole::Rows(_))) => Some(self.all[n].steps),
            _ => None,
        };
        let own_row = |src: Term, first: Option<&Term>| match first.and_then(|&at| self.role(at)) {
            Some((n, LeafRole::Step)) => steps_of(src) == Some(self.all[n].steps),
            _ => false,
        };
        let mut whole: HashSet<Term> = roots.iter().copied().collect();
        for l in &self.all {
            whole.extend([l.count, l.steps].into_iter().chain(l.stop));
            whole.extend(l.carries.iter().flat_map(|c| [c.init, c.next]));
            whole.extend(l.rows.iter().flat_map(|r| r.beside().chain([r.row])));
        }
        for &t in reach {
            match g.node(t) {
                Node::Gather { src, index, .. } if own_row(*src, index.first()) => {}
                node => node.for_each_child(|c| {
                    whole.insert(c);
                }),
            }
        }
        whole.retain(|&t| steps_of(t).is_some());
        whole
    }

    /// The terms that are needed for `roots`, bodies of loops included, in the order of their
    /// handles: operands come first.
    pub fn reachable(&self, g: &Graph, roots: &[Term]) -> Vec<Term> {
        g.reachable_with(roots, |t, stack| self.each_need(t, |c| stack.push(c)))
    }

    /// Keeps the carried values and arrays of rows that are needed.
    pub fn keep(&mut self, reach: &[Term]) {
        let alive = |t: Term| reach.binary_search(&t).is_ok();
        for l in &mut self.all {
            l.carries.retain(|c| alive(c.now) || alive(c.last));
            l.rows.retain(|r| alive(r.all));
        }
        let all = std::mem::take(&mut self.all);
        self.roles.clear();
        for l in all {
            self.push(l);
        }
    }
}

/// The index of a scope: 0 is the routine, k + 1 loop k.
pub type LoopScope = usize;

/// The scope in which each term is computed.
#[derive(Clone, Default, Debug)]
pub struct LoopScopes {
    /// The scope of each term, by the term's number.
    of: TermTable<u32>,
    /// The scope around each loop, by the loop's number.
    pub parent: Vec<LoopScope>,
}

impl LoopScopes {
    /// The scope in which a term is computed.
    pub fn of(&self, t: Term) -> LoopScope {
        self.of[t] as usize
    }

    /// Whether `outer` is `inner` or contains it.
    pub fn contains(&self, outer: LoopScope, mut inner: LoopScope) -> bool {
        while inner != outer && inner != 0 {
            inner = self.parent[inner - 1];
        }
        inner == outer
    }

    /// A term belongs to the innermost loop whose leaves it depends on. A loop belongs to the
    /// innermost loop that its body depends on.
    pub fn new(g: &Graph, loops: &Loops, reach: &[Term]) -> LoopScopes {
        let depth = |s: LoopScope| if s == 0 { 0 } else { loops.all[s - 1].depth + 1 };
        let deepest = |scopes: &mut dyn Iterator<Item = LoopScope>| scopes.max_by_key(|&s| (depth(s), s)).unwrap_or(0);
        let mut s = LoopScopes { of: TermTable::new(0), parent: vec![0; loops.all.len()] };
        // The scopes outside of each loop that its body depends on.
        let mut outer: Vec<SortedSet<LoopScope>> = vec![SortedSet::new(); loops.all.len()];
        let mut placed = vec![false; loops.all.len()];
        for &t in reach {
            let mut around: SortedSet<LoopScope> = SortedSet::new();
            match loops.role(t) {
                Some((n, LeafRole::Step | LeafRole::Carry(_))) => {
                    around.insert(n + 1);
                }
                Some((n, LeafRole::Last(_) | LeafRole::Rows(_))) => {
                    if !std::mem::replace(&mut placed[n], true) {
                        let l = &loops.all[n];
                        let mut ends = vec![l.count, l.steps];
                        ends.extend(l.stop);
                        ends.extend(l.carries.iter().flat_map(|c| [c.init, c.next]));
                        ends.extend(l.rows.iter().flat_map(|r| r.beside().chain([r.row])));
                        let mut all = std::mem::take(&mut outer[n]);
                        all.extend(ends.into_iter().map(|t| s.of(t)));
                        all.remove(&(n + 1));
                        s.parent[n] = deepest(&mut all.iter().copied());
                        outer[n] = all;
                    }
                    around.clone_from(&outer[n]);
                }
                None => g.node(t).for_each_child(|c| {
                    around.insert(s.of(c));
                }),
            }
            let own = deepest(&mut around.iter().copied());
            s.of[t] = u32::try_from(own).unwrap_or(0);
            if own > 0 {
                around.remove(&own);
                outer[own - 1].extend(around);
            }
        }
        s
    }
}

/// The chain of updates by which a carried array becomes its next value, if only some elements
/// change: these terms, oldest first. Each is an update of the term before it, the result of an
/// inner loop that starts with the term before it, or a conditional between two such chains.
pub fn chain_of_updates(g: &Graph, loops: &Loops, now: Term, next: Term) -> Option<Vec<Term>> {
    let mut found: SortedSet<Term> = SortedSet::new();
    let mut stack = vec![next];
    while let Some(t) = stack.pop() {
        if t == now || !found.insert(t) {
            continue;
        }
        match g.node(t) {
            Node::Cond { then, other, .. } => stack.extend([*then, *other]),
            _ => stack.push(match g.destination(t) {
                Some(dst) => dst,
                None => loops.begun(t)?.1.init,
            }),
        }
    }
    if next == now { None } else { Some(found.into_iter().collect()) }
}
