//! The residuals of a loop: what it saves of each step for its derivative, beside its carried
//! values. The loop offers all of them. A row that the derived body does not read is not emitted
//! (`passes::lowering`); that holds for carried values too.
//!
//! The rule: what is cheap is computed again from residuals. Residuals are
//! - results of expensive functions (the tables' cost: exponentials, logarithms, powers) and sums,
//!   if they differ from step to step;
//! - elements and parts that a step reads of a carried array, or of what the step has made of it so
//!   far by writing elements of it, under conditions or not, if the derived body reads nothing else
//!   of that array: then a step saves these and not the array;
//! - what an inner loop has saved of its steps, and how many it has taken, if these are no carried
//!   arrays (but such as a step computes as a whole) and the loop would be run again from a carried
//!   array that the derived body reads nothing else of: then the outer loop saves neither the array
//!   nor runs the inner loop again.
//!
//! So what is saved is at most what the function has read. Must never compute in a step what the
//! function computes in an arm only, but for an index: what is saved is a choice under the same
//! conditions.

use std::collections::{HashMap, HashSet};

use crate::passes::rewrite::Rewriter;
use ad_ir::analysis::guards::Guard;
use ad_ir::ir::{Graph, Node, Scan, Term, Type};
use ad_ir::prim::{Binary, Prim};

use super::delta::{Delta, Dual};

/// A term under more conditions than these is computed again.
const DEEPEST: usize = 8;
/// Operations of an index that may be computed outside of the arm that reads there.
const CHEAP: usize = 16;

/// Why a term is a residual.
#[derive(Clone, Debug)]
pub(super) enum Why {
    /// It is expensive.
    Expensive,
    /// It is a part of this array.
    Part(Term),
    /// It is a result of this loop, which reads these carried arrays; whether it is its carried
    /// arrays, and whether the loop changes none of the arrays that it reads.
    Loop { scan: Term, arrays: Vec<Term>, whole: bool, reads: bool },
}

/// The terms of a body that are offered, and what a step saves for them: under the conditions under
/// which the step comes to them.
pub(super) fn residuals(g: &mut Graph, body: &Dual, s: &Scan) -> Vec<(Term, Term, Why)> {
    let found = candidates(g, body, s);
    let under = |g: &mut Graph, t: Term, guard: Vec<Guard>| {
        let zeros = crate::passes::trip_counts::zeros(g, t);
        guard.iter().fold(t, |row, &(c, value)| if value { g.cond(c, row, zeros) } else { g.cond(c, zeros, row) })
    };
    let masks = masks(g, &body.primal);
    found
        .into_iter()
        .map(|(t, guard, of)| {
            let mut row = t;
            for &(mask, value) in masks.get(&t).into_iter().flatten() {
                let zeros = crate::passes::trip_counts::zeros(g, t);
                row = if value { g.select(mask, row, zeros) } else { g.select(mask, zeros, row) };
            }
            if !guard.is_empty() {
                row = under(g, row, guard);
            }
            (t, row, of)
        })
        .collect()
}

/// For each real array the masks that all its uses have in common. Where a mask does not hold, no
/// use reads the element, so a zero will do.
fn masks(g: &Graph, roots: &[Term]) -> HashMap<Term, Vec<Guard>> {
    let mut all: HashMap<Term, Vec<Guard>> = roots.iter().map(|&t| (t, Vec::new())).collect();
    let give = |all: &mut HashMap<Term, Vec<Guard>>, t: Term, set: &[Guard]| {
        all.entry(t).and_modify(|old| old.retain(|l| set.contains(l))).or_insert_with(|| set.to_vec());
    };
    for t in g.reachable(roots).into_iter().rev() {
        let own = all.get(&t).cloned().unwrap_or_default();
        match g.node(t) {
            Node::Prim(Prim::Select, args) if g.rank(args[0]) > 0 => {
                let zero = |t: Term| ad_ir::analysis::zeros::is_blank(g, t);
                give(&mut all, args[0], &[]);
                for (k, value, other) in [(1, true, 2), (2, false, 1)] {
                    let mut set = own.clone();
                    if zero(args[other]) && set.len() < DEEPEST {
                        set.push((args[0], value));
                    }
                    give(&mut all, args[k], &set);
                }
            }
            Node::Prim(Prim::Unary(_) | Prim::Binary(_), args) if g.rank(t) > 0 => {
                args.iter().for_each(|&c| give(&mut all, c, &own));
            }
            node => node.for_each_child(|c| give(&mut all, c, &[])),
        }
    }
    all
}

