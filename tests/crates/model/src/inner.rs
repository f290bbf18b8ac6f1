//! A private module, of which one function is public elsewhere.

use ad::prelude::*;

/// The number of levels.
pub(crate) const LEVELS: usize = 4;

/// The weights of the levels.
const WEIGHTS: [f64; LEVELS] = [0.1, 0.2, 0.3, 0.4];

/// A weighted curve.
#[must_use]
#[differentiable]
pub fn curve(x: f64) -> f64 {
    let weights: [f64; LEVELS] = WEIGHTS;
    let mut total = 0.0;
    for (k, w) in weights.iter().enumerate() {
        total += w * (x * k as f64).sin();
    }
    total
}
