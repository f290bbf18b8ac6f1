//! Differentiation through unary normal form (UNF sections 3 to 5 and 7). The function is
//! translated to a composition of primitives on the whole environment (`normal_form`, UNF Fig. 9;
//! `source`, UNF Fig. 6). Each primitive has a Jacobian (that of an operation is in
//! `modes/operation.rs`). Reverse mode composes their transposes from the last to the first
//! (`reverse`, UNF Figs. 8 and 10; `fold`, UNF Fig. 16), forward mode composes them from the first
//! to the last (`forward`). Going back from UNF is no work of its own, since the positions of the
//! environment are shared terms.
//!
//! It works on the function as it is written, with builds: the bulk-operation transform runs on the
//! derivative. This module never simplifies, and never examines what a whole function computes.

mod fold;
mod forward;
mod normal_form;
mod print;
mod reverse;
mod source;

use std::collections::HashMap;

use ad_ir::ir::{Graph, Node, Term};
use ad_ir::sorted::SortedMap;

use self::normal_form::Normaliser;
use self::reverse::Ct;
use self::source::{Composition, Variable};
use super::cotangent::Cotangent;
use super::forms::Tangent;
use super::linear::KnownZeros;

use super::Refusal;

/// The derivative of some roots through their unary normal form.
pub(super) struct Unf {
    composition: Composition,
    wrt: Vec<u32>,
    values: Vec<Term>,
}

impl Unf {
    /// The derivative of `roots` with respect to the inputs `wrt`, and the terms that the mode does
    /// not support. If there are any, the derivative has no meaning.
    pub(super) fn of(g: &mut Graph, roots: &[Term], wrt: &[u32]) -> (Self, Vec<(Term, Refusal)>) {
        let mut normaliser = Normaliser::new(g, roots);
        let composition = normaliser.compose(roots, &HashMap::new(), wrt);
        let refused = std::mem::take(&mut normaliser.refused);
        let values = composition.results.iter().map(|&at| composition.primal(at)).collect();
        (Unf { composition, wrt: wrt.to_vec(), values }, refused)
    }
}

/// The unary normal form of `roots`, as text.
pub(super) fn shown(g: &mut Graph, roots: &[Term], wrt: &[u32]) -> String {
    let unf = Unf::of(g, roots, wrt).0;
    print::text(g, &unf.composition)
}

impl super::Derivative for Unf {
    fn values(&self) -> &[Term] {
        &self.values
    }

    fn wrt(&self) -> &[u32] {
        &self.wrt
    }

    fn with_saving_loops(&self, g: &mut Graph, others: &[Term]) -> Vec<Term> {
        let steps = self.composition.steps.iter().filter(|s| s.active && s.term != s.primal);
        let loops: HashMap<Term, Term> =
            steps.filter(|s| matches!(g.node(s.term), Node::Scan(_))).map(|s| (s.term, s.primal)).collect();
        super::reading(g, others, &loops)
    }

    fn tangents(&self, g: &mut Graph, seeds: &[(u32, Term)]) -> Vec<Term> {
        let all = forward::tangents(g, &self.composition, &mut |_, variable| match variable {
            Variable::Input(k) => seeds.iter().find(|s| s.0 == k).map(|s| Tangent::Array(s.1)),
            _ => None,
        });
        let of = |(&at, &value): (&usize, &Term)| {
            let tangent = all[at].as_ref().and_then(Tangent::array);
            tangent.unwrap_or_else(|| g.zeros_like(value))
        };
        self.composition.results.iter().zip(&self.values).map(of).collect()
    }

    fn gradients(&self, g: &mut Graph, cotangents: &[Term]) -> Vec<Term> {
        let seed = |(&at, &term): (&usize, &Term)| (at, Ct::Array(Cotangent { term, masked: KnownZeros::None }));
        let seeds = self.composition.results.iter().zip(cotangents).map(seed).collect();
        let (found, _) = reverse::sweep(g, &self.composition, seeds, SortedMap::new());
        let gradient = |&k: &u32| match found.get(&Variable::Input(k)) {
            Some(Ct::Array(ct)) => ct.term,
            _ => {
                let input = g.mk(Node::Input(k));
                g.zeros_like(input)
            }
        };
        self.wrt.iter().map(gradient).collect()
    }
}
