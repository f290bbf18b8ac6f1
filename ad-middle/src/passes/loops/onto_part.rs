//! Calls that add to a part of an array. If a function calls itself with a part of its array, the
//! reverse half of the inner call adds to that part of the outer cotangent. So the cost of a call
//! does not depend on the size of the part.
//!
//! This module must never make a call twice: the cotangent has no other use.

use std::collections::HashMap;

use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Graph, Node, OpenLoop, Term};
use ad_ir::prim::{Binary, Prim};

/// The number of uses of each term.
pub(crate) type Counts = HashMap<Term, usize>;

/// A sum with a part that a call computes.
pub(crate) struct WithPart {
    /// The sum.
    pub(crate) sum: Term,
    /// A loop that is one call, and the loop in its place.
    pub(crate) replaced: Option<(Term, Term)>,
}

/// A sum with the cotangent of a part of an array, which a call adds to zeros: the call adds it to
/// the other summand. `None` for any other term.
pub(super) fn summed(g: &mut Graph, t: Term, uses: &Counts) -> Option<WithPart> {
    let Node::Prim(Prim::Binary(Binary::Add), args) = g.node(t).clone() else { return None };
    [(args[0], args[1]), (args[1], args[0])].into_iter().find_map(|(array, part)| added(g, array, part, uses))
}

/// `array + part`.
pub(crate) fn added(g: &mut Graph, array: Term, part: Term, uses: &Counts) -> Option<WithPart> {
    let once = |t: Term| uses.get(&t) == Some(&1);
    match g.node(part).clone() {
        Node::Cond { .. } if once(part) => under_condition(g, array, part, |g, arm| added(g, array, arm, uses)),
        Node::Prim(Prim::Pad(steps), args) if *steps == [1] && once(part) => {
            let len = g.shape(args[0])[0];
            of_part(g, args[0], (args[1], len), (array, uses))
        }
        _ => None,
    }
}

/// The sum with a cotangent that is zero in one arm, given the sum with the other arm.
fn under_condition(
    g: &mut Graph,
    array: Term,
    t: Term,
    sum: impl FnOnce(&mut Graph, Term) -> Option<WithPart>,
) -> Option<WithPart> {
    let Node::Cond { cond, then, other } = *g.node(t) else { return None };
    let (arm, value) = match (is_zero(g, then), is_zero(g, other)) {
        (false, true) => (then, true),
        (true, false) => (other, false),
        _ => return None,
    };
    let WithPart { sum, replaced } = sum(g, arm)?;
    let (then, other) = if value { (sum, array) } else { (array, sum) };
    Some(WithPart { sum: g.cond(cond, then, other), replaced })
}

/// A cotangent that a call adds to zeros, added to a part of an array instead.
fn of_part(g: &mut Graph, t: Term, place: (Term, Term), (array, uses): (Term, &Counts)) -> Option<WithPart> {
    if uses.get(&t) != Some(&1) {
        return None;
    }
    match g.node(t).clone() {
        Node::Cond { .. } => under_condition(g, array, t, |g, arm| of_part(g, arm, place, (array, uses))),
        Node::Prim(Prim::Onto(_, _, false), args) if is_zero(g, args[args.len() - 1]) => {
            Some(WithPart { sum: with_place(g, t, place, array)?, replaced: None })
        }
        Node::Proj(of, k) => {
            let (Node::Scan(scan), k) = (g.node(of).clone(), k as usize) else { return None };
            let begins = scan.init.get(k).is_some_and(|&t| is_zero(g, t));
            if !g.is_one_call(&scan) || !begins || g.reachable(&[array, place.0]).contains(&of) {
                return None;
            }
            let mut init = scan.init.to_vec();
            init[k] = array;
            let carried: Vec<Term> = init.iter().map(|&t| g.placeholder(g.ty(t).clone())).collect();
            let outer: Vec<Term> = carried.iter().chain(&*scan.captures).copied().collect();
            let mut results = g.instantiate(&scan.body, &outer);
            results[k] = with_place(g, results[k], place, carried[k])?;
            let (count, reverse, step) = (scan.count, scan.reverse, g.fresh());
            let made = g.close_loop(&OpenLoop { count, reverse, stop: None, step, init, carried, results });
            Some(WithPart { sum: g.proj(made, k), replaced: Some((of, made)) })
        }
        _ => None,
    }
}

/// The call, which adds to a part of an array.
fn with_place(g: &mut Graph, t: Term, (start, len): (Term, Term), array: Term) -> Option<Term> {
    let Node::Prim(Prim::Onto(callee, k, false), args) = g.node(t).clone() else { return None };
    let args: Vec<Term> = args[..args.len() - 1].iter().copied().chain([start, len, array]).collect();
    Some(g.prim(Prim::Onto(callee, k, true), &args))
}
