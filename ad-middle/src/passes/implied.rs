//! Conditions that are implied by enclosing conditions. A term that is needed only if `n` is not 0
//! does not test again whether `n` is 0, so it is computed in the same loops as its readers.
//!
//! This pass must never resolve a condition of a term that a root needs under other conditions.

use super::rewrite::{Rewriter, with_rewritten_children};
use super::{Context, Pass};
use ad_ir::analysis::guards::{Guards, decided};
use ad_ir::analysis::sizes::Fixed;
use ad_ir::ir::{Graph, Node, Term};

/// The pass.
pub(crate) const PASS: Pass = Pass {
    name: "implied",
    rules: || vec!["implied"],
    run: |g, roots, cx| roots.map(|all| implied(g, all, cx)),
    simplified: true,
};

/// The maximum nesting of conditions that are examined.
const MAX_NESTING: usize = 8;

fn implied(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let guards = cx.get::<Guards>(g, roots);
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run(g, roots, |g, t, done| match *g.node(t) {
        Node::Cond { cond, then, other } => {
            let arm = if decided(g, cond, guards.get(&t)?, MAX_NESTING)? { then } else { other };
            Some(done[&arm])
        }
        Node::Scan(_) => {
            let Node::Scan(mut scan) = with_rewritten_children(g, t, done) else { return None };
            scan.body.results = implied(g, &scan.body.results, cx).into();
            Some(g.scan(*scan))
        }
        _ => None,
    })
}
