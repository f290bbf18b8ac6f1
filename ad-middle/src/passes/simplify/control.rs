//! Rules for conditionals, elementwise selections and truth values.

use super::layout::replicated;
use super::part::differs_by_small_constant;
use super::{Rule, rule};
use ad_ir::analysis::guards::{Guard, all_parts, decided};
use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Elem, Graph, Node, Put, Term, Type};
use ad_ir::prim::{Binary, Cmp, IntOp, Prim};

pub(super) const RULES: &[Rule] = &[
    rule!("cond.known", "cond(true, a, b) = a; cond(false, a, b) = b", Exact, cond_known),
    rule!("cond.not", "cond(!c, a, b) = cond(c, b, a)", Exact, cond_not),
    rule!("cond.nested", "cond(c, cond(c, a, _), b) = cond(c, a, b), and in the other arm", Exact, cond_nested),
    rule!(
        "cond.decided",
        "cond(c, d, b) = cond(c, true, b) where c implies the condition d, and in the other arm",
        Exact,
        cond_decided
    ),
    rule!(
        "cond.same",
        "cond(c, a, cond(d, a, b)) = cond(d, a, b) where c implies d and contains it, also if a is true and b false",
        Exact,
        cond_same
    ),
    rule!(
        "cond.exclusive",
        "cond(x == 1, a, cond(x == 2, b, a)) = cond(x == 2, b, a), for any two literals",
        Exact,
        cond_exclusive
    ),
    rule!(
        "cond.elements",
        "cond(0 < n, scatter_add(.., s), zeros) = scatter_add(zeros.., cond(0 < n, s, 0)), for numbers s at places that cost nothing",
        Exact,
        cond_elements
    ),
    rule!(
        "add.exclusive",
        "cond(c, a, 0) + cond(!c, b, 0) = cond(c, a, b), for arrays under any conditions that exclude each other",
        Loose,
        add_exclusive
    ),
    rule!(
        "add.selects",
        "select(m, a, 0) + select(m, 0, b) = select(m, a, b), or a if b is a; select(m, a, 0) + select(m, b, 0) = select(m, a + b, 0); select(m && n, a, 0) + select(m && !n, a, 0) = select(m, a, 0); select(m, a, b) + select(m && n, c, 0) = select(m, a + select(n, c, 0), b)",
        Loose,
        add_selects
    ),
    rule!("select.known", "select(true.., a, b) = a; select(false.., a, b) = b", Exact, select_known),
    rule!(
        "select.one",
        "select(iota n == k.., x, zeros) = scatter_add(zeros, x[k] at k) if k < n, where x is computed",
        Loose,
        select_one
    ),
    rule!("select.not", "select(!m, a, b) = select(m, b, a)", Exact, select_not),
    rule!(
        "select.nested",
        "select(m, select(m, a, _), b) = select(m, a, b), and in the other arm",
        Exact,
        select_nested
    ),
    rule!(
        "select.exclusive",
        "select(x == 1.., a, select(x == 2.., b, a)) = select(x == 2.., b, a), for any two literals",
        Exact,
        select_exclusive
    ),
    rule!(
        "compare.limit",
        "x <= MAX = MIN <= x = true; MAX < x = x < MIN = false; MAX <= x = (x == MAX); x <= MIN = (x == MIN), for integers",
        Exact,
        compare_limit
    ),
    rule!(
        "compare.iota",
        "iota n < replicate n m = true.., if m is n or n is m minus a small number; iota n < replicate n (min n k) = iota n < replicate n k",
        Exact,
        compare_iota
    ),
    rule!("select.lazy", "select(replicate c, a, b) = cond(c, a, b)", Exact, select_lazy),
];

fn cond(g: &Graph, t: Term) -> Option<(Term, Term, Term)> {
    match *g.node(t) {
        Node::Cond { cond, then, other } => Some((cond, then, other)),
        _ => None,
    }
}

fn select(g: &Graph, t: Term) -> Option<(Term, Term, Term)> {
    match g.node(t) {
        Node::Prim(Prim::Select, args) => Some((args[0], args[1], args[2])),
        _ => None,
    }
}

fn not(g: &Graph, t: Term) -> Option<Term> {
    match g.node(t) {
        Node::Prim(Prim::Not, args) => Some(args[0]),
        _ => None,
    }
}

