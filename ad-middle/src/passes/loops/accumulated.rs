//! Scatter-accumulate fusion in inner loops. An inner loop makes rows that are then added to an
//! array: each to its own row, or at a computed place, where an outer loop decides their number.
//! The inner loop adds them itself, so no array of the rows is made in each iteration of the outer
//! loop. An inner loop of a derivative that adds to zeros begins with the array of the outer loop
//! to which its sum is added, and a call adds to a part of an array in the same way (`onto_part`).
//!
//! This pass must never fuse a loop that reads the array to which is added: it would read sums that
//! are not complete. It must never reorder a sum that a decision depends on.

use ad_ir::sorted::SortedSet;
use std::collections::HashSet;

use super::onto_part::{self, WithPart};
use crate::passes::rewrite::{Rewriter, with_rewritten_children};
use crate::passes::{Context, Pass};
use ad_ir::analysis::bounds::bound;
use ad_ir::analysis::sizes::Fixed;
use ad_ir::analysis::uses::Uses;
use ad_ir::analysis::zeros::is_zero;
use ad_ir::analysis::{Analyses, Reachable, once};
use ad_ir::ir::{Graph, Node, OpenLoop, Put, Scan, Term, Var};
use ad_ir::prim::{Binary, Prim};

/// The pass.
pub(crate) const PASS: Pass = Pass {
    name: "accumulate",
    rules: || vec!["accumulate"],
    run: |g, roots, cx| roots.map(|all| pass(g, all, cx)),
    simplified: true,
};

fn pass(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let exact = cx.exact(g);
    let roots = &in_parts(g, roots, cx)[..];
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run(g, roots, |g, t, done| {
        let Node::Scan(mut scan) = with_rewritten_children(g, t, done) else { return None };
        let mut results = pass(g, &scan.body.results, cx);
        let summed =
            |g: &Graph, t: Term| matches!(g.node(t), Node::Prim(Prim::Binary(Binary::Add), _) if g.rank(t) > 0);
        let decides = |g: &Graph| g.reachable(&scan.body.results).iter().any(|&t| exact.contains(&t) && summed(g, t));
        while let Some((sum, whole, of, new)) = started_with_array(g, &results, cx.analyses()).filter(|_| !decides(g)) {
            let mut rewriter = Rewriter::new(&*cx.get::<Fixed>(g, &results));
            rewriter.set(of, new);
            rewriter.set(sum, whole);
            results = rewriter.substitute(g, &results);
        }
        while let Some(fusion) = candidate(g, &results, scan.init.len(), cx.analyses()) {
            results = fused(g, &results, &fusion, cx);
        }
        scan.body.results = results.into();
        Some(g.scan(*scan))
    })
}

/// The roots with calls that add to parts of arrays.
fn in_parts(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let mut roots = roots.to_vec();
    let calls = |g: &Graph, t: Term| matches!(g.node(t), Node::Prim(Prim::Pad(_), _));
    let exact = cx.exact(g);
    loop {
        let (reach, uses) = (cx.get::<Reachable>(g, &roots), cx.get::<Uses>(g, &roots));
        if !reach.iter().any(|&t| calls(g, t)) {
            return roots;
        }
        let found = reach.iter().find_map(|&t| {
            let sums = matches!(g.node(t), Node::Prim(Prim::Binary(Binary::Add), _));
            let summed = sums && g.rank(t) == 1 && !exact.contains(&t);
            Some((t, summed.then(|| onto_part::summed(g, t, &uses)).flatten()?))
        });
        let Some((t, WithPart { sum, replaced })) = found else { return roots };
        let mut rewriter = Rewriter::new(&*cx.get::<Fixed>(g, &roots));
        replaced.into_iter().for_each(|(of, new)| rewriter.set(of, new));
        rewriter.set(t, sum);
        roots = rewriter.substitute(g, &roots);
    }
}

/// Rows of a loop that are added to an array.
struct Fusion {
    /// The sum.
    sum: Term,
    /// The array without the rows.
    onto: Term,
    of: Term,
    scan: Scan,
    /// The index of the result that consists of the rows.
    row: usize,
    place: Place,
}

/// The index at which a row is added, by the variable. `None`: it is the row's own index.
type Place = Option<(Var, Term)>;

