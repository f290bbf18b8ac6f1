//! Loops of the algorithms that take a function term by term (UNF, CHAD): `foldl`, `scanl` and
//! `scanr` are one form (UNF Figs. 5, 16 and 17; CHAD section 10 leaves them to future work). The
//! primal loop saves the carried values before each step. Forward mode is a loop in the same
//! direction. Reverse mode is one in the other direction, which carries the cotangents of the state
//! and of the captured values; UNF instead multiplies the partial derivatives of all steps, which
//! needs products of matrices for arrays. The algorithm defines the form of a step ([`Step`]).
//!
//! This module must never run a loop of the function a second time in order to differentiate it,
//! except for a loop in a step that carries arrays: saving the states of all its steps would cost
//! more.

use std::collections::{HashMap, HashSet};

use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type};
use ad_ir::prim::Prim;
use ad_ir::sorted::{SortedMap, SortedSet};

use super::Refusal;
use super::condition::{common_guard, wrap, zero_arm};
use super::cotangent::{Cotangent, add};
use super::forms::Tangent;
use super::linear::KnownZeros;
use super::saved::{self, Computed, Saved};

/// One step of a loop, in an algorithm's form. Its parameters and its results have numbers.
pub(crate) trait Step {
    /// The terms of the primal program that compute the results.
    fn results(&self) -> Vec<Term>;

    /// Which results have a derivative.
    fn active(&self) -> Vec<bool>;

    /// The terms that the step computes.
    fn computed(&self, g: &Graph) -> Computed;

    /// The tangents of the results, given those of parameters.
    fn tangents(&self, g: &mut Graph, given: &SortedMap<usize, Term>) -> Vec<Option<Term>>;

    /// The cotangents of the parameters of these types, given those of results. The cotangent of a
    /// parameter contains its sum, unless the sum is returned too.
    fn cotangents(
        &self,
        g: &mut Graph,
        params: &[Type],
        given: &SortedMap<usize, Cotangent>,
        sums: &SortedMap<usize, Term>,
    ) -> StepCotangents;
}

/// The cotangents of a step's parameters.
pub(crate) struct StepCotangents {
    /// The cotangent of each parameter, by its number.
    pub(crate) found: SortedMap<usize, Cotangent>,
    /// The parameters whose sums are not part of their cotangents.
    pub(crate) left: SortedSet<usize>,
}

/// The translation of a function to an algorithm's form.
pub(crate) trait Translation {
    /// The form of a step.
    type Step: Step;

    /// The graph.
    fn graph(&mut self) -> &mut Graph;

    /// The terms that the algorithm does not support.
    fn refused(&mut self) -> &mut Vec<(Term, Refusal)>;

    /// A body in the environment of its parameters, of which these are active.
    fn step(&mut self, body: &Body, active: &[bool]) -> Self::Step;
}

/// The cotangents that have been accumulated around a loop.
pub(crate) trait Accumulated {
    /// Takes the cotangent so far of an argument, so that a loop adds to it instead of beginning
    /// with zeros.
    fn running(&mut self, g: &mut Graph, argument: usize) -> Option<Cotangent>;

    /// Adds to the cotangent of an argument.
    fn give(&mut self, g: &mut Graph, argument: usize, ct: Cotangent);
}

/// A loop with a derivative.
#[derive(Debug)]
pub(crate) struct Fold<S> {
    /// The loop of the primal program, without the rows that it saves.
    pub(crate) scan: Scan,
    /// One step, in the environment of its parameters.
    pub(crate) body: S,
    /// The values that the primal loop saves.
    pub(crate) saved: Vec<Saved>,
    /// The initial values, captures and consumed arrays, by the algorithm's numbers.
    pub(crate) arguments: Vec<usize>,
    /// Which of these are active.
    pub(crate) given: Vec<bool>,
    /// Which results of a step are active: carried values, and then rows.
    active: Vec<bool>,
}

