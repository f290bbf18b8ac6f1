//! In-place updates of carried arrays: the array plus something that is zero but for a few elements
//! becomes additions to these elements. So the cotangent of an array that a loop reads element by
//! element stays in one memory, at a cost that does not depend on the size of the array. This pass
//! must never reassociate a sum in which all elements are added.

use super::opened::{Loops, chain_of_updates};
use crate::analysis::guards::{Guard, parts};
use crate::ir::{Graph, Node, Put, Term};
use crate::passes::simplify::part::less_a_few;
use crate::prim::{Binary, IntOp, Prim};

/// Summands of one sum that are looked at.
const MANY: usize = 64;
/// Conditions inside conditions that are looked at.
const DEEP: usize = 8;

/// `next` as a chain of writes to elements of `now` and additions to them, if it is one and is not
/// already written as one. What an inner loop leaves of such a chain is part of it.
pub(crate) fn update(g: &mut Graph, loops: &Loops, now: Term, next: Term) -> Option<Term> {
    if g.rank(now) == 0 || next == now {
        return None;
    }
    chained(g, (loops, now), next, DEEP)
}

/// Scatters onto, choices between and sums of one such chain and what [`is_update`], with the
/// additions moved into the chain.
fn chained(g: &mut Graph, (loops, now): (&Loops, Term), next: Term, deep: usize) -> Option<Term> {
    let (mut t, mut outer) = (next, Vec::new());
    while let (true, Node::Scatter { dst, .. }) = (t != now, g.node(t)) {
        outer.push(t);
        t = *dst;
    }
    let mut onto = match *g.node(t) {
        _ if t == now || left(g, loops, now, t) => t,
        _ if deep == 0 => return None,
        Node::Cond { cond, then, other } => {
            let (then, other) = (chained(g, (loops, now), then, deep - 1)?, chained(g, (loops, now), other, deep - 1)?);
            g.cond(cond, then, other)
        }
        Node::Prim(Prim::Binary(Binary::Add), _) => settled(g, (loops, now), &[t], &mut Vec::new(), deep - 1)?,
        _ => return None,
    };
    for t in outer.into_iter().rev() {
        if let Node::Scatter { put, src, vars, index, .. } = g.node(t).clone() {
            onto = g.mk(Node::Scatter { put, dst: onto, src, vars, index });
        }
    }
    Some(onto)
}

/// Whether it is what an inner loop leaves of such a chain.
fn left(g: &Graph, loops: &Loops, now: Term, t: Term) -> bool {
    loops.begun(t).is_some_and(|(_, c)| c.init == now || chain_of_updates(g, loops, now, c.init).is_some())
}

/// The sum of these, as one chain under each of the conditions that decide which summands have the
/// array in them: the cotangents of an array from the arms of a step come as a sum of conditionals,
/// and only under its conditions is it one array that is changed.
fn settled(g: &mut Graph, carried: (&Loops, Term), sum: &[Term], facts: &mut Vec<Guard>, deep: usize) -> Option<Term> {
    let (mut flat, mut stack) = (Vec::new(), sum.iter().rev().copied().collect::<Vec<_>>());
    while let Some(t) = stack.pop() {
        if flat.len() + stack.len() > MANY {
            return None;
        }
        match *g.node(t) {
            Node::Prim(Prim::Binary(Binary::Add), ref args) => stack.extend([args[1], args[0]]),
            Node::Cond { cond, then, other } => match value(g, cond, facts, DEEP) {
                Some(true) => stack.push(then),
                Some(false) => stack.push(other),
                None => flat.push(t),
            },
            _ if is_zero(g, t) => {}
            _ => flat.push(t),
        }
    }
    let holders: Vec<usize> = (0..flat.len()).filter(|&k| !is_update(g, flat[k], DEEP)).collect();
    if let [at] = *holders {
        let chain = flat.remove(at);
        let chain = chained(g, carried, chain, deep)?;
        return Some(flat.into_iter().fold(chain, |acc, t| add(g, acc, t)));
    }
    if deep == 0 {
        return None;
    }
    if !holders.is_empty() && holders.len() < flat.len() {
        // What is only added is added once, behind the choice between those that have the array in
        // them.
        let (with, without): (Vec<usize>, Vec<usize>) = (0..flat.len()).partition(|k| holders.contains(k));
        let with: Vec<Term> = with.into_iter().map(|k| flat[k]).collect();
        let chain = settled(g, carried, &with, facts, deep)?;
        return Some(without.into_iter().fold(chain, |acc, k| add(g, acc, flat[k])));
    }
    let mut decides = holders.iter().find_map(|&k| match *g.node(flat[k]) {
        Node::Cond { cond, .. } => Some(cond),
        _ => None,
    })?;
    // The outermost condition first: the others may be looked at under it only.
    loop {
        let outer = [true, false].into_iter().find_map(|value| parts(g, (decides, value)).first().map(|l| l.0));
        match outer {
            Some(outer) => decides = outer,
            None => break,
        }
    }
    if facts.iter().any(|f| f.0 == decides) {
        return None;
    }
    let mut arm = |value: bool| {
        facts.push((decides, value));
        let made = settled(g, carried, &flat, facts, deep - 1);
        facts.pop();
        made
    };
    let (then, other) = (arm(true)?, arm(false)?);
    Some(g.cond(decides, then, other))
}

/// A condition's value, if these facts decide it.
fn value(g: &Graph, c: Term, facts: &[Guard], deep: usize) -> Option<bool> {
    if let Some((_, value)) = facts.iter().find(|f| f.0 == c) {
        return Some(*value);
    }
    match *g.node(c) {
        _ if deep == 0 => None,
        Node::Cond { cond, then, other } => {
            let arm = if value(g, cond, facts, deep - 1)? { then } else { other };
            value(g, arm, facts, deep - 1)
        }
        Node::Prim(Prim::Not, ref args) => value(g, args[0], facts, deep - 1).map(|value| !value),
        _ => g.bool_value(c),
    }
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
        // Blocks that are nearly all of it are added in one pass with whatever else is: see
        // `split`.
        Node::Prim(Prim::Pad(steps), args) => {
            let few = |(&len, &size): (&Term, &Term)| len == size || less_a_few(g, len, size);
            steps.iter().all(|&s| s > 0) && !g.shape(args[0]).iter().zip(g.shape(t)).all(few)
        }
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
