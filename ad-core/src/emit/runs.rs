//! Two loops that take the same steps, as one run. A loop that stops early is differentiated as a loop of as many steps as a first run of it counts
//! (`trips`); what the second run is for is to save rows. Here the first run saves them: into memory that grows step by step, if how many steps there
//! are is what it counts.
//!
//! That two loops take the same steps is read off their bodies, term by term; what stands behind such a pair reads the same numbers of either, so that
//! loops behind it may be one run too. Must never bring a loop that may not end under fewer conditions, nor
//! let a row depend on what the first run finds.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::analysis::bound::is_blank;
use crate::ir::{Body, Graph, Node, Scan, Term};
use crate::modes::dual_arrays::condition::Literal;
use crate::prim::{IntOp, Prim};

/// A loop that does the work of another one as well.
pub(super) struct OneRun {
    /// It, with rows behind its own.
    pub(super) scan: Scan,
    /// Which of its carried values counts the rows that it adds, if they are not as many as it has steps at most.
    pub(super) counter: Option<usize>,
    /// The other one.
    pub(super) other: Term,
    /// Which parts of the other one are which of its own.
    pub(super) parts: BTreeMap<usize, usize>,
    /// Terms of the other one's body, and what they are in its own.
    pub(super) same: HashMap<Term, Term>,
    /// Its loops that save too.
    pub(super) inner: Vec<Inner>,
}

/// A loop in a loop that saves while the outer one finds out how many rows there are at most.
#[derive(Clone)]
pub(super) struct Inner {
    /// It, in the body.
    pub(super) of: Term,
    /// What it saves, over its own parameters.
    pub(super) rows: Vec<Term>,
    /// Which parts of the other outer loop these are.
    pub(super) parts: Vec<usize>,
    /// The carried value of the outer loop that says how many rows there are at most, and how many there are in a step of it.
    pub(super) bound: usize,
    pub(super) steps: Term,
}

/// Ways to tell carried values apart that are tried.
const TRIES: usize = 16;

/// The loops that do the work of another one as well, by their terms.
pub(super) fn runs(g: &mut Graph, roots: &[Term]) -> BTreeMap<Term, OneRun> {
    let mut found = BTreeMap::new();
    let all = deep(g, roots);
    let loops: Vec<(Term, Scan)> = all
        .iter()
        .filter_map(|&t| match g.node(t) {
            Node::Scan(scan) if !g.is_open(t) && g.free(t).is_empty() => Some((t, (**scan).clone())),
            _ => None,
        })
        .collect();
    let stops = |g: &Graph, s: &Scan| s.stop.is_some() || !stopping(g, &s.body.results).is_empty();
    if loops.len() < 2 || !loops.iter().any(|(_, s)| stops(g, s)) {
        return found;
    }
    let needed = parts_needed(g, &all, roots);
    let guards = crate::analysis::guards::guards(g, roots);
    let mut taken: BTreeSet<Term> = BTreeSet::new();
    let alike = Alike::default();
    for (first, s) in &loops {
        if !stops(g, s) && alike.parts.borrow().is_empty() {
            continue;
        }
        for (other, a) in &loops {
            let Some(Some(needed)) = needed.get(other) else { continue };
            if other == first || taken.contains(first) || taken.contains(other) {
                continue;
            }
            // What the first run is under, the other one must be under too.
            let under =
                guards.get(first).is_none_or(|l| l.iter().all(|l| guards.get(other).is_some_and(|o| o.contains(l))));
            let both = Both { first: *first, s, other: *other, a, needed, alike: &alike };
            if let Some(run) = under.then(|| both.one_run(g)).flatten() {
                taken.extend([*first, *other]);
                alike.is_one_run(*other, *first, s.init.len(), &run.parts);
                found.insert(*first, run);
            }
        }
    }
    found
}

