//! Rows in place of strided reads. The lanes of a block read the elements `x[i, t]` of a matrix,
//! where `i` is the lane and `t` is the step of an inner loop. In memory these elements lie a row
//! apart, so no vector instruction loads them. Instead, the block is copied once with the lanes
//! adjacent, and each step of the inner loop, of the function and of the derivative, consumes a row
//! of the copy.
//!
//! This module must never replace a read whose index depends on what the inner loop carries.

use super::inner::{consume, depends};
use crate::passes::lift::Lift;
use crate::passes::rewrite::{Rewriter, with_rewritten_children};
use ad_ir::ir::{Body, Graph, Node, Scan, Term};
use ad_ir::prim::Prim;

/// The terms, with rows in place of the strided reads of the loops that they depend on.
pub(super) fn replaced_by_rows(g: &mut Graph, terms: &[Term]) -> Vec<Term> {
    Rewriter::default().run(g, terms, |g, t, done| {
        let Node::Scan(scan) = with_rewritten_children(g, t, done) else { return None };
        let mut scan = *scan;
        let reads: Vec<Term> =
            g.reachable(&scan.body.results).into_iter().filter(|&t| is_strided(g, &scan, t)).collect();
        if reads.is_empty() {
            return Some(g.scan(scan));
        }
        let rows: Vec<Term> = reads.iter().map(|&t| in_all_steps(g, &scan, t)).collect();
        consume(g, &mut scan, &reads, &rows);
        Some(g.scan(scan))
    })
}

/// Whether a term of the body reads a captured array at an index whose last part is determined by
/// the step, and whose other parts by the lane.
fn is_strided(g: &Graph, scan: &Scan, t: Term) -> bool {
    let Node::Gather { src, vars, index, .. } = g.node(t) else { return false };
    let ([lane], Some((&last, rest))) = (&vars[..], index.split_last()) else { return false };
    let (carries, captures) = (scan.init.len(), scan.captures.len());
    let is_captured = |k: usize| (carries..carries + captures).contains(&k);
    let is_step = |k: usize| {
        let row = k.checked_sub(carries + captures).and_then(|k| scan.xs.get(k));
        row.is_some_and(|&x| matches!(g.node(x), Node::Prim(Prim::Iota, _)))
    };
    let steps = depends(g, index, is_step);
    let others = depends(g, index, |k| !is_captured(k) && !is_step(k));
    g.free(t).is_empty()
        && matches!(g.node(*src), Node::Param(k, _) if is_captured(*k as usize))
        && index.iter().all(|t| !others[t])
        && steps[&last]
        && !g.mentions(last, *lane)
        && rest.iter().any(|&part| g.mentions(part, *lane))
        && rest.iter().all(|part| !steps[part])
}

/// A term of the body that reads no carried value, in all steps.
pub(super) fn in_all_steps(g: &mut Graph, scan: &Scan, t: Term) -> Term {
    let var = g.fresh();
    let step = g.mk(Node::Var(var));
    let mut args: Vec<Term> = scan.init.iter().chain(&scan.captures).copied().collect();
    for &x in &scan.xs {
        args.push(if matches!(g.node(x), Node::Prim(Prim::Iota, _)) { step } else { g.index(x, &[step]) });
    }
    let body = Body { params: scan.body.params.clone(), results: [t].into() };
    let of_step = g.instantiate(&body, &args)[0];
    Lift::new(g, var, scan.count).lift(of_step)
}
