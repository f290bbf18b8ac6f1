//! Ragged rows. The number of rows that an inner loop saves may differ from one iteration of the
//! outer loop to the next: its bounds are carried values, or it stops early. Then the rows of all
//! iterations are appended to one growable vector, and each iteration saves where its rows begin
//! and how many there are. So memory grows with the steps that are taken, at any depth of loops. A
//! row that a step saves under a condition is appended in the same way, as the row of a loop with
//! at most one step.
//!
//! This module must never read a row that has not been saved: a read after the last row gives zero.
//! Rows whose number is linear in the number of the outer step (a triangle), and rows that are not
//! read step by step, stay an array.

mod array;

use ad_ir::sorted::{SortedMap, SortedSet};
use std::collections::{HashMap, HashSet};

use self::array::Array;
pub(super) use self::array::Ragged;
use super::Lowering;
use super::merge_runs::counting;
use super::opened::{Carry, Loop, RowGrowth, Rows, leaf};
use ad_ir::analysis::Analyses;
use ad_ir::analysis::bounds::bound;
use ad_ir::analysis::guards::{Guard, ImpliedGuards, else_blank, least};
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Body, Elem, Graph, Node, Scan, Term, Type};
use ad_ir::prim::{Cmp, IntOp, Prim};

/// A row of at most this many elements (a literal number) is saved by each step: its position in a
/// vector would take as much memory.
const MAX_SAVED_ROW: i128 = 16;

/// The rows of inner loops that a loop saves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collected {
    children: Vec<Child>,
    /// The results of the loop that consist of rows of an inner loop, by the index of the result.
    rows: SortedMap<usize, AllInnerRows>,
}

/// An inner loop.
#[derive(Clone, Debug)]
struct Child {
    /// The loop, as a term of the outer body; the first row, if there is no loop.
    of: Term,
    /// Rows that the body itself saves under the guard. Then there is no loop.
    taken: Vec<Term>,
    /// The conditions that all its uses have in common.
    guard: Vec<Guard>,
    /// Whether the number of its steps differs from iteration to iteration.
    uneven: bool,
    /// The indices of its results whose rows are appended.
    parts: SortedSet<usize>,
    /// The rows of its own inner loops that it saves.
    nested: Collected,
}

/// A result that consists of all rows of an inner loop.
#[derive(Clone, Debug)]
struct AllInnerRows {
    /// The result has the rows under these conditions. Otherwise it is zero.
    under: Vec<Guard>,
    child: usize,
    /// The index of the inner loop's result.
    part: usize,
}

/// The data that an inner loop gets from the enclosing loop.
#[derive(Clone, Debug)]
pub(crate) struct Inherited {
    child: Child,
    /// The number of rows before it runs, if its rows are appended. The loop first truncates the
    /// vector to that length, so it may also run where nothing reads its rows.
    from: Option<Term>,
    /// The numbers of rows before it runs, for the loops inside of it.
    positions: Vec<Term>,
}

impl Collected {
    /// The number of row counts that the loop carries.
    pub(super) fn positions(&self) -> usize {
        self.children.iter().map(Child::positions).sum()
    }

    /// The mark of each inner loop. `now` has the row counts at the start of an iteration.
    pub(super) fn marks(&self, mut now: &[Term]) -> HashMap<Term, Inherited> {
        let mut marks = HashMap::new();
        for child in &self.children {
            let (own, rest) = now.split_at(child.positions());
            now = rest;
            let nested = own[usize::from(child.uneven)..].to_vec();
            let from = own.first().copied().filter(|_| child.uneven);
            marks.insert(child.of, Inherited { child: child.clone(), from, positions: nested });
        }
        marks
    }
}

impl Child {
    fn positions(&self) -> usize {
        usize::from(self.uneven) + self.nested.positions()
    }
}

impl Inherited {
    pub(super) fn collected(&self) -> Collected {
        self.child.nested.clone()
    }

    pub(super) fn positions(&self) -> &[Term] {
        &self.positions
    }

    /// Whether the loop around it needs the number of its steps.
    pub(super) fn counts_steps(&self) -> bool {
        self.child.uneven
    }

    /// The position at which the rows of result k are appended, if they are appended.
    pub(super) fn appended(&self, k: usize) -> Option<Term> {
        self.from.filter(|_| self.child.parts.contains(&k))
    }
}

