//! Turns loops that stop early into loops of a known number of steps, which is the form that
//! differentiation requires. A counting run, without derivatives, finds the number of steps of a
//! loop. The program also takes all results without a derivative from the counting run. So the work
//! of the function is done at most twice: once to count, and once to save the residuals.
//!
//! The pass must never run a loop that the program does not reach, since that loop might not end: a
//! count is taken under the conditions that all uses of the loop have in common. It must never
//! change a type: rows of steps that do not run are zeros.

use std::collections::{HashMap, HashSet};

use crate::passes::rewrite::{Rewriter, Rewritten, with_rewritten_children};
use crate::passes::{Pass, Roots, trace};
use ad_ir::analysis::Analyses;
use ad_ir::analysis::guards::{Guard, Guards};
use ad_ir::analysis::sizes::Sizes;
use ad_ir::ir::{Body, Elem, Graph, Node, Scan, Term, Type};
use ad_ir::prim::{IntOp, Prim};

/// The pass.
pub(crate) const PASS: Pass = Pass {
    name: "trip_counts",
    rules: || vec!["trip_counts"],
    run: |g, roots, cx| {
        let others: Vec<Term> = Roots { values: Vec::new(), ..roots.clone() }.all();
        let others: Vec<Term> = others.into_iter().chain(roots.values.iter().copied()).collect();
        let (values, mut others) = counted(g, &roots.values, &others, (&cx.active.clone(), cx.analyses()));
        let plain = others.split_off(others.len() - values.len());
        let mut new = Roots { values: Vec::new(), ..roots.clone() }.map(|_| others);
        if plain != values {
            new.counting_runs = plain;
        }
        Roots { values, ..new }
    },
    simplified: true,
};

/// The pass over a function inside of the loop of another one, where the number of steps of a loop
/// depends on values of that loop, and sizes are closed. A loop that stops early keeps its bound,
/// and its derivative leaves out the steps that it has not taken.
pub(crate) const BOUNDED: Pass = Pass {
    run: |g, roots, cx| {
        let active = cx.active.clone();
        let mut c = Counting { known: HashMap::new(), analyses: cx.analyses() };
        roots.map(|all| c.bounded(g, all, &active))
    },
    ..PASS
};

/// `roots`, in which no loop that depends on the inputs `active` stops early; and `others`, which
/// are not differentiated. The terms have no builds, and no carried tuples.
pub(crate) fn counted(
    g: &mut Graph,
    roots: &[Term],
    others: &[Term],
    (active, analyses): (&[u32], &mut Analyses),
) -> (Vec<Term>, Vec<Term>) {
    let mut c = Counting { known: HashMap::new(), analyses };
    let wanted = c.wanted(g, roots, active);
    if wanted.is_empty() {
        return (roots.to_vec(), others.to_vec());
    }
    let all: Vec<Term> = roots.iter().chain(others).copied().collect();
    let fixed = c.analyses.get::<Sizes>(g, &all);
    let guards = c.analyses.get::<Guards>(g, roots);
    // The terms that are differentiated, and the same values without derivatives.
    let (mut new, mut plain) = (Rewriter::new(&*fixed), Rewriter::new(&*fixed));
    for t in order(g, &all, &wanted, &guards) {
        if fixed.contains(&t) || !wanted.contains(&t) {
            new.step(g, t, |_, _, _| None);
            plain.step(g, t, |_, _, _| None);
            continue;
        }
        let mut counts = Vec::new();
        plain.step(g, t, |g, t, done| {
            let Node::Scan(mut counting) = with_rewritten_children(g, t, done) else { return None };
            for part in [&mut counting.init, &mut counting.captures, &mut counting.xs] {
                for x in part.iter_mut() {
                    if has_real(g, *x) {
                        *x = g.prim(Prim::StopGradient, &[*x]);
                    }
                }
            }
            let (parts, found) = c.with_counts(g, &counting);
            let under: Vec<Guard> = guards[&t].iter().filter_map(|l| Some((*done.get(&l.0)?, l.1))).collect();
            counts = found.into_iter().map(|n| count_where_reached(g, n, &under)).collect();
            Some(parts)
        });
        new.step(g, t, |g, t, done| {
            let Node::Scan(own) = with_rewritten_children(g, t, done) else { return None };
            debug_assert_eq!(counts.len(), c.number(g, &own), "each loop has its count");
            Some(c.convert(g, *own, std::mem::take(&mut counts), false))
        });
        trace::fired("trip_counts", t, &[new.done()[&t]]);
    }
    (roots.iter().map(|t| new.done()[t]).collect(), others.iter().map(|t| plain.done()[t]).collect())
}

