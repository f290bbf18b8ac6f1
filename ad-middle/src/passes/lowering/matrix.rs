//! Decides which contractions are matrix products. Labels are sorted into batch, row, column and
//! summed labels, and transpositions become flags. This module must never copy an operand: a
//! contraction that is not a product of contiguous matrices is left to loops.

use super::extents::limited;
use ad_ir::ir::{Contraction, Graph, Node, Term};
use ad_ir::prim::Prim;

/// Removes the transpositions from `t`, which a product takes as flags. Returns the remaining term,
/// and for each axis of `t` the axis of that term.
pub(crate) fn strip_layouts(g: &Graph, t: Term) -> (Term, Vec<usize>) {
    let mut perm: Vec<usize> = (0..g.rank(t)).collect();
    let mut t = t;
    loop {
        match g.node(t) {
            Node::Prim(Prim::Transpose(p), args) => {
                for k in &mut perm {
                    *k = usize::from(p[*k]);
                }
                t = args[0];
            }
            Node::Prim(Prim::Recast, args) => t = args[0],
            _ => return (t, perm),
        }
    }
}

/// Whether the array is in memory whatever the scheduler decides.
pub(crate) fn always_stored(g: &Graph, t: Term) -> bool {
    match g.node(stored_operand(g, t).array) {
        Node::Input(_) | Node::Scatter { .. } | Node::Cond { .. } => true,
        Node::Prim(prim, _) => prim.cost().is_none(),
        _ => false,
    }
}

/// The array that an operand of a contraction is read from.
pub struct StoredOperand {
    /// The array.
    pub array: Term,
    /// For each axis of the operand the axis of the array.
    pub(crate) perm: Vec<usize>,
    /// If the operand is some of the array's leading rows: the start, and the part.
    pub part: Option<(Term, Term)>,
}

/// The array that an operand is read from, without transpositions, and without a slice of leading
/// rows, which are contiguous in memory.
pub fn stored_operand(g: &Graph, t: Term) -> StoredOperand {
    let (base, perm) = strip_layouts(g, t);
    if let Node::Prim(Prim::Slice(steps), args) = g.node(base) {
        let whole = |k: usize| g.int_value(args[1 + k]) == Some(0) && g.shape(base)[k] == g.shape(args[0])[k];
        let (array, inner) = strip_layouts(g, args[0]);
        let leading = steps.iter().all(|&s| s == 1) && (1..steps.len()).all(whole);
        let lies = inner.iter().enumerate().all(|(k, &axis)| k == axis);
        let stored = || match g.node(array) {
            Node::Prim(Prim::Slice(_), _) => false,
            Node::Param(..) => true,
            _ => always_stored(g, array),
        };
        if leading && lies && stored() {
            return StoredOperand { array, perm, part: Some((args[1], base)) };
        }
    }
    StoredOperand { array: base, perm, part: None }
}

/// An operand of a product, as the array in memory that it is read from.
#[derive(Clone, Debug)]
pub struct Factor {
    /// The array.
    pub array: Term,
    /// Whether the axes are stored in the opposite order.
    pub transposed: bool,
    /// The first of the array's leading rows, if the operand is some of these.
    pub start: Option<Term>,
}

/// A matrix product, for each index of the batch: `out = a b`, of shapes (m, n), (m, k), (k, n).
#[derive(Clone, Debug)]
pub struct Product {
    /// The operand with the result's rows; transposed it is stored as (k, m).
    pub a: Factor,
    /// The operand with the result's columns; transposed it is stored as (n, k).
    pub b: Factor,
    /// Sizes whose product is the number of batches.
    pub batch: Vec<Term>,
    /// Sizes whose product is the number of rows.
    pub m: Vec<Term>,
    /// Sizes whose product is the number of summed indices.
    pub k: Vec<Term>,
    /// Sizes whose product is the number of columns.
    pub n: Vec<Term>,
    /// Whether zeros of these operands absorb.
    pub absorbs: [bool; 2],
}

/// A contraction as a matrix product, if each group of labels is contiguous in every operand and
/// has the same order in all of them. An exact product is computed as the function computes it.
pub fn as_product(g: &Graph, spec: &Contraction, [a, b]: [Term; 2], exact: bool) -> Option<Product> {
    let stored = |t: Term, labels: &[u8]| {
        let behind = stored_operand(g, t);
        let mut sorted = vec![0; labels.len()];
        for (axis, &label) in behind.perm.iter().zip(labels) {
            sorted[*axis] = label;
        }
        (behind, sorted)
    };
    let factor = |b: StoredOperand, transposed: bool| Factor { array: b.array, transposed, start: b.part.map(|p| p.0) };
    let (shape_a, shape_b) = (g.shape(a).to_vec(), g.shape(b).to_vec());
    let is_limited = !exact && [a, b].iter().any(|&x| limited(g, strip_layouts(g, x).0).is_some());
    let ((a, la), (b, lb)) = (stored(a, &spec.a), stored(b, &spec.b));
    let out = &*spec.out;
    let batch = out.iter().take_while(|l| la.contains(l) && lb.contains(l)).count();
    if la.get(..batch) != Some(&out[..batch]) || lb.get(..batch) != Some(&out[..batch]) {
        return None;
    }
    let (ra, rb, rest) = (&la[batch..], &lb[batch..], &out[batch..]);
    let summed: Vec<u8> = ra.iter().copied().filter(|l| rb.contains(l) && !rest.contains(l)).collect();
    let rows: Vec<u8> = rest.iter().copied().filter(|l| ra.contains(l)).collect();
    let columns: Vec<u8> = rest.iter().copied().filter(|l| rb.contains(l)).collect();
    let join = |x: &[u8], y: &[u8]| [x, y].concat();
    // For each operand: whether the summed labels come first. `None` if a group is not contiguous.
    let flag = |labels: &[u8], kept: &[u8]| {
        if labels == join(kept, &summed) {
            Some(false)
        } else if labels == join(&summed, kept) {
            Some(true)
        } else {
            None
        }
    };
    let (a_summed_first, b_summed_first) = (flag(ra, &rows)?, flag(rb, &columns)?);
    // A product of the first elements of matrices is one on strides.
    if !rows.is_empty() && !columns.is_empty() && is_limited {
        return None;
    }
    // The sizes of the operands. The arrays that they are read from may have other sizes.
    let sizes = |of: &[Term], labels: &[u8], pick: &[u8]| -> Vec<Term> {
        pick.iter().filter_map(|l| labels.iter().position(|m| m == l)).map(|axis| of[axis]).collect()
    };
    let sizes_a = |pick: &[u8]| sizes(&shape_a, &spec.a, pick);
    let sizes_b = |pick: &[u8]| sizes(&shape_b, &spec.b, pick);
    let (batch, k) = (sizes_a(&out[..batch]), sizes_a(&summed));
    if rest == join(&rows, &columns) {
        let (m, n) = (sizes_a(&rows), sizes_b(&columns));
        let absorbs = spec.absorbs;
        Some(Product { a: factor(a, a_summed_first), b: factor(b, !b_summed_first), batch, m, k, n, absorbs })
    } else if rest == join(&columns, &rows) {
        // The transposed product.
        let (m, n) = (sizes_b(&columns), sizes_a(&rows));
        let absorbs = spec.swapped().absorbs;
        Some(Product { a: factor(b, b_summed_first), b: factor(a, !a_summed_first), batch, m, k, n, absorbs })
    } else {
        None
    }
}
