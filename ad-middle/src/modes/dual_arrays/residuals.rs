//! The residuals of a loop: the values of each step that it saves for its derivative, in addition
//! to its carried values. The rule is that cheap terms are recomputed from residuals
//! ([`ResidualReason`] lists the kinds of residuals). The loop offers all candidates. A row that
//! the derived body does not read is not emitted (`passes::lowering`); the same holds for the rows
//! of carried values. So no more is saved than the function has read.
//!
//! This module must never let a step compute a term that the function computes only in an arm,
//! except an index: outside of its arm, a saved term is zero.

use ad_ir::sorted::{SortedMap, SortedSet};
use std::collections::{HashMap, HashSet};

use crate::passes::loops::ragged::ends_at_data;
use crate::passes::rewrite::Rewriter;
use ad_ir::analysis::bounds::is_limit;
use ad_ir::analysis::guards::{Guard, Guards, ImpliedGuards, Masks, decided, least};
use ad_ir::analysis::{Analyses, once};
use ad_ir::ir::{Body, Elem, Graph, Node, Scan, Term, Type};
use ad_ir::prim::{Binary, Prim};

use super::call::is_call;
use super::delta::{Delta, Dual};
use super::saved::{Residual, ResidualReason};

/// A term under more conditions than these is recomputed.
const MAX_CONDITIONS: usize = 8;
/// The maximum number of operations of an index that is computed outside of the arm that uses it.
const MAX_OPERATIONS: usize = 16;
/// An array with more axes counts as an array with this many.
const MOST_AXES: usize = 7;

/// The terms of a body that are offered, and the rows that a step saves for them. A row is zero
/// unless the conditions hold under which the step computes the term.
/// `in_loop`: the loop is in the body of another one.
pub(super) fn residuals(
    g: &mut Graph,
    body: &Dual,
    s: &Scan,
    (in_loop, analyses): (bool, &mut Analyses),
) -> Vec<Residual> {
    let found = candidates(g, body, s, (in_loop, analyses));
    let masks = analyses.get::<Masks>(g, &body.primal);
    found
        .into_iter()
        .map(|(term, guards, why)| {
            let masks = masks.get(&term).cloned().unwrap_or_default();
            let mut row = term;
            for &(mask, value) in &masks {
                let zeros = g.zeros_of_any(term);
                row = if value { g.select(mask, row, zeros) } else { g.select(mask, zeros, row) };
            }
            for &(c, value) in &guards {
                let zeros = g.zeros_of_any(term);
                row = if value { g.cond(c, row, zeros) } else { g.cond(c, zeros, row) };
            }
            Residual { term, row, why, guards, masks }
        })
        .collect()
}

