//! Loops over a triangle: `for j in 0..n - i` or `for j in i + 1..n` in a loop over `i`. It is a
//! loop up to the greatest number of steps, whose steps have a condition. On average about half of
//! its steps have an effect. So bulk operations over all its steps, under that condition, cost at
//! most about twice as much as the loop, whether or not the emitter ends them early.
//!
//! This module must never accept a loop of which only a few steps may have an effect, such as
//! `for k in lo..lo + 2` with a `lo` that another loop carries: there the bulk operations would
//! cost more than the function by a factor that grows with the sizes.

use std::collections::HashMap;

use super::origins::Origins;
use ad_ir::analysis::Analyses;
use ad_ir::analysis::bounds::bound;
use ad_ir::analysis::range::Facts;
use ad_ir::ir::{Graph, Node, Scan, Term};
use ad_ir::prim::{IntOp, Prim};

/// The number of steps by which the sides of a triangle may differ.
const SLACK: usize = 2;

/// The steps of a loop over a triangle that have an effect.
#[derive(Clone, Copy)]
pub(super) struct Effective {
    pub(super) condition: Term,
    /// The value of the condition in these steps.
    pub(super) value: bool,
    pub(super) count: Term,
}

/// The steps that have an effect, if the loop is over a triangle.
pub(super) fn effective_steps(g: &mut Graph, scan: &Scan, origins: &mut Origins<'_>) -> Option<Effective> {
    let bound = bound(g, scan, &mut Analyses::default())?;
    let limit = bound.limit(g);
    let limit = origins.of(g, limit)?;
    let mut steps = Vec::new();
    affine(g, limit, &mut steps)?;
    let [step] = *steps else { return None };
    let count = origins.count(g, step)?;
    let (zero, one, slack) = (g.lit_usize(0), g.lit_usize(1), g.lit_usize(SLACK));
    let last = g.int(IntOp::Sub, count, one);
    let ends = [zero, last].map(|at| g.replaced(&[limit], HashMap::from([(step, at)]))[0]);
    let is_within = |g: &mut Graph, a: Term, b: Term| {
        // The sum might overflow, of which the facts know nothing.
        let least = g.int(IntOp::Sub, a, slack);
        Facts::new().prove_le(g, least, b)
    };
    let whole = ends.into_iter().any(|end| is_within(g, scan.count, end));
    (whole && is_within(g, count, scan.count)).then_some(Effective {
        condition: bound.literal.0,
        value: bound.literal.1,
        count: limit,
    })
}

/// Checks that a term is a sum or difference of sizes and placeholders; collects the latter.
fn affine(g: &Graph, t: Term, found: &mut Vec<Term>) -> Option<()> {
    match g.node(t) {
        _ if g.is_closed(t) => Some(()),
        Node::Var(_) => {
            found.push(t);
            Some(())
        }
        Node::Prim(Prim::Int(IntOp::Add | IntOp::Sub), args) => args.iter().try_for_each(|&arg| affine(g, arg, found)),
        _ => None,
    }
}
