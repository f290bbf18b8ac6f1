//! Loops whose last iterations do nothing. `for j in 0..i` in a loop over `i` is lowered as a loop
//! up to the greatest `i`, and each iteration has the condition `j < i`. The code that runs the
//! loop may stop at `i`.
//!
//! An iteration does nothing if it changes no carried value and its rows are zeros. The analysis
//! never changes a term: it returns the bound, and the caller makes the term of the limit.

use std::collections::{HashMap, HashSet};

use super::zeros::Zeros;
use super::{Analyses, Analysis, Reachable};

use crate::ir::{Elem, Graph, Node, Put, Scan, Term};
use crate::prim::{Binary, Cmp, IntOp, Prim};

/// The condition under which an iteration has an effect. It holds for the first iterations.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// A condition in the body, and its value in the iterations that have an effect.
    pub literal: (Term, bool),
    last: Limit,
}

/// A limit of the number of an iteration, over captures only.
#[derive(Clone, Copy, Debug)]
struct Limit {
    term: Term,
    /// Whether the iteration of this number is within the limit.
    inclusive: bool,
}

impl Bound {
    /// The number of iterations that have an effect; it may be greater than the count of the loop.
    pub fn limit(&self, g: &mut Graph) -> Term {
        let Limit { term, inclusive } = self.last;
        if !inclusive {
            return term;
        }
        let one = g.lit_usize(1);
        g.int(IntOp::Add, term, one)
    }
}

/// The bound of each root that is a loop, if its body has one.
#[derive(Debug)]
pub struct Bounds;

impl Analysis for Bounds {
    type Result = Vec<Option<Bound>>;

    fn of(g: &Graph, roots: &[Term], others: &mut Analyses) -> Self::Result {
        let mut bound = |&t: &Term| match g.node(t) {
            Node::Scan(scan) => bound(g, scan, others),
            _ => None,
        };
        roots.iter().map(&mut bound).collect()
    }
}

/// The maximum number of conditions that are tried.
const MAX_CONDITIONS: usize = 8;

/// The bound of a loop. The loop need not be a term: its operands may have been lowered already.
pub fn bound(g: &Graph, scan: &Scan, others: &mut Analyses) -> Option<Bound> {
    let reach = others.get::<Reachable>(g, &scan.body.results);
    let zeros = others.get::<Zeros>(g, &scan.body.results);
    let compared = reach.iter().copied().filter(|&t| matches!(g.node(t), Node::Prim(Prim::Compare(_), _)));
    let mut tried = 0;
    for cond in compared {
        for value in [true, false] {
            let Some(last) = limit(g, scan, (cond, value)) else { continue };
            tried += 1;
            if idle(g, scan, (&reach, &zeros), (cond, !value)) {
                return Some(Bound { literal: (cond, value), last });
            }
        }
        if tried >= MAX_CONDITIONS {
            break;
        }
    }
    None
}

/// Whether an iteration does nothing if the fact holds: it does not change the carried values, and
/// its rows are zeros.
fn idle(g: &Graph, scan: &Scan, (reach, zeros): (&[Term], &HashSet<Term>), fact: (Term, bool)) -> bool {
    // The value of each term if the fact holds, as far as conditionals and sums with zeros show it.
    let mut values: HashMap<Term, IterationValue> = HashMap::with_capacity(reach.len());
    for &t in reach {
        let of = |c: Term| values.get(&c).copied().unwrap_or(IterationValue::Term(c));
        let own = match g.node(t) {
            _ if t == fact.0 => IterationValue::Bool(fact.1),
            Node::Cond { cond, then, other } => choice(of(*cond), of(*then), of(*other), t),
            Node::Prim(prim, args) => match (prim, &**args) {
                (Prim::Select, [mask, then, other]) if g.rank(*mask) == 0 => {
                    choice(of(*mask), of(*then), of(*other), t)
                }
                (Prim::Binary(Binary::Add), [a, b]) => match (of(*a), of(*b)) {
                    (IterationValue::Blank, x) | (x, IterationValue::Blank) => x,
                    _ => IterationValue::Term(t),
                },
                (Prim::And, [a, b]) => match (of(*a), of(*b)) {
                    (IterationValue::Bool(true), x) | (x, IterationValue::Bool(true)) => x,
                    (IterationValue::Bool(false), _) | (_, IterationValue::Bool(false)) => IterationValue::Bool(false),
                    _ => IterationValue::Term(t),
                },
                (Prim::Or, [a, b]) => match (of(*a), of(*b)) {
                    (IterationValue::Bool(false), x) | (x, IterationValue::Bool(false)) => x,
                    (IterationValue::Bool(true), _) | (_, IterationValue::Bool(true)) => IterationValue::Bool(true),
                    _ => IterationValue::Term(t),
                },
                (Prim::Not, [a]) => match of(*a) {
                    IterationValue::Bool(b) => IterationValue::Bool(!b),
                    _ => IterationValue::Term(t),
                },
                _ => plain(g, t, zeros),
            },
            // Only zeros are added.
            Node::Scatter { put: Put::Add, dst, src, .. } if of(*src) == IterationValue::Blank => of(*dst),
            _ => plain(g, t, zeros),
        };
        values.insert(t, own);
    }
    scan.body.results.iter().enumerate().all(|(k, t)| match values[t] {
        IterationValue::Term(t) => k < scan.init.len() && matches!(g.node(t), Node::Param(n, _) if *n as usize == k),
        IterationValue::Blank => k >= scan.init.len(),
        IterationValue::Bool(value) => k >= scan.init.len() && !value,
    })
}

