//! The layout of arrays in a block: the items are the last axis, whichever axis they are outside of
//! it. This module depends on sizes only. It must never decide which statements are tiled.

use ad_ir::sorted::SortedMap;

use super::super::plan::ItemAxis;
use ad_ir::ir::{Graph, Term};

/// The axis of the items, if the sizes have exactly one.
pub(super) fn axis_of(sizes: &[Term], n: Term) -> Option<usize> {
    let axis = sizes.iter().position(|&size| size == n)?;
    (!sizes[axis + 1..].contains(&n)).then_some(axis)
}

/// The axis of the items, if several may have their number: the first of these.
pub(super) fn first_axis(sizes: &[Term], n: Term) -> Option<usize> {
    sizes.iter().position(|&size| size == n)
}

/// Whether the array has a row for each item, on whichever axis.
pub(in super::super) fn is_over(g: &Graph, t: Term, n: Term) -> bool {
    axis_of(g.shape(t), n).is_some()
}

/// Whether the items are the first axis of the array.
pub(super) fn leads(g: &Graph, t: Term, n: Term) -> bool {
    axis_of(g.shape(t), n) == Some(0)
}

/// The sizes of the row that each item has in an array. An array with more rows than items, or
/// with other rows, has them on its first axis.
pub(in super::super) fn row_of(g: &Graph, t: Term, n: Term) -> Vec<Term> {
    let mut row = g.shape(t).to_vec();
    row.remove(first_axis(g.shape(t), n).unwrap_or(0));
    row
}

/// Moves the entry of the items' axis to where a block has it. Items that come first are there
/// already.
pub(super) fn arrange<T>(to: ItemAxis, entries: &mut [T], axis: usize) {
    match to {
        ItemAxis::First => {}
        ItemAxis::Last => entries[axis..].rotate_left(1),
    }
}

/// The number of scalars that an item has in memory, as products of sizes.
pub(in super::super) fn widths(
    g: &Graph,
    n: Term,
    arrays: impl IntoIterator<Item = Term>,
) -> SortedMap<Vec<Term>, usize> {
    let mut found = SortedMap::new();
    for t in arrays {
        *found.entry(row_of(g, t, n)).or_default() += 1;
    }
    found
}
