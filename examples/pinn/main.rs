//! A rod that cools: its temperature and its diffusivity are learned from 24 inexact measurements.
//! The temperature is a small network that has to obey the heat equation, so the loss contains
//! derivatives of the network with respect to place and time, and the fit takes the gradient of
//! that loss.
//!
//! ```text
//! cargo run --release -p ad-examples --example pinn [-- DIRECTORY]
//! ```
//!
//! The method is that of Raissi, Perdikaris and Karniadakis, "Physics-informed neural networks"
//! (2019), section 4. The fit is by `argmin`'s L-BFGS. The picture is written to the directory (by
//! default `target/pinn`).

mod picture;

use std::error::Error;
use std::f64::consts::PI;
use std::path::PathBuf;

use ad::prelude::*;
use argmin::core::{CostFunction, Executor, Gradient, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;

const WIDTH: usize = 20;
const MEASURED: usize = 24;
const NOISE: f64 = 0.02;
/// The heat equation is asked for at `GRID` times `GRID` points.
const GRID: usize = 12;
const ROUNDS: u64 = 6000;
/// The values that the fit has to find.
const DIFFUSIVITY: f64 = 0.1;

/// One hidden layer: `sum_k height_k tanh(by_place_k x + by_time_k t + offset_k)`, and the
/// logarithm of the diffusivity.
#[derive(Clone, Debug, Differentiable)]
struct Rod {
    by_place: Array1<f64>,
    by_time: Array1<f64>,
    offset: Array1<f64>,
    height: Array1<f64>,
    diffusivity: f64,
}

/// The temperature at a place (0 to 1) and time (0 to 1). Both ends of the rod are held at 0.
#[differentiate(grad, hvp, wrt(at))]
fn temperature(rod: &Rod, at: &[f64; 2]) -> f64 {
    let [x, t] = *at;
    let mut sum = 0.0;
    for k in 0..rod.height.len() {
        sum += rod.height[k] * (rod.by_place[k] * x + rod.by_time[k] * t + rod.offset[k]).tanh();
    }
    4.0 * x * (1.0 - x) * sum
}

/// By how much the network breaks the heat equation `du/dt = D d2u/dx2` at a point.
#[differentiable]
fn residual(rod: &Rod, at: [f64; 2]) -> f64 {
    let by_time = temperature_grad(rod, &at)[1];
    let curvature = temperature_hvp(rod, &at, [1.0, 0.0])[0];
    by_time - rod.diffusivity.exp() * curvature
}

/// The mean square error of the measurements (rows of place, time and temperature), and that of the
/// heat equation on a grid.
#[differentiate(wrt(rod))]
fn loss(rod: &Rod, measured: &Array2<f64>, grid: usize) -> f64 {
    let wrong =
        build1(measured.nrows(), |i| temperature(rod, &[measured[[i, 0]], measured[[i, 1]]]) - measured[[i, 2]]);
    let step = 1.0 / (grid as f64 - 1.0);
    let physics = build([grid, grid], |[i, j]| residual(rod, [i as f64 * step, j as f64 * step]));
    wrong.pow2().mean().unwrap() + 0.01 * physics.pow2().mean().unwrap()
}

/// The temperature that is measured: two waves that decay.
fn truth(x: f64, t: f64) -> f64 {
    let decay = |k: f64| (-DIFFUSIVITY * k * k * PI * PI * t).exp() * (k * PI * x).sin();
    decay(1.0) + 0.5 * decay(3.0)
}

/// The problem that `argmin` minimises. Its points are lists of numbers; `start` is the rod with
/// their structure.
struct Fit<'a> {
    start: &'a Rod,
    measured: &'a Array2<f64>,
}

impl CostFunction for Fit<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, point: &Vec<f64>) -> Result<f64, argmin::core::Error> {
        Ok(loss(&self.start.from_flat(point), self.measured, GRID))
    }
}

impl Gradient for Fit<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, point: &Vec<f64>) -> Result<Vec<f64>, argmin::core::Error> {
        Ok(loss_grad(&self.start.from_flat(point), self.measured, GRID).to_flat())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/pinn")), PathBuf::from);
    let mut rng = fastrand::Rng::with_seed(3);
    let mut measured = Array2::zeros((MEASURED, 3));
    for mut row in measured.rows_mut() {
        let (x, t) = (rng.f64(), 0.8 * rng.f64() * rng.f64());
        row.assign(&array![x, t, truth(x, t) + NOISE * (2.0 * rng.f64() - 1.0)]);
    }
    let mut between = |scale: f64| Array1::from_shape_simple_fn(WIDTH, || scale * (2.0 * rng.f64() - 1.0));
    let start = Rod {
        by_place: between(6.0),
        by_time: between(3.0),
        offset: between(3.0),
        height: between(0.3),
        diffusivity: 0.5_f64.ln(),
    };

    let before = loss(&start, &measured, GRID);
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), 20).with_tolerance_grad(1e-6)?.with_tolerance_cost(0.0)?;
    let found = Executor::new(Fit { start: &start, measured: &measured }, solver)
        .configure(|state| state.param(start.to_flat()).max_iters(ROUNDS))
        .run()
        .map_err(|e| e.to_string())?;
    let state = found.state();
    let best = start.from_flat(state.get_best_param().ok_or("no point")?);
    println!("loss {before:.3} at the beginning, {:.6} after {} rounds", state.get_best_cost(), state.get_iter());
    let diffusivity = best.diffusivity.exp();
    println!("diffusivity {diffusivity:.4}; the measurements were made with {DIFFUSIVITY}");

    let steps = 60;
    let grid = || (0..=steps).flat_map(|i| (0..=steps).map(move |j| [i, j].map(|k| f64::from(k) / f64::from(steps))));
    let square = grid().map(|[x, t]| (temperature(&best, &[x, t]) - truth(x, t)).powi(2)).sum::<f64>();
    let error = (square / grid().count() as f64).sqrt();
    println!("root mean square error of the temperature over the whole rod and time: {error:.4}");
    if error > 0.06 || (diffusivity / DIFFUSIVITY).ln().abs() > 0.25 {
        return Err(format!("no fit: error {error}, diffusivity {diffusivity}").into());
    }
    std::fs::create_dir_all(&directory)?;
    let path = directory.join("rod.svg");
    picture::draw(&path, &measured, &|x, t| temperature(&best, &[x, t]), &truth)?;
    println!("drawn in {}", path.display());
    Ok(())
}