/// All terms below these, bodies and sizes included, ascending.
fn deep(g: &Graph, roots: &[Term]) -> Vec<Term> {
    let mut seen: HashSet<Term> = HashSet::new();
    let mut stack = roots.to_vec();
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        g.node(t).for_each_child(|c| stack.push(c));
        if let Node::Scan(scan) = g.node(t) {
            stack.extend(&*scan.body.results);
        }
        if let Some((_, shape)) = g.ty(t).as_array() {
            stack.extend(shape);
        }
    }
    let mut all: Vec<Term> = seen.into_iter().collect();
    all.sort_unstable();
    all
}

/// The loops of a body that stop early.
fn stopping(g: &Graph, results: &[Term]) -> Vec<Term> {
    let stops = |t: &Term| g.is_open(*t) && matches!(g.node(*t), Node::Scan(scan) if scan.stop.is_some());
    g.reachable(results).into_iter().filter(stops).collect()
}

/// Which parts of each loop are read; none if it is read as a whole.
fn parts_needed(g: &Graph, all: &[Term], roots: &[Term]) -> HashMap<Term, Option<BTreeSet<usize>>> {
    let mut needed: HashMap<Term, Option<BTreeSet<usize>>> = HashMap::new();
    for &t in all {
        match *g.node(t) {
            Node::Proj(tuple, k) => {
                if let Some(parts) = needed.entry(tuple).or_insert_with(|| Some(BTreeSet::new())) {
                    parts.insert(k as usize);
                }
            }
            ref node => node.for_each_child(|c| {
                if matches!(g.node(c), Node::Scan(_)) {
                    needed.insert(c, None);
                }
            }),
        }
    }
    for t in roots {
        needed.insert(*t, None);
    }
    needed
}

/// Without what only says that there is no derivative.
fn plain(g: &Graph, mut t: Term) -> Term {
    while let Node::Prim(Prim::StopGradient, args) = g.node(t) {
        t = args[0];
    }
    t
}

/// Of a loop that another one does the work of: the first one, and which of its carried values are which parts.
type Left = (Term, BTreeMap<usize, usize>);

/// Terms that are the same numbers: what either of two loops leaves that are one run.
#[derive(Default)]
struct Alike {
    parts: RefCell<HashMap<Term, Left>>,
    known: RefCell<HashMap<Term, Term>>,
}

impl Alike {
    fn is_one_run(&self, other: Term, first: Term, carries: usize, parts: &BTreeMap<usize, usize>) {
        let left = parts.iter().filter(|p| *p.1 < carries).map(|(&k, &n)| (k, n)).collect();
        self.parts.borrow_mut().insert(other, (first, left));
        self.known.borrow_mut().clear();
    }

    /// One term for all of them, without what only says that there is no derivative. Loops are looked into by nobody here.
    fn one(&self, g: &mut Graph, t: Term) -> Term {
        let parts = self.parts.borrow();
        if parts.is_empty() {
            return plain(g, t);
        }
        let mut known = self.known.borrow_mut();
        let mut stack = vec![(t, false)];
        while let Some((t, children_done)) = stack.pop() {
            if known.contains_key(&t) {
                continue;
            }
            let node = g.node_rc(t);
            let made = match &*node {
                Node::Scan(_) => t,
                Node::Proj(of, k) => match parts.get(of) {
                    Some((first, left)) => left.get(&(*k as usize)).map_or(t, |&n| g.proj(*first, n)),
                    None => t,
                },
                _ if !children_done => {
                    stack.push((t, true));
                    node.for_each_child(|c| stack.push((c, false)));
                    continue;
                }
                Node::Prim(Prim::StopGradient, args) => known[&args[0]],
                node => g.try_mk(node.map_children(|c| known[&c])).unwrap_or(t),
            };
            known.insert(t, made);
        }
        known[&t]
    }

    /// Whether one of these reads what is left by a loop that another one does the work of.
    fn behind(&self, g: &Graph, terms: &[Term]) -> bool {
        let parts = self.parts.borrow();
        !parts.is_empty() && g.reachable(terms).iter().any(|t| parts.contains_key(t))
    }
}

