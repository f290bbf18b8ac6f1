//! Differentiation by dual arrays (BOT sections 6 and 7): `dual` gives each real term its forward derivative as a Delta term,
//! `forward` applies Deltas to tangents, `transpose` applies their transposes to cotangents. One Delta serves both.
//!
//! Terms given to this module have no `build` and no call (`bot` has removed them). It never simplifies, and never looks at
//! what a whole function computes.

pub(crate) mod condition;
mod delta;
mod dual;
mod forward;
mod linear;
mod scan;
mod transpose;

use crate::ir::{Graph, Term};

/// The roots and their tangents, given tangents of inputs. `roots` are arrays; the tangent of one that is not real is itself.
/// The first part of the result are the roots again (loops among them now save what derivatives read).
pub fn forward(g: &mut Graph, roots: &[Term], seeds: &[(u32, Term)]) -> (Vec<Term>, Vec<Term>) {
    let active: Vec<u32> = seeds.iter().map(|s| s.0).collect();
    let dual = dual::dual(g, roots, &active);
    let tangents = forward::apply(g, &dual, &|leaf| match leaf {
        delta::Leaf::Input(k) => seeds.iter().find(|s| s.0 == k).map(|s| s.1),
        delta::Leaf::Param(_) => None,
    });
    let tangents = tangents
        .into_iter()
        .zip(&dual.primal)
        .map(|(tangent, &root)| tangent.unwrap_or_else(|| g.zeros_like(root)))
        .collect();
    (dual.primal, tangents)
}

/// The roots and the gradients of `<roots, cotangents>` with respect to the inputs `wrt` (BOT Fig. 21).
/// Cotangents of roots that are not real are not looked at.
pub fn reverse(g: &mut Graph, roots: &[Term], cotangents: &[Term], wrt: &[u32]) -> (Vec<Term>, Vec<Term>) {
    let dual = dual::dual(g, roots, wrt);
    let seeds: Vec<Option<Term>> = cotangents.iter().map(|&c| Some(c)).collect();
    let found = transpose::transpose(g, &dual, &seeds, transpose::Masked::No);
    let gradients = wrt
        .iter()
        .map(|&k| match found.get(&delta::Leaf::Input(k)) {
            Some(ct) => ct.term,
            None => {
                let input = g.mk(crate::ir::Node::Input(k));
                g.zeros_like(input)
            }
        })
        .collect();
    (dual.primal, gradients)
}
