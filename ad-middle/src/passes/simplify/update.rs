//! Rules for updates, which put elements into an array: an update that adds to the elements that it
//! replaces is a scatter, and what is added to elements just written is written with them.
//!
//! A rule must never read the array after the update where the function reads it before.

use super::{Rule, rule};
use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Graph, Node, Put, Term, Var};
use ad_ir::prim::{Binary, IntOp, Prim};

pub(super) const RULES: &[Rule] = &[
    rule!("update.own", "update x (gather x f) f = x", Exact, update_own),
    rule!(
        "update.add",
        "update x (gather x f + y) f = update x (y + gather x f) f = scatter x y f, since no two elements have the same index",
        Exact,
        update_add
    ),
    rule!(
        "update.add.masked",
        "update x (select m (gather x f + y) (gather x f)) f = scatter x (select m y 0) f",
        Loose,
        update_add_masked
    ),
    rule!("update.update", "update (update x _ f) y f = update x y f", Exact, update_update),
    rule!(
        "scatter.update",
        "scatter (update x y f) z f = update x (y + z) f, since no two elements have the same index",
        Exact,
        scatter_update
    ),
    rule!(
        "update.pad",
        "update x y f + pad z = update x (y + z) f, where f are the indices of the elements that pad places",
        Loose,
        update_pad
    ),
];

/// The elements of the array `of` that an update of this shape replaces.
struct Own {
    of: Term,
    vars: Box<[Var]>,
    index: Box<[Term]>,
    /// The same elements as a slice, perhaps of a row.
    slice: Option<Term>,
}

impl Own {
    fn new(g: &mut Graph, of: Term, shape: &[Term], (vars, index): (&[Var], &[Term])) -> Own {
        let slice = shifts(g, vars, index).filter(|starts| g.rank(of) == index.len() && shape.len() == starts.len());
        let slice = slice.map(|starts| {
            let fixed = &index[..index.len() - vars.len()];
            let row = if fixed.is_empty() { of } else { g.index(of, fixed) };
            g.slice(row, &starts, &vec![1; starts.len()], shape)
        });
        Own { of, vars: vars.into(), index: index.into(), slice }
    }

    fn is(&self, g: &Graph, t: Term) -> bool {
        if self.slice == Some(t) {
            return true;
        }
        matches!(g.node(t), Node::Gather { src, vars, index, .. }
            if *src == self.of && *vars == self.vars && *index == self.index)
    }
}

/// The distances by which the last indices exceed the variables, if the indices before them mention
/// no variable.
fn shifts(g: &mut Graph, vars: &[Var], index: &[Term]) -> Option<Vec<Term>> {
    let (fixed, last) = index.split_at(index.len().checked_sub(vars.len())?);
    let zero = g.lit_usize(0);
    let g = &*g;
    let mentions = |t: Term| vars.iter().any(|&v| g.mentions(t, v));
    if vars.is_empty() || fixed.iter().any(|&t| mentions(t)) {
        return None;
    }
    let start = |(&ix, &v): (&Term, &Var)| {
        let is_var = |t: Term| matches!(g.node(t), Node::Var(w) if *w == v);
        match g.node(ix) {
            Node::Var(_) if is_var(ix) => Some(zero),
            Node::Prim(Prim::Int(IntOp::Add), args) => match (args[0], args[1]) {
                (a, b) if is_var(a) && !mentions(b) => Some(b),
                (a, b) if is_var(b) && !mentions(a) => Some(a),
                _ => None,
            },
            _ => None,
        }
    };
    last.iter().zip(vars).map(start).collect()
}

fn update_own(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Scatter { put: Put::Set, dst, src, vars, index } = g.node(t).clone() else { return None };
    let shape = g.shape(src).to_vec();
    Own::new(g, dst, &shape, (&vars, &index)).is(g, src).then_some(dst)
}

/// What a term adds to these elements.
fn added(g: &mut Graph, own: &Own, t: Term) -> Option<Term> {
    let Node::Prim(Prim::Binary(op @ (Binary::Add | Binary::Sub)), args) = g.node(t).clone() else { return None };
    match op {
        Binary::Sub => own.is(g, args[0]).then(|| g.neg(args[1])),
        _ if own.is(g, args[0]) => Some(args[1]),
        _ => own.is(g, args[1]).then_some(args[0]),
    }
}

/// An update that adds to the elements that it replaces is a scatter.
pub(crate) fn update_add(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Scatter { put: Put::Set, dst, src, vars, index } = g.node(t).clone() else { return None };
    let shape = g.shape(src).to_vec();
    let own = Own::new(g, dst, &shape, (&vars, &index));
    let src = added(g, &own, src)?;
    Some(g.mk(Node::Scatter { put: Put::Add, dst, src, vars, index }))
}

fn update_add_masked(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Scatter { put: Put::Set, dst, src, vars, index } = g.node(t).clone() else { return None };
    let Node::Prim(Prim::Select, args) = g.node(src).clone() else { return None };
    let shape = g.shape(src).to_vec();
    let own = Own::new(g, dst, &shape, (&vars, &index));
    let [mask, then, other] = [args[0], args[1], args[2]];
    let src = if own.is(g, other) {
        let more = added(g, &own, then)?;
        let zeros = g.zeros_like(more);
        g.select(mask, more, zeros)
    } else if own.is(g, then) {
        let more = added(g, &own, other)?;
        let zeros = g.zeros_like(more);
        g.select(mask, zeros, more)
    } else {
        return None;
    };
    Some(g.mk(Node::Scatter { put: Put::Add, dst, src, vars, index }))
}

fn update_update(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Scatter { put: Put::Set, dst, src, vars, index } = g.node(t).clone() else { return None };
    let Node::Scatter { put: Put::Set, dst: inner, src: before, vars: v, index: f } = g.node(dst).clone() else {
        return None;
    };
    if v != vars || f != index || g.shape(before) != g.shape(src) {
        return None;
    }
    Some(g.mk(Node::Scatter { put: Put::Set, dst: inner, src, vars, index }))
}

fn scatter_update(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Scatter { put: Put::Add, dst, src, vars, index } = g.node(t).clone() else { return None };
    let Node::Scatter { put: Put::Set, dst: inner, src: before, vars: v, index: f } = g.node(dst).clone() else {
        return None;
    };
    if v != vars || f != index || g.shape(before) != g.shape(src) {
        return None;
    }
    let src = if is_zero(g, before) { src } else { g.add(before, src) };
    Some(g.mk(Node::Scatter { put: Put::Set, dst: inner, src, vars, index }))
}

fn update_pad(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::Binary(Binary::Add), args) = g.node(t).clone() else { return None };
    [(args[0], args[1]), (args[1], args[0])].into_iter().find_map(|(update, pad)| {
        let Node::Scatter { put: Put::Set, dst, src, vars, index } = g.node(update).clone() else { return None };
        let Node::Prim(Prim::Pad(steps), placed) = g.node(pad).clone() else { return None };
        let starts = shifts(g, &vars, &index)?;
        let same = steps.iter().all(|&s| s == 1)
            && index.len() == vars.len()
            && placed[1..].starts_with(&starts)
            && g.shape(placed[0]) == g.shape(src);
        if !same {
            return None;
        }
        let src = if is_zero(g, src) { placed[0] } else { g.add(src, placed[0]) };
        Some(g.mk(Node::Scatter { put: Put::Set, dst, src, vars, index }))
    })
}