/// The value of a term in an iteration for which a fact holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IterationValue {
    /// Zeros, as in new memory; not of booleans.
    Blank,
    /// A boolean constant.
    Bool(bool),
    /// The value of this term.
    Term(Term),
}

fn plain(g: &Graph, t: Term, zeros: &HashSet<Term>) -> IterationValue {
    match g.bool_value(t) {
        Some(value) => IterationValue::Bool(value),
        None if zeros.contains(&t) => IterationValue::Blank,
        None => IterationValue::Term(t),
    }
}

fn choice(cond: IterationValue, then: IterationValue, other: IterationValue, t: Term) -> IterationValue {
    match cond {
        IterationValue::Bool(true) => then,
        IterationValue::Bool(false) => other,
        _ if then == other => then,
        _ => IterationValue::Term(t),
    }
}

/// Whether a condition of the body seems to hold for the first iterations only: it compares an
/// integer of the iteration, which may be its number, with a limit that is known before the loop.
#[must_use]
pub fn is_limit(g: &Graph, scan: &Scan, guard: (Term, bool)) -> bool {
    limit_of(g, scan, guard, |x| g.elem(x) == Elem::USIZE).is_some()
}

/// The limit, if the condition is `iteration < limit` or `iteration <= limit`.
fn limit(g: &Graph, scan: &Scan, guard: (Term, bool)) -> Option<Limit> {
    limit_of(g, scan, guard, |x| matches!(g.node(x), Node::Prim(Prim::Iota, _)))
}

/// The limit of the iterations, given which rows are their numbers.
fn limit_of(g: &Graph, scan: &Scan, (cond, value): (Term, bool), numbers: impl Fn(Term) -> bool) -> Option<Limit> {
    let (first, fixed) =
        (scan.init.len() + scan.captures.len(), scan.init.len()..scan.init.len() + scan.captures.len());
    let Node::Prim(Prim::Compare(op), args) = g.node(cond) else { return None };
    let (op, args) = (*op, [args[0], args[1]]);
    let is_step = |g: &Graph, t: Term| match g.node(t) {
        Node::Param(k, _) => {
            let x = (*k as usize).checked_sub(first).and_then(|k| scan.xs.get(k));
            x.is_some_and(|&x| numbers(x))
        }
        _ => false,
    };
    // The comparison is written as `step op other`.
    let (op, other) = if is_step(g, args[0]) {
        (op, args[1])
    } else if is_step(g, args[1]) {
        if matches!(op, Cmp::Eq | Cmp::Ne) {
            return None;
        }
        (op.swapped(), args[0])
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
        (Cmp::Lt, true) | (Cmp::Ge, false) => Some(Limit { term: other, inclusive: false }),
        (Cmp::Le, true) | (Cmp::Gt, false) => Some(Limit { term: other, inclusive: true }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{OpenLoop, RealTy, Type};

    /// A loop of ten steps. The body gets the graph and four terms: the step, an integer and a
    /// number from outside, and the carried value.
    fn of(body: impl FnOnce(&mut Graph, [Term; 4]) -> Vec<Term>) -> (Graph, Term, Term) {
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
        (g, t, limit)
    }

    /// The value of the condition, whether the limit is the integer from outside, and the constant
    /// that is added to it.
    fn found(body: impl FnOnce(&mut Graph, [Term; 4]) -> Vec<Term>) -> Option<(bool, bool, i128)> {
        let (mut g, t, limit) = of(body);
        let bound = Analyses::default().get::<Bounds>(&g, &[t])[0]?;
        let (found, value) = (bound.limit(&mut g), bound.literal.1);
        let Node::Scan(scan) = g.node(t).clone() else { panic!("a loop") };
        let captured = |t: Term| match g.node(t) {
            Node::Param(k, _) => scan.captures[*k as usize - scan.init.len()] == limit,
            // A term that may be a size is not captured.
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
    fn steps_without_an_effect() {
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
        // In the other direction: the limit is compared with the step.
        let turned = found(|g, [i, limit, x, now]| {
            let (c, more) = (g.compare(Cmp::Gt, limit, i), g.mul(now, x));
            vec![g.cond(c, more, now)]
        });
        assert_eq!(turned, Some((true, true, 0)));
        // A step adds a number or adds nothing.
        let added = found(|g, [i, limit, x, now]| {
            let (c, zero) = (g.compare(Cmp::Lt, i, limit), g.lit_like(x, 0.0));
            let more = g.cond(c, x, zero);
            vec![g.add(now, more)]
        });
        assert_eq!(added, Some((true, true, 0)));
    }

    #[test]
    fn additions_of_zero_to_an_element() {
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
            let scan = g.reachable(&[t]).into_iter().find(|&t| matches!(g.node(t), Node::Scan(_)));
            Analyses::default().get::<Bounds>(&g, &[scan.expect("a loop")])[0].is_some()
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
    fn steps_with_an_effect_are_kept() {
        // The other arm changes the carried value.
        assert_eq!(
            found(|g, [i, limit, x, now]| {
                let (c, more, less) = (g.compare(Cmp::Lt, i, limit), g.mul(now, x), g.add(now, x));
                vec![g.cond(c, more, less)]
            }),
            None
        );
        // The condition holds from a step on, and not up to a step.
        assert_eq!(
            found(|g, [i, limit, x, now]| {
                let (c, more) = (g.compare(Cmp::Ge, i, limit), g.mul(now, x));
                vec![g.cond(c, more, now)]
            }),
            None
        );
        // The limit changes from step to step.
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