fn cond_known(g: &mut Graph, t: Term) -> Option<Term> {
    let (c, a, b) = cond(g, t)?;
    g.bool_value(c).map(|c| if c { a } else { b })
}

fn cond_not(g: &mut Graph, t: Term) -> Option<Term> {
    let (c, a, b) = cond(g, t)?;
    let c = not(g, c)?;
    Some(g.cond(c, b, a))
}

fn cond_nested(g: &mut Graph, t: Term) -> Option<Term> {
    let (c, a, b) = cond(g, t)?;
    let a2 = cond(g, a).filter(|inner| inner.0 == c).map_or(a, |inner| inner.1);
    let b2 = cond(g, b).filter(|inner| inner.0 == c).map_or(b, |inner| inner.2);
    ((a, b) != (a2, b2)).then(|| g.cond(c, a2, b2))
}

fn cond_decided(g: &mut Graph, t: Term) -> Option<Term> {
    let (c, a, b) = cond(g, t)?;
    if g.ty(t) != &Type::scalar(Elem::Bool) {
        return None;
    }
    let arm = |g: &mut Graph, arm: Term, value| match decided(g, arm, &[(c, value)], MAX_CONDITIONS) {
        Some(known) => g.lit_bool(known),
        None => arm,
    };
    let (a2, b2) = (arm(g, a, true), arm(g, b, false));
    ((a, b) != (a2, b2)).then(|| g.cond(c, a2, b2))
}

fn cond_same(g: &mut Graph, t: Term) -> Option<Term> {
    let (c, a, b) = cond(g, t)?;
    let mut computed = None;
    for (arm, other, value) in [(b, a, true), (a, b, false)] {
        let mut facts = all_parts(g, &[(c, value)]);
        facts.push((c, value));
        let decided = |g: &Graph, d: Term| decided(g, d, &facts, MAX_CONDITIONS);
        // What decides is computed by the other condition anyway.
        let mut deciding = arm;
        let same = match (cond(g, arm), g.bool_value(other)) {
            (_, Some(known)) => decided(g, arm) == Some(known),
            (Some((d, then, otherwise)), None) => {
                deciding = d;
                decided(g, d).is_some_and(|holds| if holds { then } else { otherwise } == other)
            }
            (None, None) => false,
        };
        if same && computed.get_or_insert_with(|| g.reachable(&[c])).binary_search(&deciding).is_ok() {
            return Some(arm);
        }
    }
    None
}

/// The integer and the literal that it is compared with, if the condition is `x == 1`.
fn equals_literal(g: &Graph, c: Term) -> Option<(Term, i128)> {
    let Node::Prim(Prim::Compare(Cmp::Eq), args) = g.node(c) else { return None };
    let literal = |t: Term| g.int_value(g.splat(t));
    match (literal(args[0]), literal(args[1])) {
        (None, Some(k)) => Some((args[0], k)),
        (Some(k), None) => Some((args[1], k)),
        _ => None,
    }
}

/// The arms of a `match` with literals exclude each other. A term that is the same in all arms
/// except one (a check of that arm, its part of a cotangent) becomes a conditional with the
/// condition of that arm only.
fn exclusive(g: &Graph, t: Term, of: impl Fn(&Graph, Term) -> Option<(Term, Term, Term)>) -> Option<Term> {
    let (c, a, inner) = of(g, t)?;
    let (x, k) = equals_literal(g, c)?;
    let mut other = inner;
    while other != a {
        let (c2, _, next) = of(g, other)?;
        let (y, k2) = equals_literal(g, c2)?;
        if x != y || k == k2 {
            return None;
        }
        other = next;
    }
    Some(inner)
}

/// The maximum number of conditions that are examined to find that summands exclude each other.
const MAX_CONDITIONS: usize = 6;

/// Cotangents from arms that exclude each other: only one of them is computed, and no array is
/// added to zeros.
fn add_exclusive(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::Binary(Binary::Add), args) = g.node(t) else { return None };
    let (x, y) = (args[0], args[1]);
    if g.rank(t) == 0 || cond(g, x).is_none() || cond(g, y).is_none() {
        return None;
    }
    exclusive_sum(g, x, y, MAX_CONDITIONS)
}

