//! The numbers that the second stage of a split computes again instead of reading them: conditions
//! and integers that follow from others which it has. Most calls of a function that calls itself
//! are the innermost ones, so the size of a record decides what a derivative costs.
//!
//! This module must never let a real number be computed twice.

use ad_ir::sorted::SortedSet;
use std::collections::HashMap;

use ad_ir::ir::{Elem, Graph, Node, Term};
use ad_ir::prim::{IntOp, Prim};

/// The maximum number of operations by which a number is computed again.
const MAX_OPERATIONS: usize = 12;

/// The conditions that hold in the second stage, with everything that follows from them.
#[derive(Default)]
pub(super) struct Facts(HashMap<Term, bool>);

impl Facts {
    /// The facts, given conditions that hold.
    pub(super) fn of(g: &Graph, conditions: impl IntoIterator<Item = Term>) -> Facts {
        let (mut known, mut open) = (HashMap::new(), conditions.into_iter().map(|t| (t, true)).collect::<Vec<_>>());
        while let Some((t, value)) = open.pop() {
            if g.rank(t) > 0 || !g.free(t).is_empty() || g.is_open(t) || known.insert(t, value).is_some() {
                continue;
            }
            match g.node(t) {
                Node::Prim(Prim::Not, args) => open.push((args[0], !value)),
                Node::Prim(Prim::And, args) if value => open.extend(args.iter().map(|&c| (c, true))),
                Node::Prim(Prim::Or, args) if !value => open.extend(args.iter().map(|&c| (c, false))),
                Node::Cond { cond, then, other } if value && g.bool_value(*other) == Some(false) => {
                    open.extend([(*cond, true), (*then, true)]);
                }
                Node::Cond { cond, then, other } if value && g.bool_value(*then) == Some(false) => {
                    open.extend([(*cond, false), (*other, true)]);
                }
                _ => {}
            }
        }
        Facts(known)
    }

    /// A condition, simplified by these facts.
    pub(super) fn simplified(&self, g: &mut Graph, t: Term) -> Term {
        let (mut all, mut open) = (SortedSet::new(), vec![t]);
        while let Some(t) = open.pop() {
            let part_of = if self.0.contains_key(&t) || g.elem(t) != Elem::Bool { None } else { parts(g, t) };
            if all.insert(t) {
                open.extend(part_of.into_iter().flatten());
            }
        }
        // Children are older than parents.
        let mut done: HashMap<Term, Term> = HashMap::new();
        for t in all {
            let new = |t: Term| done.get(&t).copied().unwrap_or(t);
            let made = match (self.0.get(&t), g.node(t).clone()) {
                (Some(&value), _) => g.lit_bool(value),
                (_, Node::Prim(Prim::Not, args)) => g.not(new(args[0])),
                (_, Node::Prim(Prim::And, args)) => g.and(new(args[0]), new(args[1])),
                (_, Node::Prim(Prim::Or, args)) => g.or(new(args[0]), new(args[1])),
                (_, Node::Cond { cond, then, other }) if g.elem(t) == Elem::Bool => match g.bool_value(new(cond)) {
                    Some(true) => new(then),
                    Some(false) => new(other),
                    None => g.cond(new(cond), new(then), new(other)),
                },
                _ => t,
            };
            done.insert(t, made);
        }
        done[&t]
    }
}

/// The conditions that a condition is made of.
fn parts(g: &Graph, t: Term) -> Option<Vec<Term>> {
    match g.node(t) {
        Node::Prim(Prim::Not | Prim::And | Prim::Or, args) => Some(args.to_vec()),
        Node::Cond { cond, then, other } => Some(vec![*cond, *then, *other]),
        _ => None,
    }
}

/// Whether a term is one integer or truth value.
pub(super) fn is_discrete(g: &Graph, t: Term) -> bool {
    g.ty(t).as_array().is_some_and(|(elem, shape)| shape.is_empty() && !elem.is_real())
}

/// The operands, if a number is computed by one cheap operation on integers or truth values.
fn operands(g: &Graph, t: Term) -> Option<Vec<Term>> {
    let cheap = match g.node(t) {
        Node::Prim(Prim::Int(op), args) => match op {
            IntOp::Add | IntOp::Sub | IntOp::Mul | IntOp::Min | IntOp::Max => args.to_vec(),
            IntOp::BitAnd | IntOp::BitOr | IntOp::BitXor => args.to_vec(),
            _ => return None,
        },
        Node::Prim(Prim::Not | Prim::And | Prim::Or | Prim::Compare(_), args) => args.to_vec(),
        Node::Cond { cond, then, other } => vec![*cond, *then, *other],
        _ => return None,
    };
    cheap.iter().all(|&c| is_discrete(g, c)).then_some(cheap)
}

/// The numbers that are computed again, and the operations between them and what is kept.
/// `wanted`: the discrete numbers that the second stage reads. `kept`: what it keeps in any case.
/// `shared`: whether both stages have a term.
pub(super) fn computed_again(
    g: &Graph,
    wanted: &[Term],
    mut kept: SortedSet<Term>,
    shared: &dyn Fn(Term) -> bool,
) -> SortedSet<Term> {
    let mut found = SortedSet::new();
    let mut open: Vec<Derived> = Vec::new();
    for &t in wanted {
        match Derived::of(g, t) {
            Some(derived) => open.push(derived),
            None => drop(kept.insert(t)),
        }
    }
    let missing = |derived: &Derived, kept: &SortedSet<Term>| -> SortedSet<Term> {
        derived.from.iter().copied().filter(|t| !kept.contains(t) && !shared(*t)).collect()
    };
    // A number from which two or more others are computed is kept in place of these.
    while let Some(first) = open.pop() {
        let (mut group, mut lacks) = (vec![first], SortedSet::new());
        lacks.extend(missing(&group[0], &kept));
        loop {
            let joins = |derived: &Derived| missing(derived, &kept).iter().any(|t| lacks.contains(t));
            let Some(at) = open.iter().position(joins) else { break };
            let next = open.remove(at);
            lacks.extend(missing(&next, &kept));
            group.push(next);
        }
        if lacks.len() < group.len() {
            kept.extend(lacks);
            found.extend(group.into_iter().flat_map(|derived| derived.by));
        } else {
            kept.extend(group.into_iter().map(|derived| derived.of));
        }
    }
    found
}

/// A number as cheap operations on others.
struct Derived {
    of: Term,
    /// The operations, itself included.
    by: SortedSet<Term>,
    /// The numbers that are not results of cheap operations.
    from: SortedSet<Term>,
}

impl Derived {
    fn of(g: &Graph, t: Term) -> Option<Derived> {
        let (mut by, mut from, mut open) = (SortedSet::new(), SortedSet::new(), vec![t]);
        while let Some(t) = open.pop() {
            if matches!(g.node(t), Node::Lit(_)) {
                continue;
            }
            match operands(g, t) {
                Some(all) if by.insert(t) => open.extend(all),
                Some(_) => {}
                None => drop(from.insert(t)),
            }
            if by.len() > MAX_OPERATIONS {
                return None;
            }
        }
        (!by.is_empty()).then_some(Derived { of: t, by, from })
    }
}