/// The array of whose first rows this one consists.
fn whole(g: &Graph, t: Term) -> Term {
    let t = plain(g, t);
    let Node::Prim(Prim::Slice(steps), args) = g.node(t) else { return t };
    let rank = steps.len();
    let first = steps.iter().all(|&s| s == 1) && args[1..=rank].iter().all(|&s| g.int_value(s) == Some(0));
    if first && g.shape(t)[1..] == g.shape(args[0])[1..] { plain(g, args[0]) } else { t }
}

/// Whether both give a step the same row.
fn same_rows(g: &Graph, a: Term, b: Term) -> bool {
    let (a, b) = (whole(g, a), whole(g, b));
    let steps = |t: Term| matches!(g.node(t), Node::Prim(Prim::Iota, _));
    a == b || (steps(a) && steps(b))
}

/// Whether a carried value counts the steps.
fn counts(g: &mut Graph, s: &Scan, k: usize) -> bool {
    if s.init.get(k).is_none_or(|&t| g.int_value(t) != Some(0)) {
        return false;
    }
    let (n, one) = (g.param(k, s.body.params[k].clone()), g.lit_usize(1));
    let next = g.int(IntOp::Add, n, one);
    s.body.results[k] == next
}

/// What stands outside of a loop, as the other loop sees it: by the loop's arguments, in order.
type Args = Vec<Option<Term>>;

/// The other loop's values as this one's.
struct Matched {
    /// Of each carried value that is needed.
    carries: Vec<Option<usize>>,
    /// Of the terms of the body.
    map: HashMap<Term, Term>,
    /// What it takes beside.
    more: More,
    /// Of loops in the body: the loop that takes the same steps.
    pairs: HashMap<Term, Pair>,
}

/// The loop that takes the same steps, the places of the carried values, and terms of the body.
struct Pair {
    same: Term,
    carries: Vec<Option<usize>>,
    map: HashMap<Term, Term>,
    bound: usize,
    steps: Term,
}

/// A row that a loop in the body makes, and under what: the part, the loop, the loop's own part.
struct OfInner {
    part: usize,
    of: Term,
    row: usize,
    under: Vec<Literal>,
}

/// Captures and consumed arrays, by the numbers of parameters behind those of a body.
type More = (Vec<(usize, Term)>, Vec<(usize, Term)>);

struct Both<'a> {
    first: Term,
    s: &'a Scan,
    other: Term,
    a: &'a Scan,
    /// Parts of the other one.
    needed: &'a BTreeSet<usize>,
    alike: &'a Alike,
}