/// `x + y`, if one of them is zero under all conditions.
fn exclusive_sum(g: &mut Graph, x: Term, y: Term, deep: usize) -> Option<Term> {
    if is_zero(g, x) {
        return Some(y);
    }
    if is_zero(g, y) {
        return Some(x);
    }
    if deep == 0 {
        return None;
    }
    [x, y].into_iter().find_map(|of| {
        let (mut c, ..) = cond(g, of)?;
        while let Some(inner) = not(g, c) {
            c = inner;
        }
        let mut arm = |value| {
            let (x, y) = (under(g, x, (c, value)), under(g, y, (c, value)));
            exclusive_sum(g, x, y, deep - 1)
        };
        let (then, other) = (arm(true)?, arm(false)?);
        Some(g.cond(c, then, other))
    })
}

/// The term where the fact holds.
fn under(g: &mut Graph, t: Term, fact: Guard) -> Term {
    let Some((c, a, b)) = cond(g, t) else { return t };
    match decided(g, c, &[fact], MAX_CONDITIONS) {
        Some(true) => under(g, a, fact),
        Some(false) => under(g, b, fact),
        None => {
            let known = under(g, c, fact);
            if known == c { t } else { g.cond(known, a, b) }
        }
    }
}

fn cond_exclusive(g: &mut Graph, t: Term) -> Option<Term> {
    exclusive(g, t, cond)
}

/// The maximum number of operations of an index that are examined.
const MAX_INDEX_OPERATIONS: usize = 16;

/// Whether a condition around the indices saves nothing, since they take at most
/// [`MAX_INDEX_OPERATIONS`] integer operations on available values.
fn are_cheap_indices(g: &Graph, places: &[Term]) -> bool {
    let mut stack = places.to_vec();
    let mut left = MAX_INDEX_OPERATIONS;
    while let Some(t) = stack.pop() {
        let fine = match g.node(t) {
            Node::Lit(_) | Node::Var(_) | Node::Size(..) | Node::Input(_) | Node::Param(..) => true,
            Node::Prim(Prim::Int(_), args) => {
                stack.extend(args.iter().copied());
                true
            }
            _ => false,
        };
        if !fine || left == 0 {
            return false;
        }
        left -= 1;
    }
    true
}

/// A conditional of arrays copies one of them, or stores both; one of scalars costs nothing. (A
/// condition that holds only sometimes is left around the whole update: where it is false, nothing
/// is added.)
fn cond_elements(g: &mut Graph, t: Term) -> Option<Term> {
    let (c, a, b) = cond(g, t)?;
    g.not_empty(c)?;
    if !is_zero(g, b) {
        return None;
    }
    let mut chain = Vec::new();
    let mut at = a;
    while let Node::Scatter { put: Put::Add, dst, src, vars, index } = g.node(at) {
        if g.rank(*src) > 0 || !are_cheap_indices(g, index) {
            return None;
        }
        chain.push((*src, vars.clone(), index.clone()));
        at = *dst;
    }
    if chain.is_empty() || !is_zero(g, at) {
        return None;
    }
    for (src, vars, index) in chain.into_iter().rev() {
        let zero = g.zeros_like(src);
        let src = g.cond(c, src, zero);
        at = g.mk(Node::Scatter { put: Put::Add, dst: at, src, vars, index });
    }
    Some(at)
}

fn add_selects(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::Binary(Binary::Add), args) = g.node(t).clone() else { return None };
    let (x, y) = (args[0], args[1]);
    if let Some(sum) = sum_of_selects(g, x, y) {
        return Some(sum);
    }
    let Node::Prim(Prim::Binary(Binary::Add), inner) = g.node(x).clone() else { return None };
    [(inner[0], inner[1]), (inner[1], inner[0])].into_iter().find_map(|(one, rest)| {
        let sum = sum_of_selects(g, one, y)?;
        Some(g.add(rest, sum))
    })
}

