//! Combinatory homomorphic automatic differentiation (CHAD sections 2.3, 4, 7, 9 and 10). Each term
//! becomes the pair of its value and a linear function: from the tangents of its context to its
//! tangent in forward mode, and from its cotangent to those of its context in reverse mode.
//! Copowers and linear functions are gone afterwards: what is left are terms of the core language.
//! docs/internals/src/chad.md says which file has which part of the paper.
//!
//! It works on the function as it is written, with builds: the bulk-operation transform runs on the
//! derivative. This module never simplifies, and never examines what a whole function computes.

mod cotangent;
mod fold;
mod forward;
mod lfun;
mod print;
mod reverse;
mod transform;

use std::collections::HashMap;

use ad_ir::ir::{Graph, Node, Term};
use ad_ir::sorted::SortedMap;

use self::cotangent::Ct;
use self::lfun::{LFun, Lets, Variable};
use self::transform::Transform;
use super::Refusal;
use super::cotangent::Cotangent;
use super::forms::Tangent;
use super::linear::KnownZeros;

/// The derivative of some roots by CHAD.
pub(super) struct Chad {
    program: Lets,
    wrt: Vec<u32>,
    values: Vec<Term>,
}

impl Chad {
    /// The derivative of `roots` with respect to the inputs `wrt`, and the terms that the mode does
    /// not take. If there are any, the derivative has no meaning.
    pub(super) fn of(g: &mut Graph, roots: &[Term], wrt: &[u32]) -> (Self, Vec<(Term, Refusal)>) {
        let mut transform = Transform::new(g, roots);
        let program = transform.program(roots, &HashMap::new(), wrt);
        let refused = std::mem::take(&mut transform.refused);
        let values = program.results.iter().map(|&k| program.primal(k)).collect();
        (Chad { program, wrt: wrt.to_vec(), values }, refused)
    }
}

/// `D(t)` of `roots`, as text.
pub(super) fn shown(g: &mut Graph, roots: &[Term], wrt: &[u32]) -> String {
    let chad = Chad::of(g, roots, wrt).0;
    print::text(g, &chad.program)
}

impl super::Derivative for Chad {
    fn values(&self) -> &[Term] {
        &self.values
    }

    fn wrt(&self) -> &[u32] {
        &self.wrt
    }

    fn with_saving_loops(&self, g: &mut Graph, others: &[Term]) -> Vec<Term> {
        let changed = self.program.bound.iter().filter(|b| b.term != b.primal && !matches!(b.dual, LFun::Zero));
        let loops = changed.filter(|b| matches!(g.node(b.term), Node::Scan(_) | Node::Build { .. }));
        let loops: HashMap<Term, Term> = loops.map(|b| (b.term, b.primal)).collect();
        super::reading(g, others, &loops)
    }

    fn tangents(&self, g: &mut Graph, seeds: &[(u32, Term)]) -> Vec<Term> {
        let all = forward::applied(g, &self.program, &|variable| match variable {
            Variable::Input(k) => seeds.iter().find(|s| s.0 == k).map(|s| Tangent::Array(s.1)),
            _ => None,
        });
        let of = |(&k, &value): (&usize, &Term)| {
            let tangent = all[k].as_ref().and_then(Tangent::array);
            tangent.unwrap_or_else(|| g.zeros_like(value))
        };
        self.program.results.iter().zip(&self.values).map(of).collect()
    }

    fn gradients(&self, g: &mut Graph, cotangents: &[Term]) -> Vec<Term> {
        let given = |(&k, &term): (&usize, &Term)| (k, Ct::from(Cotangent { term, masked: KnownZeros::None }));
        let given = self.program.results.iter().zip(cotangents).map(given).collect();
        let (mut found, _) = reverse::applied(g, &self.program, given, SortedMap::new());
        let gradient = |&k: &u32| {
            let input = g.mk(Node::Input(k));
            let ct = found.remove(&Variable::Input(k)).and_then(|ct| ct.folded(g, input));
            ct.map_or_else(|| g.zeros_like(input), |ct| ct.term)
        };
        self.wrt.iter().map(gradient).collect()
    }
}
