//! Hamiltonian Monte Carlo: how far did cars of the 1920s go before they stood still? A line through Ezekiel's fifty measurements (1930;
//! R's `cars`), with all that the data leave open. The sampler wants the logarithm of the density and its gradient, in slices that it owns: the option
//! `into`.
//!
//! ```text
//! cargo run --release --example hmc [-- DIRECTORY]
//! ```
//!
//! The picture is written to the directory (by default `target/hmc`).

mod picture;

use std::error::Error;
use std::f64::consts::TAU;
use std::path::PathBuf;

use ad::prelude::*;

/// Miles an hour, and feet until the car stood.
const CARS: [(f64, f64); 50] = [
    (4.0, 2.0),
    (4.0, 10.0),
    (7.0, 4.0),
    (7.0, 22.0),
    (8.0, 16.0),
    (9.0, 10.0),
    (10.0, 18.0),
    (10.0, 26.0),
    (10.0, 34.0),
    (11.0, 17.0),
    (11.0, 28.0),
    (12.0, 14.0),
    (12.0, 20.0),
    (12.0, 24.0),
    (12.0, 28.0),
    (13.0, 26.0),
    (13.0, 34.0),
    (13.0, 34.0),
    (13.0, 46.0),
    (14.0, 26.0),
    (14.0, 36.0),
    (14.0, 60.0),
    (14.0, 80.0),
    (15.0, 20.0),
    (15.0, 26.0),
    (15.0, 54.0),
    (16.0, 32.0),
    (16.0, 40.0),
    (17.0, 32.0),
    (17.0, 40.0),
    (17.0, 50.0),
    (18.0, 42.0),
    (18.0, 56.0),
    (18.0, 76.0),
    (18.0, 84.0),
    (19.0, 36.0),
    (19.0, 46.0),
    (19.0, 68.0),
    (20.0, 32.0),
    (20.0, 48.0),
    (20.0, 52.0),
    (20.0, 56.0),
    (20.0, 64.0),
    (22.0, 66.0),
    (23.0, 54.0),
    (24.0, 70.0),
    (24.0, 92.0),
    (24.0, 93.0),
    (24.0, 120.0),
    (25.0, 85.0),
];
const WARM_UP: usize = 500;
const DRAWS: usize = 4000;
/// Steps of a trajectory, and their length.
const STEPS: usize = 15;
const STEP: f64 = 0.04;

/// The logarithm of the posterior density, but for a constant, of height, slope and the logarithm of the errors' size; flat priors.
#[differentiate(grad, into, wrt(q))]
fn logp(q: &[f64], x: &[f64], y: &[f64]) -> f64 {
    let (height, slope, size) = (q[0], q[1], q[2].exp());
    let errors = x.iter().zip(y).map(|(x, y)| (y - height - slope * x) / size);
    -0.5 * errors.map(|e| e * e).sum::<f64>() - q[2] * x.len() as f64
}

/// A point, the density there, and its gradient.
#[derive(Clone)]
struct State {
    q: Vec<f64>,
    logp: f64,
    gradient: Vec<f64>,
}

/// Duane, Kennedy, Pendleton and Roweth, *Hybrid Monte Carlo* (1987), with unit masses.
struct Sampler<F> {
    /// Overwrites the gradient, returns the logarithm of the density.
    logp: F,
    rng: fastrand::Rng,
    state: State,
    accepted: usize,
}

impl<F: FnMut(&[f64], &mut [f64]) -> f64> Sampler<F> {
    fn new(mut logp: F, q: Vec<f64>) -> Self {
        let mut gradient = vec![0.0; q.len()];
        let value = logp(&q, &mut gradient);
        Self { logp, rng: fastrand::Rng::with_seed(1930), state: State { q, logp: value, gradient }, accepted: 0 }
    }