fn sum_of_selects(g: &mut Graph, x: Term, y: Term) -> Option<Term> {
    let ((m, a, b), (n, c, d)) = (select(g, x)?, select(g, y)?);
    let zero = [a, b, c, d].map(|t| is_zero(g, t));
    if m != n {
        if a == c
            && zero[1]
            && zero[3]
            && let Some(whole) = either_way(g, m, n)
        {
            return Some(g.select(whole, a, b));
        }
        // Where the whole condition does not hold, only the other operand is left.
        let (rest, whole, (x, zeros), (then, other)) = match (zero[3], zero[1]) {
            (true, _) if let Some(rest) = within(g, n, m) => (rest, m, (c, d), (a, b)),
            (_, true) if let Some(rest) = within(g, m, n) => (rest, n, (a, b), (c, d)),
            _ => return None,
        };
        let x = g.select(rest, x, zeros);
        let then = if is_zero(g, then) { x } else { g.add(then, x) };
        let then = add_selects(g, then).unwrap_or(then);
        return Some(if then == other { then } else { g.select(whole, then, other) });
    }
    let (then, other) = match zero {
        [_, true, true, _] => (a, d),
        [true, _, _, true] => (c, b),
        [_, true, _, true] => (g.add(a, c), b),
        [true, _, true, _] => (a, g.add(b, d)),
        _ => return None,
    };
    Some(if then == other { then } else { g.select(m, then, other) })
}

/// The rest of `m && rest`.
fn within(g: &Graph, both: Term, m: Term) -> Option<Term> {
    let Node::Prim(Prim::And, args) = g.node(both) else { return None };
    match (args[0] == m, args[1] == m) {
        (true, _) => Some(args[1]),
        (_, true) => Some(args[0]),
        _ => None,
    }
}

/// The common part of `m && n` and `m && !n`.
fn either_way(g: &Graph, one: Term, two: Term) -> Option<Term> {
    let parts = |t: Term| match g.node(t) {
        Node::Prim(Prim::And, args) => Some([args[0], args[1]]),
        _ => None,
    };
    let ([a, b], [c, d]) = (parts(one)?, parts(two)?);
    let pairs = [(a, b, c, d), (a, b, d, c), (b, a, c, d), (b, a, d, c)];
    pairs.into_iter().find_map(|(m, n, k, o)| (m == k && (is_not(g, n, o) || is_not(g, o, n))).then_some(m))
}

/// Whether a condition is the negation of another one, perhaps of each of its rows.
fn is_not(g: &Graph, t: Term, of: Term) -> bool {
    match (g.node(t), g.node(of)) {
        (Node::Prim(Prim::Not, args), _) => args[0] == of,
        (Node::Prim(Prim::Replicate(axes), a), Node::Prim(Prim::Replicate(others), b)) => {
            axes == others && a[1..] == b[1..] && is_not(g, a[0], b[0])
        }
        _ => false,
    }
}

fn select_known(g: &mut Graph, t: Term) -> Option<Term> {
    let (m, a, b) = select(g, t)?;
    g.bool_value(m).map(|m| if m { a } else { b })
}

/// The maximum number of operations through which an index is pushed.
const MAX_OPERATIONS: usize = 64;

/// An element of a vector. The index is pushed through elementwise operations, of which `left` may
/// still be entered.
fn element(g: &mut Graph, t: Term, place: Term, left: &mut usize) -> Term {
    match g.node(t).clone() {
        Node::Prim(prim @ (Prim::Unary(_) | Prim::Binary(_)), args) if *left > 0 => {
            *left -= 1;
            let args: Vec<Term> = args.iter().map(|&x| element(g, x, place, left)).collect();
            g.prim(prim, &args)
        }
        Node::Prim(Prim::Replicate(_), args) => args[0],
        Node::Prim(Prim::Iota, _) => place,
        _ => g.index(t, &[place]),
    }
}

/// A mask that holds at one index: only that element is computed.
fn select_one(g: &mut Graph, t: Term) -> Option<Term> {
    let (m, x, other) = select(g, t)?;
    let Node::Prim(Prim::Compare(Cmp::Eq), args) = g.node(m) else { return None };
    let counts = |t: Term| matches!(g.node(t), Node::Prim(Prim::Iota, _));
    let mask = match (counts(args[0]), counts(args[1])) {
        (true, false) => args[1],
        (false, true) => args[0],
        _ => return None,
    };
    let place = g.splat(mask);
    let computed = matches!(g.node(x), Node::Prim(Prim::Unary(_) | Prim::Binary(_), _));
    if g.rank(t) != 1 || g.rank(place) > 0 || !computed || !is_zero(g, other) {
        return None;
    }
    let size = g.shape(t)[0];
    let inside = g.compare(Cmp::Lt, place, size);
    let mut left = MAX_OPERATIONS;
    let found = element(g, x, place, &mut left);
    let none = g.zeros_like(found);
    let src = g.cond(inside, found, none);
    let nowhere = g.lit_usize(0);
    let place = g.cond(inside, place, nowhere);
    Some(g.scatter(other, src, &[], &[place]))
}

