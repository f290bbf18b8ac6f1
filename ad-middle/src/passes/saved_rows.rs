//! The section of the dump that says what the loops of a derivative save for later loops: each row,
//! its size as a formula, and why. This module must never change a term.

use std::collections::HashSet;

use super::trace::shown;
use ad_ir::ir::{Elem, Graph, IntTy, Node, RealTy, Scan, Term};
use ad_ir::prim::Prim;
use ad_ir::sorted::{SortedMap, SortedSet};

/// The depth to which a formula is written.
const MAX_DEPTH: usize = 4;

/// One line for each loop that saves rows, and one for each row.
pub(crate) fn saved_rows(g: &Graph, roots: &[Term], hints: &SortedMap<Term, String>) -> String {
    let (mut text, mut seen) = (String::new(), HashSet::new());
    of_body(g, roots, (hints, ""), &mut seen, &mut text);
    if text.is_empty() { "(nothing)\n".into() } else { text }
}

fn of_body(
    g: &Graph,
    roots: &[Term],
    (hints, indent): (&SortedMap<Term, String>, &str),
    seen: &mut HashSet<Term>,
    text: &mut String,
) {
    let mut rows: SortedMap<Term, SortedSet<usize>> = SortedMap::new();
    let mut loops: Vec<(Term, Scan)> = Vec::new();
    for t in g.reachable(roots) {
        let Node::Scan(scan) = g.node(t) else { continue };
        loops.push((t, (**scan).clone()));
        for &x in &scan.xs {
            if let Node::Proj(of, k) = *g.node(x)
                && let Node::Scan(from) = g.node(of)
                && k as usize >= from.init.len()
            {
                rows.entry(of).or_default().insert(k as usize);
            }
        }
    }
    loops.retain(|(t, _)| seen.insert(*t));
    for (t, scan) in loops {
        let kind = if g.has_checkpoints(&scan) { ", each of which is a checkpoint" } else { "" };
        let steps = shown(g, scan.count, hints, MAX_DEPTH);
        let saved = rows.remove(&t).unwrap_or_default();
        let mut inner = String::new();
        let deeper = format!("{indent}    ");
        of_body(g, &scan.body.results, (hints, &deeper), seen, &mut inner);
        if saved.is_empty() && kind.is_empty() && inner.is_empty() {
            continue;
        }
        text.push_str(&format!("{indent}a loop of {steps} steps{kind}:\n"));
        if saved.is_empty() {
            text.push_str(&format!("{indent}    nothing is saved\n"));
        }
        for k in saved {
            let result = scan.body.results[k];
            let value = shown(g, result, hints, 2);
            let (bytes, why) = (bytes(g, (scan.count, result), hints), why(g, &scan, result));
            text.push_str(&format!("{indent}    {value}: {bytes} bytes; {why}\n"));
        }
        text.push_str(&inner);
    }
}

/// The size of all rows, as a product of bytes and sizes.
fn bytes(g: &Graph, (count, row): (Term, Term), hints: &SortedMap<Term, String>) -> String {
    let of_one = match g.elem(row) {
        Elem::Bool | Elem::Int(IntTy::U8) => "1",
        Elem::Real(RealTy::F32) | Elem::Int(IntTy::I32 | IntTy::U32) => "4",
        Elem::Real(RealTy::F64) | Elem::Int(IntTy::I64 | IntTy::U64 | IntTy::Isize | IntTy::Usize) => "8",
        Elem::Real(RealTy::Param) => "size_of T",
    };
    let sizes = std::iter::once(count).chain(g.shape(row).iter().copied());
    let factors = std::iter::once(of_one.to_string()).chain(sizes.map(|n| shown(g, n, hints, MAX_DEPTH)));
    factors.collect::<Vec<_>>().join(" * ")
}

/// The reason why a row is saved.
fn why(g: &Graph, scan: &Scan, row: Term) -> &'static str {
    match g.node(row) {
        Node::Param(k, _) if (*k as usize) < scan.init.len() => match g.has_checkpoints(scan) {
            true => "the state from which the derivative computes the step again",
            false => "a carried value before each step, which the derivative reads",
        },
        Node::Param(..) => "a value that the step reads",
        Node::Gather { .. } => "a part of an array that later steps change",
        Node::Scatter { .. } => "an array that the step has changed",
        Node::Cond { .. } => "what the step computes where a condition holds, and nothing elsewhere",
        Node::Proj(..) | Node::Scan(_) => "the result of an inner loop, which is not run again",
        Node::Prim(Prim::Call(_) | Prim::Returned(..), _) => "the record of a call",
        Node::Prim(prim, _) if prim.is_expensive() => "the result of an expensive function",
        Node::Prim(Prim::Sum(_) | Prim::Contract(_) | Prim::Reduce(..), _) => "a sum, a product or an extremum",
        Node::Prim(Prim::Compare(_), _) => "a decision, so that it is not made again",
        _ => "a value that the derivative reads, saved by its cost",
    }
}
