//! Batched hoisting: moves linear maps out of sums. `sum_n f(x_n) = f(sum_n x_n)` if f is the same
//! for all n. The pass does that if x has fewer axes than the result of f, so that f is applied
//! once and not to every item, or if the sum of x is computed anyway. The main case is the
//! transpose of a matrix that all items share: `sum_n Q' y_n = Q' (sum_n y_n)`. The pass does the
//! same for a sum of two matrix products: `Q a + Q b = Q (a + b)`.
//!
//! If a cotangent cancels in the sum, it counts as zero for the terms that follow, by the rule of
//! `MulZero`. The pass rewrites no sum that a decision depends on, and adds no second pass over an
//! array that is not smaller than the summed one.

use std::collections::{HashMap, HashSet};

use super::rewrite::{Rewriter, with_rewritten_children};
use super::simplify::contraction::unless_empty;
use super::simplify::layout::replicated;
use super::{Context, Pass};
use ad_ir::analysis::sizes::Fixed;
use ad_ir::analysis::uses::Uses;
use ad_ir::analysis::zeros::is_zero_of_either_sign;
use ad_ir::ir::{Graph, Node, Term, axis, other_axes};
use ad_ir::prim::{Binary, Prim, Unary};

/// A map between the base term and the sum. A path lists them from the outermost to the innermost.
enum Map {
    Negated,
    /// `select c x 0`, by the mask.
    Masked(Term),
    /// `x *0 w` and `x * w`, where `by` is w. The flags: whether the product is `*0`, and whether w
    /// is the first factor.
    Scaled {
        by: Term,
        absorbing: bool,
        first: bool,
    },
    /// Sums over these axes.
    Summed(Vec<u8>),
    /// A replication along these axes, of these sizes.
    Replicated(Vec<u8>, Vec<Term>),
}

/// The sums that the program computes anyway: the summed term, and the axes.
type Known = HashSet<(Term, Vec<u8>)>;

/// Longer chains of maps are not rewritten.
const MAX_CHAIN: usize = 16;

/// The pass.
pub const PASS: Pass = Pass {
    name: "hoist",
    rules: || vec!["hoist"],
    run: |g, roots, cx| roots.map(|all| hoist(g, all, cx)),
    simplified: false,
};

/// The roots with linear maps moved after sums. Exact terms are not rewritten.
pub fn hoist(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let exact = cx.exact(g);
    // A new term has as many readers as the term that it replaces.
    let mut uses = (*cx.get::<Uses>(g, roots)).clone();
    let mut known = Known::new();
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run(g, roots, |g, t, done| {
        let node = with_rewritten_children(g, t, done);
        let mut new = g.mk(node);
        if !exact.contains(&t) {
            new = outside(g, new, (&uses, &known)).or_else(|| factored(g, new, &uses)).unwrap_or(new);
        }
        if let Node::Prim(Prim::Sum(axes), args) = g.node(new) {
            known.insert((args[0], axes.to_vec()));
        }
        if let Some(&n) = uses.get(&t) {
            uses.insert(new, n);
        }
        Some(new)
    })
}

/// The sum, in which at least one axis is summed before a linear map instead of after it.
fn outside(g: &mut Graph, t: Term, there: (&HashMap<Term, usize>, &Known)) -> Option<Term> {
    let Node::Prim(Prim::Sum(axes), args) = g.node(t).clone() else { return None };
    if !g.elem(t).is_real() {
        return None;
    }
    let singles = axes.iter().map(|&a| vec![a]);
    let tries: Vec<Vec<u8>> = std::iter::once(axes.to_vec()).chain(singles.filter(|_| axes.len() > 1)).collect();
    for over in tries {
        let Some((maps, base, own)) = path(g, args[0], &over, there) else { continue };
        let inner = applied(g, &maps, args[0], &over, (base, &own));
        let left: Vec<u8> = other_axes(g.rank(args[0]), &over);
        let rest = left.iter().enumerate().filter(|(_, a)| axes.contains(a)).map(|(k, _)| axis(k));
        let rest: Vec<u8> = rest.collect();
        return Some(g.sum_axes(inner, &rest));
    }
    None
}

/// The maximum number of summands that are examined.
const MAX_SUMMANDS: usize = 16;

