//! The annual flow of the Nile by Gaussian-process regression. Three hyperparameters are chosen by
//! the evidence: `argmin`'s L-BFGS goes along the gradient that the macro writes, through a
//! Cholesky factorisation.
//!
//! ```text
//! cargo run --release -p ad-examples --example gp [-- DIRECTORY]
//! ```
//!
//! The data are those of Cobb (1978) as printed by Durbin and Koopman, "Time Series Analysis by
//! State Space Methods": the flow at Aswan from 1871 to 1970. The method is that of Rasmussen and
//! Williams, "Gaussian Processes for Machine Learning" (2006), chapters 2 and 5. The picture is
//! written to the directory (by default `target/gp`).

mod picture;

use std::error::Error;
use std::path::PathBuf;

use ad::linalg::{Uplo, cholesky, solve_triangular};
use ad::prelude::*;
use argmin::core::{CostFunction, Executor, Gradient, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;

/// The flow of each year in units of 10^8 cubic metres.
const FLOW: [f64; 100] = [
    1120.0, 1160.0, 963.0, 1210.0, 1160.0, 1160.0, 813.0, 1230.0, 1370.0, 1140.0, 995.0, 935.0, 1110.0, 994.0, 1020.0,
    960.0, 1180.0, 799.0, 958.0, 1140.0, 1100.0, 1210.0, 1150.0, 1250.0, 1260.0, 1220.0, 1030.0, 1100.0, 774.0, 840.0,
    874.0, 694.0, 940.0, 833.0, 701.0, 916.0, 692.0, 1020.0, 1050.0, 969.0, 831.0, 726.0, 456.0, 824.0, 702.0, 1120.0,
    1100.0, 832.0, 764.0, 821.0, 768.0, 845.0, 864.0, 862.0, 698.0, 845.0, 744.0, 796.0, 1040.0, 759.0, 781.0, 865.0,
    845.0, 944.0, 984.0, 897.0, 822.0, 1010.0, 771.0, 676.0, 649.0, 846.0, 812.0, 742.0, 801.0, 1040.0, 860.0, 874.0,
    848.0, 890.0, 744.0, 749.0, 838.0, 1050.0, 918.0, 986.0, 797.0, 923.0, 975.0, 815.0, 1020.0, 906.0, 901.0, 1170.0,
    912.0, 746.0, 919.0, 718.0, 714.0, 740.0,
];
const FIRST_YEAR: f64 = 1871.0;
const ROUNDS: u64 = 60;

/// The logarithms of the hyperparameters.
#[derive(Clone, Debug, Differentiable)]
struct Kernel {
    /// The standard deviation of the curve.
    amplitude: f64,
    /// The years over which the curve changes.
    length: f64,
    /// The standard deviation of a year's flow around the curve.
    noise: f64,
}

/// The covariance of the curve at two times: the squared exponential (Rasmussen and Williams,
/// equation 5.1).
#[differentiable]
fn covariance(kernel: &Kernel, a: f64, b: f64) -> f64 {
    let distance = (a - b) / kernel.length.exp();
    (2.0 * kernel.amplitude - 0.5 * distance * distance).exp()
}

/// The covariance of the observations.
#[differentiable]
fn of_observations(kernel: &Kernel, times: &Array1<f64>) -> Array2<f64> {
    let n = times.len();
    let variance = (2.0 * kernel.noise).exp();
    build([n, n], |[i, j]| covariance(kernel, times[i], times[j]) + if i == j { variance } else { 0.0 })
}

/// Minus the logarithm of the evidence (Rasmussen and Williams, algorithm 2.1, line 7), for a year.
#[differentiate(wrt(kernel))]
fn surprise(kernel: &Kernel, times: &Array1<f64>, flow: &Array1<f64>) -> f64 {
    let l = cholesky(&of_observations(kernel, times));
    let z = solve_triangular(&l, flow, Uplo::Lower);
    let n = times.len() as f64;
    0.5 * (z.dot(&z) + n * std::f64::consts::TAU.ln()) / n + l.diag().mapv(f64::ln).sum() / n
}

/// Mean and standard deviation of the curve at the times `at` (algorithm 2.1, lines 4 to 6).
fn predict(kernel: &Kernel, times: &Array1<f64>, flow: &Array1<f64>, at: &Array1<f64>) -> (Array1<f64>, Array1<f64>) {
    let l = cholesky(&of_observations(kernel, times));
    let across = build([times.len(), at.len()], |[i, j]| covariance(kernel, times[i], at[j]));
    let part = solve_triangular(&l, &across, Uplo::Lower);
    let mean = part.t().dot(&solve_triangular(&l, flow, Uplo::Lower));
    let prior = (2.0 * kernel.amplitude).exp();
    let deviation = part.columns().into_iter().map(|c| (prior - c.dot(&c)).max(0.0).sqrt()).collect();
    (mean, deviation)
}

/// The problem that `argmin` minimises. Its points are lists of numbers; `start` is the kernel with
/// their structure.
struct Fit<'a> {
    start: &'a Kernel,
    times: &'a Array1<f64>,
    flow: &'a Array1<f64>,
}

