//! Forward mode (CHAD sections 2.3 and 7.4): the linear functions, applied to the tangents of the
//! context. The rules are those of `reverse` before transposition. This module must never simplify.

use ad_ir::ir::{Graph, Node, Put, Term};
use ad_ir::sorted::{SortedMap, SortedSet};

use super::fold;
use super::lfun::{Elements, LFun, Lets, Variable};
use crate::modes::condition::mask_outside;
use crate::modes::linear;

/// The tangent of one value. A value without one has tangent zero.
#[derive(Clone, Debug)]
pub(super) enum Tangent {
    /// Of an array or a number.
    Array(Term),
    /// Of a tuple: of those components that have one.
    Tuple(SortedMap<usize, Tangent>),
}

impl Tangent {
    /// The tangent of an array.
    pub(super) fn array(&self) -> Option<Term> {
        if let Tangent::Array(t) = self { Some(*t) } else { None }
    }
}

/// The tangents of all terms by number, given those of the variables.
pub(super) fn applied(g: &mut Graph, lets: &Lets, of: &dyn Fn(Variable) -> Option<Tangent>) -> Vec<Option<Tangent>> {
    let mut all: Vec<Option<Tangent>> = Vec::with_capacity(lets.bound.len());
    for number in 0..lets.bound.len() {
        let tangent = one(g, lets, number, &all, of);
        all.push(tangent);
    }
    all
}

/// One rule for each form: the tangent of a term, given those of the terms before it.
fn one(
    g: &mut Graph,
    lets: &Lets,
    number: usize,
    all: &[Option<Tangent>],
    variable: &dyn Fn(Variable) -> Option<Tangent>,
) -> Option<Tangent> {
    let of = |k: usize| all.get(k).and_then(Clone::clone);
    let array = |k: usize| all.get(k).and_then(|t| t.as_ref()).and_then(Tangent::array);
    let bound = &lets.bound[number];
    match &bound.dual {
        // \v. 0
        LFun::Zero => None,
        // \v. proj_i v
        LFun::Variable(v) => variable(*v),
        // \v. x' v
        LFun::Same(k) => of(*k),
        // \v. Dop(x1, .., xk; <x1' v, .., xk' v>)
        LFun::Dop(operation) => operation.forward(g, array).map(Tangent::Array),
        // \v. <x' v, y' v>
        LFun::Pair(parts) => {
            let parts: SortedMap<usize, Tangent> =
                parts.iter().enumerate().filter_map(|(k, &part)| Some((k, of(part)?))).collect();
            (!parts.is_empty()).then_some(Tangent::Tuple(parts))
        }
        // \v. fst (x' v), and \v. snd (x' v)
        LFun::Component(k, component) => match of(*k) {
            Some(Tangent::Tuple(mut parts)) => parts.remove(component),
            _ => None,
        },
        // \v. case c of true -> x' v | false -> y' v
        LFun::Case { condition, then, other } => case(g, *condition, of(*then), of(*other)),
        LFun::Choice { mask, then, other } => {
            let (then, other) = (array(*then), array(*other));
            either(g, then, other, bound.primal).map(|(a, b)| Tangent::Array(g.select(*mask, a, b)))
        }
        LFun::Stack(parts) => {
            let found: Vec<Option<Term>> = parts.iter().map(|&part| array(part)).collect();
            if found.iter().all(Option::is_none) {
                return None;
            }
            let zero = g.zeros_like(lets.primal(parts[0]));
            let found: Vec<Term> = found.into_iter().map(|t| t.unwrap_or(zero)).collect();
            Some(Tangent::Array(g.stack(&found)))
        }
        LFun::Update { onto, put, written, vars, index } => {
            let (dst, src) = (array(*onto), array(*put));
            if dst.is_none() && src.is_none() {
                return None;
            }
            let dst = dst.unwrap_or_else(|| g.zeros_like(bound.primal));
            let src = src.unwrap_or_else(|| g.zeros_like(*written));
            let (vars, index) = (vars.clone(), index.clone());
            Some(Tangent::Array(g.mk(Node::Scatter { put: Put::Set, dst, src, vars, index })))
        }
        // \v. leval_i (x' v)
        LFun::Evaluation { of, read } => {
            let x = array(*of)?;
            let node = g.node_rc(*read);
            let Node::Gather { sizes, vars, index, .. } = &*node else { return None };
            Some(Tangent::Array(linear::element(g, x, sizes, vars, index)))
        }
        // \v. Dbuild (\i. snd D(e), v)
        LFun::Build(elements) => build(g, elements, &of),
        // \v. Dfold (\c k r. snd D(e), v)
        LFun::Fold(fold) => fold::forward(g, fold, &array).map(Tangent::Tuple),
    }
}

/// `Dbuild` (CHAD section 10): the tangent of an array has the tangents of its elements.
fn build(g: &mut Graph, elements: &Elements, of: &dyn Fn(usize) -> Option<Tangent>) -> Option<Tangent> {
    let found = applied(g, &elements.body, &|variable| match variable {
        Variable::Outer(k) => of(k),
        Variable::Input(_) | Variable::Param(_) => None,
    });
    let element = found[elements.body.results[0]].clone()?;
    Some(for_all(g, elements, element))
}

fn for_all(g: &mut Graph, elements: &Elements, element: Tangent) -> Tangent {
    match element {
        Tangent::Array(t) => Tangent::Array(g.build(elements.size, elements.var, t)),
        Tangent::Tuple(parts) => Tangent::Tuple(parts.into_iter().map(|(k, t)| (k, for_all(g, elements, t))).collect()),
    }
}

fn case(g: &mut Graph, condition: Term, then: Option<Tangent>, other: Option<Tangent>) -> Option<Tangent> {
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
            let each = |k: usize| Some((k, case(g, condition, then.remove(&k), other.remove(&k))?));
            Some(Tangent::Tuple(keys.into_iter().filter_map(each).collect()))
        }
    }
}

fn either(g: &mut Graph, a: Option<Term>, b: Option<Term>, like: Term) -> Option<(Term, Term)> {
    if a.is_none() && b.is_none() {
        return None;
    }
    let zero = g.zeros_like(like);
    Some((a.unwrap_or(zero), b.unwrap_or(zero)))
}
