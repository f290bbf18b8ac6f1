//! Scalar replacement of the small arrays that a loop carries: a state of four numbers, a 3 x 3
//! rotation. The loop carries the elements instead. Then they stay in registers from step to step,
//! zeros and ones of a constant matrix disappear, and the derivative saves only the elements that
//! it reads. The replacement is tried. An array stays an array if the step still reads it as a
//! whole, if its next value is still computed as a whole, or if functions of its elements would no
//! longer be computed side by side. An array that a step only saves is stacked for that.
//!
//! This pass must never change the order of a sum.

use std::collections::HashSet;

use crate::passes::Pass;
use crate::passes::rewrite::{Rewriter, with_rewritten_children};
use crate::passes::simplify::simplify_exactly;
use crate::passes::unroll::{in_loop, small_sizes, unravel};
use ad_ir::analysis::sizes::Fixed;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type};
use ad_ir::prim::Prim;
use ad_ir::prim::scalar::EXPENSIVE;

/// The maximum number of terms in the body of a loop after the replacement.
const MAX_TERMS: usize = 1024;
/// The number of functions that a step may compute one by one instead of side by side.
const MAX_MORE_FUNCTIONS: usize = 4;

/// The pass.
///
/// | rule | before | after |
/// | --- | --- | --- |
/// | carried scalars | a carried array of literal sizes | its elements |
pub(crate) const PASS: Pass = Pass {
    name: "carried_scalars",
    rules: || vec!["carried_scalars"],
    run: |g, roots, cx| roots.map(|all| pass(g, all, &cx.get::<Fixed>(g, all))),
    simplified: true,
};

/// The roots with loops replaced, inner loops first.
fn pass(g: &mut Graph, roots: &[Term], fixed: &HashSet<Term>) -> Vec<Term> {
    Rewriter::new(fixed).run(g, roots, |g, t, done| {
        let Node::Scan(scan) = with_rewritten_children(g, t, done) else { return None };
        let mut scan = *scan;
        scan.body.results = pass(g, &scan.body.results, fixed).into();
        Some(match replaced(g, t, &scan) {
            Some(results) => g.tuple(&results),
            None => g.scan(scan),
        })
    })
}

/// The results of a loop that carries elements instead of small arrays.
fn replaced(g: &mut Graph, t: Term, scan: &Scan) -> Option<Vec<Term>> {
    if scan.body.params.iter().any(|ty| matches!(ty, Type::Tuple(_))) {
        return None;
    }
    let computed = at_computed_indices(g, &scan.body.results);
    let mut arrays: Vec<Option<Vec<usize>>> = (0..scan.init.len())
        .map(|k| candidate(g, scan, k).filter(|_| !computed.contains(&scan.body.params[k])))
        .collect();
    // Each attempt either succeeds or leaves out an array.
    while arrays.iter().any(Option::is_some) {
        let new = elementwise(g, scan, &arrays);
        let kept = whole(g, &new, &arrays);
        if kept.is_empty() {
            let functions = |scan: &Scan| functions(g, &scan.body.results);
            let terms = g.reachable(&new.body.results).len();
            if terms > MAX_TERMS || functions(&new) > functions(scan) + MAX_MORE_FUNCTIONS {
                return None;
            }
            let count = arrays.iter().flatten().count();
            let why = || format!("({count} arrays, whose elements are computed one by one)");
            return choose(Kind::CarriedScalars, (t.index(), count), true, why).then(|| results(g, new, &arrays));
        }
        kept.into_iter().for_each(|k| arrays[k] = None);
    }
    None
}

/// The sizes of a carried array, if it is small.
fn candidate(g: &Graph, scan: &Scan, k: usize) -> Option<Vec<usize>> {
    small_sizes(g, scan.init[k]).filter(|sizes| !sizes.is_empty() && g.ty(scan.init[k]) == &scan.body.params[k])
}

/// Calls `f` on each element of an array of these sizes.
fn each_element(g: &mut Graph, array: Term, sizes: &[usize], mut f: impl FnMut(&mut Graph, Term)) {
    for k in 0..sizes.iter().product() {
        let index: Vec<Term> = unravel(k, sizes).into_iter().map(|i| g.lit_usize(i)).collect();
        let element = g.index(array, &index);
        f(g, element);
    }
}

