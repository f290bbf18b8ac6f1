//! Replacement of closed terms by closed terms of the same values, in the sizes of types too. The
//! driver of `rewrite` leaves the sizes in types as they are, so that equal types stay equal. Here
//! the sizes may be other terms afterwards, so the parameters of loops get new types.
//!
//! This module must never replace one size in some types only: it rewrites all terms that the roots
//! reach, with the bodies of loops.

use std::collections::HashMap;

use ad_ir::ir::rewrite::{Memoised, Needs, OnDemand, on_demand};
use ad_ir::ir::{Body, Graph, Node, Scan, Term};

/// The rewritten terms that the roots reach. `done` has terms with their results. `instead` maps a
/// term to another term, whose result it gets too. `body` makes the results of the body of a loop,
/// given the rewritten ones.
pub(crate) fn replaced(
    g: &mut Graph,
    roots: &[Term],
    done: HashMap<Term, Term>,
    instead: &HashMap<Term, Term>,
    body: fn(&mut Graph, Vec<Term>) -> Vec<Term>,
) -> HashMap<Term, Term> {
    let mut replacement = TypedReplacement { g, done, instead, body };
    on_demand(&mut replacement, roots.iter().copied());
    replacement.done
}

struct TypedReplacement<'a> {
    g: &'a mut Graph,
    done: HashMap<Term, Term>,
    instead: &'a HashMap<Term, Term>,
    body: fn(&mut Graph, Vec<Term>) -> Vec<Term>,
}

impl Memoised for TypedReplacement<'_> {
    type Key = Term;
    type New = Term;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<Term, Term>) {
        (self.g, &mut self.done)
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        Some(*t)
    }

    fn made(&mut self, t: &Term) -> Term {
        if let Some(other) = self.instead.get(t) {
            return self.done[other];
        }
        match self.g.node(*t).map_children(|c| self.done[&c]) {
            Node::Param(k, ty) => {
                let ty = ty.map_sizes(&mut |n| self.done[&n]);
                self.g.param(k as usize, ty)
            }
            Node::Scan(scan) => {
                let params = scan.body.params.iter().map(|ty| ty.map_sizes(&mut |n| self.done[&n])).collect();
                let results = scan.body.results.iter().map(|r| self.done[r]).collect();
                let results = (self.body)(self.g, results).into();
                self.g.scan(Scan { body: Body { params, results }, ..*scan })
            }
            Node::Proj(tuple, k) => self.g.proj(tuple, k as usize),
            node => self.g.mk(node),
        }
    }
}

impl OnDemand for TypedReplacement<'_> {
    fn enter(&mut self, t: &Term, needs: &mut Needs<'_, Term>) -> Option<Term> {
        if let Some(&other) = self.instead.get(t) {
            needs.push(other);
            return None;
        }
        match self.g.node(*t) {
            Node::Param(_, ty) => ty.for_each_size(&mut |n| needs.push(n)),
            Node::Scan(scan) => {
                scan.body.params.iter().for_each(|ty| ty.for_each_size(&mut |n| needs.push(n)));
                needs.extend(scan.body.results.iter().copied());
            }
            _ => {}
        }
        self.g.node(*t).for_each_child(|c| needs.push(c));
        None
    }
}
