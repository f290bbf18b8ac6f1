//! Loops that consume an array whose elements are elements of another array. Such a loop captures
//! the other array, and reads the elements in place of the row. So no array of the elements is
//! made.
//!
//! This module must never change the conditions under which elements are read.

use crate::passes::rewrite::{Rewriter, with_rewritten_children};
use ad_ir::ir::{Body, Elem, Graph, Node, Scan, Term, Type, Var};
use ad_ir::prim::Prim;

/// Elements of an array: the element at `vars` is `src[index]` where the guards hold, else zero.
/// The variables are fresh; index and guards may mention them.
#[derive(Clone, Debug)]
pub(super) struct RowRead {
    pub(super) src: Term,
    pub(super) vars: Vec<Var>,
    /// The size of the range of each variable.
    pub(super) sizes: Vec<Term>,
    pub(super) index: Vec<Term>,
    pub(super) guards: Vec<(Term, bool)>,
}

impl RowRead {
    /// The terms of the read.
    fn terms(&self) -> Vec<Term> {
        self.index.iter().copied().chain(self.guards.iter().map(|c| c.0)).chain([self.src]).collect()
    }

    /// The read of one row: with other terms, and without the first variable.
    fn row(&self, terms: &[Term]) -> RowRead {
        let (index, rest) = terms.split_at(self.index.len());
        let values = self.guards.iter().map(|c| c.1);
        RowRead {
            src: rest[self.guards.len()],
            vars: self.vars[1..].to_vec(),
            sizes: self.sizes[1..].to_vec(),
            index: index.to_vec(),
            guards: rest.iter().copied().zip(values).collect(),
        }
    }

    /// The elements as one term, if the conditions are the same for all of them.
    fn term(&self, g: &mut Graph) -> Option<Term> {
        if self.guards.iter().any(|&(c, _)| g.free(c).iter().any(|v| self.vars.contains(v))) {
            return None;
        }
        let all = g.gather(self.src, self.sizes.clone().into(), &self.vars, &self.index);
        let none = g.zeros_of_any(all);
        Some(self.guards.iter().fold(all, |t, &(c, value)| if value { g.cond(c, t, none) } else { g.cond(c, none, t) }))
    }
}

/// The roots with `read` in place of `t`: loops that consume `t` read the elements themselves.
/// `None` if `t` is read in another way too and has conditions that differ between elements.
pub(super) fn replaced(
    g: &mut Graph,
    new: &mut Rewriter,
    roots: &[Term],
    t: Term,
    read: &RowRead,
) -> Option<Vec<Term>> {
    let consumes = |g: &Graph, u: Term| match g.node(u) {
        Node::Scan(scan) => scan.xs.contains(&t) && !scan.init.iter().chain(&scan.captures).any(|&c| c == t),
        _ => false,
    };
    let mut otherwise = roots.contains(&t) || read.vars.is_empty();
    for u in g.reachable(roots) {
        let mut reads = false;
        g.node(u).for_each_child(|c| reads |= c == t);
        otherwise |= reads && !consumes(g, u);
    }
    if otherwise {
        let whole = read.term(g)?;
        new.set(t, whole);
        return Some(new.substitute(g, roots));
    }
    let mut good = true;
    let roots = new.run(g, roots, |g, u, done| {
        let Node::Scan(old) = g.node(u) else { return None };
        let places: Vec<usize> = (0..old.xs.len()).filter(|&k| old.xs[k] == t).rev().collect();
        if places.is_empty() {
            return None;
        }
        let Node::Scan(scan) = with_rewritten_children(g, u, done) else { return None };
        let mut scan = *scan;
        for k in places {
            match reading(g, &scan, k, read) {
                Some(made) => scan = made,
                None => good = false,
            }
        }
        Some(g.scan(scan))
    });
    good.then_some(roots)
}

/// The loop that captures the terms of `read`, instead of consuming `xs[k]`.
fn reading(g: &mut Graph, scan: &Scan, k: usize, read: &RowRead) -> Option<Scan> {
    let (carries, caught) = (scan.init.len(), scan.captures.len());
    let mut leaves = Vec::new();
    read.terms().into_iter().try_for_each(|t| self::leaves(g, t, &mut leaves))?;
    let mut captures = scan.captures.to_vec();
    let places: Vec<usize> = leaves.iter().map(|&leaf| position_of(&mut captures, leaf)).collect();
    let mut xs = scan.xs.to_vec();
    xs.remove(k);
    let step = match xs.iter().position(|&x| matches!(g.node(x), Node::Prim(Prim::Iota, _))) {
        Some(at) => at,
        None => {
            xs.push(g.iota(scan.count));
            xs.len() - 1
        }
    };
    let mut params = scan.body.params[..carries].to_vec();
    params.extend(captures.iter().map(|&t| g.ty(t).clone()));
    params.extend(xs.iter().map(|&x| Type::Array(g.elem(x), g.shape(x)[1..].into())));
    let param = |g: &mut Graph, n: usize| g.param(n, params[n].clone());
    let first = carries + captures.len();
    let row = g.placeholder(scan.body.params[carries + caught + k].clone());
    let mut args: Vec<Term> = (0..carries + caught).map(|n| param(g, n)).collect();
    for n in 0..scan.xs.len() {
        let arg = if n == k { row } else { param(g, first + n - usize::from(n > k)) };
        args.push(arg);
    }
    let results = g.instantiate(&scan.body, &args);
    let mut inside = Rewriter::default();
    let (var, step) = (g.mk(Node::Var(read.vars[0])), param(g, first + step));
    inside.set(var, step);
    for (&leaf, &at) in leaves.iter().zip(&places) {
        let own = param(g, carries + at);
        inside.set(leaf, own);
    }
    let terms = inside.substitute(g, &read.terms());
    let results = replaced(g, &mut Rewriter::default(), &results, row, &read.row(&terms))?;
    Some(Scan {
        captures: captures.into(),
        xs: xs.into(),
        body: Body { params: params.into(), results: results.into() },
        ..scan.clone()
    })
}

/// The position of a term in a list. A new term is added.
fn position_of(all: &mut Vec<Term>, t: Term) -> usize {
    all.iter().position(|&old| old == t).unwrap_or_else(|| {
        all.push(t);
        all.len() - 1
    })
}

/// The maximal subterms of `t` without variables, which a body has to capture. `None` if a binder
/// mentions a variable.
fn leaves(g: &Graph, t: Term, all: &mut Vec<Term>) -> Option<()> {
    let mut stack = vec![t];
    while let Some(t) = stack.pop() {
        let node = g.node(t);
        if g.free(t).is_empty() {
            // A closed size is not rewritten.
            let size = *g.ty(t) == Type::scalar(Elem::USIZE) && !g.is_open(t);
            if !size && !matches!(node, Node::Lit(_)) {
                position_of(all, t);
            }
        } else if node.binders().is_empty() {
            node.for_each_child(|c| stack.push(c));
        } else {
            return None;
        }
    }
    Some(())
}
