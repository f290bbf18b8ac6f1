//! Loops: `foldl`, `scanl` and `scanr` are one form (UNF Figs. 5, 16 and 17).
//!
//! UNF Fig. 16 computes the carried values before each step, `A_0 = scanl e v A`, then the partial
//! derivatives of all steps, and then `scanr` multiplies these from the last to the first. Fig. 17
//! does the same for arrays with products of matrices, which would cost more than the function.
//! Here the `scanr` carries the cotangent itself, and its step is the transposed Jacobian of the
//! body. For numbers this is the same product in the other order.
//!
//! A loop saves `A_0`. It also saves terms of a step that are cheaper to save than to compute again
//! ([`saves`]); rows that no derivative reads are dropped by a later pass. This module must never
//! run a loop of the function a second time in order to differentiate it.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use ad_ir::analysis::Analyses;
use ad_ir::analysis::guards::{Guard, Guards};
use ad_ir::ir::{Body, Graph, Node, OpenLoop, Scan, Term, Type, Var};
use ad_ir::prim::Prim;
use ad_ir::sorted::SortedMap;

use super::forward::{self, Tangent};
use super::normal_form::{Entry, Normaliser, has_real};
use super::reverse::{Ct, Environment, row, sweep};
use super::source::{Composition, Fold, Primitive, Saved, Step, Variable};
use crate::modes::Refusal;
use crate::modes::condition::{wrap, zero_arm};
use crate::modes::cotangent::{Cotangent, add};
use crate::modes::linear::KnownZeros;

/// A loop as a step of a composition.
pub(super) fn step(n: &mut Normaliser<'_>, t: Term, s: &Scan, out: &Composition) -> Step {
    let Node::Scan(scan) = Node::Scan(Box::new(s.clone())).map_children(|c| out.primal_of(c)) else {
        panic!("a loop stays a loop")
    };
    let arguments: Vec<usize> = s.init.iter().chain(&s.captures).chain(&s.xs).map(|a| out.positions[a]).collect();
    let given: Vec<bool> = arguments.iter().map(|&at| out.active(at)).collect();
    let carries = s.init.len();
    let mut active_params = given.clone();
    let refused = n.refused.len();
    // The active carried values are a least fixed point, since an earlier step may make one active.
    let body = loop {
        if !active_params.contains(&true) {
            return constant(n, t, *scan);
        }
        n.refused.truncate(refused);
        let variables = parameters(n.g, &s.body, &active_params);
        let body = n.compose(&s.body.results, &variables, &[]);
        let mut more = active_params.clone();
        for (k, active) in more.iter_mut().enumerate().take(carries) {
            *active |= body.active(body.results[k]);
        }
        if more == active_params {
            break body;
        }
        active_params = more;
    };
    let active: Vec<bool> = (0..body.results.len())
        .map(|k| if k < carries { active_params[k] } else { body.active(body.results[k]) })
        .collect();
    if !active.contains(&true) {
        return constant(n, t, *scan);
    }
    let arrays = s.body.params.iter().all(|ty| matches!(ty, Type::Array(..)));
    if s.stop.is_some() || !arrays {
        n.refused.push((t, if arrays { Refusal::Stops } else { Refusal::Loop }));
        return constant(n, t, *scan);
    }
    let primal: Vec<Term> = body.results.iter().map(|&at| body.primal(at)).collect();
    let carried: Vec<Term> = (0..carries).map(|k| n.g.param(k, s.body.params[k].clone())).collect();
    let kept = saves(n.g, &body, &primal, &carried);
    let mut results = primal.clone();
    results.extend(&carried);
    results.extend(kept.iter().map(|k| k.1));
    let mut augmented = (*scan).clone();
    augmented.body = Body { params: s.body.params.clone(), results: results.into() };
    let augmented = n.g.scan(augmented);
    let own: Vec<Term> = (0..primal.len()).map(|k| n.g.proj(augmented, k)).collect();
    let first = primal.len();
    let mut rows: Vec<Saved> = Vec::new();
    let carried = carried.into_iter().map(|p| (p, Vec::new()));
    for (k, (term, under)) in carried.chain(kept.into_iter().map(|(t, _, under)| (t, under))).enumerate() {
        rows.push(Saved { term, rows: n.g.proj(augmented, first + k), under });
    }
    let term = n.g.tuple(&own);
    let mut scan = *scan;
    scan.body.results = primal.into();
    let fold = Fold { scan, body, rows, arguments, given, active };
    Step { term: t, primal: term, primitive: Primitive::Fold(Rc::new(fold)), active: true }
}