/// The rows of inner loops that a loop saves. Empty if no rows are ragged. Results for which
/// `stepwise` holds are read step by step, by other loops.
pub(super) fn collected(
    g: &mut Graph,
    scan: &Scan,
    stepwise: impl Fn(usize) -> bool,
    analyses: &mut Analyses,
) -> Collected {
    let carries = scan.init.len();
    let wanted: SortedMap<usize, bool> = (carries..scan.body.results.len()).map(|k| (k, stepwise(k))).collect();
    within(g, &[scan], &wanted, analyses)
}

/// A result that consists of the rows of an inner loop.
struct InnerRows {
    k: usize,
    under: Vec<Guard>,
    of: Term,
    part: usize,
    stepwise: bool,
}

/// [`collected`] for the results `wanted` of the innermost of these loops. It recurses into the
/// loops inside of it.
fn within(g: &mut Graph, around: &[&Scan], wanted: &SortedMap<usize, bool>, analyses: &mut Analyses) -> Collected {
    let Some(scan) = around.last() else { return Collected::default() };
    let results = &scan.body.results;
    let (mut rows, mut found) = (Vec::new(), Collected::default());
    for (&k, &stepwise) in wanted.iter().filter(|&(&k, _)| k >= scan.init.len()) {
        if let Some((under, of, part)) = conditional_rows(g, results[k]) {
            rows.push(InnerRows { k, under, of, part, stepwise });
        } else if stepwise && let Some((under, row)) = conditional_array(g, scan, results[k]) {
            found.take(k, under, row);
        }
    }
    if rows.is_empty() {
        return found;
    }
    // A result of an inner loop that the body itself reads is not appended.
    let mut others: Vec<Term> =
        (0..results.len()).filter(|k| !rows.iter().any(|r| r.k == *k)).map(|k| results[k]).collect();
    others.extend(rows.iter().flat_map(|r| r.under.iter().map(|c| c.0).chain([r.of])));
    let read: HashSet<Term> = g.reachable(&others).into_iter().collect();
    rows.retain(|r| {
        let is = |t: &Term| matches!(*g.node(*t), Node::Proj(s, k) if s == r.of && k as usize == r.part);
        !read.iter().any(is)
    });
    let guards = analyses.get::<ImpliedGuards>(g, results);
    let loops: SortedSet<Term> = rows.iter().map(|r| r.of).collect();
    for of in loops {
        let Node::Scan(inner) = &*g.node_rc(of) else { continue };
        let own = || rows.iter().filter(|r| r.of == of);
        let mut parts: SortedMap<usize, bool> = SortedMap::new();
        for r in own() {
            *parts.entry(r.part).or_insert(true) &= r.stepwise;
        }
        let guard = guards.get(&of).map(|set| least(g, set)).unwrap_or_default();
        let seldom = own().all(|r| r.stepwise) && may_be_seldom(g, scan, &guard);
        let chain: Vec<&Scan> = around.iter().copied().chain([&**inner]).collect();
        let (uneven, nested) = (seldom || uneven(g, &chain, analyses), within(g, &chain, &parts, analyses));
        let mut parts: SortedSet<usize> = parts.into_keys().collect();
        if !uneven {
            parts.retain(|k| nested.rows.contains_key(k));
        }
        if parts.is_empty() {
            continue;
        }
        let child = found.children.len();
        for r in own().filter(|r| parts.contains(&r.part)) {
            found.rows.insert(r.k, AllInnerRows { under: r.under.clone(), child, part: r.part });
        }
        found.children.push(Child { of, taken: Vec::new(), guard, uneven, parts, nested });
    }
    found
}

impl Collected {
    /// Adds result k, which is `row` under these conditions. Rows under the same conditions are
    /// counted together.
    fn take(&mut self, k: usize, under: Vec<Guard>, row: Term) {
        let known = self.children.iter().position(|c| !c.taken.is_empty() && c.guard == under);
        let child = known.unwrap_or(self.children.len());
        if known.is_none() {
            let (guard, parts, nested) = (under.clone(), SortedSet::new(), Collected::default());
            self.children.push(Child { of: row, taken: Vec::new(), guard, uneven: true, parts, nested });
        }
        let rows = &mut self.children[child].taken;
        let part = rows.iter().position(|&t| t == row).unwrap_or(rows.len());
        if part == rows.len() {
            rows.push(row);
        }
        self.rows.insert(k, AllInnerRows { under, child, part });
    }
}

