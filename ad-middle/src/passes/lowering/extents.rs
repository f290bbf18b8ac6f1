//! Extents of operands. The extent of an array along an axis is the number of its first elements
//! that a condition keeps, as in a loop over matrices of several shapes. A product with such an
//! operand is a product of the elements that it keeps, and zero elsewhere. An update that such a
//! condition limits writes the elements below the extents only. This module must never read an
//! extent from a condition that does not hold exactly for the indices below all extents.

use super::contraction::contraction;
use super::matrix::strip_layouts;
use crate::passes::simplify::update::Conditional;
use ad_ir::analysis::zeros::is_zero_of_either_sign;
use ad_ir::ir::{Graph, Node, Put, Term, Var, axis};
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

/// A choice or an update in a form that shows the emitter where its elements end.
pub(super) fn ended(g: &mut Graph, (t, exact): (Term, bool), node: &Node) -> Option<Term> {
    let Node::Prim(_, args) = node else { return of_update(g, node) };
    let product = if exact { None } else { of_result(g, t, args) };
    product.or_else(|| outermost(g, args))
}

/// `select(mask, a b, 0)` for a product of matrices: the operands have the extents of the result
/// too.
fn of_result(g: &mut Graph, t: Term, args: &[Term]) -> Option<Term> {
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

/// An update that keeps all but the first elements that it could replace: it writes these only, or
/// adds to them. The others get an index that is out of range, so that the emitter ends its loops
/// before them. No bit of them changes.
fn of_update(g: &mut Graph, update: &Node) -> Option<Term> {
    let Conditional { condition, put, src } = Conditional::of(g, update)?;
    let Node::Scatter { dst, .. } = *update else { return None };
    let (mut vars, mut index) = g.open_binder(update);
    // The elements of a row have an index of their own too.
    for _ in vars.len()..g.rank(src) {
        let var = g.fresh();
        vars.push(var);
        index.push(g.mk(Node::Var(var)));
    }
    let index = ended_index(g, condition, (dst, &vars, index))?;
    let zeros = g.zeros_of_any(src);
    let src = g.select(condition, src, zeros);
    Some(match put {
        Put::Add => g.scatter(dst, src, &vars, &index),
        Put::Set => g.update(dst, src, &vars, &index),
    })
}

/// `select(condition, src, dst)` as an update of the first elements of `dst`, if the condition
/// holds for these only.
pub(super) fn chosen(g: &mut Graph, condition: Term, src: Term, dst: Term) -> Option<Term> {
    let vars: Vec<Var> = (0..g.rank(dst)).map(|_| g.fresh()).collect();
    let index = vars.iter().map(|&var| g.mk(Node::Var(var))).collect();
    let index = ended_index(g, condition, (dst, &vars, index))?;
    let zeros = g.zeros_of_any(src);
    let src = g.select(condition, src, zeros);
    Some(g.update(dst, src, &vars, &index))
}

/// The index of an update of as many axes as `vars`, out of range where a condition does not hold
/// that keeps the first elements.
fn ended_index(g: &mut Graph, condition: Term, (dst, vars, mut index): (Term, &[Var], Vec<Term>)) -> Option<Vec<Term>> {
    let ends = extents(g, condition)?;
    if ends.iter().all(Option::is_none) {
        return None;
    }
    for (var, end) in vars.iter().zip(ends).filter_map(|(&var, end)| Some((var, end?))) {
        let k = index.iter().position(|&ix| g.mentions(ix, var))?;
        let var = g.mk(Node::Var(var));
        let (there, nowhere) = (g.compare(Cmp::Lt, var, end), g.shape(dst)[k]);
        index[k] = g.cond(there, index[k], nowhere);
    }
    Some(index)
}

/// `select(m && c, x, 0)` as `select(m, select(c, x, 0), 0)` if m keeps the first elements and c is
/// any other condition: loops over the elements end where m ends.
fn outermost(g: &mut Graph, args: &[Term]) -> Option<Term> {
    let (mask, x, zeros) = (args[0], args[1], args[2]);
    let Node::Prim(Prim::And, sides) = g.node(mask).clone() else { return None };
    if !is_zero_of_either_sign(g, zeros) {
        return None;
    }
    let [a, b] = [sides[0], sides[1]];
    let ends = |g: &Graph, t: Term| extents(g, t).is_some_and(|ends| ends.iter().any(Option::is_some));
    let (outer, inner) = match (ends(g, a), ends(g, b)) {
        (true, false) => (a, b),
        (false, true) => (b, a),
        _ => return None,
    };
    let x = g.select(inner, x, zeros);
    Some(g.select(outer, x, zeros))
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
