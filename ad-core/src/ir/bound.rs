//! Loops whose last steps do nothing: `for j in 0..i` in a loop over i is a loop of as many steps as the greatest i asks for, whose steps are
//! under the condition `j < i`. Whoever runs the loop may stop there.
//!
//! Must never take a step for nothing if it leaves a carried value changed, or a row that is not zero.

use std::collections::HashMap;

use super::{Elem, Graph, Node, Scan, Term};
use crate::prim::{Binary, Cmp, IntOp, Prim};

/// The condition under which a step does anything, and how many steps at the beginning it holds for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    /// In the body: its value where a step does something.
    pub(crate) literal: (Term, bool),
    /// Over captures only: steps from here on do nothing.
    pub(crate) limit: Term,
}

/// Conditions that are tried.
const MANY: usize = 8;

/// The bound of a loop, if its body says one.
pub(crate) fn bound(g: &mut Graph, scan: &Scan) -> Option<Bound> {
    let reach = g.reachable(&scan.body.results);
    let compared: Vec<Term> =
        reach.iter().copied().filter(|&t| matches!(g.node(t), Node::Prim(Prim::Compare(_), _))).collect();
    let mut tried = 0;
    for cond in compared {
        for value in [true, false] {
            let Some(limit) = limit(g, scan, (cond, value)) else { continue };
            tried += 1;
            if idle(g, scan, &reach, (cond, !value)) {
                return Some(Bound { literal: (cond, value), limit });
            }
        }
        if tried >= MANY {
            break;
        }
    }
    None
}

/// Whether a step does nothing where this holds: what is carried stays, and rows are zeros.
fn idle(g: &Graph, scan: &Scan, reach: &[Term], fact: (Term, bool)) -> bool {
    // What a term is where the fact holds, as far as conditionals and sums with zeros say it: by position in `reach`.
    let mut is: HashMap<Term, Is> = HashMap::with_capacity(reach.len());
    for &t in reach {
        let of = |c: Term| is.get(&c).copied().unwrap_or(Is::Term(c));
        let own = match g.node(t) {
            _ if t == fact.0 => Is::Bool(fact.1),
            Node::Cond { cond, then, other } => choice(of(*cond), of(*then), of(*other), t),
            Node::Prim(prim, args) => match (prim, &**args) {
                (Prim::Select, [mask, then, other]) if g.rank(*mask) == 0 => {
                    choice(of(*mask), of(*then), of(*other), t)
                }
                (Prim::Binary(Binary::Add), [a, b]) => match (of(*a), of(*b)) {
                    (Is::Blank, x) | (x, Is::Blank) => x,
                    _ => Is::Term(t),
                },
                (Prim::And, [a, b]) => match (of(*a), of(*b)) {
                    (Is::Bool(true), x) | (x, Is::Bool(true)) => x,
                    (Is::Bool(false), _) | (_, Is::Bool(false)) => Is::Bool(false),
                    _ => Is::Term(t),
                },
                (Prim::Not, [a]) => match of(*a) {
                    Is::Bool(b) => Is::Bool(!b),
                    _ => Is::Term(t),
                },
                _ => plain(g, t),
            },
            _ => plain(g, t),
        };
        is.insert(t, own);
    }
    scan.body.results.iter().enumerate().all(|(k, t)| match is[t] {
        Is::Term(t) => k < scan.init.len() && matches!(g.node(t), Node::Param(n, _) if *n as usize == k),
        Is::Blank => k >= scan.init.len(),
        Is::Bool(value) => k >= scan.init.len() && !value,
    })
}

/// What a term is in a step that is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Is {
    /// What new memory holds, if it is not boolean.
    Blank,
    Bool(bool),
    Term(Term),
}

fn plain(g: &Graph, t: Term) -> Is {
    match g.bool_value(t) {
        Some(value) => Is::Bool(value),
        None if is_blank(g, t) => Is::Blank,
        None => Is::Term(t),
    }
}

fn choice(cond: Is, then: Is, other: Is, t: Term) -> Is {
    match cond {
        Is::Bool(true) => then,
        Is::Bool(false) => other,
        _ if then == other => then,
        _ => Is::Term(t),
    }
}

/// Whether all its elements are what new memory holds.
pub(crate) fn is_blank(g: &Graph, t: Term) -> bool {
    match g.ty(t).as_array() {
        Some((Elem::Real(_), _)) => g.real_value(t).is_some_and(|x| x.to_bits() == 0),
        Some((Elem::Int(_), _)) => g.int_value(g.splat(t)) == Some(0),
        Some((Elem::Bool, _)) => g.bool_value(t) == Some(false),
        None => false,
    }
}

/// `step < limit`, if that is what the condition says.
fn limit(g: &mut Graph, scan: &Scan, (cond, value): (Term, bool)) -> Option<Term> {
    let (first, fixed) =
        (scan.init.len() + scan.captures.len(), scan.init.len()..scan.init.len() + scan.captures.len());
    let Node::Prim(Prim::Compare(op), args) = g.node(cond) else { return None };
    let (op, args) = (*op, [args[0], args[1]]);
    let is_step = |g: &Graph, t: Term| match g.node(t) {
        Node::Param(k, _) => {
            let x = (*k as usize).checked_sub(first).and_then(|k| scan.xs.get(k));
            x.is_some_and(|&x| matches!(g.node(x), Node::Prim(Prim::Iota, _)))
        }
        _ => false,
    };
    // As `step op other`.
    let (op, other) = if is_step(g, args[0]) {
        (op, args[1])
    } else if is_step(g, args[1]) {
        let turned = match op {
            Cmp::Lt => Cmp::Gt,
            Cmp::Le => Cmp::Ge,
            Cmp::Gt => Cmp::Lt,
            Cmp::Ge => Cmp::Le,
            Cmp::Eq | Cmp::Ne => return None,
        };
        (turned, args[0])
    } else {
        return None;
    };
    let outside = g
        .reachable(&[other])
        .into_iter()
        .all(|t| !matches!(g.node(t), Node::Param(k, _) if !fixed.contains(&(*k as usize))));
    if !outside || !g.free(other).is_empty() {
        return None;
    }
    match (op, value) {
        (Cmp::Lt, true) | (Cmp::Ge, false) => Some(other),
        (Cmp::Le, true) | (Cmp::Gt, false) => {
            let one = g.lit_usize(1);
            Some(g.int(IntOp::Add, other, one))
        }
        _ => None,
    }
}
