//! Merging of counting runs and saving runs. A loop that stops early is differentiated as a loop
//! with the number of iterations that a first run of it counts (`trip_counts`); a second run saves
//! residuals. This pass lets the first run save them too, so that the second run is not needed. A
//! loop that computes a size is a first run as well. Whether two loops have the same iterations is
//! decided by comparing their bodies term by term (`matching`), and later terms may read equal
//! values from either loop (`equal`).
//!
//! The pass must never let a loop that may not end run under fewer conditions than before, nor let
//! a saved row depend on the result of the first run.

mod equal;
mod matching;

use ad_ir::sorted::{SortedMap, SortedSet};
use std::collections::{HashMap, HashSet};

use super::opened::{Carry, Loop, RowGrowth, Rows, leaf};
use crate::passes::simplify::simplify_exactly;
use ad_ir::analysis::Analyses;
use ad_ir::analysis::guards::{Guard, Guards, else_blank};
use ad_ir::analysis::sizes::Fixed;
use ad_ir::ir::{Body, Elem, Graph, Node, Scan, Term, Type, valid};
use ad_ir::prim::IntOp;
use equal::EqualResults;
use matching::{Args, ExtraInputs, LoopPair, LoopsToMerge, Matched, carried, counts, stopping};

/// A merged loop: a counting run that also saves residuals.
pub(crate) struct MergedLoop {
    /// The merged loop; the added rows come last.
    pub(crate) scan: Scan,
    /// The index of the carried value that counts the added rows, if their number is not the
    /// maximum number of iterations. The rows are then appended to a growable vector.
    pub(crate) counter: Option<usize>,
    /// The loop that becomes unnecessary.
    pub(crate) other: Term,
    /// Maps result indices of `other` to those of `scan`.
    pub(crate) parts: SortedMap<usize, usize>,
    /// Maps terms of the body of `other` to terms of the body of `scan`.
    pub(crate) same: HashMap<Term, Term>,
    /// The inner loops that save rows too.
    pub(crate) inner: Vec<Inner>,
}

/// An inner loop that saves rows, while the outer loop finds their maximum number.
#[derive(Clone)]
pub(crate) struct Inner {
    /// The term of the inner loop, in the body.
    pub(crate) of: Term,
    /// The saved rows, as terms of its body.
    pub(crate) rows: Vec<Term>,
    /// The result indices of `other` that these rows are.
    pub(crate) parts: Vec<usize>,
    /// The index of the outer loop's carried value that is the maximum number of rows.
    pub(crate) bound: usize,
    /// The number of rows in one iteration.
    pub(crate) steps: Term,
}

impl Inner {
    /// The inner loop, in an outer loop whose body consists of these terms.
    pub(super) fn opened(&self, g: &mut Graph, body: &HashMap<Term, Term>) -> Result<OpenInner, String> {
        let (Some(&of), Some(&steps)) = (body.get(&self.of), body.get(&self.steps)) else {
            return Err("an inner loop that is not in the body".into());
        };
        let Node::Tuple(all) = g.node(of).clone() else { return Err("a loop without parts".into()) };
        let now = leaf(g, Type::scalar(Elem::USIZE));
        let next = g.int(IntOp::Add, now, steps);
        Ok(OpenInner { rows: all[all.len() - self.rows.len()..].to_vec(), now, next, bound: self.bound })
    }
}

/// An opened inner loop that saves rows.
pub(super) struct OpenInner {
    rows: Vec<Term>,
    /// The number of rows before an iteration, and after it.
    now: Term,
    next: Term,
    /// The index of the outer loop's carried value that is the maximum number of rows.
    bound: usize,
}

