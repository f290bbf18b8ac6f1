//! The number of rows that an inner loop saves may differ from one iteration of the outer loop to
//! the next: its bounds are carried values, or it stops early. Then its rows are ragged. The rows
//! of all iterations are appended to one growable vector, and each iteration saves where its rows
//! begin and how many there are. So memory grows with the steps that are taken, at any depth of
//! loops. An array with a row for each possible step would be as large as the product of the
//! maximum numbers of steps.
//!
//! Rows are not ragged if their number is linear in the number of the outer step. They form a
//! triangle, which fills half of a rectangular array.
//!
//! The position at which a loop begins to append is a carried value. The loop first truncates the
//! vector to that length. So the loop may also run where nothing reads its rows. This module must
//! never read a row that has not been saved: a read after the last row gives zero.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::merge_runs::counting;
use super::opened::{Carry, Loop, RowGrowth, Rows, leaf};
use super::{Lowering, row};
use ad_ir::analysis::Analyses;
use ad_ir::analysis::bounds::bound;
use ad_ir::analysis::guards::{Guard, Guards, else_blank};
use ad_ir::ir::{Body, Elem, Graph, Node, Scan, Term, Type, axis};
use ad_ir::prim::{Cmp, IntOp, Prim};

/// The rows of inner loops that a loop saves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collected {
    children: Vec<Child>,
    /// The results of the loop that consist of rows of an inner loop, by the index of the result.
    rows: BTreeMap<usize, Taken>,
}

/// An inner loop.
#[derive(Clone, Debug)]
struct Child {
    /// The loop, as a term of the outer body.
    of: Term,
    /// The conditions that all its uses have in common.
    guard: Vec<Guard>,
    /// Whether the number of its steps differs from iteration to iteration.
    uneven: bool,
    /// The indices of its results whose rows are appended.
    parts: BTreeSet<usize>,
    /// The rows of its own inner loops that it saves.
    nested: Collected,
}

