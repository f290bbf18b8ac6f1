//! Bounds of an atom that need no facts: the range of its type, and the bounds that follow from the
//! sizes of arrays. Memory has fewer elements than an integer can count, so the size of an axis is
//! exact even if it is a product.

use super::{Facts, Linear, int_ty};
use crate::ir::{Graph, IntTy, Lit, Node, Term};
use crate::prim::{IntOp, Prim};

/// No loop takes more steps than this in any realistic time. An index variable is assumed to be
/// smaller, so that `i + j + 1` does not overflow.
const MOST_STEPS: i128 = 1 << 56;
/// The largest size of an axis.
const LARGEST_SIZE: i128 = i64::MAX as i128;

impl Facts {
    /// Records, for all later states, that a term is the size of an axis of an array that exists.
    pub fn is_axis(&mut self, g: &Graph, size: Term) {
        let sum = matches!(g.node(size), Node::Prim(Prim::Int(IntOp::Add), _));
        if (sum || product(g, size).is_some()) && !self.axes.contains(&size) {
            self.axes.push(size);
            // A size does not overflow, so it is linear if it is a sum, and sums that contain it
            // are linear if it is a product.
            self.stuck.clear();
        }
    }

    /// The least value of a linear form that the ranges of its atoms allow.
    pub(super) fn lower_bound(&self, g: &Graph, l: &Linear) -> Option<i128> {
        let mut low = l.constant;
        for (&t, &c) in &l.atoms {
            let (least, most) = atom_range(g, t);
            let most = if self.axes.contains(&t) { most.min(LARGEST_SIZE) } else { most };
            low = low.checked_add(c.checked_mul(if c > 0 { least } else { most })?)?;
        }
        Some(low)
    }

    /// Proves the goal with an upper bound of a product: `a * i <= a * b - a` if `i < b`, where
    /// `a * b` is the size of an axis. So `a * i + j` is an index of it, if `j < a`.
    pub(super) fn by_product(&mut self, g: &Graph, goal: &Linear, (t, c): (Term, i128), depth: u32) -> bool {
        let Some(own) = product(g, t).filter(|_| c < 0) else { return false };
        for k in 0..self.axes.len() {
            let size = self.axes[k];
            let Some(of) = product(g, size).filter(|_| size != t) else { continue };
            for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                if own[i] != of[j] {
                    continue;
                }
                let (less, more) = (self.linear(g, own[1 - i]), self.linear(g, of[1 - j]));
                let below = more.minus(&less).and_then(|l| l.plus(-1));
                if !below.is_some_and(|below| self.search(g, &below, depth - 1)) {
                    continue;
                }
                let shared = self.linear(g, own[i]);
                let bound = Linear::atom(size).minus(&shared);
                let rest = bound.and_then(|l| l.minus(&Linear::atom(t))).and_then(|l| goal.combine(1, &l, c));
                if rest.is_some_and(|rest| self.search(g, &rest, depth - 1)) {
                    return true;
                }
            }
        }
        false
    }
}

/// The factors of a product of two numbers that are not negative, neither of them a literal.
fn product(g: &Graph, t: Term) -> Option<[Term; 2]> {
    let Node::Prim(Prim::Int(IntOp::Mul), args) = g.node(t) else { return None };
    let unsigned = int_ty(g, t).is_some_and(|ty| ty.range().0 == 0);
    (unsigned && args.iter().all(|&a| g.int_value(a).is_none())).then(|| [args[0], args[1]])
}

fn atom_range(g: &Graph, t: Term) -> (i128, i128) {
    let (low, high) = int_ty(g, t).map_or((i128::MIN, i128::MAX), IntTy::range);
    match g.node(t) {
        Node::Size(..) => (0, LARGEST_SIZE),
        Node::Var(_) => (0, MOST_STEPS),
        Node::Prim(Prim::Int(IntOp::Rem), args) if low == 0 => match g.int_value(args[1]) {
            Some(by) if by > 0 => (0, by - 1),
            _ => (low, high),
        },
        // A bitwise and with a non-negative mask is at most the mask.
        Node::Prim(Prim::Int(IntOp::BitAnd), args) => {
            let mask = args.iter().filter_map(|&m| g.int_value(m)).find(|&m| m >= 0);
            mask.map_or((low, high), |m| (0, m))
        }
        Node::Lit(Lit::Int(_, n)) => (*n, *n),
        _ => (low, high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Elem;
    use crate::prim::Cmp;

    /// A matrix `n x n` as a vector: which indices and parts are in range, for `i < n` and
    /// `j < min(n, i + 1)`.
    #[test]
    fn rows_of_a_flattened_matrix_are_in_range() {
        let mut g = Graph::new();
        let x = g.add_input(Elem::F64, 1);
        let n = g.shape(x)[0];
        let [i, j] = [0; 2].map(|_| g.add_input(Elem::USIZE, 0));
        let one = g.lit_usize(1);
        let next = g.int(IntOp::Add, i, one);
        let end = g.int(IntOp::Min, n, next);
        let size = g.int(IntOp::Mul, n, n);
        let mut facts = Facts::new();
        for (a, b) in [(i, n), (j, n), (j, end)] {
            let below = g.compare(Cmp::Lt, a, b);
            facts.assume(&g, below, true);
        }
        let start = g.int(IntOp::Mul, n, i);
        let at = g.int(IntOp::Add, j, start);
        let last = g.int(IntOp::Add, at, one);
        assert!(!facts.prove_le(&g, last, size), "the product of two numbers may be saturated");
        facts.is_axis(&g, size);
        assert!(facts.prove_le(&g, last, size), "`n * i + j` is an index");
        let part = g.int(IntOp::Add, start, j);
        assert!(facts.prove_le(&g, part, size), "`n * i .. n * i + j` is a part");
        let far = g.int(IntOp::Add, last, n);
        assert!(!facts.prove_le(&g, far, size), "`n * i + j + n` may be past the end");
        let other = g.int(IntOp::Mul, n, next);
        let other = g.int(IntOp::Add, other, j);
        assert!(!facts.prove_le(&g, other, size), "a part of the next row need not exist");
    }
}
