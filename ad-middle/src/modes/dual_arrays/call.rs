//! The derivative of a call of a function that is compiled on its own (KN, section 6). The primal
//! program calls the forward half, which leaves a record. Tangents and cotangents go through the
//! other half, which reads the record. So nothing of the function is computed twice, and a function
//! that calls itself is differentiated once.
//!
//! This module must never know what a function computes.

use ad_ir::sorted::SortedMap;
use std::rc::Rc;

use ad_ir::analysis::guards::Guard;
use ad_ir::ir::{Elem, Graph, Node, OpenLoop, Term};
use ad_ir::prim::structural::{Callee, Half, Returns};
use ad_ir::prim::{Cmp, Prim};

use super::delta::{Delta, DeltaId, Tangent};
use super::dual::Dualise;
use super::transpose::Cotangent;
use crate::modes::condition::wrap;
use crate::modes::linear::KnownZeros;

/// The derivative of a call, given its record.
#[derive(Debug)]
pub(super) struct CallDelta {
    /// The forward half.
    callee: Callee,
    reached: Term,
    record: Term,
    /// The sizes of results that the caller knows.
    sizes: Vec<Term>,
    /// The arguments that are passed on.
    passed: Vec<Term>,
    /// The active arguments, with their tangents.
    args: Vec<(Term, DeltaId)>,
}

impl CallDelta {
    /// The tangents of the active arguments.
    pub(super) fn reads(&self) -> impl Iterator<Item = DeltaId> + '_ {
        self.args.iter().map(|a| a.1)
    }

    /// The arguments of another half, without tangents or cotangents.
    fn given(&self, reached: Term) -> impl Iterator<Item = Term> + '_ {
        [reached, self.record].into_iter().chain(self.passed.iter().copied())
    }
}

/// Primal term and tangent of a call.
pub(super) fn dual(d: &mut Dualise<'_, '_>, callee: &Callee, args: &[Term]) -> (Term, Tangent) {
    let now: Vec<Term> = args.iter().map(|a| d.primal[a]).collect();
    let active = (1..args.len()).filter_map(|k| Some((k, d.tangents[&args[k]].array()?)));
    let active: Vec<(usize, DeltaId)> = active.collect();
    let real = |r: &Returns| r.elem.is_real();
    let constant = callee.rule.is_some_and(|rule| !rule.is_active);
    if active.is_empty() || constant || !callee.results.iter().any(real) {
        return (d.g.prim(Prim::Call(callee.clone().into()), &now), Tangent::Zero);
    }
    assert!(callee.half == Half::Value, "a derivative of a call is not differentiated again");
    let first = 1 + callee.rule.map_or(0, |rule| rule.keys as usize);
    let numbers = active.iter().map(|&(k, _)| u32::try_from(k - first).unwrap_or(u32::MAX)).collect();
    let forward = Callee { half: Half::Forward, active: numbers, direct: None, ..callee.clone() };
    // The record of a function with a rule has its arguments, too. So its forward half is the
    // function.
    let called = if callee.rule.is_some() { callee } else { &forward };
    let record = d.g.prim(Prim::Call(called.clone().into()), &now);
    let args = active.into_iter().map(|(k, id)| (now[k], id)).collect();
    let passed = callee.passed.iter().map(|&k| now[1 + k as usize]).collect();
    let sizes = callee.split(&now).1.to_vec();
    let of_call = CallDelta { callee: forward, reached: now[0], record, sizes, passed, args };
    let id = d.out.push(Delta::Call(Rc::new(of_call)));
    let parts = callee.results.iter().enumerate().map(|(k, result)| match result.elem.is_real() {
        true => Tangent::Array(d.out.push(Delta::Part(id, k))),
        false => Tangent::Zero,
    });
    let mut parts: Vec<Tangent> = parts.collect();
    match callee.direct {
        Some(elem) => (d.g.prim(Prim::Returned(0, elem), &[record]), parts.remove(0)),
        None => (record, Tangent::Tuple(parts)),
    }
}

/// A call of another half of the function, and its results.
fn other_half(
    g: &mut Graph,
    call: &CallDelta,
    (half, reached): (Half, Term),
    given: Vec<Term>,
    like: &[(u32, Elem, Vec<Term>)],
) -> Vec<Term> {
    let direct = match like {
        [(_, elem, sizes)] if sizes.is_empty() && call.callee.rule.is_none() => Some(*elem),
        _ => None,
    };
    let callee = Callee { half, direct, ..call.callee.clone() };
    let args: Vec<Term> = call.given(reached).chain(given).collect();
    let made = g.prim(Prim::Call(callee.into()), &args);
    if direct.is_some() {
        return vec![made];
    }
    let read = |(k, (own, elem, sizes)): (u32, &(u32, Elem, Vec<Term>))| {
        // A rule gives a value for each argument or result, whether it is real or not.
        let k = if call.callee.rule.is_some() { *own } else { k };
        let args: Vec<Term> = std::iter::once(made).chain(sizes.iter().copied()).collect();
        g.prim(Prim::Returned(k, *elem), &args)
    };
    (0..).zip(like).map(read).collect()
}