/// A loop that has no derivative. It saves nothing.
fn constant(n: &mut Normaliser<'_>, t: Term, scan: Scan) -> Step {
    let primal = n.g.scan(scan);
    Step { term: t, primal, primitive: Primitive::Constant, active: false }
}

/// The environment of a body: its parameters.
fn parameters(g: &mut Graph, body: &Body, active: &[bool]) -> HashMap<Term, Entry> {
    let entry = |(k, ty): (usize, &Type)| {
        let p = g.param(k, ty.clone());
        (p, Entry { variable: Variable::Param(k), active: active[k] && has_real(ty), primal: p })
    };
    body.params.iter().enumerate().map(entry).collect()
}

/// Terms of a step that are saved, each with its row: parts of carried arrays, results of expensive
/// operations and of inner loops. A row is zero where the function does not compute the term: where
/// one of the conditions does not hold.
fn saves(g: &mut Graph, body: &Composition, results: &[Term], carried: &[Term]) -> Vec<(Term, Term, Vec<Guard>)> {
    let guards = Analyses::default().get::<Guards>(g, results);
    let arrays: HashSet<Term> = carried.iter().copied().filter(|&p| g.rank(p) > 0).collect();
    // Whether a term depends on the step, and whether on a carried array.
    let mut depends: HashMap<Term, (bool, bool)> = HashMap::new();
    let mut kept = Vec::new();
    for t in g.reachable(results) {
        let mut of = (carried.contains(&t), arrays.contains(&t));
        let mut varies = g.is_open(t) && matches!(g.node(t), Node::Param(..));
        g.node(t).for_each_child(|c| {
            if let Some(&(own, array)) = depends.get(&c) {
                of = (of.0 || own, of.1 || array);
            }
            varies |= g.is_open(c);
        });
        depends.insert(t, of);
        let Type::Array(..) = g.ty(t) else { continue };
        if !varies || !g.free(t).is_empty() || !body.positions.contains_key(&t) && !is_primal(body, t) {
            continue;
        }
        let worth = match g.node(t) {
            Node::Param(..) | Node::Lit(_) | Node::Tuple(_) | Node::Cond { .. } => false,
            Node::Proj(of, _) => of_loop(g, *of),
            Node::Gather { .. } => of.1,
            Node::Prim(prim @ (Prim::Replicate(_) | Prim::Slice(_)), _) => matches!(prim, Prim::Slice(_)) && of.1,
            Node::Prim(prim, _) => prim.is_expensive() || prim.cost().is_none() || (of.1 && g.rank(t) == 0),
            _ => false,
        };
        if worth {
            // A condition inside of a build does not exist outside of it.
            let mut under = guards.get(&t).cloned().unwrap_or_default();
            under.retain(|guard| g.free(guard.0).is_empty());
            kept.push((t, under));
        }
    }
    kept.into_iter().map(|(t, under)| (t, only_under(g, t, &under), under)).collect()
}

fn is_primal(body: &Composition, t: Term) -> bool {
    body.steps.iter().any(|step| step.primal == t)
}

/// Whether a tuple is the result of a loop.
fn of_loop(g: &Graph, t: Term) -> bool {
    matches!(g.node(t), Node::Scan(_))
}

/// A term where all these conditions hold, else zeros. The innermost condition comes first.
fn only_under(g: &mut Graph, t: Term, under: &[Guard]) -> Term {
    let zeros = g.zeros_of_any(t);
    under.iter().fold(t, |row, &(c, value)| if value { g.cond(c, row, zeros) } else { g.cond(c, zeros, row) })
}

