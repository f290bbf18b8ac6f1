//! The gradient for each of many examples: one reverse sweep of one example, batched over all of
//! them by the bulk-operation transform. Terms that do not depend on the example are computed once.
//!
//! The front end reads the function a second time for this. In that reading the parameters of an
//! example are the rows of arrays at one index. The index is an input of the graph that no routine
//! has. This module turns the input into the variable that is batched over.
//!
//! This module must never hold a rule of differentiation. It must never be applied to a function in
//! which a size differs between examples: `ad_ir::analysis::varying` finds such a size, and the
//! front end refuses the function.

use std::collections::HashSet;

use super::jacobian::Block;
use super::seeds::{self, Axes};
use super::{DerivativeBuilder, Terms, reverse};
use crate::modes::unit_vectors::batched;
use crate::passes::rewrite::Rewriter;
use ad_ir::analysis::once;
use ad_ir::analysis::sizes::Sizes;
use ad_ir::ir::{Graph, Node, Term, Var};
use ad_ir::prim::Reduce;
use ad_ir::program::Container;

/// The gradients and values of all examples.
pub(super) fn each(making: &mut DerivativeBuilder<'_>) -> Terms {
    let Terms { values, differentiated, blocks } = reverse::gradient(making);
    let program = &mut making.prepared.program;
    let example = program.example.and_then(|k| program.graph.input(k));
    let of_first = program.examples.first().and_then(|&k| program.graph.input(program.params[k].input?));
    let (Some(example), Some(of_first)) = (example, of_first) else {
        return Terms { values, differentiated, blocks };
    };
    let g = &mut program.graph;
    let count = g.shape(of_first)[0];
    let all = g.iota(count);
    let var = g.fresh();
    let gradients: Vec<Term> = blocks.iter().flat_map(|b| &b.terms).copied().collect();
    let exact: Vec<Term> = making.prepared.exact.iter().copied().collect();
    let checks: Vec<Term> = making.check_terms();
    let g = making.graph();
    let groups = [values, differentiated, gradients, exact, checks];
    let under = under_variable(g, &groups.concat(), example, var);
    let mut parts = under.into_iter();
    let mut next = |of: &[Term]| (&mut parts).take(of.len()).collect::<Vec<Term>>();
    let [values, differentiated, gradients, exact, checks] = groups.each_ref().map(|group| next(group));

    // Values and gradients are taken together, so that they share one loop if there is a loop over
    // blocks.
    let (number, kept) = (values.len(), differentiated.len());
    let together = [values, differentiated, gradients].concat();
    let mut together = seeds::for_all(g, &[var], all, &together, Axes::First);
    let gradients = together.split_off(number + kept);
    let differentiated = together.split_off(number);
    let own = batched(g, &[var], all, &exact);
    making.prepared.exact = own.into_iter().collect::<HashSet<Term>>();
    making.for_all_examples(&checks, |g, t| {
        let all_hold = g.mentions(t, var).then(|| batched(g, &[var], all, &[t])[0]);
        all_hold.map(|hold| g.reduce(Reduce::All, 1, hold))
    });
    let blocks = gradients.into_iter().map(|t| Block::whole(t, Container::NdArray, Vec::new())).collect();
    Terms { values: together, differentiated, blocks }
}

/// The terms, with the variable in place of the input that is the index of the example.
fn under_variable(g: &mut Graph, terms: &[Term], example: Term, var: Var) -> Vec<Term> {
    let mut rewriter = Rewriter::new(&once::<Sizes>(g, terms));
    let var = g.mk(Node::Var(var));
    rewriter.set(example, var);
    rewriter.substitute(g, terms)
}