/// If a result of a body is an array under some conditions, which may hold seldom, and zero
/// otherwise: the conditions and the array.
fn conditional_array(g: &Graph, scan: &Scan, t: Term) -> Option<(Vec<Guard>, Term)> {
    let (under, row) = else_blank(g, t)?;
    let (_, shape) = g.ty(row).as_array()?;
    let literals: Option<Vec<i128>> = shape.iter().map(|&n| g.int_value(n)).collect();
    let large = literals.is_none_or(|all| all.iter().product::<i128>() > MAX_SAVED_ROW);
    if !large || !g.is_open(row) || !may_be_seldom(g, scan, &under) {
        return None;
    }
    let why = || "(a row under a condition)".to_string();
    choose(Kind::AppendedRows, (t.index(), 0), true, why).then_some((under, row))
}

/// Whether it is not known that these conditions hold in nearly all steps. They do if each of them
/// excludes a few numbers of steps.
fn may_be_seldom(g: &Graph, scan: &Scan, guard: &[Guard]) -> bool {
    let often = |&(c, value): &Guard| {
        let Node::Prim(Prim::Compare(op), args) = g.node(c) else { return false };
        let op = match (is_step(g, scan, args[0]), is_step(g, scan, args[1])) {
            (true, false) if g.int_value(args[1]).is_some() => *op,
            (false, true) if g.int_value(args[0]).is_some() => op.swapped(),
            _ => return false,
        };
        matches!(if value { op } else { op.negated() }, Cmp::Gt | Cmp::Ge | Cmp::Ne)
    };
    !guard.iter().all(often)
}

/// Whether a term of the body is the number of the step.
fn is_step(g: &Graph, scan: &Scan, t: Term) -> bool {
    let first = scan.init.len() + scan.captures.len();
    match g.node(t) {
        Node::Param(k, _) => {
            let x = (*k as usize).checked_sub(first).and_then(|k| scan.xs.get(k));
            x.is_some_and(|&x| matches!(g.node(x), Node::Prim(Prim::Iota, _)))
        }
        _ => false,
    }
}

/// If a term is all rows of an inner loop under some conditions, and zero otherwise: the
/// conditions, the loop and the index of its result.
fn conditional_rows(g: &Graph, t: Term) -> Option<(Vec<Guard>, Term, usize)> {
    let (under, t) = else_blank(g, t)?;
    let Node::Proj(of, part) = *g.node(t) else { return None };
    let Node::Scan(inner) = g.node(of) else { return None };
    let part = part as usize;
    let rows = g.is_open(of) && part >= inner.init.len() && !inner.reverse;
    rows.then_some((under, of, part))
}

/// Whether the number of iterations of the innermost loop depends on more than the iteration
/// numbers of the loops around it.
fn uneven(g: &mut Graph, chain: &[&Scan], analyses: &mut Analyses) -> bool {
    let Some((inner, around)) = chain.split_last() else { return false };
    if inner.stop.is_some() {
        return counting(g, inner).is_some();
    }
    let Some(bound) = bound(g, inner, analyses) else { return false };
    let (mut limit, mut of) = (bound.limit(g), *inner);
    for &scan in around.iter().rev() {
        let first = of.init.len();
        let args: Vec<Term> = (0..of.body.params.len())
            .map(|k| match k.checked_sub(first).and_then(|k| of.captures.get(k)) {
                Some(&captured) => captured,
                None => g.param(k, of.body.params[k].clone()),
            })
            .collect();
        limit = g.instantiate(&Body { params: of.body.params.clone(), results: [limit].into() }, &args)[0];
        match decided_by(g, limit, scan) {
            DependsOn::Data => return true,
            DependsOn::Step => return false,
            DependsOn::Outside => of = scan,
        }
    }
    false
}

/// The inputs of a body on which an integer depends.
enum DependsOn {
    /// The number of the step, linearly.
    Step,
    /// Other values that differ from step to step.
    Data,
    /// It depends only on values that are the same in all steps.
    Outside,
}