/// Terms, and the conditions that all their uses have in common.
fn candidates(
    g: &Graph,
    body: &Dual,
    s: &Scan,
    (in_loop, analyses): (bool, &mut Analyses),
) -> Vec<(Term, Vec<Guard>, ResidualReason)> {
    let guards = analyses.get::<Guards>(g, &body.primal);
    let masks = analyses.get::<Masks>(g, &body.primal);
    let carries = s.init.len();
    let fixed = carries..carries + s.captures.len();
    let carried = |t: Term| param_number(g, t).is_some_and(|k| k < carries) && g.rank(t) > 0;
    let is_unmasked_real = |t: Term| g.ty(t).is_real() && !is_ragged(g, s, masks.get(&t));
    let mut varies: HashSet<Term> = HashSet::new();
    let mut found = Vec::new();
    for t in g.reachable(&body.primal) {
        let node = g.node(t);
        let mut any = matches!(node, Node::Param(k, _) if !fixed.contains(&(*k as usize)));
        node.for_each_child(|c| any |= varies.contains(&c));
        if !any {
            continue;
        }
        varies.insert(t);
        if g.ty(t).as_array().is_none() || !g.free(t).is_empty() {
            continue;
        }
        let Some(guard) = guards.get(&t).filter(|set| set.len() <= MAX_CONDITIONS) else { continue };
        match part_of(g, t).filter(|&x| carried(x)) {
            // An element of the array in its state before the step may also be saved by steps that
            // do not take the arm that reads it. A later state may not exist in these steps. But if
            // they save nothing, the loop can end where the condition ceases to hold.
            Some(x) if g.rank(t) == 0 && cheap(g, t) && reads(g, t, x) => {
                let limits: Vec<Guard> = guard.iter().filter(|&&guard| is_limit(g, s, guard)).copied().collect();
                if !limits.is_empty() {
                    found.push((t, limits, ResidualReason::Part(x)));
                }
                found.push((t, Vec::new(), ResidualReason::Part(x)))
            }
            Some(x) => found.push((t, guard.clone(), ResidualReason::Part(x))),
            None if found_by_search(g, t) || expensive(g, t) && (is_call(g, t) || is_unmasked_real(t)) => {
                found.push((t, guard.clone(), ResidualReason::Expensive))
            }
            None if of_checkpoint(g, t) => found.push((t, guard.clone(), ResidualReason::Expensive)),
            None if decides(g, t) => found.push((t, guard.clone(), ResidualReason::Decision)),
            _ => {}
        }
    }
    // A loop may run in an arm and be read under a conjunction that this arm is a part of.
    let implied = analyses.get::<ImpliedGuards>(g, &body.primal);
    for delta in &body.deltas {
        let Delta::Scan(inner) = delta else { continue };
        // Nothing that is computed between checkpoints is saved.
        if g.has_checkpoints(&inner.scan) {
            continue;
        }
        let rows = || inner.residuals.iter().map(|k| k.row);
        let left = recomputed_results(g, &body.primal, inner.saved.iter().copied().chain(rows()));
        let saved = inner.saved.iter().map(|&t| (t, true));
        let all = saved.chain(rows().map(|t| (t, false))).chain(inner.taken.map(|t| (t, false)));
        let overwritten = inner.undo.iter().flat_map(|u| &u.overwritten).map(|o| (o.1, false));
        let all = all.chain(left.into_iter().map(|t| (t, false))).chain(overwritten);
        let numbers = in_loop && inner.scan.init.iter().all(|&t| g.rank(t) == 0);
        let mut arrays: Option<Vec<Term>> = None;
        for (t, saved) in all {
            let Node::Proj(scan, _) = *g.node(t) else { continue };
            if !varies.contains(&scan) {
                continue;
            }
            let Some(guard) = implied.get(&scan).map(|set| least(g, set)).filter(|set| set.len() <= MAX_CONDITIONS)
            else {
                continue;
            };
            let arrays = arrays
                .get_or_insert_with(|| g.reachable(&[scan]).into_iter().filter(|&x| carried(x)).collect())
                .clone();
            if !matches!(g.ty(t), Type::Array(..)) {
                continue;
            }
            if arrays.is_empty() && numbers {
                found.push((t, guard.clone(), ResidualReason::OfNumbers(scan)));
            } else if !arrays.is_empty() {
                let whole = saved && g.rank(t) > 1 && !recomputed_rows(g, t);
                let reads = only_reads(g, scan, &arrays);
                found.push((t, guard.clone(), ResidualReason::Loop { scan, arrays, whole, reads }));
            }
        }
    }
    let mut seen = HashSet::new();
    found.retain(|(t, guards, _)| seen.insert((*t, guards.clone())));
    found
}

/// The final values of a loop that may be residuals: scalars, and arrays that each step computes as
/// a whole. The rows of the loop are saved.
fn recomputed_results(g: &Graph, roots: &[Term], rows: impl Iterator<Item = Term>) -> Vec<Term> {
    let loops: HashSet<Term> =
        rows.filter_map(|t| if let Node::Proj(s, _) = *g.node(t) { Some(s) } else { None }).collect();
    let anew = |t: &Term| match *g.node(*t) {
        Node::Proj(scan, k) if loops.contains(&scan) => match g.node(scan) {
            Node::Scan(s) => {
                g.rank(*t) == 0 && (k as usize) < s.init.len() || is_recomputed_per_iteration(g, s, k as usize)
            }
            _ => false,
        },
        _ => false,
    };
    g.reachable(roots).into_iter().filter(anew).collect()
}

