//! One call where a routine has two. The derivative calls the forward half of a function, which
//! leaves a record. Sizes and counting runs still call the function itself with the same arguments,
//! since passes do not rewrite terms in sizes. If the function calls itself, the two calls of each
//! level add up to as many times the function's own calls as there are levels.
//!
//! Here the results of the forward half replace those of the function: they have the same bits,
//! because the program has decided on either. Terms in sizes are replaced too, and the types that
//! have these sizes.
//!
//! This module must never let a routine call a forward half that it does not call anyway.

use std::collections::HashMap;

use super::merge_runs::deep;
use crate::passes::rewrite::Rewriter;
use crate::passes::simplify::simplify_exactly;
use ad_ir::ir::rewrite::{Memoised, Needs, OnDemand, on_demand};
use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type};
use ad_ir::prim::Prim;
use ad_ir::prim::structural::{Callee, Half};

/// The roots of a routine that makes each call once.
pub(crate) fn roots(g: &mut Graph, roots: &[Term]) -> Vec<Term> {
    let replaced = replaced(g, roots);
    roots.iter().map(|t| replaced.get(t).copied().unwrap_or(*t)).collect()
}

/// The terms that the roots reach, with their replacements; empty if no call is made twice. Calls
/// in the bodies of loops stay as they are.
pub(super) fn replaced(g: &mut Graph, roots: &[Term]) -> HashMap<Term, Term> {
    let is_forward = |g: &Graph, t: Term| match g.node(t) {
        Node::Prim(Prim::Call(callee), _) => callee.half == Half::Forward && !g.is_open(t) && g.free(t).is_empty(),
        _ => false,
    };
    if !g.reachable(roots).iter().any(|&t| is_forward(g, t)) {
        return HashMap::new();
    }
    let all = deep(g, roots);
    let halves: Vec<Term> = all.iter().copied().filter(|&t| is_forward(g, t)).collect();
    // The calls of the function itself that have the arguments of a forward half. Those may depend
    // on the results of other forward halves.
    let mut values = Rewriter::default();
    let mut same = HashMap::new();
    for half in halves {
        let Node::Prim(Prim::Call(callee), args) = g.node(half).clone() else { continue };
        let args = values.substitute(g, &args);
        let number = match &*callee.results {
            [only] if only.sizes.is_empty() => Some(only.elem),
            _ => None,
        };
        for direct in [None, number] {
            let value = Callee { half: Half::Value, active: Box::default(), direct, ..(*callee).clone() };
            let call = g.prim(Prim::Call(value.into()), &args);
            if all.binary_search(&call).is_err() {
                continue;
            }
            same.insert(call, half);
            match direct {
                None => values.set(half, call),
                Some(elem) => {
                    let result = g.prim(Prim::Returned(0, elem), &[half]);
                    values.set(result, call);
                }
            }
        }
    }
    if same.is_empty() {
        return HashMap::new();
    }
    let mut renaming = Renaming { g, same: &same, done: HashMap::new() };
    on_demand(&mut renaming, roots.iter().copied());
    renaming.done
}

struct Renaming<'a> {
    g: &'a mut Graph,
    /// The forward half for each call that it replaces.
    same: &'a HashMap<Term, Term>,
    done: HashMap<Term, Term>,
}

impl Renaming<'_> {
    fn ty(&self, ty: &Type) -> Type {
        match ty {
            Type::Array(elem, shape) => Type::Array(*elem, shape.iter().map(|n| self.done[n]).collect()),
            Type::Tuple(parts) => Type::Tuple(parts.iter().map(|ty| self.ty(ty)).collect()),
        }
    }
}

/// The sizes in a type.
fn sizes(ty: &Type, into: &mut Needs<'_, Term>) {
    match ty {
        Type::Array(_, shape) => into.extend(shape.iter().copied()),
        Type::Tuple(parts) => parts.iter().for_each(|ty| sizes(ty, into)),
    }
}

impl Memoised for Renaming<'_> {
    type Key = Term;
    type New = Term;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<Term, Term>) {
        (self.g, &mut self.done)
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        Some(*t)
    }

    fn made(&mut self, &t: &Term) -> Term {
        if let Some(half) = self.same.get(&t) {
            let record = self.done[half];
            return match &*self.g.node_rc(t) {
                Node::Prim(Prim::Call(callee), _) => match callee.direct {
                    Some(elem) => self.g.prim(Prim::Returned(0, elem), &[record]),
                    None => record,
                },
                _ => record,
            };
        }
        let node = self.g.node(t).map_children(|c| self.done[&c]);
        match node {
            Node::Param(k, ty) => {
                let ty = self.ty(&ty);
                self.g.param(k as usize, ty)
            }
            Node::Scan(scan) => {
                let params = scan.body.params.iter().map(|ty| self.ty(ty)).collect();
                let results: Vec<Term> = scan.body.results.iter().map(|r| self.done[r]).collect();
                // No pass has simplified the loops that compute sizes. Now they are the loops of
                // the derivative.
                let results = simplify_exactly(self.g, &results).into();
                self.g.scan(Scan { body: Body { params, results }, ..*scan })
            }
            Node::Proj(tuple, k) => self.g.proj(tuple, k as usize),
            node => self.g.mk(node),
        }
    }
}

impl OnDemand for Renaming<'_> {
    fn enter(&mut self, t: &Term, needs: &mut Needs<'_, Term>) -> Option<Term> {
        if let Some(&half) = self.same.get(t) {
            needs.push(half);
            return None;
        }
        match self.g.node(*t) {
            Node::Param(_, ty) => sizes(ty, needs),
            Node::Scan(scan) => {
                scan.body.params.iter().for_each(|ty| sizes(ty, needs));
                needs.extend(scan.body.results.iter().copied());
            }
            _ => {}
        }
        self.g.node(*t).for_each_child(|c| needs.push(c));
        None
    }
}