impl Both<'_> {
    fn one_run(&self, g: &mut Graph) -> Option<OneRun> {
        let (s, a) = (self.s, self.a);
        let counter = match *g.node(a.count) {
            Node::Proj(of, k) if of == self.first => Some(k as usize),
            _ => None,
        };
        let given = |s: &Scan| s.init.iter().chain(&s.captures).chain(&s.xs).copied().collect::<Vec<Term>>();
        match counter {
            Some(k) if s.stop.is_some() && a.stop.is_none() && !s.reverse && !a.reverse && counts(g, s, k) => {}
            // Both find out how many steps they take, and nobody wants more than what the last one leaves.
            None if s.stop.is_some() && a.stop.is_some() => {
                let alike = a.count == s.count && !s.reverse && !a.reverse && self.first < self.other;
                if !alike || self.needed.iter().any(|&k| k >= a.init.len()) {
                    return None;
                }
            }
            None if s.stop.is_none() && a.stop.is_none() && a.count == s.count && a.reverse == s.reverse => {
                // Without a bound that the first run finds, and what another pair leaves to them, the two have nothing to do with each other.
                let bounds = deep(g, &a.body.results).binary_search(&self.first).is_ok();
                if !bounds && (!self.alike.behind(g, &given(a)) || self.alike.behind(g, &given(s))) {
                    return None;
                }
            }
            _ => return None,
        }
        let args: Args = given(a).into_iter().map(|t| Some(self.alike.one(g, t))).collect();
        let of_inner: Vec<OfInner> = self.needed.iter().filter_map(|&k| self.of_inner(g, k)).collect();
        let mut needed = self.needed.clone();
        needed.extend(a.stop);
        for one in &of_inner {
            needed.remove(&one.part);
            needed.extend(g.reachable(&[one.of]).into_iter().filter_map(|t| carried(g, a, t)));
        }
        let Matched { carries, map, more, pairs } = self.matched(g, a, s, &args, &needed, true)?;
        let rows: Vec<usize> = needed.iter().copied().filter(|&k| k >= a.init.len()).collect();
        let mut results = s.body.results.to_vec();
        results.extend(rows.iter().map(|&k| map[&a.body.results[k]]));
        // What is saved must be there without the first run, and ask for nothing that the first run does not do anyway.
        let mut read: Vec<Term> = results[s.body.results.len()..].to_vec();
        let of_body = g.reachable(&read);
        let old = s.body.params.len();
        let used =
            |n: &(usize, Term)| of_body.iter().any(|&t| matches!(g.node(t), Node::Param(k, _) if *k as usize == n.0));
        let more: More = (more.0.into_iter().filter(used).collect(), more.1.into_iter().filter(used).collect());
        debug_assert!(more.0.iter().chain(&more.1).all(|n| n.0 >= old), "new parameters are behind the others");
        read.extend(more.0.iter().chain(&more.1).map(|n| n.1));
        if deep(g, &read).iter().any(|&t| t == self.first || t == self.other) {
            return None;
        }
        let (before, now) =
            (crate::analysis::guards::guards(g, &s.body.results), crate::analysis::guards::guards(g, &results));
        if stopping(g, &results).iter().any(|t| before.get(t) != now.get(t)) {
            return None;
        }
        let mut inner = self.inner_rows(g, &of_inner, &map, &pairs, &before)?;
        let also: Vec<Term> = inner.iter().flat_map(|i| [i.of, i.steps]).collect();
        let (scan, also) = with_more(g, s, &results, also, more);
        for (i, also) in inner.iter_mut().zip(also.chunks(2)) {
            (i.of, i.steps) = (also[0], also[1]);
        }
        let first_row = s.body.results.len();
        let mut parts: BTreeMap<usize, usize> = rows.iter().enumerate().map(|(n, &k)| (k, first_row + n)).collect();
        let behind = inner.iter().flat_map(|i| i.parts.iter().copied()).enumerate();
        parts.extend(behind.map(|(n, k)| (k, first_row + rows.len() + n)));
        parts.extend(carries.iter().enumerate().filter_map(|(k, place)| Some((k, (*place)?))));
        Some(OneRun { scan, counter, other: self.other, parts, same: map, inner })
    }

    /// A part that is the rows of a loop in the body of which the first run finds the bound.
    fn of_inner(&self, g: &Graph, part: usize) -> Option<OfInner> {
        let (mut t, mut under) = (*self.a.body.results.get(part).filter(|_| part >= self.a.init.len())?, Vec::new());
        while let Node::Cond { cond, then, other } = *g.node(t) {
            let (arm, value) = match (is_blank(g, then), is_blank(g, other)) {
                (false, true) => (then, true),
                (true, false) => (other, false),
                _ => return None,
            };
            under.push((cond, value));
            t = arm;
        }
        let Node::Proj(of, row) = *g.node(t) else { return None };
        let Node::Scan(inner) = g.node(of) else { return None };
        let bounded = matches!(*g.node(inner.count), Node::Proj(first, _) if first == self.first);
        let forwards = !inner.reverse && !self.a.reverse && !self.s.reverse && self.s.stop.is_none();
        let row = row as usize;
        (bounded && forwards && inner.stop.is_some() && row >= inner.init.len()).then_some(OfInner {
            part,
            of,
            row,
            under,
        })
    }

    /// These rows as rows of this one's inner loops.
    fn inner_rows(
        &self,
        g: &mut Graph,
        rows: &[OfInner],
        map: &HashMap<Term, Term>,
        pairs: &HashMap<Term, Pair>,
        guards: &HashMap<Term, Vec<Literal>>,
    ) -> Option<Vec<Inner>> {
        let mut found: Vec<Inner> = Vec::new();
        for OfInner { part, of, row, under } in rows {
            let pair = pairs.get(of)?;
            let (Node::Scan(a), Node::Scan(same)) = (&*g.node_rc(*of), &*g.node_rc(pair.same)) else { return None };
            let guard = guards.get(&pair.same)?;
            let row = *pair.map.get(&a.body.results[*row])?;
            if !under.iter().all(|(c, value)| map.get(c).is_some_and(|&c| guard.contains(&(c, *value)))) {
                return None;
            }
            let results: Vec<Term> = same.body.results.iter().copied().chain([row]).collect();
            let (before, now) =
                (crate::analysis::guards::guards(g, &same.body.results), crate::analysis::guards::guards(g, &results));
            let weaker = stopping(g, &results).iter().any(|t| before.get(t) != now.get(t));
            let read = deep(g, &[row]);
            if weaker || same.reverse || read.iter().any(|&t| t == self.first || t == self.other) {
                return None;
            }
            match found.iter_mut().find(|i| i.of == pair.same) {
                Some(one) => {
                    one.rows.push(row);
                    one.parts.push(*part);
                }
                None => found.push(Inner {
                    of: pair.same,
                    rows: vec![row],
                    parts: vec![*part],
                    bound: pair.bound,
                    steps: pair.steps,
                }),
            }
        }
        Some(found)
    }

    /// `a`'s carried values and terms as those of `s`, if these parts of it can be told so. `args` are what `a` begins with, captures and consumes.
    fn matched(
        &self,
        g: &mut Graph,
        a: &Scan,
        s: &Scan,
        args: &Args,
        needed: &BTreeSet<usize>,
        may_take_more: bool,
    ) -> Option<Matched> {
        let (carries, captures) = (a.init.len(), a.captures.len());
        let stop_is = |k: usize, n: usize| (a.stop == Some(k)) == (s.stop == Some(n)) || a.stop.is_none();
        let mut one = |t: &Term| self.alike.one(g, *t);
        let inits: Vec<Term> = s.init.iter().map(&mut one).collect();
        let captured: Vec<Term> = s.captures.iter().map(&mut one).collect();
        let consumed: Vec<Term> = s.xs.iter().map(&mut one).collect();
        let candidates: Vec<Vec<usize>> = (0..carries)
            .map(|k| {
                let fits =
                    |n: &usize| a.body.params[k] == s.body.params[*n] && args[k] == Some(inits[*n]) && stop_is(k, *n);
                (0..s.init.len()).filter(fits).collect()
            })
            .collect();
        let mut choice: Vec<usize> = vec![0; carries];
        // Those in the same order first.
        let mut from = 0;
        for (k, places) in candidates.iter().enumerate() {
            choice[k] = places.iter().position(|&n| n >= from).unwrap_or(0);
            from = places.get(choice[k]).map_or(from, |n| n + 1);
        }
        for _ in 0..TRIES {
            let mut params: Vec<Option<Term>> = Vec::new();
            for (k, places) in candidates.iter().enumerate() {
                params.push(places.get(choice[k]).map(|&n| g.param(n, a.body.params[k].clone())));
            }
            let mut more = (Vec::new(), Vec::new());
            for (k, arg) in args.iter().enumerate().skip(carries) {
                let ty = a.body.params[k].clone();
                let is_captured = k < carries + captures;
                let (of, first): (&[Term], usize) =
                    if is_captured { (&captured, s.init.len()) } else { (&consumed, s.init.len() + s.captures.len()) };
                let equal = |&t: &Term| match *arg {
                    Some(arg) if is_captured => t == arg,
                    Some(arg) => same_rows(g, t, arg),
                    None => false,
                };
                let place = of.iter().position(equal).map(|n| first + n);
                let place = place.filter(|&n| s.body.params[n] == ty).or_else(|| {
                    let arg = arg.filter(|_| may_take_more)?;
                    let new = s.body.params.len() + more.0.len() + more.1.len();
                    if is_captured {
                        more.0.push((new, arg))
                    } else {
                        more.1.push((new, whole(g, arg)))
                    }
                    Some(new)
                });
                params.push(place.map(|n| g.param(n, ty)));
            }
            let (map, pairs) = self.terms(g, a, s, &params);
            match wrong(g, a, s, (&candidates, &choice), &map, needed)? {
                Ok(carries) => {
                    return Some(Matched { carries, map, more, pairs });
                }
                Err(k) => {
                    choice[k] += 1;
                    if choice[k] >= candidates[k].len() {
                        return None;
                    }
                }
            }
        }
        None
    }

    /// The terms of `a`'s body as terms of `s`'s.
    fn terms(
        &self,
        g: &mut Graph,
        a: &Scan,
        s: &Scan,
        params: &[Option<Term>],
    ) -> (HashMap<Term, Term>, HashMap<Term, Pair>) {
        let mut map: HashMap<Term, Term> = HashMap::new();
        let mut pairs: HashMap<Term, Pair> = HashMap::new();
        for t in g.reachable(&a.body.results) {
            if !g.is_open(t) {
                map.insert(t, t);
                continue;
            }
            let node = g.node_rc(t);
            if let Node::Scan(inner) = &*node
                && let Some(pair) = self.inner(g, inner, s, &map)
            {
                pairs.insert(t, pair);
                continue;
            }
            let made = match &*node {
                Node::Param(k, _) => params.get(*k as usize).copied().flatten(),
                Node::Proj(of, k) if pairs.contains_key(of) => {
                    let pair = &pairs[of];
                    pair.carries.get(*k as usize).copied().flatten().map(|n| g.proj(pair.same, n))
                }
                node => {
                    let mut all = true;
                    node.for_each_child(|c| all &= map.contains_key(&c));
                    if all { g.try_mk(node.map_children(|c| map[&c])).ok() } else { None }
                }
            };
            if let Some(made) = made {
                map.insert(t, made);
            }
        }
        (map, pairs)
    }

    /// The loop in `s` that takes the steps of this loop in `a`, which has a bound that the first run finds; and the places of its carried values.
    fn inner(&self, g: &mut Graph, a: &Scan, s: &Scan, map: &HashMap<Term, Term>) -> Option<Pair> {
        let Node::Proj(of, bound) = *g.node(a.count) else { return None };
        if of != self.first {
            return None;
        }
        let args: Args =
            a.init.iter().chain(&a.captures).chain(&a.xs).map(|t| Some(self.alike.one(g, *map.get(t)?))).collect();
        let needed: BTreeSet<usize> = (0..a.init.len()).collect();
        for t in stopping(g, &s.body.results) {
            let Node::Scan(same) = &*g.node_rc(t) else { continue };
            if same.reverse != a.reverse {
                continue;
            }
            let Some(steps) = bounded(g, self.s, bound as usize, t, same) else { continue };
            if let Some(m) = self.matched(g, a, same, &args, &needed, false)
                && a.stop.is_some_and(|k| m.carries[k] == same.stop)
            {
                return Some(Pair { same: t, carries: m.carries, map: m.map, bound: bound as usize, steps });
            }
        }
        None
    }
}

