//! Rules for matrices that are written as vectors: `\i j -> d * i + j` goes through a vector as
//! `reshape` does. A product of matrices is then recognised, however they are stored. The last rule
//! drops the condition that such an array is not empty.

use super::{Rule, rule};
use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Graph, Node, Put, Term, Var, axis};
use ad_ir::prim::{IntOp, Prim};

pub(super) const RULES: &[Rule] = &[
    rule!(
        "gather.flat",
        "gather [m, n] v (\\i j -> n * i + j) = reshape [m, n] v, for m * n elements; the axes in any order",
        Exact,
        gather_flat
    ),
    rule!(
        "scatter.flat",
        "scatter v x (\\i j -> n * i + j) = v + reshape x, for m * n elements; an update is reshape x",
        Exact,
        scatter_flat
    ),
    rule!("cond.empty", "cond (0 < n) a b = a, for arrays that have no element if n is 0", Exact, cond_empty),
];

/// The maximum number of factors of a size, and of summands of an index.
const MAX_FACTORS: usize = 8;

/// A product: its literal, and its other factors in order.
#[derive(Clone, PartialEq, Eq)]
struct Product(i128, Vec<Term>);

impl Product {
    fn times(&self, other: &Product) -> Option<Product> {
        let mut factors = [&self.1[..], &other.1].concat();
        factors.sort_unstable();
        (factors.len() <= MAX_FACTORS).then_some(())?;
        Some(Product(self.0.checked_mul(other.0)?, factors))
    }

    fn of(g: &Graph, t: Term) -> Option<Product> {
        let (mut product, mut stack) = (Product(1, Vec::new()), vec![t]);
        while let Some(t) = stack.pop() {
            match (g.int_value(t), g.node(t)) {
                (Some(n), _) => product = product.times(&Product(n, Vec::new()))?,
                (None, Node::Prim(Prim::Int(IntOp::Mul), args)) => stack.extend(args.iter().copied()),
                _ => product = product.times(&Product(1, vec![t]))?,
            }
        }
        Some(product)
    }
}

/// An integer as a sum of products. It must not be saturated.
fn summands(g: &Graph, t: Term, deep: usize) -> Option<Vec<Product>> {
    let Node::Prim(Prim::Int(op @ (IntOp::Add | IntOp::Mul)), args) = g.node(t) else {
        return Some(vec![Product::of(g, t)?]);
    };
    let next = deep.checked_sub(1)?;
    let (mut a, b) = (summands(g, args[0], next)?, summands(g, args[1], next)?);
    if *op == IntOp::Add {
        a.extend(b);
    } else {
        a = a.iter().flat_map(|p| b.iter().map(|q| p.times(q))).collect::<Option<_>>()?;
    }
    (a.len() <= MAX_FACTORS).then_some(a)
}

/// The variables of an index that counts the elements of these axes, slowest first. Such an index
/// is a sum of the variables, each multiplied by the sizes of the variables after it.
fn radix(g: &Graph, vars: &[Var], sizes: &[Term], index: Term) -> Option<Vec<usize>> {
    let mut strides = vec![None; vars.len()];
    for Product(n, mut factors) in summands(g, index, MAX_FACTORS)? {
        let var = |t: &Term| vars.iter().position(|v| matches!(g.node(*t), Node::Var(w) if w == v));
        let at = factors.iter().position(|t| var(t).is_some())?;
        let var = var(&factors.remove(at))?;
        if strides[var].replace(Product(n, factors)).is_some() {
            return None;
        }
    }
    let mut order = Vec::new();
    let mut next = Product(1, Vec::new());
    while order.len() < vars.len() {
        let var = (0..vars.len()).find(|k| !order.contains(k) && strides[*k].as_ref() == Some(&next))?;
        next = next.times(&Product::of(g, sizes[var])?)?;
        order.push(var);
    }
    order.reverse();
    Some(order)
}

/// The variables of the index, slowest first, if it goes through the first axis of this shape
/// element by element.
fn row_major_variables(g: &Graph, vars: &[Var], sizes: &[Term], index: &[Term], shape: &[Term]) -> Option<Vec<usize>> {
    let (&[index], &[size, ..]) = (index, shape) else { return None };
    if vars.len() < 2 {
        return None;
    }
    let mut all = Product(1, Vec::new());
    for &n in sizes {
        all = all.times(&Product::of(g, n)?)?;
    }
    (Product::of(g, size)? == all).then_some(())?;
    radix(g, vars, sizes, index)
}

fn gather_flat(g: &mut Graph, t: Term) -> Option<Term> {
    let node = g.node_rc(t);
    let Node::Gather { src, sizes, .. } = &*node else { return None };
    let (vars, index) = g.open_binder(&node);
    let order = row_major_variables(g, &vars, sizes, &index, g.shape(*src))?;
    let mut shape: Vec<Term> = order.iter().map(|&k| sizes[k]).collect();
    shape.extend(&g.shape(*src)[1..]);
    let x = g.reshape(*src, &shape);
    let mut perm = vec![0; order.len()];
    for (k, &var) in order.iter().enumerate() {
        perm[var] = axis(k);
    }
    perm.extend((order.len()..shape.len()).map(axis));
    Some(g.transpose(x, &perm))
}

fn scatter_flat(g: &mut Graph, t: Term) -> Option<Term> {
    let node = g.node_rc(t);
    let Node::Scatter { put, dst, src, .. } = &*node else { return None };
    let (vars, index) = g.open_binder(&node);
    let sizes = g.shape(*src)[..vars.len()].to_vec();
    let order = row_major_variables(g, &vars, &sizes, &index, g.shape(*dst))?;
    let mut perm: Vec<u8> = order.iter().map(|&k| axis(k)).collect();
    perm.extend((perm.len()..g.rank(*src)).map(axis));
    let x = g.transpose(*src, &perm);
    let shape = g.shape(*dst).to_vec();
    let x = g.reshape(x, &shape);
    Some(if *put == Put::Set || is_zero(g, *dst) { x } else { g.add(*dst, x) })
}

fn cond_empty(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Cond { cond, then, .. } = *g.node(t) else { return None };
    let n = g.not_empty(cond)?;
    let shape = g.ty(t).as_array()?.1.to_vec();
    let empty = |&size: &Term| Product::of(g, size).is_some_and(|p| p.1.contains(&n));
    if !shape.iter().any(empty) {
        return None;
    }
    // A loop that may never end is computed only where the function reaches it.
    let waits = |&t: &Term| match g.node(t) {
        Node::Scan(_) => true,
        Node::Prim(prim, _) => matches!(prim, Prim::Call(_)),
        _ => false,
    };
    (!g.reachable(&[then]).iter().any(waits)).then_some(then)
}