/// A sum with contractions that share an operand, as one contraction of a sum. It pays if elements
/// of the sum of the other operands are read several times, that is, if the shared operand has a
/// label that they lack. It does not pay for a contraction that other terms read, since that is
/// computed anyway.
fn factored(g: &mut Graph, t: Term, uses: &HashMap<Term, usize>) -> Option<Term> {
    let add = |g: &Graph, t: Term| match g.node(t) {
        Node::Prim(Prim::Binary(Binary::Add), args) => Some([args[0], args[1]]),
        _ => None,
    };
    let (mut all, mut stack) = (Vec::new(), vec![t]);
    while let Some(next) = stack.pop() {
        match add(g, next).filter(|_| all.len() + stack.len() < MAX_SUMMANDS) {
            Some([a, b]) if next == t || uses.get(&next) == Some(&1) => stack.extend([b, a]),
            _ => all.push(next),
        }
    }
    for k in 1..all.len() {
        for first in 0..k {
            let alone = [all[first], all[k]].iter().all(|c| uses.get(c) == Some(&1));
            if let Some(made) = alone.then(|| joined(g, all[first], all[k])).flatten() {
                all[first] = made;
                all.remove(k);
                return all.into_iter().reduce(|a, b| g.add(a, b));
            }
        }
    }
    None
}

/// Two contractions that share an operand as one.
fn joined(g: &mut Graph, x: Term, y: Term) -> Option<Term> {
    let sides = |g: &Graph, t: Term| match g.node(t) {
        Node::Prim(Prim::Contract(c), args) => Some([(c.clone(), args[0], args[1]), (c.swapped(), args[1], args[0])]),
        _ => None,
    };
    let (xs, ys) = (sides(g, x)?, sides(g, y)?);
    let pairs = xs.iter().flat_map(|x| ys.iter().map(move |y| (x, y)));
    for ((c, a, shared), (d, b, other)) in pairs {
        if shared != other || c.absorbs != d.absorbs || d.b.len() != c.b.len() || d.out.len() != c.out.len() {
            continue;
        }
        let own = c.b.iter().any(|l| !c.a.contains(l));
        let summed = c.a.iter().any(|l| !c.out.contains(l));
        // The labels of the second contraction by those of the first.
        let mut names: HashMap<u8, u8> = HashMap::new();
        let pairs = d.b.iter().zip(&c.b).chain(d.out.iter().zip(&c.out));
        let consistent = pairs.into_iter().all(|(&from, &to)| *names.entry(from).or_insert(to) == to);
        let labels: Option<Vec<u8>> = d.a.iter().map(|l| names.get(l).copied()).collect();
        let Some(labels) = labels.filter(|_| own && summed && consistent) else { continue };
        let places: Option<Vec<u8>> = c.a.iter().map(|l| labels.iter().position(|m| m == l).map(axis)).collect();
        let Some(places) = places.filter(|_| labels.len() == c.a.len()) else { continue };
        let b = g.transpose(*b, &places);
        if g.shape(b) != g.shape(*a) {
            continue;
        }
        let sum = g.add(*a, b);
        return Some(g.contract(sum, *shared, c.clone()));
    }
    None
}

/// The axes in `axes` (of an array of this rank) that remain after the axes `gone` have been
/// summed, by their new numbers.
fn renumbered(rank: usize, gone: &[u8], axes: &[u8]) -> Vec<u8> {
    let left = other_axes(rank, gone);
    axes.iter().filter_map(|a| left.iter().position(|l| l == a)).map(axis).collect()
}

