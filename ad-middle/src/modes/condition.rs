//! Conditions of cotangents. A cotangent that is zero unless a condition holds is kept as *one*
//! conditional with a zero arm, however deeply the function nests its conditionals. So a linear
//! operation passes one conditional and not one for each level. Nested conditions become a lazy
//! conjunction, `cond c1 c2 false`: as in the function, the inner one is evaluated only if the
//! outer one holds.

use ad_ir::analysis::guards::{Guard, parts};
use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::prim::Prim;

/// The maximum number of nested conditions that are compared when cotangents under two conditions
/// are added. If conditions further out are equal, the sum is not known to be masked; that costs a
/// little and is still correct.
const MAX_NESTING: usize = 8;

/// The guard of the other arm that all these conditionals with a zero arm share, if there is one.
pub(crate) fn common_guard(g: &Graph, mut terms: impl Iterator<Item = Term>) -> Option<Guard> {
    let guard = |t: Term| zero_arm(g, t).map(|arm| arm.0);
    let first = guard(terms.next()?)?;
    terms.all(|t| guard(t) == Some(first)).then_some(first)
}

/// For a conditional with a zero arm: the guard of the other arm, and that arm.
pub(crate) fn zero_arm(g: &Graph, t: Term) -> Option<(Guard, Term)> {
    match *g.node(t) {
        Node::Cond { cond, then, other } if is_zero(g, other) => Some(((cond, true), then)),
        Node::Cond { cond, then, other } if is_zero(g, then) => Some(((cond, false), other)),
        _ => None,
    }
}

/// `t` where the guard holds, else zero. If `t` is masked already, its own guard is the outer one.
pub(crate) fn mask(g: &mut Graph, t: Term, guard: Guard) -> Term {
    match zero_arm(g, t) {
        Some((outer, _)) if outer == guard => t,
        Some((outer, inner)) if outer == (guard.0, !guard.1) => g.zeros_like(inner),
        Some((outer, inner)) => {
            let both = both(g, outer, guard);
            wrap(g, inner, (both, true))
        }
        None => wrap(g, t, guard),
    }
}

/// `cond c t 0` or `cond c 0 t`, whatever t is.
pub(crate) fn wrap(g: &mut Graph, t: Term, (c, value): Guard) -> Term {
    let zero = g.zeros_like(t);
    if value { g.cond(c, t, zero) } else { g.cond(c, zero, t) }
}

fn both(g: &mut Graph, (a, a_value): Guard, (b, b_value): Guard) -> Term {
    let b = if b_value { b } else { g.not(b) };
    let no = g.lit_bool(false);
    if a_value { g.cond(a, b, no) } else { g.cond(a, no, b) }
}

/// `t` under one more guard, which becomes the outermost one.
pub(crate) fn mask_outside(g: &mut Graph, t: Term, outer: Guard) -> Term {
    match zero_arm(g, t) {
        Some((inner, x)) => {
            let c = both(g, outer, inner);
            wrap(g, x, (c, true))
        }
        None => wrap(g, t, outer),
    }
}

/// The sum of two terms. If both are masked and their conditions begin with a common part, the sum
/// is under that part. If the next conditions are opposite, the sum is one conditional with two
/// arms.
pub(crate) fn add(g: &mut Graph, a: Term, b: Term) -> Term {
    if is_zero(g, a) {
        return b;
    }
    if is_zero(g, b) {
        return a;
    }
    let (Some((la, x)), Some((lb, y))) = (zero_arm(g, a), zero_arm(g, b)) else {
        return add_arms(g, a, b);
    };
    let (up_a, up_b) = (ancestors(g, la), ancestors(g, lb));
    let lasts = |up: &[(Guard, Guard)]| up.iter().rev().map(|u| u.1).collect::<Vec<Guard>>();
    for (i, &(shared, _)) in up_a.iter().enumerate() {
        if let Some(j) = up_b.iter().position(|u| u.0 == shared) {
            let sum = join(g, (x, &lasts(&up_a[..i])), (y, &lasts(&up_b[..j])));
            return wrap(g, sum, shared);
        }
    }
    join(g, (x, &lasts(&up_a)), (y, &lasts(&up_b)))
}

/// The sum of two terms. If both are conditionals on one condition, and one of them has a zero arm,
/// the arms are added separately.
fn add_arms(g: &mut Graph, a: Term, b: Term) -> Term {
    let plus = |g: &mut Graph, x: Term, y: Term| match (is_zero(g, x), is_zero(g, y)) {
        (true, _) => y,
        (_, true) => x,
        _ => g.add(x, y),
    };
    match (g.node(a).clone(), g.node(b).clone()) {
        (Node::Cond { cond, then: x, other: y }, Node::Cond { cond: c, then: z, other: w })
            if c == cond && (zero_arm(g, a).is_some() || zero_arm(g, b).is_some()) =>
        {
            let (then, other) = (plus(g, x, z), plus(g, y, w));
            g.cond(cond, then, other)
        }
        _ => g.add(a, b),
    }
}

/// The sum of two terms under different conditions, given outermost first.
fn join(g: &mut Graph, (x, under_x): (Term, &[Guard]), (y, under_y): (Term, &[Guard])) -> Term {
    match (under_x, under_y) {
        ([lx, rest_x @ ..], [ly, rest_y @ ..]) if lx.0 == ly.0 && lx.1 != ly.1 => {
            let (x, y) = (below(g, x, rest_x), below(g, y, rest_y));
            if lx.1 { g.cond(lx.0, x, y) } else { g.cond(lx.0, y, x) }
        }
        _ => {
            let (x, y) = (below(g, x, under_x), below(g, y, under_y));
            g.add(x, y)
        }
    }
}

/// `t` under these guards, given outermost first.
fn below(g: &mut Graph, t: Term, guards: &[Guard]) -> Term {
    let Some((&first, rest)) = guards.split_first() else { return t };
    let all = rest.iter().fold(first, |all, &l| (both(g, all, l), true));
    mask_outside(g, t, all)
}

/// The guard, then the conjunction without its last part, then without its last two parts, and so
/// on. Each comes with its own last part; the final entry, which is not split any further, comes
/// with itself. At most [`MAX_NESTING`] conjunctions are split.
fn ancestors(g: &Graph, guard: Guard) -> Vec<(Guard, Guard)> {
    let mut all = Vec::new();
    let mut at = guard;
    while let ([outer, last], true) = (&*parts(g, at), all.len() < MAX_NESTING) {
        all.push((at, simple(g, *last)));
        at = *outer;
    }
    all.push((at, simple(g, at)));
    all
}

/// Whether a guard is `other`, or a conjunction that begins with it.
pub(crate) fn implies(g: &Graph, guard: Guard, other: Guard) -> bool {
    guard == other || ancestors(g, guard).iter().any(|a| a.0 == other)
}

/// A guard without negations.
fn simple(g: &Graph, (c, value): Guard) -> Guard {
    match g.node(c) {
        Node::Prim(Prim::Not, args) => (args[0], !value),
        _ => (c, value),
    }
}
