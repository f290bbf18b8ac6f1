//! One-hot tangents and cotangents, which are zero everywhere except at one index: the seeds of
//! Jacobians and Hessians (one-hot at a variable), and the cotangent of an array of which one
//! element is read. A sum along an axis with one nonzero index is the value at that index, and a
//! contraction along it reads the other operand there. So the derivative of a linear map costs no
//! product with the unit matrix.
//!
//! This module must never be applied to terms of the user's function: in these, zero times infinity
//! has to stay a NaN. It relies on indices being in range: a seed's variable is below the size of
//! its axis, and the user's checks (or a mask) cover the indices of a scatter.

use crate::passes::simplify::{
    self,
    scatter::{Scattered, sum_of_scattered},
};
use ad_ir::ir::{Contraction, Graph, Node, Put, Term, axis, other_axes};
use ad_ir::prim::structural::Applied;
use ad_ir::prim::{Binary, Cmp, Prim, Unary};

/// The maximum depth of the operations that these functions examine.
const MAX_DEPTH: usize = 8;

/// The axes along which a term is zero except at one index, each with that index.
fn one_hot_axes(g: &Graph, x: Term, depth: usize) -> Vec<(u8, Term)> {
    if let Some((_, index)) = slot(g, x) {
        return index.iter().enumerate().map(|(k, &at)| (axis(k), at)).collect();
    }
    let Node::Prim(prim, args) = g.node(x) else { return Vec::new() };
    if depth == 0 {
        return Vec::new();
    }
    let below = |k: usize| one_hot_axes(g, args[k], depth - 1);
    match prim {
        Prim::Select if ad_ir::analysis::zeros::is_zero(g, args[2]) => {
            let mut found = Vec::new();
            conjuncts(g, args[0], depth, &mut found);
            found.extend(below(1));
            found
        }
        Prim::Unary(Unary::Neg) | Prim::Cast(_) | Prim::Binary(Binary::Div | Binary::MulZero) => below(0),
        Prim::Binary(Binary::Mul) => below(0).into_iter().chain(below(1)).collect(),
        Prim::Binary(Binary::Add | Binary::Sub) => {
            let other = below(1);
            below(0).into_iter().filter(|unit| other.contains(unit)).collect()
        }
        Prim::Transpose(perm) => below(0)
            .into_iter()
            .filter_map(|(a, at)| perm.iter().position(|&p| p == a).map(|k| (axis(k), at)))
            .collect(),
        Prim::Replicate(new) => {
            let old: Vec<u8> = other_axes(g.rank(x), new);
            below(0).into_iter().map(|(a, at)| (old[usize::from(a)], at)).collect()
        }
        Prim::Contract(spec) => {
            let mut found = Vec::new();
            for (k, labels) in [&spec.a, &spec.b].into_iter().enumerate() {
                let in_result = |label: u8| spec.out.iter().position(|&l| l == label).map(axis);
                found.extend(below(k).into_iter().filter_map(|(a, at)| Some((in_result(labels[usize::from(a)])?, at))));
            }
            found
        }
        Prim::Sum(axes) => {
            let left: Vec<u8> = other_axes(g.rank(args[0]), axes);
            let place = |a: u8| left.iter().position(|&l| l == a).map(axis);
            below(0).into_iter().filter_map(|(a, at)| Some((place(a)?, at))).collect()
        }
        _ => Vec::new(),
    }
}

/// For a term that is zero except at one index of its first axes: its value at that index, and the
/// index.
pub(crate) fn slot(g: &Graph, x: Term) -> Option<(Term, Box<[Term]>)> {
    match g.node(x) {
        Node::Scatter { put: Put::Add, dst, src, vars, index }
            if vars.is_empty() && ad_ir::analysis::zeros::is_zero(g, *dst) =>
        {
            Some((*src, index.clone()))
        }
        _ => None,
    }
}

/// An array of this shape with `x` at the index, and zeros elsewhere.
pub(crate) fn scatter_element(g: &mut Graph, x: Term, index: &[Term], shape: &[Term]) -> Term {
    let elem = g.elem(x);
    let zeros = g.lit_shaped(elem, shape, 0.0);
    g.scatter(zeros, x, &[], index)
}

