//! One reverse sweep: from the number 1, or from a cotangent of the caller. The recipes are built
//! on it.

use super::jacobian::Block;
use super::{DerivativeBuilder, Terms};
use ad_ir::ir::Term;

/// The gradient of one number: reverse mode, with the cotangent 1.
pub(super) fn gradient(making: &mut DerivativeBuilder<'_>) -> Terms {
    let results = making.results.clone();
    let g = making.graph();
    let seeds: Vec<Term> = results.iter().map(|&r| g.lit_like(r, 1.0)).collect();
    backwards(making, &seeds)
}

/// The transposed Jacobian applied to a cotangent: reverse mode.
pub(super) fn transposed(making: &mut DerivativeBuilder<'_>) -> Terms {
    let seeds = making.cotangents();
    backwards(making, &seeds)
}

fn backwards(making: &mut DerivativeBuilder<'_>, seeds: &[Term]) -> Terms {
    let derivative = making.differentiated();
    let found = derivative.gradients(making.graph(), seeds);
    making.share_loops(&*derivative);
    let (values, differentiated) = making.values(&*derivative);
    Terms { values, differentiated, blocks: parts(making, found) }
}

/// A leaf for each active parameter.
pub(super) fn parts(making: &DerivativeBuilder<'_>, terms: Vec<Term>) -> Vec<Block> {
    making.active.iter().zip(terms).map(|(p, t)| Block::whole(t, p.container, p.lens.clone())).collect()
}
