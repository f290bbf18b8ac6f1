//! Small arrays in the body of a loop or a build whose elements are computed one by one, such as a
//! rotation matrix of each item. They become scalars before the loop becomes operations on arrays.
//! Otherwise there would be an array of all items' matrices, and operations along its short axes.
//!
//! Only arrays that are made of their elements are replaced, what is computed from them, and arrays
//! whose elements are read one by one. A row of a large array stays a row: a loop over contiguous
//! elements is faster than one over every third. An array that a loop carries stays an array, so
//! that its updates are seen as a sum.

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
    let uses = Uses::new(g, results, &terms);
    if uses.by_element.is_empty() && !terms.iter().any(|&t| matches!(g.node(t), Node::Prim(Prim::Stack, _))) {
        return results.to_vec();
    }
    let exact = exact.map(|of| of(g));
    let mut u = Unroll::new(g, Subject::Body(Body { inside, uses, carries, exact, replaced: HashSet::new() }));
    by_age(&mut u, terms);
    results.iter().map(|&t| u.whole(t)).collect()
}

/// How arrays that operations compute are used in a body.
#[derive(Default)]
struct Uses {
    /// The small arrays that are only read at literal indices, or by other such arrays.
    by_element: HashSet<Term>,
    /// Larger ones that only sums read: the products of two small matrices.
    summands: HashSet<Term>,
}

/// What decides which small arrays of a body are replaced.
pub(super) struct Body {
    inside: HashSet<Term>,
    uses: Uses,
    /// The exact terms; `None`: all.
    pub(super) exact: Option<Rc<HashSet<Term>>>,
    /// The number of parameters that are carried.
    carries: usize,
    /// The old terms that have been replaced by their elements.
    replaced: HashSet<Term>,
}

impl Body {
    /// Whether a term is replaced by its elements, if it is small.
    pub(super) fn applies(&self, g: &Graph, t: Term, node: &Node) -> bool {
        // Nothing inside of a binder is replaced.
        if !g.free(t).iter().all(|v| v.is_fresh()) {
            return false;
        }
        let replaced = |t: &Term| self.replaced.contains(t);
        match node {
            Node::Prim(Prim::Stack, _) => true,
            Node::Prim(Prim::Binary(Binary::Add | Binary::Sub), args)
                if args.iter().any(|&arg| self.is_carried(g, arg)) =>
            {
                self.uses.by_element.contains(&t)
            }
            Node::Prim(_, args) => self.uses.by_element.contains(&t) || args.iter().any(replaced),
            Node::Gather { src, .. } => replaced(src),
            Node::Scatter { dst, src, .. } => {
                self.uses.by_element.contains(&t)
                    || replaced(dst)
                    || (replaced(src) && !matches!(g.node(*dst), Node::Param(..)))
            }
            _ => false,
        }
    }

    /// Whether a term is a carried array, or a row of one.
    fn is_carried(&self, g: &Graph, t: Term) -> bool {
        match g.node(t) {
            Node::Param(k, _) => (*k as usize) < self.carries && g.rank(t) > 0,
            Node::Gather { src, .. } => g.rank(t) > 0 && self.is_carried(g, *src),
            _ => false,
        }
    }

    /// Whether a term may have [`PRODUCTS`] elements: a product of small matrices, or an array from
    /// outside, whose elements only have to be read.
    pub(super) fn is_large(&self, g: &Graph, t: Term) -> bool {
        let given = !self.inside.contains(&t) || matches!(g.node(t), Node::Param(..));
        given || self.uses.summands.contains(&t)
    }

    /// Records that a term has been replaced.
    pub(super) fn replace(&mut self, t: Term) {
        self.replaced.insert(t);
    }
}

impl Uses {
    /// The uses of the terms of a body, which are sorted.
    fn new(g: &Graph, results: &[Term], terms: &[Term]) -> Uses {
        let mut uses = Uses::default();
        let (mut whole, mut elsewhere): (HashSet<Term>, HashSet<Term>) = Default::default();
        whole.extend(results);
        elsewhere.extend(results);
        for &t in terms.iter().rev() {
            let node = g.node(t);
            let computed = g.ty(t).as_array().is_some_and(|(_, shape)| !shape.is_empty())
                && match node {
                    Node::Prim(..) => true,
                    Node::Scatter { index, .. } => is_literal(g, index),
                    _ => false,
                };
            let small = small_sizes(g, t).is_some();
            if computed && small && !whole.contains(&t) {
                uses.by_element.insert(t);
            } else if !is_literal_read(g, node) {
                node.for_each_child(|c| {
                    whole.insert(c);
                });
            }
            let read = matches!(node, Node::Gather { vars, .. } if !vars.is_empty());
            if (computed || read) && !small && !elsewhere.contains(&t) && sizes_below(g, t, PRODUCTS).is_some() {
                uses.summands.insert(t);
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
        uses
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
