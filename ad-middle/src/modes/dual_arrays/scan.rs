//! The derivative of the loop form: the loop is augmented to save what its derivative reads
//! (`residuals`), and its tangent is a linear loop in the same direction. The transpose of that
//! loop runs in the other direction and carries the cotangents of carried values and captures (KN
//! Figs. 13-15 for folds).

use ad_ir::sorted::SortedMap;
use std::rc::Rc;

use ad_ir::analysis::bounds::Bounds;
use ad_ir::analysis::guards::Guard;
use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type};
use ad_ir::prim::Prim;

use super::delta::{Delta, DeltaId, DeltaLeaf, Dual, ScanDelta, Tangent};
use super::derived::Derived;
use super::dual::{Dualise, dual_of};
use super::residuals::residuals;
use super::transpose::{Cotangent, Running};
use super::undo::undos;
use super::{forward as fwd, transpose as rev};
use crate::modes::linear::KnownZeros;

/// Primal term and tangent of a loop.
pub(super) fn dual(d: &mut Dualise<'_, '_>, t: Term, s: &Scan) -> (Term, Tangent) {
    let now = |d: &Dualise<'_, '_>, ts: &[Term]| ts.iter().map(|t| d.primal[t]).collect::<Box<[Term]>>();
    let tangents = |d: &Dualise<'_, '_>, ts: &[Term]| ts.iter().map(|t| d.tangents[t].clone()).collect::<Vec<_>>();
    let mut scan = s.clone();
    scan.count = d.primal[&s.count];
    (scan.init, scan.captures, scan.xs) = (now(d, &s.init), now(d, &s.captures), now(d, &s.xs));
    let init = tangents(d, &s.init);
    let rest: Vec<Tangent> = tangents(d, &s.captures).into_iter().chain(tangents(d, &s.xs)).collect();
    if init.iter().chain(&rest).all(Tangent::is_zero) {
        return (d.g.mk(Node::Scan(Box::new(scan))), Tangent::Zero);
    }
    // The loops that the front end makes carry the components of tuples. A carried tuple would have
    // no single cotangent.
    assert!(
        s.body.params.iter().all(|ty| matches!(ty, Type::Array(..)) || !ty.has_real()),
        "a loop that carries or captures a tuple is split into components before differentiation"
    );
    let carries = scan.init.len();
    let (body, carried) = active_body(d.g, s, &init, &rest);
    // A loop that reads reals and computes only integers or booleans (an index, a count) has no
    // derivative. It saves nothing, and its term, which may be a size, does not change.
    if !carried.contains(&true) && body.tangents.iter().all(Option::is_none) {
        return (d.g.mk(Node::Scan(Box::new(scan))), Tangent::Zero);
    }
    assert!(
        s.stop.is_none() || crate::passes::trip_counts::counts_itself(d.g, s),
        "a loop that stops early counts its steps before differentiation (`trips`)"
    );
    // The augmented loop: one more array for each carried value, its value at the start of each
    // step.
    let produced = s.body.results.len() - carries;
    let mut results = body.primal.clone();
    let saved_values: Vec<Term> = (0..carries).map(|k| d.g.param(k, s.body.params[k].clone())).collect();
    let saveable = s.body.params[..carries].iter().all(|ty| matches!(ty, Type::Array(..)));
    assert!(saveable, "carried tuples are split into components before differentiation");
    // A step that is known to do nothing saves zeros.
    let bound = d.analyses.get::<Bounds>(d.g, &[t])[0].map(|bound| {
        let (condition, value) = bound.literal;
        (body.in_primal(d.g, &[condition])[0], value)
    });
    results.extend(saved_values.iter().map(|&t| only_within(d.g, t, bound)));
    // A step that is a checkpoint is computed again from the carried values before it.
    let checkpoints = d.g.has_checkpoints(s);
    let mut kept = match checkpoints {
        true => Vec::new(),
        false => residuals(d.g, &body, s, (d.in_loop, &mut d.analyses)),
    };
    for k in kept.iter_mut().filter(|k| k.row == k.term) {
        k.row = only_within(d.g, k.row, bound);
    }
    results.extend(kept.iter().map(|k| k.row));
    let mut undo = if checkpoints { Vec::new() } else { undos(d.g, &body, s, (bound, &mut d.analyses)) };
    results.extend(undo.iter().flat_map(|u| &u.overwritten).map(|o| o.1));
    let mut augmented = scan.clone();
    augmented.body = Body { params: s.body.params.clone(), results: results.into() };
    let augmented = d.g.mk(Node::Scan(Box::new(augmented)));
    let parts: Vec<Term> = (0..carries + produced).map(|k| d.g.proj(augmented, k)).collect();
    let saved = (0..carries).map(|k| d.g.proj(augmented, carries + produced + k)).collect();
    let first = 2 * carries + produced;
    for (k, residual) in kept.iter_mut().enumerate() {
        residual.row = d.g.proj(augmented, first + k);
    }
    let rows = undo.iter_mut().flat_map(|u| &mut u.overwritten).map(|o| &mut o.1);
    for (k, row) in rows.enumerate() {
        *row = d.g.proj(augmented, first + kept.len() + k);
    }
    for u in &mut undo {
        u.last = parts[u.carry];
    }
    let primal = d.g.tuple(&parts);
    let taken = s.stop.map(|_| parts[carries - 1]);
    debug_assert_eq!(d.g.ty(t), d.g.ty(primal));
    let of = |ts: &[Tangent]| ts.iter().map(Tangent::array).collect::<Vec<_>>();
    let captures = scan.captures.len();
    let has: Vec<bool> =
        (0..carries + produced).map(|k| if k < carries { carried[k] } else { body.tangents[k].is_some() }).collect();
    scan.body.results = body.primal.clone().into();
    let delta = ScanDelta {
        saved,
        residuals: kept,
        undo,
        taken,
        carried,
        init: of(&init),
        captures: of(&rest[..captures]),
        xs: of(&rest[captures..]),
        scan,
        body,
    };
    let id = d.out.push(Delta::Scan(Rc::new(delta)));
    let parts = has
        .into_iter()
        .enumerate()
        .map(|(k, has)| if has { Tangent::Array(d.out.push(Delta::Part(id, k))) } else { Tangent::Zero })
        .collect();
    (primal, Tangent::Tuple(parts))
}