/// All terms that the roots depend on, children first. The conditions of a wanted loop come before
/// it.
fn order(g: &Graph, roots: &[Term], wanted: &HashSet<Term>, guards: &HashMap<Term, Vec<Guard>>) -> Vec<Term> {
    let (mut seen, mut order) = (HashSet::new(), Vec::new());
    let mut stack: Vec<(Term, bool)> = roots.iter().rev().map(|&t| (t, false)).collect();
    while let Some((t, children_done)) = stack.pop() {
        if children_done {
            order.push(t);
        } else if seen.insert(t) {
            stack.push((t, true));
            g.node(t).for_each_child(|c| stack.push((c, false)));
            if wanted.contains(&t) {
                stack.extend(guards[&t].iter().map(|l| (l.0, false)));
            }
        }
    }
    order
}

/// A loop among `inner`, over its rewritten children.
fn inner_loop(g: &Graph, t: Term, done: &Rewritten, inner: &[Term]) -> Option<Scan> {
    match with_rewritten_children(g, t, done) {
        Node::Scan(scan) if inner.contains(&t) => Some(*scan),
        _ => None,
    }
}

struct Counting<'a> {
    analyses: &'a mut Analyses,
    /// Whether a loop stops early, or a loop inside it does.
    known: HashMap<Term, bool>,
}