/// Terms, and the conditions that all their uses have in common.
fn candidates(g: &Graph, body: &Dual, s: &Scan) -> Vec<(Term, Vec<Guard>, Why)> {
    let guards = ad_ir::analysis::guards::guards(g, &body.primal);
    let carries = s.init.len();
    let fixed = carries..carries + s.captures.len();
    let carried = |t: Term| param_number(g, t).is_some_and(|k| k < carries) && g.rank(t) > 0;
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
        let Some(guard) = guards.get(&t).filter(|set| set.len() <= DEEPEST) else { continue };
        match part_of(g, t).filter(|&x| carried(x)) {
            // Of what the step has changed there may be nothing outside of the arm that changes it.
            Some(x) if g.rank(t) == 0 && cheap(g, t) && reads(g, t, x) => found.push((t, Vec::new(), Why::Part(x))),
            Some(x) => found.push((t, guard.clone(), Why::Part(x))),
            None if g.ty(t).is_real() && expensive(g, t) => found.push((t, guard.clone(), Why::Expensive)),
            _ => {}
        }
    }
    for delta in &body.deltas {
        let Delta::Scan(inner) = delta else { continue };
        let left = recomputed_results(g, &body.primal, inner.saved.iter().chain(inner.residuals.iter().map(|k| &k.1)));
        let saved = inner.saved.iter().map(|&t| (t, true));
        let all = saved.chain(inner.residuals.iter().map(|k| (k.1, false))).chain(inner.taken.map(|t| (t, false)));
        let overwritten = inner.undo.iter().flat_map(|u| &u.overwritten).map(|o| (o.1, false));
        let all = all.chain(left.into_iter().map(|t| (t, false))).chain(overwritten);
        let mut arrays: Option<Vec<Term>> = None;
        for (t, saved) in all {
            let Node::Proj(scan, _) = *g.node(t) else { continue };
            if !varies.contains(&scan) {
                continue;
            }
            let Some(guard) = guards.get(&scan).filter(|set| set.len() <= DEEPEST) else { continue };
            let arrays = arrays
                .get_or_insert_with(|| g.reachable(&[scan]).into_iter().filter(|&x| carried(x)).collect())
                .clone();
            if !arrays.is_empty() && matches!(g.ty(t), Type::Array(..)) {
                let whole = saved && g.rank(t) > 1 && !recomputed_rows(g, t);
                let reads = only_reads(g, scan, &arrays);
                found.push((t, guard.clone(), Why::Loop { scan, arrays, whole, reads }));
            }
        }
    }
    let mut seen = HashSet::new();
    found.retain(|(t, ..)| seen.insert(*t));
    found
}

