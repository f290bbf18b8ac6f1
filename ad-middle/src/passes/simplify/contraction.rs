//! Laws of contractions: sums of products become contractions, whose operands lose transposes and
//! replicated axes. Sums that read each element once stay sums: a matrix kernel pays only if
//! elements of an operand are read several times.

use super::layout::replicated;
use super::{Rule, rule};
use ad_ir::ir::{Contraction, Graph, Node, Term, axis};
use ad_ir::prim::{Binary, Cmp, Prim};

pub(super) const RULES: &[Rule] = &[
    rule!(
        "contract.operand.transpose",
        "contract (tr p a) b = contract a b, with a's labels permuted",
        Exact,
        operand_transpose
    ),
    rule!(
        "contract.operand.replicate",
        "contract (replicate a) b = contract a b without that label, summed or replicated",
        Loose,
        operand_replicate
    ),
    rule!(
        "contract.result.transpose",
        "tr p (contract a b) = contract a b, with the result's labels permuted",
        Exact,
        result_transpose
    ),
    rule!("contract.outer", "a contraction that sums nothing is a product of replicates", Loose, outer),
    rule!(
        "sum.contract",
        "sum (contract a b) over labels of both = contract a b, with these labels summed",
        Loose,
        sum_contract
    ),
    rule!("sum.product", "sum (a * b) = contract a b, where an operand is read more than once", Loose, sum_product),
];

fn contraction(g: &Graph, t: Term) -> Option<(Contraction, Term, Term)> {
    match g.node(t) {
        Node::Prim(Prim::Contract(c), args) => Some((c.clone(), args[0], args[1])),
        _ => None,
    }
}

fn operand_transpose(g: &mut Graph, t: Term) -> Option<Term> {
    let (mut c, mut a, mut b) = contraction(g, t)?;
    let strip = |g: &Graph, x: &mut Term, labels: &mut Box<[u8]>| -> bool {
        let Node::Prim(Prim::Transpose(perm), args) = g.node(*x) else { return false };
        let mut inner = labels.clone();
        for (k, &p) in perm.iter().enumerate() {
            inner[usize::from(p)] = labels[k];
        }
        *labels = inner;
        *x = args[0];
        true
    };
    let changed = strip(g, &mut a, &mut c.a) | strip(g, &mut b, &mut c.b);
    changed.then(|| g.contract(a, b, c))
}

fn result_transpose(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::Transpose(perm), args) = g.node(t).clone() else { return None };
    let (mut c, a, b) = contraction(g, args[0])?;
    c.out = perm.iter().map(|&p| c.out[usize::from(p)]).collect();
    Some(g.contract(a, b, c))
}

/// If an operand is constant along a label, the label is removed from that operand. If the label is
/// summed, the other operand is then summed along it. (The other operand has the label, since a
/// contraction has no label that occurs only once.)
fn operand_replicate(g: &mut Graph, t: Term) -> Option<Term> {
    let (c, a, b) = contraction(g, t)?;
    let swapped = c.swapped();
    without_replicates(g, &c, a, b).or_else(|| without_replicates(g, &swapped, b, a))
}

fn without_replicates(g: &mut Graph, c: &Contraction, a: Term, b: Term) -> Option<Term> {
    let (inner, axes, sizes) = replicated(g, a)?;
    let dropped: Vec<u8> = axes.iter().map(|&k| c.a[usize::from(k)]).collect();
    let labels: Vec<u8> = c.a.iter().copied().filter(|l| !dropped.contains(l)).collect();
    let summed: Vec<u8> = dropped.iter().copied().filter(|l| !c.out.contains(l)).collect();
    let lone: Vec<(u8, Term)> = dropped.iter().copied().zip(sizes).filter(|(l, _)| !c.b.contains(l)).collect();
    let b_axes: Vec<u8> = (0..c.b.len()).map(axis).filter(|&k| summed.contains(&c.b[usize::from(k)])).collect();
    let b_labels: Vec<u8> = c.b.iter().copied().filter(|l| !summed.contains(l)).collect();
    let sizes_summed: Vec<Term> = b_axes.iter().map(|&k| g.shape(b)[usize::from(k)]).collect();
    let b = g.sum_axes(b, &b_axes);
    let factor = inner;
    let out: Vec<u8> = c.out.iter().copied().filter(|l| !lone.iter().any(|(m, _)| m == l)).collect();
    let spec = c.with(labels, b_labels, out);
    let inner = g.contract(inner, b, spec);
    let inner = unless_empty(g, &sizes_summed, factor, inner);
    let mut placed: Vec<(u8, Term)> =
        lone.iter().filter_map(|(l, n)| c.out.iter().position(|m| m == l).map(|k| (axis(k), *n))).collect();
    placed.sort_unstable_by_key(|p| p.0);
    let (axes, sizes): (Vec<u8>, Vec<Term>) = placed.into_iter().unzip();
    Some(g.replicate_axes(inner, &axes, &sizes))
}

