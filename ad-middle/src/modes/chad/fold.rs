//! Loops: `fold`, `scanl` and `scanr` are one form. The paper leaves them to future work (CHAD
//! section 10); the rule is that of `map`, with a state.
//!
//! `D(fold n e)` runs the loop with the primal step, and saves the state before each step. `Dfold`
//! is a loop in the same direction, and `Dfold^t` one in the other direction, whose steps apply the
//! step's linear function. What all steps capture is their context: the loop of `Dfold^t` carries
//! its accumulated cotangents. So no step adds up a context.
//!
//! This module must never run a loop of the function a second time in order to differentiate it,
//! but for a loop in a step that carries arrays: the states of all its steps would be saved for
//! each step around it.

use std::collections::{HashMap, HashSet};

use ad_ir::analysis::guards::Guard;
use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type};
use ad_ir::prim::Prim;
use ad_ir::sorted::SortedMap;

use super::cotangent::Ct;
use super::forward::{self, Tangent};
use super::lfun::{LFun, Lets, Variable, is_real};
use super::reverse::{self, Context};
use super::saved::{self, Saved};
use super::transform::{Known, Transform};
use crate::modes::Refusal;
use crate::modes::condition::{wrap, zero_arm};
use crate::modes::cotangent::Cotangent;
use crate::modes::linear::KnownZeros;

/// A loop with a derivative.
#[derive(Debug)]
pub(super) struct Fold {
    /// The loop of the primal program, without the rows that it saves.
    pub(super) scan: Scan,
    /// One step, in the context of its parameters.
    pub(super) body: Lets,
    /// What the primal loop saves.
    pub(super) saved: Vec<Saved>,
    /// The numbers of the initial values, captures and consumed arrays.
    pub(super) arguments: Vec<usize>,
    /// Which of these are active.
    given: Vec<bool>,
    /// Which results of a step are active: carried values, and then rows.
    active: Vec<bool>,
}

/// `D(fold n e)`.
pub(super) fn pair(d: &mut Transform<'_>, t: Term, s: &Scan, out: &Lets) -> (Term, LFun) {
    let Node::Scan(mut scan) = Node::Scan(Box::new(s.clone())).map_children(|c| out.primal_of(c)) else {
        panic!("a loop stays a loop")
    };
    let arguments: Vec<usize> = s.init.iter().chain(&s.captures).chain(&s.xs).map(|a| out.numbers[a]).collect();
    let given: Vec<bool> = arguments.iter().map(|&k| out.is_active(k)).collect();
    let carries = s.init.len();
    let mut active_params = given.clone();
    let refused = d.refused.len();
    // The active carried values are a least fixed point, since an earlier step may make one active.
    let body = loop {
        if !active_params.contains(&true) {
            return (d.g.scan(*scan), LFun::Zero);
        }
        d.refused.truncate(refused);
        let context = parameters(d.g, &s.body, &active_params);
        let body = d.program(&s.body.results, &context, &[]);
        let mut more = active_params.clone();
        for (k, active) in more.iter_mut().enumerate().take(carries) {
            *active |= body.is_active(body.results[k]);
        }
        if more == active_params {
            break body;
        }
        active_params = more;
    };
    let active: Vec<bool> = (0..body.results.len())
        .map(|k| if k < carries { active_params[k] } else { body.is_active(body.results[k]) })
        .collect();
    if !active.contains(&true) {
        return (d.g.scan(*scan), LFun::Zero);
    }
    let arrays = s.body.params.iter().all(|ty| matches!(ty, Type::Array(..)));
    if s.stop.is_some() || !arrays {
        d.refused.push((t, if arrays { Refusal::Stops } else { Refusal::Loop }));
        return (d.g.scan(*scan), LFun::Zero);
    }
    let results: Vec<Term> = body.results.iter().map(|&k| body.primal(k)).collect();
    scan.body.results = results.into();
    let (primal, saved) = saved::saving(d.g, &scan, &body);
    let fold = Fold { scan: *scan, body, saved, arguments, given, active };
    (primal, LFun::Fold(fold.into()))
}

/// The context of a step.
fn parameters(g: &mut Graph, body: &Body, active: &[bool]) -> HashMap<Term, Known> {
    let known = |(k, ty): (usize, &Type)| {
        let p = g.param(k, ty.clone());
        (p, Known { variable: Variable::Param(k), active: active[k] && is_real(ty), primal: p })
    };
    body.params.iter().enumerate().map(known).collect()
}

