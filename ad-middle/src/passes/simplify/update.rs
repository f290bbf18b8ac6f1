//! Rules for updates, which put elements into an array: an update that adds to the elements that it
//! replaces is a scatter, and what is added to elements just written is written with them.
//!
//! A rule must never read the array after the update where the function reads it before.

use super::{Rule, rule};
use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Graph, Node, Put, Term, Var};
use ad_ir::prim::{Binary, IntOp, Prim};

/// The maximum number of nested conditions of an element that is added.
const MAX_CONDITIONS: u32 = 4;

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
        "update x (select m (gather x f + y) (gather x f)) f = scatter x (select m y 0) f, under further conditions too",
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
        "scatter.update.between",
        "scatter (scatter (update x y f) w h) z f = scatter (update x (y + z) f) w h, if w and z do not read the update",
        Loose,
        scatter_update_between
    ),
    rule!(
        "update.pad",
        "(update x y f + a) + pad z = update x (y + z) f + a, where f are the indices of the elements that pad places",
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

/// An update that keeps elements where a condition is false.
pub(crate) struct Conditional {
    pub(crate) condition: Term,
    /// What it does where the condition is true: it adds or writes elements.
    pub(crate) put: Put,
    pub(crate) src: Term,
}

impl Conditional {
    pub(crate) fn of(g: &mut Graph, update: &Node) -> Option<Conditional> {
        let Node::Scatter { put: Put::Set, dst, src, vars, index } = update else { return None };
        let own = Replaced::new(g, *dst, *src, (vars, index));
        let (mut src, mut condition) = (*src, None);
        while let Node::Prim(Prim::Select, args) = g.node(src).clone()
            && own.is(g, args[2])
        {
            src = args[1];
            condition = Some(condition.map_or(args[0], |outer| g.and(outer, args[0])));
        }
        let condition = condition?;
        Some(match added(g, &own, src) {
            Some(src) => Conditional { condition, put: Put::Add, src },
            None => Conditional { condition, put: Put::Set, src },
        })
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
    if !matches!(g.node(src), Node::Prim(Prim::Select, _)) {
        return None;
    }
    let own = Replaced::new(g, dst, src, (&vars, &index));
    let src = added_under_conditions(g, &own, src, MAX_CONDITIONS)?;
    Some(g.mk(Node::Scatter { put: Put::Add, dst, src, vars, index }))
}

/// What a term adds to these elements: nothing where conditions leave them as they are.
fn added_under_conditions(g: &mut Graph, own: &Replaced<'_>, t: Term, depth: u32) -> Option<Term> {
    if own.is(g, t) {
        return Some(g.zeros_like(t));
    }
    let Node::Prim(Prim::Select, args) = g.node(t).clone() else { return added(g, own, t) };
    let depth = depth.checked_sub(1)?;
    let then = added_under_conditions(g, own, args[1], depth)?;
    let other = added_under_conditions(g, own, args[2], depth)?;
    Some(g.select(args[0], then, other))
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

/// The maximum number of scatters between an update and a scatter at the same indices.
const MAX_BETWEEN: usize = 8;

fn scatter_update(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Scatter { put: Put::Add, dst, .. } = *g.node(t) else { return None };
    written_and_added(g, dst, t)
}

fn scatter_update_between(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Scatter { put: Put::Add, mut dst, src, .. } = *g.node(t) else { return None };
    let mut between = Vec::new();
    let mut read = vec![src];
    while let Node::Scatter { put: Put::Add, dst: inner, src, .. } = *g.node(dst) {
        if between.len() == MAX_BETWEEN {
            return None;
        }
        between.push(dst);
        read.push(src);
        dst = inner;
    }
    let update = written_and_added(g, dst, t).filter(|_| !between.is_empty())?;
    // Otherwise both arrays would be needed.
    if g.reachable(&read).iter().any(|c| *c == dst || between.contains(c)) {
        return None;
    }
    Some(between.into_iter().rev().fold(update, |dst, t| {
        let Node::Scatter { put, src, vars, index, .. } = g.node(t).clone() else { return dst };
        g.mk(Node::Scatter { put, dst, src, vars, index })
    }))
}

/// An update that writes what an update writes and a scatter adds to it, at the same indices.
fn written_and_added(g: &mut Graph, update: Term, scatter: Term) -> Option<Term> {
    let Node::Scatter { src, vars, index, .. } = g.node(scatter).clone() else { return None };
    let Node::Scatter { put: Put::Set, dst, src: before, vars: v, index: f } = g.node(update).clone() else {
        return None;
    };
    if v != vars || f != index || g.shape(before) != g.shape(src) {
        return None;
    }
    let src = if is_zero(g, before) { src } else { g.add(before, src) };
    Some(g.mk(Node::Scatter { put: Put::Set, dst, src, vars, index }))
}

fn update_pad(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::Binary(Binary::Add), args) = g.node(t).clone() else { return None };
    [(args[0], args[1]), (args[1], args[0])].into_iter().find_map(|(update, pad)| {
        if let Some(made) = padded_update(g, update, pad) {
            return Some(made);
        }
        let Node::Prim(Prim::Binary(Binary::Add), inner) = g.node(update).clone() else { return None };
        [(inner[0], inner[1]), (inner[1], inner[0])].into_iter().find_map(|(update, more)| {
            let made = padded_update(g, update, pad)?;
            Some(g.add(made, more))
        })
    })
}

/// The sum of an update and of elements that are padded to the same places.
fn padded_update(g: &mut Graph, update: Term, pad: Term) -> Option<Term> {
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
}
