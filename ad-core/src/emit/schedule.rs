//! From terms to an ordered list of steps: what is computed when, under which guard, and which stored terms share a loop nest.
//! The simplest instance of a scheduler: guards by condition (`prototype.md`, 4), a list schedule in topological order of
//! children and guards, and a greedy grouping of pointwise neighbours. It must never place a term under a guard that one
//! of its uses lacks, and never iterate anything unordered.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::contract::peel;
use super::store::{Class, alias_of, classify, is_exact_sum, is_splat, padded_parts};
use crate::ad::condition;
use crate::ir::{Graph, Node, Term};
use crate::prim::{Prim, Reduce};

/// A condition and the value it must have.
pub(super) type Literal = (Term, bool);

/// What a step does.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// Tests the check of this number.
    Check(usize),
    /// A `let` of a closed scalar.
    Scalar(Term),
    /// A loop nest over `domain`: elementwise stores and sums.
    Nest { domain: Vec<Term>, items: Vec<Term> },
    /// A stored term with a kernel or a form of its own: contraction, scatter, extremum, stack, conditional, constant.
    Whole(Term),
}

/// One step.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// In the order in which the conditions become known.
    pub(super) guard: Vec<Literal>,
    pub(super) work: Work,
}

/// What the emitter needs to know beside the terms.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) class: Vec<Class>,
    /// In order.
    pub(super) steps: Vec<Step>,
    /// The steps that read a term, ascending.
    pub(super) readers: HashMap<Term, Vec<usize>>,
    /// How often a term is a child of a reachable term or a root.
    pub(super) uses: HashMap<Term, u32>,
    /// Terms that decisions depend on: computed with exactly the function's own operations.
    pub(super) exact: HashSet<Term>,
    /// The terms returned.
    pub(super) results: HashSet<Term>,
}

impl Plan {
    pub(super) fn class(&self, t: Term) -> Class {
        self.class[t.index()]
    }
}

/// Guards deeper than this are cut off: what lies deeper is computed where it might not be needed.
const DEEPEST: usize = 16;
/// Terms of one nest: more would fight for registers.
const WIDEST: usize = 8;

/// A check as the scheduler sees it: what it reads, and whether it comes before everything.
pub(super) struct CheckTerms {
    pub(super) reads: Vec<Term>,
    pub(super) entry: bool,
}

#[derive(Default)]
struct Guards {
    sets: Vec<Vec<Literal>>,
    ids: HashMap<Vec<Literal>, u32>,
    /// What a condition's value says of simpler conditions, outermost first and cut off at [`DEEPEST`].
    implied: HashMap<Literal, Vec<Literal>>,
}

impl Guards {
    fn id(&mut self, set: Vec<Literal>) -> u32 {
        if let Some(&id) = self.ids.get(&set) {
            return id;
        }
        let id = u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
        self.sets.push(set.clone());
        self.ids.insert(set, id);
        id
    }

    fn with(&mut self, g: &Graph, id: u32, literal: Literal) -> u32 {
        self.imply(g, literal);
        let mut set = self.sets[id as usize].clone();
        for &l in &self.implied[&literal] {
            if set.len() < DEEPEST && !set.contains(&l) {
                set.push(l);
            }
        }
        set.sort_unstable();
        self.id(set)
    }

    /// A conjunction (`ad::condition` makes them, left to right) says of each part that it holds, so that what a derivative
    /// computes under it and what the function computes under its parts have one guard. Chains are as deep as the program.
    fn imply(&mut self, g: &Graph, literal: Literal) {
        let mut stack = vec![literal];
        while let Some(&l) = stack.last() {
            if self.implied.contains_key(&l) {
                stack.pop();
                continue;
            }
            let parts = condition::parts(g, l);
            let before = stack.len();
            stack.extend(parts.iter().filter(|p| !self.implied.contains_key(p)));
            if stack.len() > before {
                continue;
            }
            let mut all: Vec<Literal> = if parts.is_empty() { vec![l] } else { Vec::new() };
            all.extend(parts.iter().flat_map(|p| self.implied[p].iter().copied()));
            all.truncate(DEEPEST);
            self.implied.insert(l, all);
            stack.pop();
        }
    }