/// How many steps an inner loop takes, if the loop's carried value of this number is the greatest of that.
fn bounded(g: &mut Graph, s: &Scan, bound: usize, inner: Term, of: &Scan) -> Option<Term> {
    let next = *s.body.results.get(bound)?;
    let most = g.param(bound, s.body.params[bound].clone());
    let Node::Prim(Prim::Int(IntOp::Max), args) = g.node(next).clone() else { return None };
    let steps = match *args {
        [a, b] if a == most => b,
        [a, b] if b == most => a,
        _ => return None,
    };
    let mut n = steps;
    // It is nothing where the loop is not come to.
    while let Node::Cond { then, other, .. } = *g.node(n) {
        n = match (g.int_value(then), g.int_value(other)) {
            (Some(0), _) => other,
            (_, Some(0)) => then,
            _ => return None,
        };
    }
    let Node::Proj(t, k) = *g.node(n) else { return None };
    (t == inner && counts(g, of, k as usize)).then_some(steps)
}

/// The places of the carried values that these parts need, or one that has been given the wrong place; none if a part cannot be told.
fn wrong(
    g: &Graph,
    a: &Scan,
    s: &Scan,
    (candidates, choice): (&[Vec<usize>], &[usize]),
    map: &HashMap<Term, Term>,
    needed: &BTreeSet<usize>,
) -> Option<Result<Vec<Option<usize>>, usize>> {
    let mut places: Vec<Option<usize>> = vec![None; a.init.len()];
    let mut stack: Vec<usize> = needed.iter().copied().collect();
    let mut seen: BTreeSet<usize> = BTreeSet::new();
    while let Some(k) = stack.pop() {
        if !seen.insert(k) {
            continue;
        }
        let result = a.body.results[k];
        if k < a.init.len() {
            let &n = candidates[k].get(choice[k])?;
            if map.get(&result) != Some(&s.body.results[n]) {
                return Some(Err(k));
            }
            places[k] = Some(n);
        } else {
            map.get(&result)?;
        }
        stack.extend(g.reachable(&[result]).into_iter().filter_map(|t| carried(g, a, t)));
    }
    Some(Ok(places))
}