/// `carries`: the number of values that the outer loop carries.
fn candidate(g: &Graph, results: &[Term], carries: usize, analyses: &mut Analyses) -> Option<Fusion> {
    let (reach, uses) = (analyses.get::<Reachable>(g, results), analyses.get::<Uses>(g, results));
    reach.iter().find_map(|&sum| {
        sums_of_rows(g, sum).into_iter().find_map(|(onto, rows, place)| {
            let Node::Proj(of, row) = *g.node(rows) else { return None };
            let Node::Scan(scan) = g.node(of) else { return None };
            let (row, plain) = (row as usize, scan.stop.is_none() && g.is_open(of));
            let alone = uses[&rows] == 1 && uses[&onto] == 1 && row >= scan.init.len();
            if !plain || !alone || (place.is_none() && !is_accumulator(g, onto, carries)) {
                return None;
            }
            let read: Vec<Term> = place.iter().map(|&(_, index)| index).chain([onto]).collect();
            let independent = !g.reachable(&read).contains(&of) && !g.reachable(&[of]).contains(&onto);
            let limited = independent && (place.is_none() || bound(g, scan, analyses).is_some());
            limited.then(|| Fusion { sum, onto, of, scan: (**scan).clone(), row, place })
        })
    })
}

/// Whether an array is one that the outer loop carries, or what has been made of it in place. Any
/// other would have to be stored for the inner loop to change it.
fn is_accumulator(g: &Graph, array: Term, carries: usize) -> bool {
    match g.node(array) {
        Node::Param(k, _) => (*k as usize) < carries,
        Node::Scatter { dst, .. } => is_accumulator(g, *dst, carries),
        Node::Proj(of, k) => match g.node(*of) {
            Node::Scan(scan) => scan.init.get(*k as usize).is_some_and(|&t| is_accumulator(g, t, carries)),
            _ => false,
        },
        _ => false,
    }
}

/// The ways to see a term as an array to which rows are added: the array, the rows, and the index
/// at which each is added.
fn sums_of_rows(g: &Graph, sum: Term) -> Vec<(Term, Term, Place)> {
    match g.node(sum) {
        Node::Scatter { put: Put::Add, dst, src, vars, index } => match (&**vars, &**index) {
            (&[var], &[index]) if g.rank(*src) == 1 && g.free(index).iter().all(|&v| v == var) => {
                vec![(*dst, *src, Some((var, index)))]
            }
            _ => Vec::new(),
        },
        Node::Prim(Prim::Binary(Binary::Add), args) if g.rank(sum) > 0 => {
            vec![(args[0], args[1], None), (args[1], args[0], None)]
        }
        _ => Vec::new(),
    }
}

/// The roots with the loop that adds the rows itself.
fn fused(g: &mut Graph, roots: &[Term], fusion: &Fusion, cx: &mut Context) -> Vec<Term> {
    let Fusion { sum, onto, of, scan, row, place } = fusion;
    let (carries, results) = (scan.init.len(), scan.body.results.len());
    let step = g.fresh();
    let at = g.mk(Node::Var(step));
    let init: Vec<Term> = scan.init.iter().chain([onto]).copied().collect();
    let carried: Vec<Term> = init.iter().map(|&t| g.placeholder(g.ty(t).clone())).collect();
    let rows: Vec<Term> = scan.xs.iter().map(|&x| g.index(x, &[at])).collect();
    let args: Vec<Term> = carried[..carries].iter().chain(&*scan.captures).chain(&rows).copied().collect();
    let mut next = g.instantiate(&scan.body, &args);
    let place = place.map_or(at, |(var, index)| g.subst_vars(index, &[(var, at)]));
    let added = with_row(g, carried[carries], next[*row], place);
    next.insert(carries, added);
    let new = g.close_loop(&OpenLoop {
        count: scan.count,
        reverse: scan.reverse,
        stop: None,
        step,
        init,
        carried,
        results: next,
    });
    let mut rewriter = Rewriter::new(&*cx.get::<Fixed>(g, roots));
    for k in 0..results {
        let old = g.proj(*of, k);
        let replacement = g.proj(new, k + usize::from(k >= carries));
        rewriter.set(old, replacement);
    }
    let whole = g.proj(new, carries);
    rewriter.set(*sum, whole);
    rewriter.substitute(g, roots)
}

/// An array with a row added at an index. If the row is zero but for some elements, or unless a
/// condition holds, only these elements are added, or only then.
fn with_row(g: &mut Graph, array: Term, row: Term, at: Term) -> Term {
    if g.rank(row) > 0 {
        let node = g.node_rc(row);
        match *node {
            _ if is_zero(g, row) => return array,
            Node::Cond { cond, then, other } if is_zero(g, then) || is_zero(g, other) => {
                let (then, other) = (with_row(g, array, then, at), with_row(g, array, other, at));
                return g.cond(cond, then, other);
            }
            Node::Scatter { put: Put::Add, dst, src, .. } => {
                let (vars, index) = g.open_binder(&node);
                let array = with_row(g, array, dst, at);
                let index: Vec<Term> = std::iter::once(at).chain(index).collect();
                return g.scatter(array, src, &vars, &index);
            }
            _ => {}
        }
    }
    let vars: Vec<Var> = (0..g.rank(row)).map(|_| g.fresh()).collect();
    let index: Vec<Term> = std::iter::once(at).chain(vars.iter().map(|&v| g.mk(Node::Var(v)))).collect();
    g.scatter(array, row, &vars, &index)
}