/// Replaces residuals by these parameters. Returns the numbers of those that the results then read.
/// `states` maps states of carried arrays, which the derived loop changes back, to their
/// replacements. These arrays are not saved. Their parts are saved only if `parts` is true.
/// `carried` are the parameters for carried values.
///
/// A residual is not used if the derived body also reads the term where the step has not computed
/// it. Example: the derivative of `sin` in one arm is the same term `cos x` that another arm
/// computes.
pub(super) fn use_residuals(
    g: &mut Graph,
    results: &mut Vec<Term>,
    (residuals, params): (&[Residual], &[Term]),
    (states, parts): (&HashMap<Term, Term>, bool),
    carried: &[Term],
) -> Vec<usize> {
    let of_loops =
        residuals.iter().filter(|k| matches!(k.why, ResidualReason::Loop { .. } | ResidualReason::OfNumbers(_)));
    let of_loops: Vec<Term> = of_loops.map(|k| k.term).collect();
    let alone = counted_again(g, &of_loops);
    if !alone.is_empty() {
        *results = substituted(g, results, &alone);
    }
    let before: HashSet<Term> = g.reachable(results).into_iter().collect();
    let (guards, masks) = (once::<ImpliedGuards>(g, results), once::<Masks>(g, results));
    let saved = |k: &&Residual| {
        let within = |own: &[Guard], all: &HashMap<Term, Vec<Guard>>| {
            let holds =
                |set: &Vec<Guard>| own.iter().all(|&(c, value)| decided(g, c, set, MAX_CONDITIONS) == Some(value));
            own.is_empty() || all.get(&k.term).is_none_or(holds)
        };
        within(&k.guards, &guards) && within(&k.masks, &masks)
    };
    // A term may be offered under conditions and without them. The first offer that fits is taken.
    let mut taken: SortedMap<Term, usize> = SortedMap::new();
    for (k, residual) in residuals.iter().enumerate().filter(|(_, residual)| saved(residual)) {
        taken.entry(residual.term).or_insert(k);
    }
    let numbers: Vec<usize> = (0..residuals.len()).filter(|&k| taken.get(&residuals[k].term) == Some(&k)).collect();
    let params: HashMap<Term, Term> = numbers.iter().map(|&k| (residuals[k].term, params[k])).collect();
    let terms: Vec<(Term, &ResidualReason)> = numbers.iter().map(|&k| (residuals[k].term, &residuals[k].why)).collect();
    // If the carried arrays of an inner loop are read anyway, the loop is run again, and saving its
    // other residuals gains nothing.
    let again: HashSet<Term> = terms
        .iter()
        .filter_map(|(t, of)| match of {
            ResidualReason::Loop { scan, whole: true, .. } if before.contains(t) => Some(*scan),
            _ => None,
        })
        .collect();
    let mut swap: HashMap<Term, Term> = states.clone();
    for (t, of) in &terms {
        let had = match of {
            // All arrays that the inner loop reads are changed back, so it can be run again from
            // them.
            ResidualReason::Loop { arrays, reads: true, .. }
                if g.rank(*t) > 0 && arrays.iter().all(|x| states.contains_key(x)) =>
            {
                true
            }
            ResidualReason::Loop { scan, .. } => again.contains(scan),
            ResidualReason::Part(x) => !parts && states.contains_key(x) && g.rank(*t) > 0,
            ResidualReason::Expensive | ResidualReason::OfNumbers(_) => false,
            ResidualReason::Decision => true,
        };
        if !had && !states.contains_key(t) {
            swap.insert(*t, params[t]);
        }
    }
    let offer = Offer { terms: &terms, states, swap };
    let plain = offer.with_residuals(g, results, &HashMap::new());
    let decisions = terms.iter().filter(|(t, of)| matches!(of, ResidualReason::Decision) && before.contains(t));
    let decisions: HashMap<Term, Term> = decisions.map(|(t, _)| (*t, params[t])).collect();
    let rows: HashSet<Term> = params.values().copied().chain(carried.iter().copied()).collect();
    *results = match decided_by_rows(g, &offer, results, (&plain, &decisions, &rows)) {
        Some(less) => less,
        None => plain,
    };
    let reach: HashSet<Term> = g.reachable(results).into_iter().collect();
    numbers.into_iter().filter(|&k| reach.contains(&params[&residuals[k].term])).collect()
}

