//! Terms for tiles over an axis whose size another axis has too, as in an array of all pairs of
//! items. Elsewhere the number of items stands for the size of the items' axis, and in a block the
//! number of items of the block is passed for it. Here the other axis keeps all items, so a block
//! has terms of its own: how many items it has, which item is its first, and the rows of its items
//! of each array that is read whole too.
//!
//! The first axis of this size is the items' axis. This module must never decide which statements
//! are tiled.

use ad_ir::sorted::{SortedMap, SortedSet};

use super::super::plan::{Plan, Work};
use super::super::store::Class;
use super::layout::{axis_of, first_axis};
use ad_ir::ir::{Elem, Graph, Term, Type};
use ad_middle::passes::lowering::opened::leaf;

/// The terms of a block of items.
#[derive(Clone, Debug)]
pub(in super::super) struct BlockTerms {
    /// The number of items of the block.
    pub(in super::super) count: Term,
    /// The first item of the block.
    pub(in super::super) first: Term,
    /// Maps each array with a row for each item to the rows of the block's items.
    pub(in super::super) rows: SortedMap<Term, Term>,
}

impl Plan {
    /// The size of the items' axis in the nests of a block.
    pub(in super::super) fn items_of_block(&self, n: Term) -> Term {
        self.squares.get(&n).map_or(n, |terms| terms.count)
    }

    /// The axis of the items among these sizes: the only one with their number, or the first one in
    /// pairs of items.
    pub(super) fn axis_of_items(&self, sizes: &[Term], n: Term) -> Option<usize> {
        if self.squares.contains_key(&n) { first_axis(sizes, n) } else { axis_of(sizes, n) }
    }
}

/// Adds the terms of blocks to the plan, for each size that a nest has on two axes.
pub(super) fn add_block_terms(g: &mut Graph, plan: &mut Plan) {
    let mut sizes: SortedSet<Term> = SortedSet::new();
    for &s in &plan.order {
        let Work::Nest { domain, .. } = &plan.steps[s].work else { continue };
        let twice = |k: usize| domain[k + 1..].contains(&domain[k]) && g.int_value(domain[k]).is_none();
        sizes.extend((0..domain.len()).filter(|&k| twice(k)).map(|k| domain[k]));
    }
    for n in sizes.iter().copied() {
        let usize_scalar = Type::scalar(Elem::USIZE);
        let (count, first) = (leaf(g, usize_scalar.clone()), leaf(g, usize_scalar));
        plan.class[count] = Class::Scalar;
        plan.class[first] = Class::Scalar;
        let stored = |g: &Graph, t: Term| plan.class(t) == Class::Buffer && g.ty(t).as_array().is_some();
        let arrays: Vec<Term> = g.terms().filter(|&t| stored(g, t) && g.shape(t).first() == Some(&n)).collect();
        let mut rows = SortedMap::new();
        for t in arrays {
            // Loads say how many rows there are. The shape says which axis has the items.
            let part = leaf(g, g.ty(t).clone());
            plan.class[part] = Class::Buffer;
            rows.insert(t, part);
        }
        plan.squares.insert(n, BlockTerms { count, first, rows });
    }
}