    /// Box and Muller.
    fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.rng.f64(), self.rng.f64());
        (-2.0 * u.ln()).sqrt() * (TAU * v).cos()
    }

    fn draw(&mut self) -> &[f64] {
        let mut momentum: Vec<f64> = (0..self.state.q.len()).map(|_| self.normal()).collect();
        let energy = |s: &State, p: &[f64]| 0.5 * p.iter().map(|p| p * p).sum::<f64>() - s.logp;
        let before = energy(&self.state, &momentum);
        let mut state = self.state.clone();
        let kick = |p: &mut [f64], s: &State| p.iter_mut().zip(&s.gradient).for_each(|(p, g)| *p += 0.5 * STEP * g);
        // Somewhat different lengths, so that no trajectory is a whole period.
        for _ in 0..self.rng.usize(STEPS / 2..=STEPS) {
            kick(&mut momentum, &state);
            state.q.iter_mut().zip(&momentum).for_each(|(q, p)| *q += STEP * p);
            state.logp = (self.logp)(&state.q, &mut state.gradient);
            kick(&mut momentum, &state);
        }
        if self.rng.f64() < (before - energy(&state, &momentum)).exp() {
            self.state = state;
            self.accepted += 1;
        }
        &self.state.q
    }
}

/// Mean and standard deviation.
fn moments(of: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = of.clone().count() as f64;
    let mean = of.clone().sum::<f64>() / n;
    (mean, (of.map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0)).sqrt())
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/target/hmc")), PathBuf::from);
    // Both in units of their deviation from the mean.
    let (speed, speeds) = moments(CARS.iter().map(|c| c.0));
    let (distance, distances) = moments(CARS.iter().map(|c| c.1));
    let x: Vec<f64> = CARS.iter().map(|c| (c.0 - speed) / speeds).collect();
    let y: Vec<f64> = CARS.iter().map(|c| (c.1 - distance) / distances).collect();

    let mut sampler = Sampler::new(|q, gradient| logp_value_and_grad_into(q, &x, &y, gradient), vec![0.0; 3]);
    for _ in 0..WARM_UP {
        sampler.draw();
    }
    sampler.accepted = 0;
    let draws: Vec<[f64; 3]> = (0..DRAWS).map(|_| sampler.draw().try_into()).collect::<Result<_, _>>()?;
    let accepted = sampler.accepted as f64 / DRAWS as f64;

    // Back to feet and miles an hour.
    let lines: Vec<[f64; 2]> = draws
        .iter()
        .map(|[height, slope, _]| {
            let slope = slope * distances / speeds;
            [distance + height * distances - slope * speed, slope]
        })
        .collect();
    let (slope, slopes) = moments(lines.iter().map(|l| l[1]));
    let (size, sizes) = moments(draws.iter().map(|q| q[2].exp() * distances));
    println!("{DRAWS} draws, {:.0} % accepted", 100.0 * accepted);
    println!("feet for each mile an hour: {slope:.2} +- {slopes:.2}; errors of {size:.1} +- {sizes:.1} feet");

    // With flat priors the slope is the least squares' in the mean, its distribution Student's with n - 2 degrees of freedom, whose
    // variance is (n - 2) / (n - 4) times the square of the standard error.
    let n = CARS.len() as f64;
    let expected = x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>() / (n - 1.0);
    let left: f64 = x.iter().zip(&y).map(|(x, y)| (y - expected * x).powi(2)).sum();
    let (expected, error) = (expected * distances / speeds, (left / (n - 4.0) / (n - 1.0)).sqrt() * distances / speeds);
    println!("least squares: {expected:.2} +- {error:.2}");
    if (slope - expected).abs() > 0.1 * error || (slopes / error - 1.0).abs() > 0.1 || accepted < 0.8 {
        return Err(format!("the draws are not of the posterior: {slope} +- {slopes}").into());
    }
    std::fs::create_dir_all(&directory)?;
    let path = directory.join("cars.svg");
    picture::draw(&path, &CARS, &lines)?;
    println!("drawn in {}", path.display());
    Ok(())
}
