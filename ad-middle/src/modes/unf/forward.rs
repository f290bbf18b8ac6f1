//! Forward mode over a composition: the Jacobians of the primitives, composed from the first step
//! to the last. They are the same linear functions whose transposes reverse mode composes. This
//! module must never simplify.

use ad_ir::ir::{Graph, Node, Put, Term};
use ad_ir::sorted::{SortedMap, SortedSet};

use super::fold;
use super::reverse::row;
use super::source::{Composition, Map, Primitive, Variable};
use crate::modes::condition::mask_outside;

/// The tangent of one value. A value without one has tangent zero.
#[derive(Clone, Debug)]
pub(super) enum Tangent {
    /// Of an array or a number.
    Array(Term),
    /// Of a tuple.
    Tuple(SortedMap<usize, Tangent>),
}

impl Tangent {
    /// The tangent of an array.
    pub(super) fn array(&self) -> Option<Term> {
        if let Tangent::Array(t) = self { Some(*t) } else { None }
    }
}

/// The tangents of all values, by position, given those of the variables.
pub(super) fn tangents(
    g: &mut Graph,
    c: &Composition,
    variable: &mut dyn FnMut(&mut Graph, Variable) -> Option<Tangent>,
) -> Vec<Option<Tangent>> {
    let mut all: Vec<Option<Tangent>> = Vec::with_capacity(c.steps.len());
    for step in &c.steps {
        let of = |at: usize| all.get(at).and_then(Clone::clone);
        let array = |at: usize| all.get(at).and_then(|t| t.as_ref()).and_then(Tangent::array);
        let tangent = match &step.primitive {
            Primitive::Constant => None,
            Primitive::Variable(v) => {
                if step.active {
                    variable(g, *v)
                } else {
                    None
                }
            }
            Primitive::Same(at) => of(*at),
            Primitive::Operation(jacobian) => jacobian.forward(g, array).map(Tangent::Array),
            Primitive::Pair(parts) => {
                let parts: SortedMap<usize, Tangent> =
                    parts.iter().enumerate().filter_map(|(k, &at)| Some((k, of(at)?))).collect();
                (!parts.is_empty()).then_some(Tangent::Tuple(parts))
            }
            Primitive::Component(at, k) => match of(*at) {
                Some(Tangent::Tuple(mut parts)) => parts.remove(k),
                _ => None,
            },
            Primitive::Conditional { condition, then, other } => conditional(g, *condition, of(*then), of(*other)),
            Primitive::Choice { mask, then, other } => {
                let (then, other) = (array(*then), array(*other));
                both(g, then, other, step.primal).map(|(a, b)| Tangent::Array(g.select(*mask, a, b)))
            }
            Primitive::Stack(parts) => {
                let found: Vec<Option<Term>> = parts.iter().map(|&at| array(at)).collect();
                if found.iter().all(Option::is_none) {
                    None
                } else {
                    let zero = g.zeros_like(c.primal(parts[0]));
                    let found: Vec<Term> = found.into_iter().map(|t| t.unwrap_or(zero)).collect();
                    Some(Tangent::Array(g.stack(&found)))
                }
            }
            Primitive::Update { onto, put, written, vars, index } => match (array(*onto), array(*put)) {
                (None, None) => None,
                (onto, put) => {
                    let dst = onto.unwrap_or_else(|| g.zeros_like(step.primal));
                    let src = put.unwrap_or_else(|| g.zeros_like(*written));
                    let (vars, index) = (vars.clone(), index.clone());
                    Some(Tangent::Array(g.mk(Node::Scatter { put: Put::Set, dst, src, vars, index })))
                }
            },
            Primitive::Map(map) => of_map(g, map, &array).map(Tangent::Array),
            Primitive::Fold(fold) => fold::forward(g, fold, &array).map(Tangent::Tuple),
        };
        all.push(tangent);
    }
    all
}

/// The tangent of a map: a map of the tangents of its rows.
fn of_map(g: &mut Graph, map: &Map, array: &dyn Fn(usize) -> Option<Term>) -> Option<Term> {
    let found = tangents(g, &map.body, &mut |g, variable| match variable {
        Variable::Row(at) => array(at).map(|t| Tangent::Array(row(g, t, map.var))),
        Variable::Outer(at) => array(at).map(Tangent::Array),
        Variable::Input(_) | Variable::Param(_) => None,
    });
    let element = found[map.body.results[0]].as_ref()?.array()?;
    Some(g.build(map.size, map.var, element))
}

fn conditional(g: &mut Graph, condition: Term, then: Option<Tangent>, other: Option<Tangent>) -> Option<Tangent> {
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

fn both(g: &mut Graph, a: Option<Term>, b: Option<Term>, like: Term) -> Option<(Term, Term)> {
    if a.is_none() && b.is_none() {
        return None;
    }
    let zero = g.zeros_like(like);
    Some((a.unwrap_or(zero), b.unwrap_or(zero)))
}
