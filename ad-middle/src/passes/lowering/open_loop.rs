//! Opens a loop: its body becomes terms over leaves of its own, and its results become leaves.
//!
//! The order in which leaves are made is the order of evaluation. So the results of a loop get
//! theirs after its body has been lowered, and an inner loop before the loops around it.

use std::collections::HashMap;

use super::in_place;
use super::merge_runs::{self, Inner};
use super::opened::{Carry, Loop, RowGrowth, Rows, leaf};
use super::ragged::{self, Collected, Inherited, Opened};
use super::{Lowering, row};
use ad_ir::analysis::bounds::bound;
use ad_ir::ir::{Elem, Graph, Node, Scan, Term, Type};
use ad_ir::prim::{Cmp, IntOp};

/// A loop that is to be opened. Its operands have been lowered, and its body has not.
pub(super) struct LoopSource<'a> {
    pub(super) scan: Scan,
    /// The loop's term, if it has not been merged with another one.
    pub(super) of: Option<Term>,
    /// The results whose number of rows is not known beforehand.
    pub(super) growing: Option<GrowingResults>,
    /// The inner loops that save rows, if it is a merged loop.
    pub(super) inner: &'a [Inner],
    /// The data that it gets from the enclosing loop.
    pub(super) inherited: Option<&'a Inherited>,
}

/// The last results of a loop, whose number of rows is not known beforehand.
#[derive(Clone, Copy)]
pub(super) struct GrowingResults {
    pub(super) first: usize,
    /// The index of the carried value that counts the rows. If there is none, the enclosing loop
    /// collects the rows as those of its inner loop.
    pub(super) counter: Option<usize>,
}

/// The lowered body of a loop.
struct OpenBody {
    /// The lowered form of each of its terms.
    terms: HashMap<Term, Term>,
    results: Vec<Term>,
    /// The number of steps that run.
    steps: Term,
}

