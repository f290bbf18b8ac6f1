//! Deltas applied forwards: the tangents of the results from the tangents of the leaves.

use ad_ir::ir::{Graph, Loc, Node, Put, Term};

use super::delta::{Delta, DeltaId, DeltaLeaf, Dual};
use super::{call, scan};
use crate::modes::condition::mask_outside;
use ad_ir::analysis::zeros::is_zero;

/// The tangents of `dual`'s results; `None` is zero. A leaf without a tangent has tangent zero.
pub(super) fn apply(g: &mut Graph, dual: &Dual, leaf: &dyn Fn(DeltaLeaf) -> Option<Term>) -> Vec<Option<Term>> {
    let mut needed = vec![false; dual.deltas.len()];
    let mut stack: Vec<DeltaId> = dual.tangents.iter().copied().flatten().collect();
    while let Some(id) = stack.pop() {
        if !std::mem::replace(&mut needed[id.0 as usize], true) {
            children(dual.get(id), &mut stack);
        }
    }
    // A tangent is one array, or for a loop one array for each of its parts.
    let mut values: Vec<Vec<Option<Term>>> = Vec::with_capacity(dual.deltas.len());
    let before = g.at(Loc::default());
    for (k, (delta, needed)) in dual.deltas.iter().zip(needed).enumerate() {
        g.at(dual.place(k));
        let of = |id: DeltaId| values[id.0 as usize][0];
        let opt = |id: Option<DeltaId>| id.and_then(of);
        let value = if !needed {
            vec![None]
        } else {
            match delta {
                Delta::Leaf(l) => vec![leaf(*l)],
                Delta::Add(a, b) => vec![match (of(*a), of(*b)) {
                    (Some(a), Some(b)) => Some(g.add(a, b)),
                    (a, b) => a.or(b),
                }],
                // If a seed is a literal, most of its parts are zero.
                Delta::Apply(lin, x) => vec![of(*x).map(|x| lin.apply(g, x)).filter(|&x| !is_zero(g, x))],
                Delta::Cond { cond, then, other } => {
                    vec![match (opt(*then), opt(*other)) {
                        (Some(then), Some(other)) => Some(g.cond(*cond, then, other)),
                        (Some(then), None) => Some(mask_outside(g, then, (*cond, true))),
                        (None, Some(other)) => Some(mask_outside(g, other, (*cond, false))),
                        (None, None) => None,
                    }]
                }
                Delta::Select { mask, then, other, like } => {
                    let (then, other) = (opt(*then), opt(*other));
                    vec![both(g, then, other, *like, |g, a, b| g.select(*mask, a, b))]
                }
                Delta::Update { dst, src, onto, put, vars, index } => {
                    let (dst, src) = (opt(*dst), opt(*src));
                    if dst.is_none() && src.is_none() {
                        vec![None]
                    } else {
                        let dst = dst.unwrap_or_else(|| g.zeros_like(*onto));
                        let src = src.unwrap_or_else(|| g.zeros_like(*put));
                        let (vars, index) = (vars.clone(), index.clone());
                        vec![Some(g.mk(Node::Scatter { put: Put::Set, dst, src, vars, index }))]
                    }
                }
                Delta::Stack { parts, like } => {
                    let parts: Vec<Option<Term>> = parts.iter().map(|p| opt(*p)).collect();
                    if parts.iter().all(Option::is_none) {
                        vec![None]
                    } else {
                        let zero = g.zeros_like(*like);
                        let parts: Vec<Term> = parts.into_iter().map(|p| p.unwrap_or(zero)).collect();
                        vec![Some(g.stack(&parts))]
                    }
                }
                Delta::Scan(s) => {
                    let given = |ids: &[Option<DeltaId>]| ids.iter().map(|id| opt(*id)).collect::<Vec<_>>();
                    let (init, captures, xs) = (given(&s.init), given(&s.captures), given(&s.xs));
                    scan::forward(g, s, &init, &captures, &xs)
                }
                Delta::Call(c) => call::forward(g, c, &c.reads().map(of).collect::<Vec<_>>()),
                Delta::Part(s, k) => vec![values[s.0 as usize].get(*k).copied().flatten()],
            }
        };
        values.push(value);
    }
    g.at(before);
    dual.tangents.iter().map(|id| id.and_then(|id| values[id.0 as usize][0])).collect()
}

fn both(
    g: &mut Graph,
    then: Option<Term>,
    other: Option<Term>,
    like: Term,
    make: impl Fn(&mut Graph, Term, Term) -> Term,
) -> Option<Term> {
    if then.is_none() && other.is_none() {
        return None;
    }
    let zero = g.zeros_like(like);
    Some(make(g, then.unwrap_or(zero), other.unwrap_or(zero)))
}

/// The Deltas that a Delta reads.
fn children(delta: &Delta, out: &mut Vec<DeltaId>) {
    match delta {
        Delta::Leaf(_) => {}
        Delta::Add(a, b) => out.extend([*a, *b]),
        Delta::Apply(_, x) | Delta::Part(x, _) => out.push(*x),
        Delta::Cond { then, other, .. } | Delta::Select { then, other, .. } => {
            out.extend(then.iter().chain(other).copied());
        }
        Delta::Update { dst, src, .. } => out.extend(dst.iter().chain(src).copied()),
        Delta::Stack { parts, .. } => out.extend(parts.iter().copied().flatten()),
        Delta::Call(c) => out.extend(c.reads()),
        Delta::Scan(s) => out.extend(s.init.iter().chain(&s.captures).chain(&s.xs).copied().flatten()),
    }
}
