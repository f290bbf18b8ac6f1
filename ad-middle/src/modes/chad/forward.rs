//! Forward mode (CHAD sections 2.3 and 7.4): the linear functions, applied to the tangents of the
//! context. The rules are those of `reverse` before transposition. This module must never simplify.

use ad_ir::ir::{Graph, Node, Term};
use ad_ir::sorted::SortedMap;

use super::lfun::{Elements, LFun, Lets, Variable};
use crate::modes::fold;
use crate::modes::forms::{self, Tangent};
use crate::modes::linear;

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
        LFun::Case { condition, then, other } => forms::conditional(g, *condition, of(*then), of(*other)),
        LFun::Choice { mask, then, other } => {
            forms::choice(g, *mask, [array(*then), array(*other)], bound.primal).map(Tangent::Array)
        }
        LFun::Stack(parts) => {
            let found: Vec<Option<Term>> = parts.iter().map(|&part| array(part)).collect();
            forms::stack(g, &found, lets.primal(parts[0])).map(Tangent::Array)
        }
        LFun::Update { onto, put, written, vars, index } => {
            let place = (&**vars, &**index);
            forms::update(g, place, [array(*onto), array(*put)], [bound.primal, *written]).map(Tangent::Array)
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
