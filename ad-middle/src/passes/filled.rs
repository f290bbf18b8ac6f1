//! Drops conditions that an axis is not empty. A term that is the same in all iterations is
//! computed under the condition that there is an iteration, so that a loop without steps
//! contributes no cotangent. After differentiation such a condition can be dropped if both arms are
//! equal when the axis has no elements: an array with that axis is then empty, and a sum along it
//! is 0. Without the condition the array is computed in the same loops as its readers. If arrays of
//! the function's value keep a condition, the derivatives keep it too: terms under one condition
//! share their loops.
//!
//! This pass must never run on terms that are differentiated in reverse mode afterwards: the
//! conditions are their masks.

use ad_ir::sorted::SortedSet;

use super::rewrite::{Rewriter, with_rewritten_children};
use super::{Context, Pass, Roots};
use ad_ir::analysis::guards::states_size;
use ad_ir::analysis::sizes::Fixed;
use ad_ir::analysis::zeros::is_zero_of_either_sign;
use ad_ir::ir::{Graph, Node, Put, Term};
use ad_ir::prim::{Prim, Unary};

/// The pass.
pub(crate) const PASS: Pass = Pass { name: "filled", rules: || vec!["filled"], run: dropped, simplified: true };

/// The maximum depth to which a term is examined.
const MAX_DEPTH: usize = 8;

/// The roots without the conditions, except those that the function's values keep.
fn dropped(g: &mut Graph, roots: &Roots, cx: &mut Context) -> Roots {
    let without_all = roots.map(|all| filled(g, all, cx, &SortedSet::new()));
    let kept = tested(g, &without_all.values);
    if kept.is_empty() { without_all } else { roots.map(|all| filled(g, all, cx, &kept)) }
}

/// The sizes that a choice between arrays compares with 0.
fn tested(g: &Graph, roots: &[Term]) -> SortedSet<Term> {
    let of = |t: Term| match *g.node(t) {
        Node::Cond { cond, .. } if g.rank(t) > 0 => states_size(g, cond).map(|(n, _)| n),
        _ => None,
    };
    g.reachable(roots).into_iter().filter_map(of).collect()
}

fn filled(g: &mut Graph, roots: &[Term], cx: &mut Context, kept: &SortedSet<Term>) -> Vec<Term> {
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run(g, roots, |g, t, done| match with_rewritten_children(g, t, done) {
        Node::Scan(mut scan) => {
            scan.body.results = filled(g, &scan.body.results, cx, kept).into();
            Some(g.scan(*scan))
        }
        Node::Cond { cond, then, other } => {
            let alike = |g: &Graph, n: Term| {
                !kept.contains(&n) && vanishes(g, then, n, MAX_DEPTH) && vanishes(g, other, n, MAX_DEPTH)
            };
            let left = without(g, cond, &alike);
            Some(g.cond(left, then, other))
        }
        Node::Prim(prim @ Prim::Replicate(_), args) => {
            let Node::Cond { cond, then, other } = *g.node(args[0]) else { return None };
            let left = without(g, cond, &|_, n| !kept.contains(&n) && args[1..].contains(&n));
            let mut args = args.to_vec();
            args[0] = g.cond(left, then, other);
            Some(g.prim(prim, &args))
        }
        _ => None,
    })
}

/// The condition `c` if the sizes that satisfy `alike` are not 0: their comparisons with 0 become
/// constants, also inside of a conjunction.
fn without(g: &mut Graph, c: Term, alike: &impl Fn(&Graph, Term) -> bool) -> Term {
    if let Some((n, filled)) = states_size(g, c) {
        return if alike(g, n) { g.lit_bool(filled) } else { c };
    }
    match *g.node(c) {
        Node::Cond { cond, then, other } if g.bool_value(other) == Some(false) => {
            let (a, b) = (without(g, cond, alike), without(g, then, alike));
            g.cond(a, b, other)
        }
        _ => c,
    }
}

/// Whether an array has no elements, or only zeros, if this size is 0.
fn vanishes(g: &Graph, t: Term, n: Term, deep: usize) -> bool {
    let Some((_, shape)) = g.ty(t).as_array() else { return false };
    if shape.contains(&n) || is_zero_of_either_sign(g, t) {
        return true;
    }
    let Some(deep) = deep.checked_sub(1) else { return false };
    match g.node(t) {
        Node::Prim(prim, args) => match prim {
            Prim::Sum(_) | Prim::Unary(Unary::Neg) | Prim::Replicate(_) | Prim::Transpose(_) | Prim::Pad(_) => {
                vanishes(g, args[0], n, deep)
            }
            Prim::Contract(_) => args.iter().any(|&a| g.shape(a).contains(&n)),
            _ => false,
        },
        Node::Scatter { put: Put::Add, dst, src, .. } => vanishes(g, *dst, n, deep) && g.shape(*src).contains(&n),
        _ => false,
    }
}
