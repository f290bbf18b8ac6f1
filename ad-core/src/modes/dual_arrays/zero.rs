//! Terms that are literally zero. Must never make a term.

use crate::ir::{Graph, Node, Term};

/// Whether a term is literally zero (tuples: in every real part).
pub(super) fn is_zero(g: &Graph, t: Term) -> bool {
    match g.node(t) {
        Node::Tuple(parts) => parts.iter().all(|&p| is_zero(g, p)),
        _ => g.real_value(t).is_some_and(|x| x.to_bits() == 0),
    }
}
