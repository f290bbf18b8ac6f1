//! Small arrays in the body of a loop or a build whose elements are computed one by one, such as a
//! rotation matrix of each item. They become scalars before the loop becomes operations on arrays.
//! Otherwise there would be an array of all items' matrices, and operations along its short axes.
//!
//! Only arrays that are made of their elements are replaced, what is computed from them, and arrays
//! whose elements are read one by one. A row of a large array stays a row: a loop over contiguous
//! elements is faster than one over every third. An array that a loop carries stays an array here,
//! so that its updates are seen as a sum. The pass `carried_scalars` comes after sums have left
//! their loops.

use std::collections::HashSet;
use std::rc::Rc;

use super::{PRODUCTS, Subject, Unroll, sizes_below, small_sizes};
use ad_ir::ir::rewrite::by_age;
use ad_ir::ir::{Graph, Node, Put, Scan, Term, Var};
use ad_ir::prim::{Binary, Prim};

/// The terms of a body that are exact, if they are known; otherwise all are. They are asked for
/// only if some array is replaced.
pub(crate) type Exact<'a> = Option<&'a dyn Fn(&Graph) -> Rc<HashSet<Term>>>;

/// The body of a build over `var`, in which there are no other builds, with small arrays replaced
/// by scalars.
pub(crate) fn in_build(g: &mut Graph, var: Var, body: Term, exact: Exact<'_>) -> Term {
    in_body(g, &[body], (0, exact), |g, t| g.mentions(t, var))[0]
}

/// The same in the body of a loop.
pub(crate) fn in_loop(g: &mut Graph, scan: &Scan, exact: Exact<'_>) -> Vec<Term> {
    in_body(g, &scan.body.results, (scan.init.len(), exact), Graph::is_open)
}

/// The same in steps one after the other, whose operands are parameters.
pub(crate) fn in_steps(g: &mut Graph, results: &[Term]) -> Vec<Term> {
    in_body(g, results, (0, None), Graph::is_open)
}