/// The primal term of the loop `t`, and the loop with its derivative if it has one. `scan` has the
/// primal terms of the arguments.
pub(crate) fn fold<T: Translation>(
    d: &mut T,
    t: Term,
    mut scan: Scan,
    (arguments, given): (Vec<usize>, Vec<bool>),
) -> (Term, Option<Fold<T::Step>>) {
    let carries = scan.init.len();
    let mut active_params = given.clone();
    let refused = d.refused().len();
    // The active carried values are a least fixed point, since an earlier step may make one active.
    let (body, mut active) = loop {
        if !active_params.contains(&true) {
            return (d.graph().scan(scan), None);
        }
        d.refused().truncate(refused);
        let body = d.step(&scan.body, &active_params);
        let active = body.active();
        let mut more = active_params.clone();
        more.iter_mut().zip(&active[..carries]).for_each(|(more, active)| *more |= active);
        if more == active_params {
            break (body, active);
        }
        active_params = more;
    };
    active[..carries].copy_from_slice(&active_params[..carries]);
    if !active.contains(&true) {
        return (d.graph().scan(scan), None);
    }
    let arrays = scan.body.params.iter().all(|ty| matches!(ty, Type::Array(..)));
    if scan.stop.is_some() || !arrays {
        d.refused().push((t, if arrays { Refusal::Stops } else { Refusal::Loop }));
        return (d.graph().scan(scan), None);
    }
    scan.body.results = body.results().into();
    let computed = body.computed(d.graph());
    let (primal, saved) = saved::saving(d.graph(), &scan, &computed);
    (primal, Some(Fold { scan, body, saved, arguments, given, active }))
}

impl<S> Fold<S> {
    /// Whether the loop carries numbers only.
    fn carries_numbers(&self, g: &Graph) -> bool {
        self.scan.init.iter().all(|&t| g.rank(t) == 0)
    }

    /// Whether this part of the loop has a derivative.
    pub(crate) fn is_active(&self, part: usize) -> bool {
        self.active[part]
    }

    /// A term of the type of a part.
    pub(crate) fn like(&self, g: &mut Graph, part: usize) -> Term {
        match self.scan.init.get(part) {
            Some(&init) => init,
            None => {
                let row = self.scan.body.results[part];
                let (elem, mut shape) = (g.elem(row), g.shape(row).to_vec());
                shape.insert(0, self.scan.count);
                g.lit_shaped(elem, &shape, 0.0)
            }
        }
    }
}

/// [`Computed`] of these terms and loops.
pub(crate) fn computed<'f, S: 'f>(
    g: &Graph,
    terms: HashSet<Term>,
    loops: impl Iterator<Item = &'f Fold<S>>,
) -> Computed {
    let numbers = loops.filter(|fold| fold.carries_numbers(g));
    Computed { terms, inner_rows: numbers.flat_map(|fold| fold.saved.iter().map(|saved| saved.rows)).collect() }
}

/// A value from outside that a step of a derivative reads.
#[derive(Clone, Copy)]
enum Outside {
    /// The same value in each step.
    Capture(Term),
    /// A row of an array.
    Row(Term),
}

/// A loop of a derivative, before it is closed. Its terms are over the parameters of the primal
/// step and over placeholders.
#[derive(Default)]
struct Steps {
    init: Vec<Term>,
    carried: Vec<Term>,
    outside: Vec<(Term, Outside)>,
    results: Vec<Term>,
}

impl Steps {
    fn carry(&mut self, g: &mut Graph, init: Term) -> Term {
        let placeholder = g.placeholder(g.ty(init).clone());
        self.init.push(init);
        self.carried.push(placeholder);
        placeholder
    }

    fn capture(&mut self, g: &mut Graph, value: Term) -> Term {
        let placeholder = g.placeholder(g.ty(value).clone());
        self.outside.push((placeholder, Outside::Capture(value)));
        placeholder
    }

    /// The row of an array. If all rows are equal, it is captured.
    fn row(&mut self, g: &mut Graph, array: Term) -> Term {
        if let Node::Prim(Prim::Replicate(axes), args) = g.node(array).clone()
            && axes.first() == Some(&0)
        {
            let rest: Vec<u8> = axes[1..].iter().map(|a| a - 1).collect();
            let row = g.replicate_axes(args[0], &rest, &args[2..]);
            return self.capture(g, row);
        }
        let (elem, shape) = (g.elem(array), g.shape(array)[1..].into());
        let placeholder = g.placeholder(Type::Array(elem, shape));
        self.outside.push((placeholder, Outside::Row(array)));
        placeholder
    }

