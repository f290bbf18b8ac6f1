//! The gradient against central differences.

use std::error::Error;

use ad::ndarray::{Array, Dimension};

use crate::data::Digits;
use crate::net::{self, Net};

/// Entries compared in each parameter.
const SAMPLES: usize = 25;
/// Where rounding and truncation of a central difference are about equal.
const STEP: f64 = 1e-5;
const TOLERANCE: f64 = 1e-7;

/// Compares some entries of each of the four gradients of [`net::loss`].
pub fn gradient(net: &Net, batch: &Digits, rng: &mut fastrand::Rng) -> Result<(), Box<dyn Error>> {
    let loss = |w1: &_, b1: &_, w2: &_, b2: &_| net::loss(w1, b1, w2, b2, &batch.images, &batch.labels);
    let (value, (w1, b1, w2, b2)) =
        net::loss_value_and_grad(&net.w1, &net.b1, &net.w2, &net.b2, &batch.images, &batch.labels);
    let Net { w1: at_w1, b1: at_b1, w2: at_w2, b2: at_b2 } = net;
    let worst = largest([
        (value - loss(at_w1, at_b1, at_w2, at_b2)).abs(),
        difference(&w1, at_w1, |w1| loss(w1, at_b1, at_w2, at_b2), rng),
        difference(&b1, at_b1, |b1| loss(at_w1, b1, at_w2, at_b2), rng),
        difference(&w2, at_w2, |w2| loss(at_w1, at_b1, w2, at_b2), rng),
        difference(&b2, at_b2, |b2| loss(at_w1, at_b1, at_w2, b2), rng),
    ]);
    println!("gradient against central differences: largest difference {worst:.1e}");
    if worst <= TOLERANCE { Ok(()) } else { Err("the gradient is wrong".into()) }
}

/// The largest difference between some entries of `gradient` and the slope of
/// `loss` along them.
fn difference<D: Dimension>(
    gradient: &Array<f64, D>,
    at: &Array<f64, D>,
    loss: impl Fn(&Array<f64, D>) -> f64,
    rng: &mut fastrand::Rng,
) -> f64 {
    assert_eq!(gradient.shape(), at.shape());
    let gradient: Vec<f64> = gradient.iter().copied().collect();
    largest((0..SAMPLES).map(|_| {
        let k = rng.usize(..gradient.len());
        let moved = |step: f64| {
            let mut to = at.clone();
            to.iter_mut().skip(k).take(1).for_each(|w| *w += step);
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