/// The dual numbers of a body, and the carried values that are active. These are a least fixed
/// point, since an earlier step may make a value active.
fn active_body(g: &mut Graph, s: &Scan, init: &[Tangent], rest: &[Tangent]) -> (Dual, Vec<bool>) {
    let carries = s.init.len();
    let mut carried: Vec<bool> = init.iter().map(|t| !t.is_zero()).collect();
    loop {
        let active = |leaf: DeltaLeaf| match leaf {
            DeltaLeaf::Param(k) => {
                let k = k as usize;
                if k < carries { carried[k] } else { !rest[k - carries].is_zero() }
            }
            DeltaLeaf::Input(_) => false,
        };
        let body = dual_of(g, &s.body.results, &active, true);
        let more: Vec<bool> = (0..carries).map(|k| carried[k] || body.tangents[k].is_some()).collect();
        if more == carried {
            return (body, carried);
        }
        carried = more;
    }
}

/// A row of a step, or zeros if the step does nothing.
fn only_within(g: &mut Graph, row: Term, bound: Option<Guard>) -> Term {
    let Some((c, value)) = bound else { return row };
    let zeros = g.zeros_of_any(row);
    if value { g.cond(c, row, zeros) } else { g.cond(c, zeros, row) }
}

/// The tangents of a loop's parts.
pub(super) fn forward(
    g: &mut Graph,
    s: &ScanDelta,
    init: &[Option<Term>],
    captures: &[Option<Term>],
    xs: &[Option<Term>],
) -> Vec<Option<Term>> {
    let (carries, caught) = (s.scan.init.len(), s.scan.captures.len());
    let mut derived = Derived::new(&s.scan);
    let mut leaf_terms: SortedMap<u32, Term> = SortedMap::new();
    let mut order = Vec::new();
    let mut outer_init = Vec::new();
    let mut tangent = |g: &mut Graph, k: usize, order: &mut Vec<usize>| {
        let (number, term) = derived.param(g, &s.scan.body.params[k].clone());
        leaf_terms.insert(u32::try_from(k).unwrap_or(u32::MAX), term);
        order.push(number);
    };
    for (k, start) in init.iter().enumerate() {
        if s.carried[k] {
            tangent(g, k, &mut order);
            outer_init.push(start.unwrap_or_else(|| g.zeros_like(s.scan.init[k])));
        }
    }
    let mut outer_captures = s.scan.captures.to_vec();
    order.extend(carries..carries + caught);
    for (k, t) in captures.iter().enumerate() {
        if let Some(t) = t {
            tangent(g, carries + k, &mut order);
            outer_captures.push(*t);
        }
    }
    let limit = derived.limit(g, s, &mut order, &mut outer_captures);
    let mut tangent = |g: &mut Graph, k: usize, order: &mut Vec<usize>| {
        let (number, term) = derived.param(g, &s.scan.body.params[k].clone());
        leaf_terms.insert(u32::try_from(k).unwrap_or(u32::MAX), term);
        order.push(number);
    };
    let mut outer_xs = s.saved.clone();
    outer_xs.extend(&s.scan.xs);
    order.extend((0..carries).chain(carries + caught..derived_originals(&s.scan)));
    for (k, t) in xs.iter().enumerate() {
        if let Some(t) = t {
            tangent(g, carries + caught + k, &mut order);
            outer_xs.push(*t);
        }
    }
    let tangents = fwd::apply(g, &s.body, &|leaf| match leaf {
        DeltaLeaf::Param(k) => leaf_terms.get(&k).copied(),
        DeltaLeaf::Input(_) => None,
    });
    let (mut results, mut others) = (Vec::new(), Vec::new());
    let mut places = vec![None; s.body.primal.len()];
    for (k, tangent) in tangents.iter().enumerate() {
        let wanted = if k < carries { s.carried[k] } else { tangent.is_some() };
        if wanted {
            places[k] = Some(results.len());
            results.push(tangent.unwrap_or_else(|| g.zeros_like(s.body.primal[k])));
            let number = u32::try_from(k).unwrap_or(u32::MAX);
            others.push(if k < carries { leaf_terms.get(&number).copied() } else { None });
        }
    }
    derived.use_residuals(g, s, &mut results, (&mut order, &mut outer_xs), None);
    derived.where_taken(g, s, limit, (&mut results, &others), (&mut order, &mut outer_xs));
    derived.unread_captures(g, &results, outer_init.len(), (&mut order, &mut outer_captures));
    let body = derived.finish(g, &order, &results);
    let new = g.scan(Scan {
        count: s.scan.count,
        reverse: s.scan.reverse,
        stop: None,
        init: outer_init.into(),
        captures: outer_captures.into(),
        xs: outer_xs.into(),
        body,
    });
    places.into_iter().map(|place| place.map(|k| g.proj(new, k))).collect()
}