    fn meet(&mut self, a: u32, b: u32) -> u32 {
        if a == b {
            return a;
        }
        let (a, b) = (&self.sets[a as usize], &self.sets[b as usize]);
        let common = a.iter().copied().filter(|l| b.contains(l)).collect();
        self.id(common)
    }
}

/// The guard of each reachable term: what all its uses have in common.
fn guards(g: &Graph, reach: &[Term], roots: &[Term]) -> (Guards, Vec<u32>) {
    const UNUSED: u32 = u32::MAX;
    let mut sets = Guards::default();
    let none = sets.id(Vec::new());
    let mut guard = vec![UNUSED; g.len()];
    for &t in roots {
        guard[t.index()] = none;
    }
    for &t in reach.iter().rev() {
        let own = guard[t.index()];
        let mut use_under = |c: Term, id: u32, sets: &mut Guards| {
            let old = guard[c.index()];
            guard[c.index()] = if old == UNUSED { id } else { sets.meet(old, id) };
        };
        match g.node(t) {
            Node::Cond { cond, then, other } if g.free(*cond).is_empty() => {
                use_under(*cond, own, &mut sets);
                let (yes, no) = (sets.with(g, own, (*cond, true)), sets.with(g, own, (*cond, false)));
                use_under(*then, yes, &mut sets);
                use_under(*other, no, &mut sets);
            }
            node => node.for_each_child(|c| use_under(c, own, &mut sets)),
        }
    }
    (sets, guard)
}

/// Whether the term is computed element by element by a nest that others may join.
fn is_item(g: &Graph, class: &[Class], exact: &HashSet<Term>, t: Term) -> bool {
    match g.node(t) {
        _ if is_exact_sum(g, exact, t) => false,
        Node::Prim(Prim::Sum(_) | Prim::Reduce(Reduce::All | Reduce::Any, _), _) => true,
        Node::Scatter { .. } | Node::Cond { .. } | Node::Input(_) => false,
        Node::Prim(Prim::Reduce(..) | Prim::Contract(_) | Prim::Stack, _) => false,
        _ => {
            class[t.index()] == Class::Buffer
                && !is_splat(g, t)
                && alias_of(g, class, t).is_none()
                && padded_parts(g, class, t).is_none()
        }
    }
}

/// The loops of the nest that computes `t`.
pub(super) fn domain_of(g: &Graph, t: Term) -> Vec<Term> {
    match g.node(t) {
        Node::Prim(Prim::Sum(_) | Prim::Reduce(..), args) => g.shape(args[0]).to_vec(),
        _ => g.shape(t).to_vec(),
    }
}

/// What the statement of `t` reads: terms in memory or scalars, and whether each is read only at the loops' own indices.
fn reads(g: &Graph, class: &[Class], t: Term) -> BTreeMap<Term, bool> {
    let mut found: BTreeMap<Term, bool> = BTreeMap::new();
    let mut seen: HashSet<(Term, bool)> = HashSet::new();
    let mut stack: Vec<(Term, bool)> = Vec::new();
    let note = |found: &mut BTreeMap<Term, bool>, c: Term, pointwise: bool| {
        found.entry(c).and_modify(|p| *p &= pointwise).or_insert(pointwise);
    };
    let sizes = |found: &mut BTreeMap<Term, bool>, t: Term| {
        if let Some((_, shape)) = g.ty(t).as_array() {
            for &n in shape {
                found.entry(n).or_insert(false);
            }
        }
    };
    sizes(&mut found, t);
    let children = |t: Term, pointwise: bool, stack: &mut Vec<(Term, bool)>| match g.node(t) {
        Node::Prim(prim, args) => {
            let keeps = prim.is_elementwise()
                || matches!(prim, Prim::Recast | Prim::Sum(_) | Prim::Reduce(Reduce::All | Reduce::Any, _));
            for (k, &c) in args.iter().enumerate() {
                let c = if matches!(prim, Prim::Contract(_)) { peel(g, c).0 } else { c };
                stack.push((c, pointwise && keeps && (k == 0 || prim.is_elementwise())));
            }
        }
        node => node.for_each_child(|c| stack.push((c, false))),
    };
    children(t, true, &mut stack);
    while let Some((c, pointwise)) = stack.pop() {
        if !seen.insert((c, pointwise)) {
            continue;
        }
        sizes(&mut found, c);
        match class[c.index()] {
            Class::View => children(c, pointwise, &mut stack),
            Class::Scalar | Class::Buffer => note(&mut found, c, pointwise),
        }
    }
    found.retain(|c, _| match g.node(*c) {
        Node::Lit(_) => false,
        Node::Input(_) => g.rank(*c) == 0,
        _ => true,
    });
    found
}