fn decided_by(g: &Graph, t: Term, scan: &Scan) -> DependsOn {
    let (carries, first) = (scan.init.len(), scan.init.len() + scan.captures.len());
    let fixed = |t: Term| !matches!(g.node(t), Node::Param(k, _) if (*k as usize) < carries || (*k as usize) >= first);
    let mut steps: i128 = 0;
    let mut stack = vec![(t, 1)];
    while let Some((t, times)) = stack.pop() {
        match g.node(t) {
            _ if is_step(g, scan, t) => steps = steps.saturating_add(times),
            Node::Prim(Prim::Int(op), args) => match (op, g.int_value(args[1])) {
                (IntOp::Add, _) => stack.extend([(args[0], times), (args[1], times)]),
                (IntOp::Sub, _) => stack.extend([(args[0], times), (args[1], times.saturating_neg())]),
                (IntOp::Mul, Some(n)) => stack.push((args[0], times.saturating_mul(n))),
                (IntOp::Div | IntOp::Shr, Some(_)) => stack.push((args[0], times)),
                _ if g.reachable(&[t]).into_iter().all(fixed) => {}
                _ => return DependsOn::Data,
            },
            _ if g.reachable(&[t]).into_iter().all(fixed) => {}
            _ => return DependsOn::Data,
        }
    }
    if steps == 0 { DependsOn::Outside } else { DependsOn::Step }
}

/// `t` where these guards hold, else `other`.
fn under(g: &mut Graph, guard: &[Guard], t: Term, other: Term) -> Term {
    guard.iter().fold(t, |t, &(c, value)| match g.bool_value(c) {
        Some(known) if known == value => t,
        Some(_) => other,
        None if value => g.cond(c, t, other),
        None => g.cond(c, other, t),
    })
}

/// Whether these guards hold.
fn holds(g: &mut Graph, guard: &[Guard]) -> Term {
    let (yes, no) = (g.lit_bool(true), g.lit_bool(false));
    under(g, guard, yes, no)
}

/// The number of steps of a loop, which has none where these guards do not hold.
fn steps_taken(g: &mut Graph, guard: &[Guard], steps: Term) -> Term {
    let zero = g.lit_usize(0);
    under(g, guard, steps, zero)
}

/// A row where these guards hold, else zeros.
fn row_or_zeros(g: &mut Graph, guard: &[Guard], row: Term) -> Term {
    let none = g.zeros_of_any(row);
    under(g, guard, row, none)
}

/// A loop that is being opened, and whose results are collected.
pub(super) struct Opened<'o> {
    pub(super) l: &'o mut Loop,
    /// The lowered form of each term of the body.
    pub(super) body: &'o HashMap<Term, Term>,
    /// The runs of its inner loops.
    pub(super) runs: Vec<InnerRun>,
    /// The row counts at the start of an iteration.
    pub(super) now: &'o [Term],
    /// The row counts after an iteration.
    pub(super) next: Vec<Term>,
    /// The row counts before the loop.
    pub(super) before: Vec<Term>,
}

/// A run of an inner loop.
struct Run {
    /// Its results, then its row counts, then the number of its steps if it counts them.
    parts: Vec<Term>,
    results: usize,
    count: Option<Term>,
    /// The row counts at the start of an iteration, and after the loop.
    now: Vec<Term>,
    last: Vec<Term>,
    uneven: bool,
}

/// The results of a run of an inner loop, how many of them it had before it was opened, and the
/// maximum number of its steps, unless it has at most one.
pub(super) type InnerRun = (Vec<Term>, usize, Option<Term>);