/// What a loop leaves behind of the values that it carries, if it computes them as a whole in each
/// step: it is known by rows of it.
fn recomputed_results<'a>(g: &Graph, roots: &[Term], rows: impl Iterator<Item = &'a Term>) -> Vec<Term> {
    let loops: HashSet<Term> =
        rows.filter_map(|&t| if let Node::Proj(s, _) = *g.node(t) { Some(s) } else { None }).collect();
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

/// Replaces residuals by these parameters; which of them the results now read. `states` are states
/// of carried arrays that the derived loop has otherwise, and what stands for them: these arrays
/// are not saved, nor are parts of them, unless these are wanted.
pub(super) fn use_residuals(
    g: &mut Graph,
    results: &mut Vec<Term>,
    (terms, params): (&[(Term, Why)], &[Term]),
    (states, parts): (&HashMap<Term, Term>, bool),
) -> Vec<usize> {
    let before: HashSet<Term> = g.reachable(results).into_iter().collect();
    // A loop whose carried arrays are read saves no more if it is run again from one of them.
    let again: HashSet<Term> = terms
        .iter()
        .filter_map(|(t, of)| match of {
            Why::Loop { scan, whole: true, .. } if before.contains(t) => Some(*scan),
            _ => None,
        })
        .collect();
    let mut swap: HashMap<Term, Term> = states.clone();
    for ((t, of), &param) in terms.iter().zip(params) {
        let had = match of {
            // The array that is changed back is there to run the loop again.
            Why::Loop { arrays, reads: true, .. }
                if g.rank(*t) > 0 && arrays.iter().all(|x| states.contains_key(x)) =>
            {
                true
            }
            Why::Loop { scan, .. } => again.contains(scan),
            Why::Part(x) => !parts && states.contains_key(x) && g.rank(*t) > 0,
            Why::Expensive => false,
        };
        if !had && !states.contains_key(t) {
            swap.insert(*t, param);
        }
    }
    // An array that is read otherwise too is saved anyway.
    let all = substituted(g, results, &swap);
    let reach: HashSet<Term> = g.reachable(&all).into_iter().collect();
    let offered = swap.len();
    for (t, of) in terms {
        let worth = match of {
            Why::Expensive => true,
            Why::Part(x) => !reach.contains(x),
            Why::Loop { arrays, .. } => arrays.iter().any(|x| !reach.contains(x)),
        };
        if !worth && !states.contains_key(t) {
            swap.remove(t);
        }
    }
    *results = if swap.len() == offered { all } else { substituted(g, results, &swap) };
    let reach: HashSet<Term> = g.reachable(results).into_iter().collect();
    (0..terms.len()).filter(|&k| reach.contains(&params[k])).collect()
}

fn substituted(g: &mut Graph, roots: &[Term], swap: &HashMap<Term, Term>) -> Vec<Term> {
    Rewriter::default().run(g, roots, |_, t, _| swap.get(&t).copied())
}

/// Whether a loop begins with none of these arrays: it may read them, and leaves them as they are.
fn only_reads(g: &Graph, scan: Term, arrays: &[Term]) -> bool {
    let Node::Scan(s) = g.node(scan) else { return false };
    !g.reachable(&s.init).iter().any(|t| arrays.contains(t))
}

/// Whether rows of a loop are a carried array that each step computes as a whole: a step's work is
/// then no less than what a row of it takes.
fn recomputed_rows(g: &Graph, t: Term) -> bool {
    let Node::Proj(scan, k) = *g.node(t) else { return false };
    let Node::Scan(s) = g.node(scan) else { return false };
    let row = s.body.results.get(k as usize);
    row.and_then(|&row| param_number(g, row)).is_some_and(|n| is_recomputed_per_iteration(g, s, n))
}

/// Whether each step computes a carried value as a whole, and does not go on with some of what it
/// was.
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

/// The array of which it is an element, a row, a part of a row, or what is read there at several
/// indices: as it is carried, or with elements written already.
fn part_of(g: &Graph, t: Term) -> Option<Term> {
    match g.node(t) {
        Node::Prim(Prim::Slice(_), args) if matches!(g.node(args[0]), Node::Gather { .. }) => part_of(g, args[0]),
        Node::Gather { src, index, .. } if !index.is_empty() => carried_as(g, *src),
        _ => None,
    }
}

/// The parameter of which an array is a later state: elements of it are written, and arms choose
/// between such states.
fn carried_as(g: &Graph, t: Term) -> Option<Term> {
    let (mut found, mut stack, mut seen) = (None, vec![t], HashSet::new());
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        match g.node(t) {
            Node::Param(..) if found.is_none_or(|x| x == t) => found = Some(t),
            Node::Scatter { dst, .. } => stack.push(*dst),
            Node::Cond { then, other, .. } if g.rank(t) > 0 => stack.extend([*then, *other]),
            _ => return None,
        }
    }
    found
}

/// Whether it is an element of this very array.
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
    for _ in 0..CHEAP {
        let Some(t) = stack.pop() else { return true };
        match g.node(t) {
            Node::Lit(_) | Node::Param(..) | Node::Input(_) | Node::Size(..) => {}
            Node::Prim(Prim::Int(..), args) => stack.extend(args.iter().copied()),
            _ => return false,
        }
    }
    false
}

fn expensive(g: &Graph, t: Term) -> bool {
    match g.node(t) {
        // What has fewer axes than what it is made of.
        Node::Prim(Prim::Sum(_) | Prim::Contract(_), args) => args.iter().any(|&x| g.rank(x) > g.rank(t)),
        Node::Prim(prim, _) => prim.is_expensive(),
        _ => false,
    }
}
