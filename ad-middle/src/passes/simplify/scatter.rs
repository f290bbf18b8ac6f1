//! Rules for arrays that are zero except at elements that are added to them. An operation on such
//! an array is applied to the elements instead, so its cost does not depend on the size of the
//! array.
//!
//! A rule must never drop a product of a zero with a factor that may be infinite. So only products
//! that absorb zeros read their other factor at fewer indices.

use super::layout::replicated;
use super::{Rule, rule};
use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Graph, Node, Put, Term, Var, axis};
use ad_ir::prim::{Binary, Cmp, IntOp, Prim, Unary};

pub(super) const RULES: &[Rule] = &[
    rule!(
        "mul_zero.scatter",
        "replicate (scatter 0 y f) *0 t = scatter 0 (replicate y *0 gather t f) f, where f is one-to-one",
        Loose,
        mul_zero_scatter
    ),
    rule!(
        "scale.scatter",
        "-(scatter 0 y f) = scatter 0 (-y) f; c * scatter 0 y f = scatter 0 (c * y) f, where f is one-to-one",
        Loose,
        scale_scatter
    ),
    rule!(
        "sum.scatter",
        "sum (scatter 0 y f) = scatter 0 y f without the summed axes, along which f is in range; a number, if f is one index: if f < n { sum y } else { 0 }",
        Loose,
        sum_scatter
    ),
    rule!("scatter.scatter", "scatter (scatter x y f) z f = scatter x (y + z) f", Loose, scatter_scatter),
    rule!(
        "scatter.parts",
        "scatter x (scatter (scatter 0 y f) z g) h = scatter (scatter x y (h . f)) z (h . g), where f and g are in range; also under a mask, and where h is for rows",
        Loose,
        scatter_parts
    ),
];

/// Zeros to which elements are added. The variables are the indices of the first axes of `src`.
/// Axis `k` of the array is indexed by `index[k]`, a function of the variables. Axes without an
/// index are whole.
pub(crate) struct Scattered {
    pub(crate) src: Term,
    pub(crate) vars: Vec<Var>,
    pub(crate) index: Vec<Term>,
}

/// `t` as scattered elements, if it has this form. It may be a replicated array of this form.
pub(crate) fn scattered(g: &mut Graph, t: Term) -> Option<Scattered> {
    let (inner, new, sizes) = replicated(g, t).unwrap_or((t, Vec::new(), Vec::new()));
    let node = g.node_rc(inner);
    let Node::Scatter { put: Put::Add, dst, src, .. } = *node else { return None };
    if !is_zero(g, dst) {
        return None;
    }
    let (mut vars, given) = g.open_binder(&node);
    let (own, mut given) = (vars.len(), given.into_iter().peekable());
    // A replicated axis before an indexed one is indexed by a new variable.
    let (mut index, mut at) = (Vec::new(), 0);
    while given.peek().is_some() {
        if new.contains(&axis(at)) {
            let v = g.fresh();
            vars.push(v);
            index.push(g.mk(Node::Var(v)));
        } else {
            index.extend(given.next());
        }
        at += 1;
    }
    let (mut axes, mut lens, mut before) = (Vec::new(), Vec::new(), own);
    for (&a, &n) in new.iter().zip(&sizes) {
        match usize::from(a).checked_sub(at) {
            Some(behind) => axes.push(axis(vars.len() + behind)),
            None => {
                axes.push(axis(before));
                before += 1;
            }
        }
        lens.push(n);
    }
    let src = g.replicate_axes(src, &axes, &lens);
    Some(Scattered { src, vars, index })
}

impl Scattered {
    /// The sizes of the axes of `src` that the variables index.
    pub(crate) fn sizes(&self, g: &Graph) -> Vec<Term> {
        g.shape(self.src)[..self.vars.len()].to_vec()
    }

    /// The elements of `t` at the indices of the scattered elements, in their order.
    pub(crate) fn read(&self, g: &mut Graph, t: Term) -> Term {
        let sizes = self.sizes(g);
        if g.rank(g.splat(t)) == 0 {
            let rows = g.shape(t)[self.index.len()..].to_vec();
            let scalar = g.splat(t);
            return g.broadcast(scalar, &[sizes, rows].concat());
        }
        g.gather(t, sizes.into(), &self.vars, &self.index)
    }

