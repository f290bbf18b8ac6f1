//! From terms to an ordered list of steps: what is computed when, under which guard, and which stored terms share a loop nest.
//! The simplest instance of a scheduler: guards by condition (`prototype.md`, 4), a list schedule in topological order of
//! children and guards, and a greedy grouping of pointwise neighbours. It must never place a term under a guard that one
//! of its uses lacks, and never iterate anything unordered.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::contract::peel;
use super::loops::{Loops, Role, Scope, Scopes, way};
use super::store::{Around, Class, adds_rows, alias_of, classify, is_exact_sum, is_splat, padded_parts, repeats};
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
    /// A loop with carried state, by its number; its body is [`Plan::bodies`].
    Loop(usize),
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
    /// All steps, of the routine and of the bodies of loops.
    pub(super) steps: Vec<Step>,
    /// The routine's own, in order.
    pub(super) order: Vec<usize>,
    /// Those of each loop's body, in order.
    pub(super) bodies: Vec<Vec<usize>>,
    pub(super) loops: Loops,
    pub(super) scopes: Scopes,
    /// Carried arrays that are added to where they are: what each term on the way stands for.
    pub(super) in_place: HashMap<Term, Term>,
    /// The steps that read a term, ascending.
    pub(super) readers: HashMap<Term, Vec<usize>>,
    /// How often a term is a child of a reachable term or a root.
    pub(super) uses: HashMap<Term, u32>,
    /// Terms that decisions depend on: computed with exactly the function's own operations.
    pub(super) exact: HashSet<Term>,
    /// The terms returned, and what loops begin with, carry on and make rows of.
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

