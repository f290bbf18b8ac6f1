//! A carried array plus something that is zero but for a few elements, as additions to these elements: what lets the cotangent of an
//! array that a loop reads element by element stay in one place, at a cost that does not depend on the array's size.
//! Must never reassociate where all elements are added anyway.

use crate::ir::{Graph, Node, Put, Term};
use crate::prim::{Binary, IntOp, Prim};

/// Summands of one sum that are looked at.
const MANY: usize = 64;
/// Conditions inside conditions that are looked at.
const DEEP: usize = 8;

/// `next` as a chain of writes to elements of `now` and additions to them, if it is one and is not already written as one.
pub(super) fn update(g: &mut Graph, now: Term, next: Term) -> Option<Term> {
    if g.rank(now) == 0 || next == now {
        return None;
    }
    chained(g, now, next, DEEP)
}

/// Scatters onto, choices between and sums of one such chain and what [`is_update`], with the additions moved into the chain.
fn chained(g: &mut Graph, now: Term, next: Term, deep: usize) -> Option<Term> {
    let (mut t, mut outer) = (next, Vec::new());
    while let (true, Node::Scatter { dst, .. }) = (t != now, g.node(t)) {
        outer.push(t);
        t = *dst;
    }
    let mut onto = match *g.node(t) {
        _ if t == now => t,
        _ if deep == 0 => return None,
        Node::Cond { cond, then, other } => {
            let (then, other) = (chained(g, now, then, deep - 1)?, chained(g, now, other, deep - 1)?);
            g.cond(cond, then, other)
        }
        Node::Prim(Prim::Binary(Binary::Add), _) => {
            let mut sum = Vec::new();
            summands(g, t, &mut sum)?;
            // Exactly one summand is the array itself.
            let at = sum.iter().position(|&t| !is_update(g, t, DEEP))?;
            let chain = sum.remove(at);
            if sum.iter().any(|&t| t == now || !is_update(g, t, DEEP)) {
                return None;
            }
            let chain = chained(g, now, chain, deep - 1)?;
            sum.into_iter().fold(chain, |acc, t| add(g, acc, t))
        }
        _ => return None,
    };
    for t in outer.into_iter().rev() {
        if let Node::Scatter { put, src, vars, index, .. } = g.node(t).clone() {
            onto = g.mk(Node::Scatter { put, dst: onto, src, vars, index });
        }
    }
    Some(onto)
}

fn summands(g: &Graph, t: Term, sum: &mut Vec<Term>) -> Option<()> {
    let mut stack = vec![t];
    while let Some(t) = stack.pop() {
        if sum.len() + stack.len() > MANY {
            return None;
        }
        match g.node(t) {
            Node::Prim(Prim::Binary(Binary::Add), args) => stack.extend([args[1], args[0]]),
            _ => sum.push(t),
        }
    }
    Some(())
}

fn is_zero(g: &Graph, t: Term) -> bool {
    g.real_value(t).is_some_and(|x| x.to_bits() == 0)
}

/// Whether it is zero but for elements that are added one by one.
fn is_update(g: &Graph, t: Term, deep: usize) -> bool {
    if is_zero(g, t) {
        return true;
    }
    match g.node(t) {
        _ if deep == 0 => false,
        Node::Scatter { put: Put::Add, dst, .. } => {
            let mut sum = Vec::new();
            summands(g, *dst, &mut sum).is_some() && sum.iter().all(|&t| is_update(g, t, deep - 1))
        }
        Node::Cond { then, other, .. } => is_update(g, *then, deep - 1) && is_update(g, *other, deep - 1),
        Node::Prim(Prim::Pad(steps), _) => steps.iter().all(|&s| s > 0),
        _ => false,
    }
}

/// `acc + t` for such a t.
fn add(g: &mut Graph, acc: Term, t: Term) -> Term {
    if is_zero(g, t) {
        return acc;
    }
    match g.node(t).clone() {
        Node::Scatter { put: Put::Add, dst, src, vars, index } => {
            let mut sum = Vec::new();
            let dst = match summands(g, dst, &mut sum) {
                Some(()) => sum.into_iter().fold(acc, |acc, t| add(g, acc, t)),
                None => g.add(acc, dst),
            };
            g.mk(Node::Scatter { put: Put::Add, dst, src, vars, index })
        }
        Node::Cond { cond, then, other } => {
            let (then, other) = (add(g, acc, then), add(g, acc, other));
            g.cond(cond, then, other)
        }
        Node::Prim(Prim::Pad(steps), args) => {
            let vars: Vec<_> = steps.iter().map(|_| g.fresh()).collect();
            let mut index = Vec::new();
            for (k, &step) in steps.iter().enumerate() {
                let var = g.mk(Node::Var(vars[k]));
                let step = g.lit_usize(usize::try_from(step).unwrap_or(1));
                let offset = g.int(IntOp::Mul, var, step);
                index.push(g.int(IntOp::Add, args[1 + k], offset));
            }
            g.scatter(acc, args[0], &vars, &index)
        }
        _ => g.add(acc, t),
    }
}
