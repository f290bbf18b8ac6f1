//! Loop distribution: the rules that move results of a [`Scan`] out of the loop, as bulk operations
//! over all its iterations. They are applied where builds are eliminated, and again after
//! differentiation, to the loops of the derivative. The table of rules is at [`PASS`], and
//! `legality` has the cost rules.
//!
//! These rules must never change the order of a sum that a decision depends on, and never turn an
//! inner loop that remains into a bulk operation: the rows of all iterations would be in memory at
//! once.

pub(crate) mod accumulated;
pub(crate) mod carried_scalars;
mod consumed;
mod counters;
mod distribute;
pub(crate) mod final_reads;
mod fission;
pub(crate) mod from_the_end;
pub(crate) mod fusion;
pub(crate) mod inner;
mod inner_sums;
mod legality;
mod nested_sums;
mod onto_part;
pub(crate) mod origins;
pub(crate) mod ragged;
pub(crate) mod rematerialise;
pub(crate) mod ring_buffers;
mod strided_reads;
pub(crate) mod strip_mine;
mod triangular;
pub(crate) mod unrolled;
mod updates;

use ad_ir::sorted::{SortedMap, SortedSet};
use std::collections::{HashMap, HashSet};

use self::origins::{Enclosing, Origins};
use self::updates::Update;
use super::lift::Lift;
use super::rewrite::{Rewriter, with_rewritten_children};
use super::simplify::simplify_exactly;
use super::{Context, Pass, trace};
use ad_ir::analysis::once;
use ad_ir::analysis::sizes::Fixed;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::flatten;
use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type};
use ad_ir::prim::{Prim, Reduce};

/// The pass. In the table, nothing else reads `acc` (except where loop fission applies), and `e`,
/// `f` and `c` depend on no carried value, unless the cost rule of sums allows it.
///
/// | rule | before | after |
/// | --- | --- | --- |
/// | fixed | a carried value that no iteration changes | its initial value, a capture |
/// | literals | a capture that is a literal, such as the cotangent 1 of a sum | the literal itself, so that the simplifier sees it |
/// | counters | an integer `acc + f`, or `if step < limit { acc + f } else { acc }`, f and the limit the same in all steps | initial value + f * min(step, limit); other results may read `acc` |
/// | unused | a result that is never read | nothing |
/// | rows | rows that depend on no carried value | a build |
/// | placed rows | rows of zeros with a few elements, perhaps under a condition | rows of these elements, scattered after the loop |
/// | sum | `acc + e` | initial value + the sum of a build |
/// | elements | `acc[f] += e` | one scatter over all steps |
/// | sum in order | `acc + e` that a decision depends on, from 0, of numbers under no condition; through loops inside of the step too | the same, and for the decision the sum in its order ([`Prim::RelaxedExact`]) |
/// | winner | `if e < acc { e } else { acc }`, e computed, or a beginning that may be NaN | the same choice between the beginning and e at the place of the smallest: only there e has a derivative |
/// | followers | `if e < acc { p } else { other }` where `acc` is a winner | p at the argmin, if e there is less than the initial value of `acc` |
/// | extremum | `max(acc, e)`, `if e > acc { e } else { acc }` | `max(initial value, maximum of a build)` |
/// | writes | `acc[f] = e`, at a different index in each iteration | one update over all iterations |
/// | fission | arrays that each iteration writes at an index of its own only, and reads there, where later ones write, or where none writes; in loops over triangles also under the loop's condition | reads of the initial value; each write one update over all iterations |
/// | masks | `if c { one of these } else { acc }` | the same, masked |
/// | products | a contraction with a loop-invariant operand | rows of one contraction before the loop |
pub(crate) const PASS: Pass = Pass {
    name: "loops",
    rules,
    run: |g, roots, cx| roots.map(|all| pass(g, all, (all, &mut Vec::new()), cx)),
    simplified: true,
};

/// The rules of the table above, as `AD_TRACE` names them.
fn rules() -> Vec<&'static str> {
    vec![
        "loops.fixed",
        "loops.literals",
        "loops.counters",
        "loops.unused",
        "loops.rows",
        "loops.placed_rows",
        "loops.sum",
        "loops.elements",
        "loops.sum_in_order",
        "loops.winner",
        "loops.followers",
        "loops.extremum",
        "loops.writes",
        "loops.fission",
        "loops.masks",
        "loops.products",
    ]
}

/// The maximum number of operations on one carried value per iteration that are examined.
const MAX_OPERATIONS: usize = 64;

