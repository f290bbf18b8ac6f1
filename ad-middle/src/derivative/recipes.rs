//! The recipes of derivatives along a cotangent or a direction, and of the Jacobian and the
//! Hessian, whose blocks `jacobian` assembles. This module must never say how a derivative is
//! called or passed: [`ad_ir::descriptor`] does that.

use super::jacobian::{self, Block, Count, inputs, unit_literals};
use super::reverse::{gradient, parts, transposed};
use super::{DerivativeBuilder, Terms, examples, sparsity};
use crate::modes;
use crate::modes::unit_vectors::{batched, unit};
use crate::passes::element::element;
use ad_ir::descriptor::Recipe;
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::mode::Mode;
use ad_ir::program::Container;

/// The terms of a derivative, by its recipe.
pub(super) fn terms(recipe: Recipe, making: &mut DerivativeBuilder<'_>) -> Terms {
    match recipe {
        Recipe::Value => {
            let values = making.prepared.plain.clone();
            Terms { values, differentiated: Vec::new(), blocks: Vec::new() }
        }
        Recipe::Gradient => gradient(making),
        Recipe::Transposed => transposed(making),
        Recipe::Forward => jacobian_times_directions(making),
        Recipe::Jacobian => jacobian(making),
        Recipe::Pattern => pattern(making),
        Recipe::HessianProduct => hessian_times_direction(making),
        Recipe::Hessian => hessian(making),
        Recipe::Laplacian => laplacian(making),
        Recipe::Examples => examples::each(making),
    }
}

/// The Jacobian applied to directions: forward mode.
fn jacobian_times_directions(making: &mut DerivativeBuilder<'_>) -> Terms {
    let (seeds, results, mode) = (making.directions(), making.results.clone(), making.mode());
    let active: Vec<u32> = seeds.iter().map(|s| s.0).collect();
    let derivative = modes::derivative(mode, making.graph(), &results, &active);
    let tangents = derivative.tangents(making.graph(), &seeds);
    let values = making.own_values(&*derivative);
    let program = &making.prepared.program;
    let leaves = program.differentiated().leaves().into_iter().zip(tangents);
    let real = leaves.filter(|(out, _)| program.graph.elem(out.term).is_real());
    let blocks = real.map(|(out, t)| Block::whole(t, out.container, out.lens.clone())).collect();
    Terms { values, differentiated: Vec::new(), blocks }
}

/// The Hessian applied to a direction: forward mode over reverse mode. The gradient is a program,
/// so forward mode applies to it.
fn hessian_times_direction(making: &mut DerivativeBuilder<'_>) -> Terms {
    let (values, gradient) = making.gradient();
    let seeds = making.directions();
    let (_, tangents) = modes::forward(making.mode(), making.graph(), &gradient, &seeds);
    Terms { values, differentiated: Vec::new(), blocks: parts(making, tangents) }
}

/// The Jacobian.
fn jacobian(making: &mut DerivativeBuilder<'_>) -> Terms {
    let (derivative, blocks) = jacobian::jacobian(&mut making.prepared.program, &making.results, &making.active);
    let values = making.own_values(&*derivative);
    Terms { values, differentiated: Vec::new(), blocks }
}

/// Ranges of columns for each row of the Jacobian: two vectors each.
fn pattern(making: &mut DerivativeBuilder<'_>) -> Terms {
    let (values, active) = (making.results.clone(), making.active.clone());
    let g = making.graph();
    let mut blocks = Vec::new();
    for (_, input) in inputs(g, &active) {
        let ranges = sparsity::ranges(g, input, values[0]);
        blocks.extend(ranges.concat().into_iter().map(|t| Block::whole(t, Container::Slice, Vec::new())));
    }
    Terms { values: making.prepared.plain.clone(), differentiated: Vec::new(), blocks }
}

/// The Hessian: the Jacobian of the gradient, by forward mode.
fn hessian(making: &mut DerivativeBuilder<'_>) -> Terms {
    let (values, gradient) = making.gradient();
    let blocks = jacobian::hessian(&mut making.prepared.program, &gradient, &making.active);
    Terms { values, differentiated: Vec::new(), blocks }
}

/// The trace of the Hessian: forward over reverse for all directions at once. Of the derivative
/// along a unit vector only the component along that vector is computed, so no Hessian is stored. A
/// tangent that is needed as a whole (in a loop, in a normalisation) is stored for all directions.
fn laplacian(making: &mut DerivativeBuilder<'_>) -> Terms {
    let (values, gradient) = making.gradient();
    let (active, result, mode) = (making.active.clone(), making.results[0], making.mode());
    let is_static = active.iter().all(|p| p.container.is_static());
    let g = making.graph();
    let inputs = inputs(g, &active);
    let trace = trace(g, mode, (&gradient, result), &inputs, is_static);
    let blocks = vec![Block::whole(trace, Container::Scalar, Vec::new())];
    Terms { values, differentiated: Vec::new(), blocks }
}

/// The trace of the Hessian, given the gradient and the function's result.
pub(super) fn trace(
    g: &mut Graph,
    mode: Mode,
    (gradient, result): (&[Term], Term),
    inputs: &[(u32, Term)],
    is_static: bool,
) -> Term {
    let wrt: Vec<u32> = inputs.iter().map(|i| i.0).collect();
    let derivative = modes::derivative(mode, g, gradient, &wrt);
    let mut trace: Option<Term> = None;
    for (own, &(k, input)) in inputs.iter().enumerate() {
        let few = is_static && Count::of(g, input).has_few();
        let diagonal = match if few { unit_literals(g, input) } else { None } {
            Some(seeds) => {
                let component = |(place, &seed): (usize, &Term)| {
                    let tangent = derivative.tangents(g, &[(k, seed)])[own];
                    let at = index(g, input, place);
                    element(g, tangent, &at)
                };
                let diagonal: Vec<Term> = seeds.iter().enumerate().map(component).collect();
                g.stack(&diagonal)
            }
            None => {
                let (vars, seed) = unit(g, input);
                let tangent = derivative.tangents(g, &[(k, seed)])[own];
                let at: Vec<Term> = vars.iter().map(|&var| g.mk(Node::Var(var))).collect();
                let component = element(g, tangent, &at);
                batched(g, &vars, input, &[component])[0]
            }
        };
        let (sum, elem) = (g.sum_all(diagonal), g.elem(result));
        let part = g.cast(elem, sum);
        trace = Some(trace.map_or(part, |before| g.add(before, part)));
    }
    trace.unwrap_or_else(|| g.zeros_like(result))
}

/// The index of the element at this place in row-major order, of an array of literal sizes.
fn index(g: &mut Graph, array: Term, place: usize) -> Vec<Term> {
    let (mut index, mut rest) = (Vec::new(), place);
    for size in g.shape(array).to_vec().into_iter().rev() {
        let size = g.int_value(size).and_then(|n| usize::try_from(n).ok()).unwrap_or(1).max(1);
        index.push(g.lit_usize(rest % size));
        rest /= size;
    }
    index.reverse();
    index
}