impl Fold {
    /// The results of a step of the derivative, outside of the body: over the rows that the loop
    /// has saved and the arguments of the loop. `given` has the terms in place of the placeholders
    /// for what comes from outside, since the parameters of two bodies may be the same terms.
    fn opened(&self, g: &mut Graph, step: Var, results: &[Term], given: HashMap<Term, Term>) -> Vec<Term> {
        let at = g.mk(Node::Var(step));
        let (carries, captures) = (self.scan.init.len(), self.scan.captures.len());
        let mut new = given;
        for (k, ty) in self.scan.body.params.iter().enumerate().skip(carries) {
            let p = g.param(k, ty.clone());
            let value = match k.checked_sub(carries + captures) {
                None => self.scan.captures[k - carries],
                Some(x) => g.index(self.scan.xs[x], &[at]),
            };
            new.insert(p, value);
        }
        // A derivative in one arm may be a term that another arm computes, and whose row is zero in
        // the former. Then the term is computed again.
        let guards = Analyses::default().get::<Guards>(g, results);
        for saved in &self.rows {
            let Some(guards) = guards.get(&saved.term) else { continue };
            if saved.under.iter().all(|guard| guards.contains(guard)) {
                let value = g.index(saved.rows, &[at]);
                new.insert(saved.term, value);
            }
        }
        g.replaced(results, new)
    }
}

/// The tangents of a loop's parts: a loop in the same direction.
pub(super) fn forward(
    g: &mut Graph,
    fold: &Fold,
    array: &dyn Fn(usize) -> Option<Term>,
) -> Option<SortedMap<usize, Tangent>> {
    let (carries, captures) = (fold.scan.init.len(), fold.scan.captures.len());
    let step = g.fresh();
    let (mut init, mut carried, mut given) = (Vec::new(), Vec::new(), HashMap::new());
    let mut outside = HashMap::new();
    for k in 0..fold.scan.body.params.len() {
        let tangent = array(fold.arguments[k]);
        if k < carries {
            if fold.active[k] {
                let start = tangent.unwrap_or_else(|| g.zeros_like(fold.scan.init[k]));
                let placeholder = g.placeholder(fold.scan.body.params[k].clone());
                init.push(start);
                carried.push(placeholder);
                given.insert(k, placeholder);
            }
        } else if let Some(tangent) = tangent.filter(|_| fold.given[k]) {
            let value = if k < carries + captures { tangent } else { row(g, tangent, step) };
            let placeholder = g.placeholder(fold.scan.body.params[k].clone());
            outside.insert(placeholder, value);
            given.insert(k, placeholder);
        }
    }
    let all = forward::tangents(g, &fold.body, &mut |_, variable| match variable {
        Variable::Param(k) => given.get(&k).map(|&t| Tangent::Array(t)),
        _ => None,
    });
    let (mut results, mut places) = (Vec::new(), Vec::new());
    for (k, &at) in fold.body.results.iter().enumerate().filter(|(k, _)| fold.active[*k]) {
        let tangent = all[at].as_ref().and_then(Tangent::array);
        if k < carries || tangent.is_some() {
            places.push(k);
            results.push(tangent.unwrap_or_else(|| g.zeros_like(fold.scan.body.results[k])));
        }
    }
    let results = fold.opened(g, step, &results, outside);
    let (count, reverse) = (fold.scan.count, fold.scan.reverse);
    let whole = g.close_loop(&OpenLoop { count, reverse, stop: None, step, init, carried, results });
    Some(places.into_iter().enumerate().map(|(at, k)| (k, Tangent::Array(g.proj(whole, at)))).collect())
}