/// The residuals that a derived body may read.
struct Offer<'a> {
    terms: &'a [(Term, &'a ResidualReason)],
    states: &'a HashMap<Term, Term>,
    /// What replaces them, and states of arrays.
    swap: HashMap<Term, Term>,
}

impl Offer<'_> {
    /// The results, with residuals where they are worth it. `decisions` are replaced in any case.
    fn with_residuals(&self, g: &mut Graph, results: &[Term], decisions: &HashMap<Term, Term>) -> Vec<Term> {
        let mut swap = self.swap.clone();
        swap.extend(decisions);
        // An array that is also read in another way is saved anyway.
        let all = substituted(g, results, &swap);
        let reach: HashSet<Term> = g.reachable(&all).into_iter().collect();
        let offered = swap.len();
        for (t, of) in self.terms {
            let worth = match of {
                ResidualReason::Expensive | ResidualReason::Decision => true,
                ResidualReason::Part(x) | ResidualReason::OfNumbers(x) => !reach.contains(x),
                ResidualReason::Loop { arrays, .. } => arrays.iter().any(|x| !reach.contains(x)),
            };
            if !worth && !self.states.contains_key(t) {
                swap.remove(t);
            }
        }
        if swap.len() == offered { all } else { substituted(g, results, &swap) }
    }
}

/// The results with decisions read from rows, if the rows take less memory than those that the step
/// would have to save in order to decide again. `plain` are the results without such rows, and
/// `rows` are the parameters for all that a step can save.
fn decided_by_rows(
    g: &mut Graph,
    offer: &Offer<'_>,
    results: &[Term],
    (plain, decisions, rows): (&[Term], &HashMap<Term, Term>, &HashSet<Term>),
) -> Option<Vec<Term>> {
    let read = |g: &Graph, roots: &[Term]| -> HashSet<Term> {
        g.reachable(roots).into_iter().filter(|t| rows.contains(t)).collect()
    };
    let needed = read(g, plain);
    if decisions.is_empty() || needed.is_empty() {
        return None;
    }
    let all = offer.with_residuals(g, results, decisions);
    let left = read(g, &all);
    // A decision on rows that are read anyway is made again.
    let mut kept = HashMap::new();
    for (&t, &param) in decisions.iter().filter(|(_, param)| left.contains(param)) {
        let mut others = offer.swap.clone();
        others.extend(decisions.iter().filter(|d| *d.0 != t));
        let again = substituted(g, &[t], &others);
        if !read(g, &again).is_subset(&left) {
            kept.insert(t, param);
        }
    }
    let less = if kept.len() == decisions.len() { all } else { offer.with_residuals(g, results, &kept) };
    (memory(g, &read(g, &less)) < memory(g, &needed)).then_some(less)
}

