//! The derivatives of forms that are not operations: conditionals, elementwise choices, stacks, and
//! updates. Each has its tangent, followed by the cotangents that its transpose sends to the
//! operands. This module must never know where a tangent or a cotangent comes from.

use ad_ir::ir::{Graph, Node, Put, Term, Var};
use ad_ir::sorted::{SortedMap, SortedSet};

use super::condition::mask_outside;
use super::cotangent::{Cotangent, commute};
use super::linear::{self, KnownZeros, where_only};

/// The tangent of one value. A value without one has tangent zero.
#[derive(Clone, Debug)]
pub(crate) enum Tangent {
    /// The tangent of an array or a number.
    Array(Term),
    /// The tangent of a tuple: the tangents of those components that have one.
    Tuple(SortedMap<usize, Tangent>),
}

impl Tangent {
    /// The tangent of an array.
    pub(crate) fn array(&self) -> Option<Term> {
        if let Tangent::Array(t) = self { Some(*t) } else { None }
    }
}

/// The tangent of the arm that the function takes.
pub(crate) fn conditional(
    g: &mut Graph,
    condition: Term,
    then: Option<Tangent>,
    other: Option<Tangent>,
) -> Option<Tangent> {
    match (then, other) {
        (None, None) => None,
        (Some(Tangent::Array(then)), Some(Tangent::Array(other))) => {
            Some(Tangent::Array(g.cond(condition, then, other)))
        }
        (Some(Tangent::Array(then)), None) => Some(Tangent::Array(mask_outside(g, then, (condition, true)))),
        (None, Some(Tangent::Array(other))) => Some(Tangent::Array(mask_outside(g, other, (condition, false)))),
        (then, other) => {
            let parts = |t: Option<Tangent>| match t {
                Some(Tangent::Tuple(parts)) => parts,
                _ => SortedMap::new(),
            };
            let (mut then, mut other) = (parts(then), parts(other));
            let keys: SortedSet<usize> = then.keys().chain(other.keys()).copied().collect();
            let each = |k: usize| Some((k, conditional(g, condition, then.remove(&k), other.remove(&k))?));
            Some(Tangent::Tuple(keys.into_iter().filter_map(each).collect()))
        }
    }
}

/// The tangent of an elementwise choice between two arrays.
pub(crate) fn choice(g: &mut Graph, mask: Term, [then, other]: [Option<Term>; 2], like: Term) -> Option<Term> {
    if then.is_none() && other.is_none() {
        return None;
    }
    let zero = g.zeros_like(like);
    Some(g.select(mask, then.unwrap_or(zero), other.unwrap_or(zero)))
}

/// The cotangents of the two arrays of the choice.
pub(crate) fn choice_transposed(g: &mut Graph, mask: Term, ct: Cotangent) -> [Cotangent; 2] {
    [true, false].map(|side| {
        let term = commute(g, ct.term, &|g, ct| {
            let zero = g.zeros_like(ct);
            where_only(g, mask, side, ct, zero)
        });
        Cotangent { term, ..ct }
    })
}

/// The tangent of arrays along a new outer axis, each like this one.
pub(crate) fn stack(g: &mut Graph, parts: &[Option<Term>], like: Term) -> Option<Term> {
    if parts.iter().all(Option::is_none) {
        return None;
    }
    let zero = g.zeros_like(like);
    let all: Vec<Term> = parts.iter().map(|t| t.unwrap_or(zero)).collect();
    Some(g.stack(&all))
}

/// The cotangent of the array at this position of a stack.
pub(crate) fn stack_transposed(g: &mut Graph, place: usize, ct: Cotangent) -> Cotangent {
    let place = g.lit_usize(place);
    let term = commute(g, ct.term, &|g, ct| linear::element(g, ct, &[], &[], &[place]));
    Cotangent { term, ..ct }
}

/// The position of an update: this index, for each value of the variables.
pub(crate) type Place<'a> = (&'a [Var], &'a [Term]);

/// The tangent of an array some of whose elements are overwritten by those of `written`, given the
/// tangents of both.
pub(crate) fn update(
    g: &mut Graph,
    (vars, index): Place<'_>,
    [onto, put]: [Option<Term>; 2],
    [whole, written]: [Term; 2],
) -> Option<Term> {
    if onto.is_none() && put.is_none() {
        return None;
    }
    let dst = onto.unwrap_or_else(|| g.zeros_like(whole));
    let src = put.unwrap_or_else(|| g.zeros_like(written));
    Some(g.mk(Node::Scatter { put: Put::Set, dst, src, vars: vars.into(), index: index.into() }))
}

/// The cotangents of the old array, which are zeros where elements are overwritten, and of the new
/// elements, which are those at their indices.
pub(crate) fn update_transposed(
    g: &mut Graph,
    (vars, index): Place<'_>,
    written: Term,
    ct: Cotangent,
) -> [Cotangent; 2] {
    let sizes: Box<[Term]> = g.shape(written)[..vars.len()].into();
    let read = commute(g, ct.term, &|g, ct| {
        g.mk(Node::Gather { src: ct, sizes: sizes.clone(), vars: vars.into(), index: index.into() })
    });
    let zeros = g.zeros_like(written);
    let rest = commute(g, ct.term, &|g, ct| {
        g.mk(Node::Scatter { put: Put::Set, dst: ct, src: zeros, vars: vars.into(), index: index.into() })
    });
    let hidden = ct.hidden(g);
    let onto = Cotangent { term: rest, masked: hidden.max(KnownZeros::Unread) };
    [onto, Cotangent { term: read, masked: hidden }]
}
