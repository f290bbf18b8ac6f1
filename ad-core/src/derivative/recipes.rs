//! The recipes of derivatives along a cotangent or a direction, and of the Jacobian and the Hessian, whose blocks `jacobian`
//! puts together. Must never say what a derivative is called or how it is passed: that is in `list`.

use super::jacobian::{self, Block};
use super::{Making, Terms};
use crate::ir::Term;
use crate::modes::dual_arrays;

/// The gradient of one number: reverse, from 1.
pub(super) fn gradient(making: &mut Making<'_>) -> Terms {
    let results = making.results.clone();
    let g = making.graph();
    let seeds: Vec<Term> = results.iter().map(|&r| g.lit_like(r, 1.0)).collect();
    backwards(making, &seeds)
}

/// The transposed Jacobian, applied: reverse, from a cotangent.
pub(super) fn transposed(making: &mut Making<'_>) -> Terms {
    let seeds = making.cotangents();
    backwards(making, &seeds)
}

fn backwards(making: &mut Making<'_>, seeds: &[Term]) -> Terms {
    let derivative = making.differentiated();
    let found = derivative.gradients(making.graph(), seeds);
    making.share_loops(&derivative);
    let (values, differentiated) = making.values(&derivative);
    Terms { values, differentiated, blocks: parts(making, found) }
}

/// The Jacobian, applied: forward, along directions.
pub(super) fn forwards(making: &mut Making<'_>) -> Terms {
    let (seeds, results) = (making.directions(), making.results.clone());
    let (values, tangents) = dual_arrays::forward(making.graph(), &results, &seeds);
    let leaves = making.prepared.program.result.leaves();
    let blocks = leaves.iter().zip(tangents).map(|(out, t)| Block::whole(t, out.container, out.lens.clone()));
    Terms { values, differentiated: Vec::new(), blocks: blocks.collect() }
}

/// The Hessian, applied: forward over reverse, since the gradient is a program like any other.
pub(super) fn second(making: &mut Making<'_>) -> Terms {
    let (values, gradient) = making.gradient();
    let seeds = making.directions();
    let (_, tangents) = dual_arrays::forward(making.graph(), &gradient, &seeds);
    Terms { values, differentiated: Vec::new(), blocks: parts(making, tangents) }
}

/// The Jacobian.
pub(super) fn jacobian(making: &mut Making<'_>) -> Terms {
    let (values, blocks) = jacobian::jacobian(&mut making.prepared.program, &making.results, &making.active);
    Terms { values, differentiated: Vec::new(), blocks }
}

/// The Hessian: the Jacobian of the gradient, forward.
pub(super) fn hessian(making: &mut Making<'_>) -> Terms {
    let (values, gradient) = making.gradient();
    let blocks = jacobian::hessian(&mut making.prepared.program, &gradient, &making.active);
    Terms { values, differentiated: Vec::new(), blocks }
}

/// A leaf for each active parameter.
fn parts(making: &Making<'_>, terms: Vec<Term>) -> Vec<Block> {
    making.active.iter().zip(terms).map(|(p, t)| Block::whole(t, p.container, p.lens.clone())).collect()
}