/// Finds the axes along which a mask compares the index with a variable, each with the variable.
fn conjuncts(g: &Graph, mask: Term, depth: usize, found: &mut Vec<(u8, Term)>) {
    let Node::Prim(prim, args) = g.node(mask) else { return };
    match prim {
        Prim::And if depth > 0 => args.iter().for_each(|&m| conjuncts(g, m, depth - 1, found)),
        Prim::Compare(Cmp::Eq) => {
            for (own, at) in [(args[0], args[1]), (args[1], args[0])] {
                let at = g.splat(at);
                if let (Node::Var(_), Some(a)) = (g.node(at), g.iota_axis(own)) {
                    found.push((a, at));
                }
            }
        }
        _ => {}
    }
}

/// Whether a term is zero except at this index. If it is not, it is better read at the index than
/// recomputed at the index.
fn is_unit(g: &Graph, x: Term, at: (u8, Term), depth: usize) -> bool {
    one_hot_axes(g, x, depth).contains(&at)
}

/// The part of a term at an index of an axis.
fn part(g: &mut Graph, x: Term, at: (u8, Term), depth: usize) -> Term {
    let (k, index) = at;
    let node = g.node_rc(x);
    if g.rank(g.splat(x)) == 0 {
        let mut shape = g.shape(x).to_vec();
        shape.remove(usize::from(k));
        let scalar = g.splat(x);
        return g.broadcast(scalar, &shape);
    }
    let without = |a: u8| if a > k { a - 1 } else { a };
    if let Some((src, mut places)) = slot(g, x).map(|(src, index)| (src, index.to_vec()))
        && places.get(usize::from(k)) == Some(&index)
    {
        places.remove(usize::from(k));
        if places.is_empty() {
            return src;
        }
        let mut shape = g.shape(x).to_vec();
        shape.remove(usize::from(k));
        return scatter_element(g, src, &places, &shape);
    }
    match &*node {
        Node::Prim(Prim::Iota, _) => index,
        Node::Prim(Prim::Replicate(new), args) => {
            let left: Vec<(u8, Term)> = new
                .iter()
                .copied()
                .zip(args[1..].iter().copied())
                .filter(|n| n.0 != k)
                .map(|(a, n)| (without(a), n))
                .collect();
            let (axes, sizes): (Vec<u8>, Vec<Term>) = left.into_iter().unzip();
            let inner = if new.contains(&k) {
                args[0]
            } else {
                let own = (0..k).filter(|a| !new.contains(a)).count();
                part(g, args[0], (axis(own), index), depth)
            };
            g.replicate_axes(inner, &axes, &sizes)
        }
        Node::Prim(Prim::Transpose(perm), args) => {
            let own = perm[usize::from(k)];
            let left: Vec<u8> =
                perm.iter().copied().filter(|&p| p != own).map(|p| if p > own { p - 1 } else { p }).collect();
            let inner = part(g, args[0], (own, index), depth);
            g.transpose(inner, &left)
        }
        Node::Prim(Prim::Contract(spec), args) if depth > 0 && is_unit(g, x, at, depth) => {
            let label = spec.out[usize::from(k)];
            let operand = |g: &mut Graph, labels: &[u8], x: Term| match labels.iter().position(|&l| l == label) {
                Some(a) => part(g, x, (axis(a), index), depth - 1),
                None => x,
            };
            let (a, b) = (operand(g, &spec.a, args[0]), operand(g, &spec.b, args[1]));
            let others = |labels: &[u8]| -> Box<[u8]> { labels.iter().copied().filter(|&l| l != label).collect() };
            g.contract(a, b, spec.with(others(&spec.a), others(&spec.b), others(&spec.out)))
        }
        Node::Prim(Prim::Sum(axes), args) if depth > 0 && is_unit(g, x, at, depth) => {
            let own = (0..g.rank(args[0])).map(axis).filter(|a| !axes.contains(a)).nth(usize::from(k)).unwrap_or(k);
            let axes: Vec<u8> = axes.iter().map(|&a| if a > own { a - 1 } else { a }).collect();
            let inner = part(g, args[0], (own, index), depth - 1);
            g.sum_axes(inner, &axes)
        }
        Node::Prim(prim, args) if prim.is_elementwise() && depth > 0 => {
            let args: Vec<Term> = args.iter().map(|&a| part(g, a, at, depth - 1)).collect();
            match prim {
                Prim::Select => g.select(args[0], args[1], args[2]),
                Prim::And => g.and(args[0], args[1]),
                // Both operands are the variable itself: only integers are compared with a
                // variable, so they are equal.
                Prim::Compare(Cmp::Eq) if args[0] == args[1] && matches!(g.node(g.splat(args[0])), Node::Var(_)) => {
                    let (yes, shape) = (g.lit_bool(true), g.shape(args[0]).to_vec());
                    g.broadcast(yes, &shape)
                }
                Prim::Compare(op) => g.compare(*op, args[0], args[1]),
                _ => g.prim(prim.clone(), &args),
            }
        }
        _ => {
            let perm: Vec<u8> = std::iter::once(k).chain((0..g.rank(x)).map(axis).filter(|&a| a != k)).collect();
            let first = g.transpose(x, &perm);
            g.index(first, &[index])
        }
    }
}

