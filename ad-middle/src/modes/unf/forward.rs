//! Forward mode over a composition: the Jacobians of the primitives, composed from the first step
//! to the last. They are the same linear functions whose transposes reverse mode composes. This
//! module must never simplify.

use ad_ir::ir::{Graph, Term};
use ad_ir::sorted::SortedMap;

use super::source::{Composition, Map, Primitive, Variable};
use crate::modes::fold;
use crate::modes::forms::{self, Tangent};
use crate::modes::linear::row;

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
            Primitive::Operation(operation) => operation.forward(g, array).map(Tangent::Array),
            Primitive::Pair(parts) => {
                let parts: SortedMap<usize, Tangent> =
                    parts.iter().enumerate().filter_map(|(k, &at)| Some((k, of(at)?))).collect();
                (!parts.is_empty()).then_some(Tangent::Tuple(parts))
            }
            Primitive::Component(at, k) => match of(*at) {
                Some(Tangent::Tuple(mut parts)) => parts.remove(k),
                _ => None,
            },
            Primitive::Conditional { condition, then, other } => {
                forms::conditional(g, *condition, of(*then), of(*other))
            }
            Primitive::Choice { mask, then, other } => {
                forms::choice(g, *mask, [array(*then), array(*other)], step.primal).map(Tangent::Array)
            }
            Primitive::Stack(parts) => {
                let found: Vec<Option<Term>> = parts.iter().map(|&at| array(at)).collect();
                forms::stack(g, &found, c.primal(parts[0])).map(Tangent::Array)
            }
            Primitive::Update { onto, put, written, vars, index } => {
                let place = (&**vars, &**index);
                forms::update(g, place, [array(*onto), array(*put)], [step.primal, *written]).map(Tangent::Array)
            }
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
