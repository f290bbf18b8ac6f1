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
use super::saved::{Residual, Undo};
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
    // A loop that computes only integers or booleans (an index, a count) has no derivative. It
    // saves nothing, and its term, which may be a size, does not change. Loops in it may stop
    // early.
    if !d.g.ty(t).has_real() {
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
    // The same holds if no real result depends on an active value.
    if !carried.contains(&true) && body.tangents.iter().all(Option::is_none) {
        return (d.g.mk(Node::Scan(Box::new(scan))), Tangent::Zero);
    }
    assert!(
        s.stop.is_none() || crate::passes::trip_counts::counts_itself(d.g, s),
        "a loop that stops early counts its steps before differentiation (`trips`)"
    );
    let Augmented { parts, saved, residuals, undo } = augmented(d, (t, s), &scan, &body);
    let primal = d.g.tuple(&parts);
    let taken = s.stop.map(|_| parts[carries - 1]);
    debug_assert_eq!(d.g.ty(t), d.g.ty(primal));
    let of = |ts: &[Tangent]| ts.iter().map(Tangent::array).collect::<Vec<_>>();
    let captures = scan.captures.len();
    let has: Vec<bool> =
        (0..parts.len()).map(|k| if k < carries { carried[k] } else { body.tangents[k].is_some() }).collect();
    scan.body.results = body.primal.clone().into();
    let delta = ScanDelta {
        saved,
        residuals,
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

/// A loop that saves what its derivative reads. All of these are arrays after the loop.
struct Augmented {
    /// The results of the original loop.
    parts: Vec<Term>,
    /// The carried values at the start of each step.
    saved: Vec<Term>,
    residuals: Vec<Residual>,
    undo: Vec<Undo>,
}

/// The augmented form of the loop `t`, which is `s` in the function and `scan` in its primal.
fn augmented(d: &mut Dualise<'_, '_>, (t, s): (Term, &Scan), scan: &Scan, body: &Dual) -> Augmented {
    let params = &scan.body.params;
    let (carries, produced) = (scan.init.len(), scan.body.results.len() - scan.init.len());
    let mut results = body.primal.clone();
    let at_start: Vec<Term> = (0..carries).map(|k| d.g.param(k, params[k].clone())).collect();
    let saveable = params[..carries].iter().all(|ty| matches!(ty, Type::Array(..)));
    assert!(saveable, "carried tuples are split into components before differentiation");
    // A step that is known to do nothing saves zeros.
    let bound = d.analyses.get::<Bounds>(d.g, &[t])[0].map(|bound| {
        let (condition, value) = bound.literal;
        (body.in_primal(d.g, &[condition])[0], value)
    });
    results.extend(at_start.iter().map(|&t| only_within(d.g, t, bound)));
    // A step that is a checkpoint is computed again from the carried values before it.
    let (mut residuals, mut undo) = (Vec::new(), Vec::new());
    let checkpoints = d.g.has_checkpoints(s);
    if !checkpoints {
        residuals = self::residuals(d.g, body, s, (d.in_loop, &mut d.analyses));
    }
    for k in residuals.iter_mut().filter(|k| k.row == k.term) {
        k.row = only_within(d.g, k.row, bound);
    }
    results.extend(residuals.iter().map(|k| k.row));
    if !checkpoints {
        undo = undos(d.g, body, s, (bound, &mut d.analyses));
    }
    results.extend(undo.iter().flat_map(|u| &u.overwritten).map(|o| o.1));
    let mut augmented = scan.clone();
    augmented.body = Body { params: params.clone(), results: results.into() };
    let augmented = d.g.mk(Node::Scan(Box::new(augmented)));

    let mut next = 0..;
    let mut part = |g: &mut Graph| g.proj(augmented, next.next().unwrap_or_default());
    let parts: Vec<Term> = (0..carries + produced).map(|_| part(d.g)).collect();
    let saved = (0..carries).map(|_| part(d.g)).collect();
    for residual in &mut residuals {
        residual.row = part(d.g);
    }
    for (_, row) in undo.iter_mut().flat_map(|u| &mut u.overwritten) {
        *row = part(d.g);
    }
    for u in &mut undo {
        u.last = parts[u.carry];
    }
    Augmented { parts, saved, residuals, undo }
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
    let params = &s.scan.body.params;
    let mut derived = Derived::new(s);
    let mut leaves: SortedMap<DeltaLeaf, Term> = SortedMap::new();
    for (k, &start) in init.iter().enumerate().filter(|(k, _)| s.carried[*k]) {
        leaves.insert(param(k), derived.carry(g, k, start));
    }
    derived.capture_originals();
    for (k, t) in (carries..).zip(captures) {
        if let Some(t) = *t {
            leaves.insert(param(k), derived.capture(g, &params[k], t));
        }
    }
    derived.capture_limit(g);
    derived.consume_originals();
    for (k, t) in (carries + caught..).zip(xs) {
        if let Some(t) = *t {
            leaves.insert(param(k), derived.consume(g, &params[k], t));
        }
    }

    let tangents = fwd::apply(g, &s.body, &|leaf| leaves.get(&leaf).copied());
    let (mut carried, mut rows) = (Vec::new(), Vec::new());
    for (k, tangent) in tangents.into_iter().enumerate() {
        if k < carries && s.carried[k] {
            carried.push(k);
            derived.next.push(tangent.unwrap_or_else(|| g.zeros_like(s.body.primal[k])));
        } else if let Some(tangent) = tangent.filter(|_| k >= carries) {
            rows.push(k);
            derived.rows.push(tangent);
        }
    }
    derived.use_residuals(g, None);
    let made = derived.finish(g, s.scan.reverse);
    let mut parts = vec![None; s.body.primal.len()];
    for (n, k) in carried.into_iter().enumerate() {
        parts[k] = Some(made.carried(g, n));
    }
    for (n, k) in rows.into_iter().enumerate() {
        parts[k] = Some(made.rows(g, n));
    }
    parts
}

/// The number of steps, if it is a literal.
fn literal_steps(g: &Graph, s: &Scan) -> Option<i128> {
    match g.node(s.count) {
        Node::Prim(Prim::Checkpoint, args) => g.int_value(args[0]),
        _ => g.int_value(s.count),
    }
}

/// The leaf that is parameter `k` of a body.
fn param(k: usize) -> DeltaLeaf {
    DeltaLeaf::Param(u32::try_from(k).unwrap_or(u32::MAX))
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
    let zeros = zeros_of_parts(g, s, parts);
    let mut transposed = Transposed::with_operands(g, s, parts, before);
    let found = transposed.body_cotangents(g, zeros);
    let targets = transposed.use_cotangents(g, &found);
    let restored = transposed.derived.use_residuals(g, Some(&found.cotangents.undone));
    let made = transposed.derived.finish(g, !s.scan.reverse);
    undone.extend(restored.into_iter().map(|(last, k)| (last, made.carried(g, k))));
    let sent = |target: Target| {
        let term = match target.place {
            Place::Carried(k) => made.carried(g, k),
            Place::Row(k) => made.rows(g, k),
        };
        (target.delta, Cotangent { term, masked: target.masked })
    };
    targets.into_iter().map(sent).collect()
}

/// What is known of the zeros of the cotangents of a loop's parts, when the transpose begins.
fn zeros_of_parts(g: &Graph, s: &ScanDelta, parts: &SortedMap<usize, Cotangent>) -> Vec<KnownZeros> {
    // The only step of a loop starts with the cotangents of the results themselves.
    let one = literal_steps(g, &s.scan) == Some(1);
    let start = |zeros: KnownZeros| if one { zeros } else { zeros.at_least_idle() };
    // A part without a cotangent contributes zeros. In the body these count as zeros of a value
    // that is not read.
    let seen = |k: usize| parts.get(&k).map_or(KnownZeros::Idle, |ct| start(ct.hidden(g)));
    (0..s.body.primal.len()).map(seen).collect()
}

/// The transpose of a loop, while it is made. It carries the cotangents of carried values and sums
/// of the cotangents of captures, and its rows are cotangents of consumed arrays.
struct Transposed<'s> {
    s: &'s ScanDelta,
    derived: Derived<'s>,
    /// The cotangents of the results of the body.
    seeds: Vec<Option<Term>>,
    /// The captures that have a tangent, each with the sum of its cotangents so far.
    sums: Vec<(usize, Term)>,
    /// The cotangents with which these sums begin, if they are not zero.
    earlier: SortedMap<usize, Cotangent>,
}

/// The cotangents that a step sends to its leaves.
struct StepCotangents {
    cotangents: rev::Found,
    /// What is known of the zeros of the cotangents of its results.
    zeros: Vec<KnownZeros>,
}

/// A cotangent that a loop sends, and where it is among the results of the transpose.
struct Target {
    delta: DeltaId,
    place: Place,
    masked: KnownZeros,
}

#[derive(Clone, Copy)]
enum Place {
    Carried(usize),
    Row(usize),
}

impl<'s> Transposed<'s> {
    /// The operands of the transpose, in their order.
    fn with_operands(
        g: &mut Graph,
        s: &'s ScanDelta,
        parts: &SortedMap<usize, Cotangent>,
        before: &Running,
    ) -> Transposed<'s> {
        let carries = s.scan.init.len();
        let mut derived = Derived::new(s);
        let mut seeds: Vec<Option<Term>> = vec![None; s.body.primal.len()];
        for (k, seed) in seeds.iter_mut().enumerate().take(carries).filter(|(k, _)| s.carried[*k]) {
            *seed = Some(derived.carry(g, k, parts.get(&k).map(|ct| ct.term)));
        }
        let (mut sums, mut earlier, mut left) = (Vec::new(), SortedMap::new(), before.clone());
        for (k, id) in s.captures.iter().enumerate() {
            let Some(id) = id else { continue };
            let begin = left.remove(id);
            sums.push((k, derived.carry(g, carries + k, begin.map(|ct| ct.term))));
            earlier.extend(begin.map(|ct| (k, ct)));
        }
        derived.capture_originals();
        derived.capture_limit(g);
        derived.consume_originals();
        for (k, seed) in seeds.iter_mut().enumerate().skip(carries) {
            if let (Some(ct), Some(_)) = (parts.get(&k), s.body.tangents[k]) {
                let ty = g.ty(s.body.primal[k]).clone();
                *seed = Some(derived.consume(g, &ty, ct.term));
            }
        }
        Transposed { s, derived, seeds, sums, earlier }
    }

    /// The leaf of the body that is capture `k`.
    fn capture(&self, k: usize) -> DeltaLeaf {
        param(self.s.scan.init.len() + k)
    }

    /// The cotangents that one step sends to its leaves. `zeros` has what is known of the zeros of
    /// the cotangents of its results. More follows for those of the steps before it: a cotangent
    /// that a step passes on may be a zero of an arm that the step has not taken.
    fn body_cotangents(&self, g: &mut Graph, mut zeros: Vec<KnownZeros>) -> StepCotangents {
        let sums: SortedMap<DeltaLeaf, Term> = self.sums.iter().map(|&(k, sum)| (self.capture(k), sum)).collect();
        loop {
            let cotangents = rev::transpose(g, &self.s.body, &self.seeds, &zeros, &sums);
            let sent = |k| cotangents.leaves.get(&param(k)).map_or(KnownZeros::Idle, |ct| ct.hidden(g).at_least_idle());
            let more: Vec<usize> = (0..self.s.scan.init.len()).filter(|&k| sent(k) > zeros[k]).collect();
            if more.is_empty() {
                return StepCotangents { cotangents, zeros };
            }
            more.into_iter().for_each(|k| zeros[k] = sent(k));
        }
    }

    /// Makes these cotangents the results of the body. Returns the cotangents that the loop sends.
    fn use_cotangents(&mut self, g: &mut Graph, found: &StepCotangents) -> Vec<Target> {
        let s = self.s;
        let (carries, caught) = (s.scan.init.len(), s.scan.captures.len());
        let has_tangent = |k: usize| if k < carries { s.carried[k] } else { s.body.tangents[k].is_some() };
        let of_results = (0..s.body.primal.len()).filter(|&k| has_tangent(k)).map(|k| found.zeros[k]);
        let of_results = of_results.max().unwrap_or(KnownZeros::None);
        let leaf = |leaf: DeltaLeaf| found.cotangents.leaves.get(&leaf).copied();
        let zeros = |g: &Graph, of: DeltaLeaf| leaf(of).map_or(of_results, |ct| ct.hidden(g).max(of_results));
        let mut to_init = Vec::new();
        for k in (0..carries).filter(|&k| s.carried[k]) {
            let place = Place::Carried(self.derived.next.len());
            to_init.extend(s.init[k].map(|delta| Target { delta, place, masked: zeros(g, param(k)) }));
            let value = g.param(k, s.scan.body.params[k].clone());
            self.derived.next.push(leaf(param(k)).map_or_else(|| g.zeros_like(value), |ct| ct.term));
        }
        // A loop without steps does not read its captures. Their cotangents are then zeros of
        // values that are not read.
        let runs = literal_steps(g, &s.scan).is_some_and(|n| n > 0);
        let unread = if runs { KnownZeros::None } else { KnownZeros::Unread };
        let mut targets = Vec::new();
        for &(k, sum) in &self.sums {
            let capture = self.capture(k);
            let own = zeros(g, capture).max(unread);
            let masked = self.earlier.get(&k).map_or(own, |ct| own.min(ct.hidden(g)));
            let place = Place::Carried(self.derived.next.len());
            targets.extend(s.captures[k].map(|delta| Target { delta, place, masked }));
            self.derived.next.push(match leaf(capture) {
                Some(ct) if found.cotangents.summed.contains(&capture) => ct.term,
                Some(ct) => g.add(sum, ct.term),
                None => sum,
            });
        }
        // Captures come first: the first cotangent that is sent to a capture contains the capture's
        // earlier cotangent.
        targets.extend(to_init);
        for (k, delta) in s.xs.iter().enumerate() {
            let x = param(carries + caught + k);
            if let (Some(delta), Some(ct)) = (*delta, leaf(x)) {
                targets.push(Target { delta, place: Place::Row(self.derived.rows.len()), masked: zeros(g, x) });
                self.derived.rows.push(ct.term);
            }
        }
        targets
    }
}