/// The bytes of these rows for each number of axes whose sizes are not literals, the highest number
/// first.
fn memory(g: &Graph, rows: &HashSet<Term>) -> Vec<u64> {
    let mut bytes = vec![0_u64; MOST_AXES + 1];
    for &t in rows {
        let of_one = match g.elem(t) {
            Elem::Bool => 1,
            Elem::Real(_) | Elem::Int(_) => 8,
        };
        let sizes: Vec<Option<u64>> =
            g.shape(t).iter().map(|&n| g.int_value(n).and_then(|n| n.try_into().ok())).collect();
        let known: u64 = sizes.iter().flatten().fold(of_one, |all, &n| all.saturating_mul(n));
        let axes = sizes.iter().filter(|n| n.is_none()).count().min(MOST_AXES);
        let all = &mut bytes[MOST_AXES - axes];
        *all = all.saturating_add(known);
    }
    bytes
}

/// Computes rows of inner loops again, by a separate loop for each of these loops, if they take a
/// few operations on scalars and depend on no array. Examples are a position in a stack, and a sign
/// that alternates. If the loop may stop early, the number of its steps is found by the same loop.
fn counted_again(g: &mut Graph, terms: &[Term]) -> HashMap<Term, Term> {
    let mut loops: SortedMap<Term, Vec<Term>> = SortedMap::new();
    for &t in terms {
        if let Node::Proj(of, _) = *g.node(t) {
            loops.entry(of).or_default().push(t);
        }
    }
    let mut alone = HashMap::new();
    for (of, terms) in loops {
        if let Node::Scan(s) = &*g.node_rc(of) {
            counted_alone(g, s, &terms, &mut alone);
        }
    }
    alone
}

/// [`counted_again`] for one loop, of which these are results.
fn counted_alone(g: &mut Graph, s: &Scan, terms: &[Term], alone: &mut HashMap<Term, Term>) {
    let carries = s.init.len();
    let number = |g: &Graph, t: Term| if let Node::Proj(_, k) = *g.node(t) { k as usize } else { 0 };
    let (mut kept, mut rows) = (SortedSet::new(), Vec::new());
    for &t in terms {
        let row = number(g, t);
        if row >= carries
            && let Some(read) = read_by_cheap(g, s, row)
        {
            kept.extend(read);
            rows.push((t, row));
        }
    }
    if rows.is_empty() {
        return;
    }
    let order: Vec<usize> = kept.into_iter().collect();
    let mut args: Vec<Term> = s.body.params.iter().enumerate().map(|(n, ty)| g.param(n, ty.clone())).collect();
    for (new, &old) in order.iter().enumerate() {
        args[old] = g.param(new, s.body.params[old].clone());
    }
    let first = carries + s.captures.len();
    let (states, read): (Vec<usize>, Vec<usize>) = order.iter().partition(|&&n| n < carries);
    let (captured, consumed): (Vec<usize>, Vec<usize>) = read.iter().partition(|&&n| n < first);
    let results: Vec<Term> =
        states.iter().copied().chain(rows.iter().map(|r| r.1)).map(|n| s.body.results[n]).collect();
    let results = g.instantiate(&Body { params: s.body.params.clone(), results: results.into() }, &args).into();
    let again = g.scan(Scan {
        count: s.count,
        reverse: s.reverse,
        stop: s.stop.and_then(|stop| states.iter().position(|&n| n == stop)),
        init: states.iter().map(|&n| s.init[n]).collect(),
        captures: captured.iter().map(|&n| s.captures[n - carries]).collect(),
        xs: consumed.iter().map(|&n| s.xs[n - first]).collect(),
        body: Body { params: order.iter().map(|&n| s.body.params[n].clone()).collect(), results },
    });
    for (k, &(t, _)) in rows.iter().enumerate() {
        alone.insert(t, g.proj(again, states.len() + k));
    }
    for &t in terms.iter().filter(|_| s.stop.is_some()) {
        if let Some(k) = states.iter().position(|&n| n == number(g, t)) {
            alone.insert(t, g.proj(again, k));
        }
    }
}