impl Counting<'_> {
    /// Recursion is over nested loops.
    fn stops(&mut self, g: &mut Graph, t: Term, scan: &Scan) -> bool {
        if let Some(&known) = self.known.get(&t) {
            return known;
        }
        let found = has_real(g, t)
            && ((scan.stop.is_some() && !counts_itself(g, scan))
                || g.reachable(&scan.body.results).into_iter().any(|t| g.is_open(t) && self.is_wanted(g, t)));
        self.known.insert(t, found);
        found
    }

    /// The loops that stop early, or contain a loop that does, and that an active input reaches. (A
    /// superset: activity is decided by differentiation.)
    fn wanted(&mut self, g: &mut Graph, roots: &[Term], active: &[u32]) -> HashSet<Term> {
        let mut reached: HashSet<Term> = HashSet::new();
        let mut wanted = HashSet::new();
        for t in g.reachable(roots) {
            let node = &*g.node_rc(t);
            let mut any = matches!(node, Node::Input(k) if active.contains(k));
            node.for_each_child(|c| any |= reached.contains(&c));
            // The record of a call is an integer, and has results that are real.
            let is_real = has_real(g, t) || matches!(node, Node::Prim(Prim::Call(_), _));
            if !any || matches!(node, Node::Prim(Prim::StopGradient, _)) || !is_real {
                continue;
            }
            reached.insert(t);
            if let Node::Scan(scan) = node
                && self.stops(g, t, scan)
            {
                wanted.insert(t);
            }
        }
        wanted
    }

    /// Whether a term is a loop that is changed.
    fn is_wanted(&mut self, g: &mut Graph, t: Term) -> bool {
        match &*g.node_rc(t) {
            Node::Scan(scan) => self.stops(g, t, scan),
            _ => false,
        }
    }

    /// The loops of a body that are changed, oldest first.
    fn inner(&mut self, g: &mut Graph, results: &[Term]) -> Vec<Term> {
        // A loop that does not depend on the step has no derivative: only a size comes from it.
        g.reachable(results).into_iter().filter(|&t| g.is_open(t) && self.is_wanted(g, t)).collect()
    }

    /// The roots, in which each loop that stops early counts its steps.
    fn bounded(&mut self, g: &mut Graph, roots: &[Term], active: &[u32]) -> Vec<Term> {
        let wanted = self.wanted(g, roots, active);
        let fixed = self.analyses.get::<Sizes>(g, roots);
        Rewriter::new(&*fixed).run(g, roots, |g, t, done| {
            if !wanted.contains(&t) {
                return None;
            }
            let Node::Scan(scan) = with_rewritten_children(g, t, done) else { return None };
            let bounds = self.own_bounds(g, &scan);
            Some(self.convert(g, *scan, bounds, true))
        })
    }

    /// The bounds that a loop and the loops in it have, in the order of their counts.
    fn own_bounds(&mut self, g: &mut Graph, scan: &Scan) -> Vec<Term> {
        let mut bounds: Vec<Term> = scan.stop.map(|_| scan.count).into_iter().collect();
        for t in self.inner(g, &scan.body.results) {
            if let Node::Scan(inner) = &*g.node_rc(t) {
                bounds.extend(self.own_bounds(g, inner));
            }
        }
        bounds
    }

    /// The number of counts of a loop and of the loops in it.
    fn number(&mut self, g: &mut Graph, scan: &Scan) -> usize {
        let mut n = usize::from(scan.stop.is_some());
        for t in self.inner(g, &scan.body.results) {
            if let Node::Scan(inner) = &*g.node_rc(t) {
                n += self.number(g, inner);
            }
        }
        n
    }

    /// The loop with its counts as further results: all parts of it, and the counts. An inner loop
    /// runs for at most the greatest number of steps that it takes in any step of the outer loop,
    /// so the counting run of the outer loop carries the maximum: sizes are closed. The inner loop
    /// also counts its own steps, and its derivative leaves out those that it has not taken
    /// (`modes::dual_arrays::scan`).
    fn with_counts(&mut self, g: &mut Graph, scan: &Scan) -> (Term, Vec<Term>) {
        let carries = scan.init.len();
        let params = scan.body.params.len();
        let own = usize::from(scan.stop.is_some());
        let counts = self.number(g, scan);
        let usize_ty = Type::scalar(Elem::USIZE);
        let results = scan.body.results.to_vec();
        let produced = results.len() - carries;
        let inner = self.inner(g, &results);
        let guards = self.analyses.get::<Guards>(g, &results);
        let mut next: Vec<Term> = Vec::new();
        if own > 0 {
            let (n, one) = (g.param(params, usize_ty.clone()), g.lit_usize(1));
            next.push(g.int(IntOp::Add, n, one));
        }
        let mut new = Rewriter::new(&*self.analyses.get::<Sizes>(g, &results));
        let mut found: Vec<(Term, Term)> = Vec::new();
        new.run(g, &results, |g, t, done| {
            let scan = inner_loop(g, t, done, &inner)?;
            let (parts, counts) = self.with_counts(g, &scan);
            found.extend(counts.into_iter().map(|n| (t, n)));
            Some(parts)
        });
        let map = new.done();
        // A condition may be newer than a loop that is under it.
        for (t, n) in found {
            let under: Vec<Guard> = guards[&t].iter().map(|l| (map[&l.0], l.1)).collect();
            let n = count_where_reached(g, n, &under);
            let most = g.param(params + next.len(), usize_ty.clone());
            next.push(g.int(IntOp::Max, most, n));
        }
        let mut all: Vec<Term> = results[..carries].iter().map(|t| map[t]).collect();
        all.extend(&next);
        all.extend(results[carries..].iter().map(|t| map[t]));
        // Counts come last among the carried values.
        let mut types: Vec<Type> = scan.body.params[..carries].to_vec();
        types.extend((0..counts).map(|_| usize_ty.clone()));
        types.extend(scan.body.params[carries..].iter().cloned());
        let place = |k: usize| match k {
            _ if k < carries => k,
            _ if k < params => k + counts,
            _ => carries + k - params,
        };
        let args: Vec<Term> = (0..params + counts).map(|k| g.param(place(k), types[place(k)].clone())).collect();
        let mut old_types = scan.body.params.to_vec();
        old_types.extend((0..counts).map(|_| usize_ty.clone()));
        let results = g.instantiate(&Body { params: old_types.into(), results: all.into() }, &args).into();
        let zero = g.lit_usize(0);
        let counted = g.scan(Scan {
            init: scan.init.iter().copied().chain((0..counts).map(|_| zero)).collect(),
            body: Body { params: types.into(), results },
            ..scan.clone()
        });
        let parts: Vec<Term> =
            (0..carries + produced).map(|k| g.proj(counted, if k < carries { k } else { k + counts })).collect();
        let found = (0..counts).map(|k| g.proj(counted, carries + k)).collect();
        (g.tuple(&parts), found)
    }

    /// The loop with these numbers of steps as bounds. If a bound may be too large (`masked`), the
    /// loop still stops early, and its last carried value counts its steps.
    fn convert(&mut self, g: &mut Graph, scan: Scan, mut bounds: Vec<Term>, masked: bool) -> Term {
        let carries = scan.init.len();
        let own = scan.stop.map(|_| bounds.remove(0));
        let results = scan.body.results.to_vec();
        let (inner, fixed) = (self.inner(g, &results), self.analyses.get::<Sizes>(g, &results));
        let mut results = Rewriter::new(&*fixed).run(g, &results, |g, t, done| {
            let scan = inner_loop(g, t, done, &inner)?;
            let n = self.number(g, &scan);
            let rest = bounds.split_off(n);
            let own = std::mem::replace(&mut bounds, rest);
            Some(self.convert(g, scan, own, true))
        });
        let (Some(stop), Some(count)) = (scan.stop, own) else {
            let body = Body { params: scan.body.params.clone(), results: results.into() };
            return g.scan(Scan { body, ..scan });
        };
        // A loop in reverse runs the steps with the highest numbers.
        let zero = g.lit_usize(0);
        let first = if scan.reverse { g.int(IntOp::Sub, scan.count, count) } else { zero };
        let place = |g: &Graph, t: Term| {
            let starts: Vec<Term> = (0..g.rank(t)).map(|k| if k == 0 { first } else { zero }).collect();
            let steps = vec![1; starts.len()];
            (starts, steps)
        };
        let xs: Vec<Term> = scan
            .xs
            .iter()
            .map(|&x| {
                let (starts, steps) = place(g, x);
                let lens: Vec<Term> = std::iter::once(count).chain(g.shape(x)[1..].iter().copied()).collect();
                g.slice(x, &starts, &steps, &lens)
            })
            .collect();
        let produced = results.len() - carries;
        let whole = scan.count;
        let mut new = Scan { count, stop: None, xs: xs.into(), ..scan };
        if masked {
            new.stop = Some(stop);
            with_counter(g, &mut new, &mut results);
        }
        new.body.results = results.into();
        let (counted, new) = (usize::from(masked), g.scan(new));
        let mut parts: Vec<Term> = (0..carries).map(|k| g.proj(new, k)).collect();
        for k in carries..carries + produced {
            let rows = g.proj(new, k + counted);
            parts.push(if g.elem(rows).is_real() {
                let (starts, steps) = place(g, rows);
                let sizes: Vec<Term> = std::iter::once(whole).chain(g.shape(rows)[1..].iter().copied()).collect();
                g.pad(rows, &starts, &steps, &sizes)
            } else {
                self.spread(g, rows, first, whole)
            });
        }
        g.tuple(&parts)
    }

    /// Puts rows that are not real at their positions in an array of the loop's original size. All
    /// other rows are unspecified.
    fn spread(&mut self, g: &mut Graph, rows: Term, first: Term, whole: Term) -> Term {
        let var = g.fresh();
        let i = g.mk(Node::Var(var));
        let at = g.int(IntOp::Sub, i, first);
        g.gather(rows, [whole].into(), &[var], &[at])
    }
}