struct Statement {
    term: Option<Term>,
    check: usize,
    reads: BTreeMap<Term, bool>,
    guard: u32,
}

/// Makes the plan for these results and checks.
pub(super) fn plan(g: &Graph, results: &[Term], checks: &[CheckTerms]) -> Result<Plan, String> {
    let mut roots: Vec<Term> = results.to_vec();
    roots.extend(checks.iter().flat_map(|c| c.reads.iter().copied()));
    // Sizes are in types, not among children.
    let mut sizes: BTreeSet<Term> = BTreeSet::new();
    for t in g.reachable(&roots) {
        if let Some((_, shape)) = g.ty(t).as_array() {
            sizes.extend(shape);
        }
    }
    roots.extend(&sizes);
    let reach = g.reachable(&roots);
    let exact = crate::simplify::decisions(g, &roots);
    let class = classify(g, &reach, results, &exact);
    let (sets, guard) = guards(g, &reach, &roots);

    let mut statements: Vec<Statement> = Vec::new();
    let mut of_term: HashMap<Term, usize> = HashMap::new();
    for &t in &reach {
        let scalar = class[t.index()] == Class::Scalar && !matches!(g.node(t), Node::Lit(_));
        let buffer = class[t.index()] == Class::Buffer && !matches!(g.node(t), Node::Input(_));
        if !scalar && !buffer {
            if matches!(g.node(t), Node::Prim(Prim::Sum(_) | Prim::Reduce(..) | Prim::Contract(_), _)) {
                return Err("a reduction inside an index function is not emitted yet".into());
            }
            continue;
        }
        if !g.free(t).is_empty() {
            return Err("an array that depends on a bound index is not emitted yet".into());
        }
        of_term.insert(t, statements.len());
        // What is only named costs nothing anywhere.
        let named = matches!(g.node(t), Node::Input(_) | Node::Size(..));
        let guard = if named { 0 } else { guard[t.index()] };
        statements.push(Statement { term: Some(t), check: 0, reads: reads(g, &class, t), guard });
    }
    for (check, terms) in checks.iter().enumerate() {
        let reads = terms.reads.iter().filter(|t| !matches!(g.node(**t), Node::Lit(_))).map(|&t| (t, false)).collect();
        statements.push(Statement { term: None, check, reads, guard: 0 });
    }
    let order = list_schedule(g, &statements, &of_term, checks, &sets)?;
    Ok(group(g, class, exact, &statements, &order, &sets, results, &reach, &roots))
}

/// Kahn's algorithm. Checks and what they need come first; then scalars before loops; the guard at hand before others.
fn list_schedule(
    g: &Graph,
    statements: &[Statement],
    of_term: &HashMap<Term, usize>,
    checks: &[CheckTerms],
    sets: &Guards,
) -> Result<Vec<usize>, String> {
    let n = statements.len();
    let mut needs: Vec<Vec<usize>> = Vec::with_capacity(n);
    for s in statements {
        let conditions = sets.sets[s.guard as usize].iter().map(|l| &l.0);
        let mut needed: Vec<usize> = s.reads.keys().chain(conditions).filter_map(|t| of_term.get(t).copied()).collect();
        needed.sort_unstable();
        needed.dedup();
        needs.push(needed);
    }
    let mut phase = vec![2_u8; n];
    for wanted in [0, 1] {
        let first = n - checks.len();
        let of_phase = checks.iter().enumerate().filter(|(_, c)| c.entry == (wanted == 0));
        let mut stack: Vec<usize> = of_phase.map(|(k, _)| first + k).collect();
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
        let looped = statements[s].term.is_some_and(|t| g.rank(t) > 0 || !is_let(g, t));
        (phase[s], u8::from(looped), statements[s].guard, s)
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
        order.push(s);
        for &d in &dependents[s] {
            waiting[d] -= 1;
            if waiting[d] == 0 {
                ready.insert(key(d));
            }
        }
    }
    if order.len() < n { Err("the conditions of the program depend on each other".into()) } else { Ok(order) }
}