/// If a row of a loop takes a few operations on scalars: the parameters that it depends on, through
/// all steps. Whether the loop stops counts as a part of the row.
fn read_by_cheap(g: &Graph, s: &Scan, row: usize) -> Option<SortedSet<usize>> {
    let carries = s.init.len();
    let (mut kept, mut stack, mut terms) = (SortedSet::new(), vec![row], HashSet::new());
    if let Some(stop) = s.stop {
        kept.insert(stop);
        stack.push(stop);
    }
    while let Some(k) = stack.pop() {
        for t in g.reachable(&[s.body.results[k]]) {
            let scalar = g.ty(t).as_array().is_some_and(|(_, shape)| shape.is_empty());
            let cheap = match g.node(t) {
                Node::Param(n, _) => {
                    if kept.insert(*n as usize) && (*n as usize) < carries {
                        stack.push(*n as usize);
                    }
                    true
                }
                Node::Prim(prim, _) => prim.is_elementwise() && !prim.is_expensive(),
                Node::Lit(_) | Node::Cond { .. } => true,
                Node::Size(..) | Node::Input(_) => !g.ty(t).is_real(),
                _ => false,
            };
            terms.insert(t);
            if !scalar || !cheap || terms.len() > MAX_OPERATIONS {
                return None;
            }
        }
    }
    Some(kept)
}

fn substituted(g: &mut Graph, roots: &[Term], swap: &HashMap<Term, Term>) -> Vec<Term> {
    Rewriter::default().run(g, roots, |_, t, _| swap.get(&t).copied())
}

/// Whether a loop starts with none of these arrays. Then it may read them, and does not change
/// them.
fn only_reads(g: &Graph, scan: Term, arrays: &[Term]) -> bool {
    let Node::Scan(s) = g.node(scan) else { return false };
    !g.reachable(&s.init).iter().any(|t| arrays.contains(t))
}

/// Whether rows of a loop are a carried array that each step computes as a whole. Then a step does
/// at least as much work as saving a row takes.
fn recomputed_rows(g: &Graph, t: Term) -> bool {
    let Node::Proj(scan, k) = *g.node(t) else { return false };
    let Node::Scan(s) = g.node(scan) else { return false };
    let row = s.body.results.get(k as usize);
    row.and_then(|&row| param_number(g, row)).is_some_and(|n| is_recomputed_per_iteration(g, s, n))
}

/// Whether each step computes a carried value as a whole, and keeps no part of its earlier state.
fn is_recomputed_per_iteration(g: &Graph, s: &Scan, n: usize) -> bool {
    let Some(&next) = s.body.results.get(n).filter(|_| n < s.init.len()) else { return false };
    let own = |t: Term| param_number(g, t) == Some(n);
    let mut stack = vec![next];
    let mut seen = HashSet::new();
    while let Some(t) = stack.pop() {
        if own(t) {
            return false;
        }
        match g.node(t) {
            _ if !seen.insert(t) => {}
            Node::Scatter { dst, .. } => stack.push(*dst),
            Node::Cond { then, other, .. } => stack.extend([*then, *other]),
            Node::Prim(Prim::Binary(Binary::Add) | Prim::Recast, args) => stack.extend(args.iter().copied()),
            Node::Param(..) | Node::Scan(_) | Node::Proj(..) => return false,
            _ => {}
        }
    }
    true
}

/// The carried array that a term reads as an element, a row, a part of a row, or a gather. The
/// array may be read in the state in which it is carried, or after elements have been written. A
/// single element may be read after inner loops have written elements.
fn part_of(g: &Graph, t: Term) -> Option<Term> {
    match g.node(t) {
        Node::Prim(Prim::Slice(_), args) if matches!(g.node(args[0]), Node::Gather { .. }) => part_of(g, args[0]),
        Node::Gather { src, index, .. } if !index.is_empty() => carried_as(g, *src, g.rank(t) == 0),
        _ => None,
    }
}