/// Finds a sum of an array and the result of a reverse loop that accumulates into zeros. Returns
/// the sum, the result of the loop that begins with the array instead, the old loop and the new
/// one.
fn started_with_array(g: &mut Graph, results: &[Term], analyses: &mut Analyses) -> Option<(Term, Term, Term, Term)> {
    let (reach, uses) = (analyses.get::<Reachable>(g, results), analyses.get::<Uses>(g, results));
    let found = reach.iter().find_map(|&sum| {
        let Node::Prim(Prim::Binary(Binary::Add), args) = g.node(sum) else { return None };
        [(args[0], args[1]), (args[1], args[0])].into_iter().find_map(|(onto, added)| {
            let (under, part) = match *g.node(added) {
                Node::Cond { cond, then, other } if is_zero(g, other) => (Some((cond, true)), then),
                Node::Cond { cond, then, other } if is_zero(g, then) => (Some((cond, false)), other),
                _ => (None, added),
            };
            let Node::Proj(of, k) = *g.node(part) else { return None };
            let Node::Scan(scan) = g.node(of) else { return None };
            let k = k as usize;
            let plain = scan.reverse && scan.stop.is_none() && g.is_open(of) && g.rank(sum) > 0;
            let once = uses[&added] == 1 && uses[&part] == 1 && (under.is_none() || g.is_one_call(scan));
            if !plain || k >= scan.init.len() || !once || !is_zero(g, scan.init[k]) {
                return None;
            }
            let independent = !g.reachable(&[onto]).contains(&of);
            (independent && only_adds(g, scan, k, false)).then(|| (sum, (onto, under), of, k, (**scan).clone()))
        })
    });
    let (sum, (onto, under), of, k, mut scan) = found?;
    scan.init[k] = onto;
    let new = g.scan(scan);
    let whole = g.proj(new, k);
    let whole = match under {
        Some((cond, true)) => g.cond(cond, whole, onto),
        Some((cond, false)) => g.cond(cond, onto, whole),
        None => whole,
    };
    Some((sum, whole, of, new))
}

/// Adds cotangent `k` of these to an array, in the order in which the cotangent is added up. A
/// chain of additions that begins with zeros begins with the array instead, and so does a loop. The
/// other cotangents are those of the same loops then.
pub(crate) fn added_to(g: &mut Graph, array: Term, all: &mut [Term], k: usize) {
    let mut begun = Vec::new();
    let uses = once::<Uses>(g, all);
    all[k] = with_array(g, array, all[k], (&uses, &mut begun));
    for n in 0..begun.len() {
        let (of, new) = begun[n];
        let later = begun[n + 1..].iter().flat_map(|&(of, new)| [of, new]);
        let old: Vec<Term> = all.iter().copied().chain(later).collect();
        let mut rewriter = Rewriter::new(&once::<Fixed>(g, &old));
        rewriter.set(of, new);
        let mut new = rewriter.substitute(g, &old).into_iter();
        all.iter_mut().for_each(|t| *t = new.next().unwrap_or(*t));
        for pair in &mut begun[n + 1..] {
            *pair = (new.next().unwrap_or(pair.0), new.next().unwrap_or(pair.1));
        }
    }
}

