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

/// The elements that an update replaces.
struct Replaced<'a> {
    of: Term,
    vars: &'a [Var],
    index: &'a [Term],
    /// Where they start, if they are a slice of the array or of a row of it.
    starts: Option<Vec<Term>>,
    lens: Vec<Term>,
}

impl<'a> Replaced<'a> {
    /// `src` are the new elements.
    fn new(g: &mut Graph, of: Term, src: Term, (vars, index): (&'a [Var], &'a [Term])) -> Self {
        let lens = g.shape(src).to_vec();
        let starts = shifts(g, vars, index).filter(|starts| g.rank(of) == index.len() && lens.len() == starts.len());
        Replaced { of, vars, index, starts, lens }
    }

    /// Whether a term has these elements as they are before the update.
    fn is(&self, g: &Graph, t: Term) -> bool {
        match (g.node(t), &self.starts) {
            (Node::Gather { src, vars, index, .. }, _) => {
                *src == self.of && **vars == *self.vars && **index == *self.index
            }
            (Node::Prim(Prim::Slice(steps), args), Some(starts)) => {
                let (fixed, parts) = (&self.index[..self.index.len() - starts.len()], args[1..].split_at(starts.len()));
                let row = match g.node(args[0]) {
                    _ if fixed.is_empty() => args[0] == self.of,
                    Node::Gather { src, vars, index, .. } => *src == self.of && vars.is_empty() && **index == *fixed,
                    _ => false,
                };
                row && steps.iter().all(|&s| s == 1) && parts.0 == starts && parts.1 == self.lens
            }
            _ => false,
        }
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
    Replaced::new(g, dst, src, (&vars, &index)).is(g, src).then_some(dst)
}

/// What a term adds to these elements.
fn added(g: &mut Graph, own: &Replaced<'_>, t: Term) -> Option<Term> {
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
    let own = Replaced::new(g, dst, src, (&vars, &index));
    let src = added(g, &own, src)?;
    Some(g.mk(Node::Scatter { put: Put::Add, dst, src, vars, index }))
}

fn update_add_masked(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Scatter { put: Put::Set, dst, src, vars, index } = g.node(t).clone() else { return None };
    let Node::Prim(Prim::Select, args) = g.node(src).clone() else { return None };
    let own = Replaced::new(g, dst, src, (&vars, &index));
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