/// The number of steps, if it is a literal.
fn literal_steps(g: &Graph, s: &Scan) -> Option<i128> {
    match g.node(s.count) {
        Node::Prim(Prim::Checkpoint, args) => g.int_value(args[0]),
        _ => g.int_value(s.count),
    }
}

fn derived_originals(s: &Scan) -> usize {
    s.body.params.len()
}

/// The leaf that is parameter `k` of a body.
fn param(k: usize) -> DeltaLeaf {
    DeltaLeaf::Param(u32::try_from(k).unwrap_or(u32::MAX))
}

/// The cotangents that one step sends to its leaves. `masked` has what is known of the zeros of the
/// cotangents of its results, and gets what follows for those of the steps before it: a cotangent
/// that a step passes on may be a zero of an arm that the step has not taken.
fn body_cotangents(
    g: &mut Graph,
    s: &ScanDelta,
    seeds: &[Option<Term>],
    masked: &mut [KnownZeros],
    sums: &SortedMap<DeltaLeaf, Term>,
) -> rev::Found {
    loop {
        let found = rev::transpose(g, &s.body, seeds, masked, sums);
        let sent = |k: usize| found.leaves.get(&param(k)).map_or(KnownZeros::Idle, |ct| ct.hidden(g).at_least_idle());
        let more: Vec<usize> = (0..s.scan.init.len()).filter(|&k| sent(k) > masked[k]).collect();
        if more.is_empty() {
            return found;
        }
        more.into_iter().for_each(|k| masked[k] = sent(k));
    }
}