impl CostFunction for Fit<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, point: &Vec<f64>) -> Result<f64, argmin::core::Error> {
        Ok(surprise(&self.start.from_flat(point), self.times, self.flow))
    }
}

impl Gradient for Fit<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, point: &Vec<f64>) -> Result<Vec<f64>, argmin::core::Error> {
        Ok(surprise_grad(&self.start.from_flat(point), self.times, self.flow).to_flat())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/gp")), PathBuf::from);
    let raw = Array1::from(FLOW.to_vec());
    let (mean, deviation) = (raw.mean().ok_or("no data")?, raw.std(0.0));
    let flow = (&raw - mean) / deviation;
    let times = Array1::from_shape_fn(flow.len(), |k| k as f64);

    let start = Kernel { amplitude: 0.0, length: 2.0, noise: -0.5 };
    let before = surprise(&start, &times, &flow);
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), 5).with_tolerance_grad(1e-7)?;
    let found = Executor::new(Fit { start: &start, times: &times, flow: &flow }, solver)
        .configure(|state| state.param(start.to_flat()).max_iters(ROUNDS))
        .run()
        .map_err(|e| e.to_string())?;
    let state = found.state();
    let best = start.from_flat(state.get_best_param().ok_or("no point")?);
    let slope = surprise_grad(&best, &times, &flow);
    println!(
        "minus log evidence a year: {before:.4} at the beginning, {:.4} after {} rounds",
        state.get_best_cost(),
        state.get_iter()
    );
    println!(
        "the curve deviates by {:.0} and changes over {:.1} years; a year deviates from it by {:.0} (10^8 m^3)",
        deviation * best.amplitude.exp(),
        best.length.exp(),
        deviation * best.noise.exp()
    );
    let slope = slope.dot(&slope).sqrt();
    println!("norm of the gradient there: {slope:.1e}");
    if state.get_best_cost() >= before || slope > 1e-4 {
        return Err(format!("no fit: evidence {}, slope {slope}", state.get_best_cost()).into());
    }

    // Four times a year, and ten years more than the data have.
    let at = Array1::from_shape_fn(4 * 110, |k| 0.25 * k as f64);
    let (curve, error) = predict(&best, &times, &flow, &at);
    let (early, late) = (mean + deviation * curve[4 * 20], mean + deviation * curve[4 * 50]);
    println!("the curve has {early:.0} in 1891 and {late:.0} in 1921; the dam at Aswan was built from 1898 to 1902");
    if early < late + 100.0 {
        return Err("the curve does not fall around 1900".into());
    }
    std::fs::create_dir_all(&directory)?;
    let path = directory.join("nile.svg");
    let points: Vec<[f64; 3]> = at
        .iter()
        .zip(curve.iter().zip(&error))
        .map(|(t, (m, e))| [FIRST_YEAR + t, mean + deviation * m, deviation * e])
        .collect();
    picture::draw(&path, FIRST_YEAR, &FLOW, &points, deviation * best.noise.exp())?;
    println!("drawn in {}", path.display());
    Ok(())
}
