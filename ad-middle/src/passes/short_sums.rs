//! Writes out sums over short axes: a sum over the three coordinates of points is the sum of three
//! terms. So the loops around it compute it in registers, for several elements at a time, and store
//! no array of coordinates. The same sum by scalar code has this form already.
//!
//! | before | after |
//! | --- | --- |
//! | `sum[2] (m * m)`, axis 2 of size 3 | `(m[.., 0] * m[.., 0] + m[.., 1] * m[.., 1]) + ..` |
//!
//! The index is pushed into the summand, which has to be cheap, since its operands may be read
//! elsewhere too. This pass must never change a sum that a decision depends on, nor a sum over all
//! axes: a loop over contiguous elements is faster than one over every third.

use super::element::part;
use super::rewrite::Rewriter;
use super::{Context, Pass};
use ad_ir::analysis::sizes::Fixed;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::prim::Prim;

/// The maximum size of an axis.
const MAX_SIZE: i128 = 4;
/// The maximum number of operations in a summand.
const MAX_OPERATIONS: usize = 16;
/// The maximum cost of each of them: that of a division.
const MAX_COST: u32 = 4;

/// The pass.
pub(crate) const PASS: Pass = Pass {
    name: "short_sums",
    rules: || vec!["short_sums"],
    run: |g, roots, cx| roots.map(|all| pass(g, all, cx)),
    simplified: true,
};

fn pass(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let exact = cx.exact(g);
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run(g, roots, |g, t, done| {
        if exact.contains(&t) {
            return None;
        }
        let (axis, size, summand) = short(g, t)?;
        let why = || format!("(the {size} terms of a sum)");
        choose(Kind::Unrolling, (t.index(), axis), true, why).then_some(())?;
        let (rank, summand) = (g.rank(summand), done[&summand]);
        let mut terms = Vec::new();
        for k in 0..size {
            let at = g.lit_usize(k);
            let index = (0..rank).map(|a| (a == axis).then_some(at)).collect();
            terms.push(part(g, summand, index));
        }
        terms.into_iter().reduce(|sum, term| g.add(sum, term))
    })
}

/// The axis, its size and the summand, if a term is a sum over one short axis that is written out.
fn short(g: &Graph, t: Term) -> Option<(usize, usize, Term)> {
    let Node::Prim(Prim::Sum(axes), args) = g.node(t) else { return None };
    let ([axis], true) = (&axes[..], g.elem(t).is_real()) else { return None };
    let shape = g.shape(args[0]);
    let axis = usize::from(*axis);
    let size = g.int_value(shape[axis]).filter(|n| (2..=MAX_SIZE).contains(n))?;
    let unknown = |(k, n): (usize, &Term)| k != axis && g.int_value(*n).is_none();
    (shape.iter().enumerate().any(unknown) && is_cheap(g, args[0])).then_some((
        axis,
        usize::try_from(size).ok()?,
        args[0],
    ))
}

/// Whether a summand is computed by few cheap operations.
fn is_cheap(g: &Graph, t: Term) -> bool {
    let (mut stack, mut operations) = (vec![t], 0);
    while let Some(t) = stack.pop() {
        match g.node(t) {
            Node::Prim(prim, args) if prim.is_elementwise() && g.rank(t) > 0 => {
                operations += 1;
                if operations > MAX_OPERATIONS || prim.cost().is_none_or(|cost| cost > MAX_COST) {
                    return false;
                }
                stack.extend(args.iter().copied());
            }
            Node::Prim(Prim::Replicate(_) | Prim::Transpose(_), args) => stack.push(args[0]),
            _ => {}
        }
    }
    operations > 0
}