/// The linear maps between the term and an operand below it, that operand, and the summed axes in
/// the operand's numbering. The operand is the last one that has fewer axes, or whose sum is
/// computed anyway.
fn path(
    g: &Graph,
    t: Term,
    over: &[u8],
    (uses, known): (&HashMap<Term, usize>, &Known),
) -> Option<(Vec<Map>, Term, Vec<u8>)> {
    let mut maps: Vec<Map> = Vec::new();
    let mut best: Option<(usize, Term, Vec<u8>)> = None;
    let (mut t, mut over, mut alone) = (t, over.to_vec(), true);
    let same = |g: &Graph, w: Term, over: &[u8]| replicated(g, w).is_some_and(|r| over.iter().all(|a| r.1.contains(a)));
    while maps.len() < MAX_CHAIN {
        alone &= uses.get(&t) == Some(&1);
        let map = match g.node(t) {
            Node::Prim(Prim::Unary(Unary::Neg), args) => {
                t = args[0];
                Map::Negated
            }
            Node::Prim(Prim::Select, args) if same(g, args[0], &over) && is_zero_of_either_sign(g, args[2]) => {
                t = args[1];
                Map::Masked(args[0])
            }
            Node::Prim(Prim::Binary(Binary::MulZero), args) if same(g, args[1], &over) => {
                t = args[0];
                Map::Scaled { by: args[1], absorbing: true, first: false }
            }
            Node::Prim(Prim::Binary(Binary::Mul), args) if same(g, args[1], &over) => {
                t = args[0];
                Map::Scaled { by: args[1], absorbing: false, first: false }
            }
            Node::Prim(Prim::Binary(Binary::Mul), args) if same(g, args[0], &over) => {
                t = args[1];
                Map::Scaled { by: args[0], absorbing: false, first: true }
            }
            // If other terms read the sum as well, it is computed in any case.
            Node::Prim(Prim::Sum(axes), args) if alone => {
                let left = other_axes(g.rank(args[0]), axes);
                over = over.iter().map(|&a| left[usize::from(a)]).collect();
                t = args[0];
                Map::Summed(axes.to_vec())
            }
            Node::Prim(Prim::Replicate(_), _) => {
                let (x, axes, sizes) = replicated(g, t)?;
                if over.iter().any(|a| axes.contains(a)) {
                    break;
                }
                over = renumbered(g.rank(t), &axes, &over);
                t = x;
                best = Some((maps.len() + 1, t, over.clone()));
                Map::Replicated(axes, sizes)
            }
            _ => break,
        };
        maps.push(map);
        if known.contains(&(t, over.clone())) {
            best = Some((maps.len(), t, over.clone()));
        }
    }
    let (length, base, own) = best?;
    maps.truncate(length);
    // Sums of terms that are only replicated are rewritten by the layout rules.
    let scaled = maps.iter().any(|m| matches!(m, Map::Scaled { .. } | Map::Summed(_) | Map::Masked(_)));
    scaled.then_some((maps, base, own))
}

/// The sum of the base, with the maps applied to it from the innermost to the outermost. `t` is the
/// term to which the maps were applied before, summed over `over`.
fn applied(g: &mut Graph, maps: &[Map], t: Term, over: &[u8], (base, own): (Term, &[u8])) -> Term {
    // The rank of the result of each map, and the summed axes in it.
    let (mut rank, mut gone) = (g.rank(t), over.to_vec());
    let mut places = Vec::new();
    for map in maps {
        places.push((rank, gone.clone()));
        match map {
            Map::Summed(axes) => {
                rank += axes.len();
                let left = other_axes(rank, axes);
                gone = gone.iter().map(|&a| left[usize::from(a)]).collect();
            }
            Map::Replicated(axes, _) => {
                gone = renumbered(rank, axes, &gone);
                rank -= axes.len();
            }
            _ => {}
        }
    }
    let sizes: Vec<Term> = own.iter().map(|&a| g.shape(base)[usize::from(a)]).collect();
    let mut sum = g.sum_axes(base, own);
    for (map, (rank, gone)) in maps.iter().zip(places).rev() {
        sum = match map {
            Map::Negated => g.neg(sum),
            Map::Masked(mask) => {
                let (mask, zero) = (without(g, *mask, &gone), g.zeros_like(sum));
                g.select(mask, sum, zero)
            }
            Map::Scaled { by, absorbing, first } => {
                let factor = without(g, *by, &gone);
                let product = match (absorbing, first) {
                    (true, _) => g.binary(Binary::MulZero, sum, factor),
                    (_, true) => g.mul(factor, sum),
                    (_, false) => g.mul(sum, factor),
                };
                if *absorbing { product } else { unless_empty(g, &sizes, factor, product) }
            }
            Map::Summed(axes) => {
                // The axes, numbered as in the summed term.
                let inner = rank + axes.len();
                let left = other_axes(inner, axes);
                let gone: Vec<u8> = gone.iter().map(|&a| left[usize::from(a)]).collect();
                let axes = renumbered(inner, &gone, axes);
                g.sum_axes(sum, &axes)
            }
            Map::Replicated(axes, sizes) => {
                let axes = renumbered(rank, &gone, axes);
                g.replicate_axes(sum, &axes, sizes)
            }
        };
    }
    sum
}

/// The term without its replication along all these axes.
fn without(g: &mut Graph, t: Term, gone: &[u8]) -> Term {
    let Some((x, axes, sizes)) = replicated(g, t) else { return t };
    let left: Vec<(u8, Term)> = axes.into_iter().zip(sizes).filter(|(a, _)| !gone.contains(a)).collect();
    let (axes, sizes): (Vec<u8>, Vec<Term>) = left.into_iter().unzip();
    let axes = renumbered(g.rank(t), gone, &axes);
    g.replicate_axes(x, &axes, &sizes)
}