/// The loop that carries the elements of these arrays.
fn elementwise(g: &mut Graph, scan: &Scan, arrays: &[Option<Vec<usize>>]) -> Scan {
    let mut params: Vec<Type> = Vec::new();
    let (mut args, mut init) = (Vec::new(), Vec::new());
    for (k, ty) in scan.body.params.iter().enumerate() {
        let Some(sizes) = arrays.get(k).and_then(Option::as_ref) else {
            args.push(g.param(params.len(), ty.clone()));
            params.push(ty.clone());
            init.extend(scan.init.get(k));
            continue;
        };
        let elem = Type::scalar(g.elem(scan.init[k]));
        let parts: Vec<Term> =
            (0..sizes.iter().product()).map(|part: usize| g.param(params.len() + part, elem.clone())).collect();
        params.extend(parts.iter().map(|_| elem.clone()));
        let shape = g.shape(scan.init[k]).to_vec();
        let row = g.stack(&parts);
        args.push(g.reshape(row, &shape));
        each_element(g, scan.init[k], sizes, |_, element| init.push(element));
    }
    let of_step = g.instantiate(&scan.body, &args);
    let mut next = Vec::new();
    for (k, &result) in of_step.iter().enumerate() {
        match arrays.get(k).and_then(Option::as_ref) {
            Some(sizes) => each_element(g, result, sizes, |_, element| next.push(element)),
            None => next.push(result),
        }
    }
    let place = |k: usize| arrays[..k].iter().map(|sizes| elements(sizes.as_ref())).sum();
    let mut new = Scan {
        init: init.into(),
        stop: scan.stop.map(place),
        body: Body { params: params.into(), results: next.into() },
        ..scan.clone()
    };
    let results = in_loop(g, &new, None);
    new.body.results = simplify_exactly(g, &results).into();
    new
}

/// The number of carried values that a carried value becomes.
fn elements(sizes: Option<&Vec<usize>>) -> usize {
    sizes.map_or(1, |sizes| sizes.iter().product())
}

/// The types of the arrays of a body of which elements are read or written at computed indices.
fn at_computed_indices(g: &Graph, roots: &[Term]) -> HashSet<Type> {
    let is_computed = |index: &[Term]| index.iter().any(|&i| g.is_open(i));
    let of = |t: Term| match g.node(t) {
        Node::Gather { src, index, .. } if is_computed(index) => Some(g.ty(*src).clone()),
        Node::Scatter { dst, index, .. } if is_computed(index) => Some(g.ty(*dst).clone()),
        _ => None,
    };
    g.reachable(roots).into_iter().filter_map(of).collect()
}

/// The arrays that the step still reads or computes as a whole, by their numbers.
fn whole(g: &Graph, new: &Scan, arrays: &[Option<Vec<usize>>]) -> HashSet<usize> {
    let (next, rows) = new.body.results.split_at(new.init.len());
    // The array that each carried element belongs to.
    let of: Vec<usize> = arrays.iter().enumerate().flat_map(|(k, sizes)| vec![k; elements(sizes.as_ref())]).collect();
    // Arrays that are only saved are no operands.
    let saved: HashSet<Term> = rows.iter().flat_map(|&row| with_unshaped(g, row)).collect();
    let mut operands: HashSet<Term> = next.iter().copied().collect();
    for t in g.reachable(&new.body.results) {
        if !saved.contains(&t) {
            g.node(t).for_each_child(|c| {
                operands.insert(c);
            });
        }
    }
    let mut kept: HashSet<usize> = HashSet::new();
    for t in operands.iter().flat_map(|&t| with_unshaped(g, t)) {
        if let Node::Prim(Prim::Stack, parts) = g.node(t) {
            let of_part = |&part: &Term| match g.node(part) {
                Node::Param(k, _) => of.get(*k as usize).copied(),
                _ => None,
            };
            kept.extend(parts.iter().filter_map(of_part).filter(|&k| arrays[k].is_some()));
        }
    }
    for (&next, &k) in next.iter().zip(&of) {
        if arrays[k].is_some()
            && let Node::Gather { src, .. } = g.node(next)
            && g.is_open(*src)
            && !matches!(g.node(*src), Node::Param(..))
        {
            kept.insert(k);
        }
    }
    kept
}

/// An array, and what is under the reshapes around it.
fn with_unshaped(g: &Graph, mut t: Term) -> Vec<Term> {
    let mut all = vec![t];
    while let Node::Prim(Prim::Reshape, args) = g.node(t) {
        t = args[0];
        all.push(t);
    }
    all
}

/// The number of terms that compute expensive functions.
fn functions(g: &Graph, roots: &[Term]) -> usize {
    let is_function = |t: &Term| matches!(g.node(*t), Node::Prim(prim, _) if prim.cost() == Some(EXPENSIVE));
    g.reachable(roots).iter().filter(|&t| is_function(t)).count()
}

/// The results of the loop before, from those of the loop that carries elements.
fn results(g: &mut Graph, new: Scan, arrays: &[Option<Vec<usize>>]) -> Vec<Term> {
    let count = new.body.results.len();
    let shapes: Vec<Vec<Term>> =
        arrays.iter().map(|sizes| sizes.iter().flatten().map(|&n| g.lit_usize(n)).collect()).collect();
    let scan = g.scan(new);
    let all: Vec<Term> = (0..count).map(|k| g.proj(scan, k)).collect();
    let (mut results, mut at) = (Vec::new(), 0);
    for (sizes, shape) in arrays.iter().zip(&shapes) {
        let parts = &all[at..at + elements(sizes.as_ref())];
        at += parts.len();
        results.push(if sizes.is_some() {
            let row = g.stack(parts);
            g.reshape(row, shape)
        } else {
            parts[0]
        });
    }
    results.extend(&all[at..]);
    results
}
