//! Small arrays in the body of a loop or a build whose elements are computed one by one, such as a
//! rotation matrix of each item. They become scalars before the loop becomes operations on arrays.
//! Otherwise there would be an array of all items' matrices, and operations along its short axes.
//!
//! Only arrays that are made of their elements are replaced, what is computed from them, and arrays
//! whose elements are read one by one. A row of a large array stays a row: a loop over contiguous
//! elements is faster than one over every third. An array that a loop carries stays an array, so
//! that its updates are seen as a sum.

use std::collections::HashSet;

use super::{Subject, Unroll, small_sizes};
use ad_ir::ir::rewrite::by_age;
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::prim::Prim;

/// The results of a body, in which there are no builds, with small arrays replaced by scalars. Only
/// terms `inside` the body are rewritten. Every sum keeps its order, since decisions outside of the
/// body may depend on it.
pub(crate) fn in_body(g: &mut Graph, results: &[Term], inside: impl Fn(&Graph, Term) -> bool) -> Vec<Term> {
    let mut found: HashSet<Term> = HashSet::new();
    let mut stack: Vec<Term> = results.to_vec();
    while let Some(t) = stack.pop() {
        if inside(g, t) && found.insert(t) {
            g.node(t).for_each_child(|c| stack.push(c));
        }
    }
    let mut terms: Vec<Term> = found.into_iter().collect();
    terms.sort_unstable();
    let by_element = read_by_element(g, results, &terms);
    if by_element.is_empty() && !terms.iter().any(|&t| matches!(g.node(t), Node::Prim(Prim::Stack, _))) {
        return results.to_vec();
    }
    let mut u = Unroll::new(g, Subject::Body(Body { by_element, replaced: HashSet::new() }));
    by_age(&mut u, terms);
    results.iter().map(|&t| u.whole(t)).collect()
}

/// What decides which small arrays of a body are replaced.
pub(super) struct Body {
    /// Arrays whose elements are read one by one.
    by_element: HashSet<Term>,
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
            Node::Prim(_, args) => self.by_element.contains(&t) || args.iter().any(replaced),
            Node::Gather { src, .. } => replaced(src),
            Node::Scatter { dst, src, .. } => {
                replaced(dst) || (replaced(src) && !matches!(g.node(*dst), Node::Param(..)))
            }
            _ => false,
        }
    }

    /// Records that a term has been replaced.
    pub(super) fn replace(&mut self, t: Term) {
        self.replaced.insert(t);
    }
}

/// The small arrays in a body that are computed by operations, and that are only read at literal
/// indices, or by other such arrays.
fn read_by_element(g: &Graph, results: &[Term], terms: &[Term]) -> HashSet<Term> {
    let mut whole: HashSet<Term> = results.iter().copied().collect();
    let mut by_element = HashSet::new();
    for &t in terms.iter().rev() {
        let small = matches!(g.node(t), Node::Prim(..)) && g.rank(t) > 0 && small_sizes(g, t).is_some();
        if small && !whole.contains(&t) {
            by_element.insert(t);
            continue;
        }
        let node = g.node(t);
        let literal = matches!(node, Node::Gather { vars, index, src, .. }
            if vars.is_empty() && index.len() == g.rank(*src) && index.iter().all(|&i| g.int_value(i).is_some()));
        if !literal {
            node.for_each_child(|c| {
                whole.insert(c);
            });
        }
    }
    by_element
}
