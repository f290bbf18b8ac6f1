//! Loops whose last steps do nothing: `for j in 0..i` in a loop over i is a loop of as many steps
//! as the greatest i asks for, whose steps are under the condition `j < i`. Whoever runs the loop
//! may stop there.
//!
//! Must never take a step for nothing if it leaves a carried value changed, or a row that is not
//! zero.

use std::collections::HashMap;

use crate::ir::{Elem, Graph, Node, Put, Scan, Term};
use crate::prim::{Binary, Cmp, IntOp, Prim};

/// The condition under which a step does anything, and how many steps at the beginning it holds
/// for.
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
    // What a term is where the fact holds, as far as conditionals and sums with zeros say it: by
    // position in `reach`.
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
            // Nothing is added.
            Node::Scatter { put: Put::Add, dst, src, .. } if of(*src) == Is::Blank => of(*dst),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{OpenLoop, RealTy, Type};

    /// A loop of ten steps over what a step is given: the graph, the step, an integer and a number
    /// from outside, and what is carried.
    fn of(body: impl FnOnce(&mut Graph, [Term; 4]) -> Vec<Term>) -> (Graph, Scan, Term) {
        let mut g = Graph::new();
        let limit = g.add_input(Elem::USIZE, 0);
        let x = g.add_input(Elem::Real(RealTy::F64), 0);
        let (step, now) = (g.fresh(), g.placeholder(Type::scalar(Elem::Real(RealTy::F64))));
        let i = g.mk(Node::Var(step));
        let results = body(&mut g, [i, limit, x, now]);
        let l = OpenLoop {
            count: g.lit_usize(10),
            reverse: false,
            stop: None,
            step,
            init: vec![x],
            carried: vec![now],
            results,
        };
        let t = g.close_loop(&l);
        let t = match g.node(t) {
            Node::Tuple(parts) => match *g.node(parts[0]) {
                Node::Proj(scan, _) => scan,
                _ => t,
            },
            _ => t,
        };
        let Node::Scan(scan) = g.node(t).clone() else { panic!("a loop") };
        (g, *scan, limit)
    }

    /// The condition's value, whether the limit is the integer from outside, and what is added to
    /// it.
    fn found(body: impl FnOnce(&mut Graph, [Term; 4]) -> Vec<Term>) -> Option<(bool, bool, i128)> {
        let (mut g, scan, limit) = of(body);
        let Bound { literal: (_, value), limit: found } = bound(&mut g, &scan)?;
        let captured = |t: Term| match g.node(t) {
            Node::Param(k, _) => scan.captures[*k as usize - scan.init.len()] == limit,
            // What may be a size is not captured.
            _ => t == limit,
        };
        Some(match g.node(found) {
            Node::Prim(Prim::Int(IntOp::Add), args) => {
                let (of, more) = if captured(args[0]) { (args[0], args[1]) } else { (args[1], args[0]) };
                (value, captured(of), g.int_value(more).unwrap_or(-1))
            }
            _ => (value, captured(found), 0),
        })
    }

    #[test]
    fn steps_that_leave_everything_as_it_is() {
        let below = |op: Cmp| {
            found(move |g, [i, limit, x, now]| {
                let (c, more) = (g.compare(op, i, limit), g.mul(now, x));
                vec![if matches!(op, Cmp::Lt | Cmp::Le) { g.cond(c, more, now) } else { g.cond(c, now, more) }]
            })
        };
        assert_eq!(below(Cmp::Lt), Some((true, true, 0)));
        assert_eq!(below(Cmp::Le), Some((true, true, 1)));
        assert_eq!(below(Cmp::Ge), Some((false, true, 0)));
        assert_eq!(below(Cmp::Gt), Some((false, true, 1)));
        // The other way round: the limit is compared with the step.
        let turned = found(|g, [i, limit, x, now]| {
            let (c, more) = (g.compare(Cmp::Gt, limit, i), g.mul(now, x));
            vec![g.cond(c, more, now)]
        });
        assert_eq!(turned, Some((true, true, 0)));
        // Something is added, or nothing.
        let added = found(|g, [i, limit, x, now]| {
            let (c, zero) = (g.compare(Cmp::Lt, i, limit), g.lit_like(x, 0.0));
            let more = g.cond(c, x, zero);
            vec![g.add(now, more)]
        });
        assert_eq!(added, Some((true, true, 0)));
    }

    #[test]
    fn additions_of_nothing_to_an_element() {
        let (mut g, f64s) = (Graph::new(), Elem::Real(RealTy::F64));
        let (n, k) = (g.add_input(Elem::USIZE, 0), g.add_input(Elem::USIZE, 0));
        let (x, y) = (g.add_input(f64s, 0), g.add_input(f64s, 0));
        let (init, step) = (g.broadcast(x, &[n]), g.fresh());
        let (i, now) = (g.mk(Node::Var(step)), g.placeholder(Type::Array(f64s, [n].into())));
        let (c, zero) = (g.compare(Cmp::Lt, i, k), g.lit_like(x, 0.0));
        let mut limited = |other: Term| {
            let more = g.cond(c, y, other);
            let next = g.scatter(now, more, &[], &[i]);
            let count = g.lit_usize(10);
            let l = OpenLoop {
                count,
                reverse: false,
                stop: None,
                step,
                init: vec![init],
                carried: vec![now],
                results: vec![next],
            };
            let t = g.close_loop(&l);
            let scan = g.reachable(&[t]).into_iter().find_map(|t| match g.node(t) {
                Node::Scan(scan) => Some((**scan).clone()),
                _ => None,
            });
            bound(&mut g, &scan.expect("a loop")).is_some()
        };
        assert!(limited(zero));
        assert!(!limited(x));
    }

    #[test]
    fn rows_of_idle_steps_are_zeros() {
        let row = |blank: f64| {
            found(move |g, [i, limit, x, now]| {
                let (c, more) = (g.compare(Cmp::Lt, i, limit), g.mul(now, x));
                let (next, none) = (g.cond(c, more, now), g.lit_like(x, blank));
                let row = g.cond(c, x, none);
                vec![next, row]
            })
        };
        assert_eq!(row(0.0), Some((true, true, 0)));
        assert_eq!(row(1.0), None);
        assert_eq!(row(-0.0), None, "new memory holds no negative zero");
    }

    #[test]
    fn steps_that_change_something_are_taken() {
        // The other arm changes what is carried.
        assert_eq!(
            found(|g, [i, limit, x, now]| {
                let (c, more, less) = (g.compare(Cmp::Lt, i, limit), g.mul(now, x), g.add(now, x));
                vec![g.cond(c, more, less)]
            }),
            None
        );
        // From a step on, not up to it.
        assert_eq!(
            found(|g, [i, limit, x, now]| {
                let (c, more) = (g.compare(Cmp::Ge, i, limit), g.mul(now, x));
                vec![g.cond(c, more, now)]
            }),
            None
        );
        // What it is compared with changes from step to step.
        assert_eq!(
            found(|g, [i, _, x, now]| {
                let k = g.cast(Elem::USIZE, now);
                let (c, more) = (g.compare(Cmp::Lt, i, k), g.mul(now, x));
                vec![g.cond(c, more, now)]
            }),
            None
        );
    }
}
