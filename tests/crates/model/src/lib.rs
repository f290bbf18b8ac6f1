//! A library with marked functions. What they need is private.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(clippy::cast_precision_loss, reason = "counts are small")]

use ad::prelude::*;

mod inner;

pub use inner::{curve, curve as shape};

/// The gain of a unit.
const GAIN: f64 = 1.5;

/// A soft step, as a helper.
#[must_use]
#[differentiable]
pub fn step(x: f64) -> f64 {
    GAIN * sigmoid(scaled(x))
}

#[differentiable]
fn scaled(x: f64) -> f64 {
    x / inner::LEVELS as f64
}

/// The energy of a state, with derivatives of its own.
#[must_use]
#[differentiate]
pub fn energy(x: &Array1<f64>, stiffness: f64) -> f64 {
    let terms = x.mapv(step);
    0.5 * stiffness * terms.dot(&terms)
}