/// A structural primitive of a tangent or a cotangent.
pub(crate) fn apply(g: &mut Graph, map: &Applied, x: Term) -> Term {
    match &map.prim {
        Prim::Sum(axes) => sum(g, x, axes),
        Prim::Contract(spec) => contract(g, x, map.rest[0], spec.clone()),
        _ => map.at(g, x),
    }
}

/// The sum of a derivative over these axes.
pub(crate) fn sum(g: &mut Graph, x: Term, axes: &[u8]) -> Term {
    let Some(at) = one_hot_axes(g, x, MAX_DEPTH).into_iter().find(|u| axes.contains(&u.0)) else {
        return match scattered(g, x) {
            Some(placed) => sum_of_scattered(g, x, &placed, axes),
            None => g.sum_axes(x, axes),
        };
    };
    let left: Vec<u8> = axes.iter().filter(|&&a| a != at.0).map(|&a| if a > at.0 { a - 1 } else { a }).collect();
    let x = part(g, x, at, MAX_DEPTH);
    sum(g, x, &left)
}

/// The contraction of a derivative with another array.
pub(crate) fn contract(g: &mut Graph, x: Term, with: Term, spec: Contraction) -> Term {
    let summed = |u: &(u8, Term)| !spec.out.contains(&spec.a[usize::from(u.0)]);
    let Some(at) = one_hot_axes(g, x, MAX_DEPTH).into_iter().find(summed) else {
        return match scattered(g, x) {
            Some(placed) => rows(g, &placed, (x, with), &spec),
            None => outer(g, x, with, spec),
        };
    };
    let label = spec.a[usize::from(at.0)];
    let x = part(g, x, at, MAX_DEPTH);
    let with = match spec.b.iter().position(|&l| l == label) {
        Some(k) => part(g, with, (axis(k), at.1), 0),
        None => with,
    };
    let others = |labels: &[u8]| labels.iter().copied().filter(|&l| l != label).collect::<Box<[u8]>>();
    let left = spec.with(others(&spec.a), others(&spec.b), spec.out.clone());
    contract(g, x, with, left)
}