impl OpenInner {
    /// Adds the rows to the outer loop `l`. They are collected over all iterations, and each
    /// iteration has a number of rows of its own. `parts` are the results of the outer loop.
    pub(super) fn add_rows(&self, g: &mut Graph, l: &mut Loop, parts: &mut Vec<Term>) {
        let (init, now, next) = (g.lit_usize(0), self.now, self.next);
        let last = leaf(g, Type::scalar(Elem::USIZE));
        l.carries.push(Carry { init, now, next, last });
        let before = leaf(g, Type::Array(Elem::USIZE, [l.count].into()));
        l.rows.push(Rows { row: now, all: before, how: RowGrowth::None, under: None });
        for &row in &self.rows {
            let (elem, shape) = (g.elem(row), g.shape(row)[1..].to_vec());
            let all = leaf(g, Type::Array(elem, std::iter::once(last).chain(shape).collect()));
            l.rows.push(Rows { row, all, how: RowGrowth::Inner, under: None });
            let vars = [g.fresh(), g.fresh()];
            let [i, j] = vars.map(|v| g.mk(Node::Var(v)));
            let first = g.index(before, &[i]);
            let at = g.int(IntOp::Add, first, j);
            parts.push(g.gather(all, [l.count, parts[self.bound]].into(), &vars, &[at]));
        }
    }
}

/// The merged loops, by the terms of their counting runs.
pub(crate) fn runs(g: &mut Graph, roots: &[Term], analyses: &mut Analyses) -> SortedMap<Term, MergedLoop> {
    let mut found = SortedMap::new();
    let all = deep(g, roots);
    let mut loops: Vec<(Term, Scan)> = all
        .iter()
        .filter_map(|&t| match g.node(t) {
            Node::Scan(scan) if !g.is_open(t) && g.free(t).is_empty() => Some((t, (**scan).clone())),
            _ => None,
        })
        .collect();
    let stops = |g: &Graph, s: &Scan| s.stop.is_some() || !stopping(g, &s.body.results).is_empty();
    let sizes = analyses.get::<Fixed>(g, roots);
    if loops.len() < 2 || !loops.iter().any(|(t, s)| sizes.contains(t) || stops(g, s)) {
        return found;
    }
    // No pass simplifies the terms that compute a size.
    for (_, s) in loops.iter_mut().filter(|(t, _)| sizes.contains(t)) {
        s.body.results = simplify_exactly(g, &s.body.results).into();
    }
    let needed = parts_needed(g, &all, roots);
    let guards = analyses.get::<Guards>(g, roots);
    let mut taken: SortedSet<Term> = SortedSet::new();
    let alike = EqualResults::default();
    for (first, s) in &loops {
        let of_size = sizes.contains(first);
        if !of_size && !stops(g, s) && alike.parts.borrow().is_empty() {
            continue;
        }
        for (other, a) in &loops {
            let Some(Some(needed)) = needed.get(other) else { continue };
            if other == first || taken.contains(first) || taken.contains(other) {
                continue;
            }
            // The guards of the first run must be guards of the other loop too.
            let under =
                guards.get(first).is_none_or(|l| l.iter().all(|l| guards.get(other).is_some_and(|o| o.contains(l))));
            let both = LoopsToMerge { first: *first, s, of_size, other: *other, a, needed, alike: &alike };
            if let Some(run) = under.then(|| both.one_run(g, analyses)).flatten()
                && !needs_itself(g, (*first, &run), &found)
            {
                if cfg!(debug_assertions)
                    && let Err(errors) = valid::validate_loop(g, &run.scan)
                {
                    panic!("after lowering.merge_runs: {errors:?}");
                }
                taken.extend([*first, *other]);
                alike.is_one_run(*other, *first, s.init.len(), &run.parts);
                found.insert(*first, run);
            }
        }
    }
    found
}

/// Whether what a merged loop reads depends on its own results, given the loops that have been
/// merged before: a loop may be merged into one that comes before what it reads.
fn needs_itself(g: &Graph, (first, run): (Term, &MergedLoop), found: &SortedMap<Term, MergedLoop>) -> bool {
    let read = |scan: &Scan| [&*scan.init, &*scan.captures, &*scan.xs].concat();
    let (mut seen, mut stack) = (HashSet::new(), read(&run.scan));
    while let Some(t) = stack.pop() {
        if t == first || t == run.other {
            return true;
        }
        if !seen.insert(t) {
            continue;
        }
        match found.iter().find(|(of, merged)| **of == t || merged.other == t) {
            Some((_, merged)) => stack.extend(read(&merged.scan)),
            None => g.node(t).for_each_child(|c| stack.push(c)),
        }
        if let Some((_, shape)) = g.ty(t).as_array() {
            stack.extend(shape);
        }
    }
    false
}