impl Lowering<'_> {
    /// Opens a loop. Returns the tuple of its results.
    pub(super) fn open_loop(&mut self, source: LoopSource<'_>) -> Result<Term, String> {
        let collected = self.rows_to_collect(&source);
        let LoopSource { mut scan, growing, inner, inherited, .. } = source;
        let carries = scan.init.len();
        let step = leaf(self.g, Type::scalar(Elem::USIZE));
        let env = self.body_arguments(&mut scan, step)?;
        let row_counts: Vec<Term> =
            (0..collected.positions()).map(|_| leaf(self.g, Type::scalar(Elem::USIZE))).collect();
        let body = self.open_body(&scan, &env, collected.marks(&row_counts))?;
        let runs = self.inner_runs(&collected, &body.terms, &row_counts)?;
        let next = self.next_counts(&collected, &body.terms, (&runs, &row_counts))?;
        self.make_rows(&collected, &body.terms, &runs);
        let inner: Vec<_> = inner.iter().map(|one| one.opened(self.g, &body.terms)).collect::<Result<_, _>>()?;
        let mut l = Loop {
            count: scan.count,
            steps: body.steps,
            reverse: scan.reverse,
            stop: scan.stop.map(|k| env[k]),
            step,
            inside: [scan.count, body.steps].map(|end| self.g.compare(Cmp::Lt, step, end)),
            carries: Vec::new(),
            rows: Vec::new(),
            depth: self.depth,
        };
        let mut parts = self.carried_results(&scan, &env, &body.results, &mut l);
        let zero = self.g.lit_usize(0);
        let before = inherited.map_or_else(|| vec![zero; row_counts.len()], |m| m.positions().to_vec());
        let mut opened = Opened { l: &mut l, body: &body.terms, runs, now: &row_counts, next, before };
        let lasts = self.count_rows(&mut opened);
        for (k, &row) in body.results.iter().enumerate().skip(carries) {
            let appended = inherited.and_then(|m| m.appended(k));
            let (how, size) = match growing.filter(|of| k >= of.first) {
                Some(of) => (RowGrowth::Steps(None), of.counter.map_or(zero, |counter| parts[counter])),
                None if appended.is_some() => (RowGrowth::Steps(appended), scan.count),
                None => (RowGrowth::None, scan.count),
            };
            parts.push(match self.collect(&collected, &mut opened, (k, &lasts), (how, size))? {
                Some(all) => all,
                None => ragged::saved(self.g, opened.l, Rows { row, all: row, how, under: None }, size),
            });
        }
        for one in inner {
            one.add_rows(self.g, &mut l, &mut parts);
        }
        if let Some(inherited) = inherited {
            parts.extend(lasts);
            let counter = scan.stop.and_then(|_| merge_runs::counting(self.g, &scan));
            parts.extend(inherited.counts_steps().then(|| counter.map_or(body.steps, |k| parts[k])));
        }
        if cfg!(debug_assertions)
            && let Err(errors) = l.validate(self.g, &mut self.validator)
        {
            panic!("after lowering.open_loop: {errors:?}");
        }
        self.loops.push(l);
        Ok(self.g.tuple(&parts))
    }

    /// The rows of inner loops that the loop saves.
    fn rows_to_collect(&mut self, source: &LoopSource<'_>) -> Collected {
        if let Some(inherited) = source.inherited {
            return inherited.collected();
        }
        // The rows of a merged loop's inner loops are added by `Inner`, or by the enclosing loop.
        if !source.inner.is_empty() || source.growing.is_some_and(|of| of.counter.is_none()) {
            return Collected::default();
        }
        let stepwise = |k: usize| source.of.is_some_and(|t| self.stepwise.contains(&(t, k)));
        ragged::collected(self.g, &source.scan, stepwise, &mut self.analyses)
    }

    /// The arguments of the body: leaves for carried values, captures, and rows of consumed arrays.
    fn body_arguments(&mut self, scan: &mut Scan, step: Term) -> Result<Vec<Term>, String> {
        let mut env: Vec<Term> = Vec::new();
        for k in 0..scan.init.len() {
            let ty = self.lowered(&scan.body.params[k]);
            if is_fixed(self.g, scan, k) {
                env.push(scan.init[k]);
                continue;
            }
            scan.init[k] = self.changed(scan.init[k]);
            env.push(leaf(self.g, ty));
        }
        env.extend(&scan.captures);
        for &x in &scan.xs {
            env.push(self.row(x, step));
        }
        if env.iter().any(|&t| matches!(self.g.ty(t), Type::Tuple(_))) {
            return Err("a loop over tuples has reached the emitter".into());
        }
        Ok(env)
    }

    /// Lowers the body over these arguments. `marks` are those of the inner loops.
    fn open_body(&mut self, scan: &Scan, env: &[Term], marks: HashMap<Term, Inherited>) -> Result<OpenBody, String> {
        let carries = scan.init.len();
        let marks = std::mem::replace(&mut self.marks, marks);
        let around = self.carried.len();
        self.carried.extend(&env[..carries]);
        self.depth += 1;
        let mut terms = HashMap::new();
        let steps = self.steps_that_run(scan, env, &mut terms)?;
        self.all(&scan.body.results, &mut terms, env)?;
        self.depth -= 1;
        self.marks = marks;
        self.carried.truncate(around);
        let new = |t: &Term| terms.get(t).or_else(|| self.outside.get(t)).copied().unwrap_or(*t);
        let mut results: Vec<Term> = scan.body.results.iter().map(new).collect();
        self.updates(&env[..carries], &mut results, &mut terms);
        Ok(OpenBody { terms, results, steps })
    }

    /// The number of steps that run. If the loop ends where a condition ceases to hold, `body` gets
    /// this condition with its value in all steps that run.
    fn steps_that_run(&mut self, scan: &Scan, env: &[Term], body: &mut HashMap<Term, Term>) -> Result<Term, String> {
        let Some(bound) = bound(self.g, scan, &mut self.analyses) else { return Ok(scan.count) };
        let (condition, value) = bound.literal;
        let limit = bound.limit(self.g);
        let mut outer = HashMap::new();
        self.all(&[limit], &mut outer, env)?;
        let limit = outer.get(&limit).or_else(|| self.outside.get(&limit)).copied().unwrap_or(limit);
        let steps = self.g.int(IntOp::Min, scan.count, limit);
        body.insert(condition, self.g.lit_bool(value));
        Ok(steps)
    }

    /// Adds the carried values to the loop. Returns their values after it.
    fn carried_results(&mut self, scan: &Scan, env: &[Term], results: &[Term], l: &mut Loop) -> Vec<Term> {
        let next: Vec<Term> = (0..scan.init.len()).map(|k| self.next(scan, k, (env[k], results[k]))).collect();
        let mut lasts = Vec::new();
        for (k, &init) in scan.init.iter().enumerate() {
            if is_fixed(self.g, scan, k) {
                lasts.push(init);
                continue;
            }
            // All are created after the last term of the body, so that their handles are larger.
            let ty = self.g.ty(env[k]).clone();
            let last = leaf(self.g, ty);
            l.carries.push(Carry { init, now: env[k], next: next[k], last });
            lasts.push(last);
        }
        lasts
    }

    /// The next value of carried value `k`. An addition in an arm of a conditional is made where
    /// the value is, unless a decision depends on it.
    fn next(&mut self, scan: &Scan, k: usize, (now, next): (Term, Term)) -> Term {
        if is_fixed(self.g, scan, k) || self.exact.contains(&scan.body.results[k]) {
            return next;
        }
        let Some(made) = in_place::added_to_number(self.g, now, next) else { return next };
        self.fired("lowering.added_in_arm", next, &[made]);
        made
    }

    /// Row `step` of an array.
    fn row(&mut self, x: Term, step: Term) -> Term {
        let Some(rows) = self.ragged.get(&x).cloned() else { return row(self.g, x, step) };
        rows.row(self.g, step).map_or_else(
            |element| element,
            |rows| {
                let all = rows.array(self.g);
                self.ragged.insert(all, rows);
                all
            },
        )
    }
}

/// Whether no step changes carried value `k`. Then it is not state.
fn is_fixed(g: &Graph, scan: &Scan, k: usize) -> bool {
    matches!(g.node(scan.body.results[k]), Node::Param(n, _) if *n as usize == k)
}
