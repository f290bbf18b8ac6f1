//! Extents of operands. The extent of an array along an axis is the number of its first elements
//! that a condition keeps, as in a loop over matrices of several shapes. A product with such an
//! operand is a product of the elements that it keeps, and zero elsewhere. This module must never
//! accept a condition with any other part: it has to hold exactly for the indices below all
//! extents.

use super::contraction::contraction;
use super::matrix::strip_layouts;
use ad_ir::analysis::zeros::is_zero_of_either_sign;
use ad_ir::ir::{Graph, Node, Term, axis};
use ad_ir::prim::{Cmp, Prim};

/// For each axis of a condition, the number of first indices at which it holds, or `None` if it
/// holds at all indices of the axis. `None` for a condition of any other form.
pub(super) fn extents(g: &Graph, mask: Term) -> Option<Vec<Option<Term>>> {
    match g.node(mask) {
        Node::Prim(Prim::And, args) => {
            let (a, b) = (extents(g, args[0])?, extents(g, args[1])?);
            a.into_iter().zip(b).map(|pair| both(pair.0, pair.1)).collect()
        }
        Node::Prim(Prim::Replicate(axes), args) if g.rank(args[0]) > 0 => {
            let mut inner = extents(g, args[0])?.into_iter();
            let all = 0..g.rank(mask);
            Some(all.map(|k| if axes.contains(&axis(k)) { None } else { inner.next().flatten() }).collect())
        }
        Node::Prim(Prim::Compare(Cmp::Lt), args) if g.rank(mask) == 1 => {
            let counts = matches!(g.node(args[0]), Node::Prim(Prim::Iota, _));
            match g.node(args[1]) {
                Node::Prim(Prim::Replicate(_), of) if counts && g.rank(of[0]) == 0 => Some(vec![Some(of[0])]),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The extent under two conditions. `None` if it would be the minimum of two numbers.
fn both(a: Option<Term>, b: Option<Term>) -> Option<Option<Term>> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => None,
        (a, b) => Some(a.or(b)),
    }
}

/// An array under a condition, which is zero elsewhere: its extents, and the array.
pub(super) fn limited(g: &Graph, t: Term) -> Option<(Vec<Option<Term>>, Term)> {
    match g.node(t) {
        Node::Prim(Prim::Select, args) if is_zero_of_either_sign(g, args[2]) => Some((extents(g, args[0])?, args[1])),
        _ => None,
    }
}

/// `select(mask, a b, 0)` for a product of matrices: the operands have the extents of the result
/// too.
pub(super) fn of_result(g: &mut Graph, t: Term, args: &[Term]) -> Option<Term> {
    let (mask, product, zeros) = (args[0], args[1], args[2]);
    let Node::Prim(Prim::Contract(spec), operands) = g.node(product) else { return None };
    let (spec, mut operands) = (spec.clone(), [operands[0], operands[1]]);
    if !is_zero_of_either_sign(g, zeros) || spec.a.len() < 2 || spec.b.len() < 2 {
        return None;
    }
    let ends = extents(g, mask)?;
    for (&label, len) in spec.out.iter().zip(ends) {
        let Some(len) = len else { continue };
        for (labels, operand) in [&spec.a, &spec.b].into_iter().zip(&mut operands) {
            let Some(k) = labels.iter().position(|&l| l == label) else { continue };
            let (base, perm) = strip_layouts(g, *operand);
            let known = limited(g, base).is_some_and(|(ends, _)| ends[perm[k]].is_some());
            if !known {
                *operand = first(g, *operand, k, len);
            }
        }
    }
    let Node::Prim(Prim::Contract(_), old) = g.node(product) else { return None };
    if operands == [old[0], old[1]] {
        return None;
    }
    let product = contraction(g, t, &spec, operands[0], operands[1], false);
    Some(g.select(mask, product, zeros))
}

/// The first elements along an axis, and zeros after them.
fn first(g: &mut Graph, x: Term, k: usize, len: Term) -> Term {
    let shape = g.shape(x).to_vec();
    let (places, end) = (g.iota(shape[k]), g.replicate(shape[k], len));
    let there = g.compare(Cmp::Lt, places, end);
    let others: Vec<usize> = (0..shape.len()).filter(|&j| j != k).collect();
    let (axes, sizes): (Vec<u8>, Vec<Term>) = others.into_iter().map(|j| (axis(j), shape[j])).unzip();
    let there = g.replicate_axes(there, &axes, &sizes);
    let zeros = g.zeros_of_any(x);
    g.select(there, x, zeros)
}
