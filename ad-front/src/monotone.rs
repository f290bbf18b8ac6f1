//! Monotonicity: a condition such as `i * n + j < len`, or the absence of overflow in it, holds for
//! all values of an index if it holds for the last one. The check then tests the last value and
//! needs no loop. It may be made without the guards of its point, since it is then stronger.
//!
//! Invariant: a direction is reported only if a saturated operation cannot reverse it. All
//! operations that are followed here are monotone, saturated or not.

use std::collections::HashMap;

use ad_ir::ir::{Elem, Graph, Node, Term, Var};
use ad_ir::prim::{Cmp, IntOp, Prim};

/// The direction in which a value changes as an index grows. For booleans, true is greater than
/// false.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Monotonicity {
    /// The value does not depend on the index.
    Constant,
    /// The value never decreases.
    Increasing,
    /// The value never increases.
    Decreasing,
}

impl Monotonicity {
    fn reversed(self) -> Monotonicity {
        match self {
            Monotonicity::Constant => Monotonicity::Constant,
            Monotonicity::Increasing => Monotonicity::Decreasing,
            Monotonicity::Decreasing => Monotonicity::Increasing,
        }
    }

    fn with(self, other: Monotonicity) -> Option<Monotonicity> {
        match (self, other) {
            (Monotonicity::Constant, m) | (m, Monotonicity::Constant) => Some(m),
            (a, b) => (a == b).then_some(a),
        }
    }
}

/// The direction in which `t` changes as `var` grows, if it is known.
pub(super) fn monotonicity(g: &Graph, t: Term, var: Var) -> Option<Monotonicity> {
    let mut found: HashMap<Term, Option<Monotonicity>> = HashMap::new();
    for t in g.reachable(&[t]) {
        let own = if g.mentions(t, var) { one(g, t, var, &found) } else { Some(Monotonicity::Constant) };
        found.insert(t, own);
    }
    found[&t]
}

fn one(g: &Graph, t: Term, var: Var, found: &HashMap<Term, Option<Monotonicity>>) -> Option<Monotonicity> {
    let of = |t: Term| found.get(&t).copied().flatten();
    let (prim, args) = match g.node(t) {
        Node::Var(v) => return (*v == var).then_some(Monotonicity::Increasing),
        Node::Prim(prim, args) => (prim, args),
        _ => return None,
    };
    if g.rank(t) > 0 {
        return None;
    }
    let unsigned = matches!(g.elem(args[0]), Elem::Int(ty) if ty.range().0 == 0);
    match prim {
        Prim::Int(IntOp::Add | IntOp::Min | IntOp::Max) => of(args[0])?.with(of(args[1])?),
        Prim::Int(IntOp::Sub) => of(args[0])?.with(of(args[1])?.reversed()),
        Prim::Int(IntOp::Mul) if unsigned => of(args[0])?.with(of(args[1])?),
        // `x / 0` is defined as `x / 1` in core terms (`int_op`).
        Prim::Int(IntOp::Div) if unsigned => of(args[0])?.with(of(args[1])?.reversed()),
        Prim::And | Prim::Or => of(args[0])?.with(of(args[1])?),
        Prim::Not => Some(of(args[0])?.reversed()),
        Prim::Compare(op) if matches!(g.elem(args[0]), Elem::Int(_)) => {
            let (a, b) = (of(args[0])?, of(args[1])?);
            match op {
                Cmp::Le | Cmp::Lt => a.reversed().with(b),
                Cmp::Ge | Cmp::Gt => a.with(b.reversed()),
                Cmp::Eq if unsigned && g.int_value(args[1]) == Some(0) => Some(a.reversed()),
                Cmp::Eq | Cmp::Ne => None,
            }
        }
        _ => None,
    }
}

/// Whether a condition may be evaluated before the guards of its point: it consists of integers
/// only, and of the terms in `known`.
pub(super) fn may_precede_guards(g: &Graph, t: Term, known: &[Term]) -> bool {
    let mut stack = vec![t];
    for _ in 0..64 {
        let Some(t) = stack.pop() else { return true };
        if known.contains(&t) {
            continue;
        }
        match g.node(t) {
            Node::Size(..) | Node::Lit(_) => {}
            Node::Input(_) if g.rank(t) == 0 => {}
            Node::Prim(prim, args) if prim.computes_sizes() && g.rank(t) == 0 => stack.extend(args.iter().copied()),
            _ => return false,
        }
    }
    false
}
