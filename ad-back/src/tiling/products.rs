//! Products of a matrix that has a row for each item with a vector, in blocks of items. A sequence
//! may read a matrix twice: in the forward pass for a number for each item, and in the reverse pass
//! for a sum over items. In a tile the matrix is read from memory once, since a block of its rows
//! is in the cache for the second product.
//!
//! Rows are read in place. This module must never accept a product whose bits a decision depends
//! on, since sums over items continue from block to block.

use super::super::plan::Plan;
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::prim::Prim;
use ad_middle::passes::lowering::matrix::{Factor, as_product};

/// A product with the rows of the items.
pub(in super::super) struct ByItems {
    pub(in super::super) matrix: Factor,
    pub(in super::super) vector: Factor,
    /// Sizes of a row.
    pub(in super::super) row: Vec<Term>,
    /// Whether the product is a sum over the items, of rows weighted by the numbers of the vector.
    /// Otherwise the result has a number for each item.
    pub(in super::super) summed: bool,
}

/// The contraction as a product with rows of items. Without `n` the items may be any axis.
pub(in super::super) fn by_items(g: &Graph, plan: &Plan, t: Term, n: Option<Term>) -> Option<(Term, ByItems)> {
    let Node::Prim(Prim::Contract(spec), args) = g.node(t) else { return None };
    let p = as_product(g, spec, [args[0], args[1]], plan.exact.contains(&t))?;
    if spec.absorbing()
        || !p.batch.is_empty()
        || g.rank(t) == 0
        || plan.exact.contains(&t)
        || plan.windows.contains_key(&t)
    {
        return None;
    }
    let (matrix, vector, summed, kept) = if p.n.is_empty() {
        let summed = p.a.transposed;
        (p.a, p.b, summed, p.m)
    } else if p.m.is_empty() {
        let summed = !p.b.transposed;
        (p.b, p.a, summed, p.n)
    } else {
        return None;
    };
    let (items, row) = if summed { (p.k, kept) } else { (kept, p.k) };
    let [items] = items[..] else { return None };
    // The array of numbers must have exactly one for each item.
    let numbers = if summed { vector.array } else { t };
    let whole = *g.shape(numbers) == [items] && (!summed || vector.start.is_none());
    let separate = !row.is_empty() && !row.contains(&items) && n.is_none_or(|n| n == items);
    (whole && separate).then_some((items, ByItems { matrix, vector, row, summed }))
}
