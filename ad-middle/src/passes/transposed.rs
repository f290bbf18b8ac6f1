//! The transpose of an array whose elements an elementwise operation computes: the operands are
//! transposed in its place, so that the elements are computed in the new order.
//!
//! This module must never change an element, only its place.

use super::rewrite::Rewriter;
use ad_ir::ir::{Graph, Node, Term};

/// `t` with the axes in another order. The order is that of [`Graph::transpose`].
pub(super) fn transposed(g: &mut Graph, t: Term, order: &[u8]) -> Term {
    let mut turned = Rewriter::default();
    for u in g.reachable(&[t]) {
        if g.ty(u).as_array().is_none() || g.shape(u) != g.shape(t) {
            continue;
        }
        turned.step(g, u, |g, u, turned| {
            Some(match &*g.node_rc(u) {
                Node::Prim(prim, args) if prim.is_elementwise() && args.iter().all(|a| turned.contains_key(a)) => {
                    let args: Vec<Term> = args.iter().map(|a| turned[a]).collect();
                    g.prim(prim.clone(), &args)
                }
                _ => g.transpose(u, order),
            })
        });
    }
    turned.done()[&t]
}