    /// Zeros of a shape, to which `src` is added at the same indices.
    pub(crate) fn put(&self, g: &mut Graph, src: Term, shape: &[Term]) -> Term {
        let elem = g.elem(src);
        let zeros = g.lit_shaped(elem, shape, 0.0);
        g.scatter(zeros, src, &self.vars, &self.index)
    }

    /// Whether all axes of the array `of` are indexed, and in range: by a variable for an axis of
    /// this size, or by a literal.
    fn in_range(&self, g: &Graph, of: Term) -> bool {
        let sizes = self.sizes(g);
        let fits = |ix: Term, n: Term| match g.node(ix) {
            Node::Var(v) => self.vars.iter().zip(&sizes).any(|(w, &size)| v == w && size == n),
            _ => g.int_value(ix).zip(g.int_value(n)).is_some_and(|(i, n)| i < n),
        };
        let shape = g.shape(of);
        self.index.len() == shape.len() && self.index.iter().zip(shape).all(|(&ix, &n)| fits(ix, n))
    }

    /// Whether no two elements have the same index: for each variable, one of the indices depends
    /// on that variable only.
    pub(crate) fn one_to_one(&self, g: &Graph) -> bool {
        let decides = |v: Var| self.index.iter().any(|&ix| grows_with(g, ix, v, &self.vars));
        self.vars.iter().all(|&v| decides(v))
    }
}

/// Whether an index is `v` times a positive constant, plus a term that depends on none of the
/// variables.
fn grows_with(g: &Graph, mut ix: Term, v: Var, vars: &[Var]) -> bool {
    loop {
        let Node::Prim(Prim::Int(op), args) = g.node(ix) else {
            return matches!(g.node(ix), Node::Var(w) if *w == v);
        };
        let free = |t: Term| vars.iter().all(|&w| !g.mentions(t, w));
        let other = |k: usize| match op {
            IntOp::Add => free(args[k]),
            IntOp::Mul => g.int_value(args[k]).is_some_and(|c| c > 0),
            _ => false,
        };
        ix = match (other(0), other(1)) {
            (_, true) => args[0],
            (true, _) => args[1],
            _ => return false,
        };
    }
}

fn mul_zero_scatter(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::Binary(Binary::MulZero), args) = g.node(t) else { return None };
    let (x, by) = (args[0], args[1]);
    let placed = scattered(g, x).filter(|placed| placed.one_to_one(g))?;
    let there = placed.read(g, by);
    let src = g.binary(Binary::MulZero, placed.src, there);
    let shape = g.shape(t).to_vec();
    Some(placed.put(g, src, &shape))
}

fn scale_scatter(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(prim, args) = g.node(t).clone() else { return None };
    let constant = |x: Term| g.real_value(x).is_some_and(f64::is_normal);
    let k = match prim {
        Prim::Unary(Unary::Neg) => 0,
        Prim::Binary(Binary::Mul | Binary::Div) if constant(args[1]) => 0,
        Prim::Binary(Binary::Mul) if constant(args[0]) => 1,
        _ => return None,
    };
    let placed = scattered(g, args[k]).filter(|placed| args.len() == 1 || placed.one_to_one(g))?;
    let args: Vec<Term> =
        args.iter().enumerate().map(|(n, &x)| if n == k { placed.src } else { placed.read(g, x) }).collect();
    let src = g.prim(prim, &args);
    let shape = g.shape(t).to_vec();
    Some(placed.put(g, src, &shape))
}

