//! The gradient against central differences.

use std::error::Error;

use ad::ndarray::{Array, Dimension};
use ad::prelude::*;

use crate::data::Digits;
use crate::net::{self, Net};

/// Entries compared in each parameter.
const SAMPLES: usize = 25;
/// Where rounding and truncation of a central difference are about equal.
const STEP: f64 = 1e-5;
const TOLERANCE: f64 = 1e-7;

/// Compares some entries of each of the four arrays of the gradient of [`net::loss`].
pub fn gradient(net: &Net, batch: &Digits, rng: &mut fastrand::Rng) -> Result<(), Box<dyn Error>> {
    let loss = |net: &Net| net::loss(net, &batch.images, &batch.labels);
    let (value, found) = net::loss_value_and_grad(net, &batch.images, &batch.labels);
    let mut along = |part: fn(&mut Net) -> &mut [f64]| difference(net, &found, loss, part, rng);
    let worst = largest([
        (value - loss(net)).abs(),
        along(|net| numbers(&mut net.w1)),
        along(|net| numbers(&mut net.b1)),
        along(|net| numbers(&mut net.w2)),
        along(|net| numbers(&mut net.b2)),
    ]);
    println!("gradient against central differences: largest difference {worst:.1e}");
    if worst <= TOLERANCE { Ok(()) } else { Err("the gradient is wrong".into()) }
}

/// The numbers of an array that is stored row by row.
fn numbers<D: Dimension>(array: &mut Array<f64, D>) -> &mut [f64] {
    array.as_slice_mut().expect("rows one after the other")
}

/// The largest difference between some entries of a part of the gradient and the slope of `loss`
/// along them.
fn difference(
    at: &Net,
    gradient: &Net,
    loss: impl Fn(&Net) -> f64,
    part: fn(&mut Net) -> &mut [f64],
    rng: &mut fastrand::Rng,
) -> f64 {
    let gradient = part(&mut gradient.clone()).to_vec();
    largest((0..SAMPLES).map(|_| {
        let k = rng.usize(..gradient.len());
        let mut unit = at.zeros_like();
        part(&mut unit)[k] = 1.0;
        let moved = |step: f64| {
            let mut to = at.clone();
            to.axpy(step, &unit);
            loss(&to)
        };
        let slope = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
        (gradient[k] - slope).abs()
    }))
}

/// The largest of some sizes; NaN if one of them is, which `f64::max` would lose.
fn largest(sizes: impl IntoIterator<Item = f64>) -> f64 {
    sizes.into_iter().fold(0.0, |a: f64, b| if b <= a { a } else { b })
}