    /// The loop. All that its terms read becomes a parameter, so no term gets more binders inside,
    /// and bound variables keep their scopes.
    fn close<S>(mut self, g: &mut Graph, fold: &Fold<S>, reverse: bool) -> Term {
        let (carries, captures) = (fold.scan.init.len(), fold.scan.captures.len());
        for (k, ty) in fold.scan.body.params.iter().enumerate().skip(carries) {
            let value = match k.checked_sub(carries + captures) {
                None => Outside::Capture(fold.scan.captures[k - carries]),
                Some(x) => Outside::Row(fold.scan.xs[x]),
            };
            self.outside.push((g.param(k, ty.clone()), value));
        }
        let rows = saved::readable(g, &fold.saved, &self.results);
        self.outside.extend(rows.into_iter().map(|(t, rows)| (t, Outside::Row(rows))));
        let read = self.read(g);
        self.outside.retain(|(t, _)| read.contains(t));
        let mut params: Vec<Type> = Vec::new();
        let mut new = HashMap::new();
        let (mut given, mut xs) = (Vec::new(), Vec::new());
        // Captures come before rows.
        let of = |row: bool| move |(_, o): &&(Term, Outside)| matches!(o, Outside::Row(_)) == row;
        let leaves = self.outside.iter().filter(of(false)).chain(self.outside.iter().filter(of(true)));
        for (t, outside) in self.carried.iter().map(|&t| (t, None)).chain(leaves.map(|&(t, o)| (t, Some(o)))) {
            let ty = g.ty(t).clone();
            let param = g.param(params.len(), ty.clone());
            params.push(ty);
            new.insert(t, param);
            match outside {
                None => {}
                Some(Outside::Capture(value)) => given.push(value),
                Some(Outside::Row(array)) => xs.push(array),
            }
        }
        let results = g.replaced(&self.results, new);
        g.scan(Scan {
            count: fold.scan.count,
            reverse,
            stop: None,
            init: self.init.into(),
            captures: given.into(),
            xs: xs.into(),
            body: Body { params: params.into(), results: results.into() },
        })
    }

    /// The leaves that the results read.
    fn read(&self, g: &Graph) -> HashSet<Term> {
        let leaves: HashSet<Term> = self.outside.iter().map(|o| o.0).collect();
        let (mut stack, mut seen) = (self.results.clone(), HashSet::new());
        while let Some(t) = stack.pop() {
            if seen.insert(t) && !leaves.contains(&t) {
                g.node(t).for_each_child(|c| stack.push(c));
            }
        }
        seen
    }
}

/// The tangents of a loop's parts.
pub(crate) fn forward<S: Step>(
    g: &mut Graph,
    fold: &Fold<S>,
    array: &dyn Fn(usize) -> Option<Term>,
) -> Option<SortedMap<usize, Tangent>> {
    let (carries, captures) = (fold.scan.init.len(), fold.scan.captures.len());
    let mut steps = Steps::default();
    let mut given = SortedMap::new();
    for k in 0..fold.scan.body.params.len() {
        let tangent = array(fold.arguments[k]);
        if k < carries {
            if fold.active[k] {
                let start = tangent.unwrap_or_else(|| g.zeros_like(fold.scan.init[k]));
                given.insert(k, steps.carry(g, start));
            }
        } else if let Some(tangent) = tangent.filter(|_| fold.given[k]) {
            let capture = k < carries + captures;
            given.insert(k, if capture { steps.capture(g, tangent) } else { steps.row(g, tangent) });
        }
    }
    let mut places = Vec::new();
    for (k, tangent) in fold.body.tangents(g, &given).into_iter().enumerate().filter(|(k, _)| fold.active[*k]) {
        if k < carries || tangent.is_some() {
            places.push(k);
            steps.results.push(tangent.unwrap_or_else(|| g.zeros_like(fold.scan.body.results[k])));
        }
    }
    if places.is_empty() {
        return None;
    }
    let whole = steps.close(g, fold, fold.scan.reverse);
    Some(places.into_iter().enumerate().map(|(at, k)| (k, Tangent::Array(g.proj(whole, at)))).collect())
}

/// The transposed loop, given the cotangents of active parts. If all of them are zero unless one
/// condition holds, it runs under that condition.
pub(crate) fn transposed<S: Step>(
    g: &mut Graph,
    fold: &Fold<S>,
    mut cts: SortedMap<usize, Cotangent>,
    around: &mut dyn Accumulated,
) {
    if cts.is_empty() {
        return;
    }
    let guard = common_guard(g, cts.values().map(|ct| ct.term));
    if guard.is_some() {
        for ct in cts.values_mut() {
            ct.term = zero_arm(g, ct.term).map_or(ct.term, |arm| arm.1);
        }
    }
    let (carries, captures) = (fold.scan.init.len(), fold.scan.captures.len());
    // The loop adds to the cotangents so far of the values that it captures.
    let mut running: SortedMap<usize, Cotangent> = SortedMap::new();
    for k in carries..carries + captures {
        if fold.given[k] && g.rank(fold.scan.captures[k - carries]) > 0 {
            running.extend(around.running(g, fold.arguments[k]).map(|ct| (k, ct)));
        }
    }
    for (k, ct) in sent(g, fold, &cts, &running) {
        let term = match (guard, running.get(&k)) {
            (None, _) => ct.term,
            (Some(guard), None) => wrap(g, ct.term, guard),
            (Some((c, true)), Some(before)) => g.cond(c, ct.term, before.term),
            (Some((c, false)), Some(before)) => g.cond(c, before.term, ct.term),
        };
        around.give(g, fold.arguments[k], Cotangent { term, ..ct });
    }
}