fn sum_scatter(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::Sum(axes), args) = g.node(t).clone() else { return None };
    let x = args[0];
    let placed = scattered(g, x)?;
    let sizes = placed.sizes(g);
    let in_range = |&a: &u8| match placed.index.get(usize::from(a)) {
        Some(&ix) => placed
            .vars
            .iter()
            .zip(&sizes)
            .any(|(v, &n)| matches!(g.node(ix), Node::Var(w) if w == v) && n == g.shape(x)[usize::from(a)]),
        None => true,
    };
    // All elements are in range, or none, if no variable occurs in an index.
    let to_number = axes.len() == g.rank(x);
    let shared = |&a: &u8| {
        let ix = placed.index.get(usize::from(a)).copied();
        ix.filter(|&ix| to_number && !placed.vars.iter().any(|&v| g.mentions(ix, v)))
    };
    let limits: Vec<(Term, Term)> = (axes.iter().filter(|a| !in_range(a)))
        .filter_map(|a| Some((shared(a)?, g.shape(x)[usize::from(*a)])))
        .collect();
    let (now, later): (Vec<u8>, Vec<u8>) = axes.iter().partition(|a| in_range(a) || shared(a).is_some());
    if now.is_empty() {
        return None;
    }
    let later: Vec<u8> = later.iter().map(|a| a - axis(now.iter().filter(|b| *b < a).count())).collect();
    let sum = sum_of_scattered(g, x, &placed, &now);
    let sum = g.sum_axes(sum, &later);
    Some(limits.into_iter().fold(sum, |sum, (index, size)| {
        let inside = g.compare(Cmp::Lt, index, size);
        let zero = g.zeros_like(sum);
        g.cond(inside, sum, zero)
    }))
}

/// The sum of scattered elements over axes along which all of them are in range.
pub(crate) fn sum_of_scattered(g: &mut Graph, x: Term, placed: &Scattered, axes: &[u8]) -> Term {
    let (vars, indexed) = (placed.vars.len(), placed.index.len());
    let kept = |k: usize| !axes.contains(&axis(k));
    let index: Vec<Term> = (0..indexed).filter(|&k| kept(k)).map(|k| placed.index[k]).collect();
    let shape: Vec<Term> = (0..g.rank(x)).filter(|&k| kept(k)).map(|k| g.shape(x)[k]).collect();
    // Rows are summed before they are scattered. If no index is left, all elements are summed.
    let rows = axes.iter().filter_map(|&a| usize::from(a).checked_sub(indexed)).map(|behind| axis(vars + behind));
    let all = if index.is_empty() { 0..vars } else { 0..0 };
    let inner: Vec<u8> = all.map(axis).chain(rows).collect();
    let src = g.sum_axes(placed.src, &inner);
    if index.is_empty() {
        return src;
    }
    Scattered { src, vars: placed.vars.clone(), index }.put(g, src, &shape)
}

fn scatter_scatter(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Scatter { put: Put::Add, dst, src, vars, index } = g.node(t).clone() else { return None };
    let Node::Scatter { put: Put::Add, dst: inner, src: before, vars: v, index: f } = g.node(dst).clone() else {
        return None;
    };
    if v != vars || f != index || g.shape(before) != g.shape(src) {
        return None;
    }
    let src = g.add(before, src);
    Some(g.mk(Node::Scatter { put: Put::Add, dst: inner, src, vars, index }))
}

/// Elements of a small window, each with its own column, are scattered directly, so no array of all
/// windows is made.
fn scatter_parts(g: &mut Graph, t: Term) -> Option<Term> {
    let node = g.node_rc(t);
    let Node::Scatter { put: Put::Add, dst, src, .. } = *node else { return None };
    let (mask, mut inner) = match g.node(src) {
        Node::Prim(Prim::Select, args) if is_zero(g, args[2]) => (Some(args[0]), args[1]),
        _ => (None, src),
    };
    let mut parts = Vec::new();
    while let Node::Scatter { put: Put::Add, dst: before, src: y, .. } = *g.node_rc(inner) {
        let (vars, index) = g.open_binder(&g.node_rc(inner));
        let part = Scattered { src: y, vars, index };
        if !part.in_range(g, inner) || part.vars.len() != g.rank(part.src) {
            return None;
        }
        parts.push(part);
        inner = before;
    }
    if parts.is_empty() || !is_zero(g, inner) {
        return None;
    }
    let (outer, index) = g.open_binder(&node);
    let all = parts.into_iter().rev().fold(dst, |to, part| {
        let (rows, columns) = part.index.split_at(outer.len());
        let at: Vec<(Var, Term)> = outer.iter().copied().zip(rows.iter().copied()).collect();
        let index = [&g.subst_vars_all(&index, &at), columns].concat();
        let own = match mask {
            Some(mask) => {
                let (there, zeros) = (part.read(g, mask), g.zeros_like(part.src));
                g.select(there, part.src, zeros)
            }
            None => part.src,
        };
        g.scatter(to, own, &part.vars, &index)
    });
    Some(all)
}