fn select_not(g: &mut Graph, t: Term) -> Option<Term> {
    let (m, a, b) = select(g, t)?;
    if let Some(inner) = not(g, m) {
        return Some(g.select(inner, b, a));
    }
    let Node::Prim(Prim::Replicate(axes), args) = g.node(m).clone() else { return None };
    let inner = not(g, args[0])?;
    let mask = g.replicate_axes(inner, &axes, &args[1..]);
    Some(g.select(mask, b, a))
}

fn select_nested(g: &mut Graph, t: Term) -> Option<Term> {
    let (m, a, b) = select(g, t)?;
    let a2 = select(g, a).filter(|inner| inner.0 == m).map_or(a, |inner| inner.1);
    let b2 = select(g, b).filter(|inner| inner.0 == m).map_or(b, |inner| inner.2);
    ((a, b) != (a2, b2)).then(|| g.select(m, a2, b2))
}

fn select_exclusive(g: &mut Graph, t: Term) -> Option<Term> {
    exclusive(g, t, select)
}

/// rustc and clippy warn of a comparison with a limit of the type, which has one answer, or which
/// is an equality.
fn compare_limit(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::Compare(op), args) = g.node(t) else { return None };
    let (op, a, b) = (*op, args[0], args[1]);
    let Elem::Int(ty) = g.elem(a) else { return None };
    let literal = |t: Term| g.int_value(g.splat(t));
    // The comparison is turned so that the literal is on the right side.
    let (op, limit) = match (op, literal(a), literal(b)) {
        (_, None, Some(limit)) => (op, limit),
        (Cmp::Lt, Some(limit), None) => (Cmp::Gt, limit),
        (Cmp::Le, Some(limit), None) => (Cmp::Ge, limit),
        (Cmp::Gt, Some(limit), None) => (Cmp::Lt, limit),
        (Cmp::Ge, Some(limit), None) => (Cmp::Le, limit),
        _ => return None,
    };
    let (least, most) = ty.range();
    let known = match op {
        Cmp::Le if limit == most => true,
        Cmp::Gt if limit == most => false,
        Cmp::Ge if limit == least => true,
        Cmp::Lt if limit == least => false,
        Cmp::Ge if limit == most => return Some(g.compare(Cmp::Eq, a, b)),
        Cmp::Le if limit == least => return Some(g.compare(Cmp::Eq, a, b)),
        _ => return None,
    };
    let (known, shape) = (g.lit_bool(known), g.shape(t).to_vec());
    Some(g.broadcast(known, &shape))
}

/// The index of each element is less than the size of its axis, and than a size that is not less.
fn compare_iota(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::Compare(Cmp::Lt), args) = g.node(t) else { return None };
    let (index, limit) = (args[0], args[1]);
    let n = g.shape(index)[usize::from(g.iota_axis(index)?)];
    let size = g.splat(limit);
    if g.rank(index) == 1 && g.rank(size) == 0 && (n == size || differs_by_small_constant(g, n, size)) {
        let holds = g.lit_bool(true);
        return Some(g.broadcast(holds, &[n]));
    }
    let (least, axes, sizes) = replicated(g, limit).unwrap_or((limit, Vec::new(), Vec::new()));
    let Node::Prim(Prim::Int(IntOp::Min), sides) = g.node(least) else { return None };
    let (a, b) = (sides[0], sides[1]);
    let rest = if g.splat(a) == n { b } else { (g.splat(b) == n).then_some(a)? };
    let rest = g.replicate_axes(rest, &axes, &sizes);
    Some(g.compare(Cmp::Lt, index, rest))
}

fn select_lazy(g: &mut Graph, t: Term) -> Option<Term> {
    let (m, a, b) = select(g, t)?;
    let c = g.splat(m);
    // Inside an index function all terms are scalars, and a selection stays a selection.
    (g.rank(c) == 0 && (c != m || g.free(t).is_empty())).then(|| g.cond(c, a, b))
}