/// The parameter whose later state an array is: elements may have been written, also by inner loops
/// if `inner` is true, and conditionals may choose between such states.
fn carried_as(g: &Graph, t: Term, inner: bool) -> Option<Term> {
    let (mut found, mut stack, mut seen) = (None, vec![t], HashSet::new());
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        match g.node(t) {
            Node::Param(..) if found.is_none_or(|x| x == t) => found = Some(t),
            Node::Scatter { dst, .. } => stack.push(*dst),
            Node::Cond { then, other, .. } if g.rank(t) > 0 => stack.extend([*then, *other]),
            Node::Proj(of, k) if inner => match g.node(*of) {
                Node::Scan(s) => stack.push(*s.init.get(*k as usize)?),
                _ => return None,
            },
            _ => return None,
        }
    }
    found
}

/// Whether it is an element of exactly this array, and not of a later state.
fn reads(g: &Graph, t: Term, x: Term) -> bool {
    matches!(g.node(t), Node::Gather { src, .. } if *src == x)
}

fn param_number(g: &Graph, t: Term) -> Option<usize> {
    match g.node(t) {
        Node::Param(k, _) => Some(*k as usize),
        _ => None,
    }
}

/// Whether the index of an element costs almost nothing: a few operations on integers of the step.
fn cheap(g: &Graph, t: Term) -> bool {
    let Node::Gather { index, .. } = g.node(t) else { return false };
    let mut stack = index.to_vec();
    for _ in 0..MAX_OPERATIONS {
        let Some(t) = stack.pop() else { return true };
        match g.node(t) {
            Node::Lit(_) | Node::Param(..) | Node::Input(_) | Node::Size(..) => {}
            Node::Prim(Prim::Int(..), args) => stack.extend(args.iter().copied()),
            _ => return false,
        }
    }
    false
}

/// Whether it is an integer or a condition that takes a loop or a pass over an array: the position
/// of an element, whether there is one, how many there are.
fn found_by_search(g: &Graph, t: Term) -> bool {
    if g.rank(t) > 0 || g.ty(t).is_real() {
        return false;
    }
    match g.node(t) {
        Node::Prim(Prim::Reduce(..) | Prim::Sum(_), args) => g.shape(args[0]).iter().any(|&n| g.int_value(n).is_none()),
        Node::Proj(of, k) => match g.node(*of) {
            Node::Scan(s) => (*k as usize) < s.init.len() && (s.stop.is_some() || g.int_value(s.count).is_none()),
            _ => false,
        },
        Node::Cond { cond, then, other } => [cond, then, other].into_iter().any(|&t| found_by_search(g, t)),
        _ => false,
    }
}

/// Whether only the elements of a term before an index that the data determine are read, such as
/// those of a group. Such a term is recomputed, unless it is a call or a search: its row would have
/// room for the longest group.
fn is_ragged(g: &Graph, s: &Scan, masks: Option<&Vec<Guard>>) -> bool {
    masks.is_some_and(|masks| masks.iter().any(|&(mask, holds)| holds && ends_at_data(g, s, mask)))
}

/// Whether it is a truth value or an integer that a step finds by a comparison, or by rounding a
/// number. It is saved if the step would otherwise save more (the operands of the comparison) only
/// in order to decide again.
fn decides(g: &Graph, t: Term) -> bool {
    match g.node(t) {
        Node::Prim(Prim::Compare(_), _) => g.rank(t) == 0,
        Node::Prim(Prim::Cast(_), args) => g.rank(t) == 0 && !g.ty(t).is_real() && g.ty(args[0]).is_real(),
        _ => false,
    }
}

/// Whether it is a result of a loop whose steps are checkpoints.
fn of_checkpoint(g: &Graph, t: Term) -> bool {
    match g.node(t) {
        Node::Proj(of, _) => matches!(g.node(*of), Node::Scan(s) if g.has_checkpoints(s)),
        _ => false,
    }
}

fn expensive(g: &Graph, t: Term) -> bool {
    match g.node(t) {
        // The result has fewer axes than an operand.
        Node::Prim(Prim::Sum(_) | Prim::Contract(_), args) => args.iter().any(|&x| g.rank(x) > g.rank(t)),
        Node::Prim(prim, _) => prim.is_expensive(),
        _ => false,
    }
}