/// What a step of a derivative reads from outside.
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
    fn close(mut self, g: &mut Graph, fold: &Fold, reverse: bool) -> Term {
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

/// `Dfold`: the tangents of a loop's parts.
pub(super) fn forward(
    g: &mut Graph,
    fold: &Fold,
    array: &dyn Fn(usize) -> Option<Term>,
) -> Option<SortedMap<usize, Tangent>> {
    let (carries, captures) = (fold.scan.init.len(), fold.scan.captures.len());
    let mut steps = Steps::default();
    let mut given = HashMap::new();
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
    let all = forward::applied(g, &fold.body, &|variable| match variable {
        Variable::Param(k) => given.get(&k).map(|&t| Tangent::Array(t)),
        _ => None,
    });
    let mut places = Vec::new();
    for (k, &result) in fold.body.results.iter().enumerate().filter(|(k, _)| fold.active[*k]) {
        let tangent = all[result].as_ref().and_then(Tangent::array);
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

/// `Dfold^t`. If all cotangents are zero unless one condition holds, the loop runs under that
/// condition.
pub(super) fn transposed(g: &mut Graph, fold: &Fold, parts: SortedMap<usize, Ct>, context: &mut Context<'_>) {
    let mut cts: SortedMap<usize, Cotangent> = SortedMap::new();
    for (k, ct) in parts {
        if fold.active[k] {
            let like = result(g, fold, k);
            cts.extend(ct.folded(g, like).map(|ct| (k, ct)));
        }
    }
    if cts.is_empty() {
        return;
    }
    let guard = common_guard(g, &cts);
    if guard.is_some() {
        for ct in cts.values_mut() {
            ct.term = zero_arm(g, ct.term).map_or(ct.term, |arm| arm.1);
        }
    }
    let (carries, captures) = (fold.scan.init.len(), fold.scan.captures.len());
    // The loop adds to the cotangents so far of what it captures.
    let mut running: SortedMap<usize, Cotangent> = SortedMap::new();
    for k in carries..carries + captures {
        if fold.given[k] && g.rank(fold.scan.captures[k - carries]) > 0 {
            running.extend(context.running(g, fold.arguments[k]).map(|ct| (k, ct)));
        }
    }
    for (k, ct) in sent(g, fold, &cts, &running) {
        let term = match (guard, running.get(&k)) {
            (None, _) => ct.term,
            (Some(guard), None) => wrap(g, ct.term, guard),
            (Some((c, true)), Some(before)) => g.cond(c, ct.term, before.term),
            (Some((c, false)), Some(before)) => g.cond(c, before.term, ct.term),
        };
        context.give(g, fold.arguments[k], Cotangent { term, ..ct }.into());
    }
}

/// A term of the type of a result of a loop.
fn result(g: &mut Graph, fold: &Fold, k: usize) -> Term {
    match fold.scan.init.get(k) {
        Some(&init) => init,
        None => {
            let row = fold.scan.body.results[k];
            let (elem, mut shape) = (g.elem(row), g.shape(row).to_vec());
            shape.insert(0, fold.scan.count);
            g.lit_shaped(elem, &shape, 0.0)
        }
    }
}

/// The guard that all these cotangents share, if there is one.
fn common_guard(g: &Graph, cts: &SortedMap<usize, Cotangent>) -> Option<Guard> {
    let mut all = cts.values().map(|ct| zero_arm(g, ct.term).map(|arm| arm.0));
    let first = all.next()??;
    all.all(|guard| guard == Some(first)).then_some(first)
}

fn at_least_idle(zeros: KnownZeros) -> KnownZeros {
    if zeros == KnownZeros::None { zeros } else { zeros.max(KnownZeros::Idle) }
}

/// The cotangents that a loop sends to its arguments, by their numbers.
fn sent(
    g: &mut Graph,
    fold: &Fold,
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
    let mut sums: SortedMap<Variable, Term> = SortedMap::new();
    for k in (carries..carries + captures).filter(|&k| fold.given[k]) {
        let start = running.get(&k).map_or_else(|| g.zeros_like(fold.scan.captures[k - carries]), |ct| ct.term);
        sums.insert(Variable::Param(k), steps.carry(g, start));
    }
    for (&k, ct) in cts.iter().filter(|(k, _)| **k >= carries) {
        seeds.insert(k, steps.row(g, ct.term));
    }
    let mut masked: SortedMap<usize, KnownZeros> =
        seeds.keys().map(|&k| (k, cts.get(&k).map_or(KnownZeros::Idle, |ct| at_least_idle(ct.hidden(g))))).collect();
    // A cotangent that a step passes to the step before it may be a zero of an arm that the step
    // has not taken.
    let (found, left) = loop {
        let given =
            seeds.iter().map(|(&k, &term)| (fold.body.results[k], Cotangent { term, masked: masked[&k] }.into()));
        let (found, left) = reverse::applied(g, &fold.body, given.collect(), sums.clone());
        let found = arrays(g, fold, found);
        let more: Vec<(usize, KnownZeros)> = (0..carries)
            .filter_map(|k| {
                let zeros = found.get(&k).map_or(KnownZeros::Idle, |ct| at_least_idle(ct.hidden(g)));
                (zeros > *masked.get(&k)?).then_some((k, zeros))
            })
            .collect();
        if more.is_empty() {
            break (found, left);
        }
        masked.extend(more);
    };
    let all = masked.values().copied().max().unwrap_or(KnownZeros::None);
    let mut places = Vec::new();
    for k in (0..carries).filter(|&k| fold.active[k]) {
        places.push(k);
        steps.results.push(found.get(&k).map_or_else(|| g.zeros_like(fold.scan.init[k]), |ct| ct.term));
    }
    for (&variable, &sum) in &sums {
        let Variable::Param(k) = variable else { continue };
        places.push(k);
        steps.results.push(match found.get(&k) {
            // The sum is part of the cotangent already.
            Some(ct) if !left.contains_key(&variable) => ct.term,
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

/// The cotangents of the parameters of a step, as arrays.
fn arrays(g: &mut Graph, fold: &Fold, found: reverse::Found) -> SortedMap<usize, Cotangent> {
    let mut all = SortedMap::new();
    for (variable, ct) in found {
        let Variable::Param(k) = variable else { continue };
        let like = g.param(k, fold.scan.body.params[k].clone());
        all.extend(ct.folded(g, like).map(|ct| (k, ct)));
    }
    all
}