/// The tangents of the results, given those of the active arguments.
pub(super) fn forward(g: &mut Graph, call: &CallDelta, tangents: &[Option<Term>]) -> Vec<Option<Term>> {
    if tangents.iter().all(Option::is_none) {
        return vec![None; call.callee.results.len()];
    }
    let given = call.args.iter().zip(tangents).map(|((arg, _), t)| t.unwrap_or_else(|| g.zeros_like(*arg))).collect();
    let real = (0..).zip(&call.callee.results).filter(|(_, result)| result.elem.is_real());
    let like: Vec<(u32, Elem, Vec<Term>)> =
        real.map(|(k, result)| (k, result.elem, g.returned_sizes(result, (call.record, &call.sizes)))).collect();
    let found = other_half(g, call, (Half::Tangent, call.reached), given, &like);
    let mut all = vec![None; call.callee.results.len()];
    for ((k, ..), t) in like.into_iter().zip(found) {
        all[k as usize] = Some(t);
    }
    all
}

/// The cotangents that a call sends to its active arguments, given those of its results.
///
/// A call whose cotangents are all zero has no effect, whatever the function divides by. If a zero
/// may come from an arm that was not taken, the cotangents are tested, unless the function only
/// moves and adds numbers. Otherwise the guard that they share is a condition of the call.
pub(super) fn transpose(
    g: &mut Graph,
    call: &CallDelta,
    parts: &SortedMap<usize, Cotangent>,
    guard: Option<Guard>,
) -> Vec<(DeltaId, Cotangent)> {
    let mut reached = call.reached;
    let no = g.lit_bool(false);
    if let Some((cond, holds)) = guard {
        reached = if holds { g.cond(cond, reached, no) } else { g.cond(cond, no, reached) };
    }
    let mut given = Vec::new();
    for (k, result) in call.callee.results.iter().enumerate().filter(|(_, r)| r.elem.is_real()) {
        given.push(match parts.get(&k) {
            Some(ct) => ct.term,
            None => {
                let sizes = g.returned_sizes(result, (call.record, &call.sizes));
                g.lit_shaped(result.elem, &sizes, 0.0)
            }
        });
    }
    let moving = call.callee.rule.is_none() && g.is_moving(call.callee.function);
    if !moving && parts.values().any(|ct| ct.hidden(g) != KnownZeros::None) {
        let mut any = no;
        for &ct in &given {
            let zeros = g.zeros_like(ct);
            let differs = g.compare(Cmp::Ne, ct, zeros);
            let rank = g.rank(ct);
            let differs = if rank == 0 { differs } else { g.reduce(ad_ir::prim::Reduce::Any, rank, differs) };
            any = g.or(any, differs);
        }
        reached = g.cond(reached, any, no);
    }
    let adds = call.args.first().is_some_and(|a| Callee::adds(&call.callee.active, g.rank(a.0)));
    let found = if adds && call.callee.rule.is_none() {
        added(g, call, reached, &given)
    } else {
        let args = call.callee.active.iter().zip(&call.args);
        let like: Vec<(u32, Elem, Vec<Term>)> =
            args.map(|(&k, &(arg, _))| (k, g.elem(arg), g.shape(arg).to_vec())).collect();
        other_half(g, call, (Half::Reverse, reached), given, &like)
    };
    let sent = call.args.iter().zip(found).map(|(&(_, id), term)| {
        let term = guard.map_or(term, |guard| wrap(g, term, guard));
        (id, Cotangent { term, masked: KnownZeros::None })
    });
    sent.collect()
}

/// The cotangents of the active arguments, added to zeros by the reverse half. A pass that adds
/// them to other arrays makes the half begin with those (`Graph::onto`). If there are several, one
/// call adds to all of them: it is the only step of a loop that carries them.
fn added(g: &mut Graph, call: &CallDelta, reached: Term, given: &[Term]) -> Vec<Term> {
    let callee = Rc::new(Callee { half: Half::Reverse, direct: None, ..call.callee.clone() });
    let init: Vec<Term> = call.args.iter().map(|a| g.zeros_like(a.0)).collect();
    let one = |g: &mut Graph, k: u32, x: Term| {
        let args: Vec<Term> = call.given(reached).chain(given.iter().copied()).chain([x]).collect();
        g.prim(Prim::Onto(Rc::clone(&callee), k, false), &args)
    };
    if let [zeros] = init[..] {
        return vec![one(g, 0, zeros)];
    }
    let carried: Vec<Term> = init.iter().map(|&t| g.placeholder(g.ty(t).clone())).collect();
    let results = (0..).zip(&carried).map(|(k, &x)| one(g, k, x)).collect();
    let (step, count) = (g.fresh(), g.lit_usize(1));
    let parts = init.len();
    let made = g.close_loop(&OpenLoop { count, reverse: true, stop: None, step, init, carried, results });
    (0..parts).map(|k| g.proj(made, k)).collect()
}

/// Whether a term is a call.
pub(super) fn is_call(g: &Graph, t: Term) -> bool {
    matches!(g.node(t), Node::Prim(Prim::Call(_), _))
}