/// The results of a body. The first `carries` parameters are carried.
fn in_body(
    g: &mut Graph,
    results: &[Term],
    (carries, exact): (usize, Exact<'_>),
    is_inside: impl Fn(&Graph, Term) -> bool,
) -> Vec<Term> {
    let mut inside: HashSet<Term> = HashSet::new();
    let mut stack: Vec<Term> = results.to_vec();
    while let Some(t) = stack.pop() {
        if is_inside(g, t) && inside.insert(t) {
            g.node(t).for_each_child(|c| stack.push(c));
        }
    }
    let mut terms: Vec<Term> = inside.iter().copied().collect();
    terms.sort_unstable();
    let summands = summands(g, results, &terms);
    let replaced = replaced(g, results, &terms, (carries, &summands));
    if replaced.is_empty() {
        return results.to_vec();
    }
    let exact = exact.map(|of| of(g));
    let mut u = Unroll::new(g, Subject::Body(Body { inside, replaced, summands, exact }));
    by_age(&mut u, terms);
    results.iter().map(|&t| u.whole(t)).collect()
}

/// What decides which small arrays of a body are replaced.
pub(super) struct Body {
    /// The terms of the body that depend on its parameters or its variable.
    inside: HashSet<Term>,
    /// The terms that are replaced by their elements, where a rule can.
    pub(super) replaced: HashSet<Term>,
    /// Arrays that only sums read: the products of two small matrices.
    summands: HashSet<Term>,
    /// The exact terms; `None`: all.
    pub(super) exact: Option<Rc<HashSet<Term>>>,
}

impl Body {
    /// Whether a term may have [`PRODUCTS`] elements: a product of small matrices, or an array from
    /// outside, whose elements only have to be read.
    pub(super) fn is_large(&self, g: &Graph, t: Term) -> bool {
        let given = !self.inside.contains(&t) || matches!(g.node(t), Node::Param(..));
        given || self.summands.contains(&t)
    }
}

/// The arrays that are too large to be small, and that only sums read.
fn summands(g: &Graph, results: &[Term], terms: &[Term]) -> HashSet<Term> {
    let mut summands = HashSet::new();
    let mut elsewhere: HashSet<Term> = results.iter().copied().collect();
    for &t in terms.iter().rev() {
        let node = g.node(t);
        let element_by_element = match node {
            Node::Prim(..) => true,
            Node::Gather { vars, .. } => !vars.is_empty(),
            _ => false,
        };
        let large = small_sizes(g, t).is_none() && sizes_below(g, t, PRODUCTS).is_some();
        if element_by_element && large && !elsewhere.contains(&t) {
            summands.insert(t);
            continue;
        }
        let summed = match node {
            Node::Prim(Prim::Sum(_), args) => Some(args[0]),
            Node::Scatter { put: Put::Add, src, .. } => Some(*src),
            _ => None,
        };
        node.for_each_child(|c| {
            if summed != Some(c) {
                elsewhere.insert(c);
            }
        });
    }
    summands
}

/// The terms that are replaced by their elements.
fn replaced(
    g: &Graph,
    results: &[Term],
    terms: &[Term],
    (carries, summands): (usize, &HashSet<Term>),
) -> HashSet<Term> {
    let fits = |t: Term| small_sizes(g, t).is_some() || summands.contains(&t);
    let mut replaced: HashSet<Term> = HashSet::new();
    for &t in terms {
        if fits(t) && is_made_of(g, t, carries, |arg| g.rank(arg) > 0 && replaced.contains(&arg)) {
            replaced.insert(t);
        }
    }
    // Their operands are read element by element, and so are those of other terms that are.
    let mut whole: HashSet<Term> = results.iter().copied().collect();
    for &t in terms.iter().rev() {
        let node = g.node(t);
        let computed = match node {
            Node::Prim(..) | Node::Cond { .. } => fits(t) && g.rank(t) > 0,
            Node::Scatter { index, .. } => fits(t) && is_literal(g, index),
            _ => false,
        };
        if computed && !whole.contains(&t) && !is_under_binder(g, t) {
            replaced.insert(t);
        }
        if !replaced.contains(&t) && !is_literal_read(g, node) {
            node.for_each_child(|c| {
                whole.insert(c);
            });
        }
    }
    replaced
}

/// Whether a term is stacked from its elements, or computed from arrays that are replaced.
fn is_made_of(g: &Graph, t: Term, carries: usize, replaced: impl Fn(Term) -> bool) -> bool {
    if is_under_binder(g, t) {
        return false;
    }
    match g.node(t) {
        Node::Prim(Prim::Stack, _) => true,
        // It may be a sum over the iterations.
        Node::Prim(Prim::Binary(Binary::Add | Binary::Sub), args)
            if args.iter().any(|&a| is_carried(g, a, carries)) =>
        {
            false
        }
        Node::Prim(_, args) => args.iter().any(|&arg| replaced(arg)),
        Node::Gather { src, .. } => replaced(*src),
        Node::Cond { then, other, .. } => [then, other].into_iter().any(|&arm| replaced(arm)),
        Node::Scatter { dst, src, .. } => {
            replaced(*dst) || (replaced(*src) && !matches!(g.node(*dst), Node::Param(..)))
        }
        _ => false,
    }
}

/// Whether a bound variable of a binder around the term is free in it.
fn is_under_binder(g: &Graph, t: Term) -> bool {
    !g.free(t).iter().all(|v| v.is_fresh())
}

/// Whether a term is a carried array, or a row of one.
fn is_carried(g: &Graph, t: Term, carries: usize) -> bool {
    match g.node(t) {
        Node::Param(k, _) => (*k as usize) < carries && g.rank(t) > 0,
        Node::Gather { src, .. } => g.rank(t) > 0 && is_carried(g, *src, carries),
        _ => false,
    }
}

fn is_literal(g: &Graph, index: &[Term]) -> bool {
    index.iter().all(|&i| g.int_value(i).is_some())
}

/// Whether this is a read of one element at a literal index.
fn is_literal_read(g: &Graph, node: &Node) -> bool {
    match node {
        Node::Gather { src, vars, index, .. } => vars.is_empty() && index.len() == g.rank(*src) && is_literal(g, index),
        _ => false,
    }
}