/// The roots, with the rules applied to all loops: the pass after differentiation. Afterwards,
/// results that the roots `read` do not need are unspecified. `around` are the loops around.
fn pass(g: &mut Graph, roots: &[Term], (read, around): (&[Term], &mut Vec<Enclosing>), cx: &mut Context) -> Vec<Term> {
    let exact = cx.exact(g);
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run_named(g, roots, |g, t, done| {
        let Node::Scan(mut scan) = with_rewritten_children(g, t, done) else { return None };
        let (exact, wanted) = (exact_parts(g, &exact, t), wanted(g, read, t));
        let needed = needed(g, &scan, &wanted);
        around.push(Enclosing::new(&scan));
        let results = pass(g, &scan.body.results, (&needed, around), cx);
        around.pop();
        // What an inner loop has become may read what the step has written before it.
        let changed = *results != *scan.body.results;
        scan.body.results = if changed { simplify_exactly(g, &results) } else { results }.into();
        Some((None, bulk(g, *scan, &exact, &wanted, around)))
    })
}

/// The results of a loop's body that its wanted results depend on. An inner loop may drop results
/// that only the other ones read.
fn needed(g: &Graph, scan: &Scan, wanted: &[bool]) -> Vec<Term> {
    let results = &scan.body.results;
    // No result of a loop that may stop early is dropped.
    if scan.stop.is_some() {
        return results.to_vec();
    }
    let mut found: SortedSet<usize> = (0..results.len()).filter(|&k| wanted.get(k) != Some(&false)).collect();
    let mut stack: Vec<usize> = found.iter().copied().collect();
    while let Some(k) = stack.pop() {
        for t in g.reachable(&[results[k]]) {
            if let Node::Param(n, _) = *g.node(t)
                && (n as usize) < scan.init.len()
                && found.insert(n as usize)
            {
                stack.push(n as usize);
            }
        }
    }
    found.into_iter().map(|k| results[k]).collect()
}

/// The results of the loop `t` that keep the order of their iterations.
pub(super) fn exact_parts(g: &mut Graph, exact: &HashSet<Term>, t: Term) -> Vec<bool> {
    let Type::Tuple(parts) = g.ty(t).clone() else { return Vec::new() };
    (0..parts.len())
        .map(|k| {
            let part = g.proj(t, k);
            exact.contains(&part)
        })
        .collect()
}

/// The results of the loop `t` that the roots read.
pub(super) fn wanted(g: &Graph, roots: &[Term], t: Term) -> Vec<bool> {
    let Type::Tuple(parts) = g.ty(t) else { return Vec::new() };
    let mut found = vec![roots.contains(&t); parts.len()];
    for u in g.reachable(roots) {
        match *g.node(u) {
            Node::Proj(tuple, k) if tuple == t => found[k as usize] = true,
            ref node => node.for_each_child(|c| {
                if c == t {
                    found.fill(true);
                }
            }),
        }
    }
    found
}

/// Applies the rules to the loop; returns the tuple of its results. `around` are the enclosing
/// loops, the outermost first; without them, no loop is known to be over a triangle.
pub(super) fn bulk(g: &mut Graph, scan: Scan, exact: &[bool], wanted: &[bool], around: &[Enclosing]) -> Term {
    flatten::scan(g, scan, &mut |g, scan, of| {
        // A loop that may stop early is left alone: bulk operations would include iterations that
        // did not run.
        if scan.stop.is_some() || g.is_one_call(&scan) {
            return g.scan(scan);
        }
        let flags = |all: &[bool]| of.iter().map(|&k| all[k]).collect::<Vec<bool>>();
        let checkpoints = g.has_checkpoints(&scan);
        let parts = Distribution::new(g, scan, (flags(exact), flags(wanted)), around);
        if checkpoints { parts.without_unused() } else { parts.run() }
    })
}

/// The simplified roots. Values that loops capture and that are literals are known in the loops.
/// Every term keeps its bits.
pub(crate) fn with_known_captures(g: &mut Graph, roots: &[Term]) -> Vec<Term> {
    let fixed = once::<Fixed>(g, roots);
    let roots = Rewriter::new(&fixed).run_named(g, roots, |g, t, done| {
        let Node::Scan(mut scan) = with_rewritten_children(g, t, done) else { return None };
        let outer: Vec<Option<Term>> =
            scan.init.iter().map(|_| None).chain(scan.captures.iter().copied().map(Some)).collect();
        scan.body.results = with_literals(g, &scan.body, &outer);
        Some((None, g.scan(*scan)))
    });
    simplify_exactly(g, &roots)
}