/// The carried value that counts the iterations of a loop.
pub(super) fn counting(g: &mut Graph, s: &Scan) -> Option<usize> {
    let usize_ty = Type::scalar(Elem::USIZE);
    (0..s.init.len()).find(|&k| s.body.params[k] == usize_ty && counts(g, s, k))
}

/// All terms reachable from these, bodies and sizes included, ascending.
pub(super) fn deep(g: &Graph, roots: &[Term]) -> Vec<Term> {
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

/// The results of each loop that are read; `None` if a term reads the loop as a tuple.
fn parts_needed(g: &Graph, all: &[Term], roots: &[Term]) -> HashMap<Term, Option<SortedSet<usize>>> {
    let mut needed: HashMap<Term, Option<SortedSet<usize>>> = HashMap::new();
    for &t in all {
        match *g.node(t) {
            Node::Proj(tuple, k) => {
                if let Some(parts) = needed.entry(tuple).or_insert_with(|| Some(SortedSet::new())) {
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

/// A row that an inner loop computes, with its guards: the index of the row, the loop, the index of
/// the result of that loop.
struct InnerRow {
    part: usize,
    of: Term,
    row: usize,
    under: Vec<Guard>,
}

impl LoopsToMerge<'_> {
    fn one_run(&self, g: &mut Graph, analyses: &mut Analyses) -> Option<MergedLoop> {
        let (s, a) = (self.s, self.a);
        let counter = match *g.node(a.count) {
            Node::Proj(of, k) if of == self.first => Some(k as usize),
            _ => None,
        };
        let given = |s: &Scan| s.init.iter().chain(&s.captures).chain(&s.xs).copied().collect::<Vec<Term>>();
        match counter {
            Some(k) if s.stop.is_some() && a.stop.is_none() && !s.reverse && !a.reverse && counts(g, s, k) => {}
            // Both loops count their iterations, and only the final value is read.
            None if s.stop.is_some() && a.stop.is_some() => {
                let same_count = a.count == s.count && !s.reverse && !a.reverse && self.first < self.other;
                if !same_count || self.needed.iter().any(|&k| k >= a.init.len()) {
                    return None;
                }
            }
            None if s.stop.is_none() && a.stop.is_none() && a.count == s.count && a.reverse == s.reverse => {
                // The two loops can be merged only if the first one computes a size, if the second
                // one has a bound that the first one finds, or if it reads a result of another
                // merged pair.
                let bounds = self.of_size || deep(g, &a.body.results).binary_search(&self.first).is_ok();
                if !bounds && (!self.alike.reads_merged(g, &given(a)) || self.alike.reads_merged(g, &given(s))) {
                    return None;
                }
            }
            _ => return None,
        }
        let args: Args = given(a).into_iter().map(|t| Some(self.alike.one(g, t))).collect();
        let of_inner: Vec<InnerRow> = self.needed.iter().filter_map(|&k| self.of_inner(g, k)).collect();
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
        // A saved term must not depend on the first run, and must not need an operation that the
        // first run does not execute anyway.
        let mut read: Vec<Term> = results[s.body.results.len()..].to_vec();
        let of_body = g.reachable(&read);
        let old = s.body.params.len();
        let used =
            |n: &(usize, Term)| of_body.iter().any(|&t| matches!(g.node(t), Node::Param(k, _) if *k as usize == n.0));
        let more: ExtraInputs = (more.0.into_iter().filter(used).collect(), more.1.into_iter().filter(used).collect());
        debug_assert!(more.0.iter().chain(&more.1).all(|n| n.0 >= old), "new parameters follow the others");
        read.extend(more.0.iter().chain(&more.1).map(|n| n.1));
        if deep(g, &read).iter().any(|&t| t == self.first || t == self.other) {
            return None;
        }
        let (before, now) = (analyses.get::<Guards>(g, &s.body.results), analyses.get::<Guards>(g, &results));
        if stopping(g, &results).iter().any(|t| before.get(t) != now.get(t)) {
            return None;
        }
        let mut inner = self.inner_rows(g, &of_inner, &map, &pairs, (&before, analyses))?;
        let also: Vec<Term> = inner.iter().flat_map(|i| [i.of, i.steps]).collect();
        let (scan, also) = with_more(g, s, &results, also, more);
        for (i, also) in inner.iter_mut().zip(also.chunks(2)) {
            (i.of, i.steps) = (also[0], also[1]);
        }
        let first_row = s.body.results.len();
        let mut parts: SortedMap<usize, usize> = rows.iter().enumerate().map(|(n, &k)| (k, first_row + n)).collect();
        let behind = inner.iter().flat_map(|i| i.parts.iter().copied()).enumerate();
        parts.extend(behind.map(|(n, k)| (k, first_row + rows.len() + n)));
        parts.extend(carries.iter().enumerate().filter_map(|(k, place)| Some((k, (*place)?))));
        Some(MergedLoop { scan, counter, other: self.other, parts, same: map, inner })
    }

    /// A result that consists of the rows of an inner loop whose bound the first run finds.
    fn of_inner(&self, g: &Graph, part: usize) -> Option<InnerRow> {
        let t = *self.a.body.results.get(part).filter(|_| part >= self.a.init.len())?;
        let (under, t) = else_blank(g, t)?;
        let Node::Proj(of, row) = *g.node(t) else { return None };
        let Node::Scan(inner) = g.node(of) else { return None };
        let bounded = matches!(*g.node(inner.count), Node::Proj(first, _) if first == self.first);
        let forwards = !inner.reverse && !self.a.reverse && !self.s.reverse && self.s.stop.is_none();
        let row = row as usize;
        (bounded && forwards && inner.stop.is_some() && row >= inner.init.len()).then_some(InnerRow {
            part,
            of,
            row,
            under,
        })
    }

    /// These rows, as rows of the inner loops of the first run.
    fn inner_rows(
        &self,
        g: &mut Graph,
        rows: &[InnerRow],
        map: &HashMap<Term, Term>,
        pairs: &HashMap<Term, LoopPair>,
        (guards, analyses): (&HashMap<Term, Vec<Guard>>, &mut Analyses),
    ) -> Option<Vec<Inner>> {
        let mut found: Vec<Inner> = Vec::new();
        for InnerRow { part, of, row, under } in rows {
            let pair = pairs.get(of)?;
            let (Node::Scan(a), Node::Scan(same)) = (&*g.node_rc(*of), &*g.node_rc(pair.same)) else { return None };
            let guard = guards.get(&pair.same)?;
            let row = *pair.map.get(&a.body.results[*row])?;
            if !under.iter().all(|(c, value)| map.get(c).is_some_and(|&c| guard.contains(&(c, *value)))) {
                return None;
            }
            let results: Vec<Term> = same.body.results.iter().copied().chain([row]).collect();
            let (before, now) = (analyses.get::<Guards>(g, &same.body.results), analyses.get::<Guards>(g, &results));
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
}

/// The loop with these results, and with additional captures and consumed arrays; and the given
/// terms of its body, in the new loop.
fn with_more(
    g: &mut Graph,
    s: &Scan,
    results: &[Term],
    also: Vec<Term>,
    (captures, xs): ExtraInputs,
) -> (Scan, Vec<Term>) {
    let (old, first) = (s.body.params.len(), s.init.len() + s.captures.len());
    let last = captures.iter().chain(&xs).map(|n| n.0 + 1).max().unwrap_or(old);
    let mut types = s.body.params.to_vec();
    types.resize(last, ad_ir::ir::Type::scalar(ad_ir::ir::Elem::USIZE));
    for &(n, t) in &captures {
        types[n] = g.ty(t).clone();
    }
    for &(n, x) in &xs {
        types[n] = ad_ir::ir::Type::Array(g.elem(x), g.shape(x)[1..].into());
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