/// A result that consists of all rows of an inner loop.
#[derive(Clone, Debug)]
struct Taken {
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
    /// The number of rows before it runs, if its rows are appended.
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

/// The rows of inner loops that a loop saves. Empty if no rows are ragged.
pub(super) fn collected(g: &mut Graph, scan: &Scan, analyses: &mut Analyses) -> Collected {
    let carries = scan.init.len();
    let wanted: BTreeSet<usize> = (carries..scan.body.results.len()).collect();
    within(g, &[scan], &wanted, analyses)
}

/// [`collected`] for the results `wanted` of the innermost of these loops. It recurses into the
/// loops inside of it.
fn within(g: &mut Graph, around: &[&Scan], wanted: &BTreeSet<usize>, analyses: &mut Analyses) -> Collected {
    let Some(scan) = around.last() else { return Collected::default() };
    let results = &scan.body.results;
    let mut rows: Vec<(usize, Vec<Guard>, Term, usize)> = Vec::new();
    for &k in wanted.iter().filter(|&&k| k >= scan.init.len()) {
        if let Some((under, of, part)) = of_inner(g, results[k]) {
            rows.push((k, under, of, part));
        }
    }
    if rows.is_empty() {
        return Collected::default();
    }
    // A result of an inner loop that the body itself reads is not appended.
    let mut others: Vec<Term> =
        (0..results.len()).filter(|k| !rows.iter().any(|r| r.0 == *k)).map(|k| results[k]).collect();
    others.extend(rows.iter().flat_map(|r| r.1.iter().map(|c| c.0).chain([r.2])));
    let read: HashSet<Term> = g.reachable(&others).into_iter().collect();
    rows.retain(|&(_, _, of, part)| {
        let is = |t: &Term| matches!(*g.node(*t), Node::Proj(s, k) if s == of && k as usize == part);
        !read.iter().any(is)
    });
    let guards = analyses.get::<Guards>(g, results);
    let mut found = Collected::default();
    let loops: BTreeSet<Term> = rows.iter().map(|r| r.2).collect();
    for of in loops {
        let Node::Scan(inner) = &*g.node_rc(of) else { continue };
        let mut parts: BTreeSet<usize> = rows.iter().filter(|r| r.2 == of).map(|r| r.3).collect();
        let chain: Vec<&Scan> = around.iter().copied().chain([&**inner]).collect();
        let (uneven, nested) = (uneven(g, &chain, analyses), within(g, &chain, &parts, analyses));
        if !uneven {
            parts.retain(|k| nested.rows.contains_key(k));
        }
        if parts.is_empty() {
            continue;
        }
        let child = found.children.len();
        for (k, under, _, part) in rows.iter().filter(|r| r.2 == of && parts.contains(&r.3)) {
            found.rows.insert(*k, Taken { under: under.clone(), child, part: *part });
        }
        let guard = guards.get(&of).cloned().unwrap_or_default();
        found.children.push(Child { of, guard, uneven, parts, nested });
    }
    found
}

/// If a term is all rows of an inner loop under some conditions, and zero otherwise: the
/// conditions, the loop and the index of its result.
fn of_inner(g: &Graph, t: Term) -> Option<(Vec<Guard>, Term, usize)> {
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
    let is_step = |t: Term| match g.node(t) {
        Node::Param(k, _) => {
            let x = (*k as usize).checked_sub(first).and_then(|k| scan.xs.get(k));
            x.is_some_and(|&x| matches!(g.node(x), Node::Prim(Prim::Iota, _)))
        }
        _ => false,
    };
    let fixed = |t: Term| !matches!(g.node(t), Node::Param(k, _) if (*k as usize) < carries || (*k as usize) >= first);
    let mut steps: i128 = 0;
    let mut stack = vec![(t, 1)];
    while let Some((t, times)) = stack.pop() {
        match g.node(t) {
            _ if is_step(t) => steps = steps.saturating_add(times),
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

/// An array in memory, or ragged rows that stand for an array.
#[derive(Clone, Debug)]
enum Array {
    Plain(Term),
    Ragged(Box<Ragged>),
}

/// Rows of inner loops: row `j` at the index `i` is `all[first[i] + j]` if `j < steps[i]`, and zero
/// otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Ragged {
    first: Array,
    steps: Array,
    /// All rows, one after another.
    all: Term,
    /// The maximum number of rows at an index.
    count: Term,
}

impl Array {
    /// The element at these indices.
    fn at(&self, g: &mut Graph, index: &[Term]) -> Term {
        match (self, index.split_last()) {
            (Array::Plain(t), None) => *t,
            (Array::Plain(t), Some(_)) => g.index(*t, index),
            (Array::Ragged(rows), Some((&last, index))) => rows.at(g, index, last),
            (Array::Ragged(rows), None) => rows.term(g, &[]),
        }
    }

    fn row(&self, g: &mut Graph, step: Term) -> Array {
        match self {
            Array::Plain(t) => Array::Plain(row(g, *t, step)),
            Array::Ragged(rows) => match rows.row(g, step) {
                Ok(rows) => Array::Ragged(rows.into()),
                Err(element) => Array::Plain(element),
            },
        }
    }

    /// The sizes of all its axes. The elements are scalars.
    fn dims(&self, g: &Graph) -> Vec<Term> {
        match self {
            Array::Plain(t) => g.shape(*t).to_vec(),
            Array::Ragged(rows) => rows.steps.dims(g).into_iter().chain([rows.count]).collect(),
        }
    }
}

impl Ragged {
    fn at(&self, g: &mut Graph, index: &[Term], last: Term) -> Term {
        let (first, steps) = (self.first.at(g, index), self.steps.at(g, index));
        let place = g.int(IntOp::Add, first, last);
        let found = g.index(self.all, &[place]);
        let there = g.compare(Cmp::Lt, last, steps);
        let zero = g.zeros_of_any(found);
        g.select(there, found, zero)
    }

    /// The rows at a step. An `Err` has the element, if there is only one axis.
    pub(super) fn row(&self, g: &mut Graph, step: Term) -> Result<Ragged, Term> {
        if let (Array::Plain(first), Array::Plain(steps)) = (&self.first, &self.steps)
            && g.rank(*steps) == 0
        {
            let place = g.int(IntOp::Add, *first, step);
            let found = g.index(self.all, &[place]);
            let there = g.compare(Cmp::Lt, step, *steps);
            let zero = g.zeros_of_any(found);
            return Err(g.cond(there, found, zero));
        }
        let (first, steps) = (self.first.row(g, step), self.steps.row(g, step));
        Ok(Ragged { first, steps, all: self.all, count: self.count })
    }

    /// The array as a term.
    pub(super) fn array(&self, g: &mut Graph) -> Term {
        let dims = self.steps.dims(g);
        self.term(g, &dims)
    }

    /// The array as a term, with these sizes of its outer axes.
    fn term(&self, g: &mut Graph, dims: &[Term]) -> Term {
        let vars: Vec<_> = (0..=dims.len()).map(|_| g.fresh()).collect();
        let index: Vec<Term> = vars.iter().map(|&v| g.mk(Node::Var(v))).collect();
        let first = self.first.at(g, &index[..dims.len()]);
        let place = g.int(IntOp::Add, first, index[dims.len()]);
        let sizes: Vec<Term> = dims.iter().copied().chain([self.count]).collect();
        let found = g.gather(self.all, sizes.clone().into(), &vars, &[place]);
        let outer: Vec<u8> = (0..dims.len()).map(axis).collect();
        let steps = match &self.steps {
            Array::Plain(t) => *t,
            Array::Ragged(rows) => rows.term(g, &dims[..dims.len() - 1]),
        };
        let steps = g.replicate_axes(steps, &[axis(dims.len())], &[self.count]);
        let last = g.iota(self.count);
        let last = g.replicate_axes(last, &outer, dims);
        let there = g.compare(Cmp::Lt, last, steps);
        let rest = g.shape(self.all)[1..].to_vec();
        let inner: Vec<u8> = (sizes.len()..sizes.len() + rest.len()).map(axis).collect();
        let there = g.replicate_axes(there, &inner, &rest);
        let none = g.zeros_of_any(found);
        g.select(there, found, none)
    }
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

/// A loop that is being opened, and whose results are collected.
pub(super) struct Opened<'o> {
    pub(super) l: &'o mut Loop,
    /// The lowered form of each term of the body.
    pub(super) body: &'o HashMap<Term, Term>,
    /// The row counts at the start of an iteration.
    pub(super) now: &'o [Term],
    /// The row counts before the loop.
    pub(super) before: Vec<Term>,
}

/// A run of an inner loop.
struct Run {
    /// Its results, then its row counts, then the number of its steps if it counts them.
    parts: Vec<Term>,
    results: usize,
    count: Term,
    /// The row counts at the start of an iteration, and after the loop.
    now: Vec<Term>,
    last: Vec<Term>,
    uneven: bool,
}

impl Lowering<'_> {
    /// Makes the loop carry the row counts, and returns their values after the loop.
    pub(super) fn count_rows(&mut self, collected: &Collected, o: &mut Opened<'_>) -> Result<Vec<Term>, String> {
        let (mut at, mut lasts) = (0, Vec::new());
        for child in &collected.children {
            let (parts, results, _) = self.run_of(child, o.body)?;
            let guard = self.guard(&child.guard, o.body);
            let g = &mut *self.g;
            for k in 0..child.positions() {
                let now = o.now[at];
                let next = match k.checked_sub(usize::from(child.uneven)) {
                    Some(nested) => parts[results + nested],
                    None => {
                        let steps = *parts.last().ok_or("a loop without parts")?;
                        g.int(IntOp::Add, now, steps)
                    }
                };
                let next = under(g, &guard, next, now);
                let last = leaf(g, Type::scalar(Elem::USIZE));
                o.l.carries.push(Carry { init: o.before[at], now, next, last });
                lasts.push(last);
                at += 1;
            }
        }
        Ok(lasts)
    }

    /// The lowered results of the inner loop, the number of its original results, and the maximum
    /// number of its steps.
    fn run_of(&self, child: &Child, body: &HashMap<Term, Term>) -> Result<(Vec<Term>, usize, Term), String> {
        let Node::Scan(inner) = self.g.node(child.of) else { return Err("a loop is expected".into()) };
        let made = body.get(&child.of).ok_or("an inner loop that is not in the body")?;
        let Node::Tuple(parts) = self.g.node(*made) else { return Err("a loop without parts".into()) };
        let count = body.get(&inner.count).or_else(|| self.outside.get(&inner.count)).copied().unwrap_or(inner.count);
        Ok((parts.to_vec(), inner.body.results.len(), count))
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
        let (parts, results, count) = self.run_of(child, o.body)?;
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
    let yes = g.lit_bool(true);
    let no = g.lit_bool(false);
    let holds = under(g, guard, yes, no);
    let ordinary = |g: &mut Graph, l: &mut Loop, row: Term| saved(g, l, Rows { row, all: row, how, under: None }, size);
    Ok(match from {
        Array::Ragged(rows) => {
            // The row count of these rows is the one that the inner loop carries for them.
            let total = g.shape(rows.all)[0];
            let own = usize::from(run.uneven);
            let place = run.parts[run.results..].iter().position(|&t| t == total).ok_or("rows of no loop")?;
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
            let zero = g.lit_usize(0);
            let taken = run.parts[run.parts.len() - 1];
            let steps = under(g, guard, taken, zero);
            let steps = ordinary(g, l, steps);
            Array::Ragged(
                Ragged { first: Array::Plain(first), steps: Array::Plain(steps), all, count: run.count }.into(),
            )
        }
        Array::Plain(part) => {
            let none = g.zeros_of_any(*part);
            let row = under(g, guard, *part, none);
            Array::Plain(ordinary(g, l, row))
        }
    })
}

/// The array of these rows. Rows that are saved already get the same array.
fn saved(g: &mut Graph, l: &mut Loop, rows: Rows, size: Term) -> Term {
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
mod tests {
    use super::*;
    use ad_ir::ir::{OpenLoop, RealTy, Type};

    const USIZE: Elem = Elem::USIZE;
    const F64: Elem = Elem::Real(RealTy::F64);

    /// A loop of ten steps that carries an integer. It contains a loop of ten steps. An inner step
    /// saves a row if its number is below `limit`, applied to the outer step and the integer.
    fn nest(limit: impl FnOnce(&mut Graph, Term, Term) -> Term) -> (Graph, Scan) {
        let mut g = Graph::new();
        let (n, x) = (g.lit_usize(10), g.add_input(F64, 0));
        let (outer, inner) = (g.fresh(), g.fresh());
        let (carried, sum) = (g.placeholder(Type::scalar(USIZE)), g.placeholder(Type::scalar(F64)));
        let [i, j] = [outer, inner].map(|v| g.mk(Node::Var(v)));
        let limit = limit(&mut g, i, carried);
        let (holds, none) = (g.compare(Cmp::Lt, j, limit), g.lit_like(x, 0.0));
        let more = g.add(sum, x);
        let (next, row) = (g.cond(holds, more, sum), g.cond(holds, sum, none));
        let close = |g: &mut Graph, step, init, carried, results| {
            g.close_loop(&OpenLoop { count: n, reverse: false, stop: None, step, init, carried, results })
        };
        let made = close(&mut g, inner, vec![x], vec![sum], vec![next, row]);
        let rows = g.proj(made, 1);
        let (two, zero) = (g.lit_usize(2), g.lit_usize(0));
        let more = g.int(IntOp::Mul, carried, two);
        let t = close(&mut g, outer, vec![zero], vec![carried], vec![more, rows]);
        let mut found = g.reachable(&[t]).into_iter().filter_map(|t| match g.node(t) {
            Node::Scan(scan) => Some((**scan).clone()),
            _ => None,
        });
        let scan = found.next_back().expect("a loop");
        (g, scan)
    }

    fn ragged(limit: impl FnOnce(&mut Graph, Term, Term) -> Term) -> bool {
        let (mut g, scan) = nest(limit);
        let found = collected(&mut g, &scan, &mut Analyses::default());
        assert_eq!(found.positions(), found.rows.len(), "one loop, and one array of rows");
        !found.rows.is_empty()
    }

    #[test]
    fn rows_are_ragged_where_their_number_is_not_linear() {
        assert!(ragged(|_, _, carried| carried), "a carried number");
        assert!(!ragged(|_, i, _| i), "a triangle");
        assert!(!ragged(|g, i, _| {
            let half = g.lit_usize(2);
            g.int(IntOp::Div, i, half)
        }));
        // Two rows for each step except the last ones: a band.
        assert!(ragged(|g, i, _| {
            let (two, most) = (g.lit_usize(2), g.lit_usize(1000));
            let end = g.int(IntOp::Add, i, two);
            let end = g.int(IntOp::Min, end, most);
            g.int(IntOp::Sub, end, i)
        }));
        assert!(!ragged(|g, _, _| g.lit_usize(7)), "the same in each step");
    }
}