/// The results of a loop's body. Parameters that are literals outside of the loop are replaced by
/// them, in inner loops too.
fn with_literals(g: &mut Graph, body: &Body, outer: &[Option<Term>]) -> Box<[Term]> {
    let known = outer.iter().map(|t| t.filter(|&t| matches!(g.node(t), Node::Lit(_)))).collect::<Vec<Option<Term>>>();
    if known.iter().all(Option::is_none) {
        return body.results.clone();
    }
    let param = |(k, ty): (usize, &Type)| known.get(k).copied().flatten().unwrap_or_else(|| g.param(k, ty.clone()));
    let args: Vec<Term> = body.params.iter().enumerate().map(param).collect();
    let results = g.instantiate(body, &args);
    let inner = Rewriter::new(&HashSet::new()).run_named(g, &results, |g, t, done| {
        let Node::Scan(mut scan) = with_rewritten_children(g, t, done) else { return None };
        let outer: Vec<Option<Term>> =
            scan.init.iter().map(|_| None).chain(scan.captures.iter().copied().map(Some)).collect();
        scan.body.results = with_literals(g, &scan.body, &outer);
        Some((None, g.scan(*scan)))
    });
    inner.into()
}

/// The place to which the computation of a result moves.
enum Placement {
    /// It stays in the loop.
    Keep,
    /// A carried value that no iteration changes or that no root reads: its initial value.
    Initial,
    /// A counter: its value after the loop.
    Counted(Term),
    /// A row that no root reads.
    Dead,
    /// Rows in bulk.
    Map(Term),
    /// The initial value and these updates.
    Updates(Vec<Update>),
    /// The value that another carried value gets in the iteration in which `extremum` is
    /// attained, or its initial value if no iteration is better than the initial extremum.
    ArgSelect { extremum: usize, op: Reduce, e: Term, payload: Term },
}

/// The state of the pass for one loop.
struct Distribution<'g> {
    g: &'g mut Graph,
    scan: Scan,
    exact: Vec<bool>,
    wanted: Vec<bool>,
    placement: Vec<Placement>,
    /// Terms of the body that are saved as rows, because a result that has left the loop reads
    /// them.
    saved: Vec<Term>,
    /// Carried arrays with iteration-private updates: an iteration reads initial elements only.
    private: SortedSet<usize>,
    /// Where the integers of the body come from.
    origins: Origins<'g>,
    /// Maps a masked term to the term that it masks, for the log.
    masks: HashMap<Term, Term>,
}

impl<'g> Distribution<'g> {
    fn new(g: &'g mut Graph, mut scan: Scan, (exact, wanted): (Vec<bool>, Vec<bool>), around: &'g [Enclosing]) -> Self {
        let counters = counters::closed(g, &mut scan);
        let mut placement: Vec<Placement> = scan.body.results.iter().map(|_| Placement::Keep).collect();
        for (k, last) in counters {
            placement[k] = Placement::Counted(last);
        }
        let (saved, private, masks) = (Vec::new(), SortedSet::new(), HashMap::new());
        let origins = Origins::new(around, &scan);
        Distribution { g, scan, exact, wanted, placement, saved, private, origins, masks }
    }

    fn carries(&self) -> usize {
        self.scan.init.len()
    }

    fn run(mut self) -> Term {
        self.fixed();
        self.literals();
        self.unused();
        self.fission();
        self.products();
        self.decide();
        // Remove the values that only the results that have left the loop needed.
        self.unused();
        self.make()
    }

    /// Only removes carried values that no iteration changes and results that nothing reads.
    fn without_unused(mut self) -> Term {
        self.fixed();
        self.literals();
        self.unused();
        self.make()
    }

    /// The index of the carried value, if `t` is its parameter in the remaining loop.
    fn carried(&self, t: Term) -> Option<usize> {
        match self.g.node(t) {
            Node::Param(k, _) if (*k as usize) < self.carries() => Some(*k as usize),
            _ => None,
        }
    }

    /// Whether an iteration may read anything but the initial value of the carried value.
    fn changes(&self, k: usize) -> bool {
        !matches!(self.placement[k], Placement::Initial) && !self.private.contains(&k)
    }

    /// The carried values that a term depends on.
    fn reads(&self, roots: &[Term]) -> SortedSet<usize> {
        self.g.reachable(roots).into_iter().filter_map(|t| self.carried(t)).collect()
    }

    /// Carried values that no iteration changes become captures.
    fn fixed(&mut self) {
        for k in 0..self.carries() {
            let next = self.scan.body.results[k];
            if self.carried(next) == Some(k) && matches!(self.placement[k], Placement::Keep) {
                trace::fired("loops.fixed", next, &[self.scan.init[k]]);
                self.placement[k] = Placement::Initial;
            }
        }
    }

