//! The change of the length of a growable vector, in a step of a loop and in all steps. The
//! capacity of the vector and, where the change is exact, its length follow from it.
//!
//! A bound must never be too small, since an element would then have no capacity.

use super::lower::Lower;
use ad_ir::ir::{Node, Term};
use ad_ir::prim::{IntOp, Prim};

/// The growth of a `Vec` since the start of the step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Growth {
    /// An upper bound on the number of added elements, as a closed term. `None` if there is no
    /// bound.
    pub bound: Option<Term>,
    /// Whether the growth is `bound - freed` in every step.
    pub exact: bool,
    /// The `Vec` was replaced by one with at most this many elements (closed), whatever its length
    /// was before.
    pub replaced_by: Option<Term>,
    /// The `Vec` was replaced by another one that the loop carries.
    pub swapped: bool,
    /// The number of elements that were certainly taken out and that no push has replaced. The
    /// growth is at most `bound - freed`, and was never more than `bound`.
    pub freed: usize,
    /// Whether an element may have been taken out.
    pub taken: bool,
}

impl Lower<'_> {
    /// The growth of a `Vec` that does not change.
    pub(super) fn no_growth(&mut self) -> Growth {
        Growth {
            bound: Some(self.g.lit_usize(0)),
            exact: true,
            replaced_by: None,
            swapped: false,
            freed: 0,
            taken: false,
        }
    }

    /// The growth of two changes in sequence.
    pub(super) fn growth_in_sequence(&mut self, a: Growth, b: Growth) -> Growth {
        let most = a.bound.zip(b.bound).map(|(a, b)| self.g.int(IntOp::Add, a, b));
        let instead = self.max_bound(a.replaced_by, b.replaced_by);
        Growth {
            bound: most,
            exact: a.exact && b.exact,
            replaced_by: instead,
            swapped: a.swapped || b.swapped,
            freed: a.freed + b.freed,
            taken: a.taken || b.taken,
        }
    }

    /// The maximum of two bounds, or the only one that is given.
    pub(super) fn max_bound(&mut self, a: Option<Term>, b: Option<Term>) -> Option<Term> {
        match (a, b) {
            (Some(a), Some(b)) if a != b => Some(self.g.int(IntOp::Max, a, b)),
            (a, b) => a.or(b),
        }
    }

    /// The growth of `size` steps. `None`: the number of steps is not known.
    pub(super) fn repeated_growth(&mut self, size: Option<Term>, one: Growth) -> Growth {
        let literal = one.bound.and_then(|most| usize::try_from(self.g.int_value(most)?).ok());
        // An element that is taken out and pushed again in a step needs capacity once, not in each
        // step.
        let (freed, known) = (one.freed.min(literal.unwrap_or(0)), literal.is_some() || one.freed == 0);
        let each = match literal {
            Some(most) => Some(self.g.lit_usize(most - freed)),
            None => one.bound,
        };
        let zero = self.g.lit_usize(0);
        let all = match (size, each) {
            (_, Some(each)) if each == zero => Some(zero),
            (Some(size), Some(each)) => Some(self.g.int(IntOp::Mul, size, each)),
            _ => None,
        };
        let again = self.g.lit_usize(freed);
        let most = all.map(|all| self.g.int(IntOp::Add, all, again));
        let exact = one.exact && size.is_some() && known && freed == one.freed;
        Growth { bound: most, exact, freed, ..one }
    }

    /// The net growth, if it is exact and known not to be negative.
    pub(super) fn net(&mut self, more: Growth) -> Option<Term> {
        let (most, freed) = (more.bound.filter(|_| more.exact)?, self.g.lit_usize(more.freed));
        let at_least = match self.g.node(most) {
            Node::Prim(Prim::Int(IntOp::Add), args) => self.g.int_value(args[1]),
            _ => self.g.int_value(most),
        };
        let enough = more.freed == 0 || at_least >= self.g.int_value(freed);
        enough.then(|| self.g.int(IntOp::Sub, most, freed))
    }
}