/// Whether a closed scalar is a plain `let`, without a loop.
fn is_let(g: &Graph, t: Term) -> bool {
    !matches!(g.node(t), Node::Prim(Prim::Sum(_) | Prim::Reduce(..) | Prim::Contract(_), _))
}

/// Puts the statements into steps; a nest takes in a later statement over the same domain whose reads of it are pointwise.
#[allow(clippy::too_many_arguments, reason = "the last part of one function")]
fn group(
    g: &Graph,
    class: Vec<Class>,
    exact: HashSet<Term>,
    statements: &[Statement],
    order: &[usize],
    sets: &Guards,
    results: &[Term],
    reach: &[Term],
    roots: &[Term],
) -> Plan {
    let mut steps: Vec<Step> = Vec::new();
    let mut step_of: HashMap<Term, usize> = HashMap::new();
    let mut open: HashMap<(Vec<Term>, u32), Vec<usize>> = HashMap::new();
    let mut placed: Vec<(usize, usize)> = Vec::new();
    for &s in order {
        let statement = &statements[s];
        let mut guard = sets.sets[statement.guard as usize].clone();
        guard.sort_by_key(|l| (step_of.get(&l.0).copied(), *l));
        let Some(t) = statement.term else {
            placed.push((s, steps.len()));
            steps.push(Step { guard, work: Work::Check(statement.check) });
            continue;
        };
        if !is_item(g, &class, &exact, t) {
            placed.push((s, steps.len()));
            step_of.insert(t, steps.len());
            let whole = g.rank(t) > 0 || !is_let(g, t);
            steps.push(Step { guard, work: if whole { Work::Whole(t) } else { Work::Scalar(t) } });
            continue;
        }
        let domain = domain_of(g, t);
        let nests = open.entry((domain.clone(), statement.guard)).or_default();
        let fits = |nest: usize| {
            let conditions = guard.iter().map(|l| (&l.0, &false));
            let mut read = statement.reads.iter().chain(conditions);
            read.all(|(r, &pointwise)| match step_of.get(r) {
                None => true,
                Some(&at) => at < nest || (at == nest && pointwise && domain_of(g, *r) == g.shape(*r)),
            })
        };
        let room = |nest: usize| matches!(&steps[nest].work, Work::Nest { items, .. } if items.len() < WIDEST);
        match nests.iter().rev().take(4).copied().find(|&nest| room(nest) && fits(nest)) {
            Some(nest) => {
                if let Work::Nest { items, .. } = &mut steps[nest].work {
                    items.push(t);
                }
                placed.push((s, nest));
                step_of.insert(t, nest);
            }
            None => {
                nests.push(steps.len());
                placed.push((s, steps.len()));
                step_of.insert(t, steps.len());
                steps.push(Step { guard, work: Work::Nest { domain, items: vec![t] } });
            }
        }
    }
    let mut readers: HashMap<Term, Vec<usize>> = HashMap::new();
    for &(s, step) in &placed {
        let conditions = steps[step].guard.iter().map(|l| l.0);
        for t in statements[s].reads.keys().copied().chain(conditions) {
            readers.entry(t).or_default().push(step);
        }
    }
    for list in readers.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    let mut uses: HashMap<Term, u32> = HashMap::new();
    for &t in reach {
        g.node(t).for_each_child(|c| *uses.entry(c).or_default() += 1);
    }
    for &t in roots {
        *uses.entry(t).or_default() += 1;
    }
    Plan { class, steps, readers, uses, exact, results: results.iter().copied().collect() }
}
