//! The called functions that only move and add numbers: sorting, reversing, running sums. Their
//! derivatives move and add cotangents. So cotangents that are zero stay zero, whatever the numbers
//! are, and a caller does not have to test them before it calls the derivative.
//!
//! This module must never report a function that multiplies by a number which may be infinite or
//! NaN.

use crate::ir::{Graph, Node, Term};
use crate::prim::{Binary, Prim, Unary};
use crate::sorted::SortedSet;

/// The numbers of the functions that only move and add numbers, given the graphs and results of all
/// functions. They may call themselves and each other.
#[must_use]
pub fn moving(functions: &[(&Graph, Vec<Term>)]) -> SortedSet<u32> {
    let mut found: SortedSet<u32> = (0..).take(functions.len()).collect();
    loop {
        let stays = |&k: &u32| functions.get(k as usize).is_some_and(|(g, results)| moves(g, results, &found));
        let next: SortedSet<u32> = found.iter().copied().filter(stays).collect();
        if next == found {
            return found;
        }
        found = next;
    }
}

/// Whether these results consist of numbers that are moved and added, if these functions are
/// moving.
fn moves(g: &Graph, results: &[Term], functions: &SortedSet<u32>) -> bool {
    let (mut seen, mut stack) = (SortedSet::new(), results.to_vec());
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        match g.node(t) {
            Node::Prim(Prim::StopGradient, _) => continue,
            Node::Prim(Prim::Returned(_, elem), args) if elem.is_real() => {
                stack.extend(args.first());
                continue;
            }
            Node::Prim(Prim::Call(callee), args) => {
                if callee.rule.is_some() || !functions.contains(&callee.function) {
                    return false;
                }
                stack.extend(args);
                continue;
            }
            // Decisions have no derivative.
            _ if !g.ty(t).has_real() => continue,
            Node::Prim(prim, args) if !moved_by(g, prim, args) => return false,
            Node::Scan(scan) => stack.extend(&scan.body.results),
            _ => {}
        }
        g.node(t).for_each_child(|c| stack.push(c));
    }
    true
}

/// Whether the derivative of a real operation moves cotangents, adds them, or multiplies them by a
/// finite literal.
fn moved_by(g: &Graph, prim: &Prim, args: &[Term]) -> bool {
    let finite = |t: &Term| g.real_value(*t).is_some_and(f64::is_finite);
    match prim {
        Prim::Binary(Binary::Add | Binary::Sub)
        | Prim::Unary(Unary::Neg)
        | Prim::Select
        | Prim::RelaxedExact
        | Prim::UnknownOrder
        | Prim::Cast(_)
        | Prim::Stack => true,
        prim if prim.moves_elements() => true,
        Prim::Binary(Binary::Mul) => args.iter().any(finite),
        _ => false,
    }
}