/// `J^T foldl` (UNF Fig. 16): a loop in the other direction. If all cotangents are zero unless one
/// condition holds, it runs under that condition.
pub(super) fn transposed(g: &mut Graph, fold: &Fold, parts: &SortedMap<usize, Ct>, e: &mut Environment<'_>) {
    let mut cts: SortedMap<usize, Cotangent> = SortedMap::new();
    for (&k, ct) in parts {
        if let (Ct::Array(ct), true) = (ct, fold.active[k]) {
            cts.insert(k, *ct);
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
            running.extend(e.running(g, fold.arguments[k]).map(|ct| (k, ct)));
        }
    }
    for (k, ct) in sent(g, fold, &cts, &running) {
        let term = match (guard, running.get(&k)) {
            (None, _) => ct.term,
            (Some(guard), None) => wrap(g, ct.term, guard),
            (Some((c, true)), Some(before)) => g.cond(c, ct.term, before.term),
            (Some((c, false)), Some(before)) => g.cond(c, before.term, ct.term),
        };
        e.give(g, fold.arguments[k], Ct::Array(Cotangent { term, ..ct }));
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
    let step = g.fresh();
    let params = &fold.scan.body.params;
    let (mut init, mut carried) = (Vec::new(), Vec::new());
    let mut seeds: SortedMap<usize, Term> = SortedMap::new();
    let mut outside = HashMap::new();
    for k in (0..carries).filter(|&k| fold.active[k]) {
        let placeholder = g.placeholder(params[k].clone());
        init.push(cts.get(&k).map_or_else(|| g.zeros_like(fold.scan.init[k]), |ct| ct.term));
        carried.push(placeholder);
        seeds.insert(k, placeholder);
    }
    let mut sums: SortedMap<Variable, Term> = SortedMap::new();
    for k in (carries..carries + captures).filter(|&k| fold.given[k]) {
        let placeholder = g.placeholder(params[k].clone());
        let zeros = |g: &mut Graph| g.zeros_like(fold.scan.captures[k - carries]);
        init.push(running.get(&k).map_or_else(|| zeros(g), |ct| ct.term));
        carried.push(placeholder);
        sums.insert(Variable::Param(k), placeholder);
    }
    for (&k, ct) in cts.iter().filter(|(k, _)| **k >= carries) {
        let value = row(g, ct.term, step);
        let placeholder = g.placeholder(g.ty(value).clone());
        outside.insert(placeholder, value);
        seeds.insert(k, placeholder);
    }
    let mut masked: SortedMap<usize, KnownZeros> =
        seeds.keys().map(|&k| (k, cts.get(&k).map_or(KnownZeros::Idle, |ct| at_least_idle(ct.hidden(g))))).collect();
    // A cotangent that a step passes to the step before it may be a zero of an arm that the step
    // has not taken.
    let (found, left) = loop {
        let given =
            seeds.iter().map(|(&k, &term)| (fold.body.results[k], Ct::Array(Cotangent { term, masked: masked[&k] })));
        let found = sweep(g, &fold.body, given.collect(), sums.clone());
        let of = |k: usize| match found.0.get(&Variable::Param(k)) {
            Some(Ct::Array(ct)) => at_least_idle(ct.hidden(g)),
            _ => KnownZeros::Idle,
        };
        let more: Vec<(usize, KnownZeros)> =
            masked.iter().filter(|m| *m.0 < carries && of(*m.0) > *m.1).map(|m| (*m.0, of(*m.0))).collect();
        if more.is_empty() {
            break found;
        }
        masked.extend(more);
    };
    let all = masked.values().copied().max().unwrap_or(KnownZeros::None);
    let of = |k: usize| match found.get(&Variable::Param(k)) {
        Some(Ct::Array(ct)) => Some(*ct),
        _ => None,
    };
    let (mut results, mut places) = (Vec::new(), Vec::new());
    for k in (0..carries).filter(|&k| fold.active[k]) {
        let zeros = |g: &mut Graph| g.zeros_like(fold.scan.init[k]);
        places.push(k);
        results.push(of(k).map_or_else(|| zeros(g), |ct| ct.term));
    }
    for (&variable, &sum) in &sums {
        let Variable::Param(k) = variable else { continue };
        places.push(k);
        results.push(match of(k) {
            // The sum is part of the cotangent already.
            Some(ct) if !left.contains_key(&variable) => ct.term,
            Some(ct) => g.add(sum, ct.term),
            None => sum,
        });
    }
    for k in (carries + captures..params.len()).filter(|&k| fold.given[k]) {
        if let Some(ct) = of(k) {
            places.push(k);
            results.push(ct.term);
        }
    }
    let results = fold.opened(g, step, &results, outside);
    let (count, reverse) = (fold.scan.count, !fold.scan.reverse);
    let whole = g.close_loop(&OpenLoop { count, reverse, stop: None, step, init, carried, results });
    let cotangent = |(at, k): (usize, usize)| {
        let own = of(k).map_or(all, |ct| ct.hidden(g).max(all));
        let masked = running.get(&k).map_or(own, |ct| own.min(ct.hidden(g)));
        (k, Cotangent { term: g.proj(whole, at), masked })
    };
    places.into_iter().enumerate().map(cotangent).collect()
}

/// The sum of a cotangent so far and one that a loop begins with.
pub(super) fn begin(g: &mut Graph, before: Option<Cotangent>, sum: Option<Term>) -> Option<Cotangent> {
    // The sum started as a zero of a value that was not read.
    let sum = sum.map(|term| Cotangent { term, masked: KnownZeros::Idle });
    match (before, sum) {
        (Some(before), Some(sum)) => Some(add(g, Some(sum), before)),
        (before, sum) => before.or(sum),
    }
}