/// The contraction of scattered elements with the elements of the other operand at the same
/// indices.
fn rows(g: &mut Graph, placed: &Scattered, (x, with): (Term, Term), spec: &Contraction) -> Term {
    let indexed = placed.index.len();
    let places = &spec.a[..indexed];
    // Each variable gets a new label, greater than all others.
    let first = spec.a.iter().chain(&spec.b).max().map_or(0, |&l| usize::from(l) + 1);
    let counted: Vec<u8> = (0..placed.vars.len()).map(|k| axis(first + k)).collect();
    // The indexed axes of the other operand come first.
    let position = |labels: &[u8], l: u8| labels.iter().position(|&m| m == l).map(axis);
    let own: Vec<usize> = (0..indexed).filter(|&k| spec.b.contains(&places[k])).collect();
    let left: Vec<u8> = spec.b.iter().copied().filter(|l| !places.contains(l)).collect();
    let perm: Vec<u8> =
        own.iter().map(|&k| places[k]).chain(left.iter().copied()).filter_map(|l| position(&spec.b, l)).collect();
    let with = g.transpose(with, &perm);
    let (there, there_labels) = if own.is_empty() {
        (with, left)
    } else {
        let index = own.iter().map(|&k| placed.index[k]).collect();
        let at = Scattered { src: placed.src, vars: placed.vars.clone(), index };
        (at.read(g, with), [&counted[..], &left].concat())
    };
    let src_labels = [&counted[..], &spec.a[indexed..]].concat();
    let behind: Vec<u8> = spec.out.iter().copied().filter(|l| !places.contains(l)).collect();
    let front: Vec<usize> = (0..indexed).filter(|&k| spec.out.contains(&places[k])).collect();
    let summed = front.is_empty();
    let out = if summed && !own.is_empty() { behind.clone() } else { [&counted[..], &behind].concat() };
    let product = g.contract(placed.src, there, spec.with(src_labels, there_labels, out));
    if summed {
        // If no index is left, all elements are summed.
        let axes: Vec<u8> = if own.is_empty() { (0..counted.len()).map(axis).collect() } else { Vec::new() };
        return g.sum_axes(product, &axes);
    }
    let shape: Vec<Term> =
        front.iter().map(|&k| g.shape(x)[k]).chain(g.shape(product)[counted.len()..].iter().copied()).collect();
    let index = front.iter().map(|&k| placed.index[k]).collect();
    let put = Scattered { src: product, vars: placed.vars.clone(), index }.put(g, product, &shape);
    let order: Vec<u8> = front.iter().map(|&k| places[k]).chain(behind).collect();
    let perm: Vec<u8> = spec.out.iter().filter_map(|&l| position(&order, l)).collect();
    g.transpose(put, &perm)
}

/// A term as zeros to which elements are added, no two of them at the same index.
pub(crate) fn scattered(g: &mut Graph, x: Term) -> Option<Scattered> {
    simplify::scatter::scattered(g, x).filter(|placed| !placed.vars.is_empty() && placed.one_to_one(g))
}

/// The elements of a factor at the places where the one-hot rows put them. Signs, reciprocals and
/// choices stay at its root, where scaling looks for them.
pub(crate) fn read(g: &mut Graph, placed: &Scattered, f: Term) -> Term {
    match g.node(f).clone() {
        Node::Prim(prim @ (Prim::Select | Prim::Unary(Unary::Neg | Unary::Recip)), args) => {
            let args: Vec<Term> = args.iter().map(|&x| read(g, placed, x)).collect();
            g.prim(prim, &args)
        }
        _ => placed.read(g, f),
    }
}

/// A contraction that keeps all one-hot axes of its operand. If these are its first axes, the
/// result is zero except at one index of them.
fn outer(g: &mut Graph, x: Term, with: Term, spec: Contraction) -> Term {
    let Some((src, index)) = slot(g, x).filter(|(_, index)| spec.out.starts_with(&spec.a[..index.len()])) else {
        return g.contract(x, with, spec);
    };
    let placed = spec.a[..index.len()].to_vec();
    let size = |g: &Graph, label: u8| {
        let of = |labels: &[u8], t: Term| labels.iter().position(|&l| l == label).map(|k| g.shape(t)[k]);
        of(&spec.a, x).or_else(|| of(&spec.b, with))
    };
    let Some(shape) = spec.out.iter().map(|&l| size(g, l)).collect::<Option<Vec<Term>>>() else {
        return g.contract(x, with, spec);
    };
    let mut there = with;
    // From the last axis to the first, since each step removes an axis.
    for k in (0..spec.b.len()).rev() {
        if let Some(n) = placed.iter().position(|&l| l == spec.b[k]) {
            there = part(g, there, (axis(k), index[n]), 0);
        }
    }
    let others = |labels: &[u8]| labels.iter().copied().filter(|l| !placed.contains(l)).collect::<Box<[u8]>>();
    let left = spec.with(others(&spec.a), others(&spec.b), others(&spec.out));
    let inner = contract(g, src, there, left);
    scatter_element(g, inner, &index, &shape)
}