impl Lowering<'_> {
    /// The runs of the inner loops. `now` has the row counts at the start of an iteration. The
    /// leaves of these loops have to be older than those of the loop around them.
    pub(super) fn inner_runs(
        &mut self,
        collected: &Collected,
        body: &HashMap<Term, Term>,
        now: &[Term],
    ) -> Result<Vec<InnerRun>, String> {
        let (mut at, mut runs) = (0, Vec::new());
        for child in &collected.children {
            runs.push(match &*child.taken {
                [] => self.run_of(child, body)?,
                rows => {
                    let guard = self.guard(&child.guard, body);
                    self.run_with(rows, body, (&guard, now[at]))
                }
            });
            at += child.positions();
        }
        Ok(runs)
    }

    /// The row counts after an iteration. `now` has those at its start. These terms have to be
    /// older than the leaves of the loop's results.
    pub(super) fn next_counts(
        &mut self,
        collected: &Collected,
        body: &HashMap<Term, Term>,
        (runs, now): (&[InnerRun], &[Term]),
    ) -> Result<Vec<Term>, String> {
        let mut all = Vec::new();
        for (child, (parts, results, _)) in collected.children.iter().zip(runs) {
            let guard = self.guard(&child.guard, body);
            for k in 0..child.positions() {
                let now = now[all.len()];
                let next = match k.checked_sub(usize::from(child.uneven)) {
                    Some(nested) => parts[results + nested],
                    None => {
                        let steps = *parts.last().ok_or("a loop without parts")?;
                        self.g.int(IntOp::Add, now, steps)
                    }
                };
                all.push(under(self.g, &guard, next, now));
            }
        }
        Ok(all)
    }

    /// Makes the rows that `collect` saves. They have to be older than the leaves of the loop's
    /// results; a term that exists keeps its age.
    pub(super) fn make_rows(&mut self, collected: &Collected, body: &HashMap<Term, Term>, runs: &[InnerRun]) {
        for taken in collected.rows.values() {
            let guard = self.guard(&taken.under, body);
            let (parts, ..) = &runs[taken.child];
            let part = parts[taken.part];
            let mut arrays =
                vec![self.ragged.get(&part).map_or(Array::Plain(part), |r| Array::Ragged(r.clone().into()))];
            holds(self.g, &guard);
            if let Some(&taken) = parts.last().filter(|_| collected.children[taken.child].uneven) {
                steps_taken(self.g, &guard, taken);
            }
            while let Some(array) = arrays.pop() {
                match array {
                    Array::Ragged(rows) => arrays.extend([rows.first.clone(), rows.steps.clone()]),
                    Array::Plain(part) => {
                        row_or_zeros(self.g, &guard, part);
                    }
                }
            }
        }
    }

    /// Makes the loop carry the row counts, and returns their values after the loop.
    pub(super) fn count_rows(&mut self, o: &mut Opened<'_>) -> Vec<Term> {
        let mut lasts = Vec::new();
        for ((&init, &now), &next) in o.before.iter().zip(o.now).zip(&o.next) {
            let last = leaf(self.g, Type::scalar(Elem::USIZE));
            o.l.carries.push(Carry { init, now, next, last });
            lasts.push(last);
        }
        lasts
    }

    /// A loop that appends these rows of the body, from this position on. It has one step if the
    /// conditions hold, and none otherwise.
    fn run_with(&mut self, rows: &[Term], body: &HashMap<Term, Term>, (guard, from): (&[Guard], Term)) -> InnerRun {
        let step = leaf(self.g, Type::scalar(Elem::USIZE));
        let (zero, one) = (self.g.lit_usize(0), self.g.lit_usize(1));
        let steps = under(self.g, guard, one, zero);
        let inside = [one, steps].map(|end| self.g.compare(Cmp::Lt, step, end));
        let (carries, depth) = (Vec::new(), self.depth + 1);
        let how = RowGrowth::Steps(Some(from));
        let mut l =
            Loop { count: one, steps, reverse: false, stop: None, step, inside, carries, rows: Vec::new(), depth };
        for &t in rows {
            let row = body.get(&t).or_else(|| self.outside.get(&t)).copied().unwrap_or(t);
            let shape = std::iter::once(one).chain(self.g.shape(row).iter().copied()).collect();
            let all = leaf(self.g, Type::Array(self.g.elem(row), shape));
            l.rows.push(Rows { row, all, how, under: None });
        }
        let parts = l.rows.iter().map(|r| r.all).chain([one]).collect();
        self.loops.push(l);
        (parts, rows.len(), None)
    }

    /// The lowered results of the inner loop, the number of its original results, and the maximum
    /// number of its steps.
    fn run_of(&self, child: &Child, body: &HashMap<Term, Term>) -> Result<InnerRun, String> {
        let Node::Scan(inner) = self.g.node(child.of) else { return Err("a loop is expected".into()) };
        let made = body.get(&child.of).ok_or("an inner loop that is not in the body")?;
        let Node::Tuple(parts) = self.g.node(*made) else { return Err("a loop without parts".into()) };
        let count = body.get(&inner.count).or_else(|| self.outside.get(&inner.count)).copied().unwrap_or(inner.count);
        Ok((parts.to_vec(), inner.body.results.len(), Some(count)))
    }

    fn guard(&self, guard: &[Guard], body: &HashMap<Term, Term>) -> Vec<Guard> {
        let new = |c: Term| body.get(&c).or_else(|| self.outside.get(&c)).copied().unwrap_or(c);
        guard.iter().map(|&(c, value)| (new(c), value)).collect()
    }

    /// The array of result k, if it consists of rows of inner loops. `how` says how rows of this
    /// loop are saved, and `size` is their number.
    pub(super) fn collect(
        &mut self,
        collected: &Collected,
        o: &mut Opened<'_>,
        (k, lasts): (usize, &[Term]),
        (how, size): (RowGrowth, Term),
    ) -> Result<Option<Term>, String> {
        let Some(taken) = collected.rows.get(&k) else { return Ok(None) };
        let child = &collected.children[taken.child];
        let skipped: usize = collected.children[..taken.child].iter().map(Child::positions).sum();
        let own = skipped..skipped + child.positions();
        let (parts, results, count) = o.runs[taken.child].clone();
        let part = parts[taken.part];
        let now = o.now[own.clone()].to_vec();
        let run = Run { parts, results, count, now, last: lasts[own].to_vec(), uneven: child.uneven };
        let guard = self.guard(&taken.under, o.body);
        let from = match self.ragged.get(&part) {
            Some(rows) => Array::Ragged(rows.clone().into()),
            None => Array::Plain(part),
        };
        let Array::Ragged(rows) = gathered(self.g, o.l, &from, (&run, &guard), (how, size))? else {
            return Err("rows that are not ragged".into());
        };
        let all = rows.array(self.g);
        self.fired("lowering.ragged", part, &[all]);
        self.ragged.insert(all, *rows);
        Ok(Some(all))
    }
}

