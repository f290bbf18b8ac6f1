//! Finds steps that compute arrays with two axes of lengths that differ from step to step, such as
//! all pairs of elements of a group. In bulk, each step would have a rectangle as wide as the
//! longest group could be, and only one of its axes can be flattened (`passes/flatten.rs`). So such
//! a loop stays, and the nests of a step end where its group ends. This module does not decide
//! anything else about a loop.

use ad_ir::analysis::conjunction;
use ad_ir::ir::{Graph, Node, Scan, Term};
use ad_ir::prim::{Cmp, Prim};
use ad_ir::sorted::SortedSet;

/// An axis of an array whose elements are masked from some index on. The data determine the index.
struct RaggedAxis {
    size: Term,
    /// The sizes of the other axes.
    others: Vec<Term>,
}

/// Whether a term of the loop's body has two such axes in one array, or in an array and its sum.
pub(super) fn has_two_ragged_axes(g: &Graph, scan: &Scan, root: Term) -> bool {
    let mut found: Vec<RaggedAxis> = Vec::new();
    for t in g.reachable(&[root]) {
        let Node::Prim(Prim::Select, args) = g.node(t) else { continue };
        for k in masked_axes(g, scan, args[0]) {
            let (shape, k) = (g.shape(t), usize::from(k));
            let others = shape.iter().enumerate().filter(|&(n, _)| n != k).map(|(_, &n)| n).collect();
            found.push(RaggedAxis { size: shape[k], others });
        }
    }
    let pair =
        |(n, a): (usize, &RaggedAxis)| found.iter().enumerate().any(|(m, b)| n != m && b.others.contains(&a.size));
    found.iter().enumerate().any(pair)
}

/// Whether a mask of a term of the loop's body is true only before an index that the data
/// determine.
pub(crate) fn ends_at_data(g: &Graph, scan: &Scan, mask: Term) -> bool {
    !masked_axes(g, scan, mask).is_empty()
}

/// The axes along which a condition compares the index with a bound that data determine.
fn masked_axes(g: &Graph, scan: &Scan, mask: Term) -> SortedSet<u8> {
    let axis_of_test = |(test, axes): (Term, Box<[u8]>)| {
        let Node::Prim(Prim::Compare(Cmp::Lt | Cmp::Le), sides) = g.node(test) else { return None };
        let index = g.iota_axis(sides[0]).filter(|_| reads_data(g, scan, sides[1]))?;
        Some(axes[usize::from(index)])
    };
    conjunction::parts(g, mask).into_iter().filter_map(axis_of_test).collect()
}

/// Whether a bound is computed from elements of an array that the steps read.
fn reads_data(g: &Graph, scan: &Scan, bound: Term) -> bool {
    let first_row = scan.init.len() + scan.captures.len();
    g.reachable(&[bound]).into_iter().any(|t| match *g.node(t) {
        Node::Gather { .. } => true,
        Node::Param(k, _) => {
            let row = (k as usize).checked_sub(first_row).and_then(|k| scan.xs.get(k));
            row.is_some_and(|&x| !matches!(g.node(x), Node::Prim(Prim::Iota, _)))
        }
        _ => false,
    })
}
