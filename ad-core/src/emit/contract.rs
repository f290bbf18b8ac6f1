//! Which contractions are matrix products: labels sorted into batch, rows, columns and summed ones, transpositions as flags.
//! Must never copy an operand: what is no product of contiguous matrices is left to loops.

use crate::ir::{Contraction, Graph, Node, Term};
use crate::prim::Prim;

/// The array behind layouts that an operand can take as a flag: the term, and for each axis of `t` the axis of that term.
pub(super) fn peel(g: &Graph, t: Term) -> (Term, Vec<usize>) {
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

/// A matrix product, for each index of the batch: `out = a b`, of shapes (m, n), (m, k), (k, n).
#[derive(Clone, Debug)]
pub(super) struct Product {
    /// The operand with the result's rows, and whether it is stored as (k, m).
    pub(super) a: (Term, bool),
    /// The operand with the result's columns, and whether it is stored as (n, k).
    pub(super) b: (Term, bool),
    /// Sizes whose product is the number of batches, of rows, of summed indices, of columns.
    pub(super) batch: Vec<Term>,
    pub(super) m: Vec<Term>,
    pub(super) k: Vec<Term>,
    pub(super) n: Vec<Term>,
}

/// The product that a contraction is, if each group of labels is contiguous in every operand and they agree on its order.
pub(super) fn as_product(g: &Graph, spec: &Contraction, a: Term, b: Term) -> Option<Product> {
    let stored = |t: Term, labels: &[u8]| {
        let (base, perm) = peel(g, t);
        let mut sorted = vec![0; labels.len()];
        for (axis, &label) in perm.iter().zip(labels) {
            sorted[*axis] = label;
        }
        (base, sorted)
    };
    let (shape_a, shape_b) = (g.shape(a).to_vec(), g.shape(b).to_vec());
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
    // Of each operand: whether the summed labels come first; `None` if the groups are torn.
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
    // As the contraction knows them: the array behind may have other ones.
    let sizes = |of: &[Term], labels: &[u8], pick: &[u8]| -> Vec<Term> {
        pick.iter().filter_map(|l| labels.iter().position(|m| m == l)).map(|axis| of[axis]).collect()
    };
    let sizes_a = |pick: &[u8]| sizes(&shape_a, &spec.a, pick);
    let sizes_b = |pick: &[u8]| sizes(&shape_b, &spec.b, pick);
    let (batch, k) = (sizes_a(&out[..batch]), sizes_a(&summed));
    if rest == join(&rows, &columns) {
        let (m, n) = (sizes_a(&rows), sizes_b(&columns));
        Some(Product { a: (a, a_summed_first), b: (b, !b_summed_first), batch, m, k, n })
    } else if rest == join(&columns, &rows) {
        // The transposed product.
        let (m, n) = (sizes_b(&columns), sizes_a(&rows));
        Some(Product { a: (b, b_summed_first), b: (a, !a_summed_first), batch, m, k, n })
    } else {
        None
    }
}