    /// Captures and unchanged carried values that are literals are put into the body.
    fn literals(&mut self) {
        let carries = self.carries();
        let initial = |k: usize| matches!(self.placement.get(k), Some(Placement::Initial)).then(|| self.scan.init[k]);
        let outer: Vec<Option<Term>> =
            (0..carries).map(initial).chain(self.scan.captures.iter().copied().map(Some)).collect();
        let results = with_literals(self.g, &self.scan.body, &outer);
        for (&old, &new) in self.scan.body.results.iter().zip(&results).filter(|(old, new)| old != new) {
            trace::fired("loops.literals", old, &[new]);
        }
        self.scan.body.results = results;
    }

    /// Carried values and rows that no root reads.
    fn unused(&mut self) {
        let carries = self.carries();
        let mut needed: SortedSet<usize> = SortedSet::new();
        let mut stack: Vec<Term> = self.saved.clone();
        for (k, &r) in self.scan.body.results.iter().enumerate() {
            if self.wanted[k] && matches!(self.placement[k], Placement::Keep) {
                stack.push(r);
                if k < carries {
                    needed.insert(k);
                }
            }
        }
        while !stack.is_empty() {
            let read = self.reads(&stack);
            stack.clear();
            for k in read {
                if matches!(self.placement[k], Placement::Keep) && needed.insert(k) {
                    stack.push(self.scan.body.results[k]);
                }
            }
        }
        for k in 0..self.placement.len() {
            if matches!(self.placement[k], Placement::Keep) {
                if k < carries && !needed.contains(&k) {
                    self.placement[k] = Placement::Initial;
                } else if k >= carries && !self.wanted[k] {
                    self.placement[k] = Placement::Dead;
                } else {
                    continue;
                }
                trace::fired("loops.unused", self.scan.body.results[k], &[]);
            }
        }
    }

    /// Decides which results leave the loop.
    fn decide(&mut self) {
        for k in 0..self.carries() {
            self.followers(k);
        }
        let results = self.scan.body.results.clone();
        let mut updates: SortedMap<usize, Vec<Update>> = SortedMap::new();
        for (k, &r) in results.iter().enumerate() {
            if !matches!(self.placement[k], Placement::Keep) {
                continue;
            }
            if k >= self.carries() {
                let row = if self.summed_in_order(r) {
                    None
                } else if self.leaves(&[r], None, &mut Vec::new()) {
                    self.in_bulk(k).then_some(r)
                } else {
                    self.placed_row(k, r)
                };
                self.placement[k] = row.map_or(Placement::Keep, Placement::Map);
                continue;
            }
            let others =
                results.iter().enumerate().filter(|&(n, _)| n != k && matches!(self.placement[n], Placement::Keep));
            let others: Vec<Term> = others.map(|(_, &r)| r).collect();
            if self.reads(&others).contains(&k) {
                continue;
            }
            if let Some(found) = self.updates(k, r) {
                updates.insert(k, found);
            }
        }
        // Round 0: updates that need no saved rows. Round 1: those that need rows smaller than the
        // summand. Round 2: those that need only rows that are saved anyway.
        for round in 0..3 {
            for (k, all) in std::mem::take(&mut updates) {
                let mut saved = Vec::new();
                let leaves = match round {
                    1 => self.after_loop(k, &all, &mut saved),
                    _ => self.all_leave(&all, |_| (round == 2).then_some(0), &mut saved) && self.in_bulk(k),
                };
                if leaves {
                    self.saved.extend(saved);
                    self.placement[k] = Placement::Updates(all);
                } else {
                    updates.insert(k, all);
                }
            }
        }
    }