/// The rows of an inner loop in all iterations of `l`.
fn gathered(
    g: &mut Graph,
    l: &mut Loop,
    from: &Array,
    (run, guard): (&Run, &[Guard]),
    (how, size): (RowGrowth, Term),
) -> Result<Array, String> {
    let holds = holds(g, guard);
    let ordinary = |g: &mut Graph, l: &mut Loop, row: Term| saved(g, l, Rows { row, all: row, how, under: None }, size);
    Ok(match from {
        Array::Ragged(rows) => {
            // The row count of these rows is the one that the inner loop carries for them.
            let total = g.shape(rows.all)[0];
            let own = usize::from(run.uneven);
            let place = run.parts[run.results..].iter().position(|&t| t == total).ok_or("rows without a loop")?;
            let all = Rows { row: rows.all, all: rows.all, how: RowGrowth::Inner, under: Some(holds) };
            let all = saved(g, l, all, run.last[own + place]);
            let first = gathered(g, l, &rows.first, (run, guard), (how, size))?;
            let steps = gathered(g, l, &rows.steps, (run, guard), (how, size))?;
            Array::Ragged(Ragged { first, steps, all, count: rows.count }.into())
        }
        Array::Plain(part) if run.uneven => {
            let all = Rows { row: *part, all: *part, how: RowGrowth::Inner, under: Some(holds) };
            let all = saved(g, l, all, run.last[0]);
            let first = ordinary(g, l, run.now[0]);
            let steps = steps_taken(g, guard, run.parts[run.parts.len() - 1]);
            let steps = ordinary(g, l, steps);
            Array::Ragged(
                Ragged { first: Array::Plain(first), steps: Array::Plain(steps), all, count: run.count }.into(),
            )
        }
        Array::Plain(part) => {
            let row = row_or_zeros(g, guard, *part);
            Array::Plain(ordinary(g, l, row))
        }
    })
}

/// The array of these rows. Rows that are saved already get the same array.
pub(super) fn saved(g: &mut Graph, l: &mut Loop, rows: Rows, size: Term) -> Term {
    let same = |r: &&Rows| r.row == rows.row && r.how == rows.how && r.under == rows.under;
    if let Some(known) = l.rows.iter().find(same) {
        return known.all;
    }
    let inner = usize::from(rows.how == RowGrowth::Inner);
    let shape: Box<[Term]> = std::iter::once(size).chain(g.shape(rows.row)[inner..].iter().copied()).collect();
    let all = leaf(g, Type::Array(g.elem(rows.row), shape));
    l.rows.push(Rows { all, ..rows });
    all
}

#[cfg(test)]
mod tests;
