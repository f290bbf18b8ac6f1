//! A linear classifier of handwritten digits, fitted by `argmin`'s L-BFGS with the gradient that
//! the macro writes.
//!
//! ```text
//! cargo run --release -p ad-examples --example optimise
//! ```

#[path = "../digits/data.rs"]
mod data;

use std::error::Error;

use ad::prelude::*;
use argmin::core::{CostFunction, Executor, Gradient, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use data::{CLASSES, Digits, PIXELS};

/// The first images are learned, the others are the test.
const LEARNED: usize = 1200;
const ROUNDS: u64 = 60;

/// The model: a score of each digit is linear in the pixels.
#[derive(Clone, Debug, Differentiable)]
struct Linear {
    weights: Array2<f64>,
    offsets: Array1<f64>,
}

/// The mean surprise at the labels, and a little of the weights' squares, so that there is one best
/// point.
#[differentiate(wrt(model))]
fn loss(model: &Linear, images: &Array2<f64>, labels: &Array1<usize>, decay: f64) -> f64 {
    let scores = images.dot(&model.weights) + &model.offsets;
    let losses = build1(labels.len(), |i| logsumexp(&scores.row(i)) - scores[[i, labels[i]]]);
    losses.mean().unwrap() + 0.5 * decay * (model.weights.pow2().sum() + model.offsets.pow2().sum())
}

/// The problem that `argmin` minimises. Its points are lists of numbers; `start` is the model with
/// their structure.
struct Fit {
    start: Linear,
    digits: Digits,
}

const DECAY: f64 = 1e-3;

impl CostFunction for Fit {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, point: &Vec<f64>) -> Result<f64, argmin::core::Error> {
        Ok(loss(&self.start.from_flat(point), &self.digits.images, &self.digits.labels, DECAY))
    }
}

impl Gradient for Fit {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, point: &Vec<f64>) -> Result<Vec<f64>, argmin::core::Error> {
        Ok(loss_grad(&self.start.from_flat(point), &self.digits.images, &self.digits.labels, DECAY).to_flat())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let all = Digits::load()?;
    let (learned, test): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|&k| k < LEARNED);
    let (learned, test) = (all.pick(&learned), all.pick(&test));
    let start = Linear { weights: Array2::zeros((PIXELS, CLASSES)), offsets: Array1::zeros(CLASSES) };
    let before = loss(&start, &learned.images, &learned.labels, DECAY);

    let solver = LBFGS::new(MoreThuenteLineSearch::new(), 10).with_tolerance_grad(1e-5)?;
    let found = Executor::new(Fit { start: start.clone(), digits: learned }, solver)
        .configure(|state| state.param(start.to_flat()).max_iters(ROUNDS))
        .run()
        .map_err(|e| e.to_string())?;
    let state = found.state();
    let best = start.from_flat(state.get_best_param().ok_or("no point")?);
    println!("loss {before:.4} at the beginning, {:.4} after {} rounds", state.get_best_cost(), state.get_iter());

    let scores = test.images.dot(&best.weights) + &best.offsets;
    let right = scores.rows().into_iter().zip(&test.labels).filter(|(row, label)| argmax(row) == **label).count();
    let share = right as f64 / test.len() as f64;
    println!("of {} other digits {:.1} % are recognised", test.len(), 100.0 * share);
    let learned = found.problem().problem.as_ref().ok_or("the problem is gone")?;
    let gradient = loss_grad(&best, &learned.digits.images, &learned.digits.labels, DECAY);
    let slope = gradient.dot(&gradient).sqrt();
    println!("norm of the gradient there: {slope:.1e}");
    if share < 0.85 || slope > 0.01 {
        return Err(format!("no fit: {share} recognised, slope {slope}").into());
    }
    Ok(())
}