    /// Carried values that change only where a better value than the carried value k is found
    /// (`if e < best { best = e; at = i; }`).
    fn followers(&mut self, k: usize) {
        let results = self.scan.body.results.clone();
        let stays = |me: &Self, j: usize| matches!(me.placement[j], Placement::Keep);
        let own = |me: &mut Self, j: usize| me.g.param(j, me.scan.body.params[j].clone());
        let Node::Cond { cond, then, other } = *self.g.node(results[k]) else { return };
        let acc = own(self, k);
        let Some(op) = self.comparison(acc, cond, then, other).filter(|_| stays(self, k)) else { return };
        let first = self.g.real_value(self.scan.init[k]).is_some_and(|x| !x.is_nan());
        if !first || self.g.rank(then) > 0 || !self.leaves(&[then], None, &mut Vec::new()) {
            return;
        }
        let mut found = Vec::new();
        for j in 0..self.carries() {
            if j == k || !stays(self, j) {
                continue;
            }
            let before = own(self, j);
            if let Node::Cond { cond: c, then: payload, other } = *self.g.node(results[j])
                && (c, other) == (cond, before)
                && self.leaves(&[payload], None, &mut Vec::new())
            {
                found.push((j, payload));
            }
        }
        // No result that stays in the loop may read one that leaves.
        let group: Vec<usize> = found.iter().map(|f| f.0).chain([k]).collect();
        let rest: Vec<Term> =
            (0..results.len()).filter(|j| !group.contains(j) && stays(self, *j)).map(|j| results[j]).collect();
        let read = self.reads(&rest);
        if group.iter().any(|j| read.contains(j)) || found.is_empty() || !self.in_bulk(k) {
            return;
        }
        for (j, payload) in found {
            self.placement[j] = Placement::ArgSelect { extremum: k, op, e: then, payload };
        }
    }

    /// For each term: whether it or a term that it depends on satisfies `such`.
    fn with_any(&self, roots: &[Term], such: impl Fn(&Self, Term) -> bool) -> HashMap<Term, bool> {
        let mut found: HashMap<Term, bool> = HashMap::new();
        for t in self.g.reachable(roots) {
            let mut any = such(self, t);
            self.g.node(t).for_each_child(|c| any |= found[&c]);
            found.insert(t, any);
        }
        found
    }

    /// Replaces the contractions of all iterations by one contraction before the loop; each
    /// iteration reads its row. The cost rule: the contraction depends on no carried value, each
    /// iteration computes it, and its loop-invariant operand (a matrix) has more axes than a row of
    /// the result. Any other term that depends on no carried value stays in the loop: saving it
    /// would cost memory for all iterations, and computing it costs an iteration no more than
    /// reading it.
    fn products(&mut self) {
        let stays = |k: usize| matches!(self.placement[k], Placement::Keep);
        let results = self.scan.body.results.clone();
        let roots: Vec<Term> = (0..results.len()).filter(|&k| stays(k)).map(|k| results[k]).collect();
        let first = self.carries() + self.scan.captures.len();
        let inside = self.with_any(&roots, |me, t| {
            matches!(me.g.node(t), Node::Scan(_)) || me.carried(t).is_some_and(|k| me.changes(k))
        });
        let of_step = self.with_any(&roots, |me, t| matches!(me.g.node(t), Node::Param(k, _) if *k as usize >= first));
        let mut found = Vec::new();
        let (mut seen, mut stack) = (HashSet::new(), roots);
        while let Some(t) = stack.pop() {
            if !seen.insert(t) || !of_step[&t] {
                continue;
            }
            match self.g.node(t) {
                Node::Prim(Prim::Contract(_), args) if !inside[&t] && self.g.free(t).is_empty() => {
                    let (rank, fixed) = (self.g.rank(t), args.iter().filter(|a| !of_step[*a]));
                    let most = fixed.map(|&a| self.g.rank(a)).max().unwrap_or(0);
                    let why = || format!("({rank} axes of loop-invariant operands, of {most} axes)");
                    let by_cost = rank > 0 && most > rank;
                    if choose(Kind::BatchedContraction, (t.index(), self.scan.count.index()), by_cost, why) {
                        found.push(t);
                        continue;
                    }
                }
                // Terms in a branch are computed only if it is taken, so they are not visited.
                Node::Cond { cond, .. } => {
                    stack.push(*cond);
                    continue;
                }
                _ => {}
            }
            self.g.node(t).for_each_child(|c| stack.push(c));
        }
        if found.is_empty() {
            return;
        }
        found.sort_unstable();
        let (var, args) = self.step(&[]);
        let rows = self.at_step(&found, &args);
        let mut lift = Lift::new(self.g, var, self.scan.count);
        let rows: Vec<Term> = rows.into_iter().map(|r| lift.lift(r)).collect();
        for (&of_step, &all) in found.iter().zip(&rows) {
            trace::fired("loops.products", of_step, &[all]);
        }
        let mut params = self.scan.body.params.to_vec();
        let mut new = Rewriter::default();
        for &t in &found {
            let ty = self.g.ty(t).clone();
            let row = self.g.param(params.len(), ty.clone());
            params.push(ty);
            new.set(t, row);
        }
        let results = new.substitute(self.g, &results);
        self.scan.xs = self.scan.xs.iter().copied().chain(rows).collect();
        self.scan.body = Body { params: params.into(), results: results.into() };
    }
}
