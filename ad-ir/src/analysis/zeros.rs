//! Which terms are literally zero, in all elements. This module never makes a term, and never
//! applies a rule of arithmetic: the simplifier does that.
//!
//! A rule calls [`is_zero`] for a single term. `Zeros` is the set of zero terms of a whole graph.

use std::collections::HashSet;

use super::{Analyses, Analysis};
use crate::ir::{Elem, Graph, Node, Term};

/// The terms whose elements are all like new memory (see [`is_blank`]).
#[derive(Debug)]
pub(crate) struct Zeros;

impl Analysis for Zeros {
    type Result = HashSet<Term>;

    fn of(g: &Graph, roots: &[Term], _: &mut Analyses) -> HashSet<Term> {
        g.reachable(roots).into_iter().filter(|&t| is_blank(g, t)).collect()
    }
}

/// Whether all elements are +0.0; for a tuple, the elements of all its components. The signs of
/// zeros are distinguished: an addition of -0.0 changes no bit, and one of +0.0 does (-0.0 becomes
/// +0.0).
pub fn is_zero(g: &Graph, t: Term) -> bool {
    match g.node(t) {
        Node::Tuple(parts) => parts.iter().all(|&p| is_zero(g, p)),
        _ => g.real_value(t).is_some_and(|x| x.to_bits() == 0),
    }
}

/// Whether all elements are zeros of either sign, for a rule that may lose the sign of a zero.
pub fn is_zero_of_either_sign(g: &Graph, t: Term) -> bool {
    g.real_value(t).is_some_and(|x| x == 0.0)
}

/// Whether all elements are like new memory: +0.0, the integer 0 or `false`.
pub fn is_blank(g: &Graph, t: Term) -> bool {
    match g.ty(t).as_array() {
        Some((Elem::Real(_), _)) => is_zero(g, t),
        Some((Elem::Int(_), _)) => g.int_value(g.splat(t)) == Some(0),
        Some((Elem::Bool, _)) => g.bool_value(t) == Some(false),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::RealTy;

    #[test]
    fn the_sign_of_a_zero_and_the_type_of_an_element() {
        let mut g = Graph::new();
        let x = g.add_input(Elem::Real(RealTy::F64), 0);
        let n = g.add_input(Elem::USIZE, 0);
        let [plus, minus] = [0.0, -0.0].map(|v| g.lit_like(x, v));
        let many = g.broadcast(minus, &[n]);
        let (none, no) = (g.lit_usize(0), g.lit_bool(false));
        let pair = g.tuple(&[plus, many]);
        let kinds = |t: Term| (is_zero(&g, t), is_zero_of_either_sign(&g, t), is_blank(&g, t));
        assert_eq!(kinds(plus), (true, true, true));
        assert_eq!(kinds(many), (false, true, false));
        assert_eq!(kinds(none), (false, false, true));
        assert_eq!(kinds(no), (false, false, true));
        assert_eq!(kinds(pair), (false, false, false));
        assert_eq!(kinds(x), (false, false, false));
        let all = Analyses::default().get::<Zeros>(&g, &[pair, none, x]).len();
        assert_eq!(all, 2, "the positive zero and the integer");
    }
}