/// `product`: a factor that was moved out of a sum over axes of these sizes, times that sum. If the
/// axes have no element, the result is 0, even if the factor is infinite.
pub(crate) fn unless_empty(g: &mut Graph, sizes: &[Term], factor: Term, product: Term) -> Term {
    let finite = g.real_value(g.splat(factor)).is_some_and(f64::is_finite);
    let open: Vec<Term> = sizes.iter().copied().filter(|&n| g.int_value(n).is_none_or(|n| n == 0)).collect();
    if finite || open.is_empty() {
        return product;
    }
    let none = g.lit_usize(0);
    let mut empty = g.lit_bool(false);
    for n in open {
        let this = g.compare(Cmp::Eq, n, none);
        empty = g.or(empty, this);
    }
    let shape = g.shape(product).to_vec();
    let empty = g.broadcast(empty, &shape);
    let zeros = g.lit_like(product, 0.0);
    g.select(empty, zeros, product)
}

/// The replicates are views and cost nothing, and the product can be fused with its reader.
fn outer(g: &mut Graph, t: Term) -> Option<Term> {
    let (c, a, b) = contraction(g, t)?;
    if c.a.iter().chain(&c.b).any(|l| !c.out.contains(l)) {
        return None;
    }
    let shape = g.shape(t).to_vec();
    let mut spread = |x: Term, labels: &[u8]| {
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.sort_by_key(|&k| c.out.iter().position(|&l| l == labels[k]));
        let perm: Vec<u8> = order.into_iter().map(axis).collect();
        let x = g.transpose(x, &perm);
        let axes: Vec<u8> = (0..c.out.len()).map(axis).filter(|&k| !labels.contains(&c.out[usize::from(k)])).collect();
        let sizes: Vec<Term> = axes.iter().map(|&k| shape[usize::from(k)]).collect();
        g.replicate_axes(x, &axes, &sizes)
    };
    let (a, b) = (spread(a, &c.a), spread(b, &c.b));
    Some(g.product(a, b, c.absorbs))
}

/// If a sum of products runs over several indices, it becomes one contraction over all of them.
fn sum_contract(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::Sum(axes), args) = g.node(t).clone() else { return None };
    let (mut c, a, b) = contraction(g, args[0])?;
    let summed = |k: usize| axes.contains(&axis(k));
    let both = |l: u8| c.a.contains(&l) && c.b.contains(&l);
    let left: Vec<(usize, u8)> = c.out.iter().copied().enumerate().filter(|&(k, l)| !(summed(k) && both(l))).collect();
    if left.len() == c.out.len() {
        return None;
    }
    let rest: Vec<u8> = (0..left.len()).filter(|&k| summed(left[k].0)).map(axis).collect();
    c.out = left.iter().map(|p| p.1).collect();
    let product = g.contract(a, b, c);
    Some(g.sum_axes(product, &rest))
}

fn sum_product(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::Sum(axes), args) = g.node(t).clone() else { return None };
    let Node::Prim(Prim::Binary(op @ (Binary::Mul | Binary::MulZero)), factors) = g.node(args[0]).clone() else {
        return None;
    };
    let absorbs = [op == Binary::MulZero, false];
    let all: Vec<u8> = (0..g.rank(args[0])).map(axis).collect();
    let operand = |g: &Graph, x: Term| match replicated(g, x) {
        Some((inner, new, _)) => (inner, all.iter().copied().filter(|a| !new.contains(a)).collect::<Vec<u8>>()),
        None => (x, all.clone()),
    };
    let ((a, la), (b, lb)) = (operand(g, factors[0]), operand(g, factors[1]));
    // Elements are read repeatedly only if each operand lacks a label of the other.
    if la.len() == all.len() || lb.len() == all.len() || all.iter().any(|l| !la.contains(l) && !lb.contains(l)) {
        return None;
    }
    let out: Vec<u8> = all.iter().copied().filter(|l| !axes.contains(l)).collect();
    // A summed label that only one operand has is summed over that operand first.
    let mut reduce = |x: Term, own: &[u8], other: &[u8]| {
        let lone: Vec<u8> = own.iter().copied().filter(|l| axes.contains(l) && !other.contains(l)).collect();
        let positions: Vec<u8> = (0..own.len()).map(axis).filter(|&k| lone.contains(&own[usize::from(k)])).collect();
        let left: Vec<u8> = own.iter().copied().filter(|l| !lone.contains(l)).collect();
        let sizes: Vec<Term> = positions.iter().map(|&k| g.shape(x)[usize::from(k)]).collect();
        (g.sum_axes(x, &positions), left, sizes)
    };
    let (factors, (a, la, na), (b, lb, nb)) = ((a, b), reduce(a, &la, &lb), reduce(b, &lb, &la));
    let product = g.contract(a, b, Contraction { absorbs, ..Contraction::new(la, lb, out) });
    let product = unless_empty(g, &na, factors.1, product);
    Some(unless_empty(g, &nb, factors.0, product))
}