/// The cotangents that a loop sends to its arguments, given those of its parts. `before` has
/// cotangents of captures that the loop adds to: the first cotangent sent to such a capture
/// contains them. Arrays that the loop changes back are added to `undone`.
pub(super) fn transpose(
    g: &mut Graph,
    s: &ScanDelta,
    parts: &SortedMap<usize, Cotangent>,
    before: &Running,
    undone: &mut Vec<(Term, Term)>,
) -> Vec<(DeltaId, Cotangent)> {
    let (carries, caught) = (s.scan.init.len(), s.scan.captures.len());
    // A part without a cotangent contributes zeros. In the body these count as zeros of a value
    // that is not read.
    let all: Vec<usize> = (0..s.body.primal.len())
        .filter(|&k| if k < carries { s.carried[k] } else { s.body.tangents[k].is_some() })
        .collect();
    // The only step of a loop starts with the cotangents of the results themselves.
    let one = literal_steps(g, &s.scan) == Some(1);
    let start = |zeros: KnownZeros| if one { zeros } else { zeros.at_least_idle() };
    let seen = |k: usize| parts.get(&k).map_or(KnownZeros::Idle, |ct| start(ct.hidden(g)));
    let mut masked: Vec<KnownZeros> = (0..s.body.primal.len()).map(seen).collect();
    let mut derived = Derived::new(&s.scan);
    let mut order = Vec::new();
    let mut seeds: Vec<Option<Term>> = vec![None; s.body.primal.len()];
    let mut outer_init = Vec::new();
    for (k, seed) in seeds.iter_mut().enumerate().take(carries) {
        if s.carried[k] {
            let (number, term) = derived.param(g, &s.scan.body.params[k].clone());
            order.push(number);
            *seed = Some(term);
            outer_init.push(parts.get(&k).map_or_else(|| g.zeros_like(s.scan.init[k]), |ct| ct.term));
        }
    }
    let mut sums: Vec<(usize, Term)> = Vec::new();
    let mut gone_on: SortedMap<usize, Cotangent> = SortedMap::new();
    let mut left = before.clone();
    for k in 0..caught {
        if let Some(id) = s.captures[k] {
            let (number, term) = derived.param(g, &s.scan.body.params[carries + k].clone());
            order.push(number);
            sums.push((k, term));
            let begin = left.remove(&id);
            gone_on.extend(begin.map(|ct| (k, ct)));
            outer_init.push(begin.map_or_else(|| g.zeros_like(s.scan.captures[k]), |ct| ct.term));
        }
    }
    let leaf_sums: SortedMap<DeltaLeaf, Term> = sums.iter().map(|&(k, sum)| (param(carries + k), sum)).collect();
    order.extend(carries..carries + caught);
    let mut outer_captures = s.scan.captures.to_vec();
    let limit = derived.limit(g, s, &mut order, &mut outer_captures);
    let mut outer_xs = s.saved.clone();
    outer_xs.extend(&s.scan.xs);
    order.extend((0..carries).chain(carries + caught..derived.originals));
    for (k, seed) in seeds.iter_mut().enumerate().skip(carries) {
        if let (Some(ct), Some(_)) = (parts.get(&k), s.body.tangents[k]) {
            let ty = g.ty(s.body.primal[k]).clone();
            let (number, term) = derived.param(g, &ty);
            order.push(number);
            *seed = Some(term);
            outer_xs.push(ct.term);
        }
    }
    let found = body_cotangents(g, s, &seeds, &mut masked, &leaf_sums);
    let leaf = |k: usize| found.leaves.get(&param(k)).copied();
    let masked = all.iter().map(|&k| masked[k]).max().unwrap_or(KnownZeros::None);
    let hidden = |g: &Graph, k: usize| leaf(k).map_or(masked, |ct| ct.hidden(g).max(masked));
    let (mut results, mut others) = (Vec::new(), Vec::new());
    let mut init_places = Vec::new();
    for (k, &seed) in seeds.iter().enumerate().take(carries) {
        if s.carried[k] {
            init_places.push((k, results.len()));
            let zero = g.param(k, s.scan.body.params[k].clone());
            results.push(leaf(k).map_or_else(|| g.zeros_like(zero), |ct| ct.term));
            others.push(seed);
        }
    }
    let mut sum_places = Vec::new();
    for (k, sum) in sums {
        sum_places.push((k, results.len()));
        others.push(Some(sum));
        results.push(match leaf(carries + k) {
            Some(ct) if found.summed.contains(&param(carries + k)) => ct.term,
            Some(ct) => g.add(sum, ct.term),
            None => sum,
        });
    }
    let mut row_places = Vec::new();
    for (k, delta) in s.xs.iter().enumerate() {
        if let (Some(_), Some(ct)) = (delta, leaf(carries + caught + k)) {
            row_places.push((k, results.len()));
            results.push(ct.term);
            others.push(None);
        }
    }
    let carried = init_places.len() + sum_places.len();
    let undone_here = derived.use_residuals(g, s, &mut results, (&mut order, &mut outer_xs), Some(&found.undone));
    for (k, (one, next)) in undone_here.iter().enumerate() {
        order.insert(carried + k, one.number);
        outer_init.push(one.last);
        results.insert(carried + k, *next);
        others.insert(carried + k, Some(one.state));
    }
    for (_, place) in &mut row_places {
        *place += undone_here.len();
    }
    derived.where_taken(g, s, limit, (&mut results, &others), (&mut order, &mut outer_xs));
    derived.unread_captures(g, &results, outer_init.len(), (&mut order, &mut outer_captures));
    let body = derived.finish(g, &order, &results);
    let new = g.scan(Scan {
        count: s.scan.count,
        reverse: !s.scan.reverse,
        stop: None,
        init: outer_init.into(),
        captures: outer_captures.into(),
        xs: outer_xs.into(),
        body,
    });
    for (k, (one, _)) in undone_here.iter().enumerate() {
        undone.push((one.last, g.proj(new, carried + k)));
    }
    // A loop without steps does not read its captures. Their cotangents are then zeros of values
    // that are not read.
    let runs = literal_steps(g, &s.scan).is_some_and(|n| n > 0);
    let unread = if runs { KnownZeros::None } else { KnownZeros::Unread };
    // Captures come first: the first cotangent that is sent to a capture contains the capture's
    // earlier cotangent.
    let mut targets = Vec::new();
    for (k, place) in sum_places {
        let own = hidden(g, carries + k).max(unread);
        targets.push((s.captures[k], place, gone_on.get(&k).map_or(own, |ct| own.min(ct.hidden(g)))));
    }
    for (k, place) in init_places {
        targets.push((s.init[k], place, hidden(g, k)));
    }
    for (k, place) in row_places {
        targets.push((s.xs[k], place, hidden(g, carries + caught + k)));
    }
    targets
        .into_iter()
        .filter_map(|(delta, place, masked)| delta.map(|delta| (delta, Cotangent { term: g.proj(new, place), masked })))
        .collect()
}