/// The sum of a cotangent so far and one that a loop around this one began with.
pub(crate) fn begin(g: &mut Graph, before: Option<Cotangent>, sum: Option<Term>) -> Option<Cotangent> {
    // The sum started as a zero of a value that was not read.
    let sum = sum.map(|term| Cotangent { term, masked: KnownZeros::Idle });
    match (before, sum) {
        (Some(before), Some(sum)) => Some(add(g, Some(sum), before)),
        (before, sum) => before.or(sum),
    }
}

/// The cotangents that a loop sends to its arguments, by their numbers.
fn sent<S: Step>(
    g: &mut Graph,
    fold: &Fold<S>,
    cts: &SortedMap<usize, Cotangent>,
    running: &SortedMap<usize, Cotangent>,
) -> Vec<(usize, Cotangent)> {
    let (carries, captures) = (fold.scan.init.len(), fold.scan.captures.len());
    let params = &fold.scan.body.params;
    let mut steps = Steps::default();
    let mut seeds: SortedMap<usize, Term> = SortedMap::new();
    for k in (0..carries).filter(|&k| fold.active[k]) {
        let start = cts.get(&k).map_or_else(|| g.zeros_like(fold.scan.init[k]), |ct| ct.term);
        seeds.insert(k, steps.carry(g, start));
    }
    let mut sums: SortedMap<usize, Term> = SortedMap::new();
    for k in (carries..carries + captures).filter(|&k| fold.given[k]) {
        let start = running.get(&k).map_or_else(|| g.zeros_like(fold.scan.captures[k - carries]), |ct| ct.term);
        sums.insert(k, steps.carry(g, start));
    }
    for (&k, ct) in cts.iter().filter(|(k, _)| **k >= carries) {
        seeds.insert(k, steps.row(g, ct.term));
    }
    let mut masked: SortedMap<usize, KnownZeros> =
        seeds.keys().map(|&k| (k, cts.get(&k).map_or(KnownZeros::Idle, |ct| ct.hidden(g).at_least_idle()))).collect();
    // A cotangent that a step passes to the step before it may be a zero of an arm that the step
    // has not taken.
    let StepCotangents { found, left } = loop {
        let given = seeds.iter().map(|(&k, &term)| (k, Cotangent { term, masked: masked[&k] })).collect();
        let all = fold.body.cotangents(g, params, &given, &sums);
        let more: Vec<(usize, KnownZeros)> = (0..carries)
            .filter_map(|k| {
                let zeros = all.found.get(&k).map_or(KnownZeros::Idle, |ct| ct.hidden(g).at_least_idle());
                (zeros > *masked.get(&k)?).then_some((k, zeros))
            })
            .collect();
        if more.is_empty() {
            break all;
        }
        masked.extend(more);
    };
    let all = masked.values().copied().max().unwrap_or(KnownZeros::None);
    let mut places = Vec::new();
    for k in (0..carries).filter(|&k| fold.active[k]) {
        places.push(k);
        steps.results.push(found.get(&k).map_or_else(|| g.zeros_like(fold.scan.init[k]), |ct| ct.term));
    }
    for (&k, &sum) in &sums {
        places.push(k);
        steps.results.push(match found.get(&k) {
            // The sum is part of the cotangent already.
            Some(ct) if !left.contains(&k) => ct.term,
            Some(ct) => g.add(sum, ct.term),
            None => sum,
        });
    }
    for k in (carries + captures..params.len()).filter(|&k| fold.given[k]) {
        if let Some(ct) = found.get(&k) {
            places.push(k);
            steps.results.push(ct.term);
        }
    }
    if places.is_empty() {
        return Vec::new();
    }
    let whole = steps.close(g, fold, !fold.scan.reverse);
    let cotangent = |(at, k): (usize, usize)| {
        let own = found.get(&k).map_or(all, |ct| ct.hidden(g).max(all));
        let masked = running.get(&k).map_or(own, |ct| own.min(ct.hidden(g)));
        (k, Cotangent { term: g.proj(whole, at), masked })
    };
    places.into_iter().enumerate().map(cotangent).collect()
}