/// The number of the carried value that a term of a body is.
fn carried(g: &Graph, of: &Scan, t: Term) -> Option<usize> {
    match g.node(t) {
        Node::Param(k, _) if (*k as usize) < of.init.len() => Some(*k as usize),
        _ => None,
    }
}

/// The loop with these results, over further captures and consumed arrays; and what other terms of its body are then.
fn with_more(g: &mut Graph, s: &Scan, results: &[Term], also: Vec<Term>, (captures, xs): More) -> (Scan, Vec<Term>) {
    let (old, first) = (s.body.params.len(), s.init.len() + s.captures.len());
    let last = captures.iter().chain(&xs).map(|n| n.0 + 1).max().unwrap_or(old);
    let mut types = s.body.params.to_vec();
    types.resize(last, crate::ir::Type::scalar(crate::ir::Elem::USIZE));
    for &(n, t) in &captures {
        types[n] = g.ty(t).clone();
    }
    for &(n, x) in &xs {
        types[n] = crate::ir::Type::Array(g.elem(x), g.shape(x)[1..].into());
    }
    let mut places: Vec<usize> = (0..last).map(|k| if k < first { k } else { k + captures.len() }).collect();
    for (k, n) in captures.iter().enumerate() {
        places[n.0] = first + k;
    }
    for (k, n) in xs.iter().enumerate() {
        places[n.0] = old + captures.len() + k;
    }
    let args: Vec<Term> = (0..last).map(|k| g.param(places[k], types[k].clone())).collect();
    let all = results.iter().copied().chain(also).collect();
    let mut all = g.instantiate(&Body { params: types.clone().into(), results: all }, &args);
    let also = all.split_off(results.len());
    let mut params = types[..old].to_vec();
    params.splice(first..first, captures.iter().map(|n| types[n.0].clone()));
    params.extend(xs.iter().map(|n| types[n.0].clone()));
    let scan = Scan {
        captures: s.captures.iter().copied().chain(captures.into_iter().map(|n| n.1)).collect(),
        xs: s.xs.iter().copied().chain(xs.into_iter().map(|n| n.1)).collect(),
        body: Body { params: params.into(), results: all.into() },
        ..s.clone()
    };
    (scan, also)
}
