//! Unit vectors as terms. The images of all unit vectors determine a linear map.
//!
//! The seed for all unit vectors at once is the `build` of a comparison over index variables. The
//! image of the seed is a term over these variables. The bulk-operation transform turns it into the
//! array of the images of all unit vectors.
//!
//! An algorithm that can apply a derivative in one direction gets the other direction from this
//! module. That costs one application for each element, so an algorithm with a transposed map of
//! its own must never use this module.

use super::Derivative;
use crate::passes::bulk;
use ad_ir::ir::{Graph, Node, Term, Var, axis};
use ad_ir::prim::{Binary, Cmp};

/// The unit vector at index variables, of the shape of `like`: 1 where each index is its variable,
/// else 0.
pub(crate) fn unit(g: &mut Graph, like: Term) -> (Vec<Var>, Term) {
    let (elem, shape) = (g.elem(like), g.shape(like).to_vec());
    let vars: Vec<Var> = shape.iter().map(|_| g.fresh()).collect();
    let mut mask = None;
    for (k, &var) in vars.iter().enumerate() {
        let at = g.mk(Node::Var(var));
        let at = g.broadcast(at, &shape);
        let own = g.iota(shape[k]);
        let others: Vec<u8> = (0..shape.len()).filter(|&a| a != k).map(axis).collect();
        let sizes: Vec<Term> = others.iter().map(|&a| shape[usize::from(a)]).collect();
        let own = g.replicate_axes(own, &others, &sizes);
        let here = g.compare(Cmp::Eq, own, at);
        mask = Some(match mask {
            None => here,
            Some(before) => g.and(before, here),
        });
    }
    let (zero, one) = (g.lit_shaped(elem, &shape, 0.0), g.lit_shaped(elem, &shape, 1.0));
    let seed = mask.map_or(one, |mask| g.select(mask, one, zero));
    (vars, seed)
}

/// Terms for all values of the variables, which index an array of the shape of `like`.
pub(crate) fn batched(g: &mut Graph, vars: &[Var], like: Term, terms: &[Term]) -> Vec<Term> {
    let shape = g.shape(like).to_vec();
    let mut terms = terms.to_vec();
    for (&var, &size) in vars.iter().zip(&shape).rev() {
        terms = if !has_build(g, &terms) {
            bulk::batch(g, var, size, &terms)
        } else {
            // The bulk-operation transform runs on the derivative.
            terms.iter().map(|&t| g.build(size, var, t)).collect()
        };
    }
    terms
}

/// Whether there is a build among these terms, or in the body of a loop.
fn has_build(g: &Graph, terms: &[Term]) -> bool {
    g.reachable(terms).into_iter().any(|t| match g.node(t) {
        Node::Build { .. } => true,
        Node::Scan(scan) => has_build(g, &scan.body.results),
        _ => false,
    })
}

/// The tangents of the roots, by one application of the transposed map for each of their elements.
pub(super) fn tangents(derivative: &(impl Derivative + ?Sized), g: &mut Graph, seeds: &[(u32, Term)]) -> Vec<Term> {
    let roots = derivative.values().to_vec();
    let wrt = derivative.wrt().to_vec();
    let of_root = |g: &mut Graph, k: usize| {
        let root = roots[k];
        if !g.elem(root).is_real() {
            return root;
        }
        let (vars, unit) = unit(g, root);
        let cotangents: Vec<Term> =
            roots.iter().enumerate().map(|(other, &r)| if other == k { unit } else { g.zeros_like(r) }).collect();
        let gradients = derivative.gradients(g, &cotangents);
        let pairs = wrt.iter().zip(gradients);
        let pairs: Vec<_> =
            pairs.filter_map(|(input, d)| seeds.iter().find(|s| s.0 == *input).map(|s| (s.1, d))).collect();
        let sum = inner(g, root, &pairs);
        batched(g, &vars, root, &[sum])[0]
    };
    (0..roots.len()).map(|k| of_root(g, k)).collect()
}

/// The gradients of the inputs, by one application of the map for each of their elements.
pub(super) fn gradients(derivative: &(impl Derivative + ?Sized), g: &mut Graph, cotangents: &[Term]) -> Vec<Term> {
    let roots = derivative.values().to_vec();
    let of_input = |g: &mut Graph, k: u32| {
        let input = g.mk(Node::Input(k));
        let (vars, unit) = unit(g, input);
        let tangents = derivative.tangents(g, &[(k, unit)]);
        let real = |g: &Graph, k: usize| g.elem(roots[k]).is_real();
        let pairs: Vec<_> = (0..roots.len()).filter(|&k| real(g, k)).map(|k| (cotangents[k], tangents[k])).collect();
        let sum = inner(g, input, &pairs);
        batched(g, &vars, input, &[sum])[0]
    };
    derivative.wrt().iter().map(|&k| of_input(g, k)).collect()
}

/// The sum of the inner products of pairs of arrays, in the element type of `like`. If an element
/// of the first array is zero, nothing is added for it, whatever the second array has at its index.
fn inner(g: &mut Graph, like: Term, pairs: &[(Term, Term)]) -> Term {
    let elem = g.elem(like);
    let mut sum = g.lit_shaped(elem, &[], 0.0);
    for &(a, b) in pairs {
        let product = g.binary(Binary::MulZero, a, b);
        let part = g.sum_all(product);
        let part = g.cast(elem, part);
        sum = g.add(sum, part);
    }
    sum
}