/// Whether the last carried value of a loop that may stop early counts its steps, and the loop has
/// a bound. [`counted`] makes such loops.
pub(crate) fn counts_itself(g: &mut Graph, scan: &Scan) -> bool {
    let Some(last) = scan.init.len().checked_sub(1) else { return false };
    if scan.body.params[last] != Type::scalar(Elem::USIZE) || g.int_value(scan.init[last]) != Some(0) {
        return false;
    }
    let (n, one) = (g.param(last, Type::scalar(Elem::USIZE)), g.lit_usize(1));
    let next = g.int(IntOp::Add, n, one);
    scan.body.results[last] == next && g.int_value(scan.count) != Some(i128::from(u64::MAX))
}

/// Adds a last carried value: the number of steps that the loop has taken.
fn with_counter(g: &mut Graph, scan: &mut Scan, results: &mut Vec<Term>) {
    let (carries, counter) = (scan.init.len(), Type::scalar(Elem::USIZE));
    let mut types = scan.body.params.to_vec();
    let params = types.len();
    types.push(counter.clone());
    let (n, one, zero) = (g.param(params, counter.clone()), g.lit_usize(1), g.lit_usize(0));
    results.insert(carries, g.int(IntOp::Add, n, one));
    let place = |k: usize| match k {
        _ if k < carries => k,
        _ if k == params => carries,
        _ => k + 1,
    };
    let args: Vec<Term> = types.iter().enumerate().map(|(k, ty)| g.param(place(k), ty.clone())).collect();
    *results = g.instantiate(&Body { params: types.clone().into(), results: results.clone().into() }, &args);
    types.pop();
    types.insert(carries, counter);
    scan.body.params = types.into();
    scan.init = scan.init.iter().copied().chain([zero]).collect();
}

/// A count under the conditions under which the program reaches the loop.
fn count_where_reached(g: &mut Graph, n: Term, under: &[Guard]) -> Term {
    let zero = g.lit_usize(0);
    under.iter().fold(n, |n, &(cond, value)| if value { g.cond(cond, n, zero) } else { g.cond(cond, zero, n) })
}

fn has_real(g: &Graph, t: Term) -> bool {
    g.ty(t).has_real()
}