/// The guard of each reachable term: what all its uses have in common. In the body of a loop, the loop's own guard is part of it.
fn guards(g: &Graph, reach: &[Term], roots: &[Term], loops: &Loops, scopes: &Scopes) -> (Guards, Vec<u32>) {
    const UNUSED: u32 = u32::MAX;
    let mut sets = Guards::default();
    let none = sets.id(Vec::new());
    let mut guard = vec![UNUSED; g.len()];
    // The handles of a loop's results are neighbours: the lowest one comes last.
    let mut of_loop = vec![UNUSED; loops.all.len()];
    let mut left = vec![0; loops.all.len()];
    let use_under = |guard: &mut [u32], c: Term, id: u32, sets: &mut Guards| {
        // Outside of a loop, what is known inside is not.
        let scope = scopes.of(c);
        let mut id = id;
        if sets.sets[id as usize].iter().any(|l| !scopes.contains(scopes.of(l.0), scope)) {
            let kept =
                sets.sets[id as usize].iter().copied().filter(|l| scopes.contains(scopes.of(l.0), scope)).collect();
            id = sets.id(kept);
        }
        let old = guard[c.index()];
        guard[c.index()] = if old == UNUSED { id } else { sets.meet(old, id) };
    };
    for &t in roots {
        guard[t.index()] = none;
    }
    let alive = |t: Term| reach.binary_search(&t).is_ok();
    for (n, l) in loops.all.iter().enumerate() {
        left[n] = l.carries.iter().filter(|c| alive(c.last)).count() + l.rows.iter().filter(|r| alive(r.all)).count();
    }
    for &t in reach.iter().rev() {
        let own = guard[t.index()];
        // A leaf of a loop in its body: whoever reads it stands in the body.
        let own = if own == UNUSED { none } else { own };
        if let Some((n, Role::Last(_) | Role::Rows(_))) = loops.role(t) {
            // What nobody reads asks for nothing.
            if guard[t.index()] != UNUSED {
                of_loop[n] = if of_loop[n] == UNUSED { own } else { sets.meet(of_loop[n], own) };
            }
            left[n] -= 1;
            if left[n] == 0 {
                let (l, own) = (&loops.all[n], if of_loop[n] == UNUSED { none } else { of_loop[n] });
                use_under(&mut guard, l.count, own, &mut sets);
                l.stop.iter().for_each(|&t| use_under(&mut guard, t, own, &mut sets));
                for c in &l.carries {
                    use_under(&mut guard, c.init, own, &mut sets);
                    use_under(&mut guard, c.next, own, &mut sets);
                }
                for r in &l.rows {
                    use_under(&mut guard, r.row, own, &mut sets);
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
    // All results of a loop are computed by one statement.
    for &t in reach {
        if let Some((n, Role::Last(_) | Role::Rows(_))) = loops.role(t) {
            guard[t.index()] = if of_loop[n] == UNUSED { none } else { of_loop[n] };
        }
    }
    (sets, guard)
}

/// Whether the term is computed element by element by a nest that others may join.
fn is_item(g: &Graph, class: &[Class], exact: &HashSet<Term>, t: Term) -> bool {
    match g.node(t) {
        _ if is_exact_sum(g, exact, t) => false,
        // A sum of what a loop computes is part of that loop.
        Node::Prim(Prim::Sum(_), args) if adds_rows(g, class, exact, t) => is_item(g, class, exact, args[0]),
        Node::Prim(Prim::Sum(_) | Prim::Reduce(Reduce::All | Reduce::Any, _), _) => true,
        _ if class[t.index()] == Class::Buffer && repeats(g, class, t) => false,
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

/// What a statement is of.
#[derive(Clone, Copy)]
enum Of {
    Term(Term),
    Check(usize),
    Loop(usize),
}

struct Statement {
    of: Of,
    reads: BTreeMap<Term, bool>,
    guard: u32,
    scope: Scope,
}

/// Makes the plan for these results and checks.
pub(super) fn plan(g: &Graph, mut loops: Loops, results: &[Term], checks: &[CheckTerms]) -> Result<Plan, String> {
    let mut roots: Vec<Term> = results.to_vec();
    roots.extend(checks.iter().flat_map(|c| c.reads.iter().copied()));
    // Sizes are in types, not among children.
    let mut sizes: BTreeSet<Term> = BTreeSet::new();
    for t in loops.reachable(g, &roots) {
        if let Some((_, shape)) = g.ty(t).as_array() {
            sizes.extend(shape);
        }
    }
    roots.extend(&sizes);
    let mut reach = loops.reachable(g, &roots);
    loops.keep(&reach);
    // A loop that is needed has all its results named.
    let named: Vec<Term> = loops.all.iter().flat_map(|l| l.carries.iter().map(|c| c.last)).collect();
    reach.extend(named);
    reach.sort_unstable();
    reach.dedup();
    let scopes = Scopes::new(g, &loops, &reach);
    let exact = exact(g, &loops, &reach);
    // What loops begin with, carry on and make rows of is read in full.
    let mut read: Vec<Term> = results.to_vec();
    for l in &loops.all {
        read.extend(l.carries.iter().map(|c| c.next).chain(l.rows.iter().map(|r| r.row)));
        read.extend(l.carries.iter().map(|c| c.init).filter(|&t| !is_splat(g, t)));
    }
    let class = classify(g, &reach, &read, Around { exact: &exact, loops: &loops, scopes: &scopes });
    let (sets, guard) = guards(g, &reach, &roots, &loops, &scopes);

    let mut statements: Vec<Statement> = Vec::new();
    let mut of_term: HashMap<Term, usize> = HashMap::new();
    let mut of_loop: Vec<Option<usize>> = vec![None; loops.all.len()];
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
        match loops.role(t) {
            Some((_, Role::Step | Role::Carry(_))) => continue,
            Some((n, _)) => {
                let at = *of_loop[n].get_or_insert_with(|| {
                    let reads = loop_reads(g, &loops, &scopes, &statements, n, &sets);
                    let scope = scopes.parent[n];
                    statements.push(Statement { of: Of::Loop(n), reads, guard: guard[t.index()], scope });
                    statements.len() - 1
                });
                of_term.insert(t, at);
                continue;
            }
            None => {}
        }
        of_term.insert(t, statements.len());
        // What is only named costs nothing anywhere.
        let named = matches!(g.node(t), Node::Input(_) | Node::Size(..));
        let guard = if named { 0 } else { guard[t.index()] };
        statements.push(Statement { of: Of::Term(t), reads: reads(g, &class, t), guard, scope: scopes.of(t) });
    }
    for (check, terms) in checks.iter().enumerate() {
        let reads = terms.reads.iter().filter(|t| !matches!(g.node(**t), Node::Lit(_))).map(|&t| (t, false)).collect();
        statements.push(Statement { of: Of::Check(check), reads, guard: 0, scope: 0 });
    }
    let mut uses: HashMap<Term, u32> = HashMap::new();
    for &t in &reach {
        g.node(t).for_each_child(|c| *uses.entry(c).or_default() += 1);
    }
    let counts = loops.all.iter().flat_map(|l| std::iter::once(l.count).chain(l.stop));
    for t in roots.iter().copied().chain(counts).chain(read[results.len()..].iter().copied()) {
        *uses.entry(t).or_default() += 1;
    }
    let mut plan = Plan {
        class,
        steps: Vec::new(),
        order: Vec::new(),
        bodies: vec![Vec::new(); loops.all.len()],
        in_place: HashMap::new(),
        readers: HashMap::new(),
        uses,
        exact,
        results: read.into_iter().collect(),
        loops,
        scopes,
    };
    for scope in 0..=plan.bodies.len() {
        let own: Vec<usize> = (0..statements.len()).filter(|&s| statements[s].scope == scope).collect();
        let all = All { g, statements: &statements, of_term: &of_term, checks, sets: &sets };
        let (before, in_place) = if scope == 0 { Default::default() } else { places(&all, &own, &plan, scope - 1) };
        let order = match list_schedule(&all, &own, &before) {
            Some(order) => {
                plan.in_place.extend(in_place);
                order
            }
            // What is read after it should have been added to: the loop works on copies.
            None => list_schedule(&all, &own, &[])
                .ok_or_else(|| "the conditions of the program depend on each other".to_string())?,
        };
        group(&all, &mut plan, &order, scope);
    }
    for list in plan.readers.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    Ok(plan)
}

/// What decisions depend on, through loops.
fn exact(g: &Graph, loops: &Loops, reach: &[Term]) -> HashSet<Term> {
    let stops = loops.all.iter().filter_map(|l| l.stop).collect();
    let mut exact = crate::simplify::decisions_and(g, reach, stops);
    loop {
        let mut more = Vec::new();
        for l in &loops.all {
            for c in &l.carries {
                if exact.contains(&c.now) || exact.contains(&c.last) {
                    more.extend([c.init, c.next]);
                }
            }
            more.extend(l.rows.iter().filter(|r| exact.contains(&r.all)).map(|r| r.row));
        }
        more.retain(|t| !exact.contains(t));
        if more.is_empty() {
            return exact;
        }
        crate::simplify::follow(g, &mut exact, more);
    }
}

/// What a loop reads: what it begins with, and what its body reads and conditions on that is not of the body.
fn loop_reads(
    g: &Graph,
    loops: &Loops,
    scopes: &Scopes,
    statements: &[Statement],
    n: usize,
    sets: &Guards,
) -> BTreeMap<Term, bool> {
    let l = &loops.all[n];
    let mut found: BTreeMap<Term, bool> = BTreeMap::from([(l.count, false)]);
    found.extend(l.stop.map(|t| (t, false)));
    let ends = l.carries.iter().flat_map(|c| [c.init, c.next]).chain(l.rows.iter().map(|r| r.row));
    for t in ends {
        found.insert(t, false);
        if let Some((_, shape)) = g.ty(t).as_array() {
            found.extend(shape.iter().map(|&n| (n, false)));
        }
        if is_splat(g, t) {
            found.insert(splat_of(g, t), false);
        }
    }
    for s in statements.iter().filter(|s| s.scope == n + 1) {
        found.extend(s.reads.keys().map(|&t| (t, false)));
        found.extend(sets.sets[s.guard as usize].iter().map(|c| (c.0, false)));
    }
    found.retain(|&t, _| scopes.of(t) != n + 1 && !matches!(g.node(t), Node::Lit(_)));
    found.retain(|&t, _| !matches!(g.node(t), Node::Input(_)) || g.rank(t) == 0);
    found
}

/// The scalar that all elements are.
fn splat_of(g: &Graph, mut t: Term) -> Term {
    while let (Node::Prim(_, args), true) = (g.node(t), g.rank(t) > 0) {
        t = args[0];
    }
    t
}

/// What all scopes share.
struct All<'a> {
    g: &'a Graph,
    statements: &'a [Statement],
    of_term: &'a HashMap<Term, usize>,
    checks: &'a [CheckTerms],
    sets: &'a Guards,
}

/// The carried arrays of a loop that can be added to in place, as the terms on the way from one step to the next,
/// and which statements then have to come before which.
fn places(all: &All<'_>, own: &[usize], plan: &Plan, n: usize) -> (Vec<(usize, usize)>, HashMap<Term, Term>) {
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
fn list_schedule(all: &All<'_>, own: &[usize], before: &[(usize, usize)]) -> Option<Vec<usize>> {
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
fn is_let(g: &Graph, t: Term) -> bool {
    !matches!(g.node(t), Node::Prim(Prim::Sum(_) | Prim::Reduce(..) | Prim::Contract(_), _))
}

/// Puts the statements of a scope into steps; a nest takes in a later statement over the same domain whose reads of it are pointwise.
fn group(all: &All<'_>, plan: &mut Plan, order: &[usize], scope: Scope) {
    let All { g, statements, sets, .. } = *all;
    let first = plan.steps.len();
    let mut steps: Vec<Step> = Vec::new();
    let mut step_of: HashMap<Term, usize> = HashMap::new();
    let mut open: HashMap<(Vec<Term>, u32), Vec<usize>> = HashMap::new();
    let mut placed: Vec<(usize, usize)> = Vec::new();
    // What is known in the body already.
    let known: Vec<Literal> = match scope.checked_sub(1).map(|n| &plan.loops.all[n]) {
        Some(l) => {
            let last = l.carries.first().map(|c| c.last).or(l.rows.first().map(|r| r.all));
            let of = last.and_then(|t| all.of_term.get(&t)).map(|&s| statements[s].guard);
            of.map_or_else(Vec::new, |guard| sets.sets[guard as usize].clone())
        }
        None => Vec::new(),
    };
    for &s in order {
        let statement = &statements[s];
        let mut guard = sets.sets[statement.guard as usize].clone();
        guard.retain(|l| !known.contains(l));
        guard.sort_by_key(|l| (step_of.get(&l.0).copied(), *l));
        let t = match statement.of {
            Of::Term(t) => t,
            Of::Check(check) => {
                placed.push((s, steps.len()));
                steps.push(Step { guard, work: Work::Check(check) });
                continue;
            }
            Of::Loop(n) => {
                placed.push((s, steps.len()));
                let l = &plan.loops.all[n];
                step_of.extend(l.carries.iter().map(|c| (c.last, steps.len())));
                step_of.extend(l.rows.iter().map(|r| (r.all, steps.len())));
                steps.push(Step { guard, work: Work::Loop(n) });
                continue;
            }
        };
        if !is_item(g, &plan.class, &plan.exact, t) {
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
    for &(s, step) in &placed {
        let conditions = steps[step].guard.iter().map(|l| l.0);
        for t in statements[s].reads.keys().copied().chain(conditions) {
            plan.readers.entry(t).or_default().push(first + step);
        }
    }
    let numbers = (first..first + steps.len()).collect();
    match scope.checked_sub(1) {
        None => plan.order = numbers,
        Some(n) => plan.bodies[n] = numbers,
    }
    plan.steps.extend(steps);
}
