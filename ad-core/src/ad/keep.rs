//! What a loop saves for its derivative beside its carried values. All of it is offered; what the derived body does not read, carried
//! values included, is a row that nobody reads, and such rows are not emitted (`emit::loops`).
//!
//! The rule: cheap things are computed again from what is saved; saved are
//! - results of dear functions (the tables' column: exponentials, logarithms, powers), if they differ from step to step;
//! - elements and rows that a step reads of a carried array, if the derived body reads nothing else of that array: then a step saves these
//!   and not the array.
//!
//! Must never save what is only computed in an arm: a step would compute it where the program does not.

use std::collections::{HashMap, HashSet};

use crate::ir::{Graph, Node, Scan, Term};
use crate::prim::Prim;

/// The terms of a body that are offered, oldest first.
pub(super) fn kept(g: &Graph, results: &[Term], s: &Scan) -> Vec<Term> {
    let guards = crate::trips::guards(g, results);
    let fixed = s.init.len()..s.init.len() + s.captures.len();
    let mut varies: HashSet<Term> = HashSet::new();
    let mut found = Vec::new();
    for t in g.reachable(results) {
        let node = g.node(t);
        let mut any = matches!(node, Node::Param(k, _) if !fixed.contains(&(*k as usize)));
        node.for_each_child(|c| any |= varies.contains(&c));
        if !any {
            continue;
        }
        varies.insert(t);
        let array = g.ty(t).as_array().is_some_and(|(elem, _)| elem.is_real());
        if !array || !g.free(t).is_empty() || guards.get(&t).is_none_or(|conditions| !conditions.is_empty()) {
            continue;
        }
        if element_of(g, t).is_some_and(|x| param_number(g, x).is_some_and(|k| k < s.init.len())) || dear(g, t) {
            found.push(t);
        }
    }
    found
}

/// Replaces what is kept by these parameters; which of them the results now read.
pub(super) fn reread(g: &mut Graph, results: &mut Vec<Term>, terms: &[Term], params: &[Term]) -> Vec<usize> {
    let mut swap: HashMap<Term, Term> = terms.iter().copied().zip(params.iter().copied()).collect();
    // An array that is read otherwise too is saved anyway.
    let all = replace(g, results, &swap);
    let reach: HashSet<Term> = g.reachable(&all).into_iter().collect();
    swap.retain(|&t, _| element_of(g, t).is_none_or(|x| !reach.contains(&x)));
    *results = if swap.len() == terms.len() { all } else { replace(g, results, &swap) };
    let reach: HashSet<Term> = g.reachable(results).into_iter().collect();
    (0..terms.len()).filter(|&k| reach.contains(&params[k])).collect()
}

fn replace(g: &mut Graph, roots: &[Term], swap: &HashMap<Term, Term>) -> Vec<Term> {
    let mut map: HashMap<Term, Term> = HashMap::new();
    for t in g.reachable(roots) {
        let made = match swap.get(&t) {
            Some(&param) => param,
            None => match &*g.node_rc(t) {
                Node::Proj(tuple, k) => g.proj(map[tuple], *k as usize),
                node => {
                    let mapped = node.map_children(|c| map[&c]);
                    g.mk(mapped)
                }
            },
        };
        map.insert(t, made);
    }
    roots.iter().map(|t| map[t]).collect()
}

/// The parameter of which it is an element or a row.
fn element_of(g: &Graph, t: Term) -> Option<Term> {
    match g.node(t) {
        Node::Gather { src, vars, index, .. } if vars.is_empty() && !index.is_empty() => {
            param_number(g, *src).map(|_| *src)
        }
        _ => None,
    }
}

fn param_number(g: &Graph, t: Term) -> Option<usize> {
    match g.node(t) {
        Node::Param(k, _) => Some(*k as usize),
        _ => None,
    }
}

fn dear(g: &Graph, t: Term) -> bool {
    match g.node(t) {
        Node::Prim(Prim::Unary(f), _) => f.row().dear,
        Node::Prim(Prim::Binary(f), _) => f.row().dear,
        Node::Prim(Prim::PowI, _) => true,
        _ => false,
    }
}