/// The sum of an array and a cotangent. `begun` gets the loops that begin with another array now.
fn with_array(
    g: &mut Graph,
    array: Term,
    t: Term,
    (uses, begun): (&onto_part::Counts, &mut Vec<(Term, Term)>),
) -> Term {
    if is_zero(g, t) {
        return array;
    }
    match g.node(t).clone() {
        Node::Cond { cond, then, other } => {
            let (then, other) = (with_array(g, array, then, (uses, begun)), with_array(g, array, other, (uses, begun)));
            g.cond(cond, then, other)
        }
        Node::Prim(Prim::Binary(Binary::Add), args) => {
            let first = with_array(g, array, args[0], (uses, begun));
            with_array(g, first, args[1], (uses, begun))
        }
        Node::Scatter { put: Put::Add, dst, .. } => {
            let dst = with_array(g, array, dst, (uses, begun));
            g.onto(t, dst)
        }
        Node::Prim(Prim::Onto(..), args) => {
            let dst = with_array(g, array, args[args.len() - 1], (uses, begun));
            g.onto(t, dst)
        }
        Node::Proj(of, k) => {
            let k = k as usize;
            let Node::Scan(mut scan) = g.node(of).clone() else { return g.add(array, t) };
            let twice = begun.iter().any(|b| b.0 == of);
            if k >= scan.init.len() || twice || depends(g, array, of) || !only_adds(g, &scan, k, true) {
                return g.add(array, t);
            }
            scan.init[k] = with_array(g, array, scan.init[k], (uses, begun));
            let made = g.scan(*scan);
            begun.push((of, made));
            g.proj(made, k)
        }
        Node::Prim(Prim::Pad(_), _) => match onto_part::added(g, array, t, uses) {
            Some(WithPart { sum, replaced }) => {
                begun.extend(replaced);
                sum
            }
            None => g.add(array, t),
        },
        _ => g.add(array, t),
    }
}

/// Whether a sum so far depends on a loop. The loop cannot begin with it then.
fn depends(g: &Graph, sum: Term, of: Term) -> bool {
    g.reachable(&[sum]).contains(&of)
}

/// Whether each step adds to the carried array k, and reads it nowhere. With `sums` it may add
/// whole arrays, and inner loops may add to it; otherwise it changes only some elements.
fn only_adds(g: &Graph, scan: &Scan, k: usize, sums: bool) -> bool {
    let is_own = |t: Term| matches!(g.node(t), Node::Param(n, _) if *n as usize == k);
    let reads = |ts: &[Term]| read(g, ts).contains(&k);
    let others: Vec<Term> = scan.body.results.iter().enumerate().filter(|(n, _)| *n != k).map(|(_, &t)| t).collect();
    let mut stack = vec![scan.body.results[k]];
    while let Some(t) = stack.pop() {
        match g.node(t) {
            _ if is_own(t) => {}
            Node::Scatter { put: Put::Add, dst, src, index, .. } => {
                if reads(&[*src]) || reads(index) {
                    return false;
                }
                stack.push(*dst);
            }
            Node::Prim(Prim::Onto(..), args) => {
                let (given, onto) = args.split_at(args.len() - 1);
                if reads(given) {
                    return false;
                }
                stack.extend(onto);
            }
            Node::Proj(of, n) if sums => {
                let (Node::Scan(inner), n) = (g.node(*of), *n as usize) else { return false };
                let Some(&begin) = inner.init.get(n) else { return false };
                let others = inner.init.iter().enumerate().filter(|(m, _)| *m != n).map(|(_, &t)| t);
                let given: Vec<Term> = others.chain(inner.captures.iter().chain(&inner.xs).copied()).collect();
                if reads(&given) || !only_adds(g, inner, n, sums) {
                    return false;
                }
                stack.push(begin);
            }
            Node::Prim(Prim::Binary(Binary::Add), args) if sums && !reads(&args[1..]) => stack.push(args[0]),
            Node::Prim(Prim::Binary(Binary::Add), args) if sums && !reads(&args[..1]) => stack.push(args[1]),
            Node::Cond { cond, then, other } if !reads(&[*cond]) => stack.extend([*then, *other]),
            _ => return false,
        }
    }
    !reads(&others)
}

/// The numbers of the parameters of a body that terms of it depend on. A result of an inner loop
/// depends only on those initial values from which its own steps are computed.
fn read(g: &Graph, terms: &[Term]) -> SortedSet<usize> {
    let (mut found, mut seen, mut stack) = (SortedSet::new(), HashSet::new(), terms.to_vec());
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        let of = match g.node(t) {
            Node::Param(n, _) => {
                found.insert(*n as usize);
                continue;
            }
            Node::Proj(of, k) => Some((*of, *k as usize)),
            _ => None,
        };
        match of.map(|(of, k)| (g.node(of), k)) {
            Some((Node::Scan(inner), k)) => {
                let mut needed: SortedSet<usize> = inner.stop.into_iter().chain([k]).collect();
                let mut open: Vec<usize> = needed.iter().copied().collect();
                while let Some(k) = open.pop() {
                    let carried = read(g, &inner.body.results[k..=k]);
                    open.extend(carried.into_iter().filter(|&n| n < inner.init.len() && needed.insert(n)));
                }
                stack.extend(inner.init.iter().enumerate().filter(|(n, _)| needed.contains(n)).map(|(_, &t)| t));
                stack.extend(inner.captures.iter().chain(&inner.xs).chain([&inner.count]));
            }
            _ => g.node(t).for_each_child(|c| stack.push(c)),
        }
    }
    found
}
